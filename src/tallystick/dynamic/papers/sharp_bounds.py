r"""Sharper than the paper: the constants of Theorems 3.4, 3.6 and 4.1, and a bound for any rounds.

Proofs stand in ``docs/theory/dynamic-sharp.md``, line by line. :math:`\epsilon` is the excess risk
of a model on the distribution it was trained on, :math:`\Delta` the distance between
:math:`\mathcal D_0` and :math:`\mathcal D` ([SAH23]_, Definition 3.3). Mixtures and votes are
uniform. All functions take fractions as well as floats and then return fractions, so that they can
be held against exact populations. They are not cut at 1.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb
from typing import TypeVar

from tallystick.dynamic.design import Mixing
from tallystick.errors import InputError

__all__ = [
    "any_rounds_bound",
    "most_overlap",
    "noise_closed_floor",
    "noise_floor",
    "pair_factor",
    "sharp_hierarchical_bound",
    "three_round_lemma",
]

Number = TypeVar("Number", float, Fraction)


def three_round_lemma(epsilon: Number, distance: Number) -> Number:
    r"""Bound the majority risk of three rounds.

    .. math:: \max(6\epsilon^2 + 3\epsilon\Delta,\; 5\epsilon^2 + 5\epsilon\Delta)  \tag{S0}

    Lemma B of ``docs/theory/dynamic-sharp.md``. [SAH23]_, Theorem 3.4 prints
    :math:`11\epsilon^2 + 8\epsilon\Delta`. For :math:`\Delta = 0` and :math:`\epsilon \le 1/4` the
    worst case is exactly :math:`6\epsilon^2/(1+2\epsilon)`.

    >>> round(three_round_lemma(0.01, 0.05), 6), round(three_round_lemma(0.05, 0.01), 6)
    (0.003, 0.0165)
    """
    _check(epsilon, distance)
    return max(
        6 * epsilon * epsilon + 3 * epsilon * distance,
        5 * epsilon * epsilon + 5 * epsilon * distance,
    )


def sharp_hierarchical_bound(epsilon: Number, distance: Number, *, mixing: Mixing) -> Number:
    r"""Bound the hierarchy of depth 2 and width 3, Theorem 4.1 with constants three times smaller.

    .. math::
        \text{flat: } \max(84\epsilon^3 + 42\epsilon^2\Delta,\; 52.5\epsilon^2(\epsilon+\Delta))
            \tag{S1} \\
        \text{nested: } \max(108\epsilon^3 + 45\epsilon^2\Delta,\; 75\epsilon^2(\epsilon+\Delta))
            \tag{S2}

    The constants 84, 108, 52.5 and 75 cannot be lowered; whether 42 and 45 can is open. [SAH23]_
    prints 543 and 300, for flat mixing only (Eq 48).

    >>> [float(f"{sharp_hierarchical_bound(0.02, 0.05, mixing=m):.4g}") for m in ("flat", "nested")]
    [0.001512, 0.0021]
    """
    _check(epsilon, distance)
    if mixing not in ("flat", "nested"):
        raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
    square = epsilon * epsilon
    if mixing == "flat":
        return max(square * (84 * epsilon + 42 * distance), 105 * square * (epsilon + distance) / 2)
    return max(square * (108 * epsilon + 45 * distance), 75 * square * (epsilon + distance))


def most_overlap(rounds: int) -> int:
    r"""Return :math:`A_T`, the most that pairs of T rounds can overlap, in :math:`\epsilon^2`.

    In the worst case every round spends its whole budget :math:`(t+1)\epsilon` on its own risk, or
    all of it on the overlap with the latest such round s:

    .. math:: A_T = \max \sum_{t \text{ overlaps}} (t+1)(s_t+1).  \tag{S3}

    >>> [most_overlap(rounds) for rounds in range(3, 10)]
    [6, 14, 29, 50, 79, 119, 173]
    """
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    # best[s]: the highest sum so far if s is the latest round that spent its budget on its risk.
    best = {0: 0}
    for t in range(1, rounds):
        fresh = max(best.values())
        best = {s: value + (t + 1) * (s + 1) for s, value in best.items()}
        best[t] = fresh
    return max(best.values())


def pair_factor(rounds: int) -> Fraction:
    r"""Return :math:`K_T`: the vote's loss per erring pair, at the worst number of erring models.

    .. math:: K_T = \max_{k \ge T/2} \frac{1 \text{ (or } \tfrac12 \text{ at a tie)}}{\binom k2}
              \tag{S4}

    >>> [str(pair_factor(rounds)) for rounds in (3, 4, 5, 6, 7)]
    ['1', '1/2', '1/3', '1/6', '1/6']
    """
    if rounds < 3:
        raise InputError(f"rounds must be at least 3, got {rounds!r}: a tie of two has no pair")
    least = ceil(rounds / 2)
    return max(
        Fraction(1 if 2 * k > rounds else Fraction(1, 2)) / comb(k, 2)
        for k in range(least, rounds + 1)
    )


def any_rounds_bound(epsilon: Number, rounds: int, distance: Number) -> Number:
    r"""Bound the majority of a path of any number of rounds with uniform mixing: proved, not sharp.

    .. math:: K_T \Bigl(A_T\,\epsilon^2 + \bigl(\tfrac{T(T+1)}2 - 1\bigr)\epsilon\Delta\Bigr),
              \qquad T \ge 3  \tag{S5}

    For T = 3 Lemma B is smaller and is taken; for T < 3 a tie has no pair, and the mean number of
    erring models bounds the risk: :math:`\epsilon + \Delta` for one round,
    :math:`\tfrac12(3\epsilon + 2\Delta)` for two. A bound of that kind is taken for longer paths,
    too, where it is smaller.

    >>> [round(any_rounds_bound(0.01, rounds, 0.0) / 0.01**2, 2) for rounds in range(3, 10)]
    [6.0, 7.0, 9.67, 8.33, 13.17, 11.9, 17.3]
    """
    _check(epsilon, distance)
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")

    # Where the majority loses 1, more than half of the models err; where it loses 1/2, half of them
    # do. Either way its loss is at most the number of erring models over T//2 + 1.
    models = (rounds * (rounds + 1) * epsilon) / 2 + rounds * distance
    by_count = models / (rounds // 2 + 1)
    if rounds < 3:
        return by_count
    pairs = most_overlap(rounds) * epsilon * epsilon
    pairs = pairs + (rounds * (rounds + 1) // 2 - 1) * epsilon * distance
    factor = pair_factor(rounds)
    by_pairs = pairs * factor.numerator / factor.denominator  # (S5)
    if rounds == 3:
        by_pairs = min(by_pairs, three_round_lemma(epsilon, distance))
    return min(by_pairs, by_count)


def noise_floor(epsilon: Number, delta: Number, round_: int) -> Number:
    r"""Return the share of random labels that round t (from 0) has at the least.

    .. math:: \delta_t \ge \frac1{t+1}
              \Bigl(\delta + \sum_{j=1}^t \frac1{1 + 2j\epsilon/\delta}\Bigr)  \tag{S6}

    The recursion of :func:`tallystick.dynamic.noise.noise_bound`, unrolled. It needs labels that
    are drawn afresh at every look, also for collected items, a true classifier in the class,
    uniform mixing and :math:`\mathcal D_0 = \mathcal D`. [SAH23]_, Theorem 3.6, Eq (37), prints
    :math:`1/(2(1 + 8t\epsilon/\delta))`.

    >>> [round(noise_floor(0.05, 0.2, t), 4) for t in (1, 3, 10)]
    [0.4333, 0.4417, 0.3097]
    """
    _check_noise(epsilon, delta, round_)
    total = delta
    for j in range(1, round_ + 1):
        total = total + delta / (delta + 2 * j * epsilon)
    return total / (round_ + 1)


def noise_closed_floor(epsilon: Number, delta: Number, round_: int) -> Number:
    r"""Return the closed form below :func:`noise_floor`, for reading off the order in t.

    .. math:: \delta_t \ge \frac{\delta + t/(1 + 2t\epsilon/\delta)}{t+1}
              \ge \frac1{2(1 + 2t\epsilon/\delta)}, \qquad t \ge 1  \tag{S7}

    The first of the two is returned. At :math:`\epsilon = .05`, :math:`\delta = .2` it is

    >>> [round(noise_closed_floor(0.05, 0.2, t), 4) for t in (1, 3, 10)]
    [0.4333, 0.35, 0.1697]
    """
    _check_noise(epsilon, delta, round_)
    return (delta + round_ * delta / (delta + 2 * round_ * epsilon)) / (round_ + 1)


def _check(epsilon: float | Fraction, distance: float | Fraction) -> None:
    if not 0 < epsilon <= 1 or not 0 <= distance <= 1:
        raise InputError(
            f"epsilon must be in (0, 1] and distance in [0, 1], got {epsilon!r} and {distance!r}"
        )


def _check_noise(epsilon: float | Fraction, delta: float | Fraction, round_: int) -> None:
    if not 0 < epsilon <= 1 or not 0 < delta < 1 or round_ < 0:
        raise InputError(
            "needs epsilon in (0, 1], delta in (0, 1) and a round from 0 on, "
            f"got {epsilon!r}, {delta!r} and {round_!r}"
        )
