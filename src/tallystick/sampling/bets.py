r"""What draws say of the mean of all items, whenever you stop and whatever you saw on the way.

The draws give values :math:`Z_t` whose expectation is the mean (W3). Two gamblers bet against every
mean m at once, one on larger and one on smaller ones, with

.. math:: \lambda = \min\Big(\frac{1.25\,w}{\hat\sigma^2}, \frac{.75}{m - low}\Big)   \tag{W6}

where w is the half-width that is wanted: the best bet against a mean that far off. What either has
refuted at :math:`2/\alpha`, at any time so far, is outside the interval. Each factor falls as m
grows, also where the bet is cut, so the ends are found by bisection.

*w is fixed before the first draw and stands in the session.* An interval whose old bets are
computed again with a new w is not valid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tallystick.results import Interval
from tallystick.sampling.draws import HALF_WIDTH, DrawJournal
from tallystick.sampling.votes import Floats
from tallystick.stats.bets import Wagers

HALVINGS = 40


# What one draw says of the mean of all items: its value, put right by a guess for the rest.
#
# Before a draw, :math:`x` is the sum of the values so far, :math:`R_h` the items of stratum h that
# are left, :math:`g_h` the guess of their mean and :math:`q_h` the probability of the stratum. A
# draw from stratum h with value y gives
#
# .. math:: Z = A + c_h (y - g_h), \qquad A = \frac{x + \sum_h R_h g_h}{N}, \quad
#           c_h = \frac{R_h}{N q_h}, \quad g_h = \frac{x_h + 4 \pi_h}{k_h + 4}   \tag{W3}
#
# whose expectation given the past is the mean of all N values, *exactly and whatever the guesses
# are*: :math:`\sum_h q_h c_h (\bar y_h - g_h) = \sum_h R_h (\bar y_h - g_h)/N`. A good guess makes
# Z vary less. The guesses are frozen while a batch is drawn, like the probabilities.


PRIOR_LABELS = 4.0
"""The guess from votes counts as this many labels of its stratum."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """One entry per draw: Z of (W3), and the least and largest value that it could have had.

    Parameters
    ----------
    z, low, high
        As said. ``low <= z <= high``, and the two ends are known before the draw. Draws from a part
        of the strata only, such as labels that were drawn among disagreements, have no entry here.
    values
        The values that were read.
    items
        N, the items of the population.
    half_width
        w of (W6), from the journal.
    floor, ceiling
        The least and largest value of an item.
    """

    z: Floats
    low: Floats
    high: Floats
    values: Floats
    items: int
    half_width: float = HALF_WIDTH
    floor: float = 0.0
    ceiling: float = 1.0

    @property
    def logical(self) -> tuple[float, float]:
        """What the mean of all items can be, whatever the items that are left turn out to be."""
        total, left = float(self.values.sum()), self.items - self.values.size
        return (
            (total + left * self.floor) / self.items,
            (total + left * self.ceiling) / self.items,
        )


def rectified_steps(
    journal: DrawJournal,
    values: ArrayLike,
    guess: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    learn: bool = True,
) -> Steps:
    """Return (W3) for each draw whose value is there.

    Parameters
    ----------
    journal
        The draws.
    values
        The values in draw order; fewer than the draws is fine, any prefix is valid.
    guess
        π_h, the mean value that the votes lead one to expect in each stratum.
    bounds
        The least and the largest value an item can have.
    learn
        If False the guess stays as given, instead of moving with the values of earlier batches.

    Examples
    --------
    >>> from tallystick.sampling.draws import LabelStrata, draw_batch
    >>> strata = LabelStrata(of=[0] * 400 + [1] * 100, side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=1, spread=[1, 1], rng=1)
    >>> steps = rectified_steps(journal, [1.0], [0.95, 0.3])
    >>> journal.stratum.tolist(), [float(part[0].round(4)) for part in (steps.z, steps.low, steps.high)]
    ([0], [0.87, -0.13, 1.52])
    """
    y = np.asarray(values, dtype=np.float64)
    prior = np.asarray(guess, dtype=np.float64)
    n, n_strata = y.size, journal.sizes.size
    floor, ceiling = bounds
    items = int(journal.sizes.sum())
    known: dict[str, float] = {"half_width": journal.half_width, "floor": floor, "ceiling": ceiling}
    if not n:
        none = np.empty(0)
        return Steps(z=none, low=none, high=none, values=none, items=items, **known)

    # What each stratum had given when the batch of a draw began: all earlier batches.
    where, rows = journal.stratum[:n], np.arange(n)
    begin = np.searchsorted(journal.batch[:n], journal.batch[:n], side="left")
    hit = np.zeros((n + 1, n_strata))
    hit[rows + 1, where] = 1.0
    worth = hit.copy()
    worth[rows + 1, where] = y
    k, x = (np.cumsum(part, axis=0)[begin] for part in (hit, worth))
    g = (x + PRIOR_LABELS * prior) / (k + PRIOR_LABELS) if learn else np.tile(prior, (n, 1))

    left = journal.remaining()[:n].astype(np.float64)
    q = journal.probabilities()[:n]
    base = (np.cumsum(y) - y + (left * g).sum(axis=1)) / items
    # (W3); a stratum with nothing left can not be drawn and limits nothing.
    c = np.divide(left, items * q, out=np.zeros_like(left), where=q > 0)
    z = base + c[rows, where] * (y - g[rows, where])
    low = base + np.where(left > 0, c * (floor - g), np.inf).min(axis=1)
    high = base + np.where(left > 0, c * (ceiling - g), -np.inf).max(axis=1)

    # A draw that could not fall into some stratum says nothing of that stratum, so its Z does not
    # have the mean of all items as its expectation. Its value counts; nobody bets on it.
    fair = ((left == 0) | (q > 0)).all(axis=1)
    return Steps(z=z[fair], low=low[fair], high=high[fair], values=y, items=items, **known)


# Capital that bets against a mean: how large a bet is, and when it has refuted a value.
#
# A gambler who holds that the mean is above m starts with 1 and multiplies
# :math:`1 + \lambda_t (Z_t - m)`. If m is the mean, the capital is a fair game whatever bets are
# made
# from the past, so it ever reaches :math:`2/\alpha` with probability at most :math:`\alpha/2`
# (Ville). No bet risks more than three quarters of the capital:
# :math:`\lambda_t \le .75/(m - low_t)`. The gambler on smaller means plays the same game on the
# mirrored values.
#
# Mean and variance of the values before each draw, as in (I11) with
# :math:`\hat\mu_i = (\mu_0 + \sum_{j \le i} Z_j)/(i + 1)`,
#
# .. math:: \hat\sigma^2_i = \frac{\tfrac14 + \sum_{j \le i} (Z_j - \hat\mu_j)^2}{i + 1},
# \tag{W4}
#
# and the bet on draw i uses what was known after draw i - 1.


CUT = 0.75
"""The largest part of the capital that one draw can lose."""
SLACK = 1e-9
"""A mean this far below the least possible value is not refuted: it may be there by rounding."""


def moments_before(z: Floats, *, start: float = 0.5) -> tuple[Floats, Floats]:
    """Return the mean and variance (W4) that were known before each draw, one entry more than z.

    >>> mean, variance = moments_before(np.array([1.0]), start=0.5)
    >>> mean.tolist(), variance.tolist()
    ([0.5, 0.75], [0.25, 0.15625])
    """
    count = np.arange(1, z.size + 2)
    mean = (start + np.concatenate(([0.0], np.cumsum(z)))) / count
    scatter = np.concatenate(([0.25], 0.25 + np.cumsum((z - mean[1:]) ** 2)))
    return mean, scatter / count


def sign_bets(z: Floats, m: float, *, start: float, least: float, timid: float) -> Floats:
    r"""Return the bets of the gambler above m, before they are cut.

    .. math:: \lambda = e/(\hat\sigma^2 + e^2), \qquad e = \max(|\hat\mu - m|, e_{min})   \tag{W5}

    is the bet that grows fastest if the mean is as far from m as it looks; a gambler against the
    current estimate stakes only the share *timid* of it. The one below m is the one above 1 - m on
    `mirrored` steps.

    >>> sign_bets(np.array([1.0]), 0.5, start=0.5, least=0.05, timid=0.25).round(3).tolist()
    [0.198]
    """
    mean, variance = moments_before(z, start=start)
    mean, variance = mean[:-1], variance[:-1]  # the last entry bets on a draw that is not there
    e = np.maximum(np.abs(mean - m), least)
    return np.asarray(e / (variance + e**2) * np.where(mean >= m, 1.0, timid))  # (W5)


def expected_growth(z: Floats, m: float, *, start: float) -> float:
    r"""Return what the next draw is expected to add to the log capital of a bet (W5) against m.

    About :math:`\tfrac12 e^2/(\hat\sigma^2 + e^2)`, e being the distance of the current estimate.

    >>> round(expected_growth(np.full(9, 0.9), 0.5, start=0.5), 3)
    0.397
    """
    mean, variance = (part[-1] for part in moments_before(z, start=start))
    e2 = float(mean - m) ** 2
    return 0.5 * e2 / (float(variance) + e2)


def mirrored(steps: Steps) -> Steps:
    """Return the steps of the gambler on smaller means: one minus everything.

    >>> one = np.array([0.2])
    >>> steps = Steps(z=one, low=one - 1, high=one + 1, values=np.zeros(1), items=9)
    >>> mirrored(steps).low.round(1).tolist()
    [-0.2]
    """
    return replace(
        steps,
        z=1 - steps.z,
        low=1 - steps.high,
        high=1 - steps.low,
        values=1 - steps.values,
        floor=1 - steps.ceiling,
        ceiling=1 - steps.floor,
    )


def capital(z: Floats, low: Floats, bets: Floats, m: float) -> Floats:
    """Return the capital against the mean m after each draw; infinite once m is impossible.

    Examples
    --------
    >>> z, low, bets = np.array([0.9, 0.8]), np.array([-0.1, 0.0]), np.array([0.5, 9.0])
    >>> capital(z, low, bets, 0.5).round(4).tolist()
    [1.2, 1.74]
    """
    risk = m - low
    cut = np.divide(CUT, risk, out=np.full_like(risk, np.inf), where=risk > 0)
    # In logarithms, and no larger than e^700: evidence goes on growing after it has settled things.
    growth = np.exp(np.minimum(np.cumsum(np.log1p(np.minimum(bets, cut) * (z - m))), 700.0))
    # The mean lies above the least value that Z could have, so a smaller m is refuted at once.
    return np.where(np.logical_or.accumulate(risk < -SLACK), np.inf, growth)


def last_refuted(
    z: Floats, low: Floats, bets: Floats, threshold: float, left: float, right: float
) -> float:
    """Return the largest refuted m in [left, right]; *left* if none is, infinite if all are.

    Examples
    --------
    >>> z, low, bets = np.full(20, 0.9), np.zeros(20), np.ones(20)
    >>> round(last_refuted(z, low, bets, 40.0, 0.0, 1.0), 3)
    0.697
    """
    if not z.size:  # nothing was labelled yet
        return left
    rows = z[None], low[None], bets[None]
    one, nothing = np.ones_like(rows[0]), np.zeros_like(rows[0])
    wagers = Wagers(
        x=rows[0],
        stakes=rows[2],
        slope=one,
        offset=nothing,
        reach=-rows[1],
        floor=rows[1] - SLACK,
        cut=CUT,
    )
    bar, least, most = (np.array([end], dtype=np.float64) for end in (threshold, left, right))
    return float(wagers.last_refuted(bar, least, most, HALVINGS)[0])


# The interval, and the evidence on which side of a value the mean lies.


SMALLEST_LEAD = 0.03
"""A verdict bets as if the mean were at least this far from the value."""


def anytime_share(steps: Steps, *, alpha: float = 0.05, skipped: Steps | None = None) -> Interval:
    """Bound the mean of all items at any stopping time, under any way of choosing when to stop.

    Parameters
    ----------
    steps
        What the draws gave, from `rectified_steps`, in draw order.
    alpha
        One minus the level.
    skipped
        If items were skipped: the same draws with each skip at the largest value. *steps* then has
        them at the smallest, and the two ends come from one each.

    Returns
    -------
    Interval
        The intersection over all times so far. It never grows.

    Examples
    --------
    >>> from tallystick.sampling.draws import draw_batch, score_strata
    >>> strata = score_strata([0.2] * 100 + [0.9] * 400)
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=150, spread=[1, 1], rng=2)
    >>> values = (journal.item >= 100).astype(float)
    >>> print(anytime_share(rectified_steps(journal, values, strata.guess[:, 1])))
    [0.759, 0.817] (95%, anytime)
    """
    upper = steps if skipped is None else skipped
    low, high = _ends(steps, upper, alpha)
    return Interval(
        low, high, level=1 - alpha, guarantee="anytime", method="betting on rectified draws"
    )


def _ends(lower: Steps, upper: Steps, alpha: float) -> tuple[float, float]:
    least, most = lower.logical[0], upper.logical[1]
    low = max(_refuted(lower, alpha), least)
    high = min(1 - _refuted(mirrored(upper), alpha), most)

    # Both ends can pass each other, with probability at most alpha; then a point is left.
    if low > high:
        low = high = float(
            np.clip((low + high) / 2 if np.isfinite(low + high) else least, least, most)
        )
    return low, high


def _refuted(steps: Steps, alpha: float) -> float:
    """Return the largest mean that the gambler on larger ones has refuted."""
    variance = moments_before(steps.z, start=(steps.floor + steps.ceiling) / 2)[1][:-1]
    bets = np.asarray(1.25 * steps.half_width / variance)  # (W6), cut where it is used
    return last_refuted(steps.z, steps.low, bets, 2 / alpha, steps.floor, steps.ceiling)


@dataclass(frozen=True, kw_only=True, eq=False)
class BetEvidence:
    """On which side of a value the mean of all items lies, valid at any stopping time.

    Parameters
    ----------
    verdict
        ``above``, ``below``, ``even`` (all items are labelled, and the mean is the value), or None
        while that is open.
    certain
        Whether the labels alone settle it: what is left cannot turn it.
    above, below
        The e-values after each label: how many times the stake a fair game would have paid.
    labelled, items
        How many values were read, of how many items.
    growth
        What one more label is expected to add to the log of the larger e-value; `verdict_forecast`
        turns it into labels.
    """

    verdict: Literal["above", "below", "even"] | None
    certain: bool
    above: Floats
    below: Floats
    labelled: int
    items: int
    growth: float


def evidence(
    steps: Steps,
    value: float,
    *,
    alpha: float = 0.05,
    skipped: Steps | None = None,
    raw: tuple[Steps, Steps] | None = None,
    start: float | None = None,
    bets: tuple[float, float] = (SMALLEST_LEAD, 1.0),
) -> BetEvidence:
    r"""Say whether the mean of all items lies above or below *value*, at any stopping time.

    The bets of (W5) depend on the value, so they test it and no other: they cannot be turned into
    an interval. A wrong verdict has probability at most alpha/2, and at most alpha if the mean is
    the value.

    Parameters
    ----------
    steps, alpha, skipped
        As in `anytime_share`.
    value
        Fixed before the first draw. Outside the range of values the verdict is certain, as it can
        be for what items counted apart leave of a claim.
    raw
        The same draws without a guess, for either end: half of the stake is then theirs (W7).
    start
        The mean that is believed before any draw; by default the middle of the range.
    bets
        The least lead that is bet on, and the share that the gambler against the estimate stakes.

    Examples
    --------
    >>> z = np.full(60, 0.95)
    >>> steps = Steps(z=z, low=z - 1, high=z + 1, values=z, items=500)
    >>> evidence(steps, 0.8).verdict
    'above'
    """
    upper = steps if skipped is None else skipped
    begin = (steps.floor + steps.ceiling) / 2 if start is None else start

    def path(one: Steps, m: float, start: float) -> Floats:
        stakes = sign_bets(one.z, m, start=start, least=bets[0], timid=bets[1])
        return capital(one.z, one.low, stakes, m)

    def paths(lower: Steps, higher: Steps) -> tuple[Floats, Floats]:
        return path(lower, value, begin), path(mirrored(higher), 1 - value, 1 - begin)

    above, below = paths(steps, upper)
    if raw is not None:
        plain = paths(*raw)
        above, below = (above + plain[0]) / 2, (below + plain[1]) / 2  # (W7)
    peaks = above.max(initial=1.0), below.max(initial=1.0)
    verdict: Literal["above", "below", "even"] | None = None
    if max(peaks) >= 2 / alpha:
        verdict = "above" if peaks[0] >= peaks[1] else "below"
    # What the labels prove overrides what they suggested.
    least, most = steps.logical[0], upper.logical[1]
    if least > value or most < value or least == most == value:
        verdict = "above" if least > value else "below" if most < value else "even"
    return BetEvidence(
        verdict=verdict,
        certain=least > value or most < value or least == most == value,
        above=above,
        below=below,
        labelled=steps.values.size,
        items=steps.items,
        growth=max(expected_growth(one.z, value, start=begin) for one in (steps, upper)),
    )
