r"""The AUC of a score without labels: between what it lies, given only P(Y | Z).

Given the class balance :math:`\pi` the AUC is linear in the labels:

.. math:: \mathrm{AUC} = \frac{E[Y\,G(s)] - \pi^2/2}{\pi (1 - \pi)}, \qquad
          \pi = \sum_z P(z)\, p_z   \tag{B9}

with G the mid-rank share of a score among all rows. The sharp ends give, within each pattern z, the
positives to the highest, or to the lowest, :math:`p_z` share of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.bound.blocks import BLOCKS, FloatArray, IntArray, label_bins

__all__ = ["AucEnds", "auc_ends", "frechet_auc", "mid_ranks"]

_OWN_ROWS = 30
"""Earlier rows from which a pattern has a cut of its own; otherwise it takes that of its bin."""


@dataclass(frozen=True, kw_only=True)
class AucEnds:
    """Both ends of the AUC under one label model, each with its standard error.

    Parameters
    ----------
    lower, upper
        Outer bounds, by cuts that earlier rows chose for later ones.
    lower_error, upper_error
        Standard errors; the label model is taken for known.
    sharp
        The sharp ends of the observed scores: too narrow where patterns are many.
    independent
        The AUC if score and label were independent given the votes.
    """

    lower: float
    upper: float
    lower_error: float
    upper_error: float
    sharp: tuple[float, float]
    independent: float

    def edges(self, critical: float) -> tuple[float, float]:
        """Return the ends moved outward by so many standard errors, within [0, 1]."""
        low, high = (
            self.lower - critical * self.lower_error,
            self.upper + critical * self.upper_error,
        )
        return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def mid_ranks(score: FloatArray) -> FloatArray:
    """Return G: the share of all scores below each one, ties counted one half.

    >>> mid_ranks(np.array([0.2, 0.9, 0.2])).round(4)
    array([0.3333, 0.8333, 0.3333])
    """
    order = np.sort(score)
    left, right = (np.searchsorted(order, score, side=side) for side in ("left", "right"))
    return np.asarray((left + right) / (2 * score.size), dtype=np.float64)


def frechet_auc(score: FloatArray, place: IntArray, p: FloatArray) -> tuple[float, float]:
    """Return the sharp ends (B9) of the AUC for the observed scores; NaN if π is 0 or 1.

    Parameters
    ----------
    score
        One per row.
    place
        The pattern of each row.
    p
        P(Y = 1 | z) of each pattern.

    Examples
    --------
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8, 0.5, 0.6, 0.7, 0.9, 0.2, 0.95])
    >>> pattern = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    >>> [round(end, 4) for end in frechet_auc(scores, pattern, np.array([0.25, 0.7]))]
    [0.2676, 0.9968]
    """
    rank = mid_ranks(score)
    pi = float(p[place].mean())
    if not 0 < pi < 1:
        return float("nan"), float("nan")

    # In each pattern the positives fill the scores from one end up to its share, the last in part.
    order = np.lexsort((rank, place))
    size = np.bincount(place, minlength=len(p))
    first = np.concatenate(([0], size.cumsum()[:-1]))
    within = np.arange(len(rank)) - first[place[order]]
    quota = (size * p)[place[order]]
    lowest = np.clip(quota - within, 0, 1)
    highest = np.clip(quota - (size[place[order]] - 1 - within), 0, 1)
    low, high = (float((part * rank[order]).mean()) for part in (lowest, highest))
    return _auc(low, pi), _auc(high, pi)


def auc_ends(
    score: FloatArray, place: IntArray, p: FloatArray, weight: FloatArray, *, rng: Rng
) -> AucEnds | None:
    r"""Bound the AUC so that it holds where patterns are many: cuts from earlier rows, for later
    ones.

    For any cut :math:`t_z` a row counts

    .. math:: u = (G - t_z)_+ + p_z t_z, \qquad l = p_z t_z - (t_z - G)_+   \tag{B10}

    towards the ends of E[Y G]. The best cuts are the :math:`1 - p_z` quantile of G in the pattern
    and its :math:`p_z` quantile. The standard error allows for the estimated ranks and balance.

    Parameters
    ----------
    score, place, p
        As in :func:`frechet_auc`.
    weight
        Rows per pattern.
    rng
        For the random order of the rows.

    Returns
    -------
    AucEnds
        None if the label model gives one class no probability: the AUC does not exist.
    """
    law = p[place]
    pi = float(law.mean())
    if not 0 < pi < 1:
        return None
    rank = mid_ranks(score)
    bins = label_bins(np.column_stack([1 - p, p]), weight)
    block = as_rng(rng).integers(0, BLOCKS, len(rank))
    found: dict[str, tuple[float, float]] = {}
    for side in ("lower", "upper"):
        cut = _cuts(rank, place, bins, 1 - p if side == "upper" else p, block)
        later = block > 0
        if side == "upper":
            value = np.maximum(rank - cut, 0) + law * cut  # (B10)
            slope = rank > cut
        else:
            value = law * cut - np.maximum(cut - rank, 0)
            slope = rank < cut
        found[side] = _end(value, slope, law, score, later)
    return AucEnds(
        lower=found["lower"][0],
        upper=found["upper"][0],
        lower_error=found["lower"][1],
        upper_error=found["upper"][1],
        sharp=frechet_auc(score, place, p),
        independent=_auc(float((law * rank).mean()), pi),
    )


def _auc(mean: float, pi: float) -> float:
    """Return (B9), within [0, 1] up to rounding."""
    return float(np.clip((mean - pi**2 / 2) / (pi * (1 - pi)), 0, 1))


def _cuts(
    rank: FloatArray, place: IntArray, bins: IntArray, level: FloatArray, block: IntArray
) -> FloatArray:
    """Return the cut of each row: a quantile of the earlier rows of its pattern, or of its bin."""
    cut = np.full(len(rank), 0.5)
    for b in range(1, BLOCKS):
        earlier, now = block < b, np.flatnonzero(block == b)
        own, own_size = _quantiles(rank[earlier], place[earlier], level)
        share = np.bincount(bins, weights=level) / np.maximum(np.bincount(bins), 1)
        pooled, pooled_size = _quantiles(rank[earlier], bins[place[earlier]], share)
        z = place[now]
        common = np.where(pooled_size[bins[z]] > 0, pooled[bins[z]], 0.5)
        cut[now] = np.where(own_size[z] >= _OWN_ROWS, own[z], common)
    return cut


def _quantiles(
    value: FloatArray, group: IntArray, level: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Return the quantile of each group at its own level, and how many values it rests on."""
    size = np.bincount(group, minlength=len(level))
    order = np.lexsort((value, group))
    first = np.concatenate(([0], size.cumsum()[:-1]))
    at = np.clip(np.ceil(size * level).astype(np.int64) - 1, 0, np.maximum(size - 1, 0))
    held = np.append(value[order], 0.5)
    return np.where(size > 0, held[np.minimum(first + at, len(held) - 1)], 0.5), size


def _end(
    value: FloatArray,
    slope: np.ndarray,
    law: FloatArray,
    score: FloatArray,
    later: np.ndarray,
) -> tuple[float, float]:
    """Return one end of (B9) and its standard error, from the influence of each row."""
    n = int(later.sum())
    mean, pi = float(value[later].mean()), float(law.mean())
    scale = pi * (1 - pi)
    end = (mean - pi**2 / 2) / scale

    # A row also moves the ranks of all others: by the share of counted rows above it.
    above = _share_above(score, slope & later) / max(n, 1)
    by_pi = -pi / scale - end * (1 - 2 * pi) / scale
    influence = (value + above) / scale + by_pi * law
    return float(end), float(influence[later].std() / np.sqrt(n))


def _share_above(score: FloatArray, counted: np.ndarray) -> FloatArray:
    """Return how many counted scores exceed each score, ties counted one half."""
    order = np.sort(score[counted])
    left, right = (np.searchsorted(order, score, side=side) for side in ("left", "right"))
    return np.asarray(order.size - (left + right) / 2, dtype=np.float64)
