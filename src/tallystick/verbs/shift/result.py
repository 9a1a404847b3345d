"""What an assessment found: changes of the matrix, of accuracy and of answers, and the cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from tallystick.clients import Usage
from tallystick.errors import InputError
from tallystick.results import Figure, Interval, Result, Section, Unit, Unknown, points

if TYPE_CHECKING:
    from tallystick.sampling import Strata
    from tallystick.verbs.shift.assess import Answers
    from tallystick.verbs.shift.design import Items

_PRIVATE = {"private": True}


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change with its interval."""

    estimate: float | Unknown
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class Noise:
    """How much of the change is the API's own randomness.

    Parameters
    ----------
    answers_are
        ``random``, ``recorded`` (nothing can be asked again) or ``deterministic`` (as declared).
    repeats, confirmed, reverted
        Flips that were asked again, and how many gave the new answer again or went back to the old
        one.
    share, accuracy_share
        λ: how much of the flips, and of the flips between right and wrong, may be noise. 1 where
        nothing was asked again, 0 for a deterministic API.
    beyond
        The share of answers that changed beyond noise.
    less_stable
        Whether the repeats show that the new API is noisier than the old one.
    p_value
        Of "nothing changed but chance", from the repeats; None without any.
    equal_noise
        Whether the intervals lean on "the old API was as noisy as the new one".
    whole_noise
        The change of accuracy (or of the mean grade) with λ = 1, which leans on nothing.
    new_items
        The same for new items instead of these.
    """

    answers_are: str
    repeats: int
    confirmed: int
    reverted: int
    share: float
    accuracy_share: float
    beyond: Change
    p_value: float | None
    equal_noise: bool
    whole_noise: Change | None
    new_items: Change | None
    less_stable: bool = False


@dataclass(frozen=True, kw_only=True)
class TopCell:
    """A cell of the matrix that changed.

    Parameters
    ----------
    true, answered
        The row and the column.
    change, interval
        By how much of all items, and the interval of this cell alone.
    words
        For a person: ``four → five: +2.1 points ± 0.4 points``.
    survives
        Whether it is beyond chance after correction for all cells.
    examples
        Items that moved there (or away, where the change is negative).
    """

    true: str
    answered: str
    change: float
    interval: Interval
    words: str
    survives: bool
    examples: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """One stratum: what it is, how large, how often asked, and what the optimum would have
    asked.
    """

    name: str
    items: int
    asked: int
    answered: int
    flips: int | None
    optimal: float


@dataclass(frozen=True, kw_only=True)
class Requests:
    """What went over the wire.

    Parameters
    ----------
    sent, billed
        Requests sent at most, and those that may have been billed: all but those that the server
        refused outright. A request is counted before it leaves, so that a kill may stop one that is
        counted; none that left is missing.
    answered
        Questions that were answered.
    failed
        Questions that got no answer after all retries: they are missing, not wrong.
    resent
        Requests in flight when this run's journal was opened, sent again where they were needed.
    from_journal
        Answers that were read back and not paid for again.
    paid_twice
        Requests beyond the first that may have been billed for one answer, at most, over all
        resumes.
    unused
        Answers in the journal, and requests that may have been billed, which this result does not
        use; over all resumes.
    unread
        Answers from which no label could be read.
    """

    sent: int = 0
    billed: int = 0
    answered: int = 0
    failed: int = 0
    resent: int = 0
    from_journal: int = 0
    paid_twice: int = 0
    unused: int = 0
    unread: int = 0


@dataclass(frozen=True, kw_only=True)
class ShiftGate:
    """A condition on the result, whether it holds (None: undecided), and on what that rests."""

    expression: str
    passed: bool | None
    rests_on: str


@dataclass(frozen=True, kw_only=True)
class ShiftResult(Result):
    """How an API changed.

    Parameters
    ----------
    labels
        The rows of the matrix; its columns are these and one for answers that were none of them.
    shift, interval
        The change of every cell, as a share of all items, and its interval.
    accuracy_change, flip_rate, recall_change
        The change of accuracy, the share of changed answers, and the change of each label's recall.
    calls, cost
        Questions asked (twice-asked items count twice), and what they cost.
    strata, top_cells
        Where it was looked, and what changed most.
    error
        ``estimate``: the root of the estimated squared Frobenius error; ``bound``: what it stays
        below (95 %).
    baselines
        The estimated squared Frobenius error of this run, of uniform and of proportional sampling
        at equal calls, and of the optimum of Lemma 1.
    sensitivity
        Where accuracy change and flip rate could lie if the failed calls were all one way or all
        the other.
    strategy
        Which strategy sampled.
    noise
        How much of the change is the API's own randomness.
    these_answers
        Accuracy change and flip rate of the answers as they came: what "these answers differ" rests
        on. The other numbers say what the API would do again.
    grade_change
        The change of the mean grade, where answers are grades.
    usage, currency
        Tokens, latency and models, and the currency of the cost.
    api, asked_hash, data_hash
        What was asked, and digests of the prompt and of the data, for a history.
    """

    verb: ClassVar[str] = "shift"

    labels: tuple[str, ...]
    shift: tuple[tuple[float, ...], ...]
    interval: tuple[tuple[Interval, ...], ...]
    accuracy_change: Change
    flip_rate: Change
    recall_change: Mapping[str, Change]
    calls: int
    cost: float
    strata: tuple[Stratum, ...]
    top_cells: tuple[TopCell, ...]
    error: Mapping[str, float]
    baselines: Mapping[str, float]
    sensitivity: Mapping[str, Interval]
    strategy: str
    simultaneous: bool = False
    noise: Noise | None = None
    these_answers: Mapping[str, Change] = field(default_factory=dict)
    grade_change: Change | None = None
    requests: Requests = Requests()
    usage: Usage | None = None
    currency: str = ""
    api: str = ""
    asked_hash: str = ""
    data_hash: str = ""
    gate: ShiftGate | None = None
    name: str = ""
    asked: Mapping[str, Sequence[Any]] = field(default_factory=dict, repr=False, metadata=_PRIVATE)
    path: Mapping[str, Sequence[Any]] = field(default_factory=dict, repr=False, metadata=_PRIVATE)
    evidence: tuple[Items, Strata, Answers] | None = field(
        default=None, repr=False, compare=False, metadata=_PRIVATE
    )

    def rows(self) -> list[dict[str, Any]]:
        """Return accuracy, flips and every label's recall, then the cells that changed most."""
        named: dict[str, Change] = {}
        if self.grade_change is not None:
            named["mean grade"] = self.grade_change
        elif not isinstance(self.accuracy_change.estimate, Unknown):
            named["accuracy"] = self.accuracy_change
        named["answers changed"] = self.flip_rate
        if self.noise is not None and self.noise.answers_are != "deterministic":
            named["changed beyond noise"] = self.noise.beyond
        named |= {f"recall of {label}": change for label, change in self.recall_change.items()}
        rows = [
            {"what": name, "change": c.estimate, "interval": c.interval, "proved": ""}
            for name, c in named.items()
        ]
        rows += [
            {
                "what": f"{cell.true} → {cell.answered}",
                "change": cell.change,
                "interval": cell.interval,
                "proved": "yes" if cell.survives else "no",
            }
            for cell in self.top_cells
        ]
        return rows

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure; a change of a mean grade is a plain number."""
        return {} if self.grade_change is not None else {"change": "points"}

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: what changed, the matrix, and where it was looked."""
        return folds_of(self)

    def figures(self) -> tuple[Figure, ...]:
        """Return the signed matrix, the changes with intervals, and the allocation by question."""
        columns = (*self.labels, "(other)")
        cells = [(i, j) for i in range(len(self.labels)) for j in range(len(columns))]
        matrix = Figure(
            "matrix",
            "What was answered more or less often, in points of all items",
            {
                "true": [self.labels[i] for i, _ in cells],
                "answered": [columns[j] for _, j in cells],
                "change": [self.shift[i][j] for i, j in cells],
                "low": [self.interval[i][j].low for i, j in cells],
                "high": [self.interval[i][j].high for i, j in cells],
            },
            {
                "row": "true",
                "column": "answered",
                "value": "change",
                "low": "low",
                "high": "high",
            },
            {"row": "true label", "column": "answer"},
            unit="points",
        )
        known = [
            row
            for row in self.rows()
            if isinstance(row["interval"], Interval) and isinstance(row["change"], float)
        ]
        forest = Figure(
            "forest",
            "What changed" + ("" if self.grade_change is not None else ", in points"),
            {
                "what": [row["what"] for row in known],
                "change": [row["change"] for row in known],
                "low": [row["interval"].low for row in known],
                "high": [row["interval"].high for row in known],
            },
            {"name": "what", "x": "change", "low": "low", "high": "high"},
            {"low": f"{100 * self._level:g} % interval"},
            unit="number" if self.grade_change is not None else "points",
        )
        if not self.path:
            return forest, matrix
        curve = Figure(
            "curve",
            "Questions by stratum; the optimum is marked at the end",
            self.path,
            {"x": "question", "y": "asked", "group": "stratum", "mark": "optimal"},
        )
        return forest, matrix, curve

    @property
    def _level(self) -> float:
        return self.interval[0][0].level


# What a page of ``shift`` unfolds: what changed, which answers moved where, and what was asked.


def folds_of(result: ShiftResult) -> tuple[Section, ...]:
    """Return the sections of a result, the changes first."""
    figures = result.figures()[1:]
    found = [
        Section(
            title="What changed",
            line=_line(result),
            rows=result.rows(),
            units=result.units(),
        ),
        Section(
            title="Answers",
            line="Which answers moved where, as a share of all items.",
            figures=tuple(one for one in figures if one.kind == "matrix"),
        ),
    ]
    if result.strata:
        asked = sum(one.asked for one in result.strata)
        found.append(
            Section(
                title="Questions",
                line=f"{result.calls:,} calls on {asked:,} items in {len(result.strata):,} strata.",
                rows=[
                    {
                        "stratum": one.name,
                        "items": one.items,
                        "asked": one.asked,
                        "answered": one.answered,
                        "changed": one.flips,
                        "the optimum would ask": round(one.optimal, 1),
                    }
                    for one in result.strata
                ],
                figures=tuple(one for one in figures if one.kind == "curve"),
            )
        )
    return tuple(found)


def _line(result: ShiftResult) -> str:
    proved = [f"{one.true} → {one.answered}" for one in result.top_cells if one.survives]
    if not proved:
        return "No single cell of the matrix changed beyond chance."
    more = "" if len(proved) == 1 else f" and {len(proved) - 1} more"
    return f"Beyond chance: {proved[0]}{more}."


# Several APIs on several data sets in one view: one signed matrix of accuracy changes.


@dataclass(frozen=True, kw_only=True)
class FleetCell:
    """One API on one data set."""

    api: str
    data: str
    accuracy_change: float | Unknown
    interval: Interval | None
    flip_rate: float | Unknown
    calls: int
    verdict: str


@dataclass(frozen=True, kw_only=True)
class FleetResult(Result):
    """The fleet: a cell for each API and data set that was assessed."""

    verb: ClassVar[str] = "shift"

    cells: tuple[FleetCell, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per cell."""
        return [
            {
                "api": cell.api,
                "data": cell.data,
                "accuracy change": cell.accuracy_change,
                "interval": cell.interval,
                "answers changed": cell.flip_rate,
                "calls": cell.calls,
            }
            for cell in self.cells
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the signed matrix: figure 2 of [CZZ22]_ (api-shifts)."""
        known = [cell for cell in self.cells if isinstance(cell.accuracy_change, float)]
        columns: dict[str, list[Any]] = {
            "api": [cell.api for cell in known],
            "data": [cell.data for cell in known],
            "change": [cell.accuracy_change for cell in known],
            "text": [_signed(cell) for cell in known],
        }
        roles = {"row": "api", "column": "data", "value": "change", "text": "text"}
        return (Figure("matrix", "Change of accuracy by API and data set", columns, roles),)


def fleet(results: Mapping[tuple[str, str], ShiftResult], *, alpha: float = 0.05) -> FleetResult:
    """Put assessments side by side.

    A cell counts as changed where its interval excludes 0. With many cells some do by chance:
    assess each at alpha over their number if the whole family has to hold.

    Parameters
    ----------
    results
        (API, data set) to its assessment.
    alpha
        At which the family is meant to hold; a note says if the cells were assessed at a looser
        level.

    Examples
    --------
    >>> fleet({})
    Traceback (most recent call last):
    tallystick.errors.InputError: a fleet needs at least one assessment
    """
    if not results:
        raise InputError("a fleet needs at least one assessment")
    cells = tuple(
        FleetCell(
            api=api,
            data=data,
            accuracy_change=one.accuracy_change.estimate,
            interval=one.accuracy_change.interval,
            flip_rate=one.flip_rate.estimate,
            calls=one.calls,
            verdict=one.verdict,
        )
        for (api, data), one in results.items()
    )
    changed = [cell for cell in cells if cell.interval is not None and 0 not in cell.interval]
    loose = any(
        cell.interval is not None and 1 - cell.interval.level > alpha / len(cells) + 1e-12
        for cell in cells
    )
    names = ", ".join(f"{cell.api} on {cell.data} {_signed(cell)}" for cell in changed[:5])
    verdict = (
        f"{len(changed)} of {len(cells)} changed in accuracy"
        + (f": {names}" if names else "")
        + "."
    )
    open_ = sum(one.decision == "undecided" for one in results.values())
    return FleetResult(
        verdict=verdict,
        decision="undecided" if open_ else "decided",
        n_items=sum(one.n_items for one in results.values()),
        assumptions=next(iter(results.values())).assumptions,
        warnings=(
            (f"each cell has its own level: about {alpha:g} of unchanged ones look changed",)
            if loose
            else ()
        ),
        cells=cells,
    )


def _signed(cell: FleetCell) -> str:
    return points(cell.accuracy_change if isinstance(cell.accuracy_change, float) else None)
