"""One part of a page: a question of detail, its answer in one line, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallystick.results.figure import Figure
from tallystick.results.units import Unit

__all__ = ["Section"]


@dataclass(frozen=True, kw_only=True)
class Section:
    """What a reader can unfold.

    Parameters
    ----------
    title
        One or two words, e.g. Pairs.
    line
        Its answer, shown while it is folded.
    rows
        A table, one mapping per row; an interval after its estimate is written under it.
    units
        What the numbers of a column measure, by name; a column that is not named holds plain
        numbers.
    figures
        Pictures above the table.
    notes
        Sentences below it.
    """

    title: str
    line: str
    rows: Sequence[Mapping[str, Any]] = ()
    units: Mapping[str, Unit] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
