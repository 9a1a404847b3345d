"""What a draw and a label that was there already say of the mean of all items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.label_accuracies import HALF_WIDTH, DrawJournal, Floats
from tallystick.sampling.label_strata import LabelStrata
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
    >>> from tallystick.sampling.label_accuracies import Draw
    >>> first = Draw(t=0, item=0, stratum=0, q=0.8, batch=0)
    >>> journal = DrawJournal.of([400, 100], [first], [[0.5, 0.5]])
    >>> steps = rectified_steps(journal, [1.0], [0.95, 0.3])
    >>> [float(part[0].round(4)) for part in (steps.z, steps.low, steps.high)]
    [0.87, -0.13, 1.52]
    """
    y = np.asarray(values, dtype=np.float64)
    n, n_strata = y.size, journal.sizes.size
    floor, ceiling = bounds
    if n > journal.n_draws:
        raise InputError(f"values must not be more than the {journal.n_draws} draws, got {n}")
    if not ((y >= floor) & (y <= ceiling)).all():
        raise InputError(
            f"values must lie in [{floor:g}, {ceiling:g}], in draw order, without gaps"
        )
    prior = np.asarray(guess, dtype=np.float64)
    if prior.shape != (n_strata,):
        raise InputError(f"guess must have one entry per stratum ({n_strata}), got {prior.shape}")
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


# Labels that were there already, and answers that were not given.
#
# What may be done with a label depends on how its item came to be labelled. A *random* one is a
# uniform draw like any other. *Disagreements* are random among the items on which two judges
# differ: fine for their difference; for a share, the disagreements become strata (`crossed`).
# Labels of *unknown* origin are counted apart (`Apart`): known exactly, and taken out of the
# population, while the rest is sampled.
#
# Only a claim is ever refused, never a label: `refused_claim`. Labels of unknown origin that were
# taken for random ones covered .86 at a nominal .95; counted apart, .996.


Origin: TypeAlias = Literal["random", "disagreements", "unknown"]
Claim: TypeAlias = Literal["share", "accuracies", "difference", "best-of"]


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Items whose values are known and that are no part of the population that is sampled.

    Parameters
    ----------
    known
        How many items were counted apart.
    total
        The sum of their values.
    sampled
        How many items are left to sample from.

    Examples
    --------
    >>> apart = Apart(known=20, total=5.0, sampled=80)
    >>> round(apart.whole(0.9), 3), apart.part(0.77)
    (0.77, 0.9)
    """

    known: int
    total: float
    sampled: int

    def whole(self, mean: float) -> float:
        """Return the mean of all items, given the mean of those that are sampled."""
        return (self.total + self.sampled * mean) / (self.known + self.sampled)

    def part(self, mean: float) -> float:
        """Return the mean of the items that are sampled, given the mean of all: the way back."""
        return ((self.known + self.sampled) * mean - self.total) / self.sampled

    def interval(self, inner: Interval) -> Interval:
        """Return the interval for all items, with the promise of the interval for the sampled ones.

        >>> apart = Apart(known=50, total=10.0, sampled=50)
        >>> print(apart.interval(Interval(0.8, 0.9, guarantee="anytime")))
        [0.500, 0.550] (95 %, anytime)
        """
        return Interval(
            self.whole(inner.low),
            self.whole(inner.high),
            level=inner.level,
            guarantee=inner.guarantee,
            assumption=inner.assumption,
            method=inner.method,
        )


def crossed(strata: LabelStrata, disagree: ArrayLike) -> LabelStrata:
    """Return each stratum cut in two, by whether the judges in question disagree.

    Labels that are random among disagreements are random inside such a stratum. The other strata
    need draws of their own before anything is said of a share.

    >>> strata = LabelStrata(of=[0, 0, 1, 1], side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> crossed(strata, [True, False, False, False]).sizes.tolist()
    [1, 1, 2]
    """
    apart = np.asarray(disagree, dtype=np.bool_)
    if apart.shape != strata.of.shape:
        raise InputError(
            f"disagree must flag each of the {strata.of.size} items, got {apart.shape}"
        )
    code = np.where(strata.of >= 0, 2 * strata.of.astype(np.int64) + apart, -1)
    kept = np.unique(code[code >= 0])
    renamed = np.full(2 * len(strata) + 1, -1)
    renamed[kept] = np.arange(kept.size)
    return LabelStrata(of=renamed[code], side=strata.side[kept // 2], guess=strata.guess[kept // 2])


def refused_claim(
    origin: Origin, claim: Claim, *, target: Literal["these", "new"], drawn: int
) -> str | None:
    """Return why *claim* can not rest on labels of this origin, or None if it can.

    Parameters
    ----------
    origin
        How the items came to be labelled.
    claim
        What is to be said.
    target
        Of these items, or of new items like them.
    drawn
        How many labels were drawn by us from the rest of the items.

    Examples
    --------
    >>> refused_claim("disagreements", "difference", target="these", drawn=0) is None
    True
    >>> refused_claim("unknown", "share", target="new", drawn=100)
    'labels of unknown origin say nothing of new items: draw labels at random'
    """
    if origin == "unknown" and target == "new":
        return "labels of unknown origin say nothing of new items: draw labels at random"
    if origin == "random" or drawn:
        return None
    if origin == "disagreements" and claim in ("share", "accuracies"):
        return "only disagreements are labelled: draw labels from the other items too"
    if origin == "unknown":
        return (
            "no label was drawn at random: draw some from the items that are not labelled. If those"
            " that are there were drawn at random, begin with --label-draw random"
        )
    return None


def both_ways(
    values: ArrayLike, skipped: NDArray[np.bool_], *, bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[Floats, Floats]:
    """Return the values with skips at the least value, for the low end, and at the largest.

    A skipped item is never drawn again: people skip what is hard, and hard items are not like the
    others.

    >>> low, high = both_ways([1.0, np.nan], np.array([False, True]))
    >>> low.tolist(), high.tolist()
    ([1.0, 0.0], [1.0, 1.0])
    """
    known = np.asarray(values, dtype=np.float64)
    flags = np.asarray(skipped, dtype=np.bool_)
    if flags.shape != known.shape:
        raise InputError(f"skipped must flag each of the {known.size} values, got {flags.shape}")
    return np.where(flags, bounds[0], known), np.where(flags, bounds[1], known)


def for_drawing(
    values: ArrayLike, skipped: NDArray[np.bool_], *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Floats:
    """Return the values with skips in the middle: what drawing probabilities take them for.

    Any rule would be valid, as long as it is one: a replay has to draw the same items.

    >>> for_drawing([1.0, np.nan], np.array([False, True])).tolist()
    [1.0, 0.5]
    """
    low, high = both_ways(values, skipped, bounds=bounds)
    return np.asarray((low + high) / 2)


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Mirrored:
    """Values, their least possible value before each draw, and the bets before they are cut."""

    z: Floats
    low: Floats
    bets: Floats


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


def sign_bets(
    z: Floats, m: float, *, start: float, least: float, timid: float
) -> tuple[Floats, Floats]:
    r"""Return the bets of the gamblers above and below m, before they are cut.

    .. math:: \lambda = e/(\hat\sigma^2 + e^2), \qquad e = \max(|\hat\mu - m|, e_{min})   \tag{W5}

    is the bet that grows fastest if the mean is as far from m as it looks; the gambler against the
    current estimate stakes only the share *timid* of it.

    >>> up, down = sign_bets(np.array([1.0]), 0.5, start=0.5, least=0.05, timid=0.25)
    >>> up.round(3).tolist(), down.round(3).tolist()
    ([0.198], [0.198])
    """
    mean, variance = moments_before(z, start=start)
    mean, variance = mean[:-1], variance[:-1]  # the last entry bets on a draw that is not there
    e = np.maximum(np.abs(mean - m), least)
    bets = e / (variance + e**2)  # (W5)
    return bets * np.where(mean >= m, 1.0, timid), bets * np.where(mean <= m, 1.0, timid)


def expected_growth(z: Floats, m: float, *, start: float) -> float:
    r"""Return what the next draw is expected to add to the log capital of a bet (W5) against m.

    About :math:`\tfrac12 e^2/(\hat\sigma^2 + e^2)`, e being the distance of the current estimate.

    >>> round(expected_growth(np.full(9, 0.9), 0.5, start=0.5), 3)
    0.397
    """
    mean, variance = (part[-1] for part in moments_before(z, start=start))
    e2 = float(mean - m) ** 2
    return 0.5 * e2 / (float(variance) + e2)


def mirrored(steps: Steps, bets: Floats) -> Mirrored:
    """Return the steps of the gambler on smaller means: one minus everything.

    >>> one = np.array([0.2])
    >>> steps = Steps(z=one, low=one - 1, high=one + 1, values=np.zeros(1), items=9)
    >>> mirrored(steps, one).low.round(1).tolist()
    [-0.2]
    """
    return Mirrored(z=1 - steps.z, low=1 - steps.high, bets=bets)


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
