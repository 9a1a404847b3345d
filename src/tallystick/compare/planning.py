"""How many items: for a difference, a disagreement, k models and a power; for judges, a failure rate or a width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tallystick.compare.board import Board
from tallystick.errors import InputError
from tallystick.results import Figure, Result
from tallystick.stats.acceptance import acceptance_plan, interval_items, zero_failure_items
from tallystick.stats.concentration import Hoeffding
from tallystick.stats.power import (
    exact_paired_items,
    leaderboard_items,
    paired_items,
    union_items,
    unpaired_items,
)
from tallystick.stats.ranges import open_unit, whole
from tallystick.stats.signs import LONGEST, sequential_items

__all__ = ["Method", "Plan", "pilot_of", "plan", "plan_judges"]

INDEPENDENT = 0.5
"""Disagreement of two models at one half whose errors have nothing in common: the chapter's hardest case."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to settle it, the items it needs and what it promises."""

    name: str
    n_items: int
    guarantee: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Plan(Result):
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
) -> Plan:
    """Say how many items show a difference between models, by each method.

    Parameters
    ----------
    difference
        The difference in accuracy that is to be shown.
    disagreement
        The share of items on which exactly one of two models is right. None: one half, as for two models that have
        nothing in common, which is more than real models need.
    models
        How many models are compared, all pairs of them.
    mean
        Their mean accuracy, for the unpaired design.
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
    apart = max(INDEPENDENT, difference) if disagreement is None else disagreement
    methods = _methods(difference, apart, models, mean, alpha, power)
    [(_, needed), *_] = _closed_forms(difference, apart, models, mean, alpha, power)  # paired; for many, all pairs
    warnings = []
    if assumed:
        warnings.append(
            f"no disagreement was given: {apart:g} is taken, as for two models with nothing in common; real models "
            "agree far more often and need far fewer items: give a pilot file or --disagreement"
        )
    by = source or ("assumed" if assumed else "given")
    whom = "two models" if models == 2 else f"any two of {models} models"
    verdict = (
        f"About {needed:,} items show a difference of {difference:.4g} between {whom} that disagree on "
        f"{apart:.3g} of them ({by}), "
        f"with power {power:g}; Hoeffding and the union bound ask for {union_items(difference, models, alpha=alpha):,}."
    )
    steps = [
        step for step in (difference * factor for factor in (0.25, 0.5, 0.75, 1, 1.5, 2, 3)) if step < min(1, apart)
    ]
    curve = []
    for step in steps:
        for name, items in _closed_forms(step, apart, models, mean, alpha, power):
            curve.append((step, items, name))
    return Plan(
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
    forms = [("paired, normal approximation", paired_items(difference, apart, alpha=alpha, power=power))]
    if models > 2:
        board = leaderboard_items(difference, models, apart, alpha=alpha, power=power)
        forms = [(f"all pairs of {models} models, max-T", board)]
    if difference / 2 <= min(mean, 1 - mean):
        forms.append(("unpaired, each model its own items", unpaired_items(difference, mean, alpha=alpha, power=power)))
    forms.append(("Hoeffding and the union bound", union_items(difference, models, alpha=alpha)))
    return forms


def _methods(
    difference: float, apart: float, models: int, mean: float, alpha: float, power: float
) -> tuple[Method, ...]:
    notes = {
        "unpaired, each model its own items": f"for each model, around accuracy {mean:.3g}",
        "Hoeffding and the union bound": "nothing but independent items in [0, 1]",
    }
    exact = {"Hoeffding and the union bound"}
    found = [
        Method(name, items, "exact" if name in exact else "approximate", notes.get(name, ""))
        for name, items in _closed_forms(difference, apart, models, mean, alpha, power)
    ]
    if models == 2:
        items = exact_paired_items(difference, apart, alpha=alpha, power=power)
        found.append(Method("paired, exact McNemar", items, "exact"))
        if (apart / difference) ** 2 * 40 < LONGEST:  # beyond, the exact law of stopping takes too long
            by, average = sequential_items(difference, apart, alpha=alpha, power=power)
            found.append(Method("paired, sequential signs", by, "anytime", f"stops after {average:,} on average"))
    perfect = zero_failure_items(difference, alpha=alpha)
    found.append(
        Method("perfect model against one that fails this often", perfect, "exact", "if not one failure is seen")
    )
    usual, exception = found[:-1], found[-1]
    return (*sorted(usual, key=lambda one: one.n_items), exception)


def pilot_of(board: Board) -> tuple[float, float, float, str]:
    """Return difference, disagreement and mean accuracy of the two best models of a pilot, and where they come from.

    >>> pilot = Board.of({"old": [1, 0, 0, 0, 1] * 20, "new": [1, 1, 0, 0, 0] * 10 + [1, 1, 0, 0, 1] * 10})
    >>> [round(number, 3) for number in pilot_of(pilot)[:3]]
    [0.1, 0.3, 0.45]
    """
    scores = board.scores[board.known]
    if not np.isin(scores, (0.0, 1.0)).all():
        raise InputError("a pilot must hold scores of 0 and 1 (or answers with --truth): round or threshold them first")
    if len(board.names) < 2:
        raise InputError("a pilot needs at least two models on the same items")
    order = np.argsort(-scores.mean(axis=0), kind="stable")[:2]
    best, next_best = scores[:, order[0]], scores[:, order[1]]
    apart = float((best != next_best).mean())
    if apart == 0:
        raise InputError(
            f"the two best models of the pilot, {board.names[order[0]]!r} and {board.names[order[1]]!r}, never "
            "disagree: give --disagreement, or a larger pilot"
        )
    names = f"{board.names[order[0]]} and {board.names[order[1]]} in a pilot of {len(scores)} items"
    return float(best.mean() - next_best.mean()), apart, float((best.mean() + next_best.mean()) / 2), names


def plan_judges(
    *,
    limit: float | None = None,
    rate: float = 0.0,
    half_width: float | None = None,
    accuracy: float = 0.5,
    population: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Plan:
    """Say how many labelled items grade a judge: to prove a failure rate below a limit, or to reach a width.

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
        trial = acceptance_plan(limit, rate, alpha=alpha, power=power)
        clean = zero_failure_items(limit, alpha=alpha, population=population)
        note = f"passes with probability {power:g} or more if the judge fails on {rate:g}"
        methods = [Method("no failure at all", clean, "exact", "a single failure voids it")]
        if trial.failures:
            methods.append(Method(f"at most {trial.failures} failures", trial.items, "exact", note))
        verdict = f"{methods[-1].n_items:,} labelled items ({methods[-1].name}) prove a failure rate below {limit:g}."
    else:
        assert half_width is not None
        wilson = interval_items(half_width, rate=accuracy, alpha=alpha, population=population)
        certain = Hoeffding().items(half_width, alpha)
        methods = [
            Method("Wilson interval", wilson, "approximate", f"around an accuracy of {accuracy:g}"),
            Method("Hoeffding", certain, "exact", "whatever the accuracy"),
        ]
        verdict = f"{wilson:,} labelled items give a judge's accuracy to ± {half_width:g} (around {accuracy:g})."
    return Plan(
        verdict=verdict,
        n_items=methods[-1].n_items if limit is not None else methods[0].n_items,
        assumptions=("labelled items are drawn at random",),
        methods=tuple(methods),
    )
