"""Runs are models: several files, logs or frames, each of which is one run of the same items.

A run is an evaluation log, or a plain result file with one row per item and one column per metric.
Runs are put side by side by item, so that every verb sees one column per run. Items are matched by
their names, or by their content where they have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from tallystick.errors import FileError, InputError
from tallystick.table.cells import identifier, is_missing, literal, whole
from tallystick.table.engine import connect
from tallystick.table.log_runs import Log, log_formats, read_logs
from tallystick.table.logs_side_by_side import beside
from tallystick.table.numbers import read_numbers
from tallystick.table.reading_facts import Facts, draw
from tallystick.table.reading_names import ROLE_NAMES, is_truth_name, plain
from tallystick.table.reading_voters import fitting_truth
from tallystick.table.roles import Layout, Roles, check_usable, find_item, first_repeat
from tallystick.table.scanning import detect, scan
from tallystick.table.sources import File, missing_column, resolve
from tallystick.table.tables import Table
from tallystick.table.words import as_pass_fail

if TYPE_CHECKING:
    import pyarrow as pa

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
    paths = [source] if isinstance(source, str | Path) else source
    if not isinstance(paths, Sequence) or not all(isinstance(one, str | Path) for one in paths):
        return False
    if "-" in map(str, paths) or any(str(one).endswith(".tally") for one in paths):
        return False  # standard input can be read once only
    if any(Path(one).expanduser().is_dir() for one in paths):
        return True
    files = resolve(list(paths))
    formats = [detect(file) for file in files]
    if any(one in log_formats() for one in formats):
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
        The columns that the caller names: item, truth, cluster, count, weight, by.
    missing
        Tokens for no answer.
    """
    import pyarrow as pa

    asked = AskedOfRuns(layout, given, tuple(missing))
    pieces, notes = _pieces(runs)
    # Logs of one tool are read together, because names depend on the others.
    together = [(file, kind) for _, file, kind in pieces if kind in log_formats()]
    by_source: dict[str, list[Log]] = {}
    for log in read_logs([file for file, _ in together], [kind for _, kind in together]):
        by_source.setdefault(log.source, []).append(log)

    logs: list[Log] = []
    for one, source, kind in pieces:
        if kind in log_formats():
            own = by_source.get(source.name, [])
        else:
            log, more = _plain(one, source, asked)
            own, notes = [log], [*notes, *more]
        if one.name is not None:
            alone = len({log.model for log in own}) == 1
            own = [
                replace(log, model=one.name if alone else f"{one.name}: {log.model}") for log in own
            ]
        logs += own
    if len(logs) < 2:
        listed = ", ".join(map(repr, logs[0].scores)) if logs else "nothing"
        raise InputError(
            f"{logs[0].source if logs else 'the folder'} holds one run with the scores {listed}:"
            " name another one to compare it with (--run old=FILE --run new=FILE)"
        )
    kept = given.columns("cluster", "by", "count", "weight")
    found = beside(_renamed(logs), layout.metric, keep=kept)
    known: dict[str, Any] = {"models": found.models, "item": next(iter(found.columns))}
    if found.replicate is not None:
        known["replicate"] = found.replicate
    kinds = ", ".join(dict.fromkeys(_called(kind) for *_, kind in pieces))
    source = logs[0].source if len(logs) == 1 else f"{logs[0].source} and {len(logs) - 1} more"
    items = len(set(found.columns[known["item"]]))
    first = f"read as {kinds}: {len(found.models)} models on {items} items"
    return replace(
        scan(pa.table(found.columns)),
        source=source,
        files=tuple(file.path for _, file, _ in pieces if isinstance(file, File)),
        notes=(first, *notes, *found.notes),
        known=known,
        metric=found.metric,
    )


def _pieces(runs: Sequence[_Run]) -> tuple[list[tuple[_Run, Any, str]], list[str]]:
    """Return every file and frame of the runs with its format, and what was passed over."""
    pieces: list[tuple[_Run, Any, str]] = []
    notes: list[str] = []
    for one in runs:
        if not isinstance(one.source, str | Path):
            pieces.append((one, one.source, _FRAMES))
            continue
        files, passed = _files(one.source)
        pieces += [(one, file, detect(file)) for file in files]
        notes += passed
    return pieces, notes


def _plain(run: _Run, source: Any, asked: AskedOfRuns) -> tuple[Log, tuple[str, ...]]:
    """Read a file or a frame that is no log."""
    if isinstance(source, File):
        with scan([str(source.path)], delimiter=asked.layout.delimiter) as table:
            return plain_run(table, source.name, asked)
    return plain_run(scan(source), run.name or "run", asked)


def _called(kind: str) -> str:
    plain_kind = _FRAMES if kind == _FRAMES else "result files"
    return f"{kind} logs" if kind in log_formats() else plain_kind


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
    logs = [path for path, kind in kinds.items() if kind in log_formats()]
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


# Old answers in a second file: joined by item.


def join_old(table: Table, given: Roles, layout: Layout) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return *table* with the old answers of the second file, the roles, and a note.

    The second file may hold more items than the table. It must hold every item of the table, once.
    Its column may have the name of a column of the table (the truth of that time, say): the joined
    column then gets a name of its own.

    Parameters
    ----------
    table
        What was read.
    given
        The roles that the caller named; the item joins the two files.
    layout
        Names the second file.
    """
    roles, _ = find_item(table, replace(given, old=None), repeats=False)
    item = roles.item
    with scan([str(layout.old_file)], delimiter=layout.delimiter) as past:
        if item is None:
            raise InputError(
                f"{past.source} holds old answers and is joined by item: name the column of items"
                " (--item)"
            )
        for one in (table, past):
            if item not in one.columns:
                raise InputError(missing_column(item, one.columns, one.source))
        old = _old(past, item, given)
        twice = first_repeat(past, item)
        if twice is not None:
            raise InputError(
                f"{past.source} has item {twice[0]} twice, at {twice[1]} and {twice[2]}: keep one"
                " old answer per item"
            )
        cells = past.arrow(f"select {_key(item)} as key_, {identifier(old)} as old_ from rows")
        source, files = past.source, past.files

    rows = _joined(table, item, cells, source)
    # A name that the table has already would stand for two things.
    name = old
    while name in table.columns:
        name = f"{name} (old file)"
    relation = connect().from_arrow(rows.rename_columns([*table.columns, name]))
    joined = replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        files=(*table.files, *files),
    )
    note = f"{source}: {rows.num_rows:,} old answers joined by {item}"
    return joined, replace(given, item=item, old=name), (note,)


def _old(past: Table, item: str, given: Roles) -> str:
    """Return the column of old answers: the one that is named, or the only one there is."""
    if given.old is not None:
        check_usable(past, given.old)
        return given.old
    others = [name for name in past.columns if name != item]
    if len(others) != 1:
        listed = ", ".join(map(repr, others[:6])) or "no other column"
        raise InputError(
            f"{past.source} has {listed} beside {item!r}: name the column of old answers (--old)"
        )
    return others[0]


def _key(item: str) -> str:
    # Compared as trimmed text: one file may hold numbers where the other holds their digits.
    return f"trim(cast({identifier(item)} as varchar))"


def _joined(table: Table, item: str, cells: pa.Table, source: str) -> pa.Table:
    """Return the rows with their old answers as the last column."""
    import pyarrow.compute as pc

    rows = table.arrow(f"select *, {_key(item)} as key_ from rows")
    keys = rows["key_"].combine_chunks()
    places = pc.index_in(keys, value_set=cells["key_"].combine_chunks())
    absent = keys.filter(pc.is_null(places))
    if len(absent):
        more = f" and so are {len(absent) - 1:,} more" if len(absent) > 1 else ""
        raise InputError(
            f"item {absent[0].as_py()!r} is missing from the old file {source}{more}: every item"
            " needs its old answer there"
        )
    found = cells["old_"].combine_chunks().take(places)
    return rows.drop_columns("key_").append_column("old_", found)


# What stands below the rows of a sheet: blank lines, and rows that sum up the others.
#
# A row called Total or Average is no item. Counted as one, a total of 144 among cells of 0 and 1
# turns a clear difference into none.


_WORDS = (
    *("total", "totals", "grand total", "subtotal", "sum", "average", "avg", "mean", "median"),
    *("overall", "count", "std", "stdev", "all", "accuracy", "score", "summary"),
    *("summe", "gesamt", "durchschnitt", "mittelwert", "somme", "moyenne", "promedio", "media"),
)
"""How people head such a row, in lower case, without a colon."""

_MOST = 3
_FEWEST_ITEMS = 5
_MOST_BYTES = 64_000_000
"""Size of a file up to which somebody may have written a line below its rows."""


def without_summary(table: Table, given: Roles) -> Table:
    """Return *table* without blank lines at its end, and without totals and means below its rows.

    Only rows at the very end are left out. A total is known by the column of items, and only where
    no other row is called so.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table.roles import Roles
    >>> from tallystick.table import scan
    >>> rows = pa.table({"id": ["a", "b", "c", "d", "e", "Total"], "new": [1, 0, 1, 1, 0, 3]})
    >>> table = without_summary(scan(rows), Roles())
    >>> table.query("select count(*) from rows"), table.notes
    ([(5,)], ("the last row ('Total') sums up the others: it is left out",))
    """
    if _is_large(table) or not table.columns:
        return table
    some = ", ".join(f"cast({identifier(name)} as varchar)" for name in table.columns)
    [(rows, last)] = table.query(
        "select count(*), max(place) filter (cell is not null) from (select row_number() over () as"
        f" place, coalesce({some}, null) as cell from rows)"
    )
    if table.files and last is not None and last < rows:
        blank = f"{rows - last:,} blank {'line' if rows - last == 1 else 'lines'} at the end"
        table, rows = _first_rows(table, last, f"{blank}: left out"), last

    usual = [name for name in table.columns if plain(name) in ROLE_NAMES["item"]]
    for name in [given.item] if given.item is not None else [*usual, *table.columns[:1]]:
        if table.kinds.get(name) != "text":
            continue
        word = f"rtrim(lower(trim({identifier(name)})), ': ')"
        found = table.query(
            f"select place, cell from (select row_number() over () as place, {identifier(name)} as"
            f" cell, {word} as word from rows) where word in"
            f" ({', '.join(map(literal, _WORDS))}) order by place limit {_MOST + 1}"
        )
        left = rows - len(found)
        if not found:
            continue
        if len(found) > _MOST or found[0][0] != left + 1 or left < _FEWEST_ITEMS:
            return table
        cells = ", ".join(repr(str(cell).strip()) for _, cell in found)
        note = f"the last row ({cells}) sums up the others: it is left out"
        if len(found) > 1:
            note = f"the last {len(found)} rows ({cells}) sum up the others: they are left out"
        return _first_rows(table, left, note)
    return table


def _first_rows(table: Table, rows: int, note: str) -> Table:
    kept = table.derive(f"select * from rows limit {rows}")
    return replace(table, relation=kept, notes=(*table.notes, note))


def _is_large(table: Table) -> bool:
    return sum(path.stat().st_size for path in table.files if path.is_file()) > _MOST_BYTES


# A plain result file as the log of one run: one row per item, and a column for each metric.
#
# Items are called by their name or, where no column names them, by a hash of what was asked.


MODEL_COLUMNS = frozenset(ROLE_NAMES["system"]) - {"run", "variant"}
"""Columns that name the model of a row."""

_NUMERIC = 0.5
"""Share of a column's values that are numbers, at least, for it to be a metric."""


@dataclass(frozen=True)
class AskedOfRuns:
    """What the caller says of every file."""

    layout: Layout
    given: Roles
    missing: tuple[str, ...]


def plain_run(table: Table, name: str, asked: AskedOfRuns) -> tuple[Log, tuple[str, ...]]:
    """Return a result file as the log of one run: every column of numbers is a metric."""
    layout, given = asked.layout, asked.given
    ignored = ",".join(layout.ignore).split(",")
    left = [name for name in table.columns if any(fnmatchcase(name, one) for one in ignored)]
    table = replace(table, left_out={**table.left_out, **dict.fromkeys(left, "left out")})
    profiles = draw(table).facts
    item = item_column(table, given)
    metrics = _metrics(table, profiles, layout, given, item)
    items, note = _item_names(table, item, profiles, metrics, given)
    scores = {}
    unscored = 0
    truth = _truth(table, metrics, asked)
    if truth != given.truth:
        note += (f"{table.source}: column {truth!r} holds the true answers, by its name",)
    for metric in metrics:
        values = _values(table, metric, truth, asked.missing)
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
    keys = [
        hashlib.sha256("\x1f".join(map(str, row)).encode()).hexdigest()[:12]
        for row in zip(*cells, strict=True)
    ]
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


def _truth(table: Table, metrics: Sequence[str], asked: AskedOfRuns) -> str | None:
    """Return the column of true answers: the one given, or one with such a name that fits."""
    given = asked.given
    if given.truth is not None and given.truth not in table.columns:
        raise InputError(missing_column(given.truth, table.columns, table.source))
    if given.truth is not None or len(metrics) > 1:
        return given.truth
    return fitting_truth(draw(table, missing=asked.missing), metrics[0], [*given.holders()])


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
