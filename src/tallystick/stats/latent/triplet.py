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
from tallystick.stats.latent.model import LatentModel
from tallystick.stats.latent.votes import FloatArray, IntArray, Votes, as_votes

__all__ = [
    "TrioMoments",
    "TrioStatus",
    "Trios",
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
    >>> from tallystick.stats.latent import log_likelihood
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
    >>> from tallystick.stats.latent import log_likelihood
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
