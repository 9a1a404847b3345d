"""Runs are models: several files, logs or frames, each of which is one run of the same items.

A run is an evaluation log, or a result file with one row per item and one column per metric.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from tallystick.errors import AskError, FileError, InputError
from tallystick.table.cells import identifier, is_missing, whole
from tallystick.table.columnar import arrow_column
from tallystick.table.logs import Log, Loss, content_key, log_formats, read_logs, told_apart
from tallystick.table.numbers import read_numbers
from tallystick.table.reading_facts import Facts, draw
from tallystick.table.reading_names import ROLE_NAMES, VOTE_TIERS, is_truth_name, plain
from tallystick.table.reading_voters import fitting_truth
from tallystick.table.roles import Layout, Roles
from tallystick.table.scanning import detect, scan
from tallystick.table.sources import File, missing_column, resolve
from tallystick.table.tables import Table, blank_cell
from tallystick.table.words import as_pass_fail

_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".eval", ".gz")
"""Files of a folder that may be runs; anything else in it is passed over."""

_FRAMES = "frames"
"""The format of a run that is in memory."""


@dataclass(frozen=True)
class Run:
    """One source of a run, and the name that the caller gave it."""

    source: Any
    name: str | None = None


def find_runs(source: Any, layout: Layout, given: Roles) -> list[Run] | None:
    """Return the runs that a source names, None if it is one table.

    Files of which no two share an item are the parts of one table, unless a metric is named.

    Examples
    --------
    >>> found = find_runs([], Layout(run=("old=a.csv", "new=b.csv")), Roles())
    >>> [one.name for one in found or ()]
    ['old', 'new']
    """
    if isinstance(source, Mapping):
        values = source.values()
        frames = values and all(isinstance(v, str | Path) or hasattr(v, "columns") for v in values)
        return [Run(v, str(k)) for k, v in source.items()] if frames else None
    if layout.run:
        more = [source] if isinstance(source, str | Path) else list(source or ())
        return [*_named(layout.run), *map(Run, more)]
    paths = _paths(source)
    if not any(Path(one).expanduser().is_dir() for one in paths):
        files = resolve(paths) if paths else ()
        if not any(detect(file) in log_formats() for file in files):
            if len(files) < 2 or given.models:
                return None
            if layout.metric is None and not _share_items(files, given):
                return None
    return list(map(Run, paths))


def _named(run: Sequence[str]) -> list[Run]:
    found: dict[str, Run] = {}
    for text in run:
        name, sign, path = (part.strip() for part in text.partition("="))
        if not (name and sign and path) or name in found:
            raise InputError(
                f"run must be NAME=FILE, such as old=a.csv, each with its own name, got {text!r}"
            )
        found[name] = Run(path, name)
    return list(found.values())


def _paths(source: Any) -> list[str]:
    paths = [source] if isinstance(source, str | Path) else source
    if not isinstance(paths, Sequence) or not all(isinstance(one, str | Path) for one in paths):
        return []
    names = list(map(str, paths))
    return [] if any(one == "-" or one.endswith(".tally") for one in names) else names


def _share_items(files: Sequence[File], given: Roles) -> bool:
    seen: set[str] = set()
    for file in files:
        with scan([str(file.path)]) as table:
            model = next((name for name in table.columns if plain(name) in _MODEL), None)
            if model is not None and len(set(_cells(table, model))) > 1:
                return False  # a long table: its models are in its rows
            by, cells = _items(table, given)
            if not by:
                return False
            own = set(cells)
        if seen & own:
            return True
        seen |= own
    return False


def read_runs(
    runs: Sequence[Run], layout: Layout, given: Roles, *, missing: Sequence[str] = ()
) -> Table:
    """Return one table with a column per run, and in ``known`` which columns are what.

    Parameters
    ----------
    runs
        From `find_runs`.
    layout
        The metric.
    given
        The columns that the caller names: item, truth, cluster, count, weight, by.
    missing
        Tokens for no answer.
    """
    logs: list[Log] = []
    notes: list[str] = []
    files: list[File] = []
    kinds: dict[str, None] = {}
    for run in runs:
        own: list[Log] = []
        for source, kind in _sources(run.source):
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
                log, more = _plain_run(table, called, layout, given, missing)
            own, notes = [*own, log], [*notes, *more]
        if run.name is not None:
            alone = len({log.model for log in own}) == 1
            names = [run.name if alone else f"{run.name}: {log.model}" for log in own]
            own = [replace(log, model=name) for log, name in zip(own, names, strict=True)]
        logs += own
    if len(logs) < 2:
        raise InputError(
            f"{logs[0].source} holds one run with the scores {_listed(logs[0].scores)}: name"
            " another one to compare it with (--run old=FILE --run new=FILE)"
        )
    kept = given.columns("cluster", "by", "count", "weight")
    table = side_by_side(_renamed(logs), layout.metric, ", ".join(kinds), keep=kept)
    source = logs[0].source if len(logs) == 1 else f"{logs[0].source} and {len(logs) - 1} more"
    first, *others = table.notes
    paths = tuple(file.path for file in files)
    return replace(table, source=source, files=paths, notes=(first, *notes, *others))


def _sources(source: Any) -> list[tuple[Any, str]]:
    if not isinstance(source, str | Path):
        return [(source, _FRAMES)]
    folder = Path(source).expanduser()
    if not folder.is_dir():
        return [(file, detect(file)) for file in resolve(source)]
    kinds: dict[File, str] = {}
    likely = [path for path in sorted(folder.rglob("*")) if path.name.endswith(_ENDINGS)]
    for path in likely:
        file = File(path, str(path))
        if path.is_file() and not path.name.startswith("."):
            try:
                kinds[file] = detect(file)
            except FileError:
                continue
    logs = {file: kind for file, kind in kinds.items() if kind in log_formats()}
    taken = logs or kinds
    if not taken:
        raise FileError(
            f"{source} holds no evaluation log and no table: name the files of the runs"
        )
    return list(taken.items())


def _renamed(logs: Sequence[Log]) -> list[Log]:
    """Name runs by their only column where every file has one of its own."""
    alone = {next(iter(log.scores)) for log in logs if len(log.scores) == 1}
    if len(alone) < len(logs) or len({log.model for log in logs}) < len(logs):
        return list(logs)
    return [
        replace(log, model=metric, scores={"score": held})
        for log in logs
        for metric, held in log.scores.items()
    ]


# A plain result file as the log of one run: one row per item, and a column for each metric.
#
# Items are called by their name, or by a hash of what was asked.


_MODEL = frozenset(ROLE_NAMES["system"]) - {"run", "variant"}
"""Columns that name the model of a row."""

_ASKED = re.compile(
    "inputs?|prompts?|questions?|query|user_input|instruction|context|text|problem|task|expected"
    "|target|reference"
)
"""Columns that say what was asked: the content by which items without a name are matched."""

_NUMERIC = 0.5
"""Share of a column's values that are numbers, at least, for it to be a metric."""


def _plain_run(
    table: Table, name: str, layout: Layout, given: Roles, missing: Sequence[str]
) -> tuple[Log, list[str]]:
    left = dict.fromkeys(layout.ignored(table.columns), "left out")
    table = replace(table, left_out={**table.left_out, **left})
    profiles = draw(table).facts
    by, items = _items(table, given)
    if not by:
        raise InputError(
            f"{table.source}: no column names the items, so runs cannot be matched. Name it"
            f" (--item C); it has {', '.join(table.columns[:8])}"
        )
    notes = []
    if given.item is None and plain(by[0]) not in ROLE_NAMES["item"]:
        notes.append(f"{table.source}: items are matched by the content of {', '.join(by)}")
    elif (blank := table.row_of(by[0], None)) is not None:
        raise blank_cell(blank, "item", by[0])

    metrics = _metrics(table, profiles, layout, {*given.holders(), *by})
    truth = given.truth
    if truth is not None and truth not in table.columns:
        raise InputError(missing_column(truth, table.columns, table.source))
    if truth is None and len(metrics) == 1:
        drawn = draw(table, missing=tuple(missing))
        truth = fitting_truth(drawn, metrics[0], [*given.holders()])
        if truth is not None:
            notes.append(f"{table.source}: column {truth!r} holds the true answers, by its name")
    scores: dict[str, dict[str, list[float]]] = {}
    unscored = 0
    for metric in metrics:
        values = _values(table, metric, truth, missing)
        held = scores.setdefault(metric, {})
        for key, value in zip(items, values, strict=True):
            # An item without a score is kept: that it has none may turn a gate.
            found = held.setdefault(key, [])
            if value == value:  # not NaN
                found.append(value)
        if metric == layout.metric or len(metrics) == 1:
            unscored = sum(value != value for value in values)
    groups = {
        column: dict(zip(items, map(str, _cells(table, column)), strict=True))
        for column in given.columns("cluster", "by", "count", "weight")
        if column in table.columns
    }
    model = _model(table, profiles) or Path(name).name.removesuffix(".gz").rpartition(".")[0]
    return Log(model or name, "", name, scores, unscored, groups=groups), notes


def _items(table: Table, given: Roles) -> tuple[list[str], list[str]]:
    """Return the columns that name the items, and what each row's item is called.

    Without a name they are called by what was asked, which a run does not change.
    """
    if given.item is not None and given.item not in table.columns:
        raise InputError(missing_column(given.item, table.columns, table.source))
    usual = [name for name in table.columns if plain(name) in ROLE_NAMES["item"]]
    if given.item is not None or usual:
        item = given.item or usual[0]
        return [item], [str(whole(value)) for value in _cells(table, item)]
    asked = [
        name
        for name in table.columns
        if _ASKED.fullmatch(plain(name)) and name not in given.holders()
    ]
    rows = zip(*(_cells(table, name) for name in asked), strict=True)
    return asked, [content_key(*map(str, row)) for row in rows]


def _metrics(
    table: Table, profiles: Mapping[str, Facts], layout: Layout, held: set[str]
) -> list[str]:
    if layout.metric is not None:
        if layout.metric not in table.columns:
            raise InputError(missing_column(layout.metric, table.columns, table.source))
        return [layout.metric]
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
    return bool(facts.counts) and as_pass_fail(facts.labels) is not None


def _values(table: Table, metric: str, truth: str | None, missing: Sequence[str]) -> list[float]:
    if truth is None:
        return [float(value) for value in read_numbers(table, [metric], missing)[:, 0]]
    silent = frozenset(missing)
    return [
        float("nan")
        if is_missing(true, silent) or is_missing(said, silent)
        else float(str(whole(said)) == str(whole(true)))
        for said, true in zip(_cells(table, metric), _cells(table, truth), strict=True)
    ]


def _cells(table: Table, column: str) -> list[Any]:
    return [cell for (cell,) in table.query(f"select {identifier(column)} from rows")]


def _model(table: Table, profiles: Mapping[str, Facts]) -> str | None:
    for name, facts in profiles.items():
        if plain(name) in _MODEL and facts.distinct == 1:
            return str(next(cell for cell in _cells(table, name) if cell is not None))
    return None


# Runs side by side: one row per item (and replicate), one column per run.

_MOST_LISTED = 24
"""Names of scores in a message; HELM puts a dozen counts first."""
_MOST_NAMED = 3
"""Items without a partner, and tasks, that are named."""


def side_by_side(
    logs: Sequence[Log], metric: str | None, kinds: str, *, keep: Sequence[str] = ()
) -> Table:
    """Put runs side by side: one row per item, or per replicate where a run has several of one.

    Parameters
    ----------
    logs
        One per run and task.
    metric
        Which score to use; needed where the logs have several in common.
    kinds
        What the logs are called.
    keep
        Groups that were asked for: they are carried as they are, and others are offered.

    Examples
    --------
    >>> a = Log("a", "", "a.jsonl", {"acc": {"q1": [1.0, 0.0]}})
    >>> b = Log("b", "", "b.jsonl", {"acc": {"q1": [1.0], "q2": [0.0]}})
    >>> table = side_by_side([a, b], None, "logs")
    >>> table.columns, table.query("select * from rows")
    (('item', 'replicate', 'a', 'b'), [('q1', 1, 1.0, 1.0), ('q1', 2, 0.0, None), ('q2', 1, None, 0.0)])
    """
    import pyarrow as pa

    logs, notes = _shared_tasks(_by_task(told_apart(logs)))
    chosen = _metric(logs, metric)
    notes += [f"score {chosen!r} of {len(logs)} logs"] if metric is None else []
    runs: dict[str, dict[str, list[float]]] = {}
    rows: dict[str, dict[int, dict[str, float | None]]] = {}
    for log in logs:
        for item, scores in log.scores[chosen].items():
            runs.setdefault(log.model, {})[item] = scores
            for place, score in enumerate(scores or [None], start=1):
                rows.setdefault(item, {}).setdefault(place, {})[log.model] = score
    notes += [*_failed(logs), *_retried(runs)]
    first, *others = runs.values()
    common = {item for item in first if first[item] and all(one.get(item) for one in others)}
    if not common:
        raise InputError(_no_common(runs, logs))

    # The replicates of an item stand below one another, in the order of the items.
    cells = [(item, place, one) for item, held in rows.items() for place, one in held.items()]
    taken = set(runs)
    known: dict[str, Any] = {"models": tuple(runs), "item": _fresh("item", taken)}
    columns: dict[str, list[object]] = {known["item"]: [item for item, _, _ in cells]}
    if len(cells) > len(rows):
        known["replicate"] = _fresh("replicate", taken)
        columns[known["replicate"]] = [place for _, place, _ in cells]
    groups = {_fresh(n, taken): held for n, held in _groups(logs, common, keep).items()}
    columns |= {name: [held.get(item) for item, _, _ in cells] for name, held in groups.items()}
    if groups and not keep:
        shown = ", ".join(f"{n!r} ({len(set(held.values())):,})" for n, held in groups.items())
        notes.append(
            f"the items belong to groups: {shown}. To speak of new groups instead of new items, add"
            f" --cluster {next(iter(groups))}"
        )
    columns |= {model: [one.get(model) for _, _, one in cells] for model in runs}
    read_as = _read_as(kinds, f"{len(runs)} models", len(rows))
    table = scan(pa.table({name: arrow_column(held) for name, held in columns.items()}))
    return replace(table, known=known, metric=chosen, notes=(read_as, *notes))


def _read_as(kinds: str, who: str, items: int) -> str:
    return f"read as {kinds}: {who} on {items:,} items"


def _fresh(name: str, taken: set[str]) -> str:
    """Return a name that no run has, and take it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _by_task(logs: Sequence[Log]) -> list[Log]:
    if len({log.task for log in logs} - {""}) < 2:
        return list(logs)

    def named(of: Mapping[str, Mapping[str, Any]], task: str) -> dict[str, dict[str, Any]]:
        return {k: {f"{task}:{item}": v for item, v in held.items()} for k, held in of.items()}

    return [
        replace(log, scores=named(log.scores, log.task), groups=named(log.groups, log.task))
        if log.task
        else log
        for log in logs
    ]


def _shared_tasks(logs: Sequence[Log]) -> tuple[list[Log], list[str]]:
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


def _metric(logs: Sequence[Log], metric: str | None) -> str:
    if metric is not None:
        for log in logs:
            _check_score(log, metric)
        return metric
    common = [key for key in logs[0].scores if all(key in log.scores for log in logs)]
    if not common:
        other = next(log for log in logs if not set(log.scores) & set(logs[0].scores))
        raise InputError(
            f"{logs[0].source} has the scores {_listed(logs[0].scores)} and {other.source} has"
            f" {_listed(other.scores)}: nothing in common; score both alike"
        )
    # What is equal in every run, such as the index of the right answer, is no score.
    told = [key for key in common if any(log.scores[key] != logs[0].scores[key] for log in logs)]
    common = [key for key in _distinct_scores(logs) if key in (told or common)]
    for tier in VOTE_TIERS:
        named = [key for key in common if plain(key) in tier]
        if len(common) > 1 and len(named) == 1:
            return named[0]
    if len(common) > 1:
        raise _which_score(common, [f"--metric {quote(key)}" for key in common[:2]])
    return common[0]


def _which_score(names: Sequence[str], calls: Sequence[str]) -> AskError:
    return AskError(
        f"which score? The runs have {_listed(names)}.",
        role="metric",
        candidates=tuple(names[:8]),
        calls=tuple(calls),
    )


def _check_score(log: Log, metric: str) -> None:
    if metric not in log.scores:
        raise InputError(
            f"{log.source} has no score {metric!r}: it has {_listed(log.scores)} (--metric)"
        )


_TWIN = re.compile(r"(.+/)?(score|success|passed)")


def _distinct_scores(logs: Sequence[Log]) -> list[str]:
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
    (first, here), *others = runs.items()
    apart = [(name, there) for name, there in others if not set(here) & set(there)]
    second, there = (apart or others or [("", ())])[0]
    names = [", ".join(map(repr, list(one)[:_MOST_NAMED])) for one in (here, there)]
    return (
        f"no common item in {', '.join(log.source for log in logs[:4])}: were the models tried on"
        f" the same task? The items are {names[0]} in {first} and {names[1]} in {second}: write the"
        " same items alike"
    )


def _groups(
    logs: Sequence[Log], common: Collection[str], asked: Sequence[str]
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for log in logs:
        for name, held in log.groups.items():
            named = found.setdefault(name, {})
            for item, value in held.items():
                if named.setdefault(item, value) != value:
                    raise InputError(
                        f"item {item!r} has {name} {named[item]!r} in one run and {value!r} in"
                        f" {log.source}: correct one of them"
                    )
    tasks = {item: log.task for log in logs for held in log.scores.values() for item in held}
    if len(set(tasks.values())) > 1:
        found.setdefault("task", tasks)
    all_of = {name: held for name, held in found.items() if all(item in held for item in common)}
    # One group says nothing, and a group per item is another name of the item.
    parts = {name: len({held[item] for item in common}) for name, held in all_of.items()}
    return {n: held for n, held in all_of.items() if n in asked or 1 < parts[n] < len(common)}


def _listed(names: Collection[str]) -> str:
    """Write names of scores, not more than a reader takes in."""
    shown = ", ".join(map(repr, list(names)[:_MOST_LISTED]))
    return f"{shown} …" if len(names) > _MOST_LISTED else shown


# Evaluation logs as outputs: one row per item and system, one column per score of the tool.
#
# With a second file of human grades (``--truth-file``), scores are the grades of a judge.


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

    logs = _by_task(told_apart(read_logs(files, formats)))
    judges = _judges(logs, layout, given)
    columns = _outputs(logs)
    systems, items = len(set(columns["system"])), len(set(columns["item"]))
    word = "system" if systems == 1 else "systems"
    kinds = ", ".join(dict.fromkeys(formats))
    first = _read_as(f"{kinds} logs", f"{systems} {word}", items)
    table = replace(
        scan(pa.table(columns)),
        source=files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more",
        files=tuple(file.path for file in files if not file.spooled),
        spools=tuple(file.path for file in files if file.spooled),
        notes=(first, *_failed(logs)),
    )
    roles = replace(
        given,
        item=given.item or "item",
        system=given.system or "system",
        replicate="replicate" if "replicate" in columns else given.replicate,
    )
    return table, roles.with_columns("judges", judges)


def _judges(logs: Sequence[Log], layout: Layout, given: Roles) -> tuple[str, ...]:
    if given.judges:
        return given.judges
    if layout.metric is not None:
        if not any(layout.metric in log.scores for log in logs):
            _check_score(logs[0], layout.metric)
        return (layout.metric,)
    free = [name for name in _distinct_scores(logs) if name != given.truth]
    if len(free) != 1:
        raise _which_score(free, [f"--judges {','.join(map(quote, free[:2]))}"])
    return tuple(free)


def _outputs(logs: Sequence[Log]) -> dict[str, list[Any]]:
    rows: dict[tuple[str, str, int], dict[str, Any]] = {}
    for log in logs:
        for metric, held in log.scores.items():
            for item, values in held.items():
                groups = {name: of[item] for name, of in log.groups.items() if item in of}
                for number, value in enumerate(values, start=1):
                    rows.setdefault((item, log.model, number), {**groups})[metric] = value
    items, systems, numbers = zip(*rows, strict=True)
    columns: dict[str, list[Any]] = {"item": [*items], "system": [*systems]}
    if max(numbers) > 1:
        columns["replicate"] = [*numbers]
    scores = dict.fromkeys(name for log in logs for name in log.scores)
    groups_of = dict.fromkeys(name for log in logs for name in log.groups)
    for name in (*scores, *(name for name in groups_of if name not in {*scores, *columns})):
        columns[name] = [row.get(name) for row in rows.values()]
    return columns
