"""The base of every answer: what is known, how surely, and what would settle the rest."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from tallystick.errors import InputError, MissingExtra
from tallystick.results.gates import GateOutcome, Slice, junit
from tallystick.results.interval import SCHEMA, Interval, Json, Needed, Unknown, clean_fields
from tallystick.results.numbers import Sentences, Unit, flat, harmless, names_of, number_word

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Decision: TypeAlias = Literal["decided", "undecided", "unknowable"]

_OWN_BLOCKS = ("gates", "slices", "notes", "reading")
"""Fields that have a place of their own in the dictionary, after those of the capability."""


class Locator(Protocol):
    """Anything that can say which pattern each row of *data* shows; a Tally is one."""

    def locate(self, data: Any) -> Any:
        """Return one pattern index per row, -1 where the pattern never occurred."""
        ...


class WhatWasRead(Protocol):
    """What a table was taken to mean; `tallystick.table.Reading` is one."""

    def line(self) -> str:
        """Return it in one or two lines."""
        ...

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON types."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PatternTable:
    """What was learnt of each vote pattern, to be attached to the items that show it."""

    locator: Locator
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The base of every answer. A subclass adds its own fields, its ``verb`` and its figures.

    Parameters
    ----------
    verdict
        One plain sentence with its number and its doubt.
    decision
        ``decided``; ``undecided`` (then *needed* says what would settle it); or ``unknowable`` in
        this way, whatever the amount of data.
    needed
        About how many more of which items; None when nothing is needed or nothing would help.
    n_items
        How many items the answer rests on.
    assumptions
        Everything it rests on, in words.
    warnings
        What the reader has to know before relying on it.
    seed
        The seed of everything random; None if nothing was drawn.
    gates
        The conditions that were checked (``--gate``), in the order given.
    slices
        The same question for each part of the data (``--by``).
    notes
        What was chosen while the data was read and is not part of *reading*.
    reading
        What each column was taken for, and why; None for an answer that needs no table.
    sentences
        The verdict line by line, and the next step; None if there is only the verdict.
    basis
        On what the numbers rest, in one or two sentences; empty if only *assumptions* say it.
    label_command
        The command that begins to label what is open; only the command line knows it.
    doubt
        Why nothing is claimed although there are numbers; empty if nothing is in doubt.
    """

    verb: ClassVar[str] = ""
    schema: ClassVar[int] = SCHEMA

    verdict: str
    decision: Decision = "decided"
    needed: Needed | None = None
    n_items: int
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    gates: tuple[GateOutcome, ...] = ()
    slices: tuple[Slice, ...] = ()
    notes: tuple[str, ...] = ()
    reading: WhatWasRead | None = field(default=None, repr=False, compare=False)
    sentences: Sentences | None = field(
        default=None, repr=False, compare=False, metadata={"private": True}
    )
    basis: str = field(default="", repr=False, compare=False, metadata={"private": True})
    label_command: str = field(default="", repr=False, compare=False, metadata={"private": True})
    doubt: str = field(default="", repr=False, compare=False, metadata={"private": True})

    @property
    def opening(self) -> Sentences:
        """The verdict line by line, and what to do next."""
        opening = self.sentences or Sentences(answer=self.verdict)
        if opening.next or self.needed is None:
            return opening
        return dataclasses.replace(opening, next=f"Next: get {self.needed}.")

    def to_dict(self) -> dict[str, Json]:
        """Return JSON types only: the contract of command line and HTTP.

        An Interval becomes ``[low, high]``, with its guarantee beside it under ``…_guarantee``.
        What is unknown becomes null, and the reason is in ``unknown`` under its path. ``gates``,
        ``notes`` and ``reading`` are always there, ``slices`` only if there are any.
        """
        unknown: dict[str, str] = {}
        body = {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if not f.metadata.get("private", False) and f.name not in _OWN_BLOCKS
        }
        out: dict[str, Json] = {"schema": self.schema, "verb": self.verb}
        out.update(clean_fields(body, "", unknown))

        out["gates"] = [gate.to_dict() for gate in self.gates]
        out["notes"] = list(self.notes)
        out["reading"] = None if self.reading is None else self.reading.to_dict()
        if self.slices:
            out["slices"] = [part.to_dict() for part in self.slices]
        out["unknown"] = dict(unknown)
        return out

    def rows(self) -> list[dict[str, Any]]:
        """Return the main table as one mapping per row."""
        return [{"verdict": self.verdict, "decision": self.decision, "n_items": self.n_items}]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return {}

    def folds(self) -> tuple[Section, ...]:
        """Return what a reader of the page can unfold, the first picture aside."""
        rows = self.rows()
        if rows == Result.rows(self):
            rows = []
        figures = self.figures()[1:]
        if not rows and not figures:
            return ()
        line = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}." if rows else "More pictures."
        return (Section(title="Table", line=line, rows=rows, units=self.units(), figures=figures),)

    def result_parts(self) -> tuple[ResultPart, ...]:
        """Return the questions of a result that is made of results, in order."""
        return ()

    def figures(self) -> tuple[Figure, ...]:
        """Return the pictures of this result, the most telling one first."""
        return ()

    def patterns(self) -> PatternTable | None:
        """Return what was learnt of each vote pattern."""
        return None

    def terminal(self, width: int) -> Sequence[tuple[str, str]] | None:
        """Return the lines that a terminal of this width shows, each with its style.

        A style is bold, yellow, dim or nothing. None: the verdict and the main table are shown.
        """
        return None

    def to_frame(self) -> pa.Table:
        """Return the main table as an Arrow table; an interval is two columns."""
        import pyarrow as pa

        return pa.Table.from_pylist(flat(self.rows()))

    def to_pandas(self) -> pd.DataFrame:
        """Return the main table as a pandas frame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtra("pandas", "pandas") from error

        return pd.DataFrame(flat(self.rows()))

    def to_polars(self) -> pl.DataFrame:
        """Return the main table as a Polars frame."""
        try:
            import polars as pl
        except ImportError as error:
            raise MissingExtra("polars", "polars") from error

        return pl.DataFrame(flat(self.rows()), infer_schema_length=None)

    def to_markdown(self) -> str:
        """Return the main table as Markdown, for a pull request or a build summary."""
        return str(_drawn("markdown_of")(self))

    def to_junit(self) -> str:
        """Return the gates as JUnit XML."""
        return junit(self.verb or "result", self.gates)

    def to_html(self, path: str | Path) -> None:
        """Write the page of this result, which needs no network, to *path*."""
        _drawn("write_page")(path, self)

    def plot(self, *, figure: int = 0, mode: Literal["light", "dark", "auto"] = "light") -> Any:
        """Draw the most telling picture of this result (or its *figure*-th one)."""
        return _drawn("plot")(self, figure=figure, mode=mode)

    @property
    def claims(self) -> Claims | None:
        """What the numbers settle about who is best and who is better; None if nothing competes."""
        return None

    @property
    def best(self) -> str | None:
        """The best of several; None unless every rival is beaten and nothing is in doubt."""
        return None if self.claims is None or self.doubt else self.claims.best

    def details(self) -> Sequence[str]:
        """Return sentences below the table, for results that do not say on what they rest."""
        return ()

    def summary(self) -> str:
        """Return plain text to paste."""
        return str(_drawn("text_of")(self))

    def __str__(self) -> str:
        """Return what was read, then the summary: what a terminal shows."""
        return "\n".join([*self.read_line(), self.summary()])

    def _repr_html_(self) -> str:
        """Return what was read, the verdict, the picture and the table, for a notebook."""
        return str(_drawn("notebook")(self))

    def read_line(self) -> tuple[str, ...]:
        """Return what was read in one line of plain text."""
        return () if self.reading is None else (harmless(self.reading.line()),)

    def rests_on(self) -> str:
        """Return what the numbers rest on in one line, for a terminal: the first assumption, and
        where the others are; empty if there is none.

        >>> Result(verdict="B wins.", n_items=9, assumptions=("labels are right", "x", "y")).rests_on()
        'Rests on: labels are right. Two more assumptions are on the page (--html).'
        """
        if not self.assumptions:
            return ""
        first, more = self.assumptions[0], len(self.assumptions) - 1
        word = number_word(more).capitalize()
        rest = "assumption is" if more == 1 else "assumptions are"
        return f"Rests on: {first}." + (
            f" {word} more {rest} on the page (--html)." if more else ""
        )


def _drawn(name: str) -> Callable[..., Any]:
    """Return what draws a result: it stands above results, so it is found by name and on use."""
    found: Callable[..., Any] = getattr(import_module("tallystick.report"), name)
    return found


# One part of a page: a question of detail, its answer in one line, and the evidence.


@dataclass(frozen=True, kw_only=True)
class Section:
    """What a reader can unfold.

    Parameters
    ----------
    title
        One or two words, e.g. Pairs.
    line
        Its answer, shown while it is folded.
    rows
        A table, one mapping per row; an interval after its estimate is written under it.
    units
        What the numbers of a column measure, by name; a column that is not named holds plain
        numbers.
    figures
        Pictures above the table.
    notes
        Sentences below it.
    at_once
        Whether a terminal shows the table too, below that of the first section.
    """

    title: str
    line: str
    rows: Sequence[Mapping[str, Any]] = ()
    units: Mapping[str, Unit] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    at_once: bool = False


@dataclass(frozen=True)
class ResultPart:
    """One question of a result that is made of results.

    Parameters
    ----------
    name
        Short and unique; the page links to it.
    heading
        The question.
    short
        The answer in one clause, or why there is none.
    result
        The answer itself; None if there is none.
    """

    name: str
    heading: str
    short: str
    result: Result | None = None


# A picture as data.


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture as data: everything that report/ needs in order to draw it.

    Parameters
    ----------
    kind
        The name of a chart kind in ``tallystick.report.kinds``, where the kinds are registered:
        ``forest`` (estimates with intervals, one row per name), ``bands`` (a range along an axis),
        and so on. A kind that nobody registered is refused when it is drawn.
    title
        One line that says what the picture shows.
    columns
        Tidy columns of equal length; None marks a gap.
    roles
        What each column is for, role to column name, for example ``{"x": "threshold", "low":
        "lower", "high": "upper"}``. Roles in use: x, y, low, high, name, group, value, row, column,
        mark, outer_low, outer_high, settled (a false one is drawn open).
    labels
        Axis titles by role, where the column's name does not explain itself.
    unit
        What its numbers measure: a ``share`` is drawn in per cent, ``points`` around zero.
    """

    kind: str
    title: str
    columns: Mapping[str, Sequence[Any]]
    roles: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    unit: Unit = "number"

    def __post_init__(self) -> None:
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"the columns of a figure have equal lengths, got {lengths}")

    @classmethod
    def forest(
        cls,
        title: str,
        columns: Mapping[str, Sequence[Any]],
        intervals: Sequence[Interval | tuple[float, float] | Unknown],
        *,
        unit: Unit = "number",
        labels: Mapping[str, str] | None = None,
        **roles: str,
    ) -> Figure:
        """Return estimates with intervals."""
        ends = [(None, None) if isinstance(one, Unknown) else tuple(one) for one in intervals]
        held = {**columns, "low": [low for low, _ in ends], "high": [high for _, high in ends]}
        name, x, *_ = columns
        return cls(
            kind="forest",
            title=title,
            columns={key: [_gap(value) for value in values] for key, values in held.items()},
            roles={"name": name, "x": x, "low": "low", "high": "high", **roles},
            labels=labels or {},
            unit=unit,
        )

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def rows(self, places: Sequence[int]) -> Figure:
        """Return the same figure with only the rows at *places*.

        >>> Figure("curve", "c", {"x": [1, 2, 3]}, {"x": "x"}).rows([0, 2]).columns
        {'x': [1, 3]}
        """
        kept = {name: [values[i] for i in places] for name, values in self.columns.items()}
        return replace(self, columns=kept)


def _gap(value: Any) -> Any:
    """Return None for what is not known or not finite."""
    gap = isinstance(value, Unknown) or (isinstance(value, float) and not math.isfinite(value))
    return None if gap else value


# Who is best, who is better, and who may be: claimed here alone, and only where it is settled.
#
# A claim is given the competitors as they were observed and the pairs that are settled, and nothing
# else: what is not settled cannot be said, whatever the estimates look like. "The best" needs every
# rival to be beaten, those of which nothing is known included.


@dataclass(frozen=True)
class Claims:
    """What is settled about the order of some competitors.

    Parameters
    ----------
    names
        Competitors that were measured, the best first as observed.
    better
        The pairs that are settled, the better one first.
    unknown
        Competitors of which nothing is known: each may be the best.
    what
        What one competitor is called: system, model, judge, classifier.
    most, more
        The words for the first of all, and for the better one of two.

    Examples
    --------
    >>> claims = Claims(("new", "old", "tiny"), {("new", "tiny"), ("old", "tiny")})
    >>> claims.best, claims.contenders, claims.beaten
    (None, ('new', 'old'), ('tiny',))
    >>> claims.answer({"new": "86.0%", "old": "84.5%", "tiny": "61.0%"}.__getitem__)
    'new is better than tiny: 86.0% against 61.0%.'
    >>> claims.left()
    'Not settled: whether new is also better than old.'
    """

    names: tuple[str, ...]
    better: Iterable[tuple[str, str]] = frozenset()
    unknown: tuple[str, ...] = ()
    what: str = "system"
    most: str = "best"
    more: str = "better"

    def __post_init__(self) -> None:
        object.__setattr__(self, "better", frozenset(self.better))

    @classmethod
    def from_intervals(
        cls,
        intervals: Mapping[str, Interval],
        *,
        unknown: Sequence[str] = (),
        what: str = "system",
    ) -> Claims:
        """Claim from intervals that hold together: whoever lies above another is better.

        Nothing else is used, so it does not matter how the estimates depend on each other: a wrong
        claim needs an interval that misses. Intervals of k competitors at 1 - α/k each miss
        together with probability at most α.

        >>> held = {"old": Interval(0.5, 0.6), "new": Interval(0.7, 0.8)}
        >>> Claims.from_intervals(held).best
        'new'
        """
        order = sorted(intervals, key=lambda name: -(intervals[name].low + intervals[name].high))
        better = {(a, b) for a in order for b in order if intervals[a].low > intervals[b].high}
        return cls(tuple(order), better, tuple(unknown), what)

    @cached_property
    def contenders(self) -> tuple[str, ...]:
        """Whom nobody beats: each may be the best; those of which nothing is known come last."""
        worse = {loser for _, loser in self.better}
        return (*(name for name in self.names if name not in worse), *self.unknown)

    @property
    def best(self) -> str | None:
        """The best of several, None unless every rival is beaten."""
        first = self.contenders[:1]
        sure = len(self.contenders) == 1 and len(self.beaten) == len(self.names) - 1
        return first[0] if sure and len(self.names) > 1 else None

    @property
    def leader(self) -> str:
        """The first of those that may be the best."""
        return self.contenders[0]

    @property
    def beaten(self) -> tuple[str, ...]:
        """Whom the leader beats, the best of them first."""
        return tuple(name for name in self.names if (self.leader, name) in self.better)

    @property
    def rivals(self) -> tuple[str, ...]:
        """Who may be as good as the leader: whom it does not beat, of whom something is known."""
        known = (name for name in self.names if name != self.leader)
        return tuple(name for name in known if name not in self.beaten)

    def answer(
        self, text: Callable[[str], str] | None = None, *, verb: str = "scores", why: str = ""
    ) -> str:
        """Say who is best, or better than whom, or that we cannot tell.

        Parameters
        ----------
        text
            The score of a competitor with its doubt; None where *why* stands for the scores.
        verb
            What comes before the score of the next best.
        why
            What the claim rests on, where that is not the scores: of a pair, its own numbers.
        """
        leader, beaten = self.leader, self.beaten
        score = text or (lambda name: name)

        def because(numbers: str) -> str:
            told = why or (numbers if text else "")
            return f": {told}." if told else "."

        if self.best is not None and len(self.names) > 2:
            place = f"the {self.most} of {number_word(len(self.names))} {self.what}s"
            next_best = f" The next best, {beaten[0]}, {verb} {score(beaten[0])}." if text else ""
            return f"{leader} is {place}{because(score(leader))}{next_best}"
        if beaten:
            whose = f" for {beaten[0]}" if len(beaten) > 1 else ""
            numbers = f"{score(leader)} against {score(beaten[0])}{whose}"
            return f"{leader} is {self.more} than {names_of(beaten)}{because(numbers)}"
        shown = ", ".join(f"{name} {score(name)}" for name in (leader, *self.rivals)[:2])
        return f"We cannot tell which {self.what} is {self.most}{because(shown)}"

    def nearly(self, name: str, within: str, score: str) -> str:
        """Say that one is the best, or so close to it that the difference does not matter."""
        place = f"the {self.most} of {number_word(len(self.names))} {self.what}s"
        return f"{name} is {place}, or within {within} of the {self.most}: {score}."

    def left(self) -> str:
        """Say which rivals are not settled."""
        rivals = self.rivals
        if not rivals or (not self.beaten and len(rivals) == 1):
            return ""
        also = "also " if self.beaten else ""
        return f"Not settled: whether {self.leader} is {also}{self.more} than {names_of(rivals)}."
