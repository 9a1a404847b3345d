"""Label the few items that tell most, and know when to stop.

A session is one file: the question, the draws, and what people answered. `begin` makes one,
`reopen` continues it, and every capability reads it as truth.
"""

from __future__ import annotations

from tallystick.verbs.label.begin import SessionSettings, begin, label, reopen
from tallystick.verbs.label.outcome import LabelResult
from tallystick.verbs.label.work import Work

__all__ = ["LabelResult", "SessionSettings", "begin", "reopen"]
