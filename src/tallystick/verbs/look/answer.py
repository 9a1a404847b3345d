"""From a table to what can be asked of it: its columns, its reading, commands that run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote, split
from typing import Any, ClassVar

from tallystick.errors import AskError, TallystickError
from tallystick.registry import capabilities
from tallystick.results import Result, count, number
from tallystick.results.numbers import aligned
from tallystick.table import (
    GROUPS,
    Capability,
    Data,
    Door,
    Reading,
    Table,
    as_pass_fail,
    conclude,
    read,
    reading_of,
    with_reading,
)
from tallystick.table.reading_facts import Facts, draw
from tallystick.table.roles import ALL_ROLES

_MOST_LABELS = 20
_FIRST_ROWS = 500
"""Rows on which a command is tried; if they do not answer, all are."""


@dataclass(frozen=True)
class ColumnLook:
    """One column: kind, different values, blank cells, role, what it can be, why it is unused."""

    name: str
    kind: str
    values: int
    blank: int
    read_as: str
    can_be: str
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class LookResult(Result):
    """What a table can answer.

    Parameters
    ----------
    columns
        What each column holds and can be.
    commands
        What can be asked, as commands that run.
    open
        What the table leaves open, and the option that answers it.
    """

    verb: ClassVar[str] = "look"

    columns: tuple[ColumnLook, ...]
    commands: tuple[str, ...]
    open: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per column."""
        return [
            {
                "column": one.name,
                "kind": one.kind,
                "values": one.values,
                "blank": one.blank,
                "read as": one.read_as,
                "can be": one.can_be + (f" ({one.why})" if one.why else ""),
            }
            for one in self.columns
        ]

    def terminal(self, width: int) -> list[tuple[str, str]]:
        """Return the columns, then the commands, then what is open."""
        del width  # a command is one line, whatever its length
        rows = self.rows()
        head = [list(rows[0])] if rows else []
        cells = [[f"{v:,}" if isinstance(v, int) else v for v in row.values()] for row in rows]
        lines = [(self.verdict, "bold"), ("", "")]
        lines += [(line, "") for line in aligned([*head, *cells])] if rows else []
        if self.commands:
            lines += [("", ""), ("Ask:", "bold"), *((f"  {one}", "") for one in self.commands)]
        return [*lines, *((f"Not clear: {text}", "yellow") for text in self.open)]


def look(source: Any, **options: Any) -> LookResult:
    """Say what the columns of *source* can be, how they are read, and what can be asked.

    Examples
    --------
    >>> votes = {"gold": list("abb") * 40, "gpt": list("aba") * 40, "claude": list("abb") * 40}
    >>> result = look({"id": range(120), **votes})
    >>> result.columns[0].can_be, result.commands[0]
    ('item', 'tallystick compare FILE --models gpt,claude --truth gold --item id')
    """
    options = with_reading(options)
    files = " ".join(map(quote, _paths(source))) or "FILE"
    profiles = _profiles(source)
    tried = list(_tried_all(source, options, frozenset(profiles)))
    # A verb that knows who made the outputs has read most of the table.
    readings = [one.reading for one in tried if one.reading is not None]
    readings.sort(key=lambda one: not (one.system or one.systems or one.pair))
    reading = readings[0] if readings else None
    asked = dict.fromkeys((one.verb, *one.words) for one in tried if one.verb)
    verbs = dict.fromkeys(verb for verb, *_ in asked)
    name = files if files != "FILE" else "The table"
    can = f"It can answer: {', '.join(verbs)}." if asked else "No question fits it as it stands."
    return LookResult(
        verdict=f"{name} has {count(len(profiles))} columns. {can}",
        decision="decided" if asked else "unknowable",
        n_items=0 if reading is None else reading.rows or 0,
        columns=tuple(_column(profile, reading, profiles) for profile in profiles.values()),
        commands=tuple(" ".join(["tallystick", verb, files, *words]) for verb, *words in asked),
        # A question that a verb has answered by the names of its columns is none.
        open=() if reading is not None and (reading.system or reading.pair) else _open(tried),
        reading=reading,
    )


def _open(tried: Sequence[_Tried]) -> tuple[str, ...]:
    """Return what is open: the first question, or why each verb that may fit does not answer."""
    found = tuple(dict.fromkeys(one.open for one in tried if one.open))
    return found[: 1 if any(one.verb for one in tried) else 2]


def _paths(source: Any) -> tuple[str, ...]:
    held = (source,) if isinstance(source, str) or not isinstance(source, Sequence) else source
    return tuple(held) if all(isinstance(one, str) for one in held) else ()


def _profiles(source: Any) -> dict[str, Facts]:
    """Look at the columns as they stand in the source."""
    try:
        with read(source, Door(pivots=False, repeats=True)) as data:
            return draw(data.table).facts
    except TallystickError:
        return {}


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """What came of one verb: how it reads the table, its options if it answers, what it asks."""

    reading: Reading | None = None
    verb: str = ""
    words: tuple[str, ...] = ()
    open: str = ""


def _tried_all(
    source: Any, options: Mapping[str, Any], columns: frozenset[str]
) -> Iterator[_Tried]:
    """Try every verb that reads a table."""
    for capability in capabilities():
        # A verb that pays an API whenever it runs is not tried.
        if capability.input == "required" and capability.door.want:
            yield _tried(capability, source, options, columns)


def _parsed(call: str) -> dict[str, Any]:
    """Return the options of a command line as `read` takes them."""
    words = [part for word in split(call) for part in word.split("=", 1)]
    pairs = zip(words[::2], words[1::2], strict=True)
    given = {flag.removeprefix("--").replace("-", "_"): value for flag, value in pairs}
    several = {*GROUPS, "ignore", "missing", "never_true"}
    return {name: (held,) if name in several else held for name, held in given.items()}


def _tried(
    capability: Capability[Any],
    source: Any,
    options: Mapping[str, Any],
    columns: frozenset[str],
    asked: str = "",
) -> _Tried:
    """Ask one verb, and once more with the likelier answer where it asks."""
    unread = {*ALL_ROLES} - {*capability.reads}
    given = {name: held for name, held in options.items() if name not in unread}
    try:
        with read(source, capability.door, **given) as data:
            _answer(capability, data)
            found = None if capability.columns is None else capability.columns(data)
            reading = reading_of(data, found=found)
            words = (*_words(capability, data, columns), *_beside(given))
    except AskError as error:
        said = f"{capability.verb}: {error}"
        # No order of words is the likelier one: a guessed order could turn the scores round. Nor is
        # one of several columns the likelier truth.
        several = error.role == "truth" and len(error.candidates) > 1
        if asked or not error.calls or several or error.role in ("prediction", "labels"):
            return _Tried(open=asked or ("" if error.role == "prediction" else said))
        more = {**options, **_parsed(error.calls[0])}
        return _tried(capability, source, more, columns, said)
    except TallystickError:
        return _Tried(open=asked)
    return _Tried(reading=reading, verb=capability.verb, words=words, open=asked)


def _beside(given: Mapping[str, Any]) -> Iterator[str]:
    """Return the options that say what cells mean, as they were given."""
    for name in ("missing", "labels", "never_true"):
        yield from (f"--{name.replace('_', '-')}={quote(one)}" for one in given.get(name, ()))
    yield from (f"--ignore {quote(one)}" for one in given.get("ignore", ()))


def _answer(capability: Capability[Any], data: Data) -> None:
    """Ask a verb, of the first rows if there are many."""
    question = capability.question()
    if isinstance(data.held, Table) and data.n_rows > _FIRST_ROWS:
        first = replace(data.held, relation=data.held.relation.limit(_FIRST_ROWS))
        try:
            conclude(capability, replace(data, held=first), question)
            return
        except TallystickError:
            pass
    conclude(capability, data, question)


def _words(capability: Capability[Any], data: Data, columns: frozenset[str]) -> Iterator[str]:
    """Return the roles as options, so that the command says all that it rests on."""
    long = data.held.long if isinstance(data.held, Table) else None
    for flag, one in zip(("--judge", "--vote"), long or (), strict=False):
        yield f"{flag} {quote(one)}"
    for role in capability.reads:
        held = getattr(data.roles, role)
        names = () if not held else held if role in GROUPS else (held,)
        # What is no column of the source was made while it was turned round.
        if names and set(names) <= columns:
            together = [",".join(names)] if not any("," in name for name in names) else names
            yield from (f"--{role.replace('_', '-')} {quote(one)}" for one in together)


# What a column can be, by what it holds.


def _column(profile: Facts, reading: Reading | None, names: Collection[str]) -> ColumnLook:
    roles: dict[str, str] = {}
    for role in (*ALL_ROLES, "judge", "vote", "pair"):
        held = None if reading is None else getattr(reading, role)
        for name in held if isinstance(held, tuple) else (held,):
            if name is not None and (role not in GROUPS or name not in roles):
                roles[name] = role
    if reading is not None and reading.system not in (None, *names):  # A.gpt is a judge of A
        ends = {name: role for name, role in roles.items() if profile.name.endswith(name)}
        roles.setdefault(profile.name, next(iter(ends.values()), ""))
    role = roles.get(profile.name, "")
    doubt = " ?" if reading is not None and reading.how.get(role) == "only candidate" else ""
    unused = {} if reading is None else reading.unused or {}
    return ColumnLook(
        name=profile.name,
        kind=_kind(profile),
        values=profile.distinct,
        blank=profile.rows - profile.filled,
        read_as=f"{_ONE.get(role, role)}{doubt}" if role else "unused",
        can_be=_can_be(profile),
        why="" if role else unused.get(profile.name, ""),
    )


_ONE = {"judges": "judge", "models": "model", "weak": "weak label"}


def _kind(profile: Facts) -> str:
    labels = [one for one in profile.labels if one is not None]
    if profile.is_empty:
        return "empty"
    if profile.times:
        return "dates or times"
    if profile.is_number and profile.low is not None:
        ends = f"{number(profile.low)} to {number(profile.high)}"
        return f"{'numbers' if profile.decimals else 'whole numbers'} {ends}"
    if 0 < len(labels) <= 3:
        return ", ".join(sorted(map(str, labels)))
    return "labels" if labels and profile.repeats else "text"


def _can_be(profile: Facts) -> str:
    """Return what a column can be, the likeliest first."""
    if profile.is_empty or profile.is_constant:
        return "nothing: every cell is blank" if profile.is_empty else "nothing: one value"
    if profile.counter:
        return "item"
    if profile.counts and profile.distinct <= _MOST_LABELS and profile.repeats:
        marks = as_pass_fail(profile.labels) is not None or profile.distinct == 2
        return "voter, truth" if marks else "voter, truth, system, slice"
    if profile.numeric == 1.0:
        return "item" if profile.is_unique and not profile.decimals else "number"
    return "item" if profile.is_unique or profile.repeats else "text"
