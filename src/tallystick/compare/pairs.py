r"""Two models on the same items, right or wrong: Tango's interval, McNemar's test, for one pair or
for all at once.

Everything rests on three numbers a pair: n items, :math:`b` on which only the first is right,
:math:`c` on which only the second is. The items on which both are right or both wrong say nothing
of the difference, and their split is not needed. From the moments of 0/1 scores, :math:`b = S_1 -
C_{12}` and :math:`c = S_2 - C_{12}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError
from tallystick.stats.binomial import binomial_up_to
from tallystick.stats.intervals import Intervals
from tallystick.stats.ranges import open_unit, whole

__all__ = ["Discordance", "discordance", "mcnemar", "tango"]

Floats = npt.NDArray[np.float64]

HALVINGS = 42
"""Halvings of an interval of width 2: ends are good to 5e-13 and lie outside, never inside."""


@dataclass(frozen=True, slots=True, eq=False)
class Discordance:
    """For every pair of models, on how many items only one is right; pairs as
    ``numpy.triu_indices`` lists them.

    Parameters
    ----------
    first, second
        Positions of the two models.
    first_only, second_only
        b and c.
    n
        Items.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    first_only: Floats
    second_only: Floats
    n: int

    @property
    def difference(self) -> Floats:
        """Accuracy of the first minus that of the second."""
        return (self.first_only - self.second_only) / self.n


def discordance(total: npt.ArrayLike, products: npt.ArrayLike, n: int) -> Discordance:
    """Return b and c of every pair, from sums and sums of products of 0/1 scores.

    Examples
    --------
    >>> scores = np.array([[1, 1], [1, 0], [1, 0], [0, 1], [0, 0]])
    >>> found = discordance(scores.sum(axis=0), scores.T @ scores, 5)
    >>> found.first_only.tolist(), found.second_only.tolist()
    ([2.0], [1.0])
    """
    s, g = np.asarray(total, dtype=float), np.asarray(products, dtype=float)
    whole(1, n=n)
    whole(0, total=s, products=g)
    if not np.array_equal(np.diag(g), s):
        raise InputError(
            "discordance needs scores of 0 and 1: the sum of squares is not the sum of scores"
        )
    first, second = np.triu_indices(len(s), 1)
    both = g[first, second]
    return Discordance(first, second, s[first] - both, s[second] - both, n)


def mcnemar(
    first_only: npt.ArrayLike, second_only: npt.ArrayLike, *, mid_p: bool = False
) -> Floats:
    r"""Return the two-sided p-value of "both models are equally good", exact; any shape.

    Given :math:`m = b + c` disagreements the wins are fair coin tosses:
    :math:`p = \min\{1, 2 P(\mathrm{Bin}(m, ½) \le \min(b, c))\}`.

    Parameters
    ----------
    first_only, second_only
        b and c.
    mid_p
        Count the observed outcome by half. More powerful, and no longer exact: its size can exceed
        the level slightly.

    Examples
    --------
    >>> mcnemar(9, 1).round(6), mcnemar(9, 1, mid_p=True).round(6), mcnemar(0, 0)
    (np.float64(0.021484), np.float64(0.011719), np.float64(1.0))
    """
    whole(0, first_only=first_only, second_only=second_only)
    b, c = np.asarray(first_only, dtype=float), np.asarray(second_only, dtype=float)
    m, least = b + c, np.minimum(b, c)
    tail = 2 * binomial_up_to(least, m, 0.5)
    if not mid_p:
        return np.minimum(1.0, tail)
    log_mass = (
        special.gammaln(m + 1)
        - special.gammaln(least + 1)
        - special.gammaln(m - least + 1)
        - m * np.log(2)
    )
    # At b = c both tails hold the middle outcome, which counts once: the mid-p value is 1 there.
    return np.where(b == c, 1.0, tail - np.exp(log_mass))


def tango(
    first_only: npt.ArrayLike, second_only: npt.ArrayLike, n: npt.ArrayLike, *, alpha: float = 0.05
) -> Intervals:
    r"""Bound the difference of two accuracies on the same items by Tango's score interval; any
    number of pairs.

    The differences t that the score test does not reject, :math:`|S(t)| \le z`, with

    .. math:: S(t) = \frac{b - c - nt}{\sqrt{n (2q + t(1-t))}}, \qquad q = \frac{\sqrt{B^2 - 4AC} - B}{2A},   \tag{C1}

    :math:`A = 2n,\ B = -b - c + (2n - b + c)\,t,\ C = -c\,t(1-t)`: q is the likeliest share of
    "only the second is right" if t were the difference. Each end by bisection. Approximate:
    measured coverage stands in ``docs/coverage/pairs.md``; the formula is derived in
    ``docs/theory/compare.md#pairs``.

    Parameters
    ----------
    first_only, second_only, n
        b, c and the items, :math:`b + c \le n`; real values are allowed, for effective sizes.
        Arrays broadcast.
    alpha
        One minus the level of each interval.

    Examples
    --------
    >>> found = tango([0, 9], [0, 1], 50)
    >>> [str(one) for one in found]
    ['[-0.071, 0.071] (95 %, approximate)', '[0.045, 0.293] (95 %, approximate)']
    """
    open_unit(alpha=alpha)
    b, c, size = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(x, dtype=float)) for x in (first_only, second_only, n))
    )
    if not np.all((b >= 0) & (c >= 0) & (b + c <= size * (1 + 1e-12)) & (size > 0)):
        raise InputError("first_only and second_only must not be negative, and together at most n")
    z = float(-special.ndtri(alpha / 2))
    high = _upper_end(b, c, size, z)
    low = -_upper_end(c, b, size, z)  # S changes sign when the two models change places
    return Intervals(low, high, level=1 - alpha, guarantee="approximate", method="tango")


def _upper_end(b: Floats, c: Floats, n: Floats, z: float) -> Floats:
    """Return the largest t with S(t) >= -z: S falls in t, from 0 at the estimate."""
    lead, m, squared = b - c, b + c, z * z
    inside, outside = lead / n, np.ones_like(n)
    for _ in range(HALVINGS):
        t = (inside + outside) / 2
        rest = t * (1 - t)
        slope = (2 * n - lead) * t - m
        q = (np.sqrt(slope * slope + 8 * n * c * rest) - slope) / (4 * n)
        # (C1) squared: t is above the estimate
        kept = (n * t - lead) ** 2 <= squared * n * (2 * q + rest)
        inside, outside = np.where(kept, t, inside), np.where(kept, outside, t)
    return np.asarray(outside)
