"""Which column has which role where the caller does not say it: four steps, alike in every verb.

Named; by name and content; the only candidate; else ask. docs/reading.md is the contract. What a
row is stands here: item, system, judge and vote of long tables. Who votes, and on which truth, is
in `tallystick.table.reading_voters`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.errors import AskError, InputError
from tallystick.table.cells import Label
from tallystick.table.meaning import LabelRules
from tallystick.table.reading_cells import doubt_cells
from tallystick.table.reading_facts import Facts, Sample, one_word
from tallystick.table.reading_names import (
    ROLE_NAMES,
    VOTE_TIERS,
    is_truth_name,
    plain,
    says_direction,
)
from tallystick.table.roles import GROUPS, Layout, Roles
from tallystick.table.tables import Table
from tallystick.table.words import TIES, as_pass_fail

How: TypeAlias = Literal["named", "by name", "by content", "only candidate"]
"""Where a role comes from: the caller, a list of names, columns that agree, or nothing was left."""

MOST_SYSTEMS = 20
"""Values of a column that is taken for the systems because nothing else can be it."""
MOST_NAMES = 8
"""Columns that a question names."""
_INDEX = re.compile(r"(unnamed(:.*)?|column_?\d+|index|)", re.IGNORECASE)
_ODD_NUMBER = 9
"""A number from here on beside 0 and 1 is a code, and no third label."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the rules need to know of a verb.

    Parameters
    ----------
    verb
        ``score``, ``judge``, ``compare`` or ``bound``: whose rules hold.
    want
        What it calls its voters: judges, models or weak.
    reads
        The roles that it reads.
    long
        Whether a table with one row per vote may be turned.
    truth
        Whether a truth may be found by its name; not where it is in another file.
    collects
        Whether labels are to be collected: then no column need be the truth.
    """

    verb: str
    want: str
    reads: tuple[str, ...] = ()
    long: bool = True
    truth: bool = True
    collects: bool = False


@dataclass(eq=False)
class Look:
    """One table while its columns get their roles.

    Parameters
    ----------
    table, sample, asked
        What is read, the rows that are looked at, and by whom.
    given, layout
        What the caller named, without globs.
    source
        What questions call the table.
    aside
        Columns that the caller leaves out.
    rules
        What the caller said about labels.
    roles, how, unused
        What was found: role to column, where it comes from, and why a column has none.
    """

    table: Table | None
    sample: Sample
    asked: Asked
    given: Roles
    layout: Layout
    source: str
    aside: frozenset[str] = frozenset()
    rules: LabelRules = field(default_factory=LabelRules)
    roles: dict[str, Any] = field(default_factory=dict)
    how: dict[str, How] = field(default_factory=dict)
    unused: dict[str, str] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Facts]:
        """What each column holds."""
        return self.sample.facts

    @property
    def truth(self) -> str | None:
        """The column of the truth, as far as it is known."""
        return self.given.truth or self.roles.get("truth")

    def column(self, role: str) -> str | None:
        """Return the column that a role has by now."""
        named = getattr(self.layout, role) if role in ("judge", "vote") else None
        own = getattr(self.given, role, None) if role not in GROUPS else None
        return named or own or self.roles.get(role)

    def take(self, role: str, column: str, how: How) -> None:
        """Give a role to a column."""
        self.roles[role], self.how[role] = column, how

    def leave(self, columns: Iterable[str], why: str) -> None:
        """Say why columns have no role."""
        for name in columns:
            self.unused.setdefault(name, why)

    @property
    def free(self) -> list[str]:
        """The columns without a role."""
        held = {*self.given.holders(), *self.aside, *self.unused}
        held |= {name for name in (self.layout.judge, self.layout.vote) if name is not None}
        held |= {*self.roles.values()}
        by = self.given.by
        return [name for name in self.facts if name not in held or name == by]

    def is_unique(self, *columns: str | None) -> bool:
        """Say whether no two rows agree in all of *columns*."""
        keys = tuple(dict.fromkeys(name for name in columns if name is not None))
        if not keys or self.table is None:
            return False
        if len(keys) == 1 and self.facts[keys[0]].distinct < self.facts[keys[0]].seen:
            return False
        return not self.table.repeats(*keys)

    def is_steady(self, within: str, column: str) -> bool:
        """Say whether a column says one thing of each value of another."""
        codes = self.sample.codes([within, column])
        known = codes[(codes >= 0).all(axis=1)]
        pairs = len(np.unique(known, axis=0))
        return pairs == len(np.unique(known[:, 0]))

    def are_one(self, a: str, b: str) -> bool:
        """Say whether two columns tell the same rows apart: an id and a name."""
        return self.is_steady(a, b) and self.is_steady(b, a)

    def doubt(self, voters: Sequence[str], reference: str | None = None) -> None:
        """Ask about values of voters or truth that may mean no answer."""
        rules = self.rules
        if len(self.given.systems) == 2:
            # Of two outputs neither may be better, also where people always name one.
            rules = replace(rules, never_true=(*rules.never_true, *sorted(TIES)))
        truths = [name for name in (self.truth, reference) if name is not None]
        doubt_cells(self, voters, truths, rules)


# What a column holds, as the rules see it.


def labels_of(facts: Facts) -> frozenset[Label]:
    """Return the labels of a column; words for pass and fail as 1 and 0."""
    return frozenset(one_word(label) for label in facts.counts)


def is_marks(facts: Facts) -> bool:
    """Say whether a column says pass or fail: mostly words of the list, both sides used.

    0 and 1 are such words; beside them a number is a code only if it is negative or large.
    """
    counts = facts.counts
    if not counts or as_pass_fail([label for label in counts if isinstance(label, str)] or [""]):
        told = as_pass_fail([label for label in counts if isinstance(label, str)] or [""])
        return bool(told) and len({*(told or {}).values()} & {0.0, 1.0}) == 2
    held: dict[Label, int] = {}
    for label, n in counts.items():
        held[one_word(label)] = held.get(one_word(label), 0) + n
    inside = held.get(0, 0) + held.get(1, 0)
    others = [one for one in held if one not in (0, 1)]
    numbers = [one for one in others if isinstance(one, int | float)]
    if any(0 <= one < _ODD_NUMBER for one in numbers) or len(numbers) > 1:
        return False
    return 0 in held and 1 in held and 2 * inside >= facts.seen


def veto(facts: Facts) -> str | None:
    """Return why a column is nobody's votes, whatever it is called; None if it may be."""
    if facts.is_empty:
        return "every cell is blank"
    if facts.is_constant:
        return "the same value everywhere"
    if facts.counter:
        return "counts the rows"
    if facts.times:
        return "dates or times"
    spoken = any(one_word(label) in (0, 1) for label in facts.counts)
    few = facts.rows <= MOST_SYSTEMS and (facts.is_number or spoken)
    if facts.is_unique and not facts.decimals and not few:
        return "a different value in every row"
    if facts.is_text:
        return "text"
    return None


def candidates(look: Look) -> list[str]:
    """Return the columns that may be votes: no role, no veto; the others are left with a reason."""
    found = []
    for name in look.free:
        why = veto(look.facts[name])
        if why is None and look.truth is not None and is_truth_name(name, whole=True):
            why = "named like the truth"
        if why is None:
            found.append(name)
        elif name not in look.given.holders():
            look.leave([name], why)
    return found


def flag(role: str, *columns: str) -> str:
    """Return the option that names columns.

    >>> flag("judges", "gpt", "my judge"), flag("truth", "a,b")
    ("--judges 'gpt,my judge'", '--truth a,b')
    """
    word = f"--{role.replace('_', '-')}"
    if any("," in name for name in columns) and len(columns) > 1:
        return " ".join(f"{word} {quote(name)}" for name in columns)
    return f"{word} {quote(','.join(columns))}"


def names(columns: Sequence[str]) -> str:
    """Return the first columns, and how many more there are, for a question."""
    shown = list(columns[:MOST_NAMES])
    if len(columns) > MOST_NAMES:
        return f"{', '.join(shown)} and {len(columns) - MOST_NAMES:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


# What a row is.


def find_structure(look: Look) -> None:
    """Find item, system, judge, replicate and weights; ask where two columns have the name."""
    _index(look)
    systems = look.asked.verb in ("score", "compare")
    for role in ("system", "judge"):
        if role == "judge" and not look.asked.long:
            continue
        if look.column(role) is None and (role != "system" or not look.given.systems):
            _named_who(look, role)
    _find_item(look)
    _find_replicate(look)
    if look.column("judge") is not None and look.layout.judge is None:
        _drop_idle(look, "judge")
    if look.column("item") is None:
        _only_pair(look)
    elif systems and look.column("system") is None and not look.given.systems:
        _only_system(look, "system")
    elif not systems and look.asked.long and look.column("judge") is None:
        _only_judge(look)
    if look.column("system") is not None and systems:
        _refuse_averages(look)
        if look.column("item") is None:
            _only_item(look)
        if look.column("item") is None:
            _ask_about_judges(look)
    _ask_about_repeats(look)
    _weights(look)


def _index(look: Look) -> None:
    """Take an unnamed first column, as pandas writes its index, for the item if it is unique."""
    name = next(iter(look.facts), "")
    if name in look.free and _INDEX.fullmatch(name.strip()):
        facts = look.facts[name]
        unique = facts.is_unique and not facts.decimals
        if unique and look.column("item") is None and "item" in look.asked.reads:
            named = [
                n for n in look.free if plain(n) in ROLE_NAMES["item"] and _can_be(look, "item", n)
            ]
            if not named and look.column("system") is None:
                look.take("item", name, "by name")
                return
        if facts.is_unique or facts.counter or (facts.is_number and not facts.decimals):
            look.leave([name], "an index without a name")


def _can_be(look: Look, role: str, name: str) -> bool:
    """Say whether what a column holds can play a role."""
    facts = look.facts[name]
    if role == "item":
        return facts.distinct > 2 and facts.filled == facts.rows and not facts.decimals
    if role in ("system", "judge"):
        several = facts.distinct >= 2 and facts.distinct < facts.seen
        named = several and facts.share > 0.5 and not is_marks(facts) and not facts.decimals
        return named and not _holds_labels(look, name)
    return not is_marks(facts) and not facts.is_constant and not facts.is_empty


def _holds_labels(look: Look, name: str) -> bool:
    """Say whether another column uses the same words: nobody is called like a label."""
    own = labels_of(look.facts[name])
    words = {label for label in own if isinstance(label, str)}
    return bool(words) and any(
        2 * len(words & labels_of(look.facts[n])) > len(words)
        for n in look.facts
        if n != name and n not in look.aside
    )


def _named_who(look: Look, role: str) -> None:
    """Take the column with the name of systems or judges; ask if there are two."""
    found = [n for n in look.free if plain(n) in ROLE_NAMES[role] and _can_be(look, role, n)]
    if role == "judge" and look.asked.verb == "compare" and look.column("system") is not None:
        return
    _take_one(look, role, found, "by name", f"which column names the {role}?")


def _take_one(look: Look, role: str, found: Sequence[str], how: How, question: str) -> None:
    """Take the one column of several that can have a role, columns that say the same aside."""
    kept = found[:1]
    kept = [*kept, *(n for n in found[1:] if not any(look.are_one(n, other) for other in kept))]
    if len(kept) > 1:
        raise AskError(
            f"{look.source}: {question} {names(kept)} may.",
            role=role,
            candidates=tuple(kept),
            calls=tuple(flag(role, name) for name in kept),
        )
    if kept:
        look.leave([n for n in found if n not in kept], f"the same as {kept[0]}")
        look.take(role, kept[0], how)


def _find_item(look: Look) -> None:
    """Take the column of items by its name: the one that tells rows apart, else the first."""
    if look.column("item") is not None:
        return
    found = [n for n in look.free if plain(n) in ROLE_NAMES["item"] and _can_be(look, "item", n)]
    if not found:
        return
    beside = (look.column("system"), look.column("judge"), look.given.replicate)
    if any(beside):
        # Beside systems or judges an item has several rows; what differs in each names the row.
        several = [name for name in found if not look.facts[name].is_unique]
        telling = [name for name in several if look.is_unique(name, *beside)]
        found = telling or several or found
    else:
        found = [name for name in found if look.facts[name].is_unique] or found
    look.take("item", found[0], "by name")
    look.leave(
        [n for n in look.free if plain(n) in ROLE_NAMES["item"] and n in found[1:]],
        "names rows too",
    )


def _find_replicate(look: Look) -> None:
    """Take the column that numbers runs, if rows repeat without it."""
    if look.given.replicate is not None:
        return
    found = [n for n in look.free if plain(n) in ROLE_NAMES["replicate"]]
    item, who = look.column("item"), (look.column("system"), look.column("judge"))
    if not found:
        return
    if item is None and any(who):
        likely = _items_beside(look, *who, found[0])
        likely = [n for n in likely if n not in found]
        if len(likely) == 1 and not look.is_unique(likely[0], *who):
            item = likely[0]
            look.take("item", item, "only candidate")
    repeats = item is not None and not look.is_unique(item, *who)
    telling = [name for name in found if repeats and look.is_unique(item, *who, name)]
    if telling and ("replicate" in look.asked.reads or not look.asked.reads):
        look.take("replicate", telling[0], "by name")
    look.leave(
        [
            n
            for n in found
            if n not in telling[:1] and not is_marks(look.facts[n]) and not _holds_labels(look, n)
        ],
        "named like a number of runs",
    )


def _drop_idle(look: Look, role: str) -> None:
    """Leave out a column of judges that no row needs to be unique: it is a fact about rows."""
    column, item = look.roles[role], look.column("item")
    if item is None:
        found = _items_beside(look, column)
        if len(found) == 1 and look.asked.verb != "compare":
            look.take("item", found[0], "only candidate")
            return
    elif not look.is_unique(item, look.column("system")) or not look.asked.long:
        if look.is_unique(item, look.column("system"), column, look.column("replicate")):
            return
        if look.layout.vote is not None or _votes(look, tiers_only=True):
            return
    del look.roles[role], look.how[role]
    look.leave([column], "rows are told apart without it")


def _items_beside(look: Look, *beside: str | None) -> list[str]:
    """Return the columns, one of each kind, that repeat and name rows once together with others."""
    found: list[str] = []
    for name in look.free:
        facts = look.facts[name]
        likely = facts.distinct > 2 and facts.filled == facts.rows and not facts.decimals
        if not likely or facts.is_unique or facts.times or is_marks(facts):
            continue
        if facts.is_number and facts.distinct <= LEAST_ITEMS:
            continue
        if look.is_unique(name, *beside) and not any(look.are_one(name, one) for one in found):
            found.append(name)
    return found


LEAST_ITEMS = 10
"""Different numbers from which a column may name items; fewer are grades."""


def _only_item(look: Look) -> None:
    """Take the one column that names rows together with the system; none where several do."""
    found = _items_beside(
        look, look.column("system"), look.column("judge"), look.column("replicate")
    )
    if len(found) == 1:
        look.take("item", found[0], "only candidate")


def _likely_who(look: Look, name: str) -> bool:
    facts = look.facts[name]
    words = facts.numeric < 0.5 and not facts.times
    return (
        words
        and 2 <= facts.distinct <= MOST_SYSTEMS
        and facts.filled == facts.rows
        and (not is_marks(facts) and not is_truth_name(name, whole=True))
    )


def _only_system(look: Look, role: str) -> None:
    """Where items repeat, take the one column of few words that names rows with them."""
    item = look.column("item")
    assert item is not None
    beside = (look.column("judge"), look.column("replicate"))
    if look.is_unique(item, *beside):
        return
    found = [n for n in look.free if _likely_who(look, n) and look.is_unique(item, n, *beside)]
    _take_one(
        look, role, found, "only candidate", f"{item} repeats. Which column names the {role}?"
    )


def _only_judge(look: Look) -> None:
    """Where items repeat and one column votes, take the one column that names rows with them."""
    item = look.column("item")
    assert item is not None
    if look.is_unique(item, look.column("system"), look.column("replicate")):
        return
    if look.layout.vote is None and len(_votes(look)) != 1:
        return
    _only_system(look, "judge")


def _only_pair(look: Look) -> None:
    """Take the one pair of columns that is a complete grid of items and systems or judges."""
    systems = look.asked.verb in ("score", "compare")
    role = "system" if systems else "judge"
    held = look.column(role)
    if look.table is None or (role == "judge" and not look.asked.long) or look.given.systems:
        return
    if held is not None:
        return
    rows = look.sample.rows
    found = []
    for who in (n for n in look.free if _likely_who(look, n)):
        for item in _items_beside(look, who):
            # The last item of a part of a table may be cut.
            cells = look.facts[who].distinct * look.facts[item].distinct
            complete = 0 <= cells - rows < look.facts[who].distinct
            if item != who and complete and look.facts[item].distinct >= look.facts[who].distinct:
                found.append((item, who))
    if len(found) == 1 and (systems or len(_votes(look, aside=found[0])) == 1):
        look.take("item", found[0][0], "only candidate")
        look.take(role, found[0][1], "only candidate")


def _refuse_averages(look: Look) -> None:
    """Refuse a table with one row per system."""
    system = look.column("system")
    if system is None or system not in look.facts or look.sample.rows < 2:
        return
    facts = look.facts[system]
    if facts.distinct == look.sample.rows:
        raise InputError(
            f"{look.source} has one row per {system}: these are averages. Give one row per output,"
            " since averages do not say how far they are from chance"
        )


def _ask_about_judges(look: Look) -> None:
    """Ask where no column tells the outputs of a system apart, but one does together with another
    that may name judges: each output has a row per vote then, and its label would count as often.
    """
    system = look.column("system")
    if not look.asked.long or look.asked.verb != "score" or look.column("judge") is not None:
        return
    pairs = [
        (item, who)
        for who in (n for n in look.free if _likely_who(look, n))
        for item in _items_beside(look, system, who)
        if item != who
    ]
    if len(pairs) != 1 or not _votes(look, aside=pairs[0]):
        return
    item, who = pairs[0]
    raise AskError(
        f"{look.source}: {system} and {item} repeat, and {who} tells the rows apart. Does it name"
        " the judges, with one row per vote?",
        role="judge",
        candidates=(who,),
        calls=(f"{flag('item', item)} {flag('judge', who)}",),
    )


def _ask_about_repeats(look: Look) -> None:
    """Ask where rows still repeat, and one further column tells them apart."""
    item, system, judge = (look.column(role) for role in ("item", "system", "judge"))
    if item is None or (system is None and judge is None) or look.layout.rows_are_items:
        return
    if look.asked.verb in ("judge", "bound") and judge is None:
        return
    keys = (item, system, judge, look.column("replicate"), look.given.criterion)
    if look.is_unique(*keys):
        return
    found = [
        n
        for n in look.free
        if not look.facts[n].decimals
        and not is_marks(look.facts[n])
        and 2 <= look.facts[n].distinct <= MOST_SYSTEMS
        and look.facts[n].filled == look.facts[n].rows
        and look.is_unique(*keys, n)
    ]
    if len(found) != 1:
        return
    calls: tuple[str, ...] = ()
    if "replicate" in look.asked.reads and look.facts[found[0]].is_number:
        calls = (flag("replicate", found[0]),)
    elif "criterion" in look.asked.reads and not look.facts[found[0]].is_number:
        # A column with the name of votes was written by somebody; one called gpt is the judge.
        who = judge is None and look.asked.long and len(_votes(look, tiers_only=True)) == 1
        calls = (*([flag("judge", found[0])] if who else []), flag("criterion", found[0]))
    beside = " and ".join(name for name in (item, system, judge) if name is not None)
    raise AskError(
        f"{look.source}: {beside} repeat, and {found[0]} tells the rows apart. What does it number?"
        + ("" if calls else " Keep the rows of one value, or put it into the name of the item."),
        role="replicate",
        candidates=tuple(found),
        calls=calls,
    )


def _weights(look: Look) -> None:
    """Take weight, probability and round by their names, where the verb reads them."""
    for role in ("weight", "probability", "round"):
        if getattr(look.given, role) is not None:
            continue
        for name in look.free:
            facts = look.facts[name]
            if plain(name) not in ROLE_NAMES[role] or not _can_be(look, role, name):
                continue
            if not facts.is_number or facts.filled < facts.rows:
                continue
            top = 1.0 if role == "probability" else float("inf")
            if role != "round" and not facts.is_inside(0.0, top):
                continue
            look.leave([name], f"named like a {role}: add {flag(role, name)} to use it")
            break


# The votes of a long table.


def _votes(look: Look, *, aside: Sequence[str] = (), tiers_only: bool = False) -> list[str]:
    """Return the columns that may hold the votes of a long table, the best names alone."""
    item = look.column("item")
    likely = [n for n in _may_vote(look) if n not in aside and not is_truth_name(n)]
    # Numbers may all differ; what is said once of every item is a fact about it.
    if item is not None:
        likely = [n for n in likely if not look.is_steady(item, n)]
    tiers = VOTE_TIERS if look.truth is None else (VOTE_TIERS[0], VOTE_TIERS[2], VOTE_TIERS[1])
    for tier in tiers:
        named = [n for n in likely if plain(n) in tier]
        if named:
            return named
    if tiers_only:
        return []
    return [n for n in likely if look.facts[n].is_number or is_marks(look.facts[n])] or [
        n for n in likely if 2 <= look.facts[n].distinct <= MOST_SYSTEMS
    ]


def _may_vote(look: Look) -> list[str]:
    """Return the columns that may be the votes of a long table, without noting why others are not.

    Numbers may all differ, and a column with the name of votes may say one thing everywhere.
    """
    found = []
    for name in look.free:
        facts = look.facts[name]
        why = veto(facts)
        whole = why == "a different value in every row" and facts.is_number
        steady = why == "the same value everywhere" and plain(name) in _ANY_VOTE
        if why is None or whole or steady:
            found.append(name)
    return found


_ANY_VOTE = frozenset(name for tier in VOTE_TIERS for name in tier)


def find_vote(look: Look) -> str:
    """Return the column of votes of a long table, or ask."""
    if look.layout.vote is not None:
        return look.layout.vote
    found = _votes(look)
    if len(found) == 1:
        name = found[0]
        known = plain(name) in _ANY_VOTE
        facts = look.facts[name]
        told = as_pass_fail([one for one in facts.labels if isinstance(one, str)] or ["?"])
        unclear = look.asked.verb == "compare" and not known and not says_direction(name)
        if unclear and told is None and look.truth is None and (facts.is_number):
            raise AskError(
                f"{look.source}: is more {name} better, or less?",
                role="vote",
                candidates=(name,),
                calls=(
                    f"{flag('vote', name)} --higher-is-better",
                    f"{flag('vote', name)} --lower-is-better",
                ),
            )
        look.take("vote", name, "by name" if known else "only candidate")
        return name
    if not found:
        raise InputError(
            f"{look.source}: no column holds votes or scores that differ within"
            f" {look.column('item')}:"
            " name it (--vote)"
        )
    raise AskError(
        f"{look.source}: which column holds the votes? {names(found)} may.",
        role="vote",
        candidates=tuple(found),
        calls=tuple(flag("vote", name) for name in found[:2]),
    )


def settled(look: Look, voters: Sequence[str] = ()) -> Roles:
    """Return the roles that the caller named and those that were found."""
    single = {
        role: column
        for role, column in look.roles.items()
        if role in look.given.__dict__ and role not in GROUPS
    }
    roles = replace(look.given, **single)
    return roles.with_columns(look.asked.want, voters) if voters else roles
