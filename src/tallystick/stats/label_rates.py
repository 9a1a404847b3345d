"""How often a judge is right on items of one label, sharpened by what the votes say of every item.

Votes sort the items into cells (by vote and consensus) before any label is seen. Labels drawn
uniformly then estimate the share of the label in each cell, and the known sizes of the cells put
them together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.stats.adverse_binary import Population, check_population
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import (
    Floats,
    Intervals,
    Vector,
    as_counts,
    mover_ratio,
    score_ends,
)

_LEAST = 2
"""Fewer labels than this in a stratum say nothing of its spread: the strata are then taken
together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelRates:
    """Estimates that use labels and votes, one per judge.

    Parameters
    ----------
    estimate
        The estimates; NaN where the labels say nothing.
    interval
        Their intervals; where the labels say nothing, what logic leaves.
    items
        How many hits there are in all, as estimated: items of the label that the judge voted on.
    """

    estimate: Floats
    interval: Intervals
    items: Floats


def poststratified_ratio(
    sizes: Vector,
    labelled: Vector,
    hits: Vector,
    *,
    inside: NDArray[np.bool_],
    alpha: float = 0.05,
    population: Population = "these",
) -> LabelRates:
    r"""Estimate what share of all hits lies inside: of all items of a label, those that a judge
    gave it.

    Cells are crossed by vote and consensus; :math:`p_h` is the share of hits (truth is the label)
    among the labelled items of cell h. A, C are the sums of :math:`N_h p_h` over the cells *inside*
    (the vote is the label) and outside, and their squared reaches the sums of :math:`(N_h (p_h -
    l_h))^2` and :math:`(N_h (u_h - p_h))^2`, with Wilson ends
    :math:`l_h, u_h` at the effective size
    :math:`k_h (N_h - 1)/(N_h - k_h)` and Student's quantile; (I9) bounds r = A/C, and

    .. math:: \frac{A}{A + C}: \qquad \frac{r}{1 + r} \mp \frac{1}{2 (A + C)},   \tag{P2}

    clipped to what logic allows. A side with fewer than two labels in one of its cells is one cell.
    For ``new`` items, :math:`k^*_h = k_h`, no 1/(2(A + C)) and no clipping; the chance
    sizes of the cells add :math:`q^2 \sum_h N_h p_h^2 g_h^2/(A + C)^2` to the squared reach of
    either end, g being C/(A + C) inside and A/(A + C) outside. Approximate.

    Parameters
    ----------
    sizes, labelled, hits
        :math:`N_h, k_h` and the labelled hits; one row a judge, cells along the last axis.
    inside
        Which cells are inside, one flag a cell.
    alpha
        One minus the level.
    population
        ``these`` items, or ``new`` ones like them.

    Returns
    -------
    LabelRates
        The estimate is NaN, and the interval what logic leaves, where no hit was labelled or a side
        has items and no label.

    Examples
    --------
    Vote and consensus both positive, vote only, consensus only, neither:

    >>> inside = np.array([True, True, False, False])
    >>> found = poststratified_ratio([40, 10, 8, 142], [10, 3, 2, 35], [9, 1, 1, 1], inside=inside)
    >>> found.estimate.round(3).tolist(), str(found.interval[0])
    ([0.83], '[0.611, 0.929] (95%, approximate)')
    """
    open_unit(alpha=alpha)
    n, k, x = _rows(sizes, labelled, hits)
    flags = np.asarray(inside, dtype=np.bool_)
    sides = [_merged(*(part[:, mask] for part in (n, k, x))) for mask in (flags, ~flags)]
    est, low, high, items = _ratio_ends(
        sides[0], sides[1], alpha=alpha, population=check_population(population)
    )
    interval = Intervals(
        low, high, level=1 - alpha, guarantee="approximate", method="post-stratified mover-t"
    )
    return LabelRates(estimate=est, interval=interval, items=items)


def _rows(sizes: Vector, labelled: Vector, right: Vector) -> tuple[Floats, Floats, Floats]:
    x, k = as_counts(right, labelled, names=("right", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    return np.atleast_2d(n), np.atleast_2d(k), np.atleast_2d(x)


def _merged(n: Floats, k: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Take all strata of a row together where one that has items has fewer than two labels."""
    scarce = ((n > 0) & (k < _LEAST)).any(axis=1, keepdims=True)
    first = np.arange(n.shape[1]) == 0
    n, k, x = (
        np.where(scarce, np.where(first, part.sum(axis=1, keepdims=True), 0.0), part)
        for part in (n, k, x)
    )
    return n, k, x


def _brick(
    n: Floats, k: Floats, x: Floats, quantile: Floats, population: Population
) -> tuple[Floats, Floats, Floats]:
    """Return each stratum's share and its Wilson ends; the share is 1/2 in [0, 1] where nothing is
    labelled.
    """
    share = np.divide(x, k, out=np.full_like(x, 0.5), where=k > 0)
    size = k
    if population == "these":  # no doubt is left once all of a stratum is labelled
        size = np.divide(k * (n - 1), n - k, out=np.where(n > 0, np.inf, 0.0), where=n > k)
    low, high = score_ends(share, size, quantile)
    return share, low, high


def _t_quantile(alpha: float, labels: Floats, strata: Floats) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(1.0, labels - strata), 1 - alpha / 2), dtype=np.float64)


def _ratio_ends(
    within: tuple[Floats, Floats, Floats],
    without: tuple[Floats, Floats, Floats],
    *,
    alpha: float,
    population: Population,
) -> tuple[Floats, Floats, Floats, Floats]:
    labels = within[1].sum(axis=1) + without[1].sum(axis=1)
    q = _t_quantile(alpha, labels, (within[0] > 0).sum(axis=1) + (without[0] > 0).sum(axis=1))
    (A, a_reach, a_size), (C, c_reach, c_size) = (
        _side(*cells, q, population) for cells in (within, without)
    )
    known = (A + C > 0) & ~_unlabelled(within) & ~_unlabelled(without)
    whole = np.where(known, A + C, 1.0)
    est = A / whole
    r_low, r_high = mover_ratio(A, C, top_reach=a_reach, bottom_reach=c_reach)
    lo, hi = (
        r_low / (1 + r_low),
        np.where(np.isinf(r_high), 1.0, r_high / (1 + np.where(np.isinf(r_high), 1, r_high))),
    )
    if population == "these":
        lo, hi = lo - 1 / (2 * whole), hi + 1 / (2 * whole)  # (P2)
        least, most = _logic(within, without)
    else:
        chance = q**2 * (a_size * (1 - est) ** 2 + c_size * est**2) / whole**2
        lo, hi = est - np.sqrt((est - lo) ** 2 + chance), est + np.sqrt((hi - est) ** 2 + chance)
        least, most = np.zeros_like(est), np.ones_like(est)
    lo, hi = (
        np.where(known, np.maximum(lo, least), least),
        np.where(known, np.minimum(hi, most), most),
    )
    return np.where(known, np.clip(est, lo, hi), np.nan), lo, hi, A + C


def _side(
    n: Floats, k: Floats, x: Floats, quantile: Floats, population: Population
) -> tuple[Floats, tuple[Floats, Floats], Floats]:
    """Return the expected hits of one side, their squared reaches, and the part of their variance
    from chance sizes.
    """
    share, low, high = _brick(n, k, x, quantile[:, None], population)
    down, up = ((n * (share - low)) ** 2).sum(axis=1), ((n * (high - share)) ** 2).sum(axis=1)
    return (n * share).sum(axis=1), (down, up), (n * share**2).sum(axis=1)


def _unlabelled(cells: tuple[Floats, Floats, Floats]) -> NDArray[np.bool_]:
    n, k, _ = cells
    unlabelled: NDArray[np.bool_] = (n.sum(axis=1) > 0) & (k.sum(axis=1) == 0)
    return unlabelled


def _logic(
    within: tuple[Floats, Floats, Floats], without: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return the least and the greatest ratio that the labels leave possible; 0 and 1 where there
    may be no hit.
    """
    (a_sure, a_open), (c_sure, c_open) = (
        (x.sum(axis=1), (n - k).sum(axis=1)) for n, k, x in (within, without)
    )
    all_c, all_a = a_sure + c_sure + c_open, a_sure + a_open + c_sure
    least = np.divide(a_sure, all_c, out=np.zeros_like(all_c), where=all_c > 0)
    most = np.divide(a_sure + a_open, all_a, out=np.ones_like(all_a), where=all_a > 0)
    return least, most
