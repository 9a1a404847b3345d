"""The items on which the vote hangs, and those that every model gets wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tallystick.data import Cases, Data, Found, gather
from tallystick.data.cases import MOST_ROWS
from tallystick.dynamic.item_rows import item_rows
from tallystick.dynamic.log_result import LogResult
from tallystick.dynamic.reading import log_of
from tallystick.tally import Tally

__all__ = ["cases_of"]

_KINDS = {
    "all wrong": "every model wrong",
    "could be repaired": "the next models could repair it",
    "tied": "a tie",
    "could break": "the next models could break it",
}
"""What is listed, in this order; items that nothing can move are not."""


def cases_of(result: Any, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items to check first: those that all models get wrong, then those that hang."""
    if isinstance(data.held, Tally) or not isinstance(result, LogResult):
        return None
    if data.n_rows > MOST_ROWS:
        return None
    rows = item_rows(log_of(data)[0], result).columns
    place, said = _places(data), _said(data)
    listed = []
    for k, (item, hangs) in enumerate(zip(rows["item"], rows["vote_hangs"], strict=True)):
        if hangs not in _KINDS or str(item) not in place:
            continue
        row = place[str(item)]
        summary = f"{rows['wrong'][k]} of {rows['answered'][k]} models wrong"
        one = Found(row=row, kind=_KINDS[hangs], summary=summary, votes=said(row))
        listed.append((list(_KINDS).index(hangs), rows["check_order"][k] or 0, one))
    listed.sort(key=lambda one: one[:2])
    found = [one for _, _, one in listed]
    every = sum(one.kind == _KINDS["all wrong"] for one in found)
    line = (
        f"Every model gets {every:,} items wrong: they are hard or mislabelled. On"
        f" {len(found) - every:,} more the next models could turn the vote."
    )
    return gather(data, found, title="Items", line=line, texts=texts)


def _said(data: Data) -> Callable[[int], tuple[tuple[str, str], ...]]:
    """Return what says who answered what in a row; nothing for long logs."""
    truth = data.roles.truth
    names = [name for name in data.roles.models if name in data.table.columns]
    if truth is None or not names:
        return lambda row: ()
    labels = data.label_lists(truth, *names)

    def votes(row: int) -> tuple[tuple[str, str], ...]:
        answers = ((name, labels[name][row]) for name in names)
        shown = tuple((name, str(said)) for name, said in answers if said is not None)
        return (("true", str(labels[truth][row])), *shown)

    return votes


def _places(data: Data) -> dict[str, int]:
    """Return the first row of each item; rows are items where no column names them."""
    item = data.roles.item
    if item is None:
        return {str(row + 1): row for row in range(data.n_rows)}
    found: dict[str, int] = {}
    for row, name in enumerate(data.cells(item)[item]):
        found.setdefault(str(name), row)
    return found
