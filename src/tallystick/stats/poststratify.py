"""Post-stratified shares: a few labels, sharpened by what the votes already say of every item.

Votes sort the items into strata (agrees with the consensus or not, say) before any label is seen.
Labels drawn uniformly then estimate a share in each stratum, and the known sizes of the strata put
them together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.stats.exact_tails import Floats as BinomialFloats
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.intervals import (
    Floats,
    Intervals,
    Vector,
    as_counts,
    mover_ratio,
    mover_sum,
    score_ends,
    split_alpha,
)

__all__ = [
    "RateTest",
    "Sharpened",
    "Side",
    "Target",
    "check_target",
    "poststratified_ratio",
    "poststratified_share",
    "rate_log_e",
]

Target: TypeAlias = Literal["items", "population"]
"""``items``: the share among these very items. ``population``: among all items of which these are a
random sample."""

_LEAST = 2
"""Fewer labels than this in a stratum say nothing of its spread: the strata are then taken
together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sharpened:
    """Estimates that use labels and votes, one a judge.

    Parameters
    ----------
    estimate
        The estimates; NaN where the labels say nothing.
    interval
        Their intervals; where the labels say nothing, what logic leaves.
    worth
        How many labels, without the votes, would have given the same width: at least the number of
        labels where the votes helped.
    """

    estimate: Floats
    interval: Intervals
    worth: Floats


def poststratified_share(
    sizes: Vector, labelled: Vector, right: Vector, *, alpha: float = 0.05, target: Target = "items"
) -> Sharpened:
    r"""Estimate a share from a few labels in strata of known size, by post-stratified MOVER-t.

    With :math:`N_h` items, :math:`k_h` labelled, :math:`x_h` of them right, :math:`p_h = x_h/k_h`,
    :math:`W_h = N_h/N`, and Wilson ends :math:`l_h, u_h` at the effective size :math:`k^*_h = k_h
    (N_h - 1)/(N_h - k_h)` and Student's quantile q with :math:`\max(1, k - H)` degrees of freedom,

    .. math:: \hat p = \sum_h W_h p_h, \qquad
              lo = \hat p - \sqrt{\textstyle\sum_h W_h^2 (p_h - l_h)^2} - \frac{1}{2N}, \qquad
              hi = \hat p + \sqrt{\textstyle\sum_h W_h^2 (u_h - p_h)^2} + \frac{1}{2N},   \tag{P1}

    clipped to what logic allows, :math:`[x/N, (x + N - k)/N]`. For the target ``population``,
    :math:`k^*_h = k_h`, :math:`q^2 \sum_h W_h (p_h - \hat p)^2/N` is added under both roots, and
    :math:`1/(2N)` and the clipping go. If a stratum has fewer than two labels, all strata are taken
    together. Approximate.

    Parameters
    ----------
    sizes, labelled, right
        :math:`N_h, k_h, x_h`; one row a judge, strata along the last axis. A single row may be
        given as one sequence.
    alpha
        One minus the level.
    target
        What the share is of: these ``items``, or the ``population`` behind them.

    Examples
    --------
    A judge agrees with the consensus on 80 of 108 items; 20 labels fell there, 10 on the rest.

    >>> found = poststratified_share([80, 28], [20, 10], [19, 3])
    >>> found.estimate.round(3).tolist(), str(found.interval[0]), found.worth.round(1).tolist()
    ([0.781], '[0.647, 0.860] (95 %, approximate)', [52.4])
    """
    split_alpha(alpha, "two")
    n, k, x = _rows(sizes, labelled, right)
    strata = _merged(n, k, x)
    est, low, high = _share_ends(*strata, alpha=alpha, target=check_target(target))
    alone = _share_ends(
        *(part.sum(axis=1, keepdims=True) for part in (n, k, x)), alpha=alpha, target=target
    )
    return _sharpened(
        est, low, high, alone_width=alone[2] - alone[1], labels=k.sum(axis=1), alpha=alpha
    )


def poststratified_ratio(
    sizes: Vector,
    labelled: Vector,
    hits: Vector,
    *,
    inside: NDArray[np.bool_],
    alpha: float = 0.05,
    target: Target = "items",
) -> Sharpened:
    r"""Estimate what share of all hits lies inside: of all items of a label, those that a judge
    gave it.

    Cells are crossed by vote and consensus; :math:`p_h` is the share of hits (truth is the label)
    among the labelled items of cell h. A, C are the sums of :math:`N_h p_h` over the cells *inside*
    (the vote is the label) and outside, and their squared reaches the sums of :math:`(N_h (p_h -
    l_h))^2` and :math:`(N_h (u_h - p_h))^2`, with the Wilson ends of (P1); (I9) bounds r = A/C, and

    .. math:: \frac{A}{A + C}: \qquad \frac{r}{1 + r} \mp \frac{1}{2 (A + C)},   \tag{P2}

    clipped to what logic allows. A side with fewer than two labels in one of its cells is one cell.
    For the target ``population``, :math:`k^*_h = k_h`, no 1/(2(A + C)) and no clipping; the chance
    sizes of the cells add :math:`q^2 \sum_h N_h p_h^2 g_h^2/(A + C)^2` to the squared reach of
    either end, g being C/(A + C) inside and A/(A + C) outside. Approximate.

    Parameters
    ----------
    sizes, labelled, hits
        :math:`N_h, k_h` and the labelled hits; one row a judge, cells along the last axis.
    inside
        Which cells are inside, one flag a cell.
    alpha, target
        As in :func:`poststratified_share`.

    Returns
    -------
    Sharpened
        The estimate is NaN, and the interval what logic leaves, where no hit was labelled or a side
        has items and no label.

    Examples
    --------
    Vote and consensus both positive, vote only, consensus only, neither:

    >>> inside = np.array([True, True, False, False])
    >>> found = poststratified_ratio([40, 10, 8, 142], [10, 3, 2, 35], [9, 1, 1, 1], inside=inside)
    >>> found.estimate.round(3).tolist(), str(found.interval[0])
    ([0.83], '[0.611, 0.929] (95 %, approximate)')
    """
    split_alpha(alpha, "two")
    n, k, x = _rows(sizes, labelled, hits)
    flags = np.asarray(inside, dtype=np.bool_)
    if flags.shape != n.shape[1:] or flags.all() or not flags.any():
        raise InputError(
            f"inside must flag some of the {n.shape[1]} cells and not all, got {flags.tolist()}"
        )
    sides = [_merged(*(part[:, mask] for part in (n, k, x))) for mask in (flags, ~flags)]
    est, low, high = _ratio_ends(sides[0], sides[1], alpha=alpha, target=check_target(target))
    hits_in, hits_all = x[:, flags].sum(axis=1), x.sum(axis=1)
    alone_width = _recall_width(
        hits_in, hits_all, n.sum(axis=1), k.sum(axis=1), alpha=alpha, target=target
    )
    return _sharpened(est, low, high, alone_width=alone_width, labels=k.sum(axis=1), alpha=alpha)


def check_target(target: Target) -> Target:
    """Return the target, or refuse an unknown one."""
    if target not in ("items", "population"):
        raise InputError(f"target must be 'items' or 'population', got {target!r}")
    return target


def _rows(sizes: Vector, labelled: Vector, right: Vector) -> tuple[Floats, Floats, Floats]:
    x, k = as_counts(right, labelled, names=("right", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.ndim not in (1, 2) or x.shape != n.shape or not n.size:
        raise InputError(
            f"sizes, labelled and right are rows of strata of one shape, got {np.shape(sizes)},"
            f" {x.shape}"
        )
    if (np.atleast_2d(n).sum(axis=1) < 1).any():
        raise InputError("sizes: a row of strata has no items at all: leave that judge out")
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
    n: Floats, k: Floats, x: Floats, quantile: Floats, target: Target
) -> tuple[Floats, Floats, Floats]:
    """Return each stratum's share and its Wilson ends; the share is 1/2 in [0, 1] where nothing is
    labelled.
    """
    share = np.divide(x, k, out=np.full_like(x, 0.5), where=k > 0)
    size = k
    if target == "items":  # no doubt is left once all of a stratum is labelled
        size = np.divide(k * (n - 1), n - k, out=np.where(n > 0, np.inf, 0.0), where=n > k)
    low, high = score_ends(share, size, quantile)
    return share, low, high


def _t_quantile(alpha: float, labels: Floats, strata: Floats) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.maximum(1.0, labels - strata), 1 - alpha / 2), dtype=np.float64)


def _share_ends(
    n: Floats, k: Floats, x: Floats, *, alpha: float, target: Target
) -> tuple[Floats, Floats, Floats]:
    total, labels, right = n.sum(axis=1), k.sum(axis=1), x.sum(axis=1)
    q = _t_quantile(alpha, labels, (n > 0).sum(axis=1))
    share, low, high = _brick(n, k, x, q[:, None], target)
    weights = n / total[:, None]
    est = (weights * share).sum(axis=1)
    between = (
        0.0
        if target == "items"
        else q**2 * (weights * (share - est[:, None]) ** 2).sum(axis=1) / total
    )
    _, lo, hi = mover_sum(share, low, high, weights=weights, covariance=between)  # (P1)
    if target == "items":
        lo, hi = lo - 1 / (2 * total), hi + 1 / (2 * total)
        lo, hi = np.maximum(lo, right / total), np.minimum(hi, (right + total - labels) / total)
        est = np.clip(est, lo, hi)  # rounding alone can leave a point interval beside its estimate
    return (
        np.where(labels > 0, est, np.nan),
        np.where(labels > 0, np.clip(lo, 0, 1), 0),
        np.clip(hi, 0, 1),
    )


def _ratio_ends(
    within: tuple[Floats, Floats, Floats],
    without: tuple[Floats, Floats, Floats],
    *,
    alpha: float,
    target: Target,
) -> tuple[Floats, Floats, Floats]:
    labels = within[1].sum(axis=1) + without[1].sum(axis=1)
    q = _t_quantile(alpha, labels, (within[0] > 0).sum(axis=1) + (without[0] > 0).sum(axis=1))
    (A, a_reach, a_size), (C, c_reach, c_size) = (
        _side(*cells, q, target) for cells in (within, without)
    )
    known = (A + C > 0) & ~_unlabelled(within) & ~_unlabelled(without)
    whole = np.where(known, A + C, 1.0)
    est = A / whole
    r_low, r_high = mover_ratio(A, C, top_reach=a_reach, bottom_reach=c_reach)
    lo, hi = (
        r_low / (1 + r_low),
        np.where(np.isinf(r_high), 1.0, r_high / (1 + np.where(np.isinf(r_high), 1, r_high))),
    )
    if target == "items":
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
    return np.where(known, np.clip(est, lo, hi), np.nan), lo, hi


def _side(
    n: Floats, k: Floats, x: Floats, quantile: Floats, target: Target
) -> tuple[Floats, tuple[Floats, Floats], Floats]:
    """Return the expected hits of one side, their squared reaches, and the part of their variance
    from chance sizes.
    """
    share, low, high = _brick(n, k, x, quantile[:, None], target)
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


def _recall_width(
    hits_in: Floats, hits: Floats, items: Floats, labels: Floats, *, alpha: float, target: Target
) -> Floats:
    """Return the width of Wilson's interval from labelled hits alone, with the number of all hits
    scaled up.
    """
    share = np.divide(hits_in, hits, out=np.full_like(hits, 0.5), where=hits > 0)
    size = hits
    if target == "items":
        every = np.divide(hits * items, labels, out=np.zeros_like(hits), where=labels > 0)
        size = np.divide(
            hits * (every - 1), every - hits, out=np.full_like(hits, np.inf), where=every > hits
        )
        size = np.where(hits > 0, np.maximum(size, 0.0), 0.0)
    low, high = score_ends(share, size, _t_quantile(alpha, hits, np.ones_like(hits)))
    return high - low


def _sharpened(
    estimate: Floats,
    low: Floats,
    high: Floats,
    *,
    alone_width: Floats,
    labels: Floats,
    alpha: float,
) -> Sharpened:
    # Both widths are 0 when everything is labelled: the votes were worth nothing more, and nothing
    # less.
    ratio = np.divide(alone_width, high - low, out=np.ones_like(labels), where=high > low)
    interval = Intervals(
        low, high, level=1 - alpha, guarantee="approximate", method="post-stratified mover-t"
    )
    return Sharpened(estimate=estimate, interval=interval, worth=labels * ratio**2)


# Whether the share of a finite population lies above or below a limit, sampled without
# replacement at any pace.
#
# M items in random order, F events among the first t. If the population held exactly :math:`xM`
# events, the next one would come with probability
#
# .. math:: x_t = (xM - F)/(M - t)   \tag{E3}
#
# and a product of likelihood ratios against :math:`x_t` is an e-process for every population on the
# null's side of x. Two mixtures, fixed beforehand:
#
# * *below*, evidence that the share is under x (null: at least xM events): .8 on "no event at
# all"
#   and .05 each on event
#   rates of .05, .1, .2 and .4 of :math:`x_t`. A clean run of 304 items shows less than 1 %, 605
# less
#   than .5 %, 60 less than 5 % (α = .05, M = 20,000).
# * *above*, evidence that it is over x (null: at most xM events): equal parts on 1.5, 2, 3, 5,
# 10,
#   20, 40 and 80 times
#   :math:`x_t`, no rate above 1.


Side: TypeAlias = Literal["below", "above"]

_MIXTURES: dict[Side, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "below": ((0.0, 0.05, 0.1, 0.2, 0.4), (0.8, 0.05, 0.05, 0.05, 0.05)),
    "above": ((1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 40.0, 80.0), (0.125,) * 8),
}
"""Multiples of the null's rate that are bet on, and the share of the stake on each."""


def rate_log_e(
    events: npt.ArrayLike, *, limit: float, population: int, side: Side
) -> BinomialFloats:
    r"""Return log E after each item, along the last axis of *events* (0 or 1); other axes are
    separate runs.

    Parameters
    ----------
    events
        One answer an item, in the random order in which they were asked.
    limit
        The share x in question.
    population
        M, the number of items there are.
    side
        ``below``: evidence that the share is under x. ``above``: evidence that it is over x.

    Examples
    --------
    >>> clean = rate_log_e(np.zeros(400), limit=0.01, population=20_000, side="below")
    >>> int(np.argmax(clean >= np.log(20))) + 1
    304
    """
    return _path(RateTest(limit=limit, population=population, side=side), events)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTest:
    """The test of :func:`rate_log_e` as a stream; ``update`` returns the next state and the old one
    stays as it was.

    Parameters
    ----------
    limit, population, side
        As in :func:`rate_log_e`.
    items, events
        Seen so far.
    log_e
        Log of the e-value now; infinite once the null hypothesis is impossible.
    peak
        Largest log E so far.

    Examples
    --------
    >>> test = RateTest(limit=0.05, population=20_000, side="below")
    >>> test.update(np.zeros(40)).update(np.zeros(20)).p_value <= 0.05
    True
    """

    limit: float
    population: int
    side: Side
    items: int = 0
    events: int = 0
    log_e: float = 0.0
    peak: float = 0.0
    parts: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        open_unit(limit=self.limit)
        whole(1, population=self.population)
        if self.side not in _MIXTURES:
            raise InputError(f"side must be 'below' or 'above', got {self.side!r}")
        if not self.parts:
            object.__setattr__(self, "parts", (0.0,) * len(_MIXTURES[self.side][0]))

    @property
    def p_value(self) -> float:
        """The anytime p-value, one over the largest E so far; at most 1."""
        return exp(-self.peak)

    def update(self, events: npt.ArrayLike) -> RateTest:
        """Return the test after more items, in the order in which they were asked."""
        answers = np.atleast_1d(np.asarray(events))
        if answers.ndim != 1:
            raise InputError(
                f"events must be one run, got shape {answers.shape}: use rate_log_e for many"
            )
        if not answers.size:
            return self
        path, parts = _path(self, answers)
        return RateTest(
            limit=self.limit,
            population=self.population,
            side=self.side,
            items=self.items + answers.size,
            events=self.events + int(np.sum(answers)),
            log_e=float(path[-1]),
            peak=max(self.peak, float(np.max(path))),
            parts=tuple(float(part) for part in parts),
        )


def _path(start: RateTest, events: npt.ArrayLike) -> tuple[BinomialFloats, BinomialFloats]:
    """Return log E after each further item, and the log of each part of the mixture after the
    last.
    """
    hits = np.asarray(events, dtype=float)
    if hits.ndim == 0 or not np.all((hits == 0) | (hits == 1)):
        raise InputError(
            "events must be 0 or 1, along the last axis: leave out what was not answered"
        )
    length = hits.shape[-1]
    if start.items + length > start.population:
        raise InputError(
            f"population must be at least the items seen, got {start.population} <"
            f" {start.items + length}"
        )
    event = hits == 1
    before = start.events + np.cumsum(hits, axis=-1) - hits
    quota = start.limit * start.population - before  # events that the null still holds in store
    left = start.population - start.items - np.arange(length)
    null = np.clip(quota / left, 0.0, 1.0)  # (E3)
    # at 0 or 1 the null is certain to hold, or fails outright (below)
    betting = (null > 0) & (null < 1)
    safe = np.where(betting, null, 0.5)

    path, parts = np.full(hits.shape, -np.inf), []
    for multiple, weight, so_far in zip(*_MIXTURES[start.side], start.parts, strict=True):
        rate = np.minimum(multiple * safe, 1.0)
        with np.errstate(divide="ignore"):  # an outcome that a part holds impossible ends it: log 0
            step = np.log(np.where(event, rate, 1 - rate) / np.where(event, safe, 1 - safe))
        part = so_far + np.cumsum(np.where(betting, step, 0.0), axis=-1)
        path = np.logaddexp(path, part + log(weight))
        parts.append(part[..., -1])

    # What the null forbids: fewer events than it needs although all the rest had one, or one more
    # than it allows.
    slack = 1e-12 * start.population  # limit * population may miss a whole number by an ulp
    broken = (
        ~event & (quota > left - 1 + slack)
        if start.side == "below"
        else event & (quota < 1 - slack)
    )
    refuted = np.logical_or.accumulate(broken, axis=-1) | np.isposinf(start.log_e)
    return np.where(refuted, np.inf, path), np.stack(parts, axis=-1)
