r"""Three binary judges in closed form, and many judges as medians over their trios.

Let :math:`X_j = 1` if judge j votes 1, :math:`D_{jk}` the covariance of two votes, :math:`T` the
third central moment of three, and :math:`\delta_j` the sum of judge j's two accuracies less 1.
Under conditional independence

.. math::
    D_{jk} = \pi_0 \pi_1 \delta_j \delta_k, \qquad T = \pi_0 \pi_1 (\pi_0 - \pi_1) \delta_1 \delta_2 \delta_3, \qquad
    S^2 = 4 D_{12} D_{13} D_{23} + T^2   \tag{L6}

so that :math:`\pi_0 = (1 + T/S)/2` and :math:`\delta_j = S / D_{kl}` on the branch of
better-than-chance judges: CE23, Theorem 2 and Table 1, whose sign is corrected
(docs/theory/latent.md#l6). Nothing is divided by T, so balanced classes are no special case.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.latent_checks import Others, UnreadableFit, majority_of_others
from tallystick.stats.latent_model import FloatArray, IntArray, LatentModel, Votes, as_votes

__all__ = [
    "Headline",
    "TrioMoments",
    "TrioStatus",
    "Trios",
    "blend",
    "half_to_double",
    "solve_moments",
    "solve_points",
    "solve_trios",
    "trio_moments",
    "trio_point",
    "triplet",
]

TrioStatus = Literal[
    "sensible", "blind judge", "no variety", "complex", "negative product", "outside"
]
_STATUS = np.array(get_args(TrioStatus))
_ZERO = 1e-12
_WORDS = 1 << 19  # words of work at a time: 4 MB stay in cache

Array: TypeAlias = npt.NDArray[np.floating[Any] | np.complexfloating[Any, Any]]


@dataclass(frozen=True, eq=False)
class Trios:
    """The closed-form answer of every trio of judges, on the branch of better-than-chance judges.

    The other branch is its mirror: the classes change names. Numbers are NaN where they do not
    exist.

    Parameters
    ----------
    judges
        Trios x 3.
    status
        ``sensible``; ``blind judge`` (two covariances are 0); ``no variety`` (one is 0);
        ``complex`` (S² < 0); ``negative product`` (the balance leaves [0, 1]); ``outside`` (an
        accuracy does). Each failure proves that errors are dependent or the sample small;
        ``sensible`` proves nothing.
    balance
        Probability of class 0.
    accuracy
        Trios x 3 x 2: the chance that each judge is right on items of class 0 and of class 1.
    mean, covariance, third, square
        What they were solved from: shares of votes 1 (trios x 3), covariances (column a: the pair
        without judge a), third central moments, and S².
    """

    judges: IntArray
    status: npt.NDArray[np.str_]
    balance: FloatArray
    accuracy: FloatArray
    mean: FloatArray
    covariance: FloatArray
    third: FloatArray
    square: FloatArray


@dataclass(frozen=True, eq=False)
class TrioMoments:
    """Shares of votes 1, covariances, third central moments (of judges i < j < k): all that (L6)
    needs of votes.
    """

    mean: FloatArray
    covariance: FloatArray
    third: FloatArray


def solve_trios(codes: npt.ArrayLike, counts: npt.ArrayLike) -> Trios:
    """Solve every trio of binary judges (L6); pairs and trios use the items on which all of them
    vote.

    Missing votes must be missing at random.

    Examples
    --------
    >>> codes = list(itertools.product([0, 1], repeat=3))
    >>> from tallystick.stats.latent_model import log_likelihood
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> trios = solve_trios(codes, np.exp(log_likelihood(model, codes)))
    >>> trios.status[0].item(), trios.accuracy[0, 0].round(6)
    ('sensible', array([0.9, 0.8]))
    """
    return solve_moments(trio_moments(codes, counts))


def trio_moments(codes: npt.ArrayLike, counts: npt.ArrayLike) -> TrioMoments:
    """Return the moments of binary votes; each is taken over the items on which all its judges
    vote.
    """
    votes = as_votes(codes, counts, n_classes=2)
    return TrioMoments(*_pairs(votes), _third_moments(votes))


def solve_moments(moments: TrioMoments) -> Trios:
    """Solve every trio (L6) from moments alone: what `solve_trios` does once the votes are
    counted.
    """
    n_judges = moments.mean.size
    judges = np.array(list(itertools.combinations(range(n_judges), 3)), dtype=np.int64).reshape(
        -1, 3
    )
    if not judges.size:
        raise NotIdentifiable(f"a trio needs three judges, got {n_judges}")
    i, j, k = judges.T
    covariance, third, f = moments.covariance, moments.third[i, j, k], moments.mean[judges]
    # column a: the pair without judge a
    d = np.stack((covariance[j, k], covariance[i, k], covariance[i, j]), axis=1)
    return solve_points(judges, f, d, third)


def solve_points(
    judges: IntArray, mean: FloatArray, covariance: FloatArray, third: FloatArray
) -> Trios:
    """Solve (L6) for trios one by one: rows of means and of covariances (column a: the pair without
    judge a).
    """
    f, d = mean, covariance
    zero = np.abs(d) <= _ZERO
    product = d.prod(axis=1)
    square = 4 * product + third**2
    with np.errstate(all="ignore"):  # impossible trios become NaN, and their status says why
        sign = np.where((np.sqrt(square)[:, None] / d).sum(axis=1) > 0, 1.0, -1.0)
        first, accuracy = trio_point(f, d, third, sign)
    outside = (accuracy < -_ZERO).any(axis=(1, 2)) | (accuracy > 1 + _ZERO).any(axis=(1, 2))
    missing = ~np.isfinite(d).all(axis=1) | ~np.isfinite(third)
    conditions = [
        zero.sum(axis=1) > 1,
        zero.any(axis=1) | missing,
        square < 0,
        product < 0,
        outside,
    ]
    status = np.select(conditions, list(_STATUS[1:]), _STATUS[0])
    exists = (square > 0) & ~zero.any(axis=1) & ~missing
    return Trios(
        judges,
        status,
        np.where(exists, first, np.nan),
        np.where(exists[:, None, None], accuracy, np.nan),
        f,
        d,
        third,
        square,
    )


def trio_point(
    mean: Array, covariance: Array, third: Array, sign: npt.NDArray[np.float64]
) -> tuple[Array, Array]:
    """Return the balance of class 0 and the accuracies (trios x 3 x 2) of (L6) on the branch
    *sign*.

    Complex moments are taken as they are, so a complex step gives exact derivatives.
    """
    s = np.sqrt(4 * covariance.prod(axis=1) + third**2)
    first = (1 + sign * third / s) / 2
    delta = (sign * s)[:, None] / covariance
    accuracy = np.stack(
        ((1 - mean) + (1 - first)[:, None] * delta, mean + first[:, None] * delta), axis=2
    )
    return first, accuracy


def triplet(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    balance: npt.ArrayLike | None = None,
    clip: bool = False,
) -> LatentModel:
    r"""Grade three or more binary judges by moments: no iteration, no start.

    Unless *balance* is given, it is the median over sensible trios. Each :math:`|\delta_j|` is the
    median over pairs k, l of :math:`\sqrt{D_{jk} D_{jl} / (\pi_0 \pi_1 D_{kl})}`, in the manner of
    the triplet methods for weak labels; its sign comes from the covariances and the branch of
    better-than-chance judges.

    Parameters
    ----------
    codes, counts
        Votes 0 or 1, -1 missing, and how often each pattern occurs.
    balance
        The two class probabilities, where known.
    clip
        Move accuracies that leave [0, 1] to its ends, instead of refusing.

    Raises
    ------
    NotIdentifiable
        No trio gives an answer (its failures are named), or an accuracy leaves [0, 1].

    Examples
    --------
    >>> codes = list(itertools.product([0, 1], repeat=4))
    >>> from tallystick.stats.latent_model import log_likelihood
    >>> model = LatentModel([0.7, 0.3], [[[0.9, 0.1], [0.2, 0.8]]] * 4)
    >>> triplet(codes, np.exp(log_likelihood(model, codes))).balance.round(6)
    array([0.7, 0.3])
    """
    votes = as_votes(codes, counts, n_classes=2)
    if balance is None:
        trios = solve_trios(codes, counts)
        sensible = trios.status == "sensible"
        if not sensible.any():
            names, how_many = np.unique(trios.status, return_counts=True)
            failures = ", ".join(f"{n} x {name}" for name, n in zip(names, how_many, strict=True))
            raise NotIdentifiable(
                f"no trio of judges has a sensible solution ({failures}): give balance, or drop"
                " judges"
            )
        first = float(np.median(trios.balance[sensible]))
        pi = np.array([first, 1 - first])
    else:
        pi = np.asarray(balance, dtype=np.float64)
        if pi.shape != (2,) or not ((pi > 0).all() and np.isclose(pi.sum(), 1)):
            raise InputError(
                f"balance must hold two positive probabilities that sum to 1, got {balance!r}"
            )
    mean, covariance = _pairs(votes)
    delta = _signs(covariance) * _sizes(covariance, float(pi.prod()))
    accuracy = np.stack(((1 - mean) + pi[1] * delta, mean + pi[0] * delta), axis=1)
    wrong = ((accuracy < -_ZERO) | (accuracy > 1 + _ZERO)).any(axis=1)
    if wrong.any() and not clip:
        j = int(wrong.argmax())
        raise NotIdentifiable(
            f"judge {j} would be right on {accuracy[j, 0]:.3f} of class 0 and {accuracy[j, 1]:.3f}"
            " of class 1: its errors depend on another judge's, or the balance is wrong; drop it,"
            " or pass clip=True"
        )
    accuracy = np.clip(accuracy, 0, 1)
    confusion = np.stack([np.array([[a, 1 - a], [1 - b, b]]) for a, b in accuracy])
    return LatentModel(pi, confusion)


def _pairs(votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Return each judge's share of votes 1, and covariances over the items of each pair (NaN where
    it has none).
    """
    voted = (votes.codes >= 0).astype(np.float64)
    one = (votes.codes == 1).astype(np.float64)
    weight = votes.counts[:, None]
    n = voted.T @ (weight * voted)
    with np.errstate(invalid="ignore"):
        mine = one.T @ (weight * voted) / n
        both = one.T @ (weight * one) / n
    return mine.diagonal().copy(), both - mine * mine.T


def _third_moments(votes: Votes) -> FloatArray:
    """Return third central moments over the items of each trio i < j < k; NaN at all other
    places.
    """
    whole = bool((votes.counts == np.floor(votes.counts)).all())
    if whole and bool((votes.codes >= 0).all()):
        return _third_from_bits(votes)
    voted = (votes.codes >= 0).astype(np.float64)
    one = (votes.codes == 1).astype(np.float64)
    out = np.empty((votes.n_judges,) * 3)
    for i in range(votes.n_judges):
        there, yes = ((votes.counts * column[:, i])[:, None] for column in (voted, one))
        n = voted.T @ (there * voted)
        with np.errstate(invalid="ignore"):
            p_i, p_j = voted.T @ (yes * voted) / n, one.T @ (there * voted) / n
            p_ij, p_jk = one.T @ (yes * voted) / n, one.T @ (there * one) / n
            out[i] = one.T @ (yes * one) / n
        p_k, p_ik = p_j.T, p_ij.T
        out[i] += 2 * p_i * p_j * p_k - p_i * p_jk - p_j * p_ik - p_k * p_ij
    return out


def _third_from_bits(votes: Votes) -> FloatArray:
    """Do the same for complete votes on whole items: 64 patterns a word, one plane a binary digit
    of the counts.
    """
    n_judges = votes.n_judges
    one = _words(votes.codes == 1)
    counts = votes.counts.astype(np.int64)
    i, j, k = (
        np.array(list(itertools.combinations(range(n_judges), 3)), dtype=np.int64).reshape(-1, 3).T
    )
    single, pair, triple = np.zeros(n_judges), np.zeros((n_judges, n_judges)), np.zeros(i.size)
    for digit in range(int(counts.max()).bit_length()):
        plane = one & _words((counts >> digit & 1).astype(np.bool_)[:, None])
        both = plane[:, None] & one
        single += 2.0**digit * np.bitwise_count(plane).sum(axis=1, dtype=np.int64)
        pair += 2.0**digit * np.bitwise_count(both).sum(axis=2, dtype=np.int64)
        step = max(1, _WORDS // one.shape[1])
        for first in range(0, i.size, step):
            part = slice(first, first + step)
            words = both[i[part], j[part]] & one[k[part]]
            triple[part] += 2.0**digit * np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    f, ff = single / votes.n_items, pair / votes.n_items
    out = np.full((n_judges,) * 3, np.nan)
    out[i, j, k] = (
        triple / votes.n_items
        + 2 * f[i] * f[j] * f[k]
        - f[i] * ff[j, k]
        - f[j] * ff[i, k]
        - f[k] * ff[i, j]
    )
    return out


def _words(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Pack patterns x judges into judges x words of 64 patterns."""
    packed = np.packbits(flags, axis=0)
    padded = np.zeros((-(-packed.shape[0] // 8) * 8, flags.shape[1]), dtype=np.uint8)
    padded[: packed.shape[0]] = packed
    return np.ascontiguousarray(padded.T).view(np.uint64)


def _sizes(covariance: FloatArray, variance: float) -> FloatArray:
    """Return the median over pairs of each judge's size of delta."""
    n = covariance.shape[0]
    sizes = np.empty(n)
    for j in range(n):
        k, m = (np.delete(np.arange(n), j)[index] for index in np.triu_indices(n - 1, 1))
        below = covariance[k, m] * variance
        usable = np.abs(below) > _ZERO
        square = covariance[j, k][usable] * covariance[j, m][usable] / below[usable]
        square = square[square >= 0]  # also drops NaN: a pair without common items
        if not square.size:
            raise NotIdentifiable(
                f"judge {j} is in no trio whose covariances agree in sign: drop it or add judges"
            )
        sizes[j] = np.sqrt(np.median(square))
    return sizes


def _signs(covariance: FloatArray) -> FloatArray:
    """Return +1 for judges on the side of the majority of covariances, -1 for those against it."""
    matrix = np.where(np.isfinite(covariance), covariance, 0.0)
    np.fill_diagonal(matrix, 0.0)
    leading = np.linalg.eigh(matrix)[1][:, -1]
    signs = np.where(leading >= 0, 1.0, -1.0)
    return signs if (signs * np.abs(leading)).sum() >= 0 else -signs


# Without labels: one number per judge, and a range that held on comparable panels.
#
# Dawid-Skene is too high where items differ in difficulty; the majority of the others is too low
# where the majority errs. The headline starts from Dawid-Skene with unreadable items and is
# pulled
# towards the majority of the others by misfit:
#
# .. math::
#     \hat a_j = u\,B_j + (1 - u) \sum_h w_h A^h_j, \qquad
#     u = \mathrm{clip}(\mathrm{ratio} - 1, 0, 1)   \tag{U5}
#
# The ratio is the misfit of pairwise agreement at h = 0 over its mean in refits. Where it was
# measured, B is the majority of the others, :math:`\mathrm{LOO}_j`, and the result is kept
# between
# :math:`A^0_j` and :math:`\mathrm{LOO}_j`, so that no judge fares worse than by both of them.
# Where
# nothing can be tested
# (three binary judges, or no pair with ten common items) u = 1/2 and
# :math:`B_j = (A^{.4}_j + \mathrm{LOO}_j)/2`: nobody knows then whether items differ in
# difficulty.
#
# No interval exists without labels: a bias that all judges share fits perfectly. Printed instead
# is
# "half to double", with :math:`e^- = 1 - \min(\hat a, \mathrm{LOO}, A^{.4})`,
# :math:`e^+ = 1 - \max(\hat a, A^0)` and :math:`m(e) = \sqrt{\max(e(1-e), .01)/\text{votes}}`:
#
# .. math:: [\,1 - 2 e^- - m(e^-),\; 1 - e^+/2 + m(e^+)\,]   \tag{U6}
#
# cut to [0, 1]. In 216 simulated cells it held for 99 % of the judges, in the worst cell for 68
# %.
# It fails where items were built to fool judges.


@dataclass(frozen=True, kw_only=True, eq=False)
class Headline:
    """Accuracies without labels, with everything they were made of.

    Parameters
    ----------
    accuracy
        (U5), one per judge; NaN for a judge without a vote.
    low, high
        (U6): where the true accuracy was for most judges of comparable panels. Not an interval.
    tables
        Judges x labels x votes, each judge's entries summing to 1: the expected confusion table,
        mixed with the weights of (U5). Its diagonal sums to *accuracy*.
    balance
        Shares of the labels, mixed in the same way.
    ratio
        Misfit ratio, or why nothing can be tested.
    pull
        The u of (U5).
    fit, others
        The parts.
    """

    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    tables: FloatArray
    balance: FloatArray
    ratio: float | Unknown
    pull: float
    fit: UnreadableFit
    others: Others

    @property
    def per_label(self) -> FloatArray:
        """Judges x labels x votes: how the judge votes on items of each label.

        The diagonal holds the recall per label. NaN where a judge saw no item of a label.
        """
        rows = self.tables.sum(axis=2, keepdims=True)
        out = np.full_like(self.tables, np.nan)
        return np.asarray(np.divide(self.tables, rows, out=out, where=rows > 0))


def blend(fit: UnreadableFit, *, pull: float, ratio: float | Unknown) -> Headline:
    """Return the headline (U5) for a given *pull* u; :func:`headline` takes u from the misfit.

    *ratio* is the measured misfit, or why there is none: that decides where the pull leads.
    """
    if not 0 <= pull <= 1:
        raise InputError(f"pull must be in [0, 1], got {pull!r}")
    others = majority_of_others(fit.votes, fit.n_labels)

    # Each table is divided by its own total first: the others can grade fewer items of a judge than
    # it voted on, and would count for less otherwise.
    by_share = _unit(fit.tables, axis=(2, 3))
    by_others = _unit(others.tables, axis=(1, 2))
    firm = by_share[fit.at(0.4)]
    mean = np.einsum("h,hjyv->jyv", fit.weight, by_share)
    # Copies also raise the misfit, and A^.4 is far too low for them: measured misfit pulls to LOO.
    tested = not isinstance(ratio, Unknown)
    aim = by_others if tested else (firm + by_others) / 2
    # A judge that never shares an item with another has nothing but the model.
    graded = np.isfinite(by_others).all(axis=(1, 2), keepdims=True)
    tables = pull * np.where(graded, aim, firm) + (1 - pull) * mean  # (U5)
    if tested:
        tables = _between(tables, by_share[fit.at(0.0)], by_others, fit.n_labels)

    accuracy = _diagonal(tables, fit.n_labels)
    loo = others.accuracy
    a0, a4 = fit.accuracy[fit.at(0.0)], fit.accuracy[fit.at(0.4)]
    lowest = np.fmin(np.minimum(accuracy, a4), loo)
    voted = fit.votes.counts @ (fit.votes.codes >= 0)
    low, high = half_to_double(lowest, np.maximum(accuracy, a0), voted)
    return Headline(
        accuracy=accuracy,
        low=low,
        high=high,
        tables=tables,
        balance=_balance(fit, others, pull, tested=tested),
        ratio=ratio,
        pull=pull,
        fit=fit,
        others=others,
    )


def half_to_double(
    lowest: npt.ArrayLike, highest: npt.ArrayLike, votes: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the range (U6): twice the larger error rate to half of the smaller one.

    >>> low, high = half_to_double(0.99, 0.99, 50)
    >>> float(low.round(4)), float(high)
    (0.9659, 1.0)
    """
    n = np.asarray(votes, dtype=np.float64)
    e_high, e_low = 1 - np.asarray(lowest, np.float64), 1 - np.asarray(highest, np.float64)
    low = 1 - 2 * e_high - _margin(e_high, n)
    high = 1 - e_low / 2 + _margin(e_low, n)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _margin(error: FloatArray, votes: FloatArray) -> FloatArray:
    floor = np.maximum(error * (1 - error), 0.01)  # a judge without an error still has doubt
    return np.sqrt(floor / np.maximum(votes, 1))


def _balance(fit: UnreadableFit, others: Others, pull: float, *, tested: bool) -> FloatArray:
    """Mix the label shares as (U5) mixes the tables."""
    weights = fit.votes.weights
    by_share = np.einsum("i,hiy->hy", weights / weights.sum(), fit.posterior)
    by_others = others.tables.sum(axis=(0, 2))
    firm = by_share[fit.at(0.4)]
    if by_others.sum() > 0:
        graded = by_others / by_others.sum()
        firm = graded if tested else (firm + graded) / 2
    return np.asarray(pull * firm + (1 - pull) * (fit.weight @ by_share))


def _between(tables: FloatArray, one: FloatArray, other: FloatArray, n_labels: int) -> FloatArray:
    """Replace a judge's table by the nearer end where its accuracy is outside both ends."""
    here, a, b = (_diagonal(t, n_labels) for t in (tables, one, other))
    beyond_a = ((here < a) & (a <= b)) | ((here > a) & (a >= b))
    beyond_b = ((here < b) & (b < a)) | ((here > b) & (b > a))
    out = np.where(beyond_a[:, None, None], one, tables)
    return np.asarray(np.where(beyond_b[:, None, None], other, out))


def _diagonal(tables: FloatArray, n_labels: int) -> FloatArray:
    return np.asarray(np.einsum("jyy->j", tables[:, :, :n_labels]))


def _unit(tables: FloatArray, axis: tuple[int, int]) -> FloatArray:
    total = tables.sum(axis=axis, keepdims=True)
    out = np.full_like(tables, np.nan)
    return np.asarray(np.divide(tables, total, out=out, where=total > 0))
