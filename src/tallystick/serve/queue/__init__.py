"""The labelling queue: rows drawn with known probabilities, shown blind, read by several people."""

from __future__ import annotations

from tallystick.serve.queue.chances import Chances, chances
from tallystick.serve.queue.drawing import FramePlan, plan_frame
from tallystick.serve.queue.turns import Turn, answer_turn, next_turn, skip_turn, undo_turn

__all__ = [
    "Chances",
    "FramePlan",
    "Turn",
    "answer_turn",
    "chances",
    "next_turn",
    "plan_frame",
    "skip_turn",
    "undo_turn",
]
