r"""The trio's quadratic: three judges whose errors are independent, solved without a label.

Let :math:`X_i = 1` if judge i votes β (code 1), f its moments, :math:`D_{ij} = f_{ij} - f_i f_j`
(36), T the third central moment, and :math:`\delta_i = P_{i\alpha} + P_{i\beta} - 1`. If errors are
independent given the label (Theorem 1),

.. math::
    D_{ij} = P_\alpha P_\beta \delta_i \delta_j, \qquad
    T = P_\alpha P_\beta (P_\alpha - P_\beta) \delta_1 \delta_2 \delta_3, \qquad
    S^2 = 4 D_{12} D_{13} D_{23} + T^2 = (P_\alpha P_\beta \delta_1 \delta_2 \delta_3)^2   \tag{J1}

so that the prevalence solves :math:`S^2 P_\alpha^2 - S^2 P_\alpha + D_{12} D_{13} D_{23} = 0`
(21), and each root has one accuracy per judge and label: two points, Theorem 2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent_model import FloatArray, IntArray, LatentModel, Votes, as_votes

Array: TypeAlias = npt.NDArray[np.floating[Any] | np.complexfloating[Any, Any]]
Number = TypeVar("Number", int, float, Fraction, FloatArray, Array)

TrioStatus = Literal[
    "sensible", "blind judge", "no variety", "complex", "negative product", "outside"
]
_STATUS = np.array(get_args(TrioStatus))
_ZERO = 1e-12
_WORDS = 1 << 19  # words of work at a time: 4 MB stay in cache


def trio_quadratic(
    d12: Number, d13: Number, d23: Number, third: Number
) -> tuple[Number, Number, Number]:
    r"""Return a, b, c of the quadratic :math:`a P_\alpha^2 + b P_\alpha + c = 0` of a trio (21), (32).

    :math:`a = S^2` is the top cell of the supplement's Figure 1, :math:`b = -a` and c is the
    product of the covariances. The roots are :math:`(1 \pm T/S)/2`: nothing is divided by T, so a
    prevalence of 1/2 is no special case. Any numbers will do: whole ones, fractions, arrays.

    Examples
    --------
    >>> a, b, c = trio_quadratic(*[Fraction(3, 64)] * 3, Fraction(-3, 256))  # P_α = 1/4, δ = 1/2
    >>> [a * p**2 + b * p + c for p in (Fraction(1, 4), Fraction(3, 4))]
    [Fraction(0, 1), Fraction(0, 1)]
    """
    product = d12 * d13 * d23
    square = 4 * product + third**2
    return square, -square, product


# The two points of a trio, for every trio of many judges.


@dataclass(frozen=True, eq=False)
class Trios:
    """The closed-form answer of every trio of judges, on the branch of better-than-chance judges.

    The other point is its mirror (:func:`mirrored`). Numbers are NaN where they do not exist.

    Parameters
    ----------
    judges
        Trios x 3.
    status
        ``sensible``, or how the trio failed (section 4, where these are three modes; the fourth is
        :func:`unresolved_roots`). The variety is empty: ``blind judge`` (two covariances are 0) or
        ``no variety`` (one is). Complex points: ``complex`` (S² < 0). Points outside the unit
        cube: ``negative product`` (the prevalence) or ``outside`` (an accuracy). Each failure
        proves that errors are dependent or the sample small; ``sensible`` proves nothing.
    balance
        Prevalence of label α, code 0.
    accuracy
        Trios x 3 x 2: the share of items of α and of β on which each judge is right.
    mean, covariance, third, square
        What they were solved from: shares of votes β (trios x 3), covariances (column a: the pair
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
    """Shares of votes β, covariances, third central moments (of judges i < j < k): all that (J1)
    needs of votes.
    """

    mean: FloatArray
    covariance: FloatArray
    third: FloatArray


def solve_trios(codes: npt.ArrayLike, counts: npt.ArrayLike) -> Trios:
    """Solve every trio of binary judges: Theorem 2.

    Codes are 0 (α), 1 (β) or -1 (no vote), patterns x judges, with the count of each pattern. Pairs
    and trios use the items on which all of them vote, so missing votes must be missing at random.
    Three judges are the fewest that can be solved, and solve any larger ensemble (supplement 3).

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
    """Solve every trio from moments alone: what `solve_trios` does once the votes are counted."""
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
    """Solve (J1) for trios one by one: rows of means and of covariances (column a: the pair without
    judge a).
    """
    f, d = mean, covariance
    zero = np.abs(d) <= _ZERO
    square, _, product = trio_quadratic(d[:, 0], d[:, 1], d[:, 2], third)
    with np.errstate(all="ignore"):  # impossible trios become NaN, and their status says why
        # Better than chance together: the sum of the δ is positive.
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
    r"""Return the prevalence of α and the accuracies (trios x 3 x 2) on the branch *sign*.

    .. math:: P_\alpha = \tfrac12 (1 + s\,T/S), \quad \delta_k = s\,S/D_{ij}, \quad
              P_{k\alpha} = f_{k\alpha} + P_\beta \delta_k, \quad
              P_{k\beta} = f_{k\beta} + P_\alpha \delta_k

    Complex moments are taken as they are, so a complex step gives exact derivatives.
    """
    square, _, _ = trio_quadratic(covariance[:, 0], covariance[:, 1], covariance[:, 2], third)
    s = np.sqrt(square)
    # Table 1 and (39) print a minus sign here, which is the mirror point of good judges.
    first = (1 + sign * third / s) / 2
    delta = (sign * s)[:, None] / covariance
    accuracy = np.stack(
        ((1 - mean) + (1 - first)[:, None] * delta, mean + first[:, None] * delta), axis=2
    )
    return first, accuracy


def mirrored(balance: FloatArray, accuracy: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the other point of each trio: the labels exchanged (33)-(35).

    >>> mirrored(np.array(0.25), np.array([[0.9, 0.8]]))
    (np.float64(0.75), array([[0.2, 0.1]]))
    """
    return 1 - balance, 1 - accuracy[..., ::-1]


def choose_branch(
    trios: Trios,
    *,
    prevalence: tuple[float, float] | None = None,
    reference: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return prevalence and accuracies of every trio at the point that knowledge picks (section 6).

    Votes alone never choose. A trio that nothing decides stays at the better-than-chance point.

    Parameters
    ----------
    trios
        Of :func:`solve_trios`.
    prevalence
        Ends of a range that holds the prevalence of α.
    reference
        Judges x 2 of accuracies that are known, from labels or beforehand; NaN where nothing is.
    """
    balance, accuracy = trios.balance, trios.accuracy
    other_balance, other = mirrored(balance, accuracy)
    change = np.zeros(len(balance), dtype=np.bool_)
    if prevalence is not None:
        low, high = prevalence
        here = (balance >= low - 1e-12) & (balance <= high + 1e-12)
        there = (other_balance >= low - 1e-12) & (other_balance <= high + 1e-12)
        if (here & there).any() and not (here ^ there).any():
            raise NotIdentifiable(
                f"prevalence range [{low:g}, {high:g}] contains both mirror points: give one that"
                " lies on one side of 1/2, some labels, or the quality of a judge"
            )
        change = there & ~here
    elif reference is not None:
        mine = reference[trios.judges]
        with np.errstate(invalid="ignore"):
            change = np.nansum(np.abs(other - mine), axis=(1, 2)) < np.nansum(
                np.abs(accuracy - mine), axis=(1, 2)
            )
    return (
        np.where(change, other_balance, balance),
        np.where(change[:, None, None], other, accuracy),
    )


def failure_modes(trios: Trios) -> dict[str, int]:
    """Return how many trios are sensible and how many failed in which way (section 4).

    >>> failure_modes(solve_trios([[0, 0, 0], [1, 1, 0], [0, 1, 1]], [5, 3, 2]))["complex"]
    0
    """
    return {mode: int((trios.status == mode).sum()) for mode in get_args(TrioStatus)}


def _pairs(votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Return each judge's share of votes β, and covariances (36) over the items of each pair (NaN
    where it has none).

    By (37) they are the same for votes α.
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


# Any number of judges: medians over their trios.


def triplet(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    balance: npt.ArrayLike | None = None,
    clip: bool = False,
) -> LatentModel:
    r"""Grade three or more binary judges by moments: no iteration, no start.

    Unless *balance* is given, it is the median over sensible trios. Each :math:`|\delta_j|` is the
    median over pairs k, l of :math:`\sqrt{D_{jk} D_{jl} / (P_\alpha P_\beta D_{kl})}`, in the
    manner of the triplet methods for weak labels; its sign comes from the covariances and the
    branch of better-than-chance judges.

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
            failures = ", ".join(
                f"{n} x {mode}" for mode, n in sorted(failure_modes(trios).items()) if n
            )
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


# Exact arithmetic: fractions, and square roots that resolve or do not (Theorem 5).


@dataclass(frozen=True)
class Surd:
    r"""An algebraic number :math:`a + b \sqrt{r}` with fractions a, b and a whole number r
    (negative: complex).

    >>> float(Surd(Fraction(1, 2), Fraction(1, 4), 2))
    0.8535533905932737
    >>> Surd(Fraction(1, 2), Fraction(1, 4), 9).fraction
    Fraction(5, 4)
    """

    a: Fraction
    b: Fraction
    r: int

    @property
    def fraction(self) -> Fraction | None:
        """The number itself where its root resolves, None where it is irrational or complex."""
        if not self.b:
            return self.a
        return self.a + self.b * isqrt(self.r) if is_square(self.r) else None

    def __float__(self) -> float:
        if self.b and self.r < 0:
            raise NotIdentifiable(f"{self} is complex: these judges' errors are not independent")
        scale = 10**40  # the root to 40 more digits than a float holds
        root = Fraction(isqrt(max(self.r, 0) * scale**2), scale)
        return float(self.a + self.b * root)

    def __str__(self) -> str:
        return f"{self.a} + {self.b}·√{self.r}" if self.b else str(self.a)


def is_square(number: int) -> bool:
    """Say whether a whole number, however large, is the square of one."""
    return number >= 0 and isqrt(number) ** 2 == number


@dataclass(frozen=True, kw_only=True)
class ExactTrio:
    """Both points of Theorem 2 in exact numbers, the better-than-chance one first.

    Parameters
    ----------
    resolved
        Whether the square root is rational. False proves that the judges' errors are not
        sample-independent (Theorem 5); True proves nothing.
    radicand
        The whole number :math:`n^6 S^2`.
    prevalence
        Of α, at both points.
    accuracy
        Judge by judge: at both points, its accuracies on α and on β.
    """

    resolved: bool
    radicand: int
    prevalence: tuple[Surd, ...]
    accuracy: tuple[tuple[tuple[Surd, Surd], ...], ...]


def exact_trio(codes: npt.ArrayLike, counts: npt.ArrayLike) -> ExactTrio:
    r"""Solve one trio of binary judges in exact arithmetic.

    With the sums of (J1) times powers of n, all whole numbers,

    .. math:: n^6 S^2 = 4 \prod (n\,n_{ij} - n_i n_j) + (n^2 n_{123} - n \sum n_i n_{jk} + 2 n_1 n_2 n_3)^2   \tag{J2}

    and the points are :math:`P_\alpha = \tfrac12 + s T S / 2 S^2`, :math:`P_{k\alpha} = f_{k\alpha}
    - T/2D_{ij} + s S/2 D_{ij}`, :math:`P_{k\beta} = f_{k\beta} + T/2D_{ij} + s S/2D_{ij}`.

    Examples
    --------
    >>> trio = exact_trio(list(itertools.product([0, 1], repeat=3)), [7, 3, 3, 3, 3, 3, 3, 7])
    >>> trio.prevalence[0].fraction, [on_alpha.fraction for on_alpha, _ in trio.accuracy[0]]
    (Fraction(1, 2), [Fraction(3, 4), Fraction(1, 4)])
    """
    table = np.asarray(codes)
    if table.ndim != 2 or table.shape[1] != 3 or not np.isin(table, (0, 1)).all():
        raise InputError(
            "exact_trio solves three judges who vote 0 or 1 on every item, got a table of shape"
            f" {table.shape}"
        )
    [(n, ones, pairs, third)] = _whole_moments(table, counts)
    radicand, _, product = trio_quadratic(*pairs, third)
    if not product or not radicand:
        raise NotIdentifiable("two of the judges are uncorrelated (D = 0), so no two points exist")
    d = [Fraction(pair, n**2) for pair in pairs]
    t = Fraction(third, n**3)
    half_root = Fraction(1, 2 * n**3)  # S = √radicand / n³
    # The first point is the one whose judges are better than chance together: s Σ 1/D > 0.
    s = 1 if sum(1 / value for value in d) > 0 else -1
    return ExactTrio(
        resolved=is_square(radicand),
        radicand=radicand,
        prevalence=tuple(
            Surd(Fraction(1, 2), sign * t * n**3 / (2 * radicand), radicand) for sign in (s, -s)
        ),
        accuracy=tuple(
            tuple(
                (
                    Surd(1 - Fraction(one, n) - t / (2 * pair), sign * half_root / pair, radicand),
                    Surd(Fraction(one, n) + t / (2 * pair), sign * half_root / pair, radicand),
                )
                for sign in (s, -s)
            )
            for one, pair in zip(ones, d, strict=True)
        ),
    )


def unresolved_roots(codes: npt.ArrayLike, counts: npt.ArrayLike) -> int:
    """Return how many trios have an irrational square root: the fourth failure mode, Theorem 5.

    Each proves, without false alarms, that its judges' errors are not sample-independent. The
    converse fails: one pair correlated on one label always leaves the root rational.
    """
    squares = (
        trio_quadratic(*pairs, third)[0] for _, _, pairs, third in _whole_moments(codes, counts)
    )
    return sum(not is_square(square) for square in squares)


def _whole_moments(
    codes: npt.ArrayLike, counts: npt.ArrayLike
) -> Iterator[tuple[int, tuple[int, int, int], tuple[int, int, int], int]]:
    """Yield, trio by trio, the whole numbers n, n f, n² D (the pair without each judge) and n³ T of
    complete votes.
    """
    weights = np.asarray(counts, dtype=np.float64)
    if (weights != np.floor(weights)).any():
        raise InputError("exact arithmetic counts items: give whole counts, not weights")
    one = (np.asarray(codes) == 1).astype(np.float64)
    weighted = one * weights[:, None]
    n = int(weights.sum())
    single = weighted.sum(axis=0).astype(np.int64).tolist()
    pair = (weighted.T @ one).astype(np.int64).tolist()
    triple = [((weighted * column[:, None]).T @ one).astype(np.int64).tolist() for column in one.T]
    for i, j, k in itertools.combinations(range(one.shape[1]), 3):
        a, b, c = single[i], single[j], single[k]
        bc, ac, ab = pair[j][k], pair[i][k], pair[i][j]
        third = n * n * triple[i][j][k] - n * (a * bc + b * ac + c * ab) + 2 * a * b * c
        yield n, (a, b, c), (n * bc - b * c, n * ac - a * c, n * ab - a * b), third
