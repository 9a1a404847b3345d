"""Label models: P(Y | Z) from labels, from the share of votes, from EM, from trios, or from the
user.
"""

from __future__ import annotations

from tallystick.bound.label_models.audit import LabelModelAudit, audit
from tallystick.bound.label_models.dawid_skene import dawid_skene, triplet
from tallystick.bound.label_models.from_labels import from_labels, most_active
from tallystick.bound.label_models.given import given, read_model
from tallystick.bound.label_models.majority import majority
from tallystick.bound.label_models.model import LabelModel

__all__ = [
    "LabelModel",
    "LabelModelAudit",
    "audit",
    "dawid_skene",
    "from_labels",
    "given",
    "majority",
    "most_active",
    "read_model",
    "triplet",
]
