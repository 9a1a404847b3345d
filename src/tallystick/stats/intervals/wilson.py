"""Wilson's score interval: the good short answer for a share, and the brick of the stratified
ones.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals.array import Floats, Intervals, Numbers, Vector, as_counts, pack
from tallystick.stats.intervals.side import Side, split_alpha

__all__ = ["score_ends", "wilson"]


@overload
def wilson(
    successes: float,
    trials: float,
    *,
    alpha: float = ...,
    side: Side = ...,
    quantile: float | None = ...,
) -> Interval: ...
@overload
def wilson(
    successes: Vector,
    trials: Numbers,
    *,
    alpha: float = ...,
    side: Side = ...,
    quantile: Numbers | None = ...,
) -> Intervals: ...
def wilson(
    successes: Numbers,
    trials: Numbers,
    *,
    alpha: float = 0.05,
    side: Side = "two",
    quantile: Numbers | None = None,
) -> Interval | Intervals:
    r"""Bound a share approximately, without collapsing at 0 or 1.

    The shares p that a score test does not reject, :math:`|\hat p - p| \le q \sqrt{p (1 - p) / n}`.
    With :math:`r = q^2/n`,

    .. math:: p_{lo} = \frac{\hat p^2}{\hat p + r/2 + \sqrt{\hat p (1 - \hat p) r + r^2/4}}, \qquad
              p_{hi}(\hat p) = 1 - p_{lo}(1 - \hat p).   \tag{I2}

    Approximate: right on average, but a share close to 0 or 1 can be covered far less often: 0.85
    at n = 20, p = 0.008, nominal 0.95. One-sided it is not even right on average in small samples:
    as a lower bound for shares below a half it covers 0.941 at n = 20
    (``docs/coverage/binomial-approximate.md``). For one bound use :func:`clopper_pearson`.

    Parameters
    ----------
    successes, trials
        ``0 <= successes <= trials``; real values are allowed, for effective sizes. No trials give
        [0, 1].
    alpha, side
        As in :func:`clopper_pearson`.
    quantile
        The quantile q to use instead of the normal one, e.g. Student's; the level stated stays 1 -
        alpha.

    Examples
    --------
    >>> print(wilson(8, 10))
    [0.490, 0.943] (95 %, approximate)
    >>> wilson([0, 8], 10, quantile=2.262).high.round(3).tolist()
    [0.338, 0.952]
    """
    from scipy.special import ndtri

    x, n = as_counts(successes, trials, names=("successes", "trials"), integer=False)
    share = np.divide(x, n, out=np.full_like(x, 0.5), where=n > 0)
    at_low, at_high = split_alpha(alpha, side)
    q = np.asarray(
        ndtri(1 - max(at_low, at_high)) if quantile is None else quantile, dtype=np.float64
    )
    if not (q >= 0).all():
        raise InputError(f"quantile must not be negative, got {q.min()}")
    low, high = score_ends(share, n, q)
    ends = low if at_low else np.zeros_like(low), high if at_high else np.ones_like(high)
    return pack(*ends, alpha=alpha, guarantee="approximate", method="wilson")


def score_ends(share: Floats, size: Floats, quantile: Floats) -> tuple[Floats, Floats]:
    """Return both ends (I2) for shares seen in samples of any real *size*: 0 gives [0, 1], infinity
    a point.

    >>> score_ends(np.array([0.5, 0.5]), np.array([0.0, np.inf]), np.array(1.96))
    (array([0. , 0.5]), array([1. , 0.5]))
    """
    squared = np.square(quantile)
    r = np.divide(
        squared, size, out=np.full(np.broadcast(share, size, squared).shape, np.inf), where=size > 0
    )
    return _lower_end(share, r), 1 - _lower_end(1 - share, r)


def _lower_end(share: Floats, r: Floats) -> Floats:
    # This form of (I2) subtracts nothing, so it is exactly 0 at share 0 and loses no digits beside
    # it.
    below = share + r / 2 + np.sqrt(share * (1 - share) * r + r**2 / 4)
    return np.divide(share**2, below, out=np.zeros_like(below), where=below > 0)
