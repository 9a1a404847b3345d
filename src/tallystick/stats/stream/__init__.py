"""Streams of votes: did the judges, the mix or the votes change, when, and who.

| question | call |
|---|---|
| did the votes of a panel change? | :class:`Watch`: alarms, notices, names, checkpoints |
| did one series of shares change? | :class:`Detector` |
| when did it change? | :func:`change_point` |
| who or what changed? | :func:`explain` |
| is accuracy below x, from labelled items? | :class:`Below` |
"""

from __future__ import annotations

from tallystick.stats.stream.below import Below
from tallystick.stats.stream.detector import Detector, hashed_uniform, rank_bet, slowdown
from tallystick.stats.stream.events import Event, Naming, StreamAlarm
from tallystick.stats.stream.notices import Notice, NoticeBoard
from tallystick.stats.stream.options import WatchOptions
from tallystick.stats.stream.series import (
    OTHER,
    BlockCounts,
    Series,
    SeriesLayout,
    count_blocks,
    lay_out,
)
from tallystick.stats.stream.watch import Watch
from tallystick.stats.stream.when import ChangePoint, change_point
from tallystick.stats.stream.who import Explanation, Explanations, explain

__all__ = [
    "OTHER",
    "Below",
    "BlockCounts",
    "ChangePoint",
    "Detector",
    "Event",
    "Explanation",
    "Explanations",
    "Naming",
    "Notice",
    "NoticeBoard",
    "Series",
    "SeriesLayout",
    "StreamAlarm",
    "Watch",
    "WatchOptions",
    "change_point",
    "count_blocks",
    "explain",
    "hashed_uniform",
    "lay_out",
    "rank_bet",
    "slowdown",
]
