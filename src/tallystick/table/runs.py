"""Runs are models: several files, logs or frames, each of which is one run of the same items.

A run is an evaluation log, or a plain result file with one row per item and one column per metric.
Runs are put side by side by item, so that every verb sees one column per run. Items are matched by
their names, or by their content where they have none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import quote
from typing import Any

from tallystick.errors import AskError, FileError, InputError
from tallystick.table.cells import identifier, is_missing, whole
from tallystick.table.logs import Log, Loss, content_key, log_formats, read_logs, told_apart
from tallystick.table.numbers import read_numbers
from tallystick.table.reading_facts import Facts, draw
from tallystick.table.reading_names import ROLE_NAMES, VOTE_TIERS, is_truth_name, plain
from tallystick.table.reading_voters import fitting_truth
from tallystick.table.roles import Layout, Roles
from tallystick.table.scanning import detect, scan
from tallystick.table.sources import File, missing_column, resolve
from tallystick.table.tables import Table
from tallystick.table.words import as_pass_fail

_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".eval", ".gz")
"""Files of a folder that may be runs; anything else in it is passed over."""


_FRAMES = "frames"
"""The format of a run that is in memory."""


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
    paths = _paths(source)
    if any(Path(one).expanduser().is_dir() for one in paths):
        return True
    files = resolve(paths) if paths else ()
    formats = [detect(file) for file in files]
    if any(one in log_formats() for one in formats):
        return True
    if len(files) < 2 or given.models:
        return False
    return layout.metric is not None or _share_items(files, layout, given)


def _paths(source: Any) -> list[str]:
    """Return the files that a source names, if they can be read twice and are no tallies."""
    paths = [source] if isinstance(source, str | Path) else source
    if not isinstance(paths, Sequence) or not all(isinstance(one, str | Path) for one in paths):
        return []
    names = list(map(str, paths))
    return [] if any(one == "-" or one.endswith(".tally") for one in names) else names


def read_runs(
    runs: Sequence[_Run], layout: Layout, given: Roles, *, missing: Sequence[str] = ()
) -> Table:
    """Return one table with a column per run, and in ``known`` which columns are what.

    Parameters
    ----------
    runs
        From :func:`named_runs`, or one per file.
    layout
        The metric.
    given
        The columns that the caller names: item, truth, cluster, count, weight, by.
    missing
        Tokens for no answer.
    """
    import pyarrow as pa

    logs: list[Log] = []
    notes: list[str] = []
    files: list[File] = []
    kinds: dict[str, None] = {}
    for run in runs:
        own: list[Log] = []
        for source, kind in _sources(run.source, notes):
            files += [source] if isinstance(source, File) else []
            if kind in log_formats():
                kinds[f"{kind} logs"] = None
                own += read_logs([source], [kind])
                continue
            kinds[_FRAMES if kind == _FRAMES else "result files"] = None
            held, called = source, run.name or "run"
            if isinstance(source, File):
                held, called = [str(source.path)], source.name
            with scan(held) as table:
                log, more = plain_run(table, called, layout, given, missing)
            own, notes = [*own, log], [*notes, *more]
        if run.name is not None:
            alone = len({log.model for log in own}) == 1
            names = [run.name if alone else f"{run.name}: {log.model}" for log in own]
            own = [replace(log, model=name) for log, name in zip(own, names, strict=True)]
        logs += own
    if len(logs) < 2:
        raise InputError(
            f"{logs[0].source} holds one run with the scores {listed(logs[0].scores)}: name another"
            " one to compare it with (--run old=FILE --run new=FILE)"
        )
    kept = given.columns("cluster", "by", "count", "weight")
    found = beside(_renamed(logs), layout.metric, keep=kept)
    known: dict[str, Any] = {"models": found.models, "item": next(iter(found.columns))}
    if found.replicate is not None:
        known["replicate"] = found.replicate
    source = logs[0].source if len(logs) == 1 else f"{logs[0].source} and {len(logs) - 1} more"
    items = len(set(found.columns[known["item"]]))
    first = f"read as {', '.join(kinds)}: {len(found.models)} models on {items} items"
    return replace(
        scan(pa.table(found.columns)),
        source=source,
        files=tuple(file.path for file in files),
        notes=(first, *notes, *found.notes),
        known=known,
        metric=found.metric,
    )


def _sources(source: Any, notes: list[str]) -> list[tuple[Any, str]]:
    """Return the files of a path, a glob or a folder with their formats, or a frame; in a folder
    logs win over other files, and *notes* says so.
    """
    if not isinstance(source, str | Path):
        return [(source, _FRAMES)]
    folder = Path(source).expanduser()
    if not folder.is_dir():
        return [(file, detect(file)) for file in resolve(source)]
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
    logs = [path for path, kind in kinds.items() if kind in log_formats()]
    taken = logs or list(kinds)
    if not taken:
        raise FileError(
            f"{source} holds no evaluation log and no table: name the files of the runs"
        )
    aside = [path.name for path in likely if path not in taken]
    if aside:
        shown = ", ".join(aside[:3]) + (", …" if len(aside) > 3 else "")
        notes.append(f"{source}: {len(aside)} files are not logs and are passed over ({shown})")
    return [(File(path, str(path)), kinds[path]) for path in taken]


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

    Files of which no two share an item are the parts of one table.
    """
    seen: set[str] = set()
    for file in files:
        with scan([str(file.path)]) as table:
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
        if seen & own:
            return True
        seen |= own
    return False


def runs_of(source: Any) -> list[_Run]:
    """Return one unnamed run per path."""
    return [_Run(one) for one in ([source] if isinstance(source, str | Path) else source)]


# A plain result file as the log of one run: one row per item, and a column for each metric.
#
# Items are called by their name or, where no column names them, by a hash of what was asked.


MODEL_COLUMNS = frozenset(ROLE_NAMES["system"]) - {"run", "variant"}
"""Columns that name the model of a row."""

_NUMERIC = 0.5
"""Share of a column's values that are numbers, at least, for it to be a metric."""


def plain_run(
    table: Table, name: str, layout: Layout, given: Roles, missing: Sequence[str]
) -> tuple[Log, tuple[str, ...]]:
    """Return a result file as the log of one run: every column of numbers is a metric."""
    ignored = ",".join(layout.ignore).split(",")
    left = [name for name in table.columns if any(fnmatchcase(name, one) for one in ignored)]
    table = replace(table, left_out={**table.left_out, **dict.fromkeys(left, "left out")})
    profiles = draw(table).facts
    item = item_column(table, given)
    metrics = _metrics(table, profiles, layout, given, item)
    items, note = _item_names(table, item, profiles, metrics, given)
    scores = {}
    unscored = 0
    truth = _truth(table, metrics, given, missing)
    if truth != given.truth:
        note += (f"{table.source}: column {truth!r} holds the true answers, by its name",)
    for metric in metrics:
        values = _values(table, metric, truth, missing)
        held: dict[str, list[float]] = {}
        for key, value in zip(items, values, strict=True):
            # An item without a score is kept: that it has none may turn a gate.
            found = held.setdefault(key, [])
            if value == value:  # not NaN
                found.append(value)
        if metric == layout.metric or len(metrics) == 1:
            unscored = sum(value != value for value in values)
        scores[metric] = held
    groups = {
        column: dict(zip(items, map(str, cells_of(table, column)), strict=True))
        for column in given.columns("cluster", "by", "count", "weight")
        if column in table.columns
    }
    model = _model(table, profiles) or Path(name).name.removesuffix(".gz").rpartition(".")[0]
    return Log(model or name, "", name, scores, unscored, groups=groups), note


def item_column(table: Table, given: Roles) -> str | None:
    """Return the column that names the items: the one given, or one with a usual name."""
    if given.item is not None:
        if given.item not in table.columns:
            raise InputError(missing_column(given.item, table.columns, table.source))
        return given.item
    usual = [name for name in table.columns if plain(name) in ROLE_NAMES["item"]]
    return usual[0] if usual else None


def _metrics(
    table: Table,
    profiles: Mapping[str, Facts],
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
        and not is_truth_name(name, whole=True)
        and plain(name) not in ROLE_NAMES["replicate"]
        and (profile.veto is None or profile.is_constant)
        and (profile.numeric >= _NUMERIC or profile.is_marks or _is_word(profile))
    ]
    if not found:
        raise InputError(
            f"{table.source}: no column holds scores. Name the one to compare (--metric C); it has"
            f" {', '.join(table.columns[:8])}"
        )
    return found


def _is_word(facts: Facts) -> bool:
    """Say whether a column says one word for right or wrong everywhere."""
    return bool(facts.counts) and as_pass_fail(facts.labels) is not None


def _item_names(
    table: Table,
    item: str | None,
    profiles: Mapping[str, Facts],
    metrics: Sequence[str],
    given: Roles,
) -> tuple[list[str], tuple[str, ...]]:
    """Return what each row's item is called: its name, or a hash of what was asked."""
    if item is not None:
        blank = table.row_of(item, None)
        if blank is not None:
            raise InputError(f"{blank}: the item column {item!r} is blank. Name every item")
        return [str(whole(value)) for value in cells_of(table, item)], ()
    # What was asked is text that a run does not change; what was answered it does.
    asked = [name for name in what_was_asked(table) if name not in given.holders()]
    if not asked:
        raise InputError(
            f"{table.source}: no column names the items, so runs cannot be matched. Name it"
            f" (--item C); it has {', '.join(table.columns[:8])}"
        )
    cells = [cells_of(table, name) for name in asked]
    keys = [content_key(*map(str, row)) for row in zip(*cells, strict=True)]
    return keys, (f"{table.source}: items are matched by the content of {', '.join(asked)}",)


_ASKED = frozenset(
    {
        "input",
        "inputs",
        "prompt",
        "prompts",
        "question",
        "questions",
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


def what_was_asked(table: Table) -> list[str]:
    """Return the columns that say what was asked of a model."""
    return [name for name in table.columns if plain(name) in _ASKED]


def _truth(
    table: Table, metrics: Sequence[str], given: Roles, missing: Sequence[str]
) -> str | None:
    """Return the column of true answers: the one given, or one with such a name that fits."""
    if given.truth is not None and given.truth not in table.columns:
        raise InputError(missing_column(given.truth, table.columns, table.source))
    if given.truth is not None or len(metrics) > 1:
        return given.truth
    return fitting_truth(draw(table, missing=tuple(missing)), metrics[0], [*given.holders()])


def _values(table: Table, metric: str, truth: str | None, missing: Sequence[str]) -> list[float]:
    """Return the scores of a column; answers are held against the truth where there is one."""
    if truth is None:
        return [float(value) for value in read_numbers(table, [metric], missing)[:, 0]]
    silent = frozenset(missing)
    pairs = zip(cells_of(table, metric), cells_of(table, truth), strict=True)
    return [
        float("nan")
        if is_missing(true, silent) or is_missing(said, silent)
        else float(str(whole(said)) == str(whole(true)))
        for said, true in pairs
    ]


def cells_of(table: Table, column: str) -> list[Any]:
    """Return the cells of one column, in the order of the rows."""
    return [cell for (cell,) in table.query(f"select {identifier(column)} from rows")]


def _model(table: Table, profiles: Mapping[str, Facts]) -> str | None:
    """Return the model that a file names in a column of its own, if it names one only."""
    for name in table.columns:
        if plain(name) in MODEL_COLUMNS and name in profiles and profiles[name].distinct == 1:
            return str(next(cell for cell in cells_of(table, name) if cell is not None))
    return None


# Runs side by side: one row per item (and replicate), one column per run.

MOST_LISTED = 24
"""Names of scores in a message; HELM puts a dozen counts before the score that is meant."""
_MOST_NAMED = 3
"""Items without a partner, and tasks, that are named."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Runs put side by side.

    Parameters
    ----------
    columns
        The table: the items, replicates if items were run several times, the groups that the logs
        carry, and one column per run.
    models
        The columns that are runs.
    replicate
        The column that numbers the replicates; None if every item was run once.
    metric
        The score that was taken.
    notes
        What was chosen, averaged and dropped.
    """

    columns: dict[str, list[object]]
    models: tuple[str, ...]
    replicate: str | None
    metric: str
    notes: tuple[str, ...]


def beside(logs: Sequence[Log], metric: str | None, *, keep: Sequence[str] = ()) -> Beside:
    """Put runs side by side: one row per item, or per replicate where a run has several of one.

    Parameters
    ----------
    logs
        One per run and task.
    metric
        Which score to use; needed where the logs have several in common.
    keep
        Groups that were asked for: they are carried as they are, and others are offered.

    Examples
    --------
    >>> a = Log("a", "", "a.jsonl", {"acc": {"q1": [1.0, 0.0]}})
    >>> b = Log("b", "", "b.jsonl", {"acc": {"q1": [1.0], "q2": [0.0]}})
    >>> for name, cells in beside([a, b], None).columns.items():
    ...     print(name, cells)
    item ['q1', 'q1', 'q2']
    replicate [1, 2, 1]
    a [1.0, 0.0, None]
    b [1.0, None, 0.0]
    """
    logs, notes = _shared_tasks(told_apart(logs))
    chosen = _metric(logs, metric)
    notes += [f"score {chosen!r} of {len(logs)} logs"] if metric is None else []
    runs: dict[str, dict[str, list[float]]] = {}
    rows: dict[tuple[str, int], dict[str, float | None]] = {}
    for log in logs:
        for name, scores in log.scores[chosen].items():
            runs.setdefault(log.model, {})[log.item(name)] = scores
    for model, run in runs.items():
        for item, scores in run.items():
            for place, score in enumerate(scores or [None]):
                rows.setdefault((item, place), {})[model] = score
    notes += [*_failed(logs), *_retried(runs)]
    first, *others = runs.values()
    common = {item for item in first if first[item] and all(one.get(item) for one in others)}
    if not common:
        raise InputError(_no_common(runs, logs))

    # The replicates of an item stand below one another, in the order of the items.
    order = {item: place for place, item in enumerate(dict.fromkeys(item for item, _ in rows))}
    keys = sorted(rows, key=lambda key: (order[key[0]], key[1]))
    taken = set(runs)
    columns: dict[str, list[object]] = {_fresh("item", taken): [item for item, _ in keys]}
    several = len(keys) > len(order)
    replicate = _fresh("replicate", taken)
    if several:
        columns[replicate] = [place + 1 for _, place in keys]
    groups = {_fresh(n, taken): held for n, held in _groups(logs, common, keep).items()}
    columns |= {name: [held.get(item) for item, _ in keys] for name, held in groups.items()}
    if groups and not keep:
        shown = ", ".join(f"{n!r} ({len(set(held.values())):,})" for n, held in groups.items())
        notes.append(
            f"the items belong to groups: {shown}. To speak of new groups instead of new items, add"
            f" --cluster {next(iter(groups))}"
        )
    columns |= {model: [rows[key].get(model) for key in keys] for model in runs}
    return Beside(
        columns=columns,
        models=tuple(runs),
        replicate=replicate if several else None,
        metric=chosen,
        notes=tuple(notes),
    )


def _fresh(name: str, taken: set[str]) -> str:
    """Return a name that no run has, and take it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _shared_tasks(logs: Sequence[Log]) -> tuple[list[Log], list[str]]:
    """Leave out tasks that not every run was tried on, and say so."""
    models = {log.model for log in logs}
    held: dict[str, set[str]] = {}
    for log in logs:
        held.setdefault(log.task, set()).add(log.model)
    shared = [task for task, names in held.items() if names == models]
    if not shared or len(shared) == len(held):
        return list(logs), []
    notes: list[str] = []
    for task, names in held.items():
        if task not in shared:
            lacking = ", ".join(sorted(models - names)[:_MOST_NAMED])
            notes.append(Loss(f"task {task!r} is left out: {lacking} was not tried on it"))
    return [log for log in logs if log.task in shared], notes


def _no_score(log: Log, metric: str) -> InputError:
    return InputError(
        f"{log.source} has no score {metric!r}: it has {listed(log.scores)} (--metric)"
    )


def _metric(logs: Sequence[Log], metric: str | None) -> str:
    common = [key for key in logs[0].scores if all(key in log.scores for log in logs)]
    if metric in common:
        return str(metric)
    lacking = next((log for log in logs if metric not in log.scores), logs[0])
    if metric is not None:
        raise _no_score(lacking, metric)
    if not common:
        other = next(log for log in logs if not set(log.scores) & set(logs[0].scores))
        raise InputError(
            f"{logs[0].source} has the scores {listed(logs[0].scores)} and {other.source} has"
            f" {listed(other.scores)}: nothing in common; score both alike"
        )
    # What is equal in every run, such as the index of the right answer, is no score.
    told = [key for key in common if any(log.scores[key] != logs[0].scores[key] for log in logs)]
    common = [key for key in distinct_scores(logs) if key in (told or common)]
    for tier in VOTE_TIERS:
        named = [key for key in common if plain(key) in tier]
        if len(common) > 1 and len(named) == 1:
            return named[0]
    if len(common) > 1:
        raise AskError(
            f"which score? The runs have {listed(common)} in common.",
            role="metric",
            candidates=tuple(common[:8]),
            calls=tuple(f"--metric {quote(key)}" for key in common[:2]),
        )
    return common[0]


_TWIN = re.compile(r"(.+/)?(score|success|passed)")


def distinct_scores(logs: Sequence[Log]) -> list[str]:
    """Return the names of the scores, without those that say in every run what another one says,
    as success does beside a score of 1.
    """
    found: list[str] = []
    for name in dict.fromkeys(name for log in logs for name in log.scores):
        twins = found if _TWIN.fullmatch(name) else ()
        if not any(all(o.scores.get(name) == o.scores.get(one) for o in logs) for one in twins):
            found.append(name)
    return found


def _failed(logs: Sequence[Log]) -> list[str]:
    failed: Counter[str] = Counter()
    for log in logs:
        failed[log.model] += log.unscored
    whose = ", ".join(f"{count} of {model!r}" for model, count in failed.items() if count)
    if not whose:
        return []
    return [Loss(f"{failed.total():,} samples failed and have no score ({whose})")]


def _retried(runs: Mapping[str, Mapping[str, list[float]]]) -> list[str]:
    """Warn of runs in which only some items have several scores, as after a retry of failures."""
    notes: list[str] = []
    for model, run in runs.items():
        again = [held for held in run.values() if len(held) > 1]
        once = [held[0] for held in run.values() if len(held) == 1]
        if not again or not once:
            continue
        text = (
            f"{len(again):,} of {len(run):,} items of {model!r} occur more than once, the others"
            " once: each item counts by the mean of its rows"
        )
        if max(held[0] for held in again) == min(map(min, again)) < max(once):
            text += (
                ". The first row of each has the lowest score: if failures were tried again, keep"
                " the first row of each item"
            )
        notes.append(Loss(text))
    return notes


def _no_common(runs: Mapping[str, Collection[str]], logs: Sequence[Log]) -> str:
    """Name two runs without a common item, or say that every two of them have one."""
    head = f"no common item in {', '.join(log.source for log in logs[:4])}"
    (first, here), *others = runs.items()
    apart = [(name, there) for name, there in others if not set(here) & set(there)]
    if not apart:
        return f"{head}: no item was tried by all of {', '.join(runs)}. Give fewer files at once"
    second, there = apart[0]
    names = [", ".join(map(repr, list(one)[:_MOST_NAMED])) for one in (here, there)]
    return (
        f"{head}: were the models tried on the same task? The items are {names[0]} in {first} and"
        f" {names[1]} in {second}: write the same items alike"
    )


def _groups(
    logs: Sequence[Log], common: Collection[str], asked: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the groups that say something of every item and cut the items into parts."""
    found: dict[str, dict[str, str]] = {}
    for log in logs:
        for name, held in log.groups.items():
            named = found.setdefault(name, {})
            for item, value in held.items():
                if named.setdefault(log.item(item), value) != value:
                    raise InputError(
                        f"item {item!r} has {name} {named[log.item(item)]!r} in one run and"
                        f" {value!r} in {log.source}: correct one of them"
                    )
    tasks = {log.item(item): log.task for log in logs for of in log.scores.values() for item in of}
    if len(set(tasks.values())) > 1:
        found.setdefault("task", tasks)
    whole = {name: held for name, held in found.items() if all(item in held for item in common)}
    # One group says nothing, and a group per item is another name of the item.
    parts = {name: len({held[item] for item in common}) for name, held in whole.items()}
    return {n: held for n, held in whole.items() if n in asked or 1 < parts[n] < len(common)}


def listed(names: Collection[str]) -> str:
    """Write names of scores, not more than a reader takes in."""
    shown = ", ".join(map(repr, list(names)[:MOST_LISTED]))
    return f"{shown} …" if len(names) > MOST_LISTED else shown


# Evaluation logs as outputs: one row per item and system, one column per score of the tool.
#
# What a model scored in a log is a judge's grade of its output. So a log with a judge's score and a
# second file of human grades (``--truth-file``) say together how good the model is.


ITEM, SYSTEM, REPLICATE = "item", "system", "replicate"


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

    paths = _paths(source)
    if not paths or any(Path(one).expanduser().is_dir() for one in paths):
        return None
    files = resolve(paths)
    formats = [detect(file) for file in files]
    if not formats or not all(one in log_formats() for one in formats):
        return None

    logs = told_apart(read_logs(files, formats))
    scores = list(dict.fromkeys(name for log in logs for name in log.scores))
    judges = _judges(logs, scores, layout, given)
    columns = _long(logs, scores)
    systems = len(set(columns[SYSTEM]))
    items = len(set(columns[ITEM]))
    kinds = ", ".join(dict.fromkeys(formats))
    word = "system" if systems == 1 else "systems"
    notes = [f"read as {kinds} logs: {systems} {word} on {items:,} items"]
    notes += _failed(logs)
    table = replace(
        scan(pa.table(columns)),
        source=files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more",
        files=tuple(file.path for file in files if not file.spooled),
        spools=tuple(file.path for file in files if file.spooled),
        notes=tuple(notes),
    )
    roles = replace(
        given,
        item=given.item or ITEM,
        system=given.system or SYSTEM,
        replicate=REPLICATE if REPLICATE in columns else given.replicate,
    )
    return table, roles.with_columns("judges", judges)


def _judges(
    logs: Sequence[Log], scores: Sequence[str], layout: Layout, given: Roles
) -> tuple[str, ...]:
    """Return the scores that are grades: those named, or the only one there is."""
    if given.judges:
        return given.judges
    if layout.metric is not None:
        if layout.metric not in scores:
            raise _no_score(logs[0], layout.metric)
        return (layout.metric,)
    free = [name for name in distinct_scores(logs) if name != given.truth]
    if len(free) != 1:
        raise InputError(
            f"{logs[0].source} has the scores {listed(free)}: say which of them are judges'"
            f" grades (--judges {','.join(map(quote, free[:2]))})"
        )
    return tuple(free)


def _long(logs: Sequence[Log], scores: Sequence[str]) -> dict[str, list[Any]]:
    """Return one row per output: per item and system, and per replicate where there are several."""
    tasks = {log.task for log in logs}
    taken = {ITEM, SYSTEM, REPLICATE, *scores}
    groups = [
        name for name in dict.fromkeys(n for log in logs for n in log.groups) if name not in taken
    ]
    rows: dict[tuple[str, str, int], dict[str, Any]] = {}
    for log in logs:
        for metric, held in log.scores.items():
            for item, values in held.items():
                # One task is not worth a prefix: human grades name the item as the tool does.
                name = f"{log.task}:{item}" if log.task and len(tasks) > 1 else str(item)
                for number, value in enumerate(values, start=1):
                    row = rows.setdefault((name, log.model, number), {})
                    row |= {
                        metric: value,
                        **{k: of[item] for k, of in log.groups.items() if item in of},
                    }
    columns: dict[str, list[Any]] = {
        ITEM: [item for item, _, _ in rows],
        SYSTEM: [system for _, system, _ in rows],
    }
    if any(number > 1 for _, _, number in rows):
        columns[REPLICATE] = [number for _, _, number in rows]
    for name in (*scores, *groups):
        columns[name] = [row.get(name) for row in rows.values()]
    return columns
