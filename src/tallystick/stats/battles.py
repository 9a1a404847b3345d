r"""Battles: two models answer the same prompt and somebody names the winner, or a tie.

One battle per item: b wins, t ties, c losses, n = b + t + c,

.. math:: \text{win rate} = ½ + \frac{b - c}{2n}   \tag{B1}

and its interval is ½ plus half the paired interval of (b, c, n). A preference need not be all or
nothing: D is 1, 0, -1 or anything between. With several battles per item the items are clusters:
:mod:`tallystick.stats.clusters`, w = 1, so the adverse cluster of .1 is 5 points of win rate.
docs/theory/compare.md, *Battles*. No rating model is fitted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng
from tallystick.stats.clusters import SignFlips, ends_at, fewest_clusters, sign_flip_columns
from tallystick.stats.exact_tails import one_per, open_unit, whole, within
from tallystick.stats.intervals import pseudo_t
from tallystick.stats.pairs import bounded_p_value
from tallystick.stats.signs import sign_p_value
from tallystick.stats.two_accuracies import exact_score, tango

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

FEW = 20
"""Battles below which the exact score replaces Tango's interval, which covers .85 at n = 8."""
LEVELS = 80
"""Levels at which an interval is asked whether it leaves out ½, each an eighth above the last."""


@dataclass(frozen=True, kw_only=True)
class Battles:
    """A win rate with its interval.

    Parameters
    ----------
    win_rate
        (B1), a tie counting half.
    low, high
        Its interval.
    p_value
        Of "both win equally often": exact over decided battles, or the sign-flip test over items.
    items
        How many items it rests on.
    these_annotators
        Whether there are too few annotators to speak of new ones.
    """

    win_rate: float
    low: float
    high: float
    p_value: float
    items: int
    these_annotators: bool = False


def battles(wins: int, ties: int, losses: int, *, alpha: float = 0.05) -> Battles:
    """Bound a win rate from one battle per item: Tango's interval, the exact one below 20 battles,
    and the exact sign test.

    Examples
    --------
    >>> found = battles(30, 10, 20)
    >>> round(found.win_rate, 3), round(found.low, 3), round(found.p_value, 4)
    (0.583, 0.468, 0.2026)
    """
    whole(0, wins=wins, ties=ties, losses=losses)
    n = wins + ties + losses
    whole(1, battles=n)
    if n < FEW:
        ends = exact_score(wins, losses, n, alpha=alpha)
    else:
        ends = tango(wins, losses, n, alpha=alpha)[0]
    return _rate((wins - losses) / n, ends.low, ends.high, sign_p_value(wins, losses), n)


def shares(outcomes: npt.ArrayLike, *, alpha: float = 0.05) -> Battles:
    """Bound a win rate from one graded preference per item, between -1 (the second) and 1:
    Student's t with a pseudo-item.

    Examples
    --------
    >>> found = shares([0.4, -0.2, 0.9, 0.1, 0.6, -0.5, 0.8, 0.7, 0.3, 0.2] * 5)
    >>> round(found.win_rate, 3), round(found.low, 3), round(found.high, 3)
    (0.665, 0.598, 0.725)
    """
    d = _outcomes(outcomes)
    n, mean = d.size, float(d.mean())
    if n < 2:
        return _rate(mean, -1.0, 1.0, 1.0, n)
    variance = float(d.var(ddof=1))
    ends = pseudo_t(mean, variance, n, alpha=alpha, bounds=(-1.0, 1.0))
    p_value = bounded_p_value(np.array([mean]), np.array([variance]), n, 1.0)
    return _rate(mean, ends.low, ends.high, float(p_value[0]), n)


def battles_by_item(
    outcomes: npt.ArrayLike, items: npt.ArrayLike, *, rng: Rng, alpha: float = 0.05
) -> Battles:
    """Bound a win rate from several battles per item: items are the sample, each counts once.

    Treated as independent, such battles covered .84-.87 instead of .95.

    Parameters
    ----------
    outcomes
        1 where the first model wins, 0 for a tie, -1 where it loses, or anything between.
    items
        The item of each battle.
    rng
        Seed or generator for the subsets, used from 13 items on.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = battles_by_item([1, 1, 0, 1, 1, 1, -1, 1, 1, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3, 4,
    ...                         4, 5, 5], rng=0)
    >>> round(found.win_rate, 3), found.items
    (0.833, 6)
    """
    d = _outcomes(outcomes)
    found = _flip(d, _codes(items, d.size, "items"), rng=rng, alpha=alpha)
    mean, low, high = (float(x[0]) for x in (found.difference, found.low, found.high))
    return _rate(mean, low, high, float(found.p_value[0]), found.clusters)


def battles_of_pairs(
    outcomes: npt.ArrayLike,
    items: npt.ArrayLike,
    pairs: npt.ArrayLike,
    *,
    rng: Rng,
    alpha: float = 0.05,
) -> SignFlips:
    """Tell all pairs of models apart that met, complete or not; D is summed by item and pair.

    (K3) with v = 0: family-wise error at most .060 measured, power up to .02 above Holm on sign
    tests. Statistics and p-values are those of the sums; differences and intervals are in battles
    per item, not in win rates.

    Parameters
    ----------
    outcomes, items
        As in :func:`battles_by_item`.
    pairs
        The number of the pair of each battle, 0 … without gaps.
    rng, alpha
        As in :func:`battles_by_item`.

    Examples
    --------
    >>> items = np.tile(np.arange(8), 2)
    >>> pairs = np.repeat([0, 1], 8)
    >>> found = battles_of_pairs([1] * 8 + [1, -1] * 4, items, pairs, rng=0)
    >>> found.adjusted_p.round(4).tolist()
    [0.0156, 1.0]
    """
    d = _outcomes(outcomes)
    of_item, of_pair = _codes(items, d.size, "items"), _codes(pairs, d.size, "pairs")
    number = int(of_pair.max()) + 1
    sums = np.zeros((int(of_item.max()) + 1, number))
    np.add.at(sums, (of_item, of_pair), d)
    # The range only cuts intervals here: as v = 0, it plays no part in a test.
    width = float(np.bincount(of_item * number + of_pair).max())
    return sign_flip_columns(sums, width=width, rng=rng, alpha=alpha, adverse=0.0)


def battles_crossed(
    outcomes: npt.ArrayLike,
    items: npt.ArrayLike,
    annotators: npt.ArrayLike,
    *,
    rng: Rng,
    alpha: float = 0.05,
) -> Battles:
    r"""Bound a win rate when the same annotators judge many items: both are samples.

    (K2) by item and by annotator, each around its own mean; the ends are the mean of all battles
    :math:`\mp` the root of the summed squared reaches. Error at most .058 in 16 cells (items only:
    .65). The p-value is the smallest of 80 levels at which the interval leaves out ½.

    Parameters
    ----------
    outcomes, items, rng, alpha
        As in :func:`battles_by_item`.
    annotators
        Who judged each battle. With fewer than 6 (at 95%) the interval is for these annotators.

    Examples
    --------
    >>> items, annotators = np.repeat(np.arange(20), 8), np.tile(np.arange(8), 20)
    >>> wins = np.random.default_rng(0).choice([-1, 1], 160, p=[0.2, 0.8])
    >>> found = battles_crossed(wins, items, annotators, rng=1)
    >>> found.low > 0.5, found.p_value < 0.05, found.these_annotators
    (True, True, False)
    """
    open_unit(alpha=alpha)
    d = _outcomes(outcomes)
    of_item = _codes(items, d.size, "items")
    of_annotator = _codes(annotators, d.size, "annotators")
    people = int(of_annotator.max()) + 1
    # Whether these annotators or new ones are meant is settled by the level that was asked for.
    fixed = people < fewest_clusters(alpha)
    samples = [of_item] if fixed else [of_item, of_annotator]
    mean = float(d.mean())

    # Few people or items cannot show anything at a very small level.
    fewest = min(int(codes.max()) + 1 for codes in samples)
    levels = np.geomspace(max(1e-4, 2.0 ** (1 - fewest)), 0.999, LEVELS)
    down, up = np.zeros(LEVELS + 1), np.zeros(LEVELS + 1)
    for codes in samples:
        own = np.bincount(codes, weights=d) / np.bincount(codes)
        centre = float(own.mean())
        ends = np.array(ends_at(own, (alpha, *levels.tolist()), width=1.0, rng=rng))
        down += (centre - ends[:, 0]) ** 2
        up += (ends[:, 1] - centre) ** 2
    low, high = mean - np.sqrt(down), mean + np.sqrt(up)
    leaves_out = (low[1:] > 0) | (high[1:] < 0)
    p_value = float(levels[np.argmax(leaves_out)]) if leaves_out.any() else 1.0
    found = _rate(mean, float(low[0]), float(high[0]), p_value, int(of_item.max()) + 1)
    return replace(found, these_annotators=fixed)


def _rate(mean: float, low: float, high: float, p_value: float, items: int) -> Battles:
    """Return the win rate (B1) that belongs to the mean of D and its ends."""
    return Battles(
        win_rate=0.5 + mean / 2,
        low=max(0.0, 0.5 + low / 2),
        high=min(1.0, 0.5 + high / 2),
        p_value=p_value,
        items=items,
    )


def _flip(d: Floats, codes: Codes, *, rng: Rng, alpha: float) -> SignFlips:
    """Return the one-pair test on the means of D, every item (or annotator) counting once."""
    means = np.bincount(codes, weights=d) / np.bincount(codes)
    return sign_flip_columns(means[:, None], width=1.0, rng=rng, alpha=alpha)


def _outcomes(values: npt.ArrayLike) -> Floats:
    d = np.asarray(values, dtype=float)
    one_per("battle", max(1, d.size), outcomes=d)
    within((-1, 1), outcomes=d)
    return d


def _codes(values: npt.ArrayLike, battles: int, name: str) -> Codes:
    """Return codes 0 … without gaps, whatever the values are."""
    one_per("battle", battles, **{name: values})
    return np.asarray(np.unique(np.asarray(values), return_inverse=True)[1], dtype=np.intp)
