"""How a source is laid out: what the caller says of its shape rather than of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tallystick.errors import InputError

__all__ = ["Layout", "ShapeOption"]

ShapeOption: TypeAlias = Literal["auto", "wide", "long"]

_SHAPES = ("auto", "wide", "long")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the caller says of the layout of a source.

    Parameters
    ----------
    shape
        ``wide`` (one column per judge), ``long`` (one row per vote: item, judge, vote), or
        ``auto``, which looks at the structure of the table.
    judge, vote
        Long tables: the column that says who voted, and the column of votes. Naming one of them
        means that the table is long.
    delimiter
        The separator of delimited text, where it cannot be detected.
    metric
        Evaluation logs and result files: the score to read, where they have several.
    run
        Runs of the same items, each ``NAME=FILE``.
    truth_file
        A second file with the truth, joined by item (and by system, where the table has one).
    old_file
        A second file with the old answers, joined by item.
    truth_elsewhere
        Another file that may hold the truth: then the table need not have the column.
    columns
        The columns that are asked about, where the verb has no role of its own for them.
    ignore
        Columns to leave out: names, commas and globs.
    separator
        Wide tables of outputs: what stands between system and judge in ``A.gpt``; found if None.
    rows_are_items
        Every row is an item of its own, whatever a column of item names says.
    """

    shape: ShapeOption = "auto"
    judge: str | None = None
    vote: str | None = None
    delimiter: str | None = None
    metric: str | None = None
    run: tuple[str, ...] = ()
    truth_file: str | None = None
    old_file: str | None = None
    truth_elsewhere: str | None = None
    columns: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    separator: str | None = None
    rows_are_items: bool = False

    def __post_init__(self) -> None:
        if self.shape not in _SHAPES:
            raise InputError(f"shape must be one of {', '.join(_SHAPES)}, got {self.shape!r}")
        if self.shape == "wide" and (self.judge or self.vote):
            raise InputError(
                "judge and vote name the columns of a long table: leave them out, or say"
                " shape='long' (--shape long)"
            )
        # A single name is a group of one, as for every role that several columns can have.
        for name in ("columns", "ignore", "run"):
            held = getattr(self, name)
            object.__setattr__(self, name, (held,) if isinstance(held, str) else tuple(held))
