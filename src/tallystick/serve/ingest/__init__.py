"""Taking records: parse, set registers, write in one transaction with the counts."""

from __future__ import annotations

from tallystick.serve.ingest.group import RefusedBatches, Source
from tallystick.serve.ingest.parse import LabelRecord, VoteRecord, parse
from tallystick.serve.ingest.write import Accepted, apply, apply_group

__all__ = [
    "Accepted",
    "LabelRecord",
    "RefusedBatches",
    "Source",
    "VoteRecord",
    "apply",
    "apply_group",
    "parse",
]
