"""Runs are models: several files, logs or frames, each of which is one run of the same items.

A run is an evaluation log, or a plain result file with one row per item and one column per metric.
Runs are put side by side by item, so that every verb sees one column per run. Items are matched by
their names, or by their content where they have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tallystick.data.detect.names import (
    ITEM_NAMES,
    REPLICATE_NAMES,
    is_identifier,
    is_truth,
    plain,
)
from tallystick.data.detect.profile import Profile, look
from tallystick.data.detect.sample import draw
from tallystick.data.layout import Layout
from tallystick.data.numbers import read_numbers
from tallystick.data.roles import Roles
from tallystick.errors import FileError, InputError
from tallystick.io import Table, identifier, scan
from tallystick.io.formats import detect
from tallystick.io.logs.log import Log
from tallystick.io.logs.registry import log_readers, read_logs
from tallystick.io.logs.side_by_side import beside
from tallystick.io.nearest import missing_column
from tallystick.io.sources import File, resolve
from tallystick.values import whole

__all__ = ["are_runs", "named_runs", "read_runs", "runs_of"]

_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".eval", ".gz")
"""Files of a folder that may be runs; anything else in it is passed over."""
_MODEL_COLUMNS = frozenset({"model", "model_name", "system"})
_NUMERIC = 0.5
"""Share of a column's values that are numbers, at least, for it to be a metric."""


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
    for one, own, more in _expanded(runs, _Asked(layout, given, tuple(missing))):
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
class _Asked:
    """What the caller says of every file."""

    layout: Layout
    given: Roles
    missing: tuple[str, ...]


@dataclass(frozen=True)
class _Read:
    """What was seen while runs were read."""

    files: tuple[Path, ...] = ()
    formats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _expanded(runs: Sequence[_Run], asked: _Asked) -> list[tuple[_Run, list[Log], _Read]]:
    """Read every run; logs of one tool are read together, because names depend on the others."""
    found: list[tuple[_Run, list[Log], _Read]] = []
    together: list[tuple[int, File, str]] = []
    for one in runs:
        if not isinstance(one.source, str | Path):
            log, notes = _plain_log(_frame(one.source), one.name or "run", asked)
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
                log, more = _plain_log(table, file.name, asked)
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


def _plain_log(table: Table, name: str, asked: _Asked) -> tuple[Log, tuple[str, ...]]:
    """Return a result file as the log of one run: every column of numbers is a metric."""
    layout, given = asked.layout, asked.given
    profiles = look(draw(table))
    item = _item_column(table, given)
    metrics = _metrics(table, profiles, layout, given, item)
    items, note = _item_names(table, item, profiles, metrics, given)
    scores = {}
    unscored = 0
    for metric in metrics:
        values = _values(table, metric, asked)
        held: dict[str, list[float]] = {}
        for key, value in zip(items, values, strict=True):
            if value == value:  # not NaN
                held.setdefault(key, []).append(value)
        if metric == layout.metric or len(metrics) == 1:
            unscored = sum(value != value for value in values)
        scores[metric] = held
    groups = {
        column: dict(zip(items, map(str, _cells(table, column)), strict=True))
        for column in given.columns("cluster", "by", "weight")
        if column in table.columns
    }
    model = _model(table, profiles) or Path(name).name.removesuffix(".gz").rpartition(".")[0]
    return Log(model or name, "", name, scores, unscored, groups=groups), note


def _item_column(table: Table, given: Roles) -> str | None:
    if given.item is not None:
        if given.item not in table.columns:
            raise InputError(missing_column(given.item, table.columns, table.source))
        return given.item
    usual = [name for name in table.columns if name.strip().lower() in ITEM_NAMES]
    return usual[0] if usual else None


def _metrics(
    table: Table,
    profiles: Mapping[str, Profile],
    layout: Layout,
    given: Roles,
    item: str | None,
) -> list[str]:
    """Return the columns that hold scores; the one that was asked for comes first."""
    if layout.metric is not None and layout.metric not in table.columns:
        raise InputError(missing_column(layout.metric, table.columns, table.source))
    if layout.metric is not None:
        return [layout.metric]
    held = {*given.holders(), item}
    found = [
        name
        for name, profile in profiles.items()
        if name not in held
        and not is_identifier(name)
        and not is_truth(name)
        and plain(name) not in REPLICATE_NAMES
        and (profile.numeric >= _NUMERIC or _is_mark(profile))
    ]
    if not found:
        raise InputError(
            f"{table.source}: no column holds scores. Name the one to compare (--metric C); it has"
            f" {', '.join(table.columns[:8])}"
        )
    return found


def _is_mark(profile: Profile) -> bool:
    from tallystick.values import as_pass_fail

    labels = sorted(profile.values, key=repr)
    return bool(labels) and as_pass_fail(labels) is not None


def _item_names(
    table: Table,
    item: str | None,
    profiles: Mapping[str, Profile],
    metrics: Sequence[str],
    given: Roles,
) -> tuple[list[str], tuple[str, ...]]:
    """Return what each row's item is called: its name, or a hash of what was asked."""
    if item is not None:
        blank = table.row_of(item, None)
        if blank is not None:
            raise InputError(f"{blank}: the item column {item!r} is blank. Name every item")
        return [str(whole(value)) for value in _cells(table, item)], ()
    # What was asked is text that a run does not change; what was answered it does.
    asked = [
        name for name in table.columns if plain(name) in _ASKED and name not in given.holders()
    ]
    if not asked:
        raise InputError(
            f"{table.source}: no column names the items, so runs cannot be matched. Name it"
            f" (--item C); it has {', '.join(table.columns[:8])}"
        )
    cells = [_cells(table, name) for name in asked]
    keys = [
        hashlib.sha256("\x1f".join(map(str, row)).encode()).hexdigest()[:12]
        for row in zip(*cells, strict=True)
    ]
    return keys, (f"{table.source}: items are matched by the content of {', '.join(asked)}",)


_ASKED = frozenset(
    {
        "input",
        "prompt",
        "question",
        "query",
        "user_input",
        "instruction",
        "context",
        "text",
        "problem",
        "task",
        "expected",
        "target",
        "reference",
    }
)
"""Columns that say what was asked: the content by which items without a name are matched."""


def _values(table: Table, metric: str, asked: _Asked) -> list[float]:
    """Return the scores of a column; answers are held against the truth where one is named."""
    given = asked.given
    if given.truth is None:
        return [float(value) for value in read_numbers(table, [metric], asked.missing)[:, 0]]
    if given.truth not in table.columns:
        raise InputError(missing_column(given.truth, table.columns, table.source))
    pairs = zip(_cells(table, metric), _cells(table, given.truth), strict=True)
    return [
        float("nan") if true is None else float(str(whole(said)) == str(whole(true)))
        for said, true in pairs
    ]


def _cells(table: Table, column: str) -> list[Any]:
    return [cell for (cell,) in table.query(f"select {identifier(column)} from rows")]


def _model(table: Table, profiles: Mapping[str, Profile]) -> str | None:
    """Return the model that a file names in a column of its own, if it names one only."""
    for name in table.columns:
        if plain(name) in _MODEL_COLUMNS and name in profiles and profiles[name].distinct == 1:
            return str(next(cell for cell in _cells(table, name) if cell is not None))
    return None


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
    """Say whether an item of the first file occurs in another one."""
    seen: set[str] = set()
    for file in files:
        with scan([str(file.path)], delimiter=layout.delimiter) as table:
            if any(plain(name) in _MODEL_COLUMNS for name in table.columns):
                model = next(name for name in table.columns if plain(name) in _MODEL_COLUMNS)
                if len(set(_cells(table, model))) > 1:
                    return False  # a long table: its models are in its rows
            item = _item_column(table, given)
            asked = [name for name in table.columns if plain(name) in _ASKED]
            if item is None and not asked:
                return False
            cells = zip(*(_cells(table, name) for name in ([item] if item else asked)), strict=True)
            own = {"\x1f".join(map(str, row)) for row in cells}
        if seen & own:
            return True
        seen |= own
    return False


def runs_of(source: Any) -> list[_Run]:
    """Return one unnamed run per path."""
    return [_Run(one) for one in ([source] if isinstance(source, str | Path) else source)]
