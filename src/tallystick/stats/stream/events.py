"""What a watched stream reports: alarms, the names of their causes, and notices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from tallystick.stats.stream.notices import Notice
from tallystick.stats.stream.series import Series
from tallystick.stats.stream.when import ChangePoint
from tallystick.stats.stream.who import Explanations

__all__ = ["Event", "Naming", "StreamAlarm"]


@dataclass(frozen=True, kw_only=True)
class StreamAlarm:
    """The votes changed.

    Parameters
    ----------
    block, item
        Last block and number of items when it was raised.
    series
        The series that raised it.
    label
        The label of that series, where it has one; None for the slot "other".
    evidence
        How far above the bar it is, at least 1.
    around
        The change is about behind this many items.
    items
        Range of that number, or None.
    change
        The split of the series, with its values before and after.
    explanations
        What may have changed; :class:`Naming` comes 1,000 items later.
    """

    block: int
    item: int
    series: Series
    label: Hashable
    evidence: float
    around: int
    items: tuple[int, int] | None
    change: ChangePoint
    explanations: Explanations


@dataclass(frozen=True, kw_only=True)
class Naming:
    """The final name of what an earlier alarm was about, from 1,000 items after it."""

    block: int
    alarm_block: int
    explanations: Explanations


Event: TypeAlias = StreamAlarm | Naming | Notice
