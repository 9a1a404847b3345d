"""A saved tally as input: its rows are counted already, so only questions about patterns can be
asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.tally import Tally

__all__ = ["is_saved", "load_saved"]


def is_saved(source: Sequence[str]) -> bool:
    """Say whether the input is one saved tally.

    >>> is_saved(["monday.tally"]), is_saved(["votes.csv"])
    (True, False)
    """
    return len(source) == 1 and source[0].endswith(".tally")


def load_saved(
    source: Sequence[str],
    *,
    columns: Sequence[str],
    beside: Sequence[str | None],
    rows_only: Mapping[str, object],
) -> tuple[Tally, tuple[str, ...]]:
    """Return the tally of the columns that are asked about, and those among them that are not
    *beside*.

    Parameters
    ----------
    source
        The one path.
    columns
        Names, comma lists and globs; nothing means every column that is not *beside*.
    beside
        Columns with a role of their own (truth, prediction); None where there is none.
    rows_only
        Options that need the rows, by name: refused if given.
    """
    from tallystick.tally import Tally

    given = [option for option, value in rows_only.items() if value]
    if given:
        raise InputError(
            f"{given[0]} needs the rows, and {source[0]} holds counts: give the table itself"
        )
    tally = Tally.load(source[0])
    apart = [name for name in beside if name is not None]
    for name in apart:
        if name not in tally.names:
            raise InputError(f"{source[0]} has no column {name!r}: it has {', '.join(tally.names)}")
    free = [name for name in tally.names if name not in apart]
    chosen: dict[str, None] = {}
    for pattern in (piece.strip() for text in columns for piece in text.split(",")):
        found = [name for name in free if name == pattern or fnmatchcase(name, pattern)]
        if not found:
            raise InputError(f"{source[0]} has no column {pattern!r}: it has {', '.join(free)}")
        chosen.update(dict.fromkeys(found))
    labels = tuple(chosen or free)
    return tally.marginal([*labels, *apart]), labels
