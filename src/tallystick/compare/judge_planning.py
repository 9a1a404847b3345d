"""How many labelled items grade a judge: for a failure rate below a limit, or for the width of an
interval.
"""

from __future__ import annotations

from math import ceil

from tallystick.compare.planning import Method, PlanResult
from tallystick.errors import InputError
from tallystick.stats.acceptance import (
    Acceptance,
    acceptance_plan,
    interval_items,
    zero_failure_items,
)
from tallystick.stats.concentration import Hoeffding
from tallystick.stats.ranges import open_unit, whole
from tallystick.stats.smallest import smallest

__all__ = ["plan_judges"]


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
