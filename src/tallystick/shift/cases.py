"""The items whose answer changed."""

from __future__ import annotations

from tallystick.data import Cases, Data, Found, gather
from tallystick.data.cases import MOST_ROWS
from tallystick.results import Result
from tallystick.shift.result import ShiftResult
from tallystick.tally import Tally

__all__ = ["cases_of"]


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items that were asked and got another answer than before.

    None where no old answer is known by item, or where the rows are not at hand.
    """
    if not isinstance(result, ShiftResult) or result.evidence is None:
        return None
    if isinstance(data.held, Tally) or data.n_rows > MOST_ROWS or "old" not in result.asked:
        return None
    items, _, answers = result.evidence
    if len(items) != data.n_rows:
        return None  # some rows were left out, so places of items are not places of rows

    table = result.asked
    truths = table.get("true", [None] * len(table["new"]))
    found = []
    for place, (row, changed) in enumerate(
        zip(answers.asked.tolist(), table["changed"], strict=True)
    ):
        if not changed:
            continue
        true, old, new = (cells[place] for cells in (truths, table["old"], table["new"]))
        found.append(
            Found(
                row=int(row),
                kind=_kind(true, old, new),
                summary=f"{old} → {new}" + (f" · true {true}" if true is not None else ""),
                votes=tuple(
                    (name, str(value))
                    for name, value in (("true", true), ("old", old), ("new", new))
                    if value is not None
                ),
            )
        )
    order = ("became wrong", "became right", "wrong before and after", "changed")
    found.sort(key=lambda one: order.index(one.kind))
    counts = [(kind, sum(one.kind == kind for one in found)) for kind in order]
    told = ", ".join(f"{n:,} {kind}" for kind, n in counts if n and kind != "changed")
    line = f"{len(found):,} of {len(table['new']):,} answers changed{': ' + told if told else ''}."
    return gather(data, found, title="Items", line=line, texts=texts)


def _kind(true: object, old: object, new: object) -> str:
    if true is None:
        return "changed"
    if old == true:
        return "became wrong"
    return "became right" if new == true else "wrong before and after"
