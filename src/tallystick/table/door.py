"""The one door: from any source to data whose columns and cells have one meaning."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
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
    majority,
)
from tallystick.table.reading_facts import draw
from tallystick.table.reading_names import ROLE_NAMES, TRUTH, parts, plain
from tallystick.table.reading_rules import Door, How
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
    several,
)
from tallystick.table.runs import find_runs, log_outputs, read_runs
from tallystick.table.scanning import not_a_log, scan
from tallystick.table.session import SESSIONS, Session
from tallystick.table.session_rows import join_session
from tallystick.table.shapes import chosen_metric, find_outputs
from tallystick.table.sources import check_names
from tallystick.table.tables import Table
from tallystick.table.tally import Tally, empty_tally
from tallystick.table.truth import join_truth
from tallystick.table.weights import settle, without_copies, without_summary

_LAYOUT = tuple(one.name for one in fields(Layout))
_RULES = tuple(one.name for one in fields(LabelRules))

_FEW_ROWS = 50_000
"""Rows up to which a frame of another engine is fetched: that is faster than a second job."""

_COUNTED = frozenset({"judges", "models", "weak", "prediction", "system", "truth", "by"})
"""Roles of columns that can be counted as they are; others need rows."""


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
        but that a table whose column of judges or votes is named gets one column per judge.
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
        ignore = [one for one in several(layout.ignore) if fnmatch.filter(held.columns, one)]
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
            raise not_a_log(layout.metric, held.source)
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
        name: several(given[name]) if isinstance(given[name], str | tuple | list) else given[name]
        for name in _RULES
        if name in given
    }
    return (
        Roles.of({name: given[name] for name in ALL_ROLES if name in given}),
        Layout(**{name: given[name] for name in _LAYOUT if name in given}),
        LabelRules(**rules),
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
    votes = door == Door() and not table.known and (layout.judge or layout.vote)
    turned = Door(verb="judge", want="judges") if votes else door
    return _spelled(_tabled(table, turned, given, layout, rules), door)


def _spelled(data: Data, door: Door) -> Data:
    """Return data with one spelling of each label, where that is safe."""
    # Without a door nothing is guessed; grades have words of their own, in any spelling.
    return data if door == Door() or door.outputs else one_spelling(data)


def _tabled(table: Table, door: Door, given: Roles, layout: Layout, rules: LabelRules) -> Data:
    """Decide about a table, in one order: outputs, second files, roles, copies, items."""
    table, given, session = _joined(table, door, given, layout)
    given = _named(given, door, layout)
    found = Data(held=table, roles=given, rules=rules, source=table.source, long=table.long)
    # A pivoted table has columns that are not here yet: what is not found is refused further down.
    aside = layout.ignored(table.columns)
    if door.as_it_is is not None and door.as_it_is(_without(table, aside), given):
        table = _without(table, aside)
        return replace(
            found, held=table, roles=assign(table, given, coerce=rules.coerce), notes=table.notes
        )

    # What a source knows of itself, such as which columns are runs, is not looked for.
    ruled, notes = bool(door.verb) and not table.known, table.notes
    if ruled:
        table, given, said = majority(table, given, rules.missing)
        asked = replace(_of_labels(door, given), truth=session is None)
        found = decide(table, asked, given, layout, rules, table.source)
        table, notes = found.table, (*found.table.notes, *said)
    else:
        roles = _by_name(_as_known(given, table), table, door)
        found = replace(found, roles=roles, unused=None if door.want is None else {})
    roles = assign(table, found.roles, coerce=rules.coerce)
    if ruled and layout.ignore:
        expand(layout.ignore, table, roles.holders())

    once = not (door.repeats or door == Door())
    if roles.count is None and (once or (ruled and door.outputs and len(roles.systems) != 2)):
        beside = roles.columns("system", "criterion") if door.outputs else ()
        table, said = without_copies(table, roles, beside)
        notes = (*notes, *said)
    if roles.item is not None or not ruled:
        roles = find_item(table, roles, repeats=door.repeats)
    notes = (*notes, *found.notes)
    return replace(
        found, held=table, roles=roles, source=table.source, notes=notes, session=session
    )


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


def _of_labels(door: Door, given: Roles) -> Door:
    """Return the door of preferences: of two systems every vote prefers one, so it is a label."""
    return replace(door, verb="judge") if len(given.systems) == 2 and door.outputs else door


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
        raise empty_tally()
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
        data = decide(tally, _of_labels(door, given), given, layout, rules, source)
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
