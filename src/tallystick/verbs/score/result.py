"""What ``score`` answers: systems with corrected scores, pairs, judges, and what to grade next; in
which units it is shown, and what its gates compare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, ClassVar, Literal

from tallystick.errors import InputError
from tallystick.results import (
    SCHEMA,
    Claims,
    Figure,
    Gate,
    GateEstimate,
    GateOutcome,
    Interval,
    Result,
    Section,
    Slice,
    Unit,
    Unknown,
    about,
    check_gates,
    number_interval,
    percent,
    percent_interval,
    points,
    points_interval,
)
from tallystick.stats.certified import LabelRange

NOT_SETTLED = "not settled"
"""The verdict on a pair that stays open."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A number with its interval, or why there is none."""

    estimate: float | Unknown
    interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class SystemRow:
    """One system.

    Parameters
    ----------
    score, interval
        The corrected score.
    judge_only
        What the judges alone say: their mean grade.
    bias, bias_interval
        How much too kind the judges are: judge_only - score.
    n_outputs, n_labels
        Outputs, and those with a human grade.
    labels_worth
        How many human grades alone would be as informative as these with the judges.
    rank_interval
        Between which ranks the system lies; all systems at once.
    needed
        Human grades in all for ± 3 points.
    """

    name: str
    score: float | Unknown
    interval: Interval | Unknown
    judge_only: float | Unknown
    bias: float | Unknown
    bias_interval: Interval | Unknown
    n_outputs: int
    n_labels: int
    labels_worth: float | Unknown
    rank_interval: tuple[int, int] | Unknown
    needed: LabelRange | Unknown


@dataclass(frozen=True, kw_only=True)
class SystemPairRow:
    """Two systems; *a* has the higher score.

    *interval* and *adjusted_p* hold for all pairs at once.
    *verdict* is ``a is better`` with its name, or ``not settled``. *needed* are items to grade for
    both systems, in all.
    """

    a: str
    b: str
    difference: float
    interval: Interval
    p_value: float
    adjusted_p: float
    judge_only_difference: float | Unknown
    verdict: str
    needed: LabelRange | Unknown
    common_labels: int

    @property
    def settled(self) -> bool:
        """Whether the order of the two is shown."""
        return self.verdict != NOT_SETTLED


@dataclass(frozen=True, kw_only=True)
class JudgeRow:
    """One judge against the people.

    Parameters
    ----------
    tpr, tnr
        Share of good outputs that it passes, and of bad ones that it fails.
    kappa
        Agreement beyond chance (Cohen).
    bias
        How much higher it grades than people, on outputs that both graded.
    per_system
        System to ``tpr`` and ``tnr``, from ten human grades of each class.
    n_labels
        Outputs that it and a person graded.
    wider
        How much wider the intervals would be with this judge alone (median over systems).
    """

    name: str
    tpr: Rate
    tnr: Rate
    kappa: Rate
    bias: Rate
    per_system: Mapping[str, Mapping[str, Rate]]
    n_labels: int
    wider: float | Unknown = field(
        default_factory=lambda: Unknown("there is one judge only, or intervals of another kind")
    )


@dataclass(frozen=True, kw_only=True)
class Partial:
    """A judge that treats one system differently: *outputs* are good, bad or all ("") of them.

    *here* and *elsewhere* are the shares it passes of the outputs of that system and of the others
    that people graded (its bias, for numbers).
    """

    judge: str
    system: str
    outputs: str
    here: float
    elsewhere: float
    kinder: bool


@dataclass(frozen=True, kw_only=True)
class ScoreResult(Result):
    """How good the systems are; the verb ``score``.

    Parameters
    ----------
    systems
        From best to worst; without human grades from highest to lowest judge-only mean, which is no
        ranking.
    pairs
        Every pair, the surest first; Unknown where pairs cannot be told.
    tiers, contenders
        As in compare.
    judges
        Every judge against the people.
    partial
        Judges that treat a system differently.
    enough
        The judge that would be enough alone, None if none would.
    n_labels
        Human grades.
    labels_worth
        What they are worth with the judges, in all.
    population
        ``these`` items, or ``new`` items like them.
    turned
        Whether less is better, so that all grades were turned round.
    scale, judge_scale
        Of the human grades, in which all is shown, and of the judges' where it is another; null for
        pass and fail.
    label_goal
        What ``label`` should aim at to settle what is open; None if nothing is open, or if labels
        would not settle it.
    """

    verb: ClassVar[str] = "score"
    schema: ClassVar[int] = SCHEMA + 1

    systems: tuple[SystemRow, ...]
    pairs: tuple[SystemPairRow, ...] | Unknown
    tiers: tuple[tuple[str, ...], ...]
    contenders: tuple[str, ...]
    judges: tuple[JudgeRow, ...]
    partial: tuple[Partial, ...] = ()
    enough: str | None = None
    n_labels: int = 0
    labels_worth: float | Unknown = 0.0
    population: str = "these"
    scale: tuple[float, float] | None = None
    judge_scale: tuple[float, float] | None = None
    turned: bool = False
    alpha: float = 0.05
    label_goal: str | None = field(default=None, repr=False, metadata={"private": True})

    def system(self, name: str) -> SystemRow:
        """Return the row of a system."""
        by_name = {row.name: row for row in self.systems}
        if name not in by_name:
            raise InputError(f"there is no system {name!r}: there are {[*by_name]}")
        return by_name[name]

    def pair(self, a: str, b: str) -> SystemPairRow:
        """Return the row of two systems, in the order in which it is listed."""
        if not isinstance(self.pairs, Unknown):
            for row in self.pairs:
                if {row.a, row.b} == {a, b}:
                    return row
        why = f": {self.pairs.reason}" if isinstance(self.pairs, Unknown) else ""
        raise InputError(f"there is no pair {a!r} and {b!r}{why}")

    @property
    def claims(self) -> Claims | None:
        """Which systems are shown to be better than which."""
        if isinstance(self.pairs, Unknown):
            return None
        known = tuple(row.name for row in self.systems if not isinstance(row.score, Unknown))
        better = {(row.a, row.b) for row in self.pairs if row.settled}
        return Claims(
            known, better, tuple(row.name for row in self.systems if row.name not in known)
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per system."""
        return [
            {
                "system": row.name,
                "judges": row.judge_only,
                "score": row.score,
                "interval": row.interval,
                "bias": row.bias,
                "human grades": row.n_labels,
            }
            for row in self.systems
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        if not Units(self.scale).share:
            return dict.fromkeys(("judges", "score", "bias"), "number")
        return {"judges": "share", "score": "share", "bias": "points"}

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: systems, pairs and judges."""
        size: Unit = "points" if Units(self.scale).share else "number"
        line = f"{len(self.systems):,} systems, {self.n_labels:,} human grades."
        found = [Section(title="Systems", line=line, rows=self.rows(), units=self.units())]
        if not isinstance(self.pairs, Unknown) and self.pairs:
            found.append(_pairs_section(self, self.pairs, size))
        if self.judges:
            found.append(_judges_section(self, size))
        return tuple(found)

    def figures(self) -> tuple[Figure, ...]:
        """Return the scores beside what judges say, and the differences."""
        share, level = Units(self.scale).share, f"{100 * (1 - self.alpha):g}% interval"
        scores: dict[str, Sequence[Any]] = {
            "system": [row.name for row in self.systems],
            "score": [row.score for row in self.systems],
            "judges alone": [row.judge_only for row in self.systems],
        }
        found = [
            Figure.forest(
                "Share of outputs that pass" if share else "Scores",
                scores,
                [row.interval for row in self.systems],
                unit="share" if share else "number",
                labels={"x": "corrected", "low": level},
                mark="judges alone",
            )
        ]
        pairs = () if isinstance(self.pairs, Unknown) else self.pairs
        if pairs:
            differences: dict[str, Sequence[Any]] = {
                "pair": [f"{row.a} − {row.b}" for row in pairs],
                "difference": [row.difference for row in pairs],
                "judges alone": [row.judge_only_difference for row in pairs],
                "settled": [row.settled for row in pairs],
            }
            found.append(
                Figure.forest(
                    "Differences",
                    differences,
                    [row.interval for row in pairs],
                    unit="points" if share else "number",
                    labels={"low": level},
                    mark="judges alone",
                    settled="settled",
                )
            )
        return tuple(found)


@dataclass(frozen=True, kw_only=True)
class CriteriaResult(Result):
    """One answer per criterion, at a level that holds for all of them together.

    Parameters
    ----------
    criteria
        Criterion by criterion: its answer, or why there is none.
    """

    verb: ClassVar[str] = "score"

    criteria: tuple[Slice, ...]
    alpha: float = 0.05

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per criterion and system."""
        found = []
        for part in self.criteria:
            if isinstance(part.answer, ScoreResult):
                found += [{"criterion": part.label, **row} for row in part.answer.rows()]
        return found

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure: all criteria have one scale."""
        answers = (part.answer for part in self.criteria)
        return next((one.units() for one in answers if isinstance(one, ScoreResult)), {})

    def figures(self) -> tuple[Figure, ...]:
        """Return the scores of every criterion."""
        return tuple(
            replace(one, title=f"{part.label}: {one.title}")
            for part in self.criteria
            if isinstance(part.answer, ScoreResult)
            for one in part.answer.figures()[:1]
        )


# What a page of ``score`` unfolds: each section with its answer in one line.


_PAIRS = {
    "judges alone": "judge_only_difference",
    "difference": "difference",
    "interval": "interval",
    "adjusted p": "adjusted_p",
    "settled": "settled",
}
_PASSES, _FAILS, _KINDER = "passes good outputs", "fails bad outputs", "kinder than people by"
_JUDGES = {
    "judge": "name",
    _PASSES: "tpr.estimate",
    "good interval": "tpr.interval",
    _FAILS: "tnr.estimate",
    "bad interval": "tnr.interval",
    "kappa": "kappa.estimate",
    "kappa interval": "kappa.interval",
    _KINDER: "bias.estimate",
    "bias interval": "bias.interval",
    "graded by both": "n_labels",
}
"""Heads of the tables, and the fields of the rows under them."""


def _listed(row: object, columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a row under their heads."""
    return {head: attrgetter(name)(row) for head, name in columns.items()}


def _pairs_section(result: ScoreResult, pairs: tuple[SystemPairRow, ...], size: Unit) -> Section:
    wrong = [
        f"{row.a} against {row.b}"
        for row in pairs
        if row.settled
        and isinstance(row.judge_only_difference, float)
        and row.judge_only_difference < 0
    ]
    line = f"{sum(row.settled for row in pairs)} of {len(pairs)} settled."
    if wrong:
        line += f" The judges point the wrong way on {wrong[0]}."
    return Section(
        title="Pairs",
        line=line,
        figures=result.figures()[1:],
        rows=[{"pair": f"{row.a} − {row.b}", **_listed(row, _PAIRS)} for row in pairs],
        units={"difference": size, "judges alone": size, "adjusted p": "p"},
        at_once=True,
    )


def _judges_section(result: ScoreResult, size: Unit) -> Section:
    # Those that agree most with people come first. Which one does is said only where it is settled.
    judges = sorted(
        result.judges,
        key=lambda row: row.kappa.estimate if isinstance(row.kappa.estimate, float) else -2.0,
        reverse=True,
    )
    kappas = {
        row.name: row.kappa.interval for row in judges if isinstance(row.kappa.interval, Interval)
    }
    best = Claims.from_intervals(kappas, what="judge").best
    line = "Which judge agrees most with people is not settled."
    if best is not None:
        line = f"{best} agrees most with people."
    if result.enough:
        line += f" Corrected by people, {result.enough} alone tells as much as all of them."
    return Section(
        title="Judges",
        line=line,
        rows=[_listed(row, _JUDGES) for row in judges],
        units={
            _PASSES: "share",
            _FAILS: "share",
            _KINDER: size,
        },
    )


# In which units a score is shown: per cent for pass rates, the grades' own scale for numbers.


@dataclass(frozen=True)
class Units:
    """From [0, 1], where everything is computed, to the scale of the grades.

    >>> units = Units((1.0, 5.0))
    >>> units.value(0.75), units.size(0.25), units.score(4.0)
    (4.0, 1.0, '4.00')
    """

    scale: tuple[float, float] | None

    @property
    def share(self) -> bool:
        """Whether scores are shares."""
        return self.scale is None or self.scale == (0.0, 1.0)

    @property
    def width(self) -> float:
        """How long the scale is."""
        return 1.0 if self.scale is None else self.scale[1] - self.scale[0]

    @property
    def decimals(self) -> int:
        """How many decimals a number without an interval is written with."""
        return 2 if self.width < 20 else 1 if self.width < 1000 else 0

    def value(self, x: float) -> float:
        """Return a score on the scale."""
        return x if self.scale is None else self.scale[0] + self.width * x

    def size(self, x: float) -> float:
        """Return a difference on the scale."""
        return x * self.width

    def interval(self, interval: Interval) -> Interval:
        """Return the interval of a score on the scale."""
        return replace(interval, low=self.value(interval.low), high=self.value(interval.high))

    def sizes(self, interval: Interval) -> Interval:
        """Return the interval of a difference on the scale."""
        return replace(interval, low=self.size(interval.low), high=self.size(interval.high))

    def score(self, value: float, interval: Interval | None = None) -> str:
        """Write a score of the result."""
        if interval is None:
            return percent(value) if self.share else f"{value:.{self.decimals}f}"
        return (percent_interval if self.share else number_interval)(value, interval)

    def difference(
        self, value: float, interval: Interval | None = None, *, sign: bool = True
    ) -> str:
        """Write a difference of the result with its sign."""
        if interval is None:
            return points(value) if self.share else f"{value:+.{self.decimals}f}".replace("-", "−")
        if self.share:
            return points_interval(value, interval, sign=sign)
        return number_interval(value, interval, sign=sign)


# The number that a gate compares with its bar: a corrected score, or a difference of two.


MEASURES = ("score",)
"""What ``MEASURE(SYSTEM)`` may say."""


def checked(
    texts: Sequence[str],
    result: ScoreResult,
    names: Sequence[str],
    *,
    lost: Mapping[str, tuple[int, int]],
) -> tuple[GateOutcome, ...]:
    """Check every gate against a result; *lost* is what `ungraded` returns."""
    if not texts:
        return ()
    outcomes = check_gates(
        texts,
        margin=lambda gate: _with_ungraded(gate, result, lost),
        known=names,
        measures=MEASURES,
    )
    found = []
    for outcome in outcomes:
        named = [row for row in result.systems if f"score({row.name})" in outcome.expression]
        # More grades do not help where outputs are missing, or where all are graded.
        if outcome.passed is None and named and named[0].name not in lost:
            row = named[0]
            if not isinstance(row.needed, Unknown) and row.n_labels < row.n_outputs:
                more = about(max(1, row.needed.low - row.n_labels))
                outcome = replace(outcome, text=f"{outcome.text}; grade {more} more of {row.name}")
        found.append(outcome)
    return tuple(found)


def _with_ungraded(
    gate: Gate, result: ScoreResult, lost: Mapping[str, tuple[int, int]]
) -> GateEstimate:
    """Return what a gate compares, and what it would be if all missing outputs had one grade."""
    found = margin(gate, result)
    gone = [name for name in (gate.left, gate.right) if name is not None and name in lost]
    scores = [margin(Gate(name, ">=", None, 0.0), result).estimate for name in gone]
    known = [score for score in scores if isinstance(score, float)]
    interval, estimate = found.interval, found.estimate
    if not gone or len(known) < len(gone) or not isinstance(interval, Interval):
        return found

    # A share f of missing outputs with the grade u moves a score s by f (u - s).
    extremes = []
    worst, best = result.scale or (0.0, 1.0)
    for mine, theirs in ((worst, best), (best, worst)):
        shift = sum(
            lost[name][0] / lost[name][1] * (mine - s if name == gate.left else s - theirs)
            for name, s in zip(gone, known, strict=True)
        )
        moved = replace(interval, low=interval.low + shift, high=interval.high + shift)
        at = estimate + shift if isinstance(estimate, float) else estimate
        extremes.append(replace(found, estimate=at, interval=moved))
    shown = [f"{lost[name][0]:,} of {lost[name][1]:,} outputs of {name}" for name in gone]
    return replace(
        found,
        extremes=tuple(extremes),
        missing=f"{' and '.join(shown)} have no grade",
        way_out="if they failed, write the lowest grade there",
    )


def margin(gate: Gate, result: ScoreResult) -> GateEstimate:
    """Return what is known of ``left - right``, or of ``left``, with the interval that is shown.

    Grades that were turned round, because less is better, are turned back: a gate speaks of what
    the table holds.
    """
    units, single = Units(result.scale), gate.right is None
    low, high = result.scale or (0.0, 1.0)
    estimate, interval = _known(gate, result)
    if result.turned:
        whole = low + high if single else 0.0
        estimate = whole - estimate if isinstance(estimate, float) else estimate
        if isinstance(interval, Interval):
            interval = replace(interval, low=whole - interval.high, high=whole - interval.low)
    unit: Literal["share", "number"] = "share" if units.share else "number"
    within = (low, high) if single else (-units.width, units.width)
    return GateEstimate(estimate, interval, unit, within=within)


def _known(gate: Gate, result: ScoreResult) -> tuple[float | Unknown, Interval | Unknown]:
    """Return the estimate and the interval of the grades as they are scored."""
    if gate.right is None:
        row = result.system(gate.left)
        return row.score, row.interval
    if isinstance(result.pairs, Unknown):
        return result.pairs, result.pairs
    for pair in result.pairs:
        if (pair.a, pair.b) == (gate.left, gate.right):
            return pair.difference, pair.interval
        if (pair.b, pair.a) == (gate.left, gate.right):
            return -pair.difference, -pair.interval
    if gate.left == gate.right:
        return 0.0, Interval(0.0, 0.0)
    none = Unknown(f"{gate.left} and {gate.right} do not both have human grades")
    return none, none
