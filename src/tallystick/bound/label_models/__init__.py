"""Label models: P(Y | Z) from labels, from the share of votes, from EM, from trios, or from the
user.
"""

from __future__ import annotations

from tallystick.bound.label_models.audit import LabelModelAudit, audit
from tallystick.bound.label_models.dawid_skene import dawid_skene, triplet
from tallystick.bound.label_models.family import Family, family_of
from tallystick.bound.label_models.from_labels import from_labels, most_active
from tallystick.bound.label_models.given import given, read_model
from tallystick.bound.label_models.majority import majority
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.label_models.one_coin import one_coin
from tallystick.bound.label_models.surprise import surprise
from tallystick.bound.label_models.weighted_majority import consensus_of, weighted_majority

__all__ = [
    "Family",
    "LabelModel",
    "LabelModelAudit",
    "audit",
    "consensus_of",
    "dawid_skene",
    "family_of",
    "from_labels",
    "given",
    "majority",
    "most_active",
    "one_coin",
    "read_model",
    "surprise",
    "triplet",
    "weighted_majority",
]
