r"""An anytime-valid test and interval for a bounded mean from three numbers: n, the sum, and the
sum of squares.

For :math:`y \ge -1` with mean at most 0 and :math:`0 \le λ < 1`,

.. math:: \exp\bigl(λ y - ψ(λ)\, y^2\bigr) \le 1 + λ y, \qquad ψ(λ) = -\ln(1 - λ) - λ   \tag{E2}

(Fan, Grama and Liu's inequality, checked in the tests), so :math:`\exp(λ \sum y - ψ(λ) \sum y^2)`
never grows on average, and neither does a mixture over λ. The order of the items is not needed:
moments that were counted on shards will do. The price against betting item by item, which sees the
order, is a wider interval: about twice that of a t interval.
"""

from __future__ import annotations

from math import log

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.binomial import Floats
from tallystick.stats.ranges import open_unit, whole

__all__ = ["bounded_mean_interval", "bounded_mean_log_e"]

LAMBDAS: Floats = np.geomspace(0.58, 1e-3, 16)
r"""The mixture, in equal parts. Up to λ = .583, where :math:`2ψ(λ) = λ`, every exponent falls as
the tested mean rises, so that an interval can be found by halving."""

PSI: Floats = -np.log1p(-LAMBDAS) - LAMBDAS


def bounded_mean_log_e(
    n: npt.ArrayLike,
    total: npt.ArrayLike,
    squares: npt.ArrayLike,
    *,
    mean: npt.ArrayLike = 0.0,
    low: float = -1.0,
    high: float = 1.0,
) -> tuple[Floats, Floats]:
    r"""Return log E against "the mean is at most *mean*" and against "at least *mean*".

    Each item lies in [*low*, *high*]; :math:`y = (x - μ)/(\text{high} - \text{low}) \ge -1` enters
    (E2). For a two-sided question average the two with
    :func:`~tallystick.stats.evalues.average_log_e`.

    Parameters
    ----------
    n, total, squares
        Items, sum of x, sum of x²; arrays broadcast.
    mean
        The tested mean μ.
    low, high
        Bounds of every single x, known beforehand. Paired differences of scores in [0, 1] lie in
        [-1, 1].

    Examples
    --------
    >>> above, below = bounded_mean_log_e(1000, 80.0, 200.0)
    >>> round(float(above), 2), round(float(below), 2)
    (7.82, -0.86)
    """
    size, s, q = _moments(n, total, squares, low, high)
    mu, width = np.asarray(mean, dtype=float), high - low
    lead = (s - size * mu) / width
    spread = np.maximum(0.0, q - 2 * mu * s + size * mu**2) / width**2
    return _mixture(lead, spread), _mixture(-lead, spread)


def bounded_mean_interval(
    n: npt.ArrayLike,
    total: npt.ArrayLike,
    squares: npt.ArrayLike,
    *,
    low: float = -1.0,
    high: float = 1.0,
    alpha: float = 0.05,
) -> tuple[Floats, Floats]:
    r"""Return the means that (E2) does not refute: an interval that holds at *every* n at once,
    with level 1 - α.

    Each end spends α/2. Both ends are found by halving, for all entries of the arrays together.

    >>> low, high = bounded_mean_interval(1000, 80.0, 200.0)
    >>> round(float(low), 3), round(float(high), 3)
    (0.024, 0.136)
    """
    open_unit(alpha=alpha)
    size, s, q = np.broadcast_arrays(*_moments(n, total, squares, low, high))
    need = log(2 / alpha)
    estimate = s / size
    ends = []
    for side, edge in ((0, low), (1, high)):
        # the edge itself may be kept: then it is returned
        refuted, kept = np.full(size.shape, float(edge)), estimate
        for _ in range(60):
            middle = (refuted + kept) / 2
            evidence = bounded_mean_log_e(size, s, q, mean=middle, low=low, high=high)[side]
            refuted, kept = (
                np.where(evidence >= need, middle, refuted),
                np.where(evidence >= need, kept, middle),
            )
        ends.append(refuted)
    return ends[0], ends[1]


def _mixture(lead: Floats, spread: Floats) -> Floats:
    exponents = lead[..., None] * LAMBDAS - spread[..., None] * PSI  # (E2)
    return np.asarray(np.logaddexp.reduce(exponents, axis=-1) - log(LAMBDAS.size))


def _moments(
    n: npt.ArrayLike, total: npt.ArrayLike, squares: npt.ArrayLike, low: float, high: float
) -> tuple[Floats, Floats, Floats]:
    whole(1, n=n)
    size, s, q = (np.asarray(value, dtype=float) for value in (n, total, squares))
    if not low < high:
        raise InputError(f"low must be below high, got [{low!r}, {high!r}]")
    slack = 1e-9 * size * max(abs(low), abs(high))
    if not np.all((s >= size * low - slack) & (s <= size * high + slack)):
        raise InputError(
            f"total must lie in [n low, n high] with bounds [{low!r}, {high!r}]: widen the bounds"
        )
    if not np.all(q >= s * s / size * (1 - 1e-9)):
        raise InputError(
            "squares must be at least total²/n: pass the sum of squared items, not a variance"
        )
    return size, s, q
