"""Evaluation logs as outputs: one row per item and system, one column per score of the tool.

What a model scored in a log is a judge's grade of its output. So a log with a judge's score and a
second file of human grades (``--truth-file``) say together how good the model is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick.data.layout import Layout
from tallystick.data.roles import Roles
from tallystick.errors import InputError
from tallystick.io import Table, scan
from tallystick.io.formats import detect
from tallystick.io.logs.log import Log
from tallystick.io.logs.naming import told_apart
from tallystick.io.logs.registry import log_readers, read_logs
from tallystick.io.sources import resolve

__all__ = ["log_outputs"]

ITEM, SYSTEM = "item", "system"
MOST_LISTED = 12


def log_outputs(source: Any, layout: Layout, given: Roles) -> tuple[Table, Roles] | None:
    """Return logs as a long table of outputs, and the roles that its columns have.

    Parameters
    ----------
    source
        A path or several; anything but evaluation logs returns None.
    layout
        The metric: the score that is the only judge.
    given
        The roles that the caller named. *judges* and *truth* may name scores.
    """
    import pyarrow as pa

    paths = [source] if isinstance(source, str | Path) else source
    if not isinstance(paths, Sequence) or not all(isinstance(one, str | Path) for one in paths):
        return None
    if "-" in map(str, paths) or any(str(one).endswith(".tally") for one in paths):
        return None  # standard input can be read once only
    if any(Path(one).expanduser().is_dir() for one in paths):
        return None
    files = resolve([str(one) for one in paths])
    formats = [detect(file) for file in files]
    if not formats or not all(one in log_readers() for one in formats):
        return None

    logs = told_apart(read_logs(files, formats))
    scores = list(dict.fromkeys(name for log in logs for name in log.scores))
    judges = _judges(logs, scores, layout, given)
    columns, averaged = _long(logs, scores)
    systems = len(set(columns[SYSTEM]))
    items = len(set(columns[ITEM]))
    kinds = ", ".join(dict.fromkeys(formats))
    word = "system" if systems == 1 else "systems"
    notes = [f"read as {kinds} logs: {systems} {word} on {items:,} items"]
    if averaged:
        notes.append(f"{averaged:,} replicates (epochs, trials) were averaged within their items")
    lost = sum(log.unscored for log in logs)
    if lost:
        notes.append(f"{lost:,} samples failed and have no score")
    table = replace(
        scan(pa.table(columns)),
        source=files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more",
        files=tuple(file.path for file in files if not file.spooled),
        spools=tuple(file.path for file in files if file.spooled),
        notes=tuple(notes),
    )
    roles = replace(given, item=given.item or ITEM, system=given.system or SYSTEM)
    return table, roles.with_columns("judges", judges)


def _judges(
    logs: Sequence[Log], scores: Sequence[str], layout: Layout, given: Roles
) -> tuple[str, ...]:
    """Return the scores that are grades: those named, or the only one there is."""
    if given.judges:
        return given.judges
    if layout.metric is not None:
        if layout.metric not in scores:
            raise InputError(
                f"{logs[0].source} has no score {layout.metric!r}: it has {_listed(scores)}"
                " (--metric)"
            )
        return (layout.metric,)
    free = [name for name in scores if name != given.truth]
    if len(free) != 1:
        raise InputError(
            f"{logs[0].source} has the scores {_listed(free)}: say which of them are judges'"
            f" grades (--judges {','.join(map(_quoted, free[:2]))})"
        )
    return tuple(free)


def _quoted(name: str) -> str:
    return name if "," not in name and " " not in name else f"'{name}'"


def _long(logs: Sequence[Log], scores: Sequence[str]) -> tuple[dict[str, list[Any]], int]:
    """Return one row per item and system, replicates averaged, and how many those were."""
    tasks = {log.task for log in logs}
    groups = list(dict.fromkeys(name for log in logs for name in log.groups))
    taken = {ITEM, SYSTEM, *scores}
    groups = [name for name in groups if name not in taken]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    averaged = 0
    for log in logs:
        for metric, held in log.scores.items():
            for item, values in held.items():
                # One task is not worth a prefix: human grades name the item as the tool does.
                name = f"{log.task}:{item}" if log.task and len(tasks) > 1 else str(item)
                row = rows.setdefault((name, log.model), {})
                row[metric] = sum(values) / len(values)
                averaged += len(values) - 1 if metric == scores[0] else 0
                row |= _groups(log.groups, item)
    columns: dict[str, list[Any]] = {
        ITEM: [item for item, _ in rows],
        SYSTEM: [system for _, system in rows],
    }
    for name in (*scores, *groups):
        columns[name] = [row.get(name) for row in rows.values()]
    return columns, averaged


def _groups(groups: Mapping[str, Mapping[str, str]], item: str) -> dict[str, str]:
    return {name: held[item] for name, held in groups.items() if item in held}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_LISTED]))
    return f"{shown}, …" if len(names) > MOST_LISTED else shown
