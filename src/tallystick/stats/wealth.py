r"""Capital that bets against a mean: which means it has refuted, for many gamblers at once.

A gambler on larger values pays the fair price :math:`s_i m - o_i` of each draw if the mean is m,
stakes :math:`\lambda_i`, and never more than the share c of the capital on one draw:

.. math:: K_t(m) = \prod_{i \le t} \bigl(1 + \lambda_i (x_i - s_i m + o_i)\bigr), \qquad
          \lambda_i \le \frac{c}{s_i m - o_i + r_i}.   \tag{I14}

:math:`-r_i` is the least that :math:`x_i` can be. The capital falls as m grows, also where the
stake is cut, so the largest refuted mean is one crossing, with no grid of means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tallystick.stats.crossing import Floats, crossing

__all__ = ["Wagers", "stakes_before"]

RUIN = math.log(1e-300)
"""Capital whose logarithm is below this is given up. A gambler who stops betting still plays fair,
so the ends only widen by it."""
AT_ONCE = 1 << 16
"""Rows times draws that are looked at together, so that they stay in the processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Wagers:
    """Gamblers on larger values, one per row; every array is rows x draws.

    Parameters
    ----------
    x, stakes
        The values, and the stakes before they are cut.
    slope, offset
        The price of each draw at the mean m is *slope* m - *offset*.
    reach
        How far below 0 each value could have lain.
    floor
        A price below this is impossible, so that m is refuted at once.
    cut
        The largest share c of the capital that one draw can lose.
    """

    x: Floats
    stakes: Floats
    slope: Floats
    offset: Floats
    reach: Floats
    floor: Floats
    cut: float

    def best(self, means: Floats) -> tuple[Floats, Floats]:
        """Return the largest ln K (I14) that each row has ever had against its mean, and its slope.

        Prices below their floor count as possible here.
        """
        price = self.slope * means[:, None] - self.offset
        risk = price + self.reach
        with np.errstate(all="ignore"):  # a risk of 0 is never cut
            over = self.stakes * risk > self.cut
            factor = 1.0 + np.where(over, self.cut / risk, self.stakes) * (self.x - price)
            money = np.cumsum(np.log(factor), axis=1)
            if money.min() < RUIN:
                money[np.logical_or.accumulate(money < RUIN, axis=1)] = -np.inf
            last = money.argmax(axis=1)
            # d ln K/dm, with the cut stakes that change with the price too
            moves = np.where(over, self.cut * (self.x + self.reach) / risk**2, self.stakes)
            slopes = np.cumsum(self.slope * moves / factor, axis=1)
        rows = np.arange(len(means))
        return money[rows, last], -slopes[rows, last]

    def last_refuted(self, threshold: Floats, low: Floats, high: Floats, halvings: int) -> Floats:
        """Return the largest mean between *low* and *high* that each row has refuted.

        *low* where not even that is refuted, infinite where *high* is. The result is rounded down
        to the grid of so many halvings of the bracket, so that it errs outwards.

        Examples
        --------
        >>> x, one, none = np.full((1, 20), 0.9), np.ones((1, 20)), np.zeros((1, 20))
        >>> bets = Wagers(x=x, stakes=one, slope=one, offset=none, reach=none, floor=none, cut=0.75)
        >>> bets.last_refuted(np.array([40.0]), np.zeros(1), np.ones(1), 40).round(3).tolist()
        [0.697]
        """
        step = max(1, AT_ONCE // self.x.shape[1])
        if len(self.x) > step:
            blocks = [slice(at, at + step) for at in range(0, len(self.x), step)]
            return np.concatenate(
                [
                    self._rows(b).last_refuted(threshold[b], low[b], high[b], halvings)
                    for b in blocks
                ]
            )

        # A mean at which some price is impossible is refuted without any bet.
        logic = ((self.floor + self.offset) / self.slope).max(axis=1)
        bar, width = np.log(threshold), high - low

        def rising(at: Floats) -> tuple[Floats, Floats]:
            money, slope = self.best(low + at * width)
            return bar - money, -slope * width

        # The mean less its reach by the normal law is a good first guess.
        middle = (self.x + self.offset).mean(axis=1) / self.slope.mean(axis=1)
        middle -= np.sqrt(2 * bar * (self.x.var(axis=1) + 1 / self.x.shape[1]) / self.x.shape[1])
        with np.errstate(all="ignore"):
            start = np.nan_to_num((middle - low) / width)
            at = np.fmax(crossing(rising, start, 0.0, 1.0), (logic - low) / width)
        found = low + width * (np.floor(at * 2.0**halvings) / 2.0**halvings)
        # At the ends of the bracket the crossing may be there, or beyond.
        found = np.where((self.best(low)[0] < bar) & (low >= logic), low, found)
        return np.where((self.best(high)[0] >= bar) | (high < logic), np.inf, found)

    def _rows(self, some: slice) -> Wagers:
        names = ("x", "stakes", "slope", "offset", "reach", "floor")
        return replace(self, **{name: getattr(self, name)[some] for name in names})


def stakes_before(x: Floats, log: Floats, *, anytime: bool) -> Floats:
    """Return one stake per value, made from the values before it (I11).

    Parameters
    ----------
    x
        Rows x values.
    log
        ln of the threshold, per row.
    anytime
        Whether the stakes are spread over all time; otherwise over the values that there are.

    Examples
    --------
    >>> stakes_before(np.array([[1.0, 1.0]]), np.array([3.0]), anytime=False).round(3).tolist()
    [[3.464, 4.382]]
    """
    t = np.arange(1, x.shape[1] + 1)
    mean = (0.5 + np.cumsum(x, axis=1)) / (t + 1)
    after = 0.25 + np.cumsum((x - mean) ** 2, axis=1)
    before = np.concatenate([np.full((len(x), 1), 0.25), after[:, :-1]], axis=1)
    time = t * np.log1p(t) if anytime else x.shape[1]
    return np.asarray(np.sqrt(2.0 * log[:, None] * t / (before * time)))
