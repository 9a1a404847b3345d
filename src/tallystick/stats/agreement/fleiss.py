"""Fleiss' kappa: agreement of several raters beyond chance, chance from all raters together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.results import Unknown
from tallystick.stats.agreement.jackknife import Statistic, extra_items, jackknife_hull
from tallystick.stats.agreement.ratings import FloatArray, Ratings, as_ratings
from tallystick.stats.agreement.raw import NO_PAIR, pair_shares, second_commonest
from tallystick.stats.agreement.result import Agreement

__all__ = ["agreement_and_shares", "fleiss_kappa", "of_table"]


def fleiss_kappa(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    *,
    n_labels: int | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Return how far several raters agree beyond chance, if chance knows only the label shares.

    With :math:`p_a` of (G2) and :math:`\pi_k` the mean over items of the share of label k,

    .. math:: \kappa = \frac{p_a - p_e}{1 - p_e}, \qquad p_e = \sum_k \pi_k^2   \tag{G3}

    With complete ratings this is Fleiss' formula. With missing ratings every item counts alike,
    as in K. L. Gwet, *Handbook of Inter-Rater Reliability*: an item with one rating adds to
    :math:`\pi`, not to :math:`p_a`.

    Parameters
    ----------
    codes, counts, n_labels
        As in :func:`~tallystick.stats.agreement.as_ratings`.
    level
        Coverage of the interval (G1) for new items.

    Examples
    --------
    >>> found = fleiss_kappa([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]])
    >>> round(found.estimate, 4)
    0.7321
    >>> fleiss_kappa([[0, 0], [0, 0]]).estimate
    Unknown(reason='only one label was given, so agreement by chance is certain')
    """
    ratings = as_ratings(codes, counts, n_labels=n_labels)
    return of_table("fleiss-kappa", ratings, _fleiss, level)


def of_table(name: str, ratings: Ratings, statistic: Statistic, level: float) -> Agreement:
    """Return a statistic of the label counts, with its interval and its reason where undefined."""
    n_items = int(ratings.rated(2).counts.sum())
    whole = {"n_items": n_items, "n_raters": ratings.n_raters}
    rare = second_commonest(ratings)
    if not n_items:
        none = Unknown(NO_PAIR)
        return Agreement(name=name, estimate=none, interval=none, second_commonest=rare, **whole)

    table, weights = ratings.table, ratings.counts
    value = float(statistic(table, weights, np.zeros((1, ratings.n_labels)))[0])
    certain = Unknown("only one label was given, so agreement by chance is certain")
    return Agreement(
        name=name,
        estimate=certain if np.isnan(value) else value,
        interval=jackknife_hull(table, weights, extra_items(ratings), statistic, level=level),
        second_commonest=rare,
        **whole,
    )


def agreement_and_shares(
    table: FloatArray, counts: FloatArray, minus: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return (G2) and the label shares (rows x labels) on all items less each row of *minus*."""
    share, has_pair = pair_shares(table)
    minus_share, minus_pair = pair_shares(minus)
    agreement = (counts @ share - minus_share) / (counts @ has_pair - minus_pair)

    labels = (counts @ _label_shares(table) - _label_shares(minus)) / (
        counts.sum() - (minus.sum(axis=1) > 0)
    )[:, None]
    return agreement, labels


def _label_shares(table: FloatArray) -> FloatArray:
    size = table.sum(axis=1, keepdims=True)
    return np.asarray(table / np.where(size > 0, size, 1.0))


def _fleiss(table: FloatArray, counts: FloatArray, minus: FloatArray) -> FloatArray:
    agreement, labels = agreement_and_shares(table, counts, minus)
    chance = np.einsum("ik,ik->i", labels, labels)
    room = 1 - chance
    defined = room > 1e-12  # chance agreement of 1 leaves no room to agree beyond it
    return np.where(defined, (agreement - chance) / np.where(defined, room, 1.0), np.nan)  # (G3)
