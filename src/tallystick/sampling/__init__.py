"""One engine for buying information: adaptive stratified sampling by ask and tell, within a
budget.
"""

from __future__ import annotations

from tallystick.sampling.estimate import Replay, difference, plain, replay, stratified
from tallystick.sampling.policies import Equal, Flips, Masa, Policy, Proportional, Uniform
from tallystick.sampling.sampler import FAILED, Observed, Sampler, observe
from tallystick.sampling.strata import (
    Budget,
    Plan,
    Strata,
    history_cells,
    merge_small,
)

__all__ = ["Budget", "Flips", "Plan", "Sampler", "Strata"]
