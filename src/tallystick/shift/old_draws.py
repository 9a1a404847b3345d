r"""K old draws per item: the best cure for noise, if the old API can still be called.

With K old answers the old noise is measured, not assumed. d = n1 - mean of all K old draws (right
or wrong), with the second-moment variance of grades; strata, flips and repeats use the first old
draw o. The noise term is

.. math::

   z^2 (ν_{new} + ν_{old}/K)/M, \qquad ν_{old} = \frac{K}{K - 1} \overline{\bar c (1 - \bar c)},
   \qquad ν_{new} = F\, \frac{\sum w h + ¼}{m + 1}   \tag{N9}

over the repeats of flips, h as in (N8), c̄ the mean of an item's old draws and F the pooled rate of
flips between right and wrong. docs/theory/shift.md, *Change, or chance?*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling import Strata
from tallystick.shift.grades import (
    GradedAnswers,
    blind_stretched,
    grade_moves,
    graded_bounds,
    repeat_noise,
)
from tallystick.shift.intervals import SumBounds
from tallystick.stats.ranges import closed_unit

__all__ = ["draw_noise", "fresh_noise", "old_draws_change", "old_noise", "unstable_share"]

FloatArray = NDArray[np.float64]


def old_noise(draws: ArrayLike) -> float:
    """Return ν_old of (N9): the variance of one old answer around the item's own rate.

    Parameters
    ----------
    draws
        Right (1) or wrong (0), items x K, K at least 2.

    Examples
    --------
    >>> round(old_noise([[1, 0]] * 100 + [[1, 1]] * 500), 4)
    0.0833
    """
    c = _draws(draws)
    mean = c.mean(axis=1)
    k = c.shape[1]
    return float(k / (k - 1) * np.mean(mean * (1 - mean)))


def unstable_share(draws: ArrayLike) -> float:
    """Return U_old of (N10): the chance that two old answers to an item differ.

    Parameters
    ----------
    draws
        Codes of answers, items x K, K at least 2.

    Examples
    --------
    >>> unstable_share([[0, 1, 2], [0, 0, 1], [1, 1, 1], [0, 0, 0]])
    0.4166666666666667
    """
    codes = np.asarray(draws)
    k = codes.shape[1]
    apart = [(codes[:, i] != codes[:, j]).mean() for i in range(k) for j in range(i)]
    return float(np.mean(apart))


def fresh_noise(
    flip_rate: float,
    old: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    weight: ArrayLike | None = None,
) -> float:
    """Return ν_new of (N9) from flips between right and wrong that were asked again.

    Parameters
    ----------
    flip_rate
        F, the share of items whose correctness differs from the first old draw.
    old, first, second
        Right (1) or wrong (0) of each repeat.
    weight
        p_k/n_k(blind) of its stratum; None weighs all alike.

    Examples
    --------
    >>> first, second = [1] * 40, [0] * 10 + [1] * 30
    >>> round(fresh_noise(0.2, [0] * 40, first, second), 4)
    0.05
    """
    closed_unit(flip_rate=flip_rate)
    h, _, w = repeat_noise(old, first, second, weight=weight)
    return flip_rate * (float((w * h).sum()) + 0.25) / (float(w.sum()) + 1)


def draw_noise(new: float, old: float, *, draws: int, items: int) -> float:
    """Return the variance that noise adds to the change, (N9) without z².

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> term = ndtri(0.025) ** 2 * draw_noise(0.05, 1 / 12, draws=2, items=600)
    >>> f"{term:.3e}"
    '5.869e-04'
    """
    if draws < 2:
        raise InputError(f"draws must be at least 2 to show the old noise, got {draws!r}")
    return (new + old / draws) / items


def old_draws_change(
    strata: Strata,
    draws: ArrayLike,
    answers: GradedAnswers,
    *,
    new_noise: float,
    alpha: float = 0.05,
) -> SumBounds:
    """Bound the change of accuracy on these items; nothing is assumed about the old noise.

    Parameters
    ----------
    strata
        From the first old draw.
    draws
        Right (1) or wrong (0) of every item, items x K.
    answers
        Right or wrong of the first new answer to each item asked.
    new_noise
        ν_new, :func:`fresh_noise`.
    alpha
        One minus the level.

    Examples
    --------
    >>> draws = np.array([[1, 1]] * 60 + [[0, 1]] * 40)
    >>> answers = GradedAnswers(asked=np.arange(100), grade=np.r_[np.ones(70), np.zeros(30)])
    >>> found = old_draws_change(Strata(1 - draws[:, 0]), draws, answers, new_noise=0.05)
    >>> print(f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
    -0.100 [-0.176, -0.024]
    """
    c = _draws(draws)
    if len(c) != strata.n_items:
        raise InputError(f"draws must have a row for each of {strata.n_items} items, got {len(c)}")
    before = c.mean(axis=1)
    moves, sample = grade_moves(strata, before, answers)
    noise = draw_noise(new_noise, old_noise(c), draws=c.shape[1], items=len(c))
    found = graded_bounds(moves, sample, noise=noise, alpha=alpha)
    return blind_stretched(found, strata, before, answers)


def _draws(values: ArrayLike) -> FloatArray:
    c = np.asarray(values, dtype=np.float64)
    if c.ndim != 2 or c.shape[1] < 2 or not np.isin(c, (0.0, 1.0)).all():
        raise InputError(
            f"draws must be right (1) or wrong (0), items x at least 2 draws, got shape {c.shape}"
        )
    return c
