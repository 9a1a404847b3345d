"""From a table and what the caller named to a table in the shape of a verb, with all its roles."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tallystick.errors import AskError, InputError
from tallystick.table.cells import NUMBER, identifier, literal, spelling, without_missing
from tallystick.table.long_tables import LongShape, to_wide
from tallystick.table.meaning import LabelRules
from tallystick.table.reading_cells import UNREAD
from tallystick.table.reading_facts import (
    SURE,
    Facts,
    Sample,
    agreement,
    draw,
    draw_counts,
    one_word,
)
from tallystick.table.reading_names import VOTE_TIERS, plain
from tallystick.table.reading_rules import (
    Asked,
    How,
    Look,
    find_structure,
    find_vote,
    flag,
    is_marks,
    labels_of,
    settled,
    veto,
)
from tallystick.table.reading_voters import (
    ask_about_sparse,
    find_prediction,
    find_truth,
    find_voters,
    truth_among,
)
from tallystick.table.roles import GROUPS, Layout, Roles, check_usable, expand
from tallystick.table.sources import missing_column
from tallystick.table.tables import Table
from tallystick.table.tally import Tally


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A table in the shape of its verb.

    Parameters
    ----------
    table
        One row per item, or per output: a long table has been turned.
    roles
        All roles, the voters included.
    how, unused
        Where each role comes from, and why each other column has none.
    notes
        What was done to the rows.
    sample
        What was looked at, where the rows are as they were.
    """

    table: Table
    roles: Roles
    how: Mapping[str, How] = field(default_factory=dict)
    unused: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sample: Sample | None = None


def decide(table: Table, asked: Asked, given: Roles, layout: Layout, rules: LabelRules) -> Decided:
    """Give every column its role, or ask.

    Parameters
    ----------
    table
        What was read; several columns of truth are one by now (`majority`).
    asked
        The verb.
    given, layout
        What the caller named.
    rules
        What the caller said about labels.
    """
    look, later, globbed = _begun(table, asked, given, layout, rules)
    caught = _caught(look, globbed)
    voters = tuple(n for n in getattr(look.given, asked.want) if n not in caught)
    look.given = look.given.with_columns(asked.want, voters)
    if layout.shape == "wide" or (voters and not later):
        look.asked = replace(asked, long=False)
    if voters:
        # Who votes is named: nothing else is looked for but what a row is.
        look.how[asked.want] = "named"
    find_structure(look)
    if _is_long(look, voters):
        return _turned(look, later)
    for name in caught:
        if name in look.free:
            look.leave([name], caught[name])
    find_truth(look)
    find_prediction(look)
    if not voters:
        if later:
            raise InputError(missing_column(later[0], table.columns, table.source))
        voters = find_voters(look)
    ask_about_sparse(look, voters)
    predictions = look.given.prediction
    reference = predictions[0] if predictions and asked.verb == "bound" else None
    _ask_about_strangers(look, voters, reference)
    look.doubt(voters, reference)
    columns = [*voters, *predictions, *([look.truth] if look.truth else [])]
    if asked.verb != "score" and (asked.verb != "compare" or look.truth is not None):
        table, notes = one_vocabulary(look, columns)
    else:
        notes = ()
    return Decided(
        table=table,
        notes=notes,
        sample=None if notes else look.sample,
        roles=_with_item(look, settled(look, voters)),
        how=look.how,
        unused=look.unused,
    )


def decide_counts(
    tally: Tally, asked: Asked, given: Roles, layout: Layout, rules: LabelRules, source: str
) -> tuple[Roles, Mapping[str, How], Mapping[str, str]]:
    """Return roles, how and unused of a table that is counted already."""
    look = Look(
        table=None,
        sample=draw_counts(tally, _silent(rules, asked)),
        rules=rules,
        asked=replace(asked, long=False),
        given=given,
        layout=layout,
        source=source,
        aside=_aside(tally.names, layout),
    )
    # A slice or a weight is no vote; where every column has its own labels, none is known apart.
    beside = [name for name in look.free if name in tally.apart]
    if len(beside) < len(look.free):
        look.leave(beside, "counted beside the votes")
    if asked.verb == "score" and given.system is None:
        find_structure(look)
    find_truth(look)
    find_prediction(look)
    voters = getattr(given, asked.want) or find_voters(look)
    reference = look.given.prediction[0] if look.given.prediction else None
    _ask_about_strangers(look, voters, reference if asked.verb == "bound" else None)
    look.doubt(voters, reference)
    return settled(look, voters), look.how, look.unused


def is_long(glance: Table, asked: Asked, given: Roles, layout: Layout, rules: LabelRules) -> bool:
    """Say whether each row of a frame is one vote, by some of its rows."""
    look, later, _ = _begun(glance, asked, given, layout, rules)
    voters = getattr(look.given, asked.want)
    if layout.shape == "wide" or (voters and not later):
        return False
    find_structure(look)
    return _is_long(look, voters)


def _begun(
    table: Table, asked: Asked, given: Roles, layout: Layout, rules: LabelRules
) -> tuple[Look, tuple[str, ...], frozenset[str]]:
    """Return a table before anything is decided, names that are not its columns, and what globs
    have caught.
    """
    known, later, globbed = _split(table, given)
    look = Look(
        table=table,
        sample=draw(table, missing=_silent(rules, asked)),
        rules=rules,
        asked=asked,
        given=known,
        layout=layout,
        source=table.source,
        aside=_aside(table.columns, layout),
    )
    _check_named(look)
    _one_column_of_models(look)
    return look, later, globbed


def _aside(columns: Sequence[str], layout: Layout) -> frozenset[str]:
    """Return the columns that the caller leaves out."""
    left = [part.strip() for piece in layout.ignore for part in piece.split(",")]
    return frozenset(n for n in columns if any(fnmatch.fnmatchcase(n, one) for one in left))


def _ask_about_strangers(look: Look, voters: Sequence[str], reference: str | None) -> None:
    """Ask about weak labels that hold none of the labels of what is bounded."""
    if reference is None or look.rules.labels:
        return
    beside = [reference, *([look.truth] if look.truth else [])]
    for name in voters:
        own = look.facts[name]
        others = [*beside, *(n for n in voters if n != name and look.facts[n].counts)]
        labels = frozenset().union(*(labels_of(look.facts[n]) for n in others))
        named = labels_of(look.facts[reference])
        apart = len(named) > 1 and not own.is_constant and not labels_of(own) & named
        if own.is_empty or not (apart or not labels_of(own) & labels):
            continue
        numbers = own.is_number and own.low is not None
        said = f"numbers from {own.low:g} to {own.high:g}" if numbers else "other words"
        raise AskError(
            f"{look.source}: {name} holds {said}, and no label of {reference}"
            f" ({', '.join(sorted(map(str, look.facts[reference].labels))[:4])}). Write both alike:"
            " weak labels are labels, and a probability is cut at .5 first.",
            role=look.asked.want,
            candidates=(name,),
        )


def _one_column_of_models(look: Look) -> None:
    """Read ``--models agent``, one column of names, as the column that says who answered."""
    if look.asked.verb != "compare" or len(look.given.models) != 1:
        return
    [name] = look.given.models
    facts = look.facts[name]
    if facts.numeric < 0.5 and 2 <= facts.distinct < facts.seen and not is_marks(facts):
        look.given = replace(look.given, models=(), system=name)


def _silent(rules: LabelRules, asked: Asked) -> tuple[str, ...]:
    """Return the tokens that are no label of a column: for no answer, and models' wrong ones."""
    never = map(str, rules.never_true) if asked.want == "models" else ()
    return (*rules.missing, *never, UNREAD)


def _split(table: Table, given: Roles) -> tuple[Roles, tuple[str, ...], frozenset[str]]:
    """Return the named roles with globs expanded, names that may stand in the rows of a long
    table, and what globs have caught.
    """
    groups = sorted(GROUPS - {"systems"})
    single = [getattr(given, role) for role in given.__dict__ if role not in (*GROUPS, "by")]
    later: list[str] = []
    expanded: dict[str, Any] = {
        role: expand(getattr(given, role), table, dict.fromkeys(filter(None, single), ""), later)
        for role in groups
    }
    said = {
        text for role in groups for pattern in getattr(given, role) for text in _pieces(pattern)
    }
    globbed = {name for role in groups for name in expanded[role]} - said
    known = replace(given, **expanded)
    if known.truth is not None and known.truth not in table.columns:
        later.append(known.truth)
        known = replace(known, truth=None)
    return known, tuple(later), frozenset(globbed)


def _caught(look: Look, globbed: frozenset[str]) -> dict[str, str]:
    """Return the ids, texts and dates among the voters that a glob caught, and what they are."""
    voters: tuple[str, ...] = getattr(look.given, look.asked.want)
    caught = {n: why for n in voters if n in globbed and (why := _is_key(look.facts[n]))}
    return caught if len(caught) < len(voters) else {}


def _is_key(facts: Facts) -> str | None:
    """Return why a column names or dates rows, None if it may vote."""
    return (
        veto(facts)
        if facts.counter
        or facts.times
        or facts.is_text
        or (facts.is_unique and not facts.is_number)
        else None
    )


def _pieces(pattern: str) -> tuple[str, ...]:
    return pattern, *(piece.strip() for piece in pattern.split(","))


def _check_named(look: Look) -> None:
    """Refuse a named column that the table does not have, or that cannot be used."""
    assert look.table is not None
    for column in look.given.columns():
        if column in look.table.columns and column not in look.facts:
            check_usable(look.table, column)
    for named in (look.layout.judge, look.layout.vote, look.given.item, look.given.system):
        if named is not None and named not in look.table.columns:
            raise InputError(missing_column(named, look.table.columns, look.source))


def _is_long(look: Look, voters: Sequence[str]) -> bool:
    """Say whether each row is one vote, or one score of one model."""
    if not look.asked.long or voters:
        return look.layout.judge is not None or look.layout.shape == "long"
    if look.asked.verb == "compare":
        return (look.column("system") or look.column("judge")) is not None
    return look.column("judge") is not None or look.layout.shape == "long"


def _turned(look: Look, later: Sequence[str]) -> Decided:
    """Return a long table with one column per judge (compare: per model)."""
    assert look.table is not None
    who = "system" if look.asked.verb == "compare" else "judge"
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
    truth = look.roles.get("truth")
    right = plain(vote) in VOTE_TIERS[0] and not _are_answers(look, vote)
    if truth is not None and look.asked.verb == "compare" and right:
        # Whether an answer was right has been said: the truth is what it was held against.
        del look.roles["truth"], look.how["truth"]
        look.leave([truth], f"{vote} says what was right")
    _ask_about_key(look, item, vote)
    beside = [
        name
        for name in (system if who == "judge" else None, look.column("replicate"))
        if name is not None
    ]
    counts = dict(
        look.table.query(
            f"select cast({identifier(column)} as varchar), count({identifier(vote)}) from rows"
            " group by 1"
        )
    )
    wide, votes = to_wide(look.table, LongShape(item, column, vote), beside)

    named = [name for name in later if name in votes]
    for name in later:
        if name not in votes:
            raise InputError(missing_column(name, (*look.table.columns, *votes), look.source))
    roles = replace(settled(look), item=item)
    if look.asked.verb == "compare":
        roles = replace(roles, system=None)
    truth = roles.truth
    if truth is None and look.asked.verb != "compare":
        single = [name for name in named if len(named) == 1] if not look.given.judges else []
        truth = next(iter(single), None) or truth_among(look, votes, counts)
    voters = [name for name in (named if len(named) > 1 else votes) if name != truth]
    if truth is not None and truth not in wide.columns:
        truth = None
    roles = replace(roles, truth=truth).with_columns(look.asked.want, voters)
    how = dict(look.how)
    how[look.asked.want] = how.pop(who, "named")
    if truth is not None:
        how.setdefault("truth", "by name")
    gone = {n: w for n, w in look.unused.items() if n in wide.columns}
    return Decided(table=wide, roles=_kept(roles, wide), how=how, unused=gone)


def _are_answers(look: Look, vote: str) -> bool:
    """Say whether votes are words of the truth, whatever their column is called."""
    said = {one for one in labels_of(look.facts[vote]) if isinstance(one, str)}
    return look.truth in look.facts and bool(said & labels_of(look.facts[str(look.truth)]))


def _ask_about_key(look: Look, item: str, vote: str) -> None:
    """Ask whether models said pass and fail of a truth of another name, or passed and failed."""
    if look.asked.verb != "compare" or look.truth is not None or plain(vote) in _MARKED:
        return
    said = look.facts[vote].labels
    likely = [n for n in look.free if said & look.facts[n].labels and look.is_steady(item, n)]
    z = agreement(look.sample.codes([vote, *likely]))[1][0, 1:]
    found = [n for n, one in zip(likely, z, strict=True) if one >= SURE]
    if found:
        raise AskError(
            f"{look.source}: {vote} and {found[0]} use the same words. Is {found[0]} the truth that"
            f" {vote} is held against?",
            role="truth",
            candidates=tuple(found),
            calls=(flag("truth", found[0]), flag("ignore", found[0])),
        )


_MARKED = ("correct", "is_correct", "passed")
"""Names by which votes have been held against their truth."""


def _kept(roles: Roles, table: Table) -> Roles:
    """Return the roles whose columns are still there after a table was turned."""
    gone: dict[str, Any] = {
        role: None
        for role, column in roles.__dict__.items()
        if role not in GROUPS and column is not None and column not in table.columns
    }
    return replace(roles, **gone)


def _with_item(look: Look, roles: Roles) -> Roles:
    """Return the roles without an item that was found and repeats, where rows are items."""
    found = look.roles.get("item")
    if found is None or look.asked.verb in ("score", "compare") or look.is_unique(found):
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
    if not held or not all(is_marks(look.facts[name]) for name in held):
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
    cells = [
        f"trim(cast({without_missing(name, table.kinds[name], missing)} as varchar))"
        for name in columns
    ]
    keys = ", ".join(f"{cell} as v{k}" for k, cell in enumerate(cells))
    count = " + ".join(f"coalesce((v{{k}} = v{j})::int, 0)" for j in range(len(cells)))
    counts = ", ".join(f"({count.format(k=k)}) as c{k}" for k in range(len(cells)))
    most = f"greatest({', '.join(f'c{k}' for k in range(len(cells)))})"
    winners = ", ".join(f"case when c{k} = {most} then v{k} end" for k in range(len(cells)))
    drawn = f"list_distinct([{winners}])"
    label = f"case when len({drawn}) = 1 then {drawn}[1] end"
    shown = ", ".join(map(identifier, table.columns))
    relation = table.derive(
        f"select {shown}, {label} as {identifier(named)} from"
        f" (select *, {counts} from (select *, {keys} from rows))"
    )
    joined = replace(table, relation=relation, columns=tuple(relation.columns))
    said = f"len(list_distinct([{', '.join(cells)}]))"
    [(rows, apart)] = table.query(
        f"select count(*) filter ({said} > 0), count(*) filter ({said} > 1) from rows"
    )
    people = f"{', '.join(columns[:-1])} and {columns[-1]}"
    note = (
        f"{people} disagree on {apart:,} of {rows:,} rows; their majority is the truth, and a tie"
        " is no label"
    )
    gone = {name: f"column {name!r} is part of the truth" for name in columns}
    joined = replace(joined, left_out={**table.left_out, **gone})
    return joined, given, (note,)
