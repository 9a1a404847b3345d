"""What was read of a table's rows, kept: each distinct row once, and which of them every row is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tallystick.values import Label

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["RowMemory", "RowPatterns"]

MOST_PATTERNS = 1 << 16
"""Columns that show more distinct rows are read again: they would not take less room."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RowPatterns:
    """The distinct rows of some columns.

    Parameters
    ----------
    codes
        Patterns x columns: a place in *labels*, -1 for no answer.
    labels
        What the codes stand for.
    first, counts
        The first row that shows each pattern, and how many do.
    place
        The pattern of each row.
    """

    codes: npt.NDArray[np.integer]
    labels: tuple[Label, ...]
    first: npt.NDArray[np.int64]
    counts: npt.NDArray[np.float64]
    place: npt.NDArray[np.integer]


@dataclass(kw_only=True, eq=False)
class RowMemory:
    """Rows that were read before, by the columns that were read. It grows while data is read.

    Parameters
    ----------
    patterns
        Columns and missing tokens to what they show.
    groups
        Column to a number for each row, the same for equal cells.
    missing
        The tokens that mean no answer, once the labels have been looked at.
    whole
        Whether everything that was read is kept.
    """

    patterns: dict[tuple[tuple[str, ...], tuple[str, ...]], RowPatterns] = field(
        default_factory=dict
    )
    groups: dict[str, npt.NDArray[np.int32]] = field(default_factory=dict)
    missing: tuple[str, ...] | None = None
    whole: bool = True

    def keep(
        self, columns: tuple[str, ...], tokens: tuple[str, ...], found: RowPatterns
    ) -> RowPatterns:
        """Keep what columns show, unless they show too much; return it."""
        if len(found.codes) <= MOST_PATTERNS:
            self.patterns[columns, tokens] = found
        else:
            self.whole = False
        return found
