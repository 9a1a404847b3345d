"""Benchmarks that stall: the constructions of Theorems 3.5, 4.2 and C.2 of [SAH23]_."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick.dynamic.design import Design, Mixing, hierarchical, mixture_table, path
from tallystick.dynamic.learners import checked_epsilon
from tallystick.dynamic.papers.certificates import Certificate
from tallystick.dynamic.population import Array, Population
from tallystick.errors import InputError

__all__ = ["hierarchical_certificate", "path_certificate"]


def path_certificate(
    epsilon: float,
    *,
    rounds: int,
    mixture: Sequence[Sequence[float]] | float | None = None,
    majority: Sequence[float] | None = None,
    initial: Array | None = None,
    slope: float = 0.0,
) -> Certificate:
    r"""Build the path benchmark that stalls at :math:`\epsilon^2/8`, whatever its weights.

    [SAH23]_, Theorem 3.5. On :math:`d = 8/\epsilon^2` items in ascending order of :math:`\mathcal
    D_0`, the first :math:`2/\epsilon` models err on one common item and on disjoint sets besides;
    each later model repeats the one that weighs least in its mixture (Eq 26).

    Parameters
    ----------
    epsilon
        With :math:`1/\epsilon` whole and :math:`\epsilon \le 1/2`.
    rounds, mixture, majority
        As in :func:`tallystick.dynamic.path`.
    initial
        Any :math:`\mathcal D_0` on the :math:`8/\epsilon^2` items.
    slope
        Theorem C.2: the items lie on a line and :math:`\mathcal D(x)` rises along it by this share
        from its mean to its end, so that unions of two intervals are a rich enough class. The bound
        is then :math:`(1 -
        |slope|)\,\epsilon^2/8`, which tends to that of Theorem 3.5. :math:`\mathcal D_0` has to rise where
        :math:`\mathcal D` does.

    Examples
    --------
    >>> stall = path_certificate(1 / 4, rounds=60)
    >>> stall.check().consistent, stall.bound == (1 / 4) ** 2 / 8, stall.risk_by_round()[-1] == stall.bound
    (True, True, True)
    """
    n1 = _inverse(epsilon)
    size, each = 8 * n1 * n1, 2 * n1  # d and k' for k = 1
    population, rank = _line(size, initial, slope)
    distinct = np.zeros((2 * n1, size), dtype=bool)
    distinct[:, 0] = True
    for t in range(2 * n1):
        distinct[t, 1 + t * (each - 1) : 1 + (t + 1) * (each - 1)] = True
    table = mixture_table(rounds, mixture)
    played = list(range(min(rounds, 2 * n1)))
    for t in range(len(played), rounds):
        load = np.bincount(played, weights=table[t][1:], minlength=2 * n1)  # (25)
        played.append(int(np.argmin(load)))  # (26)
    return Certificate(
        theorem="Theorem 3.5" if not slope else "Theorem C.2",
        population=population,
        design=path(rounds, mixture=mixture, majority=majority),
        errors=distinct[np.array(played)][:, rank],
        epsilon=epsilon,
        bound=float(population.weights[rank == 0][0]),
    )


def hierarchical_certificate(
    epsilon: float,
    *,
    mixing: Mixing = "nested",
    design: Design | None = None,
    initial: Array | None = None,
    slope: float = 0.0,
) -> Certificate:
    r"""Build the hierarchy of depth 2 and width 3 that stalls at :math:`\epsilon^3/2`, whatever its
    weights.

    [SAH23]_, Theorem 4.2, on :math:`d = 2/\epsilon^3` items; with a *slope*, Theorem C.3 (unions of
    three intervals). For the condition on :math:`\epsilon` the text prints :math:`\epsilon \ge
    1/2`; it has to be :math:`\le` (ERRATA).

    Parameters
    ----------
    epsilon, initial, slope
        As in :func:`path_certificate`.
    mixing
        Which built-in hierarchy.
    design
        Instead of a built-in one: any design that trains nine models in three votes of three, with
        weights of its own. The text allows any votes; its construction needs votes in which any two
        models outvote the third, because one with more than half of them would make its own error
        set that of the vote. ``check()`` rejects such a design.

    Examples
    --------
    >>> stall = hierarchical_certificate(1 / 5)
    >>> stall.check().consistent, stall.population.size, round(stall.output_risk() / (1 / 5) ** 3, 12)
    (True, 250, 0.5)
    """
    n1 = _inverse(epsilon)
    n2, size = n1 * n1, 2 * n1**3
    graph = hierarchical(depth=2, width=3, mixing=mixing) if design is None else design
    if graph.rounds != 9:
        raise InputError(
            f"Theorem 4.2 is about nine models, and design {graph.name!r} trains {graph.rounds}"
        )
    population, rank = _line(size, initial, slope)
    one, first, second, third = (0, 1), (0, n1), (n1, 2 * n1 - 1), (2 * n1 - 1, 3 * n1 - 2)
    sets = [
        [(0, n2)],
        [first, (n2, 2 * n2 - n1)],
        [first, (2 * n2 - n1, 3 * n2 - 2 * n1)],
        [one, (n1, n2 + n1 - 1)],
        [one, second, (n2 + n1 - 1, 2 * n2 - 1)],
        [one, second, (2 * n2 - 1, 3 * n2 - n1 - 1)],
        [one, (2 * n1 - 1, n2 + 2 * n1 - 2)],
        [one, third, (n2 + 2 * n1 - 2, 2 * n2 + n1 - 2)],
        [one, third, (2 * n2 + n1 - 2, 3 * n2 - 2)],
    ]
    errors = np.zeros((9, size), dtype=bool)
    for t, spans in enumerate(sets):
        for low, high in spans:
            errors[t, low:high] = True
    return Certificate(
        theorem="Theorem 4.2" if not slope else "Theorem C.3",
        population=population,
        design=graph,
        errors=errors[:, rank],
        epsilon=epsilon,
        bound=float(population.weights[rank == 0][0]),
    )


def _inverse(epsilon: float) -> int:
    checked_epsilon(epsilon)
    whole = round(1 / epsilon)
    if abs(1 / epsilon - whole) > 1e-9:
        below = 1 / int(np.ceil(1 / epsilon))
        raise InputError(
            f"1/epsilon must be whole, got epsilon {epsilon!r}: use {below:.6g}, which is a"
            " fortiori valid"
        )
    return whole


def _line(size: int, initial: Array | None, slope: float) -> tuple[Population, Array]:
    """Return the population and each item's place in ascending order of the initial
    distribution.
    """
    if not -1 < slope < 1:
        raise InputError(f"slope must be in (-1, 1), got {slope!r}")
    weights = np.full(size, 1 / size)
    if slope:
        weights = weights * (1 + slope * np.linspace(-1, 1, size))
    population = Population(weights / weights.sum() if slope else weights, initial=initial)
    order = np.argsort(population.start, kind="stable")
    if slope and np.any(np.diff(population.weights[order]) < 0):
        raise InputError(
            "with a slope, initial has to rise wherever the population's weights do (Theorem C.2)"
        )
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(size)
    return population, rank
