"""One engine for buying information: adaptive stratified sampling by ask and tell, within a
budget.
"""

from __future__ import annotations

from tallystick.sampling.policies import Flips, Masa, Policy, Proportional, Uniform
from tallystick.sampling.sampler import FAILED, Sampler
from tallystick.sampling.strata import Plan, Strata, history_cells, merge_small

__all__ = ["Flips", "Plan", "Sampler", "Strata"]
