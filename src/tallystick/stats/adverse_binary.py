r"""Means of labels drawn by strata: adverse likelihoods of shares and of numbers.

Items are sorted into strata before any label is seen. In stratum h there are :math:`N_h` items,
:math:`k_h` labels and :math:`x_h` passes; :math:`W_h = N_h/N`, :math:`\hat p_h = x_h/k_h`. A label on
one of few items is worth more, so it counts as :math:`k^*_h = k_h (N_h - 1)/(N_h - k_h)` labels
(:math:`10^7` once the stratum is fully labelled). Sessions of the second version, and those that
ask which of two is better, draw by strata; any other question of a mean is for
`tallystick.stats.few_labels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.bets import crossing
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import Bounds, Floats, Vector

PSEUDO = 0.35
"""The fraction of one more label, at the worst value, that each end sees."""
ALONE = 0.5
"""The same where one stratum holds everything: two ends share less than with several strata."""
METHOD = "stratified adverse likelihood"


# Which items a mean is about: these very items, or new items like them, and what that costs.


Ends: TypeAlias = tuple[Floats, Floats]
"""Lower and upper ends of many intervals."""
Population: TypeAlias = Literal["these", "new"]
"""``these``: the N items in the table. ``new``: the source from which these N were drawn."""


def check_population(population: Population) -> Population:
    """Return *population*, or raise ``InputError`` if it is neither word.

    >>> check_population("these")
    'these'
    >>> check_population("all")
    Traceback (most recent call last):
    tallystick.errors.InputError: population must be 'these' or 'new', got 'all'
    """
    if population not in ("these", "new"):
        raise InputError(f"population must be 'these' or 'new', got {population!r}")
    return population


# What the labels of a stratum count for, and what a stratum without labels is given.


EVERYTHING = 1e7
"""Effective labels in a stratum that is fully labelled: nothing is left to doubt there."""


def effective_labels(sizes: Floats, effective: Floats, complete: NDArray[np.bool_]) -> Floats:
    """Return k*: what the labels of a stratum count for, given how many items they were drawn from.

    *effective* are the labels, or their Kish size; *complete* says where every item is labelled.
    """
    left = np.where(complete, 1.0, sizes - effective)
    return np.where(complete & (sizes > 0), EVERYTHING, effective * (sizes - 1) / left)


def fill_unlabelled(sizes: Floats, share: Floats, labels: Floats) -> Floats:
    """Give each stratum without labels the size-weighted mean share of the labelled ones.

    NaN where a row has no labels at all.
    """
    known = np.where(labels > 0, sizes, 0.0)
    total = known.sum(axis=1, keepdims=True)
    mean = np.divide(
        (known * share).sum(axis=1, keepdims=True),
        total,
        out=np.full_like(total, np.nan),
        where=total > 0,
    )
    return np.where(labels > 0, share, mean)


# The ends of a share.


def adverse_shares(
    sizes: Vector, labelled: Vector, passes: Vector, *, alpha: float = 0.05
) -> tuple[Floats, Ends]:
    """Estimate how many of these items pass, one problem per row of strata, and return both ends.

    The ends (AL2) are rounded outwards to whole items and clipped to what logic allows. A stratum
    without labels takes the size-weighted mean of the labelled ones; a row without labels has no
    estimate. Passes may be fractions.

    >>> found, (low, high) = adverse_shares([[28, 80], [0, 108]], [[10, 20], [0, 30]], [[3, 19], [0, 22]])
    >>> found.round(4).tolist(), low.round(4).tolist(), high.round(4).tolist()
    ([0.7815, 0.7333], [0.6574, 0.5741], [0.8704, 0.8611])
    """
    n, k, x = (np.asarray(part, dtype=np.float64) for part in (sizes, labelled, passes))
    items, labels, right = n.sum(axis=1), k.sum(axis=1), x.sum(axis=1)
    share = np.clip(np.divide(x, k, out=np.zeros_like(x), where=k > 0), 0.0, 1.0)
    star = np.where(k > 0, effective_labels(n, k, k == n), 0.0)
    raw = raw_share_ends(n, star, share, alpha=alpha)

    # Outwards to whole items: the truth is a whole number of them (or of halves, if values are).
    # The upper end is rounded through the fails, so that passes and fails are exact mirrors.
    low = np.floor(items * raw[0]) / items
    high = (items - np.floor(items * (1 - raw[1]))) / items
    least, most = right / items, (right + items - labels) / items
    estimate = (n * fill_unlabelled(n, share, k)).sum(axis=1) / items
    low, high, estimate = (np.clip(part, least, most) for part in (low, high, estimate))
    return estimate, (low, high)


def pseudo_label(weights: Floats) -> Floats:
    """Return the factor a of (AL1) for each row of strata, from their weights.

    Examples
    --------
    >>> pseudo_label(np.array([[1.0, 0.0], [0.97, 0.03], [0.5, 0.5]])).round(3).tolist()
    [0.5, 0.373, 0.35]
    """
    return np.asarray(np.maximum(PSEUDO, ALONE / np.sqrt(weights).sum(axis=1) ** 2))


def raw_share_ends(
    sizes: Floats,
    effective: Floats,
    share: Floats,
    *,
    alpha: float | Floats = 0.05,
    pseudo: float | None = None,
) -> Ends:
    r"""Return both ends of the share of passes, neither rounded nor clipped.

    Each end is a likelihood-ratio bound that first sees a fraction of one more label at the worst
    value. For the lower end these are fails:

    .. math:: a_h = a \sqrt{W_h}, \qquad
              a = \max\left(.35, \; \frac{.5}{(\sum_h \sqrt{W_h})^2}\right), \qquad s_h = k^*_h \hat p_h, \quad n_h = k^*_h + a_h, \quad
              \ell(p) = \sum_h s_h \ln p_h + (n_h - s_h) \ln(1 - p_h), \quad
              \tilde p_h = s_h/n_h,   \tag{AL1}

    .. math:: L = \sum_h W_h p_h(\mu), \qquad p_h(\mu) = \frac{2 s_h}{\mu W_h + n_h +
              \sqrt{(\mu W_h + n_h)^2 - 4 \mu W_h s_h}}, \qquad
              2 (\ell(\tilde p) - \ell(p(\mu))) = z_{1-\alpha/2}^2.   \tag{AL2}

    The upper end is one minus the lower end of the fails.

    We deviate from methods/score.md in a: it has .35 throughout. With one stratum that left 4.9%
    for the samples without a pass, and up to 3.6% for the other end at the same rate, so that
    coverage fell to .912 at six labels. With .5 it is at least .928, by enumeration
    (``docs/benchmarks/score.md``). The second term is below .35, and nothing changes,
    where the smaller of two strata holds at least 4.9% of the items.

    Parameters
    ----------
    sizes, effective, share
        :math:`N_h, k^*_h, \hat p_h`, rows of strata. See :func:`effective_labels` for
        :math:`k^*_h`; a share without labels does not matter.
    alpha
        One minus the level, one for all rows or one per row.
    pseudo
        The factor a of (AL1); by default that of :func:`pseudo_label`.

    Examples
    --------
    >>> low, high = raw_share_ends(np.array([[108.0]]), np.array([[41.15]]), np.array([[22 / 30]]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.5782], [0.8535])
    """
    weights = sizes / sizes.sum(axis=1, keepdims=True)
    bar = normal_bar(alpha, len(weights))
    a = pseudo_label(weights) if pseudo is None else np.full(len(weights), pseudo)
    low = lower_ends(weights, effective, share, a, bar)
    return low, 1 - lower_ends(weights, effective, 1 - share, a, bar)


def normal_bar(alpha: float | Floats, rows: int) -> Floats:
    """Return z² of the normal law for every row, at one level for all of them or one for each.

    >>> normal_bar(0.05, 2).round(2).tolist()
    [3.84, 3.84]
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    return np.broadcast_to(ndtri(1 - np.asarray(alpha) / 2) ** 2, (rows,))


# Lower ends of the stratified adverse likelihood, many rows at once.
#
# Only the lower end is written. The upper end is one minus the lower end of the fails.


LOWEST, HIGHEST = -10.0, 25.0
"""Where ln μ is looked for."""


def lower_ends(
    weights: Floats, sizes: Floats, shares: Floats, pseudo: Floats, bar: Floats
) -> Floats:
    r"""Return L of (AL2) for every row of strata.

    The statistic D is a rising function of :math:`t = \ln \mu`. Since :math:`s_h - n_h p_h =
    \mu W_h p_h (1 - p_h)`, its slope is

    .. math:: \frac{dD}{dt} = 2 \mu^2 \sum_h \frac{W_h^2 p_h (1 - p_h)}
              {\sqrt{(\mu W_h + n_h)^2 - 4 \mu W_h s_h}}.

    Parameters
    ----------
    weights, sizes, shares
        W, the effective labels k* and the pass rates p̂, rows x strata.
    pseudo, bar
        Per row the factor a of (AL1), and the z² that the statistic has to reach.
    """
    # Where nothing passed, p̃ = p(μ) = 0 and nothing is lost.
    seen = np.where(weights > 0.0, sizes * shares, 0.0)
    size = sizes + pseudo[:, None] * np.sqrt(weights)  # (AL1): a_h more fails
    size = np.where(seen > 0.0, size, 1.0)
    missed = size - seen
    passed, failed = np.where(seen > 0.0, seen / size, 1.0), missed / size
    log_bar = np.log(bar)

    def rates(t: Floats) -> tuple[Floats, Floats, Floats]:
        tilt = np.exp(t)[:, None] * weights
        # (tilt + n)² - 4 tilt s, written as a sum of squares so that it cannot turn negative.
        root = np.sqrt((tilt - size) ** 2 + 4.0 * tilt * missed)
        return 2.0 * seen / (tilt + size + root), tilt, root

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        p, tilt, root = rates(t)
        lost = seen * np.log(passed / np.where(seen > 0.0, p, 1.0))
        lost += missed * np.log(failed / (1.0 - p))
        drop = 2.0 * lost.sum(axis=1)
        slope = 2.0 * (tilt**2 * p * (1.0 - p) / root).sum(axis=1)
        return np.log(drop) - log_bar, slope / drop

    # For small μ the statistic is μ² Σ W² p̃ (1 - p̃)/n.
    first = (weights**2 * seen * missed / size**3).sum(axis=1)
    with np.errstate(divide="ignore"):
        start = 0.5 * (log_bar - np.log(first))
    p, _, _ = rates(crossing(statistic, start, LOWEST, HIGHEST))
    return np.asarray((weights * p).sum(axis=1))


# The mean of numbers on a known range: scores on [0, 1], differences of two systems on [-1, 1].


SCORES: Bounds = (0.0, 1.0)
DIFFERENCES: Bounds = (-1.0, 1.0)
PSEUDOS = {SCORES: 0.35, DIFFERENCES: 0.25}
"""The fraction of one more label, at the worst value, that each end sees."""


# The mean of bounded numbers from labels drawn by strata: their own likelihood (AL19).
#
# The binary formula (AL1, AL2) asks how often a label is 1. Grades and differences of two systems
# take more values than two, and most differences are 0. Writing D as (D + 1)/2 and treating it as a
# share would let every 0 count as a coin toss: with 50 labelled items the interval of a difference
# was ± .32 where ± .13 is enough. Here the values themselves carry the likelihood.


STRATIFIED = "stratified adverse empirical likelihood"


@dataclass(frozen=True, kw_only=True)
class StratifiedMean:
    """A mean over the items of all strata, and its interval."""

    estimate: float
    interval: Interval


def adverse_stratified_mean(
    labels: Vector,
    stratum: npt.ArrayLike,
    sizes: Vector,
    *,
    bounds: Bounds = (0.0, 1.0),
    alpha: float = 0.05,
) -> StratifiedMean:
    r"""Estimate the mean of these items from labels that were drawn at random inside each stratum.

    Stratum h holds :math:`N_h` items, :math:`W_h = N_h/N`, and :math:`k_h` labels :math:`y_{hi}` of
    weight :math:`w_h = (N_h - 1)/(N_h - k_h)`. The lower end sees the fraction
    :math:`a_h = a \sqrt{W_h}` of one more label at the least value :math:`y_{lo}` in each stratum
    (a = .35 for scores, 1/4 for differences). With :math:`d_{hi} = y_{hi} - y_{lo}` and
    :math:`n_h = k_h w_h + a_h`,

    .. math:: p_{hi} = \frac{w_h}{\nu_h + \mu W_h d_{hi}}, \qquad
              \frac{a_h}{\nu_h} + \sum_i p_{hi} = 1, \qquad
              2 \sum_h \Bigl(a_h \ln \frac{\nu_h}{n_h} +
              w_h \sum_i \ln \frac{\nu_h + \mu W_h d_{hi}}{n_h}\Bigr) = z_{1-\alpha/2}^2, \qquad
              L = y_{lo} + \sum_h W_h \sum_i p_{hi} d_{hi}.   \tag{AL19}

    For labels 0 and 1 this is (AL2), and for one stratum it is (AL6) without judges. The upper end
    is mirrored. Both are then widened by (AL7), with the largest :math:`k_h/(N_h - k_h)` of a
    stratum that is not fully labelled, and clipped to what logic allows. The estimate is
    :math:`\sum_h W_h \bar y_h`; a stratum without labels takes the mean of the others. Approximate:
    its coverage after adaptive draws is measured (``docs/benchmarks/score.md``).

    Parameters
    ----------
    labels, stratum
        The value of every label, and the position of its stratum in *sizes*.
    sizes
        :math:`N_h` per stratum; an empty stratum is skipped.
    bounds
        (0, 1) for scores, (-1, 1) for differences.
    alpha
        One minus the level.

    Examples
    --------
    Fifty items were labelled for two systems; the first was better on eight and worse on two.

    >>> gaps = [1] * 7 + [0] * 18 + [1] + [0] * 22 + [-1] * 2
    >>> found = adverse_stratified_mean(gaps, [0] * 25 + [1] * 25, [200, 300], bounds=(-1, 1))
    >>> print(round(found.estimate, 3), found.interval)
    0.088 [-0.030, 0.205] (95%, approximate)
    """
    open_unit(alpha=alpha)
    limits = (float(bounds[0]), float(bounds[1]))
    if limits not in PSEUDOS:
        raise InputError(f"bounds must be (0, 1) or (-1, 1), got {bounds!r}: rescale the labels")
    y, h, n = _checked(labels, stratum, sizes)
    check_within(y, limits)
    k = np.bincount(h, minlength=n.size).astype(np.float64)
    items, m, total = float(n.sum()), y.size, float(y.sum())

    mean = np.divide(
        np.bincount(h, weights=y, minlength=n.size), k, out=np.zeros(n.size), where=k > 0
    )
    filled = fill_unlabelled(n[None], mean[None], k[None])[0]
    least, most = ((total + (items - m) * bound) / items for bound in limits)
    estimate = float(np.clip((n * filled).sum() / items, least, most))

    star = effective_labels(n, k, k == n)
    each = np.divide(star, k, out=np.zeros(n.size), where=k > 0)
    low, high = _raw_ends(y, h, n / items, each, limits, alpha)
    left = (k > 0) & (k < n)
    nearly = float(np.min([1.0, np.max(k[left] / (n - k)[left], initial=0.0)]))
    gross = nearly * (limits[1] - limits[0]) / items  # (AL7)
    low, high = (float(np.clip(end, least, most)) for end in (low - gross, high + gross))
    return StratifiedMean(
        estimate=min(max(estimate, low), high),
        interval=Interval(low, high, 1 - alpha, "approximate", None, STRATIFIED),
    )


def _raw_ends(
    y: Floats,
    stratum: npt.NDArray[np.int64],
    share: Floats,
    each: Floats,
    bounds: Bounds,
    alpha: float,
) -> tuple[float, float]:
    """Return both ends (AL19) as they come, neither widened nor clipped."""
    from scipy.special import ndtri

    bar = float(ndtri(1 - alpha / 2)) ** 2
    order = np.argsort(stratum, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(stratum, minlength=share.size))))
    pseudo = PSEUDOS[bounds]
    below, above = y[order] - bounds[0], bounds[1] - y[order]
    low = least_stratified_mean(below, start.astype(np.int64), share, each, pseudo, bar)
    high = least_stratified_mean(above, start.astype(np.int64), share, each, pseudo, bar)
    return bounds[0] + low, bounds[1] - high


def _checked(
    labels: Vector, stratum: npt.ArrayLike, sizes: Vector
) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    y, n = (np.asarray(part, dtype=np.float64) for part in (labels, sizes))
    h = np.asarray(stratum, dtype=np.int64)
    if y.ndim != 1 or y.shape != h.shape or not y.size:
        raise InputError(
            "labels and stratum must be two sequences of one length, with at least one label, "
            f"got shapes {y.shape} and {h.shape}"
        )
    if n.ndim != 1 or h.min() < 0 or h.max() >= n.size:
        raise InputError(f"stratum must be positions in the {n.size} sizes, got {h.max()}")
    if (np.bincount(h, minlength=n.size) > n).any():
        raise InputError("sizes: a stratum has more labels than items")
    return y, h, n


def check_within(labels: Floats, bounds: Bounds) -> None:
    """Raise ``InputError`` for a label outside its bounds."""
    outside = ~((labels >= bounds[0]) & (labels <= bounds[1]))  # also catches NaN
    if outside.any():
        raise InputError(
            f"labels must lie in {bounds!r}, got {labels[outside].flat[0]}: rescale them first"
        )


# Lower ends of the adverse empirical likelihood, many rows at once.
#
# Only the lower end is written, for distances d >= 0 from the least value that a label could
# have.
# The upper end takes distances from the greatest value.


EMPIRICAL_ENDS_LOWEST, EMPIRICAL_ENDS_HIGHEST = -14.0, 30.0
"""Where ln γ is looked for."""


def least_means(distances: Floats, weights: Floats, pseudo: float, bar: Floats) -> Floats:
    r"""Return the least mean distance that each row of labels leaves open (AL6).

    The statistic D is a rising function of :math:`\ln \gamma`. With
    :math:`q_i = 1/(1 + \gamma d_i)` its slope is

    .. math:: 2 \gamma \Bigl(\sum_i w_i d_i q_i - \frac ns \sum_i w_i d_i q_i^2\Bigr).

    Parameters
    ----------
    distances, weights
        d and w, rows x labels.
    pseudo
        The fraction a of one more label, at distance 0.
    bar
        Per row the z² that the statistic has to reach.
    """
    far = distances.max(axis=1) > 0.0
    if not far.all():  # labels at distance 0 only: so is the least mean
        ends = np.zeros(len(distances))
        if far.any():
            ends[far] = least_means(distances[far], weights[far], pseudo, bar[far])
        return ends

    size = pseudo + weights.sum(axis=1)
    log_bar = np.log(bar)

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        gamma = np.exp(t)
        tilt = 1.0 + gamma[:, None] * distances
        part = weights / tilt
        kept = pseudo + part.sum(axis=1)
        drop = 2.0 * (size * np.log(kept / size) + (weights * np.log(tilt)).sum(axis=1))
        part *= distances
        slope = part.sum(axis=1) - size / kept * (part / tilt).sum(axis=1)
        return np.log(drop) - log_bar, 2.0 * gamma * slope / drop

    # For small γ the statistic is γ² n times the variance of the distances.
    mean = (weights * distances).sum(axis=1) / size
    spread = (weights * distances**2).sum(axis=1) / size - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.nan_to_num(0.5 * (log_bar - np.log(size * spread)))
    gamma = np.exp(crossing(statistic, start, EMPIRICAL_ENDS_LOWEST, EMPIRICAL_ENDS_HIGHEST))

    q = weights / (1.0 + gamma[:, None] * distances)
    return np.asarray((q * distances).sum(axis=1) / (pseudo + q.sum(axis=1)))


# The lower end of one mean of the stratified adverse empirical likelihood.
#
# Only the lower end is written, for distances d >= 0 from the least value that a label could
# have.
# The upper end takes distances from the greatest value.


STRATIFIED_ENDS_LOWEST, STRATIFIED_ENDS_HIGHEST = -12.0, 30.0
"""Where ln μ is looked for."""
STEPS, CLOSE = 100, 1e-14
"""The most steps of Newton for ν, and the relative step at which it has arrived."""


def least_stratified_mean(
    distance: Floats,
    start: NDArray[np.int64],
    share: Floats,
    each: Floats,
    pseudo: float,
    bar: float,
) -> float:
    r"""Return the least mean distance that the labels of the strata leave open (AL19).

    The statistic D is a rising function of :math:`t = \ln \mu`. With :math:`τ_h = μ W_h`, the mean
    distance :math:`m_h = \sum_i p_{hi} d_{hi}` and sums of :math:`p_{hi}^2 / w_h`,

    .. math:: \frac{dD}{dt} = 2 \sum_h τ_h \Bigl(m_h - \frac{\sum_i d_{hi} p_{hi}^2/w_h}
              {a_h/ν_h^2 + \sum_i p_{hi}^2/w_h}\Bigr).

    Parameters
    ----------
    distance, start
        The labels stratum by stratum, those of stratum h between *start* h and h + 1.
    share, each
        W, and the weight of a label, per stratum.
    pseudo
        The fraction a of (AL19).
    bar
        The z² that the statistic has to reach.
    """
    # Without labels the whole stratum may lie at the least value: it adds nothing.
    used = np.flatnonzero((np.diff(start) > 0) & (share > 0.0))
    if not used.size:
        return 0.0

    # Equal labels are one entry with their number: most grades and differences take few values.
    values = [np.unique(distance[start[h] : start[h + 1]], return_counts=True) for h in used]
    d = np.concatenate([value for value, _ in values])
    lengths = np.array([value.size for value, _ in values])
    weight = np.concatenate([count for _, count in values]) * np.repeat(each[used], lengths)
    at = np.concatenate(([0], np.cumsum(lengths)[:-1]))

    def total(part: Floats) -> Floats:
        """Add up the labels of each stratum."""
        return np.add.reduceat(part, at)

    share, added = share[used], pseudo * np.sqrt(share[used])
    size = added + total(weight)
    middle = total(weight * d) / size

    def bottom(tilt: Floats) -> tuple[Floats, Floats]:
        """Return ν of every stratum, and ν + τ d of every label.

        The mass falls in ν and is convex, so Newton's steps from a point on its left approach ν
        from there and never pass it.
        """
        nu = np.maximum(added, size - tilt * middle)
        lifted = np.repeat(tilt, lengths) * d
        for _ in range(STEPS):
            under = np.repeat(nu, lengths) + lifted
            part = weight / under
            step = (added / nu + total(part) - 1.0) / (added / nu**2 + total(part / under))
            nu = nu + step
            if (np.abs(step) <= CLOSE * nu).all():
                break
        return nu, np.repeat(nu, lengths) + lifted

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        tilt = np.exp(t) * share
        nu, under = bottom(tilt)
        part = weight / under
        lost = added * np.log(nu / size) + total(weight * np.log(under / np.repeat(size, lengths)))
        drop = 2.0 * lost.sum()
        part_d = part * d / under
        slope = tilt * (total(part * d) - total(part_d) / (added / nu**2 + total(part / under)))
        return np.array([np.log(drop) - np.log(bar)]), np.array([2.0 * slope.sum() / drop])

    # For small μ the statistic is μ² times the variance of the mean of labels.
    spread = np.maximum(total(weight * d**2) / size - middle**2, 0.0)
    with np.errstate(divide="ignore"):
        guess = 0.5 * (np.log(bar) - np.log((share**2 * spread / size).sum()))
    found = crossing(
        statistic, np.array([np.nan_to_num(guess)]), STRATIFIED_ENDS_LOWEST, STRATIFIED_ENDS_HIGHEST
    )
    _, under = bottom(np.exp(found) * share)
    return float((share * total(weight * d / under)).sum())


# Strata from the judges' consensus, made before any label is seen.


Codes: TypeAlias = NDArray[np.int64]
"""The position of each item's stratum, from 0."""


_TIE = 1e-9
"""A consensus this near 1/2 is a tie: no digit of a fitted posterior should tell items apart."""


def vote_strata(consensus: Vector) -> Codes:
    """Split items by what the judges' consensus says: 0 if c < 1/2, 1 at a tie, 2 if c > 1/2.

    Two judges often tie. With ties among the fails, the score of the passes and that of the fails
    of one table would not add up to one: swapping the two words has to swap the strata.

    Parameters
    ----------
    consensus
        Probability of a pass per item, from votes only.

    Examples
    --------
    >>> vote_strata([0.2, 0.5, 0.9]).tolist()
    [0, 1, 2]
    """
    c = _finite(consensus)
    return np.where(np.abs(c - 0.5) <= _TIE, 1, np.where(c > 0.5, 2, 0)).astype(np.int64)


def graded_strata(consensus: Vector, counts: Vector | None = None) -> Codes:
    r"""Split items with a graded consensus into three bins of nearly equal mass.

    The cuts are the 1/3 and 2/3 quantiles of c, and equal values stay together. A value whose mass
    straddles a cut goes where the middle of its mass lies: with :math:`F` the share of items below
    c and f the share equal to it, the bin is

    .. math:: \min(2, \lfloor 3 (F + f/2) \rfloor),   \tag{AL8}

    so that reversing the scale reverses the bins (unless a middle lies exactly on a cut). Empty
    bins are dropped: if 90% of the items share the top value, two bins are left.

    Parameters
    ----------
    consensus
        Mean grade per item, or distinct values.
    counts
        How many items have each value, if values are given once. None: one each.

    Returns
    -------
    Codes
        0, 1 and 2 from the lowest grades to the highest, fewer if bins are empty.

    Examples
    --------
    >>> graded_strata([0.1, 0.9, 0.5, 0.4, 0.8, 0.2]).tolist()
    [0, 2, 1, 1, 2, 0]
    >>> graded_strata([0.5, 1.0], counts=[10, 90]).tolist()
    [0, 1]
    """
    c = _finite(consensus)
    times = np.ones_like(c) if counts is None else np.asarray(counts, dtype=np.float64)
    if times.shape != c.shape or (times < 0).any() or times.sum() <= 0:
        raise InputError(
            f"counts must be one number of at least 0 per value, not all 0, got shape {times.shape}"
        )
    _, where = np.unique(c, return_inverse=True)
    mass = np.bincount(where, weights=times)
    # Whole counts are compared as 3(2F + f) against 2N, so that a middle on a cut is seen exactly.
    doubled = 3 * (2 * np.cumsum(mass) - mass)
    bins = np.minimum(2, doubled // (2 * times.sum())).astype(np.int64)  # (AL8)
    _, codes = np.unique(bins, return_inverse=True)
    return np.asarray(codes[where], dtype=np.int64)


def _finite(consensus: Vector) -> Floats:
    c = np.asarray(consensus, dtype=np.float64)
    if c.ndim != 1 or not np.isfinite(c).all():
        raise InputError(
            f"consensus must be one sequence of finite numbers, got shape {c.shape}: "
            "leave out items that no judge graded"
        )
    return c
