"""How many items: for a difference, a disagreement or a spread, k models and a power.

The headline is the test that ``compare`` will run: on counts of right and wrong, Student's t (with
its pseudo-item, or the hull of t and Hall), or sign-flips over clusters; of more than two models
with all pairs tested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf, isnan, sqrt
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from tallystick._rng import as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import SCHEMA, Needed, Result, Unknown
from tallystick.results.numbers import count, percent, points
from tallystick.stats.exact_tails import open_unit, smallest, whole
from tallystick.stats.few_labels import FewLabels
from tallystick.stats.pairs import PairTable, fit_scores
from tallystick.stats.power import (
    cluster_items,
    detectable_difference,
    exact_paired_items,
    leaderboard_items,
    pair_level,
    range_critical,
    t_items,
)
from tallystick.stats.signs import LONGEST, sequential_items
from tallystick.stats.skewed import FEWEST, hull_ends, skewed_board
from tallystick.table import Capability, Data, Door, Question, option
from tallystick.verbs.compare.asks import measured_as
from tallystick.verbs.compare.board import (
    Board,
    are_measured,
    check_size,
    pass_board,
    read_board,
)
from tallystick.verbs.compare.question import (
    BOUNDS_HELP,
    METRIC_HELP,
    POWER_HELP,
    CompareQuestion,
    Share,
    score_range,
    sized,
    split_metric,
    unit_of,
)
from tallystick.verbs.compare.result import INDEPENDENT, PairRow

Floats = npt.NDArray[np.float64]

TESTED = "paired, right or wrong"
EXACT = "paired, exact McNemar"
_RESAMPLED, _MOST_RESAMPLED = 4_000, 4_000
"""Samples drawn from a pilot, and rows of each, up to which skewness is worked out that way."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to settle it, the items it needs and what it promises."""

    name: str
    n_items: int
    guarantee: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class PlanResult(Result):
    """What ``plan`` answers.

    Parameters
    ----------
    methods
        Ways to settle it, the cheapest first.
    """

    verb: ClassVar[str] = "plan"
    schema: ClassVar[int] = SCHEMA + 1

    methods: tuple[Method, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return the methods."""
        return [
            {"method": one.name, "items": one.n_items, "guarantee": one.guarantee, "note": one.note}
            for one in self.methods
        ]


def plan(
    difference: float,
    *,
    disagreement: float | None = None,
    models: int = 2,
    alpha: float = 0.05,
    power: float = 0.8,
    source: str = "",
) -> PlanResult:
    """Say how many items show a difference between models that are right or wrong.

    Parameters
    ----------
    difference
        The difference in accuracy that is to be shown.
    disagreement
        The share of items on which exactly one of two models is right. None: one half, that of two
        models that are right half the time and whose errors have nothing in common (the chapter's
        hardest case), which is more than real models need.
    models
        How many models are compared, all pairs of them.
    alpha, power
        Two-sided level (family-wise for several models) and probability of success.
    source
        Where the disagreement comes from, for the reader.

    Examples
    --------
    >>> answer = plan(0.02, disagreement=0.1)
    >>> [(one.name, one.n_items) for one in answer.methods][:2]
    [('paired, right or wrong', 1949), ('paired, exact McNemar', 2043)]
    """
    open_unit(difference=difference, alpha=alpha, power=power)
    whole(2, models=models)
    assumed = disagreement is None
    apart = max(0.5, difference) if disagreement is None else disagreement
    items = counted_items(difference, apart, models, CompareQuestion(alpha=alpha, power=power))
    methods = [Method(TESTED, items, "approximate", "compare")]
    if models == 2:
        methods += _for_two(difference, apart, alpha, power)
    warnings = []
    if assumed:
        warnings.append(
            f"You did not say how often the models disagree, so {percent(apart)} is assumed. Real"
            " models agree far more often and need far fewer items: give a pilot file or"
            " --disagreement"
        )
    by = source or ("assumed" if assumed else "given")
    return PlanResult(
        verdict=(
            f"About {methods[0].n_items:,} items show a difference of"
            f" {points(difference, sign=False)} between {_whom(models)} that disagree on"
            f" {percent(apart)} of them ({by}), {percent(power)} of the time."
        ),
        n_items=methods[0].n_items,
        assumptions=(INDEPENDENT.format("items"),),
        warnings=tuple(warnings),
        methods=tuple(methods),
    )


def _for_two(difference: float, apart: float, alpha: float, power: float) -> list[Method]:
    """Return two other ways to settle a pair: a certain one, and one that stops early."""
    certain = exact_paired_items(difference, apart, alpha=alpha, power=power, certified=True)
    found = [Method(EXACT, certain, "exact", "compare --certified")]
    # beyond, the exact law of stopping takes too long
    if (apart / difference) ** 2 * 40 < LONGEST:
        by, average = sequential_items(difference, apart, alpha=alpha, power=power)
        note = f"stops after {average:,} on average"
        found.append(Method("paired, sequential signs", by, "anytime", note))
    return found


def _whom(models: int) -> str:
    return "two models" if models == 2 else f"any two of {models} models"


# A pilot: the two best models of a board, and how much their difference varies.


_ALWAYS_ALIKE = (
    "the two best models of the pilot, {!r} and {!r}, differ by the same on every item whose score"
    " is known, so nothing says how much that varies: give a larger pilot, or --difference and"
    " --disagreement without a file"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pilot:
    """The two best models of a pilot.

    Parameters
    ----------
    a, b
        Their names, the better one first.
    n, unit
        How many items or clusters there are.
    difference
        How far *a* is ahead.
    method
        The test that compare runs on such scores: ``counts``, ``t``, ``pseudo-t``, ``hull``,
        ``sign-flip`` or ``few labels``.
    apart
        Counts: the share of items on which they disagree.
    gaps, width
        Scores: the difference on each item (or cluster), and the width of the score range, 0 if
        nothing says it.
    least
        Items below which compare does not rely on the mean of scores this skewed.
    fit
        The scores of the two for the estimator of few labels, where compare asks that.
    """

    a: str
    b: str
    n: int
    difference: float
    method: str
    unit: str = "items"
    apart: float = 0.0
    gaps: Floats | None = None
    width: float = 0.0
    least: float = 0.0
    fit: FewLabels | None = None

    @classmethod
    def of(cls, board: Board, question: CompareQuestion) -> Pilot:
        """Read a pilot off a board, by what compare would do with it.

        >>> scores = {"old": [1, 0, 0, 0, 1] * 20, "new": [1, 1, 0, 0, 0] * 10 + [1, 1, 0, 0, 1] * 10}
        >>> pilot = Pilot.of(Board.of(scores), CompareQuestion())
        >>> round(pilot.difference, 3), round(pilot.apart, 3)
        (0.1, 0.3)
        """
        check_size(board.names, board.n)
        if question.passes is not None:
            board = pass_board(board, question.passes)
        x, unit = board.scores[board.known], "items"
        if board.clusters is not None:
            moments = board.moments()
            x, unit = moments.group_sums / moments.group_counts[:, None], "clusters"
        order = np.argsort(-question.sign * x.mean(axis=0), kind="stable")[:2]
        a, b = (board.names[j] for j in order)
        if unit == "items" and np.isin(x, (0.0, 1.0)).all():
            return _counted_pilot(board, order, a, b)

        gaps = question.sign * (x[:, order[0]] - x[:, order[1]])
        if len(gaps) < 2 or np.ptp(gaps) <= 1e-12 * float(np.abs(x).max()):
            raise InputError(_ALWAYS_ALIKE.format(a, b))
        bounds = score_range(board.scores, question, binary=board.right is not None)
        needed = 0.0
        if bounds is None:
            method = "t" if len(x) < FEWEST else "hull"
            needed = skewed_board(x[:, order]).needed if method == "hull" else 0.0
        elif unit == "clusters":
            method = "sign-flip"
        elif board.right is not None:
            method = "few labels"  # items that were run several times
        else:
            method = "t" if are_measured(x[:, order])[0] else "pseudo-t"
        return cls(
            a=a,
            b=b,
            n=len(gaps),
            difference=float(gaps.mean()),
            method=method,
            unit=unit,
            gaps=gaps,
            width=0.0 if bounds is None else bounds[1] - bounds[0],
            least=needed,
            fit=fit_scores(x[:, order], bounds=bounds or (0.0, 1.0))
            if method == "few labels"
            else None,
        )

    @property
    def source(self) -> str:
        """Where a plan from this pilot comes from, for the reader."""
        return f"{self.a} and {self.b} in a pilot of {count(self.n)} {self.unit}"

    def items(self, difference: float, models: int, question: CompareQuestion) -> int:
        """Return the items, or clusters, at which the test of such scores has its power."""
        assert self.gaps is not None
        level, power = pair_level(models, question.alpha), question.power
        if self.fit is not None:
            gap = difference / self.width
            found = self.fit.forecast_pairs(0, 1, gap=gap, alpha=level, power=power)
            return ceil(float(found[0]))

        spread = float(self.gaps.std(ddof=1))
        items = scored_items(self.method, difference, spread, self.width, models, question)
        if self.method != "hull":
            return items
        if items <= _MOST_RESAMPLED / 2:
            items = self._resampled(difference, level, question)
        return max(items, ceil(self.least))

    def _resampled(self, difference: float, level: float, question: CompareQuestion) -> int:
        """Return the items at which the hull of t and Hall shows the difference in samples that are
        drawn from the pilot.
        """
        assert self.gaps is not None
        law = self.gaps - self.gaps.mean() + difference
        rng = as_rng(question.seed)
        seed = int(rng.integers(2**32))

        def enough(n: int) -> bool:
            drawn = as_rng(seed).choice(law, (_RESAMPLED, n))
            found = hull_ends(drawn, alpha=level)
            told = (found.p_value <= level) & (found.mean > 0)
            return n >= _MOST_RESAMPLED or float(told.mean()) >= question.power

        return smallest(enough, start=FEWEST)


def _counted_pilot(board: Board, order: npt.NDArray[np.intp], a: str, b: str) -> Pilot:
    """Read how often two models disagree.

    Where true labels are partly blank, how often the two give different answers is counted on all
    items, and labelled disagreements stand for those without a label.
    """
    best, next_best = board.scores[:, order[0]], board.scores[:, order[1]]
    given = board.scores if board.answers is None else board.answers
    differ = given[:, order[0]] != given[:, order[1]]
    only, lost = int((best > next_best).sum()), int((best < next_best).sum())
    labelled = int((differ & board.known).sum())
    if only + lost == 0:
        raise InputError(_ALWAYS_ALIKE.format(a, b))
    each = int(differ.sum()) / labelled  # items for which a labelled disagreement stands
    return Pilot(
        a=a,
        b=b,
        n=board.n,
        difference=(only - lost) * each / board.n,
        method="counts",
        apart=(only + lost) * each / board.n,
    )


def plan_scores(
    pilot: Pilot, difference: float, models: int, question: CompareQuestion
) -> PlanResult:
    """Say how many items, or clusters, show a difference of scores that vary as in a pilot."""
    assert pilot.gaps is not None
    unit: Share = "share" if pilot.width == 1.0 else "number"
    items = pilot.items(difference, models, question)
    spread = float(pilot.gaps.std(ddof=1))
    warnings = []
    if pilot.least > items - 1:
        warnings.append(
            f"scores this skewed need about {ceil(pilot.least):,} items before compare relies on"
            " their mean; below, it compares typical ratios or counts items"
        )
    return PlanResult(
        verdict=(
            f"About {items:,} {pilot.unit} show a difference of {sized(difference, unit)} between"
            f" {_whom(models)} whose difference varies by {sized(spread, unit)} from"
            f" {pilot.unit.removesuffix('s')} to {pilot.unit.removesuffix('s')} ({pilot.source}),"
            f" {percent(question.power)} of the time."
        ),
        n_items=items,
        assumptions=(INDEPENDENT.format(pilot.unit),),
        warnings=tuple(warnings),
        methods=(Method(f"paired, {pilot.method}", items, "approximate", "compare"),),
    )


# From a question about sample size, and a pilot if there is one, to a plan.


@dataclass(frozen=True, kw_only=True)
class PlanQuestion(Question):
    """How many items show a difference."""

    difference: float | None = option(None, "The difference that you want to show.")
    disagreement: float | None = option(None, "Share of items on which exactly one model is right.")
    models: int = option(2, "How many models are compared, each with every other.", low=2)
    metric: str | None = option(None, METRIC_HELP)
    bounds: tuple[float, float] | None = option(None, BOUNDS_HELP)
    power: float = option(0.8, POWER_HELP, within=(0.0, 1.0))

    def reading(self) -> dict[str, Any]:
        """Return the score to read: what pass@k is made of, where that is asked for."""
        base = split_metric(self.metric)[1]
        return {} if base is None else {"metric": base}

    def compared(self, data: Data) -> CompareQuestion:
        """Return what compare would be asked about the same table."""
        shared = ("alpha", "power", "seed", "metric", "bounds")
        asked = {name: getattr(self, name) for name in shared}
        return CompareQuestion(**asked, scored_as=measured_as(data))


def plan_answer(data: Data | None, question: PlanQuestion) -> Result:
    """Plan from the numbers given, or from a pilot."""
    shared: dict[str, Any] = {
        name: getattr(question, name) for name in ("models", "alpha", "power")
    }
    if data is None:
        if question.difference is None:
            raise InputError("nothing to plan for: give --difference or a pilot file")
        return plan(question.difference, disagreement=question.disagreement, **shared)

    asked = question.compared(data)
    board = read_board(data, asked)
    pilot = Pilot.of(board, asked)
    difference = pilot.difference if question.difference is None else question.difference
    if difference <= 0:
        raise InputError(
            f"{pilot.source} are equal: say which difference is to be shown (--difference)"
        )
    if pilot.method == "counts":
        apart = pilot.apart if question.disagreement is None else question.disagreement
        result = plan(difference, disagreement=apart, source=pilot.source, **shared)
    elif question.disagreement is not None:
        raise InputError("--disagreement is for scores of 0 and 1: this pilot has other scores")
    else:
        result = plan_scores(pilot, difference, question.models, asked)
    return replace(result, warnings=(*_pilot_notes(board, pilot, question), *result.warnings))


def _pilot_notes(board: Board, pilot: Pilot, question: PlanQuestion) -> tuple[str, ...]:
    """Say what a plan from this pilot takes for granted."""
    notes = board.notes
    if board.answers is not None:
        blank = int((~board.known).sum())
        notes += (
            f"{blank} of {board.n} items have no true label: those with one are taken to stand for"
            " them",
        )
    if question.difference is None:
        notes += (
            f"the difference of {pilot.difference:.3g} is that of the pilot, which may flatter:"
            " plan for the smallest that matters (--difference)",
        )
    return notes


PLAN = Capability(
    verb="plan",
    question=PlanQuestion,
    answer=plan_answer,
    reads=("truth", "item", "cluster", "replicate"),
    door=Door(verb="compare", want="models", repeats=True, runs=True),
    input="optional",
)

# What would settle an open comparison, and what this many items can show.


MOST_EXACT = 10_000
"""Items up to which the power of the test on counts is worked out."""
MOST_FORECAST = 10**10
"""Items from which on a forecast is no help: nobody has as many."""


def counted_items(lead: float, apart: float, models: int, question: CompareQuestion) -> int:
    """Return the items at which two models that disagree on a share *apart* are told apart, right
    or wrong, with all pairs of *models* tested.
    """
    alpha, power = question.alpha, question.power
    goal = leaderboard_items(lead, models, apart, alpha=alpha, power=power)
    # Beyond, the test on counts needs the same number to within a few per cent, and takes a while.
    if goal > MOST_EXACT:
        return goal
    certified = question.certified
    own = exact_paired_items(lead, apart, alpha=alpha, power=power, certified=certified)
    return own if models == 2 else max(goal, own)


def scored_items(
    method: str,
    difference: float,
    spread: float,
    width: float,
    models: int,
    question: CompareQuestion,
) -> int:
    """Return the rows (or clusters) at which a test of scores shows a difference."""
    asked: dict[str, Any] = {"models": models, "alpha": question.alpha, "power": question.power}
    if method == "sign-flip":
        return cluster_items(difference, spread, width=width, **asked)
    return t_items(difference, spread, width=width if method == "pseudo-t" else 0.0, **asked)


def needed_for(
    top: PairRow,
    table: PairTable,
    i: int,
    *,
    size: int,
    unit: str,
    models: int,
    question: CompareQuestion,
) -> Needed:
    """Say about how many more items (or clusters) would tell the first two apart.

    The forecast takes the difference and the spread as they were observed, and asks the test that
    tells models apart here. Where that has no closed form, its interval is taken to shrink with the
    root of the sample.

    Parameters
    ----------
    top
        The two best models.
    table, i
        All pairs, and which of them *top* is.
    size, unit
        What was drawn: how many of what.
    models
        How many are compared.
    question
        What was asked, bounds filled in.
    """
    if table.unsettled:
        return Needed(None, f"{unit}: {table.unsettled}")
    # Means of runs that are equal differ by rounding.
    spread = float(table.spread[i])
    least = 0.0 if isnan(spread) else 1e-12 * spread
    these, lead = question.population == "these", top.difference
    if these or isinstance(lead, Unknown) or question.sign * lead <= least:
        return Needed(None, f"{unit}: on these {top.a} and {top.b} are equal")
    lead = abs(lead)
    method, bounds = table.intervals.method, question.bounds
    method = "t" if table.measured is not None and table.measured[i] else method
    width = 0.0 if bounds is None else bounds[1] - bounds[0]
    goal: float
    if not isinstance(top.a_only, Unknown) and not isinstance(top.b_only, Unknown):
        goal = counted_items(lead, (top.a_only + top.b_only) / size, models, question)
    elif not 0 < spread < inf:
        return Needed(None, f"{unit}, of which nothing says yet how much they vary")
    elif (spread / lead) ** 2 > MOST_FORECAST:
        goal = inf
    elif method in ("t", "hull", "pseudo-t", "sign-flip"):
        goal = scored_items(method, lead, spread, width, models, question)
    else:
        ends = (table.intervals if models == 2 else table.simultaneous)[i]
        error = spread / sqrt(size)
        reach = lead - max(ends.low, -ends.high) + float(ndtri(question.power)) * error
        goal = size * (reach / lead) ** 2
    shown = sized(lead, unit_of(bounds))
    # A forecast that says "enough by now" of what is still open forecasts nothing.
    more = ceil(goal) - size if size < goal < MOST_FORECAST else None
    return Needed(more, f"{unit}, if {top.a} stays {shown} ahead of {top.b}")


_NO_SPREAD = "the models never disagree, so nothing says what could be detected"


def detectable(
    table: PairTable, size: int, models: int, question: CompareQuestion
) -> float | Unknown:
    """Return the difference that this sample shows of a typical pair: the one with the median
    disagreement, or spread.
    """
    if table.unsettled:
        return Unknown(table.unsettled)
    if not np.isnan(table.first_only).any():
        disagreement = float(np.median((table.first_only + table.second_only) / size))
        if disagreement == 0:
            return Unknown(_NO_SPREAD)
        alpha, power = question.alpha, question.power
        try:
            return detectable_difference(
                size, disagreement, models=models, alpha=alpha, power=power
            )
        except NotIdentifiable as why:
            return Unknown(str(why))

    error = float(np.median(table.spread)) / sqrt(size)
    if error == 0 or np.isinf(error):
        return Unknown(_NO_SPREAD)
    found = (range_critical(models, question.alpha) + float(ndtri(question.power))) * error
    if question.bounds is not None and found > question.bounds[1] - question.bounds[0]:
        return Unknown(
            "so few items would not show even the largest difference that the bounds allow"
        )
    return found
