"""How many items: for a difference, a disagreement, k models and a power."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from tallystick.compare.board import Board
from tallystick.errors import InputError
from tallystick.results import Figure, Result
from tallystick.results.numbers import percent, points
from tallystick.stats.acceptance import zero_failure_items
from tallystick.stats.power import (
    exact_paired_items,
    exact_paired_power,
    leaderboard_items,
    paired_items,
    range_critical,
    union_items,
    unpaired_items,
)
from tallystick.stats.ranges import open_unit, whole
from tallystick.stats.signs import LONGEST, sequential_items

__all__ = ["Method", "PlanResult", "pilot_of", "plan"]

NORMAL = "paired, normal approximation"
EXACT = "paired, exact McNemar"
PAIRS = "all pairs of"
UNION = "Hoeffding and the union bound"
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
    >>> [(one.name, one.n_items) for one in answer.methods][:3]
    [('paired, normal approximation', 1960), ('paired, exact McNemar', 2043), ('paired, sequential signs', 3762)]
    """
    open_unit(difference=difference, alpha=alpha, power=power, mean=mean)
    whole(2, models=models)
    assumed = disagreement is None
    apart = max(2 * mean * (1 - mean), difference) if disagreement is None else disagreement
    methods = _methods(difference, apart, models, mean, alpha, power)
    # What compare runs: the exact test of two models, or all pairs of many.
    [needed] = [one.n_items for one in methods if one.name == EXACT or one.name.startswith(PAIRS)]
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
        f" {union_items(difference, models, alpha=alpha):,} items put every score within"
        f" {points(difference / 2, sign=False)} of the truth, whatever the models do."
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
    forms.append((UNION, union_items(difference, models, alpha=alpha)))
    return forms


def _methods(
    difference: float, apart: float, models: int, mean: float, alpha: float, power: float
) -> tuple[Method, ...]:
    notes = {
        UNPAIRED: f"for each model, around accuracy {mean:.3g}",
        UNION: (
            f"all scores within {difference / 2:.3g} of the truth, for any independent items in [0,"
            " 1]; no power"
        ),
    }
    exact = {UNION}
    found = [
        Method(name, items, "exact" if name in exact else "approximate", notes.get(name, ""))
        for name, items in _closed_forms(difference, apart, models, mean, alpha, power)
    ]
    if models == 2:
        power_of = exact_paired_power(found[0].n_items, difference, apart, alpha=alpha)
        found[0] = replace(found[0], note=f"power {percent(power_of)} with the exact test")
        items = exact_paired_items(difference, apart, alpha=alpha, power=power)
        found.append(Method(EXACT, items, "exact", "the test that compare runs"))
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
