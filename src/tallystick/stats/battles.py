r"""Battles: two models answer the same prompt and somebody names the winner, or a tie.

One battle per item: b wins, t ties, c losses, n = b + t + c,

.. math:: \text{win rate} = ½ + \frac{b - c}{2n}   \tag{B1}

and its interval is ½ plus half the paired interval of (b, c, n). With several battles per item,
D = 1, 0, -1 and the items are clusters: :mod:`tallystick.stats.clusters`, w = 1, so the adverse
cluster of .1 is 5 points of win rate. docs/theory/compare.md, *Battles*. No rating model is fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng
from tallystick.errors import InputError
from tallystick.stats.cluster_pairs import SignFlipPairs, sign_flip_columns
from tallystick.stats.clusters import SignFlip, fewest_clusters, sign_flip
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.signs import sign_p_value

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
PairedInterval = Callable[[int, int, int], tuple[float, float]]
"""From (b, c, n) to the interval of a paired difference of shares."""

FEW = 20
"""Battles below which the exact score replaces Tango's interval, which covers .85 at n = 8."""


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
    """

    win_rate: float
    low: float
    high: float
    p_value: float
    items: int


@dataclass(frozen=True, kw_only=True)
class CrossedBattles:
    """A win rate for new items and new annotators.

    Parameters
    ----------
    win_rate
        Over all battles.
    low, high
        For new items and new annotators; for new items and *these* annotators if
        *these_annotators*.
    items, annotators
        How many there are.
    these_annotators
        Whether there are too few annotators to speak of new ones.
    """

    win_rate: float
    low: float
    high: float
    items: int
    annotators: int
    these_annotators: bool


def battles(
    wins: int,
    ties: int,
    losses: int,
    *,
    paired: PairedInterval,
    exact: PairedInterval,
) -> Battles:
    """Bound a win rate from one battle per item.

    Parameters
    ----------
    wins, ties, losses
        b, t and c of the first model.
    paired
        The paired interval from 20 battles on (Tango's score).
    exact
        The paired interval below (the exact score). Both are functions of (b, c, n): the
        mathematics of pairs lives above this package.

    Examples
    --------
    >>> def wald(b, c, n):
    ...     half = 1.96 * sqrt(b + c - (b - c) ** 2 / n) / n
    ...     return (b - c) / n - half, (b - c) / n + half
    >>> found = battles(30, 10, 20, paired=wald, exact=wald)
    >>> round(found.win_rate, 3), round(found.low, 3), round(found.p_value, 4)
    (0.583, 0.47, 0.2026)
    """
    whole(0, wins=wins, ties=ties, losses=losses)
    n = wins + ties + losses
    if not n:
        raise InputError("there are no battles: wins, ties and losses are all 0")
    low, high = (exact if n < FEW else paired)(wins, losses, n)
    return Battles(
        win_rate=0.5 + (wins - losses) / (2 * n),  # (B1)
        low=max(0.0, 0.5 + low / 2),
        high=min(1.0, 0.5 + high / 2),
        p_value=sign_p_value(wins, losses),
        items=n,
    )


def battles_by_item(
    outcomes: npt.ArrayLike, items: npt.ArrayLike, *, rng: Rng, alpha: float = 0.05
) -> Battles:
    """Bound a win rate from several battles per item: items are the sample, each counts once.

    Treated as independent, such battles covered .84-.87 instead of .95.

    Parameters
    ----------
    outcomes
        1 where the first model wins, 0 for a tie, -1 where it loses.
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
    return Battles(
        win_rate=0.5 + found.estimate / 2,
        low=0.5 + found.low / 2,
        high=0.5 + found.high / 2,
        p_value=found.p_value,
        items=found.clusters,
    )


def battles_of_pairs(
    outcomes: npt.ArrayLike,
    items: npt.ArrayLike,
    pairs: npt.ArrayLike,
    *,
    rng: Rng,
    alpha: float = 0.05,
) -> SignFlipPairs:
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
) -> CrossedBattles:
    r"""Bound a win rate when the same annotators judge many items: both are samples.

    (K2) by item and by annotator, each around its own mean; the ends are the mean of all battles
    :math:`\mp` the root of the summed squared reaches. Error at most .058 in 16 cells (items only:
    .65).

    Parameters
    ----------
    outcomes, items, rng, alpha
        As in :func:`battles_by_item`.
    annotators
        Who judged each battle. With fewer than 6 (at 95 %) the interval is for these annotators.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> items, annotators = np.repeat(np.arange(20), 8), np.tile(np.arange(8), 20)
    >>> found = battles_crossed(rng.integers(-1, 2, 160), items, annotators, rng=1)
    >>> found.low < found.win_rate < found.high, found.these_annotators
    (True, False)
    """
    open_unit(alpha=alpha)
    d = _outcomes(outcomes)
    of_item = _codes(items, d.size, "items")
    of_annotator = _codes(annotators, d.size, "annotators")
    people = int(of_annotator.max()) + 1
    fixed = people < fewest_clusters(alpha)

    samples = [of_item] if fixed else [of_item, of_annotator]
    found = [_flip(d, codes, rng=rng, alpha=alpha) for codes in samples]
    mean = float(d.mean())
    down = sqrt(sum((one.estimate - one.low) ** 2 for one in found))
    up = sqrt(sum((one.high - one.estimate) ** 2 for one in found))
    return CrossedBattles(
        win_rate=0.5 + mean / 2,
        low=max(0.0, 0.5 + (mean - down) / 2),
        high=min(1.0, 0.5 + (mean + up) / 2),
        items=found[0].clusters,
        annotators=people,
        these_annotators=fixed,
    )


def crossed_test(
    outcomes: npt.ArrayLike,
    items: npt.ArrayLike,
    annotators: npt.ArrayLike,
    *,
    rng: Rng,
    alpha: float = 0.05,
) -> Battles:
    """Return :func:`battles_crossed` with a p-value: the level at which the interval reaches ½.

    Parameters
    ----------
    outcomes, items, annotators, rng, alpha
        As in :func:`battles_crossed`.

    Examples
    --------
    >>> items, annotators = np.repeat(np.arange(20), 8), np.tile(np.arange(8), 20)
    >>> wins = np.random.default_rng(0).choice([-1, 1], 160, p=[0.2, 0.8])
    >>> found = crossed_test(wins, items, annotators, rng=1)
    >>> found.p_value < 0.05, found.low > 0.5
    (True, True)
    """
    asked = battles_crossed(outcomes, items, annotators, rng=rng, alpha=alpha)

    def excludes(level: float) -> bool:
        # Whether these annotators or new ones are meant is settled by the level that was asked for.
        who = np.zeros_like(np.asarray(items)) if asked.these_annotators else annotators
        one = battles_crossed(outcomes, items, who, rng=rng, alpha=level)
        narrow = one.these_annotators and not asked.these_annotators
        return not narrow and not one.low <= 0.5 <= one.high

    low, high = 0.0, 1.0
    if excludes(0.999):
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (low, middle) if excludes(middle) else (middle, high)
    return Battles(
        win_rate=asked.win_rate, low=asked.low, high=asked.high, p_value=high, items=asked.items
    )


def _flip(d: Floats, codes: Codes, *, rng: Rng, alpha: float) -> SignFlip:
    """Return the one-pair test on the means of D, every item (or annotator) counting once."""
    means = np.bincount(codes, weights=d) / np.bincount(codes)
    return sign_flip(means, width=1.0, rng=rng, alpha=alpha)


def _outcomes(values: npt.ArrayLike) -> Floats:
    d = np.asarray(values, dtype=float)
    if d.ndim != 1 or not d.size or not np.isin(d, (-1.0, 0.0, 1.0)).all():
        raise InputError("outcomes must be 1 (the first wins), 0 (tie) or -1, one per battle")
    return d


def _codes(values: npt.ArrayLike, battles: int, name: str) -> Codes:
    """Return codes 0 … without gaps, whatever the values are."""
    array = np.asarray(values)
    if array.shape != (battles,):
        raise InputError(f"{name} must name one per battle ({battles}), got shape {array.shape}")
    return np.asarray(np.unique(array, return_inverse=True)[1], dtype=np.intp)
