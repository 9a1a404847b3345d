"""Which column has which role where the caller does not say it: four steps, alike in every verb.

Named; by name and content; the only candidate; else ask. docs/how-to/reading.md is the contract.
What a row is stands here: item, system, judge and vote of long tables. Who votes, and on which
truth, is in `tallystick.table.reading_voters`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.errors import AskError, InputError
from tallystick.table.meaning import LabelRules
from tallystick.table.reading_cells import doubt_cells
from tallystick.table.reading_facts import CONSTANT, MOST_SYSTEMS, UNIQUE, Facts, Sample
from tallystick.table.reading_names import (
    COUNT_NAMES,
    ROLE_NAMES,
    ROW_NAMES,
    VOTE_NAMES,
    VOTE_TIERS,
    is_truth_name,
    plain,
    says_direction,
)
from tallystick.table.roles import Layout, Roles
from tallystick.table.tables import Table
from tallystick.table.words import TIES, as_pass_fail

How: TypeAlias = Literal["named", "by name", "by content", "only candidate"]
"""Where a role comes from: the caller, a list of names, columns that agree, or nothing was left."""

MOST_NAMES = 8
"""Columns that a question names."""
LEAST_ITEMS = 10
"""Different numbers from which a column may name items; fewer are grades."""
_FEW = 5
"""Rows up to which counts may all differ by accident."""
_INDEX = re.compile(r"(unnamed(:.*)?|column_?\d+|index|)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Door:
    """What a verb needs of the reading.

    Parameters
    ----------
    verb
        Whose rules of reading hold: score, judge, compare or bound; without one nothing is guessed.
    want
        The group of columns to find where the caller names none: judges, models, weak, or nothing.
    reads
        The roles that the verb reads.
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
    truth
        Whether a truth may be found by its name; not where it is in another file.
    collects
        Whether labels are to be collected: then no column need be the truth.
    """

    verb: str = ""
    want: str | None = None
    reads: tuple[str, ...] = ()
    pivots: bool = True
    repeats: bool = False
    named: tuple[str, ...] = ()
    outputs: bool = False
    runs: bool = False
    as_it_is: Callable[[Table, Roles], bool] | None = None
    truth: bool = True
    collects: bool = False


@dataclass(eq=False, kw_only=True)
class Look:
    """One table while its columns get their roles.

    Parameters
    ----------
    table, sample, door
        What is read (None: counts), the rows that are looked at, and for whom.
    given, layout, rules
        What the caller named, without globs, and said about labels.
    source
        What questions call the table.
    aside
        Columns that the caller leaves out.
    roles, how, unused
        What was found: role to column, where it comes from, and why a column has none.
    """

    table: Table | None
    sample: Sample
    door: Door
    given: Roles
    layout: Layout
    rules: LabelRules
    source: str
    aside: frozenset[str] = frozenset()
    roles: dict[str, str] = field(default_factory=dict)
    how: dict[str, How] = field(default_factory=dict)
    unused: dict[str, str] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Facts]:
        """What each column holds."""
        return self.sample.facts

    @property
    def verb(self) -> str:
        """Whose rules hold."""
        return self.door.verb

    @property
    def want(self) -> str:
        """What the verb calls its voters."""
        return self.door.want or "judges"

    @property
    def truth(self) -> str | None:
        """The column of the truth, as far as it is known."""
        return self.given.truth or self.roles.get("truth")

    @property
    def is_of_systems(self) -> bool:
        """Whether the verb tells systems apart, and not judges."""
        return self.verb in ("score", "compare")

    @property
    def free(self) -> list[str]:
        """The columns without a role."""
        held = {*self.given.holders(), *self.aside, *self.unused, *self.roles.values()}
        held |= {self.layout.judge or "", self.layout.vote or ""} - {""}
        return [name for name in self.facts if name not in held or name == self.given.by]

    def column(self, role: str) -> str | None:
        """Return the column that a role has by now."""
        named = getattr(self.layout if role in ("judge", "vote") else self.given, role, None)
        return named or self.roles.get(role)

    def take(self, role: str, column: str, how: How) -> None:
        """Give a role to a column."""
        self.roles[role], self.how[role] = column, how

    def drop(self, role: str, why: str) -> None:
        """Take a role away again, and say why."""
        self.leave([self.roles.pop(role)], why)
        del self.how[role]

    def leave(self, columns: Iterable[str], why: str) -> None:
        """Say why columns have no role."""
        for name in columns:
            self.unused.setdefault(name, why)

    def ask(
        self, role: str, text: str, calls: Iterable[str] = (), candidates: Sequence[str] = ()
    ) -> AskError:
        """Return a question about this table, and the options that answer it, likelier first."""
        return AskError(
            f"{self.source}: {text}", role=role, candidates=tuple(candidates), calls=tuple(calls)
        )

    def called(self, role: str) -> list[str]:
        """Return the free columns that have a name of the role and can play it."""
        return [n for n in self.free if plain(n) in ROLE_NAMES[role] and _can_be(self, role, n)]

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
        return len(np.unique(known, axis=0)) == len(np.unique(known[:, 0]))

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

    def candidates(self) -> list[str]:
        """Return the columns that may vote: no role, no veto; others are left with a reason."""
        found = []
        for name in self.free:
            why = self.facts[name].veto
            if self.truth is not None and is_truth_name(name, whole=True):
                why = why or "named like the truth"
            if why is None:
                found.append(name)
            elif name != self.given.by:
                self.leave([name], why)
        return found

    def settled(self, voters: Sequence[str] = ()) -> Roles:
        """Return the roles that the caller named and those that were found."""
        single: dict[str, Any] = {
            role: column for role, column in self.roles.items() if role in self.given.__dict__
        }
        roles = replace(self.given, **single)
        return roles.with_columns(self.want, voters) if voters else roles


def flag(role: str, *columns: str) -> str:
    """Return the option that names columns.

    >>> flag("judges", "gpt", "my judge"), flag("truth", "a,b")
    ("--judges 'gpt,my judge'", '--truth a,b')
    """
    word = f"--{role.replace('_', '-')}"
    if any("," in name for name in columns) and len(columns) > 1:
        return " ".join(f"{word} {quote(name)}" for name in columns)
    return f"{word} {quote(','.join(columns))}"


def names(columns: Sequence[str], verb: str = "") -> str:
    """Return the first columns, and how many more there are, for a question.

    *verb* follows in the singular or plural: ``gpt and claude say``.
    """
    shown = list(columns[:MOST_NAMES])
    if len(columns) > MOST_NAMES:
        text = f"{', '.join(shown)} and {len(columns) - MOST_NAMES:,} more"
    else:
        text = " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
    if not verb:
        return text
    one, several = {"be": ("is", "are")}.get(verb, (f"{verb}s", verb))
    return f"{text} {several if len(columns) > 1 else one}"


# What a row is.


def find_structure(look: Look) -> None:
    """Find item, system, judge and replicate; ask where two columns have the name."""
    _index(look)
    for role in ("system", "judge"):
        _who_by_name(look, role)
    _item_by_name(look)
    _replicate_by_name(look)
    if "judge" in look.roles:
        _drop_idle_judge(look)
    _only_who(look)
    if look.column("system") is not None and look.is_of_systems:
        facts = look.facts[look.column("system") or ""]
        if facts.distinct == look.sample.rows > 1:
            raise InputError(
                f"{look.source} has one row per {facts.name}: these are averages. Give one row per"
                " output, since averages do not say how far they are from chance"
            )
        if look.column("item") is None:
            _only_item(look)
    _ask_about_repeats(look)


def ask_about_counts(look: Look) -> None:
    """Ask about a column that is named like a count: it could say how many rows a row stands for.

    Numbers up to 1 change nothing, or are votes; numbers that all differ are those of rows.
    """
    if look.given.count is not None or look.given.weight is not None:
        return
    for name in look.free:
        facts = look.facts[name]
        whole = facts.is_inside(0, np.inf) and not facts.decimals and facts.filled == facts.rows
        of_rows = facts.is_unique and facts.rows > _FEW
        if plain(name) in COUNT_NAMES and whole and (facts.high or 0) > 1 and not of_rows:
            raise look.ask(
                "count",
                f"does {name} say how many identical rows a row stands for, or is it a sampling"
                " weight? Add --ignore if it is neither.",
                [flag("count", name), flag("weight", name)],
                ("count", "weight"),
            )


def _beside(look: Look) -> tuple[str | None, ...]:
    """Return the columns beside which an item has several rows."""
    return (look.column("system"), look.column("judge"), look.column("replicate"))


def _index(look: Look) -> None:
    """Take an unnamed first column, as pandas writes its index, for the item if it is unique."""
    name = next(iter(look.facts), "")
    if name not in look.free or not _INDEX.fullmatch(name.strip()):
        return
    facts = look.facts[name]
    wanted = look.column("item") is None and "item" in look.door.reads
    known = look.called("item") or look.called("system")
    # Rows of a complete grid are named by the two columns that make it.
    if facts.is_unique and not facts.decimals and wanted and not known and not _has_grid(look):
        look.take("item", name, "by name")
    elif facts.is_unique or facts.counter or (facts.is_number and not facts.decimals):
        look.leave([name], "an index without a name")


def _can_be(look: Look, role: str, name: str) -> bool:
    """Say whether what a column holds can play a role."""
    facts = look.facts[name]
    if role == "item":
        return facts.distinct > 2 and facts.filled == facts.rows and not facts.decimals
    if role in ("system", "judge"):
        several = 2 <= facts.distinct < facts.seen and facts.share > 0.5
        named = several and not facts.is_marks and not facts.decimals
        return named and not _holds_labels(look, name)
    return not facts.is_marks and facts.distinct > 1


def _holds_labels(look: Look, name: str) -> bool:
    """Say whether another column uses the same words: nobody is called like a label."""
    words = {label for label in look.facts[name].meant if isinstance(label, str)}
    return bool(words) and any(
        2 * len(words & other.meant) > len(words)
        for n, other in look.facts.items()
        if n != name and n not in look.aside
    )


def _who_by_name(look: Look, role: str) -> None:
    """Take the column with the name of systems or judges; ask if there are two."""
    if look.column(role) is not None or (role == "system" and look.given.systems):
        return
    beside = look.verb == "compare" and look.column("system") is not None
    if role == "system" or (look.door.pivots and not beside):
        _take_one(look, role, look.called(role), "by name")


def _take_one(look: Look, role: str, found: Sequence[str], how: How) -> None:
    """Take the one column of several that can have a role, columns that say the same aside."""
    kept: list[str] = []
    for name in found:
        if any(look.are_one(name, other) for other in kept):
            look.leave([name], f"the same as {kept[0]}")
        else:
            kept.append(name)
    if len(kept) > 1:
        calls = [flag(role, name) for name in kept]
        raise look.ask(role, f"which column names the {role}? {names(kept)} may.", calls, kept)
    if kept:
        look.take(role, kept[0], how)


def _item_by_name(look: Look) -> None:
    """Take the column of items by its name: the one that tells rows apart, else the first."""
    if look.column("item") is not None or not (found := look.called("item")):
        return
    beside = _beside(look)
    # An id of each row of a complete grid numbers the rows: its two columns say what they are.
    ids = [n for n in found if plain(n) in ROW_NAMES and look.facts[n].is_unique]
    if ids and look.is_of_systems and _has_grid(look):
        look.leave(ids, "numbers the rows")
        found = [n for n in found if n not in ids]
        if not found:
            return
    # Beside systems or judges an item has several rows; what differs in each names the row.
    several = [n for n in found if any(beside) and not look.facts[n].is_unique]
    likely = [n for n in several or found if look.is_unique(n, *beside)] or several or found
    look.take("item", likely[0], "by name")
    look.leave(likely[1:], "names rows too")


def _replicate_by_name(look: Look) -> None:
    """Take the column that numbers runs, if rows repeat without it."""
    found = [n for n in look.free if plain(n) in ROLE_NAMES["replicate"]]
    item, who = look.column("item"), (look.column("system"), look.column("judge"))
    if look.given.replicate is not None or not found:
        return
    if item is not None and not look.is_unique(item, *who):
        telling = [name for name in found if look.is_unique(item, *who, name)][:1]
        if telling and ("replicate" in look.door.reads or not look.door.reads):
            look.take("replicate", telling[0], "by name")
    rest = [n for n in look.free if n in found]
    votes = [n for n in rest if look.facts[n].is_marks or _holds_labels(look, n)]
    look.leave([n for n in rest if n not in votes], "named like a number of runs")


def _drop_idle_judge(look: Look) -> None:
    """Leave out a column of judges that no row needs to be unique: it is a fact about rows."""
    column, item, system = look.roles["judge"], look.column("item"), look.column("system")
    if item is None and look.verb != "compare":
        found = _items_beside(look, column)
        if len(found) == 1:
            look.take("item", found[0], "only candidate")
            return
    elif item is not None and not look.is_unique(item, system):
        needed = look.is_unique(item, system, column, look.column("replicate"))
        if needed or look.layout.vote is not None or _votes(look, tiers_only=True):
            return
    look.drop("judge", "rows are told apart without it")


def _items_beside(look: Look, *beside: str | None) -> list[str]:
    """Return the columns, one of each kind, that repeat and name rows once together with others."""
    found: list[str] = []
    for name in look.free:
        facts = look.facts[name]
        if not _can_be(look, "item", name) or facts.is_unique or facts.times or facts.is_marks:
            continue
        if facts.is_number and facts.distinct <= LEAST_ITEMS:
            continue
        if look.is_unique(name, *beside) and not any(look.are_one(name, one) for one in found):
            found.append(name)
    return found


def _likely_who(look: Look) -> list[str]:
    """Return the columns of few words, filled everywhere, which may name systems or judges."""
    return [
        name
        for name in look.free
        if 2 <= (facts := look.facts[name]).distinct <= MOST_SYSTEMS
        and facts.numeric < 0.5
        and facts.filled == facts.rows
        and not (facts.times or facts.is_marks or is_truth_name(name, whole=True))
    ]


def _only_who(look: Look) -> None:
    """Take the one column of few words that names rows together with the item; without an item the
    one pair of columns that is a complete grid.
    """
    role, item = "system" if look.is_of_systems else "judge", look.column("item")
    if look.table is None or look.given.systems or look.column(role) is not None:
        return
    if role == "judge" and not look.door.pivots:
        return
    if item is not None:
        if not look.is_unique(item, *_beside(look)):
            found = [n for n in _likely_who(look) if look.is_unique(item, n, *_beside(look))]
            if role == "system" or look.layout.vote or _one_votes(look, item, found):
                _take_one(look, role, found, "only candidate")
        return
    pairs = [(item, who) for item, who in _pairs(look) if _is_grid(look, item, who)]
    if len(pairs) == 1 and (role == "system" or _one_votes(look, pairs[0][0], pairs[0][1:])):
        look.take("item", pairs[0][0], "only candidate")
        look.take(role, pairs[0][1], "only candidate")


def _one_votes(look: Look, item: str, who: Sequence[str]) -> bool:
    """Say whether one column votes, of as many judges as *who* names; ask where numbers beside it
    say that it may be one judge of outputs.
    """
    votes = _votes(look, aside=() if look.column("item") else (item, *who))
    marks = [n for n in votes if look.facts[n].is_marks]
    if len(votes) > 1 and len(marks) == len(who) == 1:
        named = "" if look.column("item") else f"{flag('item', item)} "
        raise look.ask(
            "judge",
            f"{item} repeats, and {who[0]} tells the rows apart. Does it name the judges, with one"
            " row per vote?",
            [f"{named}{flag('judge', *who)} {flag('vote', *marks)}", flag(look.want, *marks)],
            who,
        )
    return len(votes) == 1


def _pairs(look: Look, *beside: str | None) -> Iterator[tuple[str, str]]:
    """Yield each column of items with one of few words beside which it names rows once."""
    for who in _likely_who(look):
        yield from ((item, who) for item in _items_beside(look, who, *beside) if item != who)


def _is_grid(look: Look, item: str, who: str) -> bool:
    """Say whether each of *who* has each item; the last item of a part of a table may be cut."""
    several, items = look.facts[who].distinct, look.facts[item].distinct
    return items >= several and 0 <= several * items - look.sample.rows < several


def _has_grid(look: Look) -> bool:
    """Say whether two columns make a complete grid: the known one of systems and one of items, or
    any two.
    """
    system = look.column("system")
    if system is not None:
        return any(_is_grid(look, item, system) for item in _items_beside(look, system))
    return any(_is_grid(look, item, who) for item, who in _pairs(look))


def _only_item(look: Look) -> None:
    """Take the one column that names rows together with the system.

    Where none does, but one does together with another that may name judges, each output has a row
    per vote, and its label would count as often: ask.
    """
    system, judge, _ = _beside(look)
    found = _items_beside(look, *_beside(look))
    if len(found) == 1:
        look.take("item", found[0], "only candidate")
    if len(found) == 1 or not look.door.pivots or look.verb != "score" or judge is not None:
        return
    pairs = list(_pairs(look, system))
    if len(pairs) == 1 and _votes(look, aside=pairs[0]):
        item, who = pairs[0]
        raise look.ask(
            "judge",
            f"{system} and {item} repeat, and {who} tells the rows apart. Does it name the judges,"
            " with one row per vote?",
            [f"{flag('item', item)} {flag('judge', who)}"],
            [who],
        )


def _ask_about_repeats(look: Look) -> None:
    """Ask where rows still repeat, and one further column tells them apart."""
    item, system, judge = (look.column(role) for role in ("item", "system", "judge"))
    keys = (item, *_beside(look), look.given.criterion)
    if item is None or not (judge or (system and look.is_of_systems)) or look.is_unique(*keys):
        return
    found = [
        name
        for name in look.free
        if 2 <= (facts := look.facts[name]).distinct <= MOST_SYSTEMS
        and facts.filled == facts.rows
        and not (facts.decimals or facts.is_marks)
        and look.is_unique(*keys, name)
    ]
    if len(found) != 1:
        return
    if look.facts[found[0]].is_number:
        roles = ["replicate"]
    else:
        # A column with the name of votes was written by somebody; one called gpt is the judge.
        who = judge is None and look.door.pivots and len(_votes(look, tiers_only=True)) == 1
        roles = ["judge", "criterion"] if who else ["criterion"]
    calls = [flag(role, *found) for role in roles if roles[-1] in look.door.reads]
    beside = " and ".join(name for name in (item, system, judge) if name is not None)
    text = f"{beside} repeat, and {found[0]} tells the rows apart. What does it number?"
    way = "" if calls else " Keep the rows of one value, or put it into the name of the item."
    raise look.ask("replicate", text + way, calls, found)


# The votes of a long table.


def _votes(look: Look, *, aside: Sequence[str] = (), tiers_only: bool = False) -> list[str]:
    """Return the columns that may hold the votes of a long table, the best names alone."""
    item = look.column("item")
    likely = [
        name
        for name in look.free
        if name not in aside
        and not is_truth_name(name)
        and _may_vote(look.facts[name])
        # What is said once of every item is a fact about it.
        and not (item is not None and look.is_steady(item, name))
    ]
    tiers = VOTE_TIERS if look.truth is None else (VOTE_TIERS[0], VOTE_TIERS[2], VOTE_TIERS[1])
    for tier in tiers:
        if named := [n for n in likely if plain(n) in tier]:
            return named
    if tiers_only:
        return []
    return [n for n in likely if look.facts[n].is_number or look.facts[n].is_marks] or [
        n for n in likely if 2 <= look.facts[n].distinct <= MOST_SYSTEMS
    ]


def _may_vote(facts: Facts) -> bool:
    """Say whether a column may be the votes of a long table.

    Numbers may all differ, and a column with the name of votes may say one thing everywhere.
    """
    if facts.veto == UNIQUE:
        return facts.is_number
    named = facts.veto == CONSTANT and plain(facts.name) in VOTE_NAMES
    return facts.veto is None or named


def find_vote(look: Look) -> str:
    """Return the column of votes of a long table, or ask."""
    if look.layout.vote is not None:
        return look.layout.vote
    found = _votes(look)
    if not found:
        raise InputError(
            f"{look.source}: no column holds votes or scores that differ within"
            f" {look.column('item')}: name it (--vote)"
        )
    if len(found) > 1:
        calls = [flag("vote", name) for name in found]
        text = f"which column holds the votes? {names(found)} may."
        raise look.ask("vote", text, calls, found)
    name, facts = found[0], look.facts[found[0]]
    known = plain(name) in VOTE_NAMES
    told = as_pass_fail([one for one in facts.labels if isinstance(one, str)] or ["?"])
    scores = look.verb == "compare" and look.truth is None and facts.is_number
    if scores and not (known or told or says_direction(name)):
        calls = [f"{flag('vote', name)} --{way}-is-better" for way in ("higher", "lower")]
        raise look.ask("vote", f"is more {name} better, or less?", calls, found)
    look.take("vote", name, "by name" if known else "only candidate")
    return name
