"""Runs are models: several files, logs or frames, each of which is one run of the same items.

A run is an evaluation log, or a plain result file with one row per item and one column per metric.
Runs are put side by side by item, so that every verb sees one column per run. Items are matched by
their names, or by their content where they have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from tallystick.data.detect.names import plain
from tallystick.data.layout import Layout
from tallystick.data.plain_run import (
    MODEL_COLUMNS,
    AskedOfRuns,
    cells_of,
    item_column,
    plain_run,
    what_was_asked,
)
from tallystick.data.roles import Roles
from tallystick.errors import FileError, InputError
from tallystick.io import Table, scan
from tallystick.io.formats import detect
from tallystick.io.logs.log import Log
from tallystick.io.logs.registry import log_readers, read_logs
from tallystick.io.logs.side_by_side import beside
from tallystick.io.sources import File, resolve

__all__ = ["are_runs", "named_runs", "read_runs", "runs_of"]

_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".eval", ".gz")
"""Files of a folder that may be runs; anything else in it is passed over."""


@dataclass(frozen=True)
class _Run:
    """One source of a run, and the name that the caller gave it."""

    source: Any
    name: str | None = None


def named_runs(source: Any, run: Sequence[str]) -> list[_Run] | None:
    """Return the runs that the caller names: ``--run old=a.csv``, or a mapping of name to file.

    None if nothing of the kind was given.

    Examples
    --------
    >>> [one.name for one in named_runs([], ("old=a.csv", "new=b.csv")) or ()]
    ['old', 'new']
    """
    if isinstance(source, Mapping):
        values = list(source.values())
        frames = values and all(isinstance(v, str | Path) or hasattr(v, "columns") for v in values)
        return [_Run(v, str(k)) for k, v in source.items()] if frames else None
    if not run:
        return None
    found = []
    for text in run:
        name, sign, path = text.partition("=")
        if not sign or not name.strip() or not path.strip():
            raise InputError(f"run must be NAME=FILE, such as old=a.csv, got {text!r}")
        found.append(_Run(path.strip(), name.strip()))
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two runs are called {twice!r}: give each its own name")
    more = [source] if isinstance(source, str | Path) else list(source or ())
    return [*found, *(_Run(one) for one in more)]


def are_runs(source: Any, layout: Layout, given: Roles) -> bool:
    """Say whether several files are runs of the same items, and not the parts of one table.

    A folder and several logs are runs. Several plain files are runs if the caller names a metric,
    or if the same items occur in two of them. Parts of one table have no item in common.
    """
    paths = [source] if isinstance(source, str | Path) else source
    if not isinstance(paths, Sequence) or not all(isinstance(one, str | Path) for one in paths):
        return False
    if "-" in map(str, paths) or any(str(one).endswith(".tally") for one in paths):
        return False  # standard input can be read once only
    if any(Path(one).expanduser().is_dir() for one in paths):
        return True
    files = resolve(list(paths))
    formats = [detect(file) for file in files]
    if any(one in log_readers() for one in formats):
        return True
    if len(files) < 2 or given.models:
        return False
    return layout.metric is not None or _share_items(files, layout, given)


def read_runs(
    runs: Sequence[_Run], layout: Layout, given: Roles, *, missing: Sequence[str] = ()
) -> Table:
    """Return one table with a column per run, and in ``known`` which columns are what.

    Parameters
    ----------
    runs
        From :func:`named_runs`, or one per file.
    layout
        The metric, and the separator of delimited text.
    given
        The columns that the caller names: item, truth, cluster, weight, by.
    missing
        Tokens for no answer.
    """
    import pyarrow as pa

    logs: list[Log] = []
    notes: list[str] = []
    files: list[Path] = []
    formats: list[str] = []
    for one, own, more in _expanded(runs, AskedOfRuns(layout, given, tuple(missing))):
        named = own
        if one.name is not None:
            alone = len({log.model for log in own}) == 1
            named = [
                replace(log, model=one.name if alone else f"{one.name}: {log.model}") for log in own
            ]
        logs += named
        notes += more.notes
        files += more.files
        formats += more.formats
    if len({log.model for log in logs}) < 2 and len(logs) < 2:
        listed = ", ".join(map(repr, logs[0].scores)) if logs else "nothing"
        raise InputError(
            f"{logs[0].source if logs else 'the folder'} holds one run with the scores {listed}:"
            " name another one to compare it with (--run old=FILE --run new=FILE)"
        )
    kept = given.columns("cluster", "by", "weight")
    found = beside(_renamed(logs), layout.metric, keep=kept)
    known: dict[str, Any] = {"models": found.models, "item": next(iter(found.columns))}
    if found.replicate is not None:
        known["replicate"] = found.replicate
    kinds = ", ".join(dict.fromkeys(formats))
    source = logs[0].source if len(logs) == 1 else f"{logs[0].source} and {len(logs) - 1} more"
    items = len(set(found.columns[known["item"]]))
    first = f"read as {kinds}: {len(found.models)} models on {items} items"
    return replace(
        scan(pa.table(found.columns)),
        source=source,
        files=tuple(files),
        notes=(first, *notes, *found.notes),
        known=known,
        metric=found.metric,
    )


@dataclass(frozen=True)
class _Read:
    """What was seen while runs were read."""

    files: tuple[Path, ...] = ()
    formats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _expanded(runs: Sequence[_Run], asked: AskedOfRuns) -> list[tuple[_Run, list[Log], _Read]]:
    """Read every run; logs of one tool are read together, because names depend on the others."""
    found: list[tuple[_Run, list[Log], _Read]] = []
    together: list[tuple[int, File, str]] = []
    for one in runs:
        if not isinstance(one.source, str | Path):
            log, notes = plain_run(_frame(one.source), one.name or "run", asked)
            found.append((one, [log], _Read(formats=("frames",), notes=notes)))
            continue
        files, notes = _files(one.source)
        for file in files:
            kind = detect(file)
            place = len(found)
            found.append((one, [], _Read((file.path,), (_called(kind),), notes)))
            notes = ()
            if kind in log_readers():
                together.append((place, file, kind))
                continue
            with scan([str(file.path)], delimiter=asked.layout.delimiter) as table:
                log, more = plain_run(table, file.name, asked)
            held = found[place][2]
            found[place] = (one, [log], replace(held, notes=(*held.notes, *more)))
    if together:
        logs = read_logs([file for _, file, _ in together], [kind for *_, kind in together])
        by_source: dict[str, list[Log]] = {}
        for log in logs:
            by_source.setdefault(log.source, []).append(log)
        for place, file, _ in together:
            one, _, held = found[place]
            found[place] = (one, by_source.get(file.name, []), held)
    return found


def _called(kind: str) -> str:
    return f"{kind} logs" if kind in log_readers() else "result files"


def _files(source: str | Path) -> tuple[tuple[File, ...], tuple[str, ...]]:
    """Return the files of a path, a glob or a folder; in a folder logs win over other files."""
    folder = Path(source).expanduser()
    if not folder.is_dir():
        return resolve(source), ()
    likely = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name.endswith(_ENDINGS) and not path.name.startswith(".")
    ]
    kinds: dict[Path, str] = {}
    for path in likely:
        try:
            kinds[path] = detect(File(path, str(path)))
        except FileError:
            continue
    logs = [path for path, kind in kinds.items() if kind in log_readers()]
    taken = logs or list(kinds)
    if not taken:
        raise FileError(
            f"{source} holds no evaluation log and no table: name the files of the runs"
        )
    aside = [path.name for path in likely if path not in taken]
    notes: tuple[str, ...] = ()
    if aside:
        shown = ", ".join(aside[:3]) + (", …" if len(aside) > 3 else "")
        notes = (f"{source}: {len(aside)} files are not logs and are passed over ({shown})",)
    return tuple(File(path, str(path)) for path in taken), notes


def _frame(source: Any) -> Table:
    from tallystick.data.read import table_of

    return table_of(source)


def _renamed(logs: Sequence[Log]) -> list[Log]:
    """Name runs by their only column where every file has one of its own."""
    alone = [next(iter(log.scores)) for log in logs if len(log.scores) == 1]
    plain_names = len({log.model for log in logs}) == len(logs)
    if len(alone) < len(logs) or len(set(alone)) < len(logs) or not plain_names:
        return list(logs)
    return [
        replace(log, model=metric, scores={"score": log.scores[metric]})
        for log, metric in zip(logs, alone, strict=True)
    ]


def _share_items(files: Sequence[File], layout: Layout, given: Roles) -> bool:
    """Say whether an item of the first file occurs in another one.

    Files of which no two share an item are the parts of one table, unless they ask the same: then
    each run has names of its own for the same items, and the user is asked.
    """
    seen: set[str] = set()
    content: list[tuple[str, set[str]]] = []
    for file in files:
        with scan([str(file.path)], delimiter=layout.delimiter) as table:
            if any(plain(name) in MODEL_COLUMNS for name in table.columns):
                model = next(name for name in table.columns if plain(name) in MODEL_COLUMNS)
                if len(set(cells_of(table, model))) > 1:
                    return False  # a long table: its models are in its rows
            item = item_column(table, given)
            asked = what_was_asked(table)
            if item is None and not asked:
                return False
            cells = zip(
                *(cells_of(table, name) for name in ([item] if item else asked)), strict=True
            )
            own = {"\x1f".join(map(str, row)) for row in cells}
            if item is not None and given.item is None and asked:
                content.append((asked[0], {str(cell) for cell in cells_of(table, asked[0])}))
        if seen & own:
            return True
        seen |= own
    _refuse_same_questions(files, content)
    return False


_ALIKE = 0.5
"""Share of what the shorter file asks that the other asks too, from which they ask the same."""


def _refuse_same_questions(files: Sequence[File], content: Sequence[tuple[str, set[str]]]) -> None:
    """Ask about files that name every item differently and ask the same of the model."""
    if len(content) < len(files):
        return
    (column, first), *others = content
    for file, (_, texts) in zip(files[1:], others, strict=True):
        fewer = min(len(first), len(texts))
        if fewer > 1 and len(first & texts) >= _ALIKE * fewer:
            raise InputError(
                f"{files[0].name} and {file.name} have no item in common, and {column!r} holds the"
                f" same text in both: they look like two runs of the same items. Match them by it"
                f" (--item {quote(column)}) and say which score to compare (--metric C)"
            )


def runs_of(source: Any) -> list[_Run]:
    """Return one unnamed run per path."""
    return [_Run(one) for one in ([source] if isinstance(source, str | Path) else source)]
