"""Shares by post-stratified MOVER-t: the rule of the second version, kept as a peer.

Votes sort the items into strata (agrees with the consensus or not, say) before any label is seen.
Labels drawn uniformly then estimate a share in each stratum, and the known sizes of the strata put
them together. `tallystick.stats.few_labels` took its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import (
    Floats,
    Intervals,
    Vector,
    as_counts,
    mover_sum,
    score_ends,
)

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
    ([0.781], '[0.647, 0.860] (95%, approximate)', [52.4])
    """
    open_unit(alpha=alpha)
    n, k, x = _rows(sizes, labelled, right)
    strata = _merged(n, k, x)
    est, low, high = _share_ends(*strata, alpha=alpha, target=check_target(target))
    alone = _share_ends(
        *(part.sum(axis=1, keepdims=True) for part in (n, k, x)), alpha=alpha, target=target
    )
    return _sharpened(
        est, low, high, alone_width=alone[2] - alone[1], labels=k.sum(axis=1), alpha=alpha
    )


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
