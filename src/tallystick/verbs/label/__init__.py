"""Label the few items that tell most, and know when to stop.

A session is one file: the question, the draws, and what people answered. `begin` makes one,
`reopen` continues it, and every capability reads it as truth.
"""

from __future__ import annotations

from tallystick.verbs.label.begin import (
    QUESTIONS,
    LabelQuestion,
    SessionSettings,
    Work,
    begin,
    label_question,
    reopen,
)
from tallystick.verbs.label.outcome import LabelResult, Readers
from tallystick.verbs.label.work import MeasureStanding, Standing, standing

__all__ = [
    "QUESTIONS",
    "LabelQuestion",
    "LabelResult",
    "MeasureStanding",
    "Readers",
    "SessionSettings",
    "Standing",
    "Work",
    "begin",
    "label_question",
    "reopen",
    "standing",
]
