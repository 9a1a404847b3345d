"""One engine for buying information: adaptive stratified sampling by ask and tell, within a
budget.
"""

from tallystick.sampling.budget import Budget
from tallystick.sampling.cells import difficulty_cells, history_cells
from tallystick.sampling.estimate import SampledEstimate, difference, plain, stratified
from tallystick.sampling.observed import FAILED, Observed, observe
from tallystick.sampling.plan import Plan
from tallystick.sampling.policies import (
    Equal,
    Flips,
    Masa,
    Neyman,
    Policy,
    Proportional,
    Rule,
    Uniform,
)
from tallystick.sampling.replay import Replay, replay
from tallystick.sampling.sampler import Sampler
from tallystick.sampling.strata import Strata, merge_small

__all__ = [
    "FAILED",
    "Budget",
    "Equal",
    "Flips",
    "Masa",
    "Neyman",
    "Observed",
    "Plan",
    "Policy",
    "Proportional",
    "Replay",
    "Rule",
    "SampledEstimate",
    "Sampler",
    "Strata",
    "Uniform",
    "difference",
    "difficulty_cells",
    "history_cells",
    "merge_small",
    "observe",
    "plain",
    "replay",
    "stratified",
]
