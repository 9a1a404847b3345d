"""Long tables with one column more: a column of metrics, or items that start again in each task.

``id, model, metric, value`` holds several scores of every answer, one per row: one of them is
chosen. ``id, model, correct, task`` numbers the items of each task from 1: an item is then named by
both, or the items of all tasks would be taken for runs of one another.
"""

from __future__ import annotations

from dataclasses import replace

from tallystick.data.detect.names import SLICES, VOTER_NAMES, is_item, plain
from tallystick.data.detect.sample import is_unique
from tallystick.data.layout import Layout
from tallystick.data.roles import Roles
from tallystick.errors import InputError
from tallystick.io import Table, identifier, literal

__all__ = ["chosen_metric", "named_by_task"]

_METRICS = frozenset({"metric", "metric_name", "measure", "score_name"})
_VALUES = frozenset({"value", "score", "result", "metric_value"})
_WHO = (VOTER_NAMES | {"system", "agent", "run"}) - {"worker", "annotator"}
_MOST_METRICS = 40


def chosen_metric(table: Table, layout: Layout) -> tuple[Table, Layout]:
    """Return the rows of one metric of a tidy table, and the column that holds its values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> rows = {"id": [1, 1], "model": ["a", "a"], "metric": ["f1", "nll"], "value": [0.5, 2.0]}
    >>> table, layout = chosen_metric(scan(pa.table(rows)), Layout(vote="nll"))
    >>> table.query("select * from rows"), layout.vote, table.metric
    ([(1, 'a', 2.0)], 'value', 'nll')
    """
    names = [name for name in table.columns if plain(name) in _METRICS]
    values = [name for name in table.columns if plain(name) in _VALUES]
    if len(names) != 1 or len(values) != 1 or layout.vote in table.columns:
        return table, layout
    column, cell = names[0], identifier(names[0])
    found = table.query(
        f"select distinct cast({cell} as varchar) from rows where {cell} is not null"
        f" limit {_MOST_METRICS + 1}"
    )
    metrics = sorted(value for (value,) in found)
    if not metrics or len(metrics) > _MOST_METRICS:
        return table, layout
    alone = layout.vote is None and len(metrics) == 1
    chosen = metrics[0] if alone else layout.vote or ""
    if chosen not in metrics:
        asked = "" if layout.vote is None else f" and not {layout.vote!r}"
        raise InputError(
            f"{table.source}: column {column!r} holds {', '.join(map(repr, metrics[:8]))}{asked}:"
            f" choose one (--metric {metrics[0]})"
        )
    rest = tuple(name for name in table.columns if name != column)
    shown = ", ".join(map(identifier, rest))
    kept = f"select {shown} from rows where cast({cell} as varchar) = {literal(chosen)}"
    note = f"the rows whose {column!r} is {chosen!r}, with the scores in {values[0]!r}"
    table = replace(
        table,
        relation=table.derive(kept),
        columns=rest,
        metric=chosen,
        parts=(),
        notes=(*table.notes, note),
    )
    return table, replace(layout, vote=values[0])


def named_by_task(table: Table, given: Roles) -> Table:
    """Return a long table whose items are named by task and number, where the numbers start again.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> rows = {"id": [1, 1, 1, 1], "model": list("abab"), "task": list("xxyy"), "correct": [1, 0, 0, 1]}
    >>> named_by_task(scan(pa.table(rows)), Roles()).query("select distinct id from rows order by 1")
    [('x:1',), ('y:1',)]
    """
    items = [name for name in table.columns if is_item(name) and plain(name) not in SLICES]
    who = [name for name in table.columns if plain(name) in _WHO and table.kinds[name] == "text"]
    tasks = [
        name for name in table.columns if plain(name) in SLICES and name not in given.holders()
    ]
    if len(items) != 1 or len(who) != 1 or not tasks or given.replicate is not None:
        return table
    item, model = items[0], who[0]
    if (given.item or item) != item or not table.repeats(item) or is_unique(table, [item, model]):
        return table
    task = next((name for name in tasks if is_unique(table, [item, name, model])), None)
    if task is None:
        return table
    both = f"cast({identifier(task)} as varchar) || ':' || cast({identifier(item)} as varchar)"
    columns = ", ".join(
        f"{both} as {identifier(name)}" if name == item else identifier(name)
        for name in table.columns
    )
    note = f"the numbers in {item!r} start again in each {task!r}: items are named by both"
    return replace(
        table,
        relation=table.derive(f"select {columns} from rows"),
        notes=(*table.notes, note),
    )
