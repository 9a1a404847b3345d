"""How many items: for a difference, a disagreement, k models and a power."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from tallystick.errors import InputError
from tallystick.papers.detecting_differences import Hoeffding, zero_failure_items
from tallystick.results import Figure, Result
from tallystick.results.numbers import percent, points
from tallystick.stats.exact_tails import (
    Acceptance,
    acceptance_plan,
    interval_items,
    open_unit,
    smallest,
    whole,
)
from tallystick.stats.power import (
    exact_paired_items,
    exact_paired_power,
    leaderboard_items,
    paired_items,
    range_critical,
    unpaired_items,
)
from tallystick.stats.signs import LONGEST, sequential_items
from tallystick.table import Capability, Data, Door, Question, option
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.reading import read_board

NORMAL = "paired, normal approximation"
TESTED = "paired, McNemar's test"
EXACT = "paired, exact McNemar"
PAIRS = "all pairs of"
UNPAIRED = "unpaired, each model its own items"


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
    curve
        Items by difference (or half-width) for each method: columns x, items, method.
    """

    verb: ClassVar[str] = "plan"

    methods: tuple[Method, ...]
    curve: tuple[tuple[float, int, str], ...] = ()
    axis: str = "difference"

    def rows(self) -> list[dict[str, Any]]:
        """Return the methods."""
        return [
            {"method": one.name, "items": one.n_items, "guarantee": one.guarantee, "note": one.note}
            for one in self.methods
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the items needed, by difference and by method."""
        bars = Figure(
            kind="forest",
            title="Items needed",
            columns={
                "method": [one.name for one in self.methods],
                "items": [one.n_items for one in self.methods],
                "guarantee": [one.guarantee for one in self.methods],
            },
            roles={"name": "method", "x": "items", "group": "guarantee"},
            unit="count",
        )
        if not self.curve:
            return (bars,)
        x, items, method = (list(column) for column in zip(*self.curve, strict=True))
        line = Figure(
            kind="curve",
            title=f"Items needed by {self.axis}",
            columns={self.axis: x, "items": items, "method": method},
            roles={"x": self.axis, "y": "items", "group": "method"},
        )
        return line, bars


def plan(
    difference: float,
    *,
    disagreement: float | None = None,
    models: int = 2,
    mean: float = 0.5,
    alpha: float = 0.05,
    power: float = 0.8,
    source: str = "",
) -> PlanResult:
    """Say how many items show a difference between models, by each method.

    Parameters
    ----------
    difference
        The difference in accuracy that is to be shown.
    disagreement
        The share of items on which exactly one of two models is right. None: that of two models
        whose errors have nothing in common, :math:`2p(1-p)` at the accuracy p (one half at p = ½,
        the chapter's hardest case), which is more than real models need.
    models
        How many models are compared, all pairs of them.
    mean
        Their mean accuracy, for the unpaired design and where no disagreement is given.
    alpha, power
        Two-sided level (family-wise for several models) and probability of success.
    source
        Where the disagreement comes from, for the reader.

    Examples
    --------
    >>> answer = plan(0.02, disagreement=0.1)
    >>> [(one.name, one.n_items) for one in answer.methods][1:3]
    [('paired, normal approximation', 1960), ('paired, exact McNemar', 2043)]
    """
    open_unit(difference=difference, alpha=alpha, power=power, mean=mean)
    whole(2, models=models)
    assumed = disagreement is None
    apart = max(2 * mean * (1 - mean), difference) if disagreement is None else disagreement
    methods = _methods(difference, apart, models, mean, alpha, power)
    # What compare runs: the test of two models, or all pairs of many.
    [needed] = [one.n_items for one in methods if one.name == TESTED or one.name.startswith(PAIRS)]
    warnings = []
    if assumed:
        warnings.append(
            f"You did not say how often the models disagree, so {percent(apart)} is assumed, as for"
            f" two models of accuracy {percent(mean)} with nothing in common. Real models agree far"
            " more often and need far fewer items: give a pilot file or --disagreement"
        )
    by = source or ("assumed" if assumed else "given")
    whom = "two models" if models == 2 else f"any two of {models} models"
    verdict = (
        f"About {needed:,} items show a difference of {points(difference, sign=False)} between"
        f" {whom} that disagree on {percent(apart)} of them ({by}), {percent(power)} of the time."
    )
    steps = [
        step
        for step in (difference * factor for factor in (0.25, 0.5, 0.75, 1, 1.5, 2, 3))
        if step < min(1, apart)
    ]
    curve = []
    for step in steps:
        for name, items in _closed_forms(step, apart, models, mean, alpha, power):
            curve.append((step, items, name))
    return PlanResult(
        verdict=verdict,
        n_items=needed,
        assumptions=("items are independent draws from the population of interest",),
        warnings=tuple(warnings),
        methods=methods,
        curve=tuple(curve),
    )


def _closed_forms(
    difference: float, apart: float, models: int, mean: float, alpha: float, power: float
) -> list[tuple[str, int]]:
    forms = [(NORMAL, paired_items(difference, apart, alpha=alpha, power=power))]
    if models > 2:
        board = leaderboard_items(difference, models, apart, alpha=alpha, power=power)
        forms = [(f"{PAIRS} {models} models, max-T", board)]
    if difference / 2 <= min(mean, 1 - mean):
        # The statistics of unpaired models share nothing but the models: the range's critical value
        # is theirs too.
        level = alpha if models == 2 else 2 * float(ndtr(-range_critical(models, alpha)))
        forms.append((UNPAIRED, unpaired_items(difference, mean, alpha=level, power=power)))
    return forms


def _methods(
    difference: float, apart: float, models: int, mean: float, alpha: float, power: float
) -> tuple[Method, ...]:
    notes = {UNPAIRED: f"for each model, around accuracy {mean:.3g}"}
    found = [
        Method(name, items, "approximate", notes.get(name, ""))
        for name, items in _closed_forms(difference, apart, models, mean, alpha, power)
    ]
    if models == 2:
        power_of = exact_paired_power(found[0].n_items, difference, apart, alpha=alpha)
        found[0] = replace(found[0], note=f"power {percent(power_of)} with McNemar's test")
        for name, certified in ((TESTED, False), (EXACT, True)):
            items = exact_paired_items(
                difference, apart, alpha=alpha, power=power, certified=certified
            )
            note = "compare --certified" if certified else "the test that compare runs"
            found.append(Method(name, items, "exact" if certified else "approximate", note))
        # beyond, the exact law of stopping takes too long
        if (apart / difference) ** 2 * 40 < LONGEST:
            by, average = sequential_items(difference, apart, alpha=alpha, power=power)
            found.append(
                Method(
                    "paired, sequential signs", by, "anytime", f"stops after {average:,} on average"
                )
            )
    perfect = zero_failure_items(difference, alpha=alpha)
    found.append(
        Method(
            "perfect model against one that fails this often",
            perfect,
            "exact",
            "if not one failure is seen",
        )
    )
    usual, exception = found[:-1], found[-1]
    return (*sorted(usual, key=lambda one: one.n_items), exception)


def pilot_of(board: Board) -> tuple[float, float, float | None, str]:
    """Return difference, disagreement and mean accuracy of the two best models of a pilot, and
    where they come from.

    Where true labels are partly blank, how often the two give different answers is counted on all
    items, and labelled disagreements (and agreements) stand for those without a label. The mean is
    None if no agreement has a label.

    >>> pilot = Board.of({"old": [1, 0, 0, 0, 1] * 20, "new": [1, 1, 0, 0, 0] * 10 + [1, 1, 0, 0, 1] * 10})
    >>> [round(number, 3) for number in pilot_of(pilot)[:3]]
    [0.1, 0.3, 0.45]
    """
    scores = board.scores[board.known]
    if not np.isin(scores, (0.0, 1.0)).all():
        raise InputError(
            "a pilot must hold scores of 0 and 1 (or answers with --truth): round or threshold them"
            " first"
        )
    if len(board.names) < 2:
        raise InputError("a pilot needs at least two models on the same items")
    order = np.argsort(-scores.mean(axis=0), kind="stable")[:2]
    a, b = (board.names[j] for j in order)
    best, next_best = board.scores[:, order[0]], board.scores[:, order[1]]
    given = board.scores if board.answers is None else board.answers
    differ = given[:, order[0]] != given[:, order[1]]
    only, lost = int((best > next_best).sum()), int((best < next_best).sum())
    labelled, agreeing = int((differ & board.known).sum()), ~differ & board.known
    if only + lost == 0:
        where = "" if board.answers is None else " where there is a true label"
        raise InputError(
            f"the two best models of the pilot, {a!r} and {b!r}, never disagree{where}: give"
            " --disagreement, or a larger pilot"
        )
    each = int(differ.sum()) / labelled  # items for which a labelled disagreement stands
    mean = None
    if agreeing.any() or differ.all():
        both = float(best[agreeing].mean()) * int((~differ).sum()) if agreeing.any() else 0.0
        mean = ((only + lost) / 2 * each + both) / board.n
    source = f"{a} and {b} in a pilot of {board.n} items"
    return (only - lost) * each / board.n, (only + lost) * each / board.n, mean, source


# From a question about sample size, and a pilot if there is one, to a plan.


@dataclass(frozen=True, kw_only=True)
class PlanQuestion(Question):
    """How many items show a difference, or how many labels grade a judge."""

    difference: float | None = option(None, "The difference that you want to show.")
    disagreement: float | None = option(None, "Share of items on which exactly one model is right.")
    models: int = option(2, "How many models are compared, each with every other.", low=2)
    power: float = option(
        0.8, "Probability of showing the difference if it is real.", within=(0.0, 1.0)
    )
    accuracy: float = option(0.5, "The accuracy that you expect.")
    judges: bool = option(False, "Plan how many labels are needed to grade a judge instead.")
    limit: float | None = option(None, "With --judges: prove that the failure rate is below this.")
    rate: float = option(0.0, "With --judges: the failure rate that you expect.")
    half_width: float | None = option(None, "With --judges: know the accuracy to ± this.")
    population: int | None = option(None, "With --judges: how many items there are in all.")


def plan_answer(data: Data | None, question: PlanQuestion) -> Result:
    """Plan from the numbers given, or from a pilot."""
    if question.judges:
        return _for_judges(data, question)
    difference, disagreement = question.difference, question.disagreement
    source, mean = "", question.accuracy
    notes: tuple[str, ...] = ()
    if data is not None:
        board = read_board(data)
        observed, apart, seen, source = pilot_of(board)
        mean = question.accuracy if seen is None else seen
        disagreement = apart if disagreement is None else disagreement
        notes = _pilot_notes(board, observed, question)
        difference = observed if difference is None else difference
        if difference <= 0:
            raise InputError(
                f"{source} are equal: say which difference is to be shown (--difference)"
            )
    if difference is None:
        raise InputError(
            "nothing to plan for: give --difference, a pilot file, or --judges with --limit"
        )
    result = plan(
        difference,
        disagreement=disagreement,
        models=question.models,
        mean=mean,
        alpha=question.alpha,
        power=question.power,
        source=source,
    )
    return replace(result, warnings=(*notes, *result.warnings))


def _for_judges(data: Data | None, question: PlanQuestion) -> Result:
    if data is not None or question.difference is not None:
        raise InputError(
            "--judges plans from --limit or --half-width: leave out the pilot and --difference"
        )
    return plan_judges(
        limit=question.limit,
        rate=question.rate,
        half_width=question.half_width,
        accuracy=question.accuracy,
        population=question.population,
        alpha=question.alpha,
        power=question.power,
    )


def _pilot_notes(board: Board, observed: float, question: PlanQuestion) -> tuple[str, ...]:
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
            f"the difference of {observed:.3g} is that of the pilot, which may flatter: plan for"
            " the smallest that matters (--difference)",
        )
    return notes


PLAN = Capability(
    verb="plan",
    summary="How many items do I need to show a difference, and with what guarantee?",
    question=PlanQuestion,
    answer=plan_answer,
    reads=("truth", "item"),
    door=Door(verb="compare", want="models", repeats=True),
    input="optional",
)

# How many labelled items grade a judge: for a failure rate below a limit, or for the width of an
# interval.


def plan_judges(
    *,
    limit: float | None = None,
    rate: float = 0.0,
    half_width: float | None = None,
    accuracy: float = 0.5,
    population: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> PlanResult:
    """Say how many labelled items grade a judge: to prove a failure rate below a limit, or to reach
    a width.

    Parameters
    ----------
    limit, rate
        Show that the judge fails on less than *limit* when it truly fails on *rate*.
    half_width, accuracy
        Or know its accuracy, about *accuracy*, to ± *half_width*.
    population
        The number of items there are, if labels are drawn from them without replacement.
    alpha, power
        Level and probability of success.

    Examples
    --------
    >>> [(one.name, one.n_items) for one in plan_judges(limit=0.05, rate=0.01).methods]
    [('no failure at all', 59), ('at most 2 failures', 124)]
    """
    if (limit is None) == (half_width is None):
        raise InputError("give either a limit for the failure rate or a half-width, not both")
    if limit is not None:
        trial = (
            acceptance_plan(limit, rate, alpha=alpha, power=power)
            if population is None
            else _from_population(population, limit, rate, alpha=alpha, power=power)
        )
        clean = zero_failure_items(limit, alpha=alpha, population=population)
        note = f"passes with probability {power:g} or more if the judge fails on {rate:g}"
        methods = [Method("no failure at all", clean, "exact", "a single failure voids it")]
        if trial.failures:
            methods.append(Method(f"at most {trial.failures} failures", trial.items, "exact", note))
        verdict = (
            f"{methods[-1].n_items:,} labelled items ({methods[-1].name}) prove a failure rate"
            f" below {limit:g}."
        )
    else:
        assert half_width is not None
        wilson = interval_items(half_width, rate=accuracy, alpha=alpha, population=population)
        certain = Hoeffding().items(half_width, alpha)
        # with all of them nothing is open
        certain = certain if population is None else min(certain, population)
        methods = [
            Method("Wilson interval", wilson, "approximate", f"around an accuracy of {accuracy:g}"),
            Method("Hoeffding", certain, "exact", "whatever the accuracy"),
        ]
        verdict = (
            f"{wilson:,} labelled items give a judge's accuracy to ± {half_width:g} (around"
            f" {accuracy:g})."
        )
    return PlanResult(
        verdict=verdict,
        n_items=methods[-1].n_items if limit is not None else methods[0].n_items,
        assumptions=("labelled items are drawn at random",),
        methods=tuple(methods),
    )


def _from_population(
    population: int, limit: float, rate: float, *, alpha: float, power: float
) -> Acceptance:
    """Return the smallest trial of items drawn without replacement; see :func:`acceptance_plan` for
    one with.

    The smallest c, and its smallest n, with probability at most alpha of c failures or fewer if a
    share *limit* of the population fails, and at least *power* if a share *rate* does. Exact, by
    the hypergeometric law.
    """
    from scipy.stats import hypergeom

    open_unit(limit=limit, alpha=alpha, power=power)
    whole(1, population=population)
    # as in zero_failure_items
    refused, expected = (ceil(round(share * population, 9)) for share in (limit, rate))
    if rate < 0 or expected >= refused:
        raise InputError(
            f"rate must be in [0, limit), got {rate!r}: of {population} items {expected} fail at"
            f" this rate and {refused} at the limit {limit!r}"
        )

    def trial(failures: int) -> int:
        return smallest(
            lambda n: (
                n >= population or bool(hypergeom.cdf(failures, population, refused, n) <= alpha)
            ),
            start=failures + 1,
        )

    failures = smallest(
        lambda c: bool(hypergeom.cdf(c, population, expected, trial(c)) >= power), start=0
    )
    return Acceptance(trial(failures), failures)
