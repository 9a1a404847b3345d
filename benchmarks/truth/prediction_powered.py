"""Prediction-powered means: a guess for every row, corrected by a few labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.truth.post_stratified import Sharpened, Target, check_target
from tallystick.errors import InputError
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import (
    Bounds,
    Floats,
    Intervals,
    Vector,
    as_unit,
    from_unit,
)

__all__ = ["PredictionPowered", "prediction_powered_mean"]

_TUNE_FROM = 100
"""With fewer labels than this, a tuned weight follows their noise; the guesses then count in full.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictionPowered(Sharpened):
    """As :class:`Sharpened`, with the weight that the guesses were given.

    Parameters
    ----------
    tuning
        The weight of the guesses, one a row, between 0 (labels alone) and 1.
    """

    tuning: Floats


def prediction_powered_mean(
    labels: Vector,
    guesses: Vector,
    every_guess: Vector,
    *,
    alpha: float = 0.05,
    target: Target = "items",
    bounds: Bounds = (0.0, 1.0),
    tuning: float | None = None,
) -> PredictionPowered:
    r"""Estimate a mean from m labelled rows out of n, when there is a guess for every row.

    With labels y, guesses c and residuals :math:`r = y - \lambda c` on the labelled rows, all on
    the scale from 0 to 1, and one pseudo-row whose residual is the middle :math:`r_0 = (1 -
    \lambda)/2` of what is possible,

    .. math:: \hat\mu = \lambda \bar c_n + \bar r, \qquad \bar r = \frac{\sum r + r_0}{m + 1}, \qquad
              V_r = \frac{\sum (r - \bar r)^2 + (r_0 - \bar r)^2 + \frac12}{m (m + 1)},

    .. math:: \hat\mu \mp t_{m-1} \sqrt{V}, \qquad V = \Bigl(1 - \frac mn\Bigr) V_r
              + \Bigl[\frac{m + 1}{n} V_y\Bigr]_{population},   \tag{P3}

    where :math:`V_y` is :math:`V_r` at :math:`\lambda = 0`. About right whatever the guesses are;
    good guesses make it narrow. The pseudo-row keeps the interval open when all residuals are
    equal, and its centre in place when they are skewed. The second term, the chance choice of the n
    rows, is added for the target ``population`` only. It replaces the usual :math:`\lambda^2
    \mathrm{var}(c)/n`, which takes labelled and unlabelled rows for separate samples, while here
    the labelled are some of the n. Clipped to the bounds and, for ``items``, to what logic allows.
    Approximate.

    Parameters
    ----------
    labels, guesses
        y and c on the labelled rows, drawn uniformly from all; several rows of a 2-d array are
        several problems.
    every_guess
        c on all n rows, the labelled ones included.
    alpha
        One minus the level.
    target
        The mean of these ``items``, or of the ``population`` behind them.
    bounds
        Between what labels and guesses lie.
    tuning
        The weight :math:`\lambda`. None: 1 below 100 labels; from there on the regression slope of
        y on c, within
        [0, 1].

    Examples
    --------
    >>> from tallystick._rng import as_rng
    >>> rng = as_rng(5)
    >>> chance = rng.beta(2, 1, size=1000)
    >>> truth = rng.random(1000) < chance
    >>> found = prediction_powered_mean(truth[:60], chance[:60], chance)
    >>> str(found.interval[0]), round(float(truth.mean()), 3), found.worth.round().tolist()
    ('[0.661, 0.860] (95%, approximate)', 0.679, [74.0])
    """
    from scipy.special import stdtrit

    open_unit(alpha=alpha)
    y, c, every = (
        np.atleast_2d(as_unit(part, bounds, name=name))
        for part, name in ((labels, "labels"), (guesses, "guesses"), (every_guess, "every_guess"))
    )
    m, n = y.shape[1], every.shape[1]
    if y.shape != c.shape or len(every) != len(y) or y.ndim != 2:
        raise InputError(
            f"labels and guesses have one shape, every_guess as many rows, got {y.shape}, {c.shape}"
            f" and {every.shape}"
        )
    if not 2 <= m <= n:
        raise InputError(
            f"labels: need at least 2 and at most the {n} rows of every_guess, got {m}"
        )
    if tuning is not None and not 0 <= tuning <= 1:
        raise InputError(f"tuning must be in [0, 1], got {tuning!r}")
    weight = _weight(y, c, tuning)
    mean, spread = _with_pseudo_row(y - weight[:, None] * c, (1 - weight) / 2)
    _, spread_alone = _with_pseudo_row(y, np.full(len(y), 0.5))
    rows = (m + 1) / n * spread_alone if check_target(target) == "population" else 0.0
    quantile = stdtrit(m - 1, 1 - alpha / 2)
    # (P3)
    half, half_alone = (
        quantile * np.sqrt((1 - m / n) * part + rows) for part in (spread, spread_alone)
    )
    estimate = weight * every.mean(axis=1) + mean
    least, most = np.zeros(len(y)), np.ones(len(y))
    if target == "items":
        least, most = y.sum(axis=1) / n, (y.sum(axis=1) + n - m) / n
    estimate = np.clip(estimate, least, most)
    ends = np.maximum(estimate - half, least), np.minimum(estimate + half, most)
    low, high = (from_unit(end, bounds) for end in ends)
    return PredictionPowered(
        estimate=from_unit(estimate, bounds),
        interval=Intervals(
            low, high, level=1 - alpha, guarantee="approximate", method="prediction-powered"
        ),
        worth=m * np.divide(half_alone, half, out=np.ones_like(half), where=half > 0) ** 2,
        tuning=weight,
    )


def _weight(y: Floats, c: Floats, tuning: float | None) -> Floats:
    if tuning is not None or y.shape[1] < _TUNE_FROM:
        return np.full(len(y), 1.0 if tuning is None else tuning)
    spread = c - c.mean(axis=1, keepdims=True)
    square = (spread**2).sum(axis=1)
    # Equal guesses differ by rounding only, and have no slope.
    slope = np.divide(
        (spread * y).sum(axis=1), square, out=np.zeros_like(square), where=square > 1e-12
    )
    return np.asarray(np.clip(slope, 0.0, 1.0), dtype=np.float64)


def _with_pseudo_row(residual: Floats, middle: Floats) -> tuple[Floats, Floats]:
    """Return the mean of m residuals and one in the middle, and the variance of that mean."""
    m = residual.shape[1]
    mean = (residual.sum(axis=1) + middle) / (m + 1)
    scatter = ((residual - mean[:, None]) ** 2).sum(axis=1) + (middle - mean) ** 2
    return mean, (scatter + 0.5) / (m * (m + 1))
