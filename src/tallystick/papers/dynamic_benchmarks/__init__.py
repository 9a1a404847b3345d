r"""Shirali, Abebe and Hardt, *A Theory of Dynamic Benchmarks* ([SAH23]_), statement by statement.

Each file has its tests: ``pytest tests/papers/test_dynamic_benchmarks* -k``

| statement | function (file, if not here) | -k |
|---|---|---|
| section 2: four operations | `collect`, `mix`, `vote` (designs); `Learner` | section_2 |
| section 2: graph, any weights | `Step`, `Design` (designs) | section_2 |
| sections 3, 4: path, hierarchy | `path`, `hierarchical` (designs) | sections_3_and_4 |
| Lemma 3.1: bad models | `bad_models_bound` | lemma_3_1 |
| Proposition 3.2: perfect learner | `perfect_path_bound` | proposition_3_2 |
| Definition 3.3, (1): distance | `hdh_distance` | definition_3_3 |
| Theorem 3.4, (12): three rounds | `three_round_bound` | theorem_3_4 |
| ours: any number of rounds | `path_bound`, `any_rounds_bound` | any_rounds |
| ours: worst case of a path | `worst_case` (certificates) | worst_case |
| ours: bounds by round | `worst_by_round` (certificates) | by_round |
| Theorem 3.5, (3): floor of a path | `path_floor` | theorem_3_5 |
| Theorem 3.5: its bad sequence | `path_certificate` (certificates) | theorem_3_5 |
| (16), (19): consistency | `check`, `training_risks` (designs) | equation_19 |
| Theorem 3.6, (34)-(37): noise | `noise_path`, `noise_bound`, `noise_closed_floor` | theorem_3_6 |
| Theorem 4.1, (48): depth 2, width 3 | `hierarchical_bound` | theorem_4_1 |
| Theorem 4.2, (5): its floor | `hierarchical_floor` | theorem_4_2 |
| Theorem 4.2: its bad sequence | `hierarchical_certificate` (certificates) | theorem_4_2 |
| section 5: rollouts, any learner | `roll` (rollouts) | section_5 |
| section 5: real classifiers | `run_experiment`, `curves` (rollouts) | experiment |
| section 5: a static control | `control_risk` (rollouts) | section_5 |
| Lemma A.1, (61)-(63): hinge loss | `hinge_slope`, `gradient_updates` | lemma_a_1 |
| Lemma A.2, (71): exponential loss | `gradient_updates` | lemma_a_2 |
| A.2: its rate | `exponential_bound` | lemma_a_2 |
| section B.2: z_T | `similarity` | section_b_2 |
| Figure 5: what early rounds tell | `early_signals` | section_b_2 |
| Corollary C.1: a random model | `rounds_for_random_model` | corollary_c_1 |
| Theorems C.2, C.3: intervals | the certificates with a slope | theorems_c_2_and_c_3 |

Here are the numbers that the statements give, the score z_T and appendix A's updates.
``printed=True`` gives a number as it follows from the paper's own proof; the default is the
sharpest that we can prove (``docs/theory/dynamic-sharp.md``, whose tags S0 to S7 stand at the
lines). :math:`\epsilon` is the excess risk of a model on the distribution it was trained on,
*distance* is :math:`\Delta = d_{\mathcal H \Delta \mathcal H}(\mathcal D_0, \mathcal D)`,
mixtures and votes are uniform. Fractions give fractions, so that bounds can be held against exact
populations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, exp
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import (
    Array,
    Mixing,
    Population,
    checked_epsilon,
    checked_mixing,
    checked_weights,
    collect,
    majority_share,
    risk,
)
from tallystick.papers.dynamic_benchmarks.rollouts import Learner, scaled
from tallystick.results import Interval

Number = TypeVar("Number", float, Fraction)

Loss: TypeAlias = Literal["hinge", "exponential"]


def bad_models_bound(alpha: float, covered: float = 0.0, *, printed: bool = False) -> int:
    r"""How many models of a path by a perfect learner can have risk above *alpha*.

    Printed: :math:`1/\alpha` ([SAH23]_, Lemma 3.1). The error sets are disjoint from each other and
    from the support of :math:`\mathcal D_0`, Eqs (9) and (10), whose mass in :math:`\mathcal D` is
    *covered*. So k such models need :math:`k\alpha < 1 - covered`: one model less where
    :math:`1/\alpha` is whole.

    >>> bad_models_bound(0.25, printed=True), bad_models_bound(0.25), bad_models_bound(0.25, 0.4)
    (4, 3, 2)
    """
    if not 0 < alpha <= 1 or not 0 <= covered <= 1:
        raise InputError(
            f"alpha must be in (0, 1] and covered in [0, 1], got {alpha!r} and {covered!r}"
        )
    if printed:
        return int(1 / alpha + 1e-9)
    return max(0, ceil((1 - covered) / alpha - 1e-9) - 1)


def perfect_path_bound(rounds: int, covered: float = 0.0) -> float:
    """How wrong can the majority of a perfect learner's path be: not at all from three rounds on.

    [SAH23]_, Proposition 3.2. One model may err on all that the support of D_0, of mass *covered*,
    leaves out; two err on disjoint sets, so their vote is tied there, which counts one half.

    >>> [perfect_path_bound(rounds, 0.4) for rounds in (1, 2, 3)]
    [0.6, 0.3, 0.0]
    """
    if rounds < 1 or not 0 <= covered <= 1:
        raise InputError(
            f"rounds must be at least 1 and covered in [0, 1], got {rounds!r} and {covered!r}"
        )
    return 0.0 if rounds > 2 else (1 - covered) / rounds


def rounds_for_random_model(alpha: float, delta: float, *, printed: bool = False) -> int:
    r"""How long must a perfect learner's path be, for a random one of its models to have risk at
    most *alpha* with probability :math:`1 - \delta`.

    [SAH23]_, Corollary C.1 prints :math:`T \ge 1/(\delta\alpha)`; ours divides the sharpened Lemma
    3.1 by :math:`\delta`.

    >>> rounds_for_random_model(0.25, 0.1, printed=True), rounds_for_random_model(0.25, 0.1)
    (40, 30)
    """
    if not 0 < delta <= 1:
        raise InputError(f"delta must be in (0, 1], got {delta!r}")
    bad = 1 / alpha if printed else bad_models_bound(alpha)
    return max(1, ceil(bad / delta - 1e-9))


def hdh_distance(predictions: Array, first: Array, second: Array) -> float:
    r"""How differently can two distributions see the disagreement of two classifiers of a finite
    class.

    .. math:: d_{\mathcal H\Delta\mathcal H}(\mathcal P_1, \mathcal P_2) = \sup_{h, h'} \left|
              \Pr_{\mathcal P_1}(h \ne h') - \Pr_{\mathcal P_2}(h \ne h') \right|

    [SAH23]_, Definition 3.3 (Eq 1). At most the total variation distance, and zero if the
    distributions agree.

    Parameters
    ----------
    predictions
        One row per classifier, one column per item; any labels.
    first, second
        The two distributions over the items.

    Examples
    --------
    >>> hdh_distance(np.array([[0, 0, 0], [0, 1, 0]]), np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.5, 0.25]))
    0.25
    """
    labels = np.asarray(predictions)
    gap = checked_weights(first, "first") - checked_weights(second, "second")
    if labels.ndim != 2 or labels.shape[1] != gap.size:
        raise InputError(
            f"predictions need the shape (classifiers, {gap.size}), got {labels.shape}"
        )
    return float(widest_disagreement(labels, gap))


def widest_disagreement(labels: Array, gap: Array) -> float | int:
    """Return the largest mass of *gap*, in size, on which two rows of *labels* disagree (Eq 1)."""
    pairs = combinations(labels, 2)
    return max((abs(gap[one != other].sum()) for one, other in pairs), default=0)


def three_round_bound(
    epsilon: Number, distance: Number | int = 0, *, printed: bool = False
) -> Number:
    r"""How wrong can the majority of a three-round path with uniform weights be.

    .. math:: \max(6\epsilon^2 + 3\epsilon\Delta,\; 5\epsilon^2 + 5\epsilon\Delta)  \tag{S0}

    and for :math:`\Delta = 0`, :math:`\epsilon \le 1/4` exactly :math:`6\epsilon^2/(1+2\epsilon)`.
    [SAH23]_, Theorem 3.4, Eq (12), prints :math:`11\epsilon^2 + 8\epsilon\Delta`.

    >>> round(three_round_bound(0.1), 6), round(three_round_bound(0.1, printed=True), 6)
    (0.05, 0.11)
    >>> round(three_round_bound(0.05, 0.01), 6)
    0.0165
    """
    if printed:
        _check(epsilon, distance)
        return 11 * epsilon * epsilon + 8 * epsilon * distance  # (12)
    return path_bound(epsilon, 3, distance)


def path_bound(epsilon: Number, rounds: int, distance: Number | int = 0) -> Number:
    r"""How wrong can the majority of a path of any length with uniform weights be: proved, not
    sharp.

    The closed form of :func:`any_rounds_bound`, cut at 1, and for three rounds the exact worst case
    where it is known. It grows with the number of rounds: no guarantee of the paper or of ours says
    that more than three rounds help.

    >>> path_bound(0.1, 1), round(path_bound(0.1, 3), 4), round(path_bound(0.1, 5), 4)
    (0.1, 0.05, 0.0967)
    """
    bound = any_rounds_bound(epsilon, rounds, distance)
    if rounds == 3 and distance == 0 and epsilon <= 0.25:
        bound = 6 * epsilon * epsilon / (1 + 2 * epsilon)
    return min(bound, type(bound)(1))


def any_rounds_bound(epsilon: Number, rounds: int, distance: Number | int) -> Number:
    r"""Bound the majority of a path of any number of rounds with uniform mixing: proved, not sharp.

    .. math:: K_T \Bigl(A_T\,\epsilon^2 + \bigl(\tfrac{T(T+1)}2 - 1\bigr)\epsilon\Delta\Bigr),
              \qquad T \ge 3  \tag{S5}

    For T = 3 Lemma B (S0) is smaller and is taken; for T < 3 a tie has no pair, and the mean number
    of erring models bounds the risk: :math:`\epsilon + \Delta` for one round,
    :math:`\tfrac12(3\epsilon + 2\Delta)` for two. A bound of that kind is taken for longer paths,
    too, where it is smaller. It is not cut at 1.

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

    square, cross = epsilon * epsilon, epsilon * distance
    pairs = most_overlap(rounds) * square + (rounds * (rounds + 1) // 2 - 1) * cross
    if rounds == 3:
        pairs = max(6 * square + 3 * cross, 5 * square + 5 * cross)  # (S0)
    factor = pair_factor(rounds)
    return min(by_count, pairs * factor.numerator / factor.denominator)  # (S5)


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
    erring = range(ceil(rounds / 2), rounds + 1)
    return max(Fraction(1 + (2 * k > rounds), 2 * comb(k, 2)) for k in erring)


def path_floor(epsilon: float) -> float:
    r"""Return what no path can promise to go below: :math:`\epsilon^2/8`, for three rounds or more
    and any weights.

    [SAH23]_, Theorem 3.5, Eq (3). The theorem needs :math:`1/\epsilon` whole; otherwise it is
    applied to the next smaller such :math:`\epsilon`.

    >>> round(path_floor(0.1), 12), path_floor(0.11) == path_floor(0.1)
    (0.00125, True)
    """
    return _whole(epsilon) ** 2 / 8  # (3)


def noise_path(delta: Number, ambiguous: Sequence[Number]) -> tuple[Number, ...]:
    r"""Which share of each round's data has random labels, given the share among the errors that
    each round collects.

    .. math:: \delta_{t+1} = \frac{(t+1)\,\delta_t + \nu_t}{t+2}

    for uniform mixing from :math:`\delta_0 = \delta`; the identity behind Eq (34).

    >>> [round(share, 3) for share in noise_path(0.2, [1, 1])]
    [0.2, 0.6, 0.733]
    """
    if not 0 <= delta <= 1 or not all(0 <= found <= 1 for found in ambiguous):
        raise InputError(f"delta and ambiguous must be in [0, 1], got {delta!r} and {ambiguous!r}")
    shares = [delta]
    for t, found in enumerate(ambiguous):
        shares.append(((t + 1) * shares[-1] + found) / (t + 2))
    return tuple(shares)


def noise_bound(epsilon: Number, delta: Number, rounds: int) -> tuple[Number, ...]:
    r"""How much of the data is noise at the least, round by round from :math:`\delta_0 = \delta`.

    .. math:: \delta_t \ge \frac1{t+1}
              \Bigl(\delta + \sum_{j=1}^t \frac1{1 + 2j\epsilon/\delta}\Bigr)  \tag{S6}

    [SAH23]_, Theorem 3.6 and Eq (34), sharpened: :math:`\mathcal D_0` keeps the weight
    :math:`1/(t+1)` in :math:`\mathcal D_t`, so the risk on the clean part, which Eqs (32) and (33)
    mean (ERRATA), obeys :math:`(1-\delta) R_{\mathcal D^{\bar\delta}}(h_t) \le (t+1)\epsilon` and
    the factor :math:`(1-\delta)/(1-\delta_t)` of Eq (34) falls away. It needs a true classifier in
    the class, uniform mixing, :math:`\mathcal D_0 = \mathcal D`, and labels that are random at
    every look, also for collected items: one fixed random label per point voids it (ERRATA).

    >>> [round(share, 3) for share in noise_bound(0.05, 0.2, 3)]
    [0.2, 0.433, 0.456]
    """
    _check_noise(epsilon, delta)
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    found = [delta / (delta + 2 * j * epsilon) for j in range(1, rounds)]
    return noise_path(delta, found)


def noise_closed_floor(
    epsilon: Number, delta: Number, round_: int, *, printed: bool = False
) -> Number:
    r"""Return a closed form below :func:`noise_bound` at round t from 0, to read off the order in
    t.

    .. math:: \delta_t \ge \frac{\delta + t/(1 + 2t\epsilon/\delta)}{t+1}
              \ge \frac1{2(1 + 2t\epsilon/\delta)}, \qquad t \ge 1  \tag{S7}

    The first of the two is returned. Printed, Eq (37): :math:`1/(2(1 + 8t\epsilon/\delta))`, from
    Eq (36), which needs :math:`\delta_t \le 1/2` where the text has 2 (ERRATA).

    >>> [round(noise_closed_floor(0.05, 0.2, t), 4) for t in (1, 3, 10)]
    [0.4333, 0.35, 0.1697]
    >>> [round(noise_closed_floor(0.05, 0.2, t, printed=True), 4) for t in (1, 3, 10)]
    [0.1667, 0.0714, 0.0238]
    """
    _check_noise(epsilon, delta)
    if round_ < 0:
        raise InputError(f"round_ must be 0 or more, got {round_!r}")
    if printed:
        return delta / (2 * (delta + 8 * round_ * epsilon))  # (37)
    return (delta + round_ * delta / (delta + 2 * round_ * epsilon)) / (round_ + 1)


def hierarchical_bound(
    epsilon: Number,
    distance: Number | int = 0,
    *,
    mixing: Mixing = "nested",
    printed: bool = False,
) -> Number:
    r"""How wrong can the hierarchy of depth 2 and width 3 with uniform weights be ([SAH23]_,
    Theorem 4.1).

    .. math::
        \text{flat: } \max(84\epsilon^3 + 42\epsilon^2\Delta,\; 52.5\epsilon^2(\epsilon+\Delta))
            \tag{S1} \\
        \text{nested: } \max(108\epsilon^3 + 45\epsilon^2\Delta,\; 75\epsilon^2(\epsilon+\Delta))
            \tag{S2}

    Printed, for flat mixing only: :math:`543\epsilon^3 + 300\epsilon^2\Delta` (Eq 48). The
    constants 84, 108, 52.5 and 75 cannot be lowered: ``tests/exact_adversaries.py`` builds
    populations that approach them. Whether 42 and 45 can is open.

    >>> round(hierarchical_bound(0.01, mixing="flat") / 0.01**3, 6), round(hierarchical_bound(0.01) / 0.01**3, 6)
    (84.0, 108.0)
    """
    _check(epsilon, distance)
    checked_mixing(mixing)
    square = epsilon * epsilon
    if printed:
        if mixing != "flat":
            raise InputError("printed=True is for mixing='flat': the paper's proof covers no other")
        return square * (543 * epsilon + 300 * distance)  # (48)
    if mixing == "flat":
        near, far = 84 * epsilon + 42 * distance, 105 * (epsilon + distance) / 2  # (S1)
    else:
        near, far = 108 * epsilon + 45 * distance, 75 * (epsilon + distance)  # (S2)
    bound = square * max(near, far)
    return min(bound, type(bound)(1))


def hierarchical_floor(epsilon: float) -> float:
    r"""Return what no hierarchy of depth 2 and width 3 can promise to go below:
    :math:`\epsilon^3/2`.

    [SAH23]_, Theorem 4.2, Eq (5), for :math:`\epsilon \le 1/2` (printed: :math:`\ge`) and votes in
    which no model has more than half (ERRATA).

    >>> round(hierarchical_floor(0.1), 12)
    0.0005
    """
    return _whole(epsilon) ** 3 / 2  # (5)


def exponential_bound(epsilon: float, updates: int) -> float:
    r"""How wrong can the exponential-loss model be after so many updates:
    :math:`\exp(-(1-2\epsilon)^2 t/2)`.

    [SAH23]_, section A.2.

    >>> round(exponential_bound(0.1, 24), 6)
    0.000462
    """
    checked_epsilon(epsilon)
    if updates < 0:
        raise InputError(f"updates must not be negative, got {updates!r}")
    return exp(-((1 - 2 * epsilon) ** 2) * updates / 2)


def _check(epsilon: float | Fraction, distance: float | Fraction) -> None:
    checked_epsilon(epsilon)
    if not 0 <= distance <= 1:
        raise InputError(f"distance must be in [0, 1], got {distance!r}")


def _check_noise(epsilon: float | Fraction, delta: float | Fraction) -> None:
    checked_epsilon(epsilon)
    if not 0 < delta < 1:
        raise InputError(f"delta must be in (0, 1), got {delta!r}")


def _whole(epsilon: float) -> float:
    """Return the next smaller epsilon whose inverse is whole."""
    checked_epsilon(epsilon)
    return 1 / ceil(1 / epsilon - 1e-9)


# How much a rollout resembles the bad sequence of Theorem 3.5: section B.2.


def similarity(
    errors: Array, *, weights: Array | None = None, majority: Array | None = None
) -> Array:
    r"""How much does a rollout resemble the bad sequence of Theorem 3.5: the score :math:`z_T`.

    [SAH23]_, section B.2: where two models err together, does the majority err too,

    .. math:: z_{s,t} = \frac{\mathcal D(E_s \cap E_t \cap E_m)}{\mathcal D(E_s \cap E_t)}, \qquad
              z_T = \text{mean over pairs } s \ne t.

    The text leaves two cases open (ERRATA). A pair without common errors (0/0) says nothing and is
    left out of the mean; without any other pair :math:`z_T` is unknown (NaN). A tie of the majority
    counts one half. For three models and a binary majority :math:`z_3 = 1` always: two of three
    *are* the majority.

    Parameters
    ----------
    errors
        Booleans of shape (..., models, items).
    weights
        The population's weights; equal ones if not given.
    majority
        Error share of the vote, (..., items), where it is not the binary majority of *errors* (a
        plurality, say).

    Examples
    --------
    >>> similarity(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)).item()
    1.0
    >>> similarity(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)).item()
    nan
    """
    wrong = np.asarray(errors).astype(np.float32)
    models, items = wrong.shape[-2:]
    if models < 2:
        raise InputError(f"z needs at least two models, got {models}")
    mass = np.full(items, 1 / items) if weights is None else np.asarray(weights, dtype=float)
    voted = majority_share(wrong.sum(axis=-2), models) if majority is None else np.asarray(majority)

    # Items that no two models get wrong are in no overlap: leaving them out saves most of the work
    # on good models.
    busy = (wrong.sum(axis=-2) >= 2).reshape(-1, items).any(axis=0)
    wrong, mass = wrong[..., busy], mass[busy].astype(np.float32)
    voted = voted[..., busy].astype(np.float32)

    upper = (..., *np.triu_indices(models, 1))
    both = ((wrong * mass) @ np.swapaxes(wrong, -1, -2))[upper]
    all_three = ((wrong * (mass * voted)[..., None, :]) @ np.swapaxes(wrong, -1, -2))[upper]
    known = both > 0
    ratio = np.divide(all_three, both, out=np.zeros_like(both), where=known)
    pairs = known.sum(axis=-1)
    mean = np.divide(ratio.sum(axis=-1), pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return np.asarray(np.clip(mean, 0, 1), dtype=float)  # NaN stays


# What an early round says about the end, over rollouts: Figure 5 of [SAH23]_.


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What an early round says about the final risk, over rollouts (Figure 5): Pearson correlations
    with intervals.
    """

    early: int
    final: int
    z_correlation: float | None
    z_interval: Interval | None
    risk_correlation: float | None
    risk_interval: Interval | None
    rollouts: int


def early_signals(
    errors: Array,
    risk: Array,
    *,
    early: int,
    weights: Array | None = None,
    majority: Array | None = None,
) -> Signals:
    """Correlate :math:`z` and majority risk at round *early* (counted from 1) with the final
    majority risk.

    [SAH23]_, section B.2 and Figure 5. A correlation is None where one side does not vary.

    Parameters
    ----------
    errors
        (rollouts, rounds, items).
    risk
        (rollouts, rounds), majority risk by round.
    majority
        Error share of the vote of the first *early* models, (rollouts, items), where *risk* is not
        that of the binary majority: a plurality of many labels, say.
    """
    rollouts, rounds = risk.shape
    if not 2 <= early < rounds:
        raise InputError(f"early must be a round from 2 to {rounds - 1}, got {early!r}")
    if rollouts < 4:
        raise InputError(f"a correlation over rollouts needs at least 4 of them, got {rollouts}")
    z = similarity(errors[:, :early], weights=weights, majority=majority)
    by_z, by_risk = _pearson(z, risk[:, -1]), _pearson(risk[:, early - 1], risk[:, -1])
    return Signals(
        early=early,
        final=rounds,
        z_correlation=by_z[0],
        z_interval=by_z[1],
        risk_correlation=by_risk[0],
        risk_interval=by_risk[1],
        rollouts=rollouts,
    )


def _pearson(x: Array, y: Array) -> tuple[float | None, Interval | None]:
    """Pearson's r with Fisher's interval."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None, None
    r = float(np.corrcoef(x, y)[0, 1])
    half = 1.959964 / np.sqrt(x.size - 3)
    low, high = np.tanh(np.arctanh(np.clip(r, -0.9999999, 0.9999999)) + np.array([-half, half]))
    return r, Interval(
        float(min(low, r)),
        float(max(high, r)),
        level=0.95,
        guarantee="approximate",
        method="fisher",
    )


# Updating the model itself instead of the benchmark: appendix A of [SAH23]_. The model is a
# real-valued function; only its margins m(x) = h(x) f(x) matter, so a rollout is one row of them.
# It starts at zero everywhere, where the zero-one risk is one half.


@dataclass(frozen=True, eq=False)
class Updates:
    """Zero-one risk and surrogate risk, one row per rollout, one column per update, the first one
    before any.
    """

    risk: Array
    surrogate: Array

    @property
    def rises(self) -> Array:
        """How often the surrogate rose from one update to the next, one number per rollout."""
        return np.asarray((np.diff(self.surrogate, axis=1) > 1e-12).sum(axis=1))

    @property
    def zero_from(self) -> Array:
        """After how many updates the zero-one risk is zero and stays so; -1 if it does not."""
        wrong = self.risk > 0
        last = wrong.shape[1] - 1 - np.argmax(wrong[:, ::-1], axis=1)
        return np.where(wrong[:, -1], -1, np.where(wrong.any(axis=1), last + 1, 0))


def hinge_slope(population: Population, margins: Array, errors: Array) -> Array:
    r"""How fast does the hinge risk change along a model, from given margins.

    .. math:: \langle g, \overline h \rangle = -\sum_{x:\, h f < 1} \mathcal D(x)\, \overline h(x) f(x)
              = -\Pr(E_h)\,\bigl(1 - 2 R_{\overline{\mathcal D}_h}(\overline h)\bigr)

    [SAH23]_, Lemma A.1 and Eqs (61) to (63): at most :math:`-(1-2\epsilon)\Pr(E_h)` for a model
    with risk at most :math:`\epsilon` on the margin errors :math:`E_h`, which is negative as long
    as there are any. In Eq (62) :math:`\Pr(E_h)` is right and ":math:`= R^{hinge}`" is not
    (ERRATA).

    Parameters
    ----------
    margins
        :math:`h(x) f(x)`, (..., items).
    errors
        Where the model errs, of the same shape.

    Examples
    --------
    >>> hinge_slope(Population.uniform(4), np.array([0.0, 0.5, 0.9, 2.0]), np.array([True, False, False, True])).item()
    -0.25
    """
    moves = np.where(margins < 1, np.where(errors, -1.0, 1.0), 0.0)
    return -risk(population.weights, moves)  # (62), (63)


def gradient_updates(
    population: Population,
    learner: Learner,
    *,
    loss: Loss,
    updates: int,
    rollouts: int,
    rng: Rng,
    rate: float = 1.0,
) -> Updates:
    r"""Follow the gradient of a surrogate of the risk, one model at a time.

    ``hinge``, [SAH23]_, Lemma A.1: a model built on the margin errors is a descent direction
    (:func:`hinge_slope`).

    .. math:: h \leftarrow h + \eta\, R^{hinge}(h)\, \overline h, \qquad \overline h = \mathcal A(\mathcal D|_{h f < 1})

    That is a statement about infinitesimal steps. With any fixed *rate* :math:`\eta` the hinge risk
    can rise (ERRATA): an item that :math:`\overline h` gets wrong loses margin, also one that was no
    margin error. :attr:`Updates.rises` counts it.

    ``exponential``, Lemma A.2, as AdaBoost does: the model is built on :math:`\mathcal D_h \propto
    \mathcal D e^{-hf}` and :math:`R` is its risk there.

    .. math:: h \leftarrow h + \eta\,\tilde h, \qquad \eta = \tfrac12 \log(1/R - 1)  \tag{71}

    Eqs (69) and (70) mean :math:`R^{\exp}`, and the derivative has the other sign (ERRATA). Then
    :math:`R_{\mathcal D}(h_t) \le \exp(-(1-2\epsilon)^2 t/2)`
    (:func:`exponential_bound`). A model without error on
    :math:`\mathcal D_h` (:math:`\eta = \infty`) is the true classifier, and takes over.

    >>> from tallystick.papers.dynamic_benchmarks.rollouts import RandomErrors
    >>> people = Population.uniform(200)
    >>> fast = gradient_updates(people, RandomErrors(0.4), loss="hinge", updates=30, rollouts=4, rng=0, rate=2.0)
    >>> boosted = gradient_updates(people, RandomErrors(0.1), loss="exponential", updates=24, rollouts=5, rng=0)
    >>> bool(fast.rises.min() > 0), float(boosted.risk[:, -1].max()), int(boosted.rises.max())
    (True, 0.0, 0)
    """
    if updates < 1 or rollouts < 1 or not 0 < rate < np.inf:
        raise InputError(
            "updates and rollouts must be at least 1 and rate positive and finite, got"
            f" {updates!r}, {rollouts!r} and {rate!r}"
        )
    if population.noise:
        raise InputError("appendix A needs a true classifier: a population without random labels")
    build = learner.begin(population, rollouts, as_rng(rng))
    weights, margins = population.weights, np.zeros((rollouts, population.size))
    risks, losses = [np.full(rollouts, 0.5)], [np.ones(rollouts)]
    for t in range(updates):
        if loss == "hinge":
            short = margins < 1
            # nothing is short of its margin: the loss is zero and so is the step
            short[~short.any(axis=1)] = True
            built = build(collect(weights, short), t)
            size = rate * losses[-1]
        else:
            # the same distribution, no overflow
            now = scaled(weights * np.exp(margins.min(axis=1, keepdims=True) - margins), 0.0)
            built = build(now, t)
            wrong = risk(now, built)
            # A margin of a million has no exponential loss that a float can hold.
            size = np.full(rollouts, 1e6)
            size[wrong > 0] = 0.5 * np.log(1 / wrong[wrong > 0] - 1)  # (71)
        # An item without weight gains margin, so that it never has the smallest one.
        margins += size[:, None] * np.where(built & (weights > 0), -1.0, 1.0)
        risks.append(risk(weights, 0.5 * (1 - np.sign(margins))))
        left = np.maximum(1 - margins, 0) if loss == "hinge" else np.exp(-margins)  # (7), (8)
        losses.append(risk(weights, left))
    return Updates(np.column_stack(risks), np.column_stack(losses))
