"""One engine for buying information: adaptive stratified sampling by ask and tell, within a
budget.
"""

from __future__ import annotations

from tallystick.sampling.estimate import Replay, difference, plain, replay, stratified
from tallystick.sampling.policies import Equal, Flips, Masa, Policy, Proportional, Uniform
from tallystick.sampling.sampler import FAILED, Observed, Sampler, observe
from tallystick.sampling.strata import Plan, Strata, history_cells, merge_small

__all__ = [
    "FAILED",
    "Equal",
    "Flips",
    "Masa",
    "Observed",
    "Plan",
    "Policy",
    "Proportional",
    "Replay",
    "Sampler",
    "Strata",
    "Uniform",
    "difference",
    "history_cells",
    "merge_small",
    "observe",
    "plain",
    "replay",
    "stratified",
]
