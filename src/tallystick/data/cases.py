"""The items behind a claim: which ones, what was said of each, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tallystick.data.data import Data
from tallystick.tally import Tally

__all__ = ["MOST_CASES", "MOST_ROWS", "Case", "Cases", "Found", "gather"]

MOST_CASES = 100
"""Items that are listed."""
MOST_ROWS = 500_000
"""Rows beyond which items are looked for in a file (``--items-out``), not on a page."""
MOST_SIGNS = 1_500
"""Length of a text; the rest of it is cut, and the cut is shown."""

_SAMPLE = 200
_TEXT = 25
"""Average length from which a column is a text that a reader wants to see."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One item.

    Parameters
    ----------
    item, of
        Its name, and the system whose output it is; empty where there is none.
    kind
        In which way it belongs here: one of the kinds of its `Cases`.
    summary
        What was said of it, in one line.
    votes
        Who said what.
    texts
        Column and text.
    """

    item: str
    of: str = ""
    kind: str
    summary: str
    votes: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cases:
    """The items behind a claim.

    Parameters
    ----------
    title, line
        What they are, and how many of which kind, in one line.
    kinds
        Every kind with its number of items, those that are not listed included.
    cases
        The items that are listed.
    """

    title: str
    line: str
    kinds: tuple[tuple[str, int], ...]
    cases: tuple[Case, ...]

    @property
    def total(self) -> int:
        """How many items there are, listed or not."""
        return sum(n for _, n in self.kinds)


@dataclass(frozen=True, kw_only=True)
class Found:
    """One row that belongs to a kind, before its texts are fetched."""

    row: int
    kind: str
    summary: str
    votes: tuple[tuple[str, str], ...] = ()


def gather(
    data: Data, found: Sequence[Found], *, title: str, line: str, texts: bool = True
) -> Cases:
    """Return the first items of every kind, with their names and texts.

    Each kind gets an equal part of the `MOST_CASES` places, and what one leaves free goes to the
    others.
    """
    kinds: dict[str, list[Found]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    listed = _shared(list(kinds.values()))
    shown = _text_columns(data) if texts else ()
    cells = _rows(data, [one.row for one in listed], shown)
    item, system = data.roles.item, data.roles.system
    return Cases(
        title=title,
        line=line,
        kinds=tuple((kind, len(rows)) for kind, rows in kinds.items()),
        cases=tuple(
            Case(
                item=str(held.get(item, f"row {one.row + 1}")) if item else f"row {one.row + 1}",
                of=str(held.get(system, "")) if system else "",
                kind=one.kind,
                summary=one.summary,
                votes=one.votes,
                texts=tuple(
                    (name, _cut(str(held[name]))) for name in shown if held.get(name) is not None
                ),
            )
            for one, held in zip(listed, cells, strict=True)
        ),
    )


def _shared(kinds: list[list[Found]]) -> list[Found]:
    """Return the first items of every kind, in turn, in the order of the kinds."""
    most = {id(rows): 0 for rows in kinds}
    left = MOST_CASES
    while left > 0 and any(most[id(rows)] < len(rows) for rows in kinds):
        for rows in kinds:
            if left and most[id(rows)] < len(rows):
                most[id(rows)] += 1
                left -= 1
    return [one for rows in kinds for one in rows[: most[id(rows)]]]


def _text_columns(data: Data) -> tuple[str, ...]:
    """Return columns without a role whose cells are long: the words that people read."""
    if isinstance(data.held, Tally):
        return ()
    free = [name for name in data.table.columns if name not in data.roles.holders()]
    if not free:
        return ()
    sample = data.table.derive(f"select * from rows limit {_SAMPLE}").to_arrow_table()
    found = []
    for name in free:
        cells = [cell for cell in sample[name].to_pylist() if isinstance(cell, str) and cell]
        if cells and sum(map(len, cells)) >= _TEXT * len(cells):
            found.append(name)
    return tuple(found)


def _rows(data: Data, places: Sequence[int], texts: Sequence[str]) -> list[dict[str, object]]:
    """Return the named cells of some rows, in the order of *places*."""
    names = [name for name in dict.fromkeys((data.roles.item, data.roles.system, *texts)) if name]
    if not names or not places:
        return [{} for _ in places]
    columns = data.cells(*names)
    return [{name: columns[name][place] for name in names} for place in places]


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SIGNS else f"{text[:MOST_SIGNS]} … (cut)"
