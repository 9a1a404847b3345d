"""From a table and what the caller named to a table in the shape of a verb, with all its roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tallystick.errors import InputError
from tallystick.table.cells import NUMBER, identifier, literal, spelling, without_missing
from tallystick.table.data import Data
from tallystick.table.meaning import LabelRules
from tallystick.table.reading_cells import UNREAD
from tallystick.table.reading_facts import SURE, agreement, draw, draw_counts, one_word
from tallystick.table.reading_names import VOTE_TIERS, plain
from tallystick.table.reading_rules import (
    Door,
    Look,
    ask_about_counts,
    find_structure,
    find_vote,
    flag,
)
from tallystick.table.reading_voters import (
    ask_about_sparse,
    find_prediction,
    find_truth,
    find_voters,
    truth_among,
)
from tallystick.table.roles import GROUPS, Layout, Roles, check_usable, expand
from tallystick.table.shapes import LongShape, to_wide
from tallystick.table.sources import missing_column
from tallystick.table.tables import Table
from tallystick.table.tally import Tally


def decide(
    held: Table | Tally, door: Door, given: Roles, layout: Layout, rules: LabelRules, source: str
) -> Data:
    """Give every column of a table, or of counts, its role, or ask.

    Parameters
    ----------
    held, source
        What was read; several columns of truth are one by now (`majority`).
    door
        What the verb needs.
    given, layout, rules
        What the caller named, and said about labels.
    """
    never = map(str, rules.never_true) if door.want == "models" else ()
    # Tokens that are no label of a column: for no answer, and models' wrong ones.
    silent = (*rules.missing, *never, UNREAD)
    table = held if isinstance(held, Table) else None
    columns = held.columns if isinstance(held, Table) else held.names
    look = Look(
        table=table,
        sample=draw(held, missing=silent) if isinstance(held, Table) else draw_counts(held, silent),
        rules=rules,
        door=door,
        given=given,
        layout=layout,
        source=source,
        aside=frozenset(layout.ignored(columns)),
    )
    return _of_rows(look) if isinstance(held, Table) else _of_counts(look, held)


def _of_rows(look: Look) -> Data:
    """Decide about a table whose rows are here."""
    table = look.table
    assert table is not None
    voters, later, caught = _begin(look)
    ask_about_counts(look)
    if voters:
        # Who votes is named: nothing else is looked for but what a row is.
        look.how[look.want] = "named"
        look.door = look.door if later else replace(look.door, pivots=False)
    find_structure(look)
    if _is_long(look, voters):
        return _turned(look, later)
    for name in caught:
        if name in look.free:
            look.leave([name], look.facts[name].veto or "")
    if later:
        raise InputError(missing_column(later[0], table.columns, look.source))
    voters = _find_voters(look, voters)
    notes: tuple[str, ...] = ()
    if look.verb != "score" and (look.verb != "compare" or look.truth is not None):
        columns = [*voters, *look.given.prediction, *([look.truth] if look.truth else [])]
        table, notes = one_vocabulary(look, columns)
    return _read(look, table, _with_item(look, look.settled(voters)), notes)


def _of_counts(look: Look, tally: Tally) -> Data:
    """Decide about a table that is counted already."""
    look.door = replace(look.door, pivots=False)
    # A slice or a weight is no vote; where every column has its own labels, none is known apart.
    beside = [name for name in look.free if name in tally.apart]
    if len(beside) < len(look.free):
        look.leave(beside, "counted beside the votes")
    if look.verb == "score" and look.given.system is None:
        find_structure(look)
    voters = _find_voters(look, getattr(look.given, look.want), counted=True)
    return _read(look, tally, look.settled(voters))


def _find_voters(look: Look, voters: tuple[str, ...], *, counted: bool = False) -> tuple[str, ...]:
    """Find truth, prediction and voters where they are not named, and ask about their cells."""
    find_truth(look)
    find_prediction(look)
    voters = voters or find_voters(look)
    if not counted:
        ask_about_sparse(look, voters)
    predictions = look.given.prediction if look.verb == "bound" or counted else ()
    reference = predictions[0] if predictions else None
    if look.verb == "bound" and reference is not None and not look.rules.labels:
        _ask_about_strangers(look, voters, reference)
    look.doubt(voters, reference)
    return voters


def _begin(look: Look) -> tuple[tuple[str, ...], list[str], list[str]]:
    """Write out what the caller named; return the voters, names that may stand in the rows of a
    long table, and the ids, texts and dates that a glob has caught among the voters.
    """
    table, given, later = look.table, look.given, list[str]()
    assert table is not None
    single = dict.fromkeys((c for r, c in given.pairs() if r not in (*GROUPS, "by")), "")
    groups = sorted(GROUPS - {"systems"})
    found: dict[str, Any] = {r: expand(getattr(given, r), table, single, later) for r in groups}
    look.given = replace(given, **found)
    if given.truth is not None and given.truth not in table.columns:
        later.append(given.truth)
        look.given = replace(look.given, truth=None)

    # A named column that the table does not have, or that cannot be used, is refused.
    for column in look.given.columns():
        if column in table.columns and column not in look.facts:
            check_usable(table, column)
    for named in (look.layout.judge, look.layout.vote, given.system):
        if named is not None and named not in table.columns:
            raise InputError(missing_column(named, table.columns, look.source))

    # ``--models agent``, one column of names, says who answered.
    if look.verb == "compare" and len(look.given.models) == 1:
        facts = look.facts[look.given.models[0]]
        if facts.numeric < 0.5 and 2 <= facts.distinct < facts.seen and not facts.is_marks:
            look.given = replace(look.given, models=(), system=facts.name)

    said = {part.strip() for text in getattr(given, look.want) for part in (text, *text.split(","))}
    voters: tuple[str, ...] = getattr(look.given, look.want)
    caught = [name for name in voters if name not in said and _names_rows(look, name)]
    if len(caught) < len(voters):
        voters = tuple(name for name in voters if name not in caught)
        look.given = look.given.with_columns(look.want, voters)
        return voters, later, caught
    return voters, later, []


def _names_rows(look: Look, name: str) -> bool:
    """Say whether a column names or dates rows."""
    facts = look.facts[name]
    unique = facts.is_unique and not facts.is_number
    return facts.counter or facts.times or facts.is_text or unique


def _read(look: Look, held: Table | Tally, roles: Roles, notes: tuple[str, ...] = ()) -> Data:
    """Return what was read; the sample speaks for a table whose rows are as they were."""
    table = held if isinstance(held, Table) else None
    return Data(
        held=held,
        roles=roles,
        rules=look.rules,
        source=look.source,
        notes=notes,
        how=look.how,
        unused=look.unused,
        long=None if table is None else table.long,
        looked=(table, look.sample) if table is not None and table is look.table else None,
    )


def _ask_about_strangers(look: Look, voters: Sequence[str], reference: str) -> None:
    """Ask about weak labels that hold none of the labels of what is bounded."""
    named = look.facts[reference].meant
    for name in voters:
        own = look.facts[name]
        others = [reference, *([look.truth] if look.truth else [])]
        others += [n for n in voters if n != name and look.facts[n].counts]
        labels = frozenset().union(*(look.facts[n].meant for n in others))
        apart = len(named) > 1 and not own.is_constant and not own.meant & named
        if own.is_empty or not (apart or not own.meant & labels):
            continue
        numbers = own.is_number and own.low is not None
        said = f"numbers from {own.low:g} to {own.high:g}" if numbers else "other words"
        raise look.ask(
            look.want,
            f"{name} holds {said}, and no label of {reference}"
            f" ({', '.join(sorted(map(str, look.facts[reference].labels))[:4])}). Write both alike:"
            " weak labels are labels, and a probability is cut at .5 first.",
            candidates=[name],
        )


# Long tables: one row per vote, or one score of one model.


def _is_long(look: Look, voters: Sequence[str]) -> bool:
    """Say whether each row is one vote, or one score of one model."""
    if not look.door.pivots or voters:
        return look.layout.judge is not None
    if look.verb == "compare":
        return (look.column("system") or look.column("judge")) is not None
    return look.column("judge") is not None


def _turned(look: Look, later: Sequence[str]) -> Data:
    """Return a long table with one column per judge (compare: per model)."""
    assert look.table is not None
    compared = look.verb == "compare"
    who = "system" if compared else "judge"
    column = look.layout.judge or look.column(who) or look.column("judge")
    item, system = look.column("item"), look.column("system")
    if column is None or item is None:
        raise InputError(
            f"{look.source} has one row per vote: name the columns of items, judges and votes"
            " (--item, --judge, --vote)"
        )
    find_truth(look)
    vote = find_vote(look)
    look.doubt([vote])
    if compared:
        _ask_about_key(look, item, vote)
    cells = f"cast({identifier(column)} as varchar), count({identifier(vote)})"
    counts = dict(look.table.query(f"select {cells} from rows group by 1"))
    beside = [None if compared else system, look.column("replicate")]
    shape = LongShape(item, column, vote)
    wide, votes = to_wide(look.table, shape, [name for name in beside if name is not None])

    named = [name for name in later if name in votes]
    for name in later:
        if name not in votes:
            raise InputError(missing_column(name, (*look.table.columns, *votes), look.source))
    roles = replace(look.settled(), item=item)
    truth = roles.truth
    if compared:
        roles = replace(roles, system=None)
    elif truth is None:
        single = named[0] if len(named) == 1 and not look.given.judges else None
        truth = single or truth_among(look, votes, counts)
    voters = [name for name in (named if len(named) > 1 else votes) if name != truth]
    truth = truth if truth in wide.columns else None
    roles = replace(roles, truth=truth).with_columns(look.want, voters)
    look.how[look.want] = look.how.pop(who, "named")
    if truth is not None:
        look.how.setdefault("truth", "by name")
    look.unused = {n: why for n, why in look.unused.items() if n in wide.columns}
    # Columns that changed within an item are gone, and so are their roles.
    single_roles = {role: held for role, held in roles.__dict__.items() if role not in GROUPS}
    gone: dict[str, Any] = {
        role: None for role, held in single_roles.items() if held and held not in wide.columns
    }
    return _read(look, wide, replace(roles, **gone))


def _ask_about_key(look: Look, item: str, vote: str) -> None:
    """Leave out the truth where models were right or wrong of it; ask where they may have said what
    it says: a truth of another name, or one beside a score.
    """
    known, sure = look.roles.get("truth"), plain(vote) in ("correct", "is_correct", "passed")
    said, words = look.facts[vote].labels, look.facts[vote].meant - {0, 1}
    if look.given.truth is not None or (known and plain(vote) not in VOTE_TIERS[0]):
        return
    if known is not None and any(isinstance(one, str) for one in words & look.facts[known].meant):
        return
    likely = [n for n in [*look.free, known] if n is not None and said & look.facts[n].labels]
    likely = [n for n in likely if look.is_steady(item, n)] if not sure else []
    z = agreement(look.sample.codes([vote, *likely]))[1][0, 1:]
    found = [n for n, one in zip(likely, z, strict=True) if one >= SURE]
    if found:
        raise look.ask(
            "truth",
            f"{vote} and {found[0]} use the same words. Is {found[0]} the truth that {vote} is held"
            " against?",
            [flag("truth", found[0]), flag("ignore", found[0])],
            found,
        )
    if known is not None:
        look.drop("truth", f"{vote} says what was right")


def _with_item(look: Look, roles: Roles) -> Roles:
    """Return the roles without an item that was found and repeats, where rows are items."""
    found = look.roles.get("item")
    if found is None or look.is_of_systems or look.is_unique(found):
        return roles
    look.leave([found], "repeats: every row counts as an item of its own")
    look.how.pop("item", None)
    return replace(roles, item=None, system=None)


# Words of several pairs for pass and fail that mean one thing: Y beside yes, True beside 1.


def one_vocabulary(look: Look, columns: Sequence[str]) -> tuple[Table, tuple[str, ...]]:
    """Return the table with one word for pass and one for fail, if columns use several."""
    table = look.table
    assert table is not None
    held = {name: look.sample.column(name).unique().drop_null().to_pylist() for name in columns}
    if not held or not all(look.facts[name].is_marks for name in held):
        return table, ()
    meant = [one for words in held.values() for one in words if one_word(one) in (0, 1)]
    # 1 beside 1.0 is no second word: pandas writes a column with blanks in decimals.
    forms = {
        (spelling(one), isinstance(one, bool) or not NUMBER.fullmatch(str(one).strip()))
        for one in meant
    }
    kinds = {type(one) for words in held.values() for one in words}
    if len(forms) == 2 and (len(kinds) == 1 or kinds <= {int, float}):
        return table, ()
    # The truth, which stands last, writes the words that the answer uses.
    last = sorted(held[columns[-1]], key=str, reverse=True)
    chosen = {one_word(one): str(spelling(one)) for one in last if one_word(one) in (0, 1)}
    read = {str(one).strip().lower(): chosen[one_word(one)] for one in meant}
    whens = " ".join(f"when {literal(one)} then {literal(word)}" for one, word in read.items())
    cells = {name: identifier(name) for name in table.columns}
    for name in held:
        text = f"trim(cast({cells[name]} as varchar))"
        cells[name] = f"case lower({text}) {whens} else {text} end as {cells[name]}"
    relation = table.derive(f"select {', '.join(cells.values())} from rows")
    shown = ", ".join(sorted({str(one).strip() for words in held.values() for one in words})[:8])
    note = f"{shown} are words for pass and fail: read as {chosen[1]} and {chosen[0]}"
    gone = {name: why for name, why in table.doubtful.items() if name not in held}
    return replace(table, relation=relation, doubtful=gone), (note,)


# Several columns of truth: their majority.


def majority(
    table: Table, given: Roles, missing: Sequence[str] = ()
) -> tuple[Table, Roles, tuple[str, ...]]:
    """Return the table with the majority of several named truths as one column, and a note.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> people = {"a": [1, 1, 0, None], "b": [1, 0, 0, 1], "c": [0, None, 0, None]}
    >>> table, roles, notes = majority(scan(pa.table(people)), Roles(truth="a,b,c"))
    >>> table.query(f'select "{roles.truth}" from rows'), notes
    ([('1',), (None,), ('0',), ('1',)], ('a, b and c disagree on 2 of 4 rows; their majority is the truth, and a tie is no label',))
    """
    named = given.truth
    if named is None or named in table.columns or "," not in named:
        return table, given, ()
    columns = [part.strip() for part in named.split(",")]
    for column in columns:
        if column not in table.columns:
            raise InputError(missing_column(column, table.columns, table.source))
    cells = ", ".join(
        f"trim(cast({without_missing(name, table.kinds[name], missing)} as varchar))"
        for name in columns
    )
    # The one word that is said most often; of two that are said alike none.
    said = f"[x for x in [{cells}] if x is not null]"
    often = "[len([y for y in v if y = x]) for x in v]"
    most = f"[x for x in list_distinct(v) if len([y for y in v if y = x]) = list_max({often})]"
    label = f"case when len({most}) = 1 then ({most})[1] end"
    shown = ", ".join(map(identifier, table.columns))
    relation = table.derive(
        f"select {shown}, {label} as {identifier(named)} from (select *, {said} as v from rows)"
    )
    joined = replace(table, relation=relation, columns=tuple(relation.columns))
    [(rows, apart)] = table.query(
        "select count(*) filter (len(v) > 0), count(*) filter (len(list_distinct(v)) > 1)"
        f" from (select {said} as v from rows)"
    )
    people = f"{', '.join(columns[:-1])} and {columns[-1]}"
    note = (
        f"{people} disagree on {apart:,} of {rows:,} rows; their majority is the truth, and a tie"
        " is no label"
    )
    gone = {name: f"column {name!r} is part of the truth" for name in columns}
    joined = replace(joined, left_out={**table.left_out, **gone})
    return joined, given, (note,)
