"""A betting interval for the mean of bounded values, exact at a fixed size; and a test of a rate
that holds whenever one stops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.stats.bets import Wagers, stakes_before
from tallystick.stats.exact_tails import at_least, open_unit, whole, zero_or_one
from tallystick.stats.intervals import Bounds, Floats, Intervals, Vector, as_unit, from_unit


def betting(values: Vector, *, alpha: float = 0.05, bounds: Bounds = (0.0, 1.0)) -> Intervals:
    r"""Bound the mean of bounded values, for certain, as narrowly as their own variance allows.

    A gambler who holds that the mean is larger than m pays fair prices at m; if m is right, the
    capital

    .. math:: K_t(m) = \prod_{i \le t} \bigl(1 + \lambda_i (x_i - m)\bigr), \qquad
              0 \le \lambda_i \le c/m, \quad c = \tfrac12   \tag{I10}

    is a non-negative martingale, which ever exceeds :math:`2/\alpha` with probability at most
    :math:`\alpha/2`. The means that it refutes lie below the interval; a second gambler, on smaller
    values, refutes those above. Bets use earlier values only,

    .. math:: \lambda_i = \sqrt{\frac{2 \ln(2/\alpha)}{\hat\sigma^2_{i-1}\, n}},   \tag{I11}

    :math:`\hat\sigma^2_i = (\tfrac14 + \sum_{j \le i} (x_j - \hat\mu_j)^2)/(i + 1)`,
    :math:`\hat\mu_i = (\tfrac12 + \sum_{j \le i} x_j)/(i + 1)`, cut at :math:`c/m`. Capital falls
    as m grows, also at the cut, so each end is found by bisection, with no grid of means.

    This is the hedged capital process of I. Waudby-Smith and A. Ramdas, *Estimating means of
    bounded random variables by betting* (arXiv 2010.09686), as their package confseq runs it; that
    it is valid is shown in ``docs/theory/intervals.md``.

    Parameters
    ----------
    values
        One sequence, or one a row; there is one interval a row. **Their order matters**: it must be
        the order of drawing, or one that does not depend on the values (shuffle with a seed).
    alpha
        One minus the level.
    bounds
        Between what the values must lie, whatever was seen.

    Notes
    -----
    Both gamblers together can refute every mean: by chance, as part of the misses that alpha
    allows, or because the values drift along their order and have no one mean. The interval then
    says nothing.

    Examples
    --------
    >>> from tallystick._rng import as_rng
    >>> print(betting(as_rng(1).beta(8, 2, size=500))[0])
    [0.789, 0.817] (95%, exact)
    """
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    low, high = betting_ends(rows, np.full(len(rows), alpha), bounds=bounds)
    return Intervals(low, high, level=1 - alpha, guarantee="exact", method="betting")


TRUNCATION = 0.5
"""No bet risks more than this share of the capital on one value."""
HALVINGS = 24
"""Steps of bisection: ends are good to 6e-8 of the range, and always err outwards."""


def betting_ends(
    values: Floats, alpha: Floats, *, bounds: Bounds = (0.0, 1.0)
) -> tuple[Floats, Floats]:
    """Return both ends of every row of values, each at its own level."""
    x = np.ascontiguousarray(as_unit(values, bounds, name="values"))
    open_unit(alpha=alpha)
    one, nothing, bar = np.ones_like(x), np.zeros_like(x), 2 / alpha

    def refuted(rows: Floats) -> Floats:
        """Return the largest mean that a gambler on larger values has refuted, for every row."""
        wagers = Wagers(
            x=rows,
            stakes=stakes_before(rows, np.log(bar)),
            slope=one,
            offset=nothing,
            reach=nothing,
            floor=nothing,
            cut=TRUNCATION,
        )
        return wagers.last_refuted(bar, nothing[:, 0], one[:, 0], HALVINGS)

    low, high = refuted(x), 1 - refuted(1 - x)
    crossed = low > high
    low, high = np.where(crossed, 0.0, low), np.where(crossed, 1.0, high)
    return from_unit(low, bounds), from_unit(high, bounds)


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
#   rates of .05, .1, .2 and .4 of :math:`x_t`. A clean run of 304 items shows less than 1%, 605
# less
#   than .5%, 60 less than 5% (α = .05, M = 20,000).
# * *above*, evidence that it is over x (null: at most xM events): equal parts on 1.5, 2, 3, 5,
# 10,
#   20, 40 and 80 times
#   :math:`x_t`, no rate above 1.


RateSide: TypeAlias = Literal["below", "above"]

_MIXTURES: dict[RateSide, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "below": ((0.0, 0.05, 0.1, 0.2, 0.4), (0.8, 0.05, 0.05, 0.05, 0.05)),
    "above": ((1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 40.0, 80.0), (0.125,) * 8),
}
"""Multiples of the null's rate that are bet on, and the share of the stake on each."""


def rate_log_e(events: npt.ArrayLike, *, limit: float, population: int, side: RateSide) -> Floats:
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
    side: RateSide
    items: int = 0
    events: int = 0
    log_e: float = 0.0
    peak: float = 0.0
    parts: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        open_unit(limit=self.limit)
        whole(1, population=self.population)
        if not self.parts:
            object.__setattr__(self, "parts", (0.0,) * len(_MIXTURES[self.side][0]))

    @property
    def p_value(self) -> float:
        """The anytime p-value, one over the largest E so far; at most 1."""
        return math.exp(-self.peak)

    def update(self, events: npt.ArrayLike) -> RateTest:
        """Return the test after more items, in the order in which they were asked."""
        answers = np.atleast_1d(np.asarray(events))
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


def _path(start: RateTest, events: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return log E after each further item, and the log of each part of the mixture after the
    last.
    """
    hits = np.asarray(events, dtype=float)
    zero_or_one(events=hits)
    length = hits.shape[-1]
    at_least(start.items + length, population=start.population)
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
        path = np.logaddexp(path, part + math.log(weight))
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
