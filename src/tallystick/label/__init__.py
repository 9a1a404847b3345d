"""Label the few items that tell most, and know when to stop.

A session is one file: the question, the draws, and what people answered. `begin` makes one,
`reopen` continues it, and every capability reads it as truth.
"""

from __future__ import annotations

from tallystick.label.begin import begin, reopen
from tallystick.label.questions import QUESTIONS, LabelQuestion, label_question
from tallystick.label.result import LabelResult, Readers
from tallystick.label.settings import SessionSettings
from tallystick.label.standing import MeasureStanding, Standing, standing
from tallystick.label.work import Work

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
