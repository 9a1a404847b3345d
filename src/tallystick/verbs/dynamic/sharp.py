r"""Sharper than the paper: the constants of Theorems 3.4, 3.6 and 4.1, and a bound for any rounds.

Proofs stand in ``docs/theory/dynamic-sharp.md``, line by line. :math:`\epsilon` is the excess risk
of a model on the distribution it was trained on, :math:`\Delta` the distance between
:math:`\mathcal D_0` and :math:`\mathcal D` ([SAH23]_, Definition 3.3). Mixtures and votes are
uniform. All functions take fractions as well as floats and then return fractions, so that they can
be held against exact populations. They are not cut at 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, comb, isqrt, lcm
from typing import TypeVar

from tallystick.errors import InputError
from tallystick.verbs.dynamic.design import Mixing

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

    The recursion of :func:`tallystick.verbs.dynamic.rollouts.noise_bound`, unrolled. It needs
    labels that
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


# Populations that nearly reach the sharpened Theorem 4.1: 84, 108, 52.5 and 75 cannot be lowered.
#
# Each is a one-parameter family in :math:`\epsilon`, checked in exact fractions. Two tricks make
# them. A model that errs a little on a part of its own dilutes every overlap with it, so that the
# later models can spend their budgets elsewhere. And the last path errs inside the error set of
# one
# earlier vote only, on parts that any two of its models share.


_Cell = tuple[Fraction, Fraction, tuple[int, ...]]
_Shares = tuple[tuple[tuple[int, int], Fraction], ...]

_LAST: dict[Mixing, _Shares] = {
    "flat": (((6, 7), Fraction(1)), ((6, 8), Fraction(2)), ((7, 8), Fraction(3))),
    "nested": (((6, 8), Fraction(3)), ((7, 8), Fraction(6))),
}
"""Pairs of the last path and the shares, in epsilon, of the set in which they err."""

_MIDDLE: dict[Mixing, _Shares] = {
    "flat": (((3, 4), Fraction(1, 2)), ((3, 5), Fraction(3, 2)), ((4, 5), Fraction(5, 2))),
    "nested": (((3, 5), Fraction(2)), ((4, 5), Fraction(4))),
}
"""The same for the middle path, where the distance is what counts."""

_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class SharpConstruction:
    """A consistent population and what its hierarchy gets wrong.

    Parameters
    ----------
    epsilon, mixing
        The promise that all nine models keep, and how the hierarchy mixes.
    distance
        Between the initial distribution and the population.
    cells
        The population.
    risk
        Of the hierarchy.
    constant
        risk over epsilon³ for distance 0, else over epsilon² times the distance.
    """

    epsilon: Fraction
    mixing: Mixing
    distance: Fraction
    cells: ExactCells
    risk: Fraction
    constant: Fraction


def sharp_construction(
    epsilon: Fraction, *, mixing: Mixing, distance: Fraction | None = None
) -> SharpConstruction:
    r"""Build the population that nearly reaches the bound, and check it in exact fractions.

    Without *distance*, :math:`\mathcal D_0 = \mathcal D`, and risk/:math:`\epsilon^3` tends to 84
    (flat) and 108 (nested) as :math:`\epsilon \to 0`. With one, risk/:math:`(\epsilon^2\Delta)`
    tends to 52.5 and 75 as :math:`\epsilon/\Delta \to 0`. The free share q of the construction is
    the largest for which all nine models keep their promise, to 60 binary digits.

    Parameters
    ----------
    epsilon
        In (0, 1/20), a fraction.
    mixing
        ``flat`` or ``nested``.
    distance
        About :math:`\Delta`, a fraction; the exact distance is in the result.

    Examples
    --------
    >>> round(float(sharp_construction(Fraction(1, 10**6), mixing="flat").constant), 1)
    82.8
    """
    if mixing not in ("flat", "nested"):
        raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
    if not 0 < epsilon < Fraction(1, 20):
        raise InputError(f"epsilon must be in (0, 1/20), got {epsilon!r}")
    if distance is not None and not 0 < distance <= Fraction(1, 2):
        raise InputError(f"distance must be in (0, 1/2], got {distance!r}")

    def build(share: Fraction) -> ExactCells:
        if distance is not None:
            return _shifted(epsilon, distance, share, mixing)
        return _flat(epsilon, share) if mixing == "flat" else _nested(epsilon, share)

    cells = build(_largest(build, epsilon, mixing))
    if max(cells.hierarchy_budgets(mixing)) > epsilon:
        raise InputError(f"no share keeps every promise at epsilon {epsilon!r}: take a smaller one")
    risk = cells.hierarchy_risk()
    unit = epsilon**3 if distance is None else epsilon**2 * cells.distance
    return SharpConstruction(
        epsilon=epsilon,
        mixing=mixing,
        distance=cells.distance,
        cells=cells,
        risk=risk,
        constant=risk / unit,
    )


def _flat(epsilon: Fraction, share: Fraction) -> ExactCells:
    """D_0 = D, flat: models 4 and 5 spend their whole budgets inside the error set of model 3."""
    cells = _small_first_vote(epsilon)
    whole = 2 * epsilon
    parts = {4: 3 * epsilon / (1 + 2 * epsilon), 5: 4 * epsilon / (1 + 2 * epsilon)}
    cells.append(_same(whole * (1 - sum(parts.values())), 3))
    for model, part in parts.items():
        cells += _with_last_path(whole * part, (3, model), epsilon * share, "flat")
    return ExactCells.of([*cells, *_dilution(epsilon)])


def _nested(epsilon: Fraction, share: Fraction) -> ExactCells:
    """D_0 = D, nested: model 5 spends its whole budget inside the error set of model 4."""
    # Model 3 errs on a tiny set: with an empty one, model 4 could only have risk 2 epsilon.
    cells = [*_small_first_vote(epsilon), _same(epsilon**8, 3)]
    whole, part = 4 * epsilon, 6 * epsilon / (2 + 4 * epsilon)
    cells.append(_same(whole * (1 - part), 4))
    cells += _with_last_path(whole * part, (4, 5), epsilon * share, "nested")
    return ExactCells.of([*cells, *_dilution(epsilon)])


def _shifted(epsilon: Fraction, distance: Fraction, share: Fraction, mixing: Mixing) -> ExactCells:
    """D_0 differs from D: everything happens where D_0 has no mass, inside the first error set."""
    root = distance * _root(epsilon)
    whole, scale, none = epsilon + distance, epsilon * share, Fraction(0)
    inside = {1: 2 * scale, 2: 3 * scale}  # the shares of E_0 that make the first vote err
    cells: list[_Cell] = [
        (epsilon, epsilon, (0,)),
        (whole * (1 - sum(inside.values())) - epsilon, none, (0,)),
    ]
    pairs = _MIDDLE[mixing] + _LAST[mixing]
    spent = scale * sum(part for _, part in pairs)
    for model, part in inside.items():
        cells.append((whole * part * (1 - spent), none, (0, model)))
        for pair, of_it in pairs:
            cells.append((whole * part * of_it * scale, none, (0, model, *pair)))
    cells += [(root, none, (model,)) for model in (1, 2, 3, 4, 6, 7)]
    return ExactCells.of(cells)


def _small_first_vote(epsilon: Fraction) -> list[_Cell]:
    """Return a first path whose vote errs on a negligible set of positive mass."""
    return [_same(epsilon**8, 0, 1, 2), _same(epsilon / 2, 0), _same(epsilon / 2, 1)]


def _with_last_path(
    mass: Fraction, models: tuple[int, ...], scale: Fraction, mixing: Mixing
) -> list[_Cell]:
    """Return the cell where *models* err, cut into the parts where pairs of the last path do."""
    spent = sum(part for _, part in _LAST[mixing])
    cells = [_same(mass * (1 - scale * spent), *models)]
    return cells + [_same(mass * scale * part, *models, *pair) for pair, part in _LAST[mixing]]


def _dilution(epsilon: Fraction) -> list[_Cell]:
    """Let models 6 and 7 err on parts of their own, which makes overlaps with them cheap."""
    own = epsilon * _root(epsilon)
    return [_same(own, 6), _same(own, 7)]


def _same(mass: Fraction, *models: int) -> _Cell:
    return mass, mass, models


def _root(value: Fraction) -> Fraction:
    """Return a fraction near the square root; any would do."""
    scale = 10**40
    return Fraction(isqrt(int(value * scale**2)), scale)


def _largest(
    build: Callable[[Fraction], ExactCells], epsilon: Fraction, mixing: Mixing
) -> Fraction:
    """Return the largest share at which every model keeps its promise, by halving from below."""
    low, high = Fraction(0), Fraction(1)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if max(build(middle).hierarchy_budgets(mixing)) <= epsilon:
            low = middle
        else:
            high = middle
    return low


# Populations in exact arithmetic: what a set of error sets costs, without rounding.
#
# A population is cut into cells on which every model is either right or wrong. A cell is known by
# its
# mass in :math:`\mathcal D`, its mass in :math:`\mathcal D_0` and the models that err on it.
# Masses
# are whole numbers of some small unit, so every quantity of the theorems is an exact fraction.


_VOTES = (0b111, 0b111000, 0b111000000)


@dataclass(frozen=True)
class ExactCells:
    r"""Cells of a population with the models that err on each, in whole numbers.

    Parameters
    ----------
    mass, initial
        Of each cell in :math:`\mathcal D` and in :math:`\mathcal D_0`; each sums to *whole*.
    errors
        The models that err on it, as the bits of a number: model j errs if bit j is set.
    whole
        The mass of everything.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> cells = ExactCells.of([(half, half, {0})])
    >>> cells.path_budgets(1), cells.path_risk(1), cells.whole
    ((Fraction(1, 2),), Fraction(1, 2), 2)
    """

    mass: tuple[int, ...]
    initial: tuple[int, ...]
    errors: tuple[int, ...]
    whole: int

    def __post_init__(self) -> None:
        if min(min(self.mass), min(self.initial)) < 0:
            raise InputError("the masses of the cells must not be negative, nor sum to more than 1")
        if sum(self.mass) != self.whole or sum(self.initial) != self.whole:
            raise InputError("the masses of the cells must sum to the whole, in both distributions")
        if any(i and not m for m, i in zip(self.mass, self.initial, strict=True)):
            raise InputError("initial mass needs mass: the support of D_0 lies in that of D")

    @classmethod
    def of(cls, cells: Iterable[tuple[Fraction, Fraction, Iterable[int]]]) -> ExactCells:
        """Build from (mass, initial mass, models that err), adding the cell where nobody errs."""
        rows = [(m, i, sum(1 << j for j in set(who))) for m, i, who in cells]
        whole = lcm(*(part.denominator for m, i, _ in rows for part in (m, i)))
        mass, initial = ([int(row[k] * whole) for row in rows] for k in (0, 1))
        return cls(
            (*mass, whole - sum(mass)),
            (*initial, whole - sum(initial)),
            (*(who for _, _, who in rows), 0),
            whole,
        )

    def path_budget(self, model: int) -> Fraction:
        r"""Return a model's risk on the distribution it was trained on, along a path.

        Uniform mixing, Eq (19) of [SAH23]_. An empty error set adds nothing to the mixture.
        """
        own, earlier = self._flags(model), [self._flags(j) for j in range(model)]
        return _mean([self._initial(own), *self._given(own, earlier)])

    def path_budgets(self, rounds: int) -> tuple[Fraction, ...]:
        """Return the risks of all models on their own distributions, along a path."""
        return tuple(self.path_budget(t) for t in range(rounds))

    def path_risk(self, rounds: int) -> Fraction:
        """Return the majority risk of the first *rounds* models; a tie counts one half."""
        mask, doubled = (1 << rounds) - 1, 0
        for mass, who in zip(self.mass, self.errors, strict=True):
            wrong = 2 * (who & mask).bit_count()
            doubled += (2 if wrong > rounds else wrong == rounds) * mass
        return Fraction(doubled, 2 * self.whole)

    def hierarchy_budget(self, model: int, mixing: Mixing) -> Fraction:
        """Return the same for one of nine models of the hierarchy of depth 2 and width 3.

        Flat mixing as in Eqs (39) to (46). Nested mixing follows the recursive definition: the
        mixture of the upper layer is the first component of the lower one.
        """
        if mixing not in ("flat", "nested"):
            raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
        own, start = self._flags(model), model - model % 3
        upper = [self._initial(own), *self._given(own, self._votes[: model // 3])]
        lower = self._given(own, [self._flags(j) for j in range(start, model)])
        return _mean([*upper, *lower] if mixing == "flat" else [_mean(upper), *lower])

    def hierarchy_budgets(self, mixing: Mixing) -> tuple[Fraction, ...]:
        """Return the risks of all nine models on their own distributions."""
        return tuple(self.hierarchy_budget(j, mixing) for j in range(9))

    def hierarchy_risk(self) -> Fraction:
        """Return the risk of the vote of the three votes."""
        hits = (sum(flags) >= 2 for flags in zip(*self._votes, strict=True))
        return Fraction(sum(m for m, hit in zip(self.mass, hits, strict=True) if hit), self.whole)

    @cached_property
    def distance(self) -> Fraction:
        r"""The :math:`\mathcal H\Delta\mathcal H` distance of these models and the true one."""
        gap = [i - m for m, i in zip(self.mass, self.initial, strict=True)]
        if not any(gap):
            return Fraction(0)
        # No pattern has this bit, so it stands for the true classifier.
        true = max(self.errors).bit_length()
        worst = max(
            abs(
                sum(g for g, who in zip(gap, self.errors, strict=True) if (who >> a ^ who >> b) & 1)
            )
            for a, b in combinations(range(true + 1), 2)
        )
        return Fraction(worst, self.whole)

    @cached_property
    def _votes(self) -> list[list[int]]:
        """Where each of the three votes errs: one flag per cell."""
        return [[int((who & mask).bit_count() >= 2) for who in self.errors] for mask in _VOTES]

    def _flags(self, model: int) -> list[int]:
        """Return, for every cell, whether the model errs there."""
        return [who >> model & 1 for who in self.errors]

    def _initial(self, own: list[int]) -> Fraction:
        rows = zip(self.initial, own, strict=True)
        return Fraction(sum(initial for initial, mine in rows if mine), self.whole)

    def _given(self, own: list[int], sets: Iterable[list[int]]) -> list[Fraction]:
        """Return P(own | set) for every set that is not empty."""
        out = []
        for flags in sets:
            inside = [
                (m, mine) for m, flag, mine in zip(self.mass, flags, own, strict=True) if flag
            ]
            whole = sum(m for m, _ in inside)
            if whole:
                out.append(Fraction(sum(m for m, mine in inside if mine), whole))
        return out


def _mean(parts: list[Fraction]) -> Fraction:
    return sum(parts, Fraction(0)) / len(parts)
