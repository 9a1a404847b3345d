"""The one door: from any source to data whose columns and cells have one meaning."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, UsageError, meant
from tallystick.table.data import Data
from tallystick.table.engines import (
    fetch,
    is_lazy,
    lazily,
    row_count,
    rows_fit,
)
from tallystick.table.meaning import LabelRules, one_spelling
from tallystick.table.numbers import with_plain_numbers
from tallystick.table.reading import with_reading
from tallystick.table.reading_decide import (
    decide,
    decide_counts,
    majority,
)
from tallystick.table.reading_facts import draw
from tallystick.table.reading_names import ROLE_NAMES, TRUTH, VOTE_TIERS, parts, plain
from tallystick.table.reading_rules import Asked, How
from tallystick.table.reading_voters import old_and_new
from tallystick.table.roles import (
    ALL_ROLES,
    GROUPS,
    ColumnNames,
    Layout,
    Roles,
    assign,
    check_usable,
    expand,
    find_item,
)
from tallystick.table.runs import find_runs, log_outputs, read_runs
from tallystick.table.scanning import scan
from tallystick.table.session import SESSIONS, Session
from tallystick.table.session_rows import join_session
from tallystick.table.shapes import chosen_metric, find_outputs
from tallystick.table.sources import check_names
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.truth import join_truth
from tallystick.table.weights import ask_about_counts, settle, without_copies, without_summary

_LAYOUT = tuple(one.name for one in fields(Layout))
_RULES = tuple(one.name for one in fields(LabelRules))

_FEW_ROWS = 50_000
"""Rows up to which a frame of another engine is fetched: that is faster than a second job."""

_COUNTED = frozenset({"judges", "models", "weak", "prediction", "system", "truth", "by"})
"""Roles of columns that can be counted as they are; others need rows."""


@dataclass(frozen=True, kw_only=True)
class Door:
    """What a capability needs of the reading.

    Parameters
    ----------
    verb
        Whose rules of reading hold (`tallystick.table.reading_rules`): score, judge, compare or
        bound.
    want
        The group of columns to find where the caller names none: judges, models, weak, or nothing.
    pivots
        Whether a table with one row per vote becomes one column per judge.
    repeats
        Whether an item may have several rows.
    named
        Roles that a column of the same name has where the caller names none.
    outputs
        Whether rows are outputs of systems: the system is then found by name, a wide table becomes
        one row per output, and an item is named once per system.
    runs
        Whether several files of the same items are runs, each of which is one column.
    as_it_is
        Says of a table, and of the roles that the caller named, whether its columns are read as
        they are, by name, so that none is wanted and none is pivoted.
    reads
        The roles that the capability reads.
    collects
        Whether labels are to be collected: then no column need be the truth.
    """

    verb: str = ""
    want: str | None = None
    pivots: bool = True
    repeats: bool = False
    named: tuple[str, ...] = ()
    outputs: bool = False
    runs: bool = False
    as_it_is: Callable[[Table, Roles], bool] | None = None
    reads: tuple[str, ...] = ()
    collects: bool = False


def read(source: Any, door: Door | None = None, **options: Any) -> Data:
    """Read *source*, decide what its columns are, and say what was chosen.

    Parameters
    ----------
    source
        A path, a glob, several paths, ``"-"`` for standard input, an evaluation log, a mapping of
        columns, an Arrow, pandas or Polars frame, a DuckDB relation, a Dask or Spark frame, a
        Tally (or the path of a saved one), or what `read` returned before.
    door
        What the capability needs; without it every column keeps its place and nothing is guessed,
        but that a table of items, judges and votes gets one column per judge.
    **options
        Roles (`Roles`: item, truth, judges, …), the layout (`Layout`: shape, truth_file, …) and
        what labels mean (`LabelRules`: missing, coerce, labels, …); or *reading*, a `Reading` or
        the file that holds one, over which the other options win.

    Examples
    --------
    >>> data = read({"id": [1, 2], "gold": ["a", "b"], "gpt": ["a", "a"]}, truth="gold")
    >>> data.roles.item, data.roles.truth
    ('id', 'gold')
    """
    door = door or Door()
    options = with_reading(options, want=door.want)
    roles, layout, rules = _split(options)
    if isinstance(source, Data):
        return _settled(_again(source, door, roles, rules), door) if options else source
    return _settled(_read(source, door, roles, layout, rules), door)


def _settled(data: Data, door: Door) -> Data:
    """Return data whose counts and weights were checked; a verb gets the rows that counts mean."""
    if data.roles.count is None and data.roles.weight is None:
        return data
    try:
        found = settle(data.held, data.roles, data.source, spread=door.want is not None)
    except BaseException:
        data.close()
        raise
    if door.want is None and door != Door():
        return data  # whoever only looks at the columns looks at all of them
    notes = (*data.notes, *found.notes)
    return replace(data, held=found.held, roles=found.roles, notes=notes)


def _read(source: Any, door: Door, roles: Roles, layout: Layout, rules: LabelRules) -> Data:
    """Open a source and decide about it."""
    named = roles
    held: Table | Tally
    runs = find_runs(source, layout, roles) if door.runs else None
    graded = log_outputs(source, layout, roles) if door.outputs else None
    if graded is not None:
        held, roles = graded
    elif runs is not None:
        if any(rules.never_true):
            raise UsageError(
                f"never_true names {rules.never_true[0]!r}, and scores of several files are put"
                f" side by side as numbers: read it as no answer, and no answer as wrong (--missing"
                f" {rules.never_true[0]} --never-true '')"
            )
        held = read_runs(runs, layout, roles, missing=rules.missing)
        # What is ignored in the files is gone by now, and need not be a run.
        ignore = [one for one in _several(layout.ignore) if fnmatch.filter(held.columns, one)]
        layout = replace(layout, ignore=tuple(ignore))
        # The columns of the files are gone: what they said is in the table that they make.
        roles = replace(roles, item=None, truth=None)
    else:
        if door.runs and layout.metric is not None:
            # One table with a row per item and model: the metric is the column to compare.
            layout = replace(layout, vote=layout.metric, metric=None)
        held, roles = _opened(source, door, roles, layout)
        if door.runs and isinstance(held, Table):
            held, layout = chosen_metric(held, layout)
        if layout.metric is not None and isinstance(held, Table) and held.metric is None:
            raise InputError(
                f"--metric {layout.metric} chooses a score of an evaluation log, and {held.source}"
                " is a plain table: name the column instead (--vote, --judges or --models)"
            )
        if layout.vote is not None and isinstance(held, Table):
            held = replace(held, metric=held.metric or layout.vote)
    try:
        if isinstance(held, Tally):
            name = str(source) if isinstance(source, str | Path) else "the tally"
            data = _spelled(_counted(held, door, roles, layout, rules, name), door)
        else:
            data = _whole(held, door, roles, layout, rules)
        return data if data.how else replace(data, how=_how(data, named))
    except BaseException:
        if isinstance(held, Table) and held is not source:  # what the caller opened, it closes
            held.close()
        raise


def _how(data: Data, named: Roles) -> dict[str, How]:
    """Say where each role comes from that the caller did not name."""
    found = {
        role: getattr(data.roles, role)
        for role in ALL_ROLES
        if getattr(data.roles, role) and not getattr(named, role)
    }
    # Of old and new answers a part of the name is enough where no other column has it.
    return {
        role: "only candidate"
        if role in ("old", "new") and plain(column) not in ROLE_NAMES[role]
        else "by name"
        for role, column in found.items()
    }


def _split(options: Mapping[str, Any]) -> tuple[Roles, Layout, LabelRules]:
    """Sort the options by what they speak of; an unknown one is refused with its nearest name."""
    known = (*ALL_ROLES, *_LAYOUT, *_RULES)
    for name in options:
        if name not in known:
            raise InputError(f"{name!r} is not a reading option{meant(name, known)}")
    given = {name: value for name, value in options.items() if value is not None}
    rules: dict[str, Any] = {
        name: _several(given[name]) if isinstance(given[name], str | tuple | list) else given[name]
        for name in _RULES
        if name in given
    }
    return (
        Roles.of({name: given[name] for name in ALL_ROLES if name in given}),
        Layout(**{name: given[name] for name in _LAYOUT if name in given}),
        LabelRules(**rules),
    )


def _several(value: Any) -> tuple[Any, ...]:
    """Split ``"-1,NA"`` into its tokens; anything that is not text stays as it is."""
    pieces = (value,) if isinstance(value, str) else value
    return tuple(
        part.strip() if isinstance(part, str) else part
        for piece in pieces
        for part in (piece.split(",") if isinstance(piece, str) else (piece,))
    )


def _opened(source: Any, door: Door, given: Roles, layout: Layout) -> tuple[Table | Tally, Roles]:
    """Return a table or a tally, and the roles that it has columns for."""
    if isinstance(source, Table | Tally):
        return source, given
    paths = [source] if isinstance(source, str | Path) else source
    if isinstance(paths, Sequence) and len(paths) == 1 and str(paths[0]).endswith(".tally"):
        return Tally.load(paths[0]), given
    if layout.run:
        raise InputError(
            "run (--run NAME=FILE) gives the results of one model, and this verb reads one table:"
            " give the table itself"
        )
    if is_lazy(source):
        return _of_engine(source, door, given, layout)
    return scan(source, metric=layout.metric), given


def _of_engine(frame: Any, door: Door, given: Roles, layout: Layout) -> tuple[Table | Tally, Roles]:
    """Return the rows of a frame of another engine: the columns that the caller names, or all.

    Where the named columns of a large frame are all that is needed and counts are enough, or its
    rows do not fit into memory, the engine counts them and only counts come back.
    """
    columns = tuple(lazily(frame).collect_schema())
    roles = assign(
        ColumnNames(columns=columns, source="the frame"), _named(given, door, layout), coerce=True
    )
    used = roles.columns()
    others = {role for role in ALL_ROLES if getattr(roles, role)} - _COUNTED - {"item"}
    reshaped = layout.judge or layout.vote or layout.truth_file
    if not (door.want and getattr(roles, door.want)) or reshaped:
        used = columns
    elif not others and row_count(frame) > _FEW_ROWS:
        from_counts = door.want in ("judges", "weak") and not door.outputs and roles.item is None
        if from_counts or not rows_fit(frame, used):
            counted = roles.columns(*_COUNTED)
            return Tally.of(frame, columns=counted, apart=counted), replace(roles, item=None)
    return replace(scan(fetch(frame, used)), source="the frame"), given


def _whole(table: Table, door: Door, given: Roles, layout: Layout, rules: LabelRules) -> Data:
    """Decide about a table all of whose rows are here, and about the spelling of its labels."""
    if given.item is not None:
        check_usable(table, given.item, coerce=rules.coerce)
    # Labels stay as they are written; grades and scores are numbers.
    if door != Door():
        table = without_summary(table, given)
    if door.outputs or (door.want == "models" and given.truth is None):
        table = with_plain_numbers(table, rules.missing)
    judge = None if door != Door() or table.known else _column_of_judges(table, layout)
    if judge is not None:
        votes = Door(verb="judge", want="judges")
        return _tabled(table, votes, given, replace(layout, judge=judge), rules)
    return _spelled(_tabled(table, door, given, layout, rules), door)


def _spelled(data: Data, door: Door) -> Data:
    """Return data with one spelling of each label, where that is safe."""
    # Without a door nothing is guessed; grades have words of their own, in any spelling.
    return data if door == Door() or door.outputs else one_spelling(data)


def _tabled(table: Table, door: Door, given: Roles, layout: Layout, rules: LabelRules) -> Data:
    """Decide about a table, in one order: outputs, truth file, shape, roles, items, defaults."""
    table, given, session = _joined(table, door, given, layout)
    # A pivoted table has columns that are not here yet: what is not found is refused further down.
    left = _several(layout.ignore)
    aside = [name for name in table.columns if any(fnmatch.fnmatchcase(name, one) for one in left)]
    if door.as_it_is is not None and door.as_it_is(_without(table, aside), given):
        table = _without(table, aside)
        roles = assign(table, given, coerce=rules.coerce)
        return Data(held=table, roles=roles, rules=rules, source=table.source, notes=table.notes)
    if door.verb and not table.known:
        data = _by_rules(table, door, given, layout, rules, session is None)
        return replace(data, session=session)
    # What a source knows of itself, such as which columns are runs, is not looked for.
    table_roles = assign(table, _by_name(_as_known(given, table), table, door), coerce=rules.coerce)
    table, roles, notes = _with_items(table, table_roles, door)
    notes = (*table.notes, *notes)
    unused: Mapping[str, str] | None = None if door.want is None else {}
    return Data(
        held=table,
        roles=roles,
        rules=rules,
        source=table.source,
        notes=notes,
        session=session,
        unused=unused,
        long=table.long,
    )


def _column_of_judges(table: Table, layout: Layout) -> str | None:
    """Return the column of judges where each row is one vote: the caller says so, or items, judges
    and votes are all called so.
    """
    columns = {plain(name): name for name in table.columns}
    votes = (*VOTE_TIERS[0], *VOTE_TIERS[1])
    names = (ROLE_NAMES["item"], ROLE_NAMES["judge"], votes)
    called = all(columns.keys() & {*one} for one in names)
    if layout.vote is None and (not called or columns.keys() & {*ROLE_NAMES["system"]}):
        return layout.judge
    return layout.judge or next((columns[one] for one in names[1] if one in columns), None)


def _by_rules(
    table: Table, door: Door, given: Roles, layout: Layout, rules: LabelRules, truth: bool
) -> Data:
    """Decide about a table by the rules of reading."""
    given = _named(given, door, layout)
    if door.want is not None:
        ask_about_counts(table, given, _several(layout.ignore))
    table, given, notes = majority(table, given, rules.missing)
    found = decide(table, _asked(door, given, truth=truth), given, layout, rules)
    table = found.table
    roles = assign(table, found.roles, coerce=rules.coerce)
    if layout.ignore:
        expand(layout.ignore, table, roles.holders())
    grades = door.outputs and len(roles.systems) != 2
    beside = roles.columns("system", "criterion") if door.outputs else ()
    if (grades or not door.repeats) and roles.count is None:
        table, said = without_copies(table, roles, beside)
        notes = (*notes, *said)
    if roles.item is not None:
        find_item(table, roles, repeats=door.repeats)
    notes = (*table.notes, *notes, *found.notes)
    return replace(found, held=table, roles=roles, source=table.source, notes=notes)


def _joined(
    table: Table, door: Door, given: Roles, layout: Layout
) -> tuple[Table, Roles, Session | None]:
    """Return a table with its outputs found and other files joined; the session, if one was."""
    session: Session | None = None
    if door.outputs:
        table, given, notes = find_outputs(table, given, layout)
        table = replace(table, notes=(*table.notes, *notes))
    if layout.truth_file is not None:
        if SESSIONS.begins(layout.truth_file):
            table, given, notes, session = join_session(table, given, layout.truth_file)
        else:
            table, given, notes = join_truth(table, given, layout, outputs=door.outputs)
        table = replace(table, notes=(*table.notes, *notes))
    return table, given, session


def _asked(door: Door, given: Roles, *, truth: bool = True) -> Asked:
    """Return what the rules need to know of a door."""
    return Asked(
        # Two systems of which every vote prefers one: the votes are labels.
        verb="judge" if len(given.systems) == 2 and door.outputs else door.verb,
        want=door.want or "judges",
        reads=door.reads,
        long=door.pivots,
        truth=truth,
        collects=door.collects,
    )


def _with_items(table: Table, roles: Roles, door: Door) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return the table with each row once, the roles with its items, and notes."""
    said: tuple[str, ...] = ()
    if not (door.repeats or door == Door()) and roles.count is None:
        table, said = without_copies(table, roles, ())
    roles, notes = find_item(table, roles, repeats=door.repeats)
    return table, roles, (*said, *notes)


def _as_known(given: Roles, table: Table) -> Roles:
    """Return the roles with those that the source itself knows, where the caller names none."""
    known: dict[str, Any] = {
        role: tuple(column) if role in GROUPS else column
        for role, column in table.known.items()
        if not getattr(given, role)
    }
    return replace(given, **known)


def _named(given: Roles, door: Door, layout: Layout) -> Roles:
    """Return the roles with the columns that were asked about in the group that is wanted."""
    if door.want is None or not layout.columns:
        return given
    return given.with_columns(door.want, layout.columns)


def _by_name(given: Roles, table: Table, door: Door) -> Roles:
    """Give roles to columns with their names, as the door allows."""
    taken: dict[str, Any] = {}
    for role in door.named:
        held = {*given.holders(), *table.left_out, *taken.values()}
        usual = ROLE_NAMES.get(role, TRUTH if role == "truth" else (role,))
        found = [n for n in table.columns if plain(n) in usual and n not in held]
        if getattr(given, role) is None and len(found) == 1:
            taken[role] = found[0]
    known = replace(given, **taken)
    if "old" not in door.named or given.old or given.new or (known.old and known.new):
        return known
    held = {*known.holders(), *table.left_out, *table.doubtful} - {known.old, known.new}
    words = {*ROLE_NAMES["old"], *ROLE_NAMES["new"]}
    likely = [n for n in table.columns if n not in held and words & {*parts(n)}]
    pair = old_and_new(draw(table, likely)) if len(likely) > 1 else None
    return known if pair is None else replace(known, old=pair[0], new=pair[1])


def _without(table: Table, columns: Sequence[str]) -> Table:
    if not columns:
        return table
    gone = {name: f"column {name!r} is left out, as you said" for name in columns}
    return replace(table, left_out={**table.left_out, **gone})


def _counted(
    tally: Tally, door: Door, given: Roles, layout: Layout, rules: LabelRules, source: str
) -> Data:
    """Give the columns of a tally their roles; its rows are counted already."""
    if not tally.names:
        raise InputError("the tally is empty: count at least one item first")
    # Names suffice: neither Arrow nor DuckDB is loaded for a table that has no rows.
    check_names(tally.names, "the table")
    names = ColumnNames(columns=tally.names, source=source)
    given = assign(names, _named(given, door, layout), coerce=True)
    if tally.weighted and door.want and (door.outputs or given.truth or door.want != "judges"):
        raise InputError(
            f"{source} holds sums of weights, which do not say how many rows or labels there are:"
            " count the table again, with --count C if a row stands for several identical ones, or"
            " with --weight C if these are sampling weights"
        )
    data = Data(held=tally, roles=given, rules=rules, source=source)
    data = replace(data, unused=None if door.want is None else {})
    if layout.ignore:
        expand(layout.ignore, names, given.holders())
    if door.verb:
        data = decide_counts(tally, _asked(door, given), given, layout, rules, source)
    return data


def _again(data: Data, door: Door, given: Roles, rules: LabelRules) -> Data:
    """Return data that was read before with further roles and rules."""
    named = {
        role: value
        for role, value in given.__dict__.items()
        if value is not None and (role not in GROUPS or value)
    }
    merged = replace(data.roles, **named)
    changed = rules if rules != LabelRules() else data.rules
    if isinstance(data.held, Table):
        again = _whole(data.held, replace(door, pivots=False), merged, Layout(), changed)
        return replace(again, notes=tuple(dict.fromkeys((*data.notes, *again.notes))))
    return replace(data, roles=merged, rules=changed)
