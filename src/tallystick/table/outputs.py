"""Tables of outputs: which column is the system, and wide tables turned into one row per output.

A wide table has one row per item and the columns ``A.gpt``, ``A.human``, ``B.gpt``, …: the system,
a separator, and the judge or the human grade. A table of preferences has two columns that name the
two systems of each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from tallystick.errors import AskError, InputError
from tallystick.table.cells import identifier, literal
from tallystick.table.formats import detect
from tallystick.table.log_runs import Log, log_formats, read_logs, told_apart
from tallystick.table.reading_names import ROLE_NAMES, is_truth_name, plain
from tallystick.table.roles import Layout, Roles
from tallystick.table.scanning import scan
from tallystick.table.sources import resolve
from tallystick.table.tables import Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

PREFERENCES = (("a", "b"), ("system_a", "system_b"), ("model_a", "model_b"))
"""How people head the two columns of systems in a table of preferences."""

_SEPARATORS = (".", "__", "/", ":", "|")
"""Separators that are looked for where no system is named."""

_MORE_SEPARATORS = (*_SEPARATORS, "_", "-", " ")
"""Separators that are tried where the systems are named."""

_SYSTEM = "system"


@dataclass(frozen=True)
class _Grid:
    """Columns by system and by what they hold of it."""

    separator: str
    columns: Mapping[str, Mapping[str, str]]

    @property
    def parts(self) -> tuple[str, ...]:
        """What the columns hold of a system, in the order of the table."""
        return tuple(dict.fromkeys(part for held in self.columns.values() for part in held))


def find_outputs(
    table: Table, given: Roles, layout: Layout
) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return a table with one row per output, the roles with the system, and notes.

    Parameters
    ----------
    table
        What was read.
    given
        The roles that the caller named. *systems* names the systems of a wide table, or the two
        columns of a table of preferences.
    layout
        May name the separator.

    Examples
    --------
    >>> import pyarrow as pa
    >>> wide = scan(pa.table({"id": [1, 2], "A.gpt": [1, 0], "B.gpt": [1, 1], "A.human": [1, None]}))
    >>> long, roles, notes = find_outputs(wide, Roles(truth="human"), Layout())
    >>> long.columns, roles.system
    (('id', 'system', 'gpt', 'human'), 'system')
    >>> print(notes[0])
    columns like 'A.gpt' hold 2 systems (A, B): read as one row per output
    """
    if given.system is not None:
        if given.systems:
            raise InputError(
                "system names the column of a long table and systems those of a wide one: name one"
                " of them"
            )
        return table, given, ()
    named = _named(given.systems)
    if len(named) == 2 and all(name in table.columns for name in named):
        return table, replace(given, systems=named), ()
    if not named and layout.separator is None and _are_columns(table, given):
        return table, *_found_by_name(table, given)
    grid = _grid(table, named, layout.separator)
    usual = {plain(name) for name in table.columns} & set(ROLE_NAMES["system"])
    if grid is None and not named and layout.separator is None and not usual:
        grid = _human_grid(table)
    if grid is not None:
        return _unfolded(table, given, grid)
    if named or layout.separator:
        raise InputError(_no_grid(table, named, layout.separator))
    return table, *_found_by_name(table, given)


def _are_columns(table: Table, given: Roles) -> bool:
    """Say whether judges are named, each as it stands in the table: then no name is split."""
    named = _named(given.judges)
    return bool(named) and all(name in table.columns for name in named)


def _named(systems: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in systems for part in text.split(",") if part.strip())


def _found_by_name(table: Table, given: Roles) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with the two columns of systems of a table of preferences."""
    lower = {plain(name): name for name in table.columns}
    held = given.holders()
    for pair in PREFERENCES:
        both = tuple(lower[name] for name in pair if name in lower)
        if len(both) == 2 and _are_words(table, both) and not any(name in held for name in both):
            return replace(given, systems=both), ()
    return given, ()


def _are_words(table: Table, columns: Sequence[str]) -> bool:
    """Say whether columns hold names, and no numbers: a and b may be two models."""
    if not all(table.kinds[name] == "text" for name in columns):
        return False
    number = " or ".join(f"try_cast({identifier(name)} as double) is not null" for name in columns)
    return not table.query(f"select 1 from rows where {number} limit 1")


def _grid(table: Table, systems: Sequence[str], separator: str | None) -> _Grid | None:
    """Return the columns by system, None if the table has no such columns."""
    tried = (separator,) if separator else (_MORE_SEPARATORS if systems else _SEPARATORS)
    for sign in tried:
        found = _split(table.columns, systems, sign)
        shared = set.intersection(*map(set, found.values())) if found else set()
        # Two systems of which the same thing is known: less than that is an accident of names.
        if shared and (len(found) >= 2 or systems) and (not systems or set(found) == set(systems)):
            return _Grid(sign, found)
        if systems:
            found = _split(table.columns, systems, sign, last=True)
            if set(found) == set(systems) and set.intersection(*map(set, found.values())):
                return _Grid(sign, found)
    return None


def _human_grid(table: Table) -> _Grid | None:
    """Return the columns by system where people's grades give the systems away.

    ``old_gpt, old_human, new_gpt, new_human``: a name before ``human`` is a system only if the same
    judges are there for each of them. A name after it (``gpt_old, human_old``) may be what is
    graded (``human_style``) as well, and is asked about.
    """
    for sign in _MORE_SEPARATORS:
        for last in (False, True):
            cut = [c.partition(sign) if last else c.rpartition(sign) for c in table.columns]
            ends = [(one[0], one[2]) if last else (one[2], one[0]) for one in cut]
            systems = [name for human, name in ends if name and is_truth_name(human, whole=True)]
            found = _split(table.columns, systems, sign, last=last) if len(systems) > 1 else {}
            parts = [*map(set, found.values())]
            # Words such as "human_score" name what people gave, and no system.
            if not parts or len(parts[0]) < 2 or any(one != parts[0] for one in parts):
                continue
            if last:
                raise _systems_or_questions(table, found)
            return _Grid(sign, found)
    return None


def _systems_or_questions(table: Table, found: Mapping[str, Mapping[str, str]]) -> AskError:
    """Ask whether the ends of names are systems, or questions that people and judges answer."""
    first = next(iter(found.values()))
    truth = next(column for part, column in first.items() if is_truth_name(part, whole=True))
    judges = [column for column in first.values() if column != truth]
    systems = ",".join(found)
    return AskError(
        f"{table.source}: are {' and '.join(list(found)[:8])} systems, or questions that each row"
        " is graded on?",
        role="systems",
        candidates=tuple(found),
        calls=(
            f"--systems {quote(systems)}",
            f"--judges {quote(','.join(judges))} --truth {quote(truth)}",
        ),
    )


def _split(
    columns: Sequence[str], systems: Sequence[str], separator: str, *, last: bool = False
) -> dict[str, dict[str, str]]:
    """Return the columns by system and part; the system stands first, or *last*."""
    found: dict[str, dict[str, str]] = {name: {} for name in systems}
    for column in columns:
        if last:
            tails = [name for name in systems if column.endswith(separator + name)]
            system = max(tails, key=len, default="")
            part = column[: -len(separator + system)]
        elif systems:
            heads = [name for name in systems if column.startswith(name + separator)]
            system = max(heads, key=len, default="")
            part = column[len(system) + len(separator) :]
        else:
            # The last separator counts: "gpt-4.1.claude" is what claude says of gpt-4.1.
            system, _, part = column.rpartition(separator)
        if system and part:
            found.setdefault(system, {})[part] = column
    return {system: parts for system, parts in found.items() if parts}


def _no_grid(table: Table, systems: Sequence[str], separator: str | None) -> str:
    sign = separator or "."
    wanted = systems[0] if systems else "A"
    shown = ", ".join(table.columns[:8])
    return (
        f"{table.source}: no columns like '{wanted}{sign}JUDGE' for each of"
        f" {', '.join(systems) or 'the systems'}. It has {shown}. Name the separator (--separator),"
        " or the column of systems of a long table (--system)"
    )


def _unfolded(table: Table, given: Roles, grid: _Grid) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return one row per item and system, the systems of an item one after the other."""
    taken = {column for held in grid.columns.values() for column in held.values()}
    shared = [name for name in table.columns if name not in taken]
    clash = next((name for name in (_SYSTEM, *grid.parts) if name in shared), None)
    if clash is not None:
        raise InputError(
            f"{table.source} has a column {clash!r} beside columns like"
            f" {next(iter(taken))!r}: rename one of them"
        )
    relation = _relation(table, grid, shared)
    long = replace(
        table,
        relation=relation,
        columns=tuple(relation.columns),
        parts=(),  # a row of the table is no row of a file any more
        left_out={k: v for k, v in table.left_out.items() if k not in taken},
        doubtful={k: v for k, v in table.doubtful.items() if k not in taken},
    )
    names = ", ".join(grid.columns)
    example = next(iter(next(iter(grid.columns.values())).values()))
    note = (
        f"columns like {example!r} hold {len(grid.columns)} systems ({names}): read as one row per"
        " output"
    )
    return long, replace(given, system=_SYSTEM, systems=()), (note,)


def _relation(table: Table, grid: _Grid, shared: Sequence[str]) -> DuckDBPyRelation:
    """Return the outputs as a query, so that rows stay in the engine."""
    lists = {_SYSTEM: [literal(name) for name in grid.columns]}
    for part in grid.parts:
        columns = [held.get(part) for held in grid.columns.values()]
        kinds = {table.kinds[name] for name in columns if name is not None}
        if "text" in kinds and len(kinds - {"other"}) > 1:
            raise InputError(
                f"{table.source}: the columns of {part!r} hold numbers for one system and words for"
                " another: write both alike"
            )
        lists[part] = ["null" if name is None else identifier(name) for name in columns]
    # Lists of one length are unfolded together: one row per system, in the order of the table.
    unfolded = (
        f"unnest([{', '.join(cells)}]) as {identifier(name)}" for name, cells in lists.items()
    )
    return table.derive(f"select {', '.join([*map(identifier, shared), *unfolded])} from rows")


# Evaluation logs as outputs: one row per item and system, one column per score of the tool.
#
# What a model scored in a log is a judge's grade of its output. So a log with a judge's score and a
# second file of human grades (``--truth-file``) say together how good the model is.


ITEM, SYSTEM, REPLICATE = "item", "system", "replicate"
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
            raise InputError(
                f"{logs[0].source} has no score {layout.metric!r}: it has {_listed(scores)}"
                " (--metric)"
            )
        return (layout.metric,)
    free = [name for name in scores if name != given.truth]
    if len(free) != 1:
        raise InputError(
            f"{logs[0].source} has the scores {_listed(free)}: say which of them are judges'"
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


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_LISTED]))
    return f"{shown}, …" if len(names) > MOST_LISTED else shown
