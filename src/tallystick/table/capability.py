"""The contract of a capability: its question, the roles that it reads, and how it answers.

The command line, audit, the demo, the report and the docs find capabilities through the registry
and know nothing else about them, so a new one is a folder and a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng
from tallystick.errors import InputError, TallystickError, meant
from tallystick.results import Result, Slice
from tallystick.table.cells import Label, without_missing
from tallystick.table.data import Data
from tallystick.table.door import Door, read
from tallystick.table.doubts import Doubt, find_doubt, with_doubt
from tallystick.table.reading import reading_of, with_reading
from tallystick.table.roles import ALL_ROLES, Roles
from tallystick.table.tables import Table
from tallystick.table.tally import Tally

R = TypeVar("R", bound=Result, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Option:
    """How the command line offers one field of a question.

    Parameters
    ----------
    help
        One sentence.
    flag
        ``--name``; the field's own name if None.
    choices
        The words that it takes, if they are few.
    low, high
        The least and the greatest number, both allowed.
    within
        An open range, such as (0, 1) for alpha.
    metavar
        What stands for the value in ``--help``.
    hidden
        Whether only Python offers it.
    writes
        Whether it names a file that is written.
    """

    help: str
    flag: str | None = None
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    within: tuple[float, float] | None = None
    metavar: str | None = None
    hidden: bool = False
    writes: bool = False

    def check(self, name: str, value: Any) -> None:
        """Refuse a value that the declaration rules out."""
        if value is None:
            return
        for one in value if isinstance(value, tuple) else (value,):
            if self.choices and one not in self.choices:
                said = f"{name} must be one of {', '.join(self.choices)}, got {one!r}"
                raise InputError(said + meant(str(one), self.choices))
            if isinstance(one, bool) or not isinstance(one, int | float):
                continue
            if self.within is not None and not self.within[0] < one < self.within[1]:
                low, high = self.within
                raise InputError(f"{name} must be in ({low:g}, {high:g}), got {one!r}")
            if self.low is not None and not one >= self.low:
                raise InputError(f"{name} must be at least {self.low:g}, got {one!r}")
            if self.high is not None and not one <= self.high:
                raise InputError(f"{name} must be at most {self.high:g}, got {one!r}")


def option(default: Any, help: str, **declared: Any) -> Any:
    """Declare a field of a question with its default, its help and its check.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Toy(Question):
    ...     rounds: int = option(3, "How many rounds.", low=1)
    >>> Toy(rounds=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: rounds must be at least 1, got 0
    """
    return field(default=default, metadata={"option": Option(help=help, **declared)})


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked: every option of a capability, its meaning and its check.

    A subclass adds its own fields with `option`. Columns are not part of a question; they are
    `Roles`.
    """

    alpha: float = option(0.05, "Error level: .05 gives intervals of 95%.", within=(0.0, 1.0))
    seed: Rng = option(0, "Seed for all random draws.", low=0)

    def __post_init__(self) -> None:
        for name, declared in options_of(type(self)).items():
            if declared.metavar == "FILE" and isinstance(getattr(self, name), str):
                object.__setattr__(self, name, Path(getattr(self, name)))
            declared.check(name, getattr(self, name))

    def reading(self) -> dict[str, Any]:
        """Return what this question adds to the options of reading; nothing by default."""
        return {}

    def settled(self, data: Data) -> tuple[Question, tuple[str, ...]]:
        """Return the question with what the data decide of it, and a note on each such thing.

        It is asked once, of the whole table: slices are answered alike.
        """
        return self, ()

    def of_part(self, alpha: float) -> Question:
        """Return what is asked of one slice, at its own level."""
        return replace(self, alpha=alpha)

    @property
    def labels_speak_for(self) -> str:
        """For which rows a few labels speak: ``all``, ``disagreements`` or ``none``."""
        return "all"

    def outputs(self) -> dict[str, Path]:
        """Return the files that this question writes, by field."""
        return {
            name: Path(held)
            for name, declared in options_of(type(self)).items()
            if declared.writes and (held := getattr(self, name)) is not None
        }

    def inputs(self) -> tuple[str | Path, ...]:
        """Return the values of all other fields that may name a file."""
        found: list[str | Path] = []
        for name, declared in options_of(type(self)).items():
            held = getattr(self, name)
            for one in held if isinstance(held, tuple) else (held,):
                if isinstance(one, str | Path) and not declared.writes:
                    found.append(one.removeprefix("@") if isinstance(one, str) else one)
        return tuple(one for one in found if str(one))


def options_of(question: type[Any]) -> dict[str, Option]:
    """Return what is declared with `option`, by field and in order."""
    return {
        one.name: one.metadata["option"] for one in fields(question) if "option" in one.metadata
    }


@dataclass(frozen=True, kw_only=True)
class Demo:
    """A table such as people bring, and the options with which a capability answers it.

    Parameters
    ----------
    story
        One or two sentences: who has this table, and what they want to know.
    table
        The columns.
    options
        Roles and fields of the question.
    """

    story: str
    table: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    def command(self) -> list[str]:
        """Return the options as the command line takes them."""
        words: list[str] = []
        for name, value in self.options.items():
            flag = f"--{name.replace('_', '-')}"
            held = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words += [flag] if value is True else [flag, held]
        return words


@dataclass(frozen=True, eq=False)
class ItemTable:
    """What was learnt of each item: columns of equal length, and notes on what they leave blank."""

    columns: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Capability(Generic[R]):
    """One verb: what it asks, what it reads, how it answers, when it applies, how it is shown.

    Parameters
    ----------
    verb
        What the user types: ``judge``, or two words for a verb of a group (``dynamic theory``).
    question
        The class of its questions.
    answer
        From data and a question to a result. Without *reads* the data is None.
    reads
        The roles that it reads, in the order of ``--help``; none for a verb without a table.
    door
        What it needs of the reading.
    input
        Whether a table must be given: ``required``, ``optional`` or ``none``.
    applies
        For audit: the options with which it answers a table whose columns have these roles, or
        None if it cannot.
    demo
        A table and options that show it at work.
    items
        The columns that ``--items-out`` writes, from a result and its data, with notes if it
        returns an `ItemTable`; None for what the result learnt of each vote pattern, put beside the
        rows.
    labelling
        For ``label``: from data and a question to what a person should label, a
        `tallystick.sampling.tasks.LabelTask` (the units, their strata, the value of a label
        and the guess of it). None if labels do not help, or not in this way.
    columns
        For a verb that reads some tables by the names of their columns: from data to the roles that
        it finds, None for any other table.
    cases
        For the page: from a result and its data to the items behind its claim; None if single items
        say nothing.
    """

    verb: str
    question: type[Question]
    answer: Callable[[Any, Any], R]
    reads: tuple[str, ...] = ()
    door: Door = field(default_factory=Door)
    input: str = "required"
    applies: Callable[[Roles], Mapping[str, Any] | None] | None = None
    demo: Callable[[Rng], Demo] | None = None
    items: Callable[[Any, Data], Mapping[str, Any] | ItemTable] | None = None
    labelling: Callable[[Data, Any], Any] | None = None
    columns: Callable[[Data], Mapping[str, Any] | None] | None = None
    cases: Callable[..., Cases | None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "door", replace(self.door, reads=self.reads))


def answered(capability: Capability[R], source: Any, options: Mapping[str, Any]) -> R:
    """Read *source* and answer: what every ``evaluate`` does.

    Options are the fields of the capability's question, roles of columns, and the options of
    `read`. *rng* is another name for *seed*.
    """
    given = dict(options)
    if "rng" in given:
        given["seed"] = given.pop("rng")
    asked = given.pop("question", None)
    names = {one.name for one in fields(capability.question)}
    own = {name: given.pop(name) for name in list(given) if name in names}
    if asked is None:
        asked = capability.question(**own)
    elif own:
        asked = replace(asked, **own)
    given = with_reading(given, reads=capability.reads, want=capability.door.want)
    _check_roles(capability, given)
    data = read(source, capability.door, **given, **asked.reading())
    # What the caller opened, the caller closes.
    with nullcontext() if isinstance(source, Data | Table) else data:
        return conclude(capability, data, asked)


def _check_roles(capability: Capability[Result], given: Mapping[str, Any]) -> None:
    """Refuse a role that the capability does not read: it would be ignored silently."""
    for role in given:
        if role in ALL_ROLES and role not in capability.reads:
            raise InputError(
                f"{capability.verb} does not read {role!r}: it reads {', '.join(capability.reads)}"
            )


def conclude(capability: Capability[R], data: Data | None, question: Question) -> R:
    """Answer from data that was read, slice by slice too where a column of slices is named."""
    if data is None:
        return capability.answer(data, question)
    question, settled = question.settled(data)
    result = capability.answer(data, question)

    def doubt(part: Data, looked: int) -> Doubt | None:
        # Items of a dynamic benchmark are chosen so that models err on them: that is no mistake.
        if capability.labelling is None and data.roles.old is None:
            return None
        clustered, speaks = "cluster" in capability.reads, question.labels_speak_for
        return find_doubt(part, speaks=speaks, clustered=clustered, looked=looked)

    # After the answer, because most doubts need nothing but what it has counted.

    result = with_doubt(result, doubt(data, 1))
    notes = tuple(dict.fromkeys((*data.notes, *data.meaning_notes, *settled, *result.notes)))
    found = None if capability.columns is None else capability.columns(data)
    better, draw = getattr(result, "better", None), getattr(question, "label_draw", None)
    shown = reading_of(data, found=found, better=better, draw=draw)
    result = replace(result, notes=notes, reading=shown)
    if data.roles.by is None or result.slices:
        return result

    def ask(part: Data, alpha: float) -> Result:
        looked = round(question.alpha / alpha)
        return with_doubt(capability.answer(part, question.of_part(alpha)), doubt(part, looked))

    return replace(result, slices=by_slice(data, ask, alpha=question.alpha))


# ``by``: the same question for every slice, corrected for asking it so often.


MOST_SLICES = 200
"""More slices than this are refused: nobody reads them, and the correction leaves nothing."""


def by_slice(
    data: Data, ask: Callable[[Data, float], Result], *, alpha: float
) -> tuple[Slice, ...]:
    """Ask about every value of the slice column, each at alpha divided by their number.

    A slice that cannot be answered says why; the others stand.
    """
    column = data.roles.by
    if column is None:
        return ()
    labels = slice_labels(data)
    level = alpha / max(1, len(labels))
    slices = []
    for label in labels:
        try:
            slices.append(Slice(label, ask(data.where(column, label), level)))
        except TallystickError as error:
            slices.append(Slice(label, str(error)))
    return tuple(slices)


def slice_labels(data: Data) -> list[Label]:
    """Return the values of the slice column in order, blank cells (None, NaN) last as one value.

    Too many of them raise `InputError`.
    """
    column = data.roles.by
    if column is None:
        return []
    if isinstance(data.held, Tally):
        labels = list(data.held.labels[column])  # in this order already, None last
    else:
        cell = without_missing(column, data.table.kinds[column], ())
        found = data.table.query(f"select distinct {cell} as label from rows order by 1 nulls last")
        labels = [label for (label,) in found]
    if len(labels) > MOST_SLICES:
        raise InputError(
            f"{data.source}: column {column!r} has {len(labels):,} different values, and at most"
            f" {MOST_SLICES} slices can be read: group them first"
        )
    return labels


# The items behind a claim: which ones, what was said of each, and their texts.


MOST_CASES = 100
"""Items that are listed."""
MOST_ROWS = 500_000
"""Rows beyond which items are looked for in a file (``--items-out``), not on a page."""
MOST_SIGNS = 1_500
"""Length of a text; the rest of it is cut, and the cut is shown."""

_SAMPLE = 200
_TEXT = 25
"""Average length from which a column is a text that a reader wants to see."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One item.

    Parameters
    ----------
    item, of
        Its name, and the system whose output it is; empty where there is none.
    kind
        In which way it belongs here: one of the kinds of its `Cases`.
    summary
        What was said of it, in one line.
    votes
        Who said what.
    texts
        Column and text.
    """

    item: str
    of: str = ""
    kind: str
    summary: str
    votes: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cases:
    """The items behind a claim.

    Parameters
    ----------
    title, line
        What they are, and how many of which kind, in one line.
    kinds
        Every kind with its number of items, those that are not listed included.
    cases
        The items that are listed.
    """

    title: str
    line: str
    kinds: tuple[tuple[str, int], ...]
    cases: tuple[Case, ...]

    @property
    def total(self) -> int:
        """How many items there are, listed or not."""
        return sum(n for _, n in self.kinds)


@dataclass(frozen=True, kw_only=True)
class Found:
    """One row that belongs to a kind, before its texts are fetched."""

    row: int
    kind: str
    summary: str
    votes: tuple[tuple[str, str], ...] = ()


def gather(data: Data, found: Sequence[Found], *, title: str, line: str) -> Cases:
    """Return the first items of every kind, with their names and texts.

    Each kind gets an equal part of the `MOST_CASES` places, and what one leaves free goes to the
    others.
    """
    kinds: dict[str, list[Found]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    listed = _shared(list(kinds.values()))
    shown = _text_columns(data)
    cells = _rows(data, [one.row for one in listed], shown)
    item, system = data.roles.item, data.roles.system
    return Cases(
        title=title,
        line=line,
        kinds=tuple((kind, len(rows)) for kind, rows in kinds.items()),
        cases=tuple(
            Case(
                item=str(held.get(item, f"row {one.row + 1}")) if item else f"row {one.row + 1}",
                of=str(held.get(system, "")) if system else "",
                kind=one.kind,
                summary=one.summary,
                votes=one.votes,
                texts=tuple(
                    (name, _cut(str(held[name]))) for name in shown if held.get(name) is not None
                ),
            )
            for one, held in zip(listed, cells, strict=True)
        ),
    )


def _shared(kinds: list[list[Found]]) -> list[Found]:
    """Return the first items of every kind, in turn, in the order of the kinds."""
    turns = (one for turn in zip_longest(*kinds) for one in turn if one is not None)
    listed = {id(one) for one in islice(turns, MOST_CASES)}
    return [one for rows in kinds for one in rows if id(one) in listed]


def _text_columns(data: Data) -> tuple[str, ...]:
    """Return columns without a role whose cells are long: the words that people read."""
    if isinstance(data.held, Tally):
        return ()
    free = [name for name in data.table.columns if name not in data.roles.holders()]
    if not free:
        return ()
    sample = data.table.derive(f"select * from rows limit {_SAMPLE}").to_arrow_table()
    found = []
    for name in free:
        cells = [cell for cell in sample[name].to_pylist() if isinstance(cell, str) and cell]
        if cells and sum(map(len, cells)) >= _TEXT * len(cells):
            found.append(name)
    return tuple(found)


def _rows(data: Data, places: Sequence[int], texts: Sequence[str]) -> list[dict[str, object]]:
    """Return the named cells of some rows, in the order of *places*."""
    names = [name for name in dict.fromkeys((data.roles.item, data.roles.system, *texts)) if name]
    if not names or not places:
        return [{} for _ in places]
    columns = data.cells(*names)
    return [{name: columns[name][place] for name in names} for place in places]


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SIGNS else f"{text[:MOST_SIGNS]} … (cut)"


# Answers that are drawn with a known accuracy: the raw material of every demonstration table.


Ints = npt.NDArray[np.int64]


def draw_truth(n: int, shares: tuple[float, ...], draw: np.random.Generator) -> Ints:
    """Return *n* true labels as whole numbers, label k with share ``shares[k]``."""
    return draw.choice(len(shares), n, p=shares)


def draw_answers(
    truth: Ints,
    accuracy: float,
    labels: int,
    draw: np.random.Generator,
    *,
    hard: Any = 0.0,
    shared: float = 0.0,
) -> Ints:
    """Return answers that are right with probability *accuracy*.

    Parameters
    ----------
    truth, accuracy, labels
        The true labels, how often they are met, and how many labels there are.
    draw
        The generator.
    hard
        A standard normal number per item that is common to all who answer it.
    shared
        Which share of the luck is *hard*: 0 for independent errors, 1 for the same errors.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> truth = draw_truth(10_000, (0.7, 0.3), draw)
    >>> bool(abs((draw_answers(truth, 0.9, 2, draw) == truth).mean() - 0.9) < 0.02)
    True
    """
    from scipy.special import ndtri

    luck = np.sqrt(shared) * hard + np.sqrt(1 - shared) * draw.standard_normal(len(truth))
    wrong = (truth + draw.integers(1, labels, len(truth))) % labels
    return np.asarray(np.where(luck < ndtri(accuracy), truth, wrong))
