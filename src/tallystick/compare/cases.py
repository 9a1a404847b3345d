"""The items on which the two best models differ."""

from __future__ import annotations

from tallystick.compare.result import CompareResult
from tallystick.data import Cases, Data, Found, gather
from tallystick.data.cases import MOST_ROWS
from tallystick.results import Result, Unknown
from tallystick.tally import Tally

__all__ = ["cases_of"]


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items that exactly one of the two best models gets right.

    None where single items say nothing: scores instead of answers, a saved tally, or a source in
    which the models are not columns.
    """
    if not isinstance(result, CompareResult) or not result.pairs or isinstance(data.held, Tally):
        return None
    top, truth = result.pairs[0], data.roles.truth
    columns = data.roles.models
    if truth is None or not {top.a, top.b} <= set(columns) or data.n_rows > MOST_ROWS:
        return None

    labels = data.label_lists(*columns, truth)
    found = []
    for row, true in enumerate(labels[truth]):
        right = {name: labels[name][row] == true for name in (top.a, top.b)}
        if true is None or right[top.a] == right[top.b]:
            continue
        winner = top.a if right[top.a] else top.b
        others = sum(labels[name][row] == true for name in columns)
        found.append(
            Found(
                row=row,
                kind=f"only {winner} right",
                summary=f"true {true} · {others} of {len(columns)} models right",
                votes=(
                    ("true", str(true)),
                    *((name, str(labels[name][row])) for name in columns),
                ),
            )
        )
    # What the verdict counts is what is listed; another reading of the table is not shown.
    counted = (top.a_only, top.b_only)
    ours = tuple(sum(one.kind == f"only {name} right" for one in found) for name in (top.a, top.b))
    if any(isinstance(n, Unknown) for n in counted) or counted != ours:
        return None
    order = {f"only {top.a} right": 0}
    found.sort(key=lambda one: order.get(one.kind, 1))
    line = (
        f"{top.a} and {top.b} differ on {len(found):,} items: {ours[0]:,} only {top.a} gets right,"
        f" {ours[1]:,} only {top.b}."
    )
    return gather(data, found, title="Items", line=line, texts=texts)
