"""What an assessment found: whether the API changed, how, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from tallystick.clients import Usage
from tallystick.results import SCHEMA, Figure, Interval, Result, Section, Unit, Unknown

if TYPE_CHECKING:
    from tallystick.sampling import Strata
    from tallystick.verbs.shift.design import Items
    from tallystick.verbs.shift.estimates import Answers, Past

_PRIVATE = {"private": True}


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change, or a share, with its interval."""

    estimate: float | Unknown
    interval: Interval | None


NO_LABELS = Change(estimate=Unknown("there are no true labels"), interval=None)


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
        The share of answers that changed beyond both APIs' noise.
    excess
        How many more answers differ than two old answers would: what a gate on flip_rate holds.
    stability, stability_before
        The share of repeated calls that disagree, now and before.
    less_stable
        Whether it is shown that the new API is noisier than the old one.
    p_value
        Of "nothing changed but chance", from the repeats; None without any.
    equal_noise
        Whether the intervals lean on "the old API was as noisy as the new one".
    whole_noise
        The change of accuracy (or of the mean grade) with λ = 1, which leans on nothing.
    """

    answers_are: str
    repeats: int
    confirmed: int
    reverted: int
    share: float
    accuracy_share: float
    beyond: Change
    excess: Change
    stability: Change
    stability_before: Change
    p_value: float | None
    equal_noise: bool
    whole_noise: Change
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
    survives
        Whether it is beyond chance after correction for all cells.
    examples
        Items that moved there (or away, where the change is negative).
    """

    true: str
    answered: str
    change: float
    interval: Interval
    survives: bool
    examples: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """One stratum: what it is, how large, how often asked and answered, and how many flipped."""

    name: str
    items: int
    asked: int
    answered: int
    flips: int


@dataclass(frozen=True, kw_only=True)
class Unheard:
    """Answers of which nobody knows what they were: how many, and the share of all items that they
    stand for and could hide.
    """

    answers: int
    hides: float


@dataclass(frozen=True, kw_only=True)
class Requests:
    """What went over the wire.

    Parameters
    ----------
    sent, billed
        Requests sent at most, and those that may have been billed: all but those that the server
        refused outright.
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
class ShiftResult(Result):
    """Whether an API changed, and how.

    Parameters
    ----------
    changed
        Whether it is shown that the API changed beyond its own randomness; False where it is shown
        that it hardly did, None where neither is.
    labels
        The rows of the matrix; its columns are these and one for answers that were none of them.
    shift, interval
        The change of every cell, as a share of the items with a true label, and its interval.
    accuracy_change, flip_rate, recall_change
        The change of accuracy, the share of changed answers, and the change of each label's recall.
    calls, cost
        Questions asked (twice-asked items count twice), and what they cost.
    population
        All items, asked or not.
    strata, top_cells
        Where it was looked, and what changed most.
    unheard
        Calls that failed and answers that were not read, cut off or refused, each kind apart.
    strategy
        Which strategy sampled.
    noise
        How much of the change is the API's own randomness.
    grade_change, scale
        The change of the mean grade, and the ends of the scale, where answers are grades.
    usage, currency
        Tokens, latency and models, and the currency of the cost.
    watched
        What the test decided that watched a limit on flips while it asked; None if none did.
    api, asked_hash, data_hash
        What was asked, and digests of the prompt and of the data, for a history.
    """

    verb: ClassVar[str] = "shift"
    schema: ClassVar[int] = SCHEMA + 1

    changed: bool | None = None
    labels: tuple[str, ...]
    shift: tuple[tuple[float, ...], ...]
    interval: tuple[tuple[Interval, ...], ...]
    accuracy_change: Change
    flip_rate: Change
    recall_change: Mapping[str, Change]
    calls: int
    cost: float
    population: int
    strata: tuple[Stratum, ...]
    top_cells: tuple[TopCell, ...]
    strategy: str
    noise: Noise
    unheard: Mapping[str, Unheard] = field(default_factory=dict)
    grade_change: Change | None = None
    scale: tuple[str, str] | None = None
    requests: Requests = Requests()
    usage: Usage | None = None
    currency: str = ""
    api: str = ""
    asked_hash: str = ""
    data_hash: str = ""
    watched: bool | None = None
    asked: Mapping[str, Sequence[Any]] = field(default_factory=dict, repr=False, metadata=_PRIVATE)
    evidence: tuple[Items, Strata, Answers, Past] | None = field(
        default=None, repr=False, compare=False, metadata=_PRIVATE
    )

    def rows(self) -> list[dict[str, Any]]:
        """Return what differs, accuracy and every label's recall, then the cells that moved
        most.
        """
        named: dict[str, Change] = {"answers that differ": self.flip_rate}
        if self.noise.answers_are != "deterministic":
            named["changed beyond noise"] = self.noise.beyond
            named["repeated calls that disagree"] = self.noise.stability
        if self.grade_change is not None:
            named["mean grade"] = self.grade_change
        elif not isinstance(self.accuracy_change.estimate, Unknown):
            named["accuracy"] = self.accuracy_change
        named |= {f"recall of {label}": change for label, change in self.recall_change.items()}
        rows = [
            {"what": name, "change": c.estimate, "interval": c.interval, "proved": ""}
            for name, c in named.items()
        ]
        return rows + [
            {
                "what": f"{cell.true} → {cell.answered}",
                "change": cell.change,
                "interval": cell.interval,
                "proved": "yes" if cell.survives else "no",
            }
            for cell in self.top_cells
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure; a change of a mean grade is a plain number."""
        return {} if self.grade_change is not None else {"change": "points"}

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: what changed, the matrix, and where it was looked."""
        asked = sum(one.asked for one in self.strata)
        questions = f"{self.calls:,} calls on {asked:,} items in {len(self.strata):,} strata."
        proved = [f"{one.true} → {one.answered}" for one in self.top_cells if one.survives]
        moved = "No single cell of the matrix changed beyond chance."
        if proved:
            more = "" if len(proved) == 1 else f" and {len(proved) - 1} more"
            moved = f"Beyond chance: {proved[0]}{more}."
        return (
            Section(title="What changed", line=moved, rows=self.rows(), units=self.units()),
            Section(
                title="Answers",
                line="Which answers moved where, as a share of all items.",
                figures=(self.figures()[1],),
            ),
            Section(
                title="Questions",
                line=questions,
                rows=[vars(one) for one in self.strata],
            ),
        )

    def figures(self) -> tuple[Figure, ...]:
        """Return the changes with intervals, and the signed matrix."""
        columns = (*self.labels, "(other)")
        cells = [(i, j) for i in range(len(self.labels)) for j in range(len(columns))]
        matrix = Figure(
            "matrix",
            "Moved answers",
            {
                "true": [self.labels[i] for i, _ in cells],
                "answered": [columns[j] for _, j in cells],
                "change": [self.shift[i][j] for i, j in cells],
                "low": [self.interval[i][j].low for i, j in cells],
                "high": [self.interval[i][j].high for i, j in cells],
            },
            {"row": "true", "column": "answered", "value": "change", "low": "low", "high": "high"},
            {"row": "true label", "column": "answer"},
            unit="points",
        )
        known = [
            row
            for row in self.rows()
            if isinstance(row["interval"], Interval) and isinstance(row["change"], float)
        ]
        graded = self.grade_change is not None
        forest = Figure(
            "forest",
            "What changed" + ("" if graded else ", in points"),
            {
                "what": [row["what"] for row in known],
                "change": [row["change"] for row in known],
                "low": [row["interval"].low for row in known],
                "high": [row["interval"].high for row in known],
            },
            {"name": "what", "x": "change", "low": "low", "high": "high"},
            {"low": f"{100 * self.interval[0][0].level:g}% interval"},
            unit="number" if graded else "points",
        )
        return forest, matrix
