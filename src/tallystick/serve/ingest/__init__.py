"""Taking records: parse, set registers, write in one transaction with the counts."""

from __future__ import annotations

from tallystick.serve.ingest.parse import LabelRecord, VoteRecord, parse
from tallystick.serve.ingest.write import Accepted, Source, apply

__all__ = ["Accepted", "LabelRecord", "Source", "VoteRecord", "apply", "parse"]
