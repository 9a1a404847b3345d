"""Couplings with given marginals: what can be true of (X, Y) if only the laws of X and of Y, given
z, are known.

Closed forms for agreement, joint events, two labels and a pair of predictors; linear programmes and
a smoothed dual for any other cost; and how all of them move when the label model is wrong. Arrays
have one row a pattern z.
"""

from __future__ import annotations

from tallystick.stats.transport.agreement import agreement, agreement_coupling
from tallystick.stats.transport.certificate import Certified
from tallystick.stats.transport.duality import coupling_value, outer_bound, row_values
from tallystick.stats.transport.ends import Bounds, End, Side
from tallystick.stats.transport.joint_event import class_joint, joint_event
from tallystick.stats.transport.pair import pair_cost, pair_difference
from tallystick.stats.transport.programme import programme
from tallystick.stats.transport.robust import (
    breakdown,
    budget_breakdown,
    budget_end,
    robust_end,
    shifted_labels,
)
from tallystick.stats.transport.smoothed import Smoothed, smoothed
from tallystick.stats.transport.two_labels import two_label_coupling, two_labels
from tallystick.stats.transport.width import entropy_width

__all__ = [
    "Bounds",
    "Certified",
    "End",
    "Side",
    "Smoothed",
    "agreement",
    "agreement_coupling",
    "breakdown",
    "budget_breakdown",
    "budget_end",
    "class_joint",
    "coupling_value",
    "entropy_width",
    "joint_event",
    "outer_bound",
    "pair_cost",
    "pair_difference",
    "programme",
    "robust_end",
    "row_values",
    "shifted_labels",
    "smoothed",
    "two_label_coupling",
    "two_labels",
]
