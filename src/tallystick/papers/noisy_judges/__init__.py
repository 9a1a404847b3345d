r"""Corrada-Emmanuel, *Streaming algorithms for evaluating noisy judges on unlabeled data: binary
classification* [CE23]_, statement by statement.

Judges vote α or β on items whose label nobody knows. Three that err independently leave two points
(prevalence, accuracies), the roots of a quadratic: ``trio_quadratic.py``. With correlations Γ the
votes still follow exactly: ``correlated_judges.py``. In this file is what the quadratic is compared
with: majority vote (section 2), the rank-one spectrum, which rests on the same independence (S 7),
and Platanios' agreement equations, which rest on one that judges do not have (S 8); codes are
patterns x judges, the place of the label or -1 for no vote, with the count of each.

Equations of the text and of its supplement (S) have the paper's numbers; what is wrong in print is
said at its line (``docs/papers/noisy_judges.md``). J marks equations of ours.

| statement of [CE23] | function | test in tests/papers/test_noisy_judges.py |
|---|---|---|
| (1)-(4), S 1.2-1.3: the sketch of votes | `tallystick.Tally` | tests/tally |
| (5)-(7): majority vote | `majority_shares`, `majority_scores` | the_majority_decides…, majority_vote_equals_the_published_fractions |
| S 1.4-1.6, S (9)-(10), (20): prevalence, accuracy, Γ | `correlated_judges.Point`, `correlation`, `sample_point` | labelled_statistics_equal_the_published_fractions |
| S (31): Γ of three judges | `correlation` | equation_31_with_its_signs_corrected… |
| Theorem 1, (9)-(16) | `vote_shares` | theorem_1_is_equations_9_to_16 |
| Theorem 2, (21), S (32): the trio's quadratic | `trio_quadratic.trio_quadratic`, `solve_trios` | the_roots_of_the_quadratic…, an_independent_trio_is_solved_exactly |
| Table 1, S (39): the formula | `trio_point` | the_sign_printed_in_table_1…, equal_classes_need_no_special_case |
| S (33)-(35), (40): two points | `mirrored`, `Point.mirror` | the_mirror_point_gives_the_same_votes |
| section 6: the branch | `choose_branch` | knowledge_picks_the_branch… |
| S (36)-(37): Δ, the same for both labels | `trio_moments`, `pair_covariance` | equation_51_is_the_covariance… |
| S 3: three judges solve any ensemble, two do not | `triplet`, `solve_trios` | many_judges_are_graded_exactly…, two_judges… |
| section 4: four failure modes | `failure_modes`, `unresolved_roots` | every_failure_has_its_name, an_unresolved_root… |
| section 4.1: the search over partitions | `feature_partition`, `nearly_independent` | judges_of_a_partition…, the_search_ranks… |
| Theorem 3, S (38): correlated judges | `vote_shares`, `joint_shares` | theorem_3_any_labelled_sketch…, …dimension_of_equation_38 |
| Theorem 4, (22)-(23), S (43)-(46): the containing variety | `variety_distance`, `variety_projection` | the_true_point_lies_on…, the_distance…_is_zero_correlated_or_not |
| (24), S (41)-(42): blind spots | `blind_spots` | blind_spots_are_the_derivatives…, a_blind_judge_harms… |
| Theorem 5, S (47): exact arithmetic | `exact_trio`, `Surd` | a_correlated_trio…, …the_published_surd_exactly |
| … its converse, S (48)-(52) | `pair_covariance`, `unresolved_roots` | one_pair_correlated_on_one_label_resolves… |
| S 7: the smallest test | `simulate` | the_smallest_test_has_exactly_the_point…, no_smaller_test_exists |
| S (53)-(60): the spectral method | `rank_one`, `spectral_point` | spectral_recovers…, equation_59_needs_one_more_term |
| S (61)-(77): agreement rates | `agreement_rates` | agreement_is_equation_74… |
| S (78)-(79): the impossible factorization | `agreement_gap` | agreement_fails_for_independent_judges… |
| S (80)-(81): error rates from agreement | `agreement_accuracy`, `agreement_error_rate` | the_root_of_the_agreement_equations… |
| ours: what detects dependence | `independence_test`, `error_correlation` | four_judges_refute_independence… |
| ours: standard errors of the baselines | `spectral_errors`, `agreement_errors` | errors_of_…_are_those_of_its_numerical_derivatives |
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.papers.noisy_judges.trio_quadratic import Surd, TrioMoments
from tallystick.stats.latent_model import FloatArray, IntArray

_ROUNDS = 10_000
_ROUNDING = 1e-9


# Majority vote: it decides the answers and grades everybody by them.


def majority_shares(codes: IntArray, *, n_labels: int = 2) -> FloatArray:
    """Return patterns x labels: 1 for the majority label, equal parts for a tie, 0 in a pattern
    without votes.

    Weighted by the counts, their mean is the prevalence (5).

    >>> majority_shares(np.array([[0, 0, 1], [0, 1, -1]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    return _winners(_tallied(codes, n_labels))


def majority_scores(
    codes: IntArray, counts: FloatArray, *, n_labels: int = 2, leave_one_out: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return judges x labels: items that the majority calls that label and the judge too, and all
    it voted on.

    Their ratio is the accuracy on each label: (6)-(7), whose left-hand sides should read P_1α and
    P_1β, and whose last term in the denominator of (6) is f_βαα. With *leave_one_out* each judge is
    graded by the majority of the others.

    >>> right, mass = majority_scores(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0]]), np.array([2.0, 1.0, 1.0]))
    >>> (right / mass)[2].tolist()
    [0.6666666666666666, 0.0]
    """
    held = _tallied(codes, n_labels)
    right, mass = np.zeros((2, codes.shape[1], n_labels))
    everyone = _winners(held)
    for j, column in enumerate(codes.T):
        mine = column[:, None] == np.arange(n_labels)
        shares = _winners(held - mine) if leave_one_out else everyone
        weight = (counts * (column >= 0))[:, None] * shares
        mass[j] = weight.sum(axis=0)
        right[j] = (weight * mine).sum(axis=0)
    return right, mass


def _tallied(codes: IntArray, n_labels: int) -> FloatArray:
    return np.stack([(codes == c).sum(axis=1) for c in range(n_labels)], axis=1).astype(float)


def _winners(held: FloatArray) -> FloatArray:
    top = held.max(axis=1, keepdims=True)
    best = (held == top) & (top > 0)
    tied = np.maximum(best.sum(axis=1, keepdims=True), 1)
    return np.asarray(best / tied, dtype=np.float64)


# The spectral method: votes covary like a matrix of rank one.


@dataclass(frozen=True, eq=False)
class RankOne:
    """The vector v and the number τ of votes with these moments: see :func:`rank_one`."""

    moments: TrioMoments
    vector: FloatArray
    tau: float


def spectral_point(found: RankOne) -> tuple[float, FloatArray]:
    r"""Return the prevalence of α and accuracies (judges x 2), moved into [0, 1].

    :math:`P_\alpha = (1 + \tau/\sqrt{4 + \tau^2})/2` and :math:`\delta = v/\sqrt{P_\alpha
    P_\beta}`. A judge's mean vote in ±1 is then :math:`\mu_i = -1 + 2 P_\alpha \delta_i + 2 (1 -
    P_{i\beta})`; (59) lacks the last term. Blind spots are those of the trio: :math:`\delta_i = 0`
    (60).
    """
    balance = _balance(found.tau)
    delta = found.vector / np.sqrt(balance * (1 - balance))
    f = found.moments.mean
    accuracy = np.stack(((1 - f) + (1 - balance) * delta, f + balance * delta), axis=1)
    return balance, np.clip(accuracy, 0.0, 1.0)


def rank_one(moments: TrioMoments) -> RankOne:
    r"""Return v and τ of votes that covary like :math:`v v^\top` off the diagonal (56).

    :math:`v_i = \sqrt{P_\alpha P_\beta}\,\delta_i`, the diagonal being filled in until it agrees.
    Third moments give :math:`T_{ijk} = \tau\, v_i v_j v_k` by least squares, with :math:`\tau =
    (P_\alpha - P_\beta)/\sqrt{P_\alpha P_\beta}`.
    """
    v = _vector(moments.covariance)
    i, j, k = np.array(list(itertools.combinations(range(v.size), 3))).reshape(-1, 3).T
    t, product = moments.third[i, j, k], v[i] * v[j] * v[k]
    seen = np.isfinite(t)
    scale = float((product[seen] ** 2).sum())
    # A product that is nothing but rounding, which differs between machines, is no product.
    if scale <= (_ROUNDING * float(v @ v) ** 1.5) ** 2:
        raise NotIdentifiable(
            "the judges' votes do not covary: nothing can be learnt from them without labels"
        )
    tau = float((t[seen] * product[seen]).sum()) / scale
    # Third moments far above the second ones put every item into one class (balance 0 or 1).
    if not 0 < _balance(tau) < 1:
        raise NotIdentifiable(
            "the votes put every item into one class, so that nothing can be said about the other:"
            " add items or judges, or label some items"
        )
    return RankOne(moments, v, tau)


def _balance(tau: float) -> float:
    return float((1 + tau / np.sqrt(4 + tau**2)) / 2)


def _vector(covariance: FloatArray) -> FloatArray:
    """Return v with v v' closest to the covariance off its diagonal, on the side of
    better-than-chance judges.
    """
    matrix = np.where(np.isfinite(covariance), covariance, 0.0)
    np.fill_diagonal(matrix, 0.0)
    diagonal = np.abs(matrix).max(axis=1)
    for _ in range(_ROUNDS):
        np.fill_diagonal(matrix, diagonal)
        values, vectors = np.linalg.eigh(matrix)
        v = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
        if np.abs(v**2 - diagonal).max() <= 1e-13:
            return np.asarray(v if v.sum() >= 0 else -v)
        diagonal = v**2
    raise ConvergenceError(
        "the spectral diagonal did not settle: a judge dominates; use independent or dawid_skene"
    )


def spectral_errors(
    codes: IntArray, counts: FloatArray, found: RankOne
) -> tuple[float, FloatArray, FloatArray]:
    r"""Return standard errors of the prevalence, of accuracies by label (judges x 2) and overall,
    for complete votes.

    An item with votes x moves :math:`D_{ij}` by :math:`(z_i z_j - D_{ij})/n` and :math:`T_{ijk}` by
    :math:`(z_i z_j z_k - T_{ijk} - z_i D_{jk} - z_j D_{ik} - z_k D_{ij})/n`, with :math:`z = x -
    f`. The vector v is where :math:`F_i = \sum_{j \ne i} (D_{ij} - v_i v_j) v_j` vanishes, so it
    moves by :math:`-(\partial F/\partial v)^{-1}\, \mathrm dF`; the rest is the chain rule. Sums
    over trios are elementary symmetric polynomials, so the cost is patterns x judges.
    """
    v, tau, moments = found.vector, found.tau, found.moments
    n, f = float(counts.sum()), moments.mean
    d = np.where(np.eye(len(f), dtype=bool), 0.0, moments.covariance)
    z = (codes == 1) - f
    w, pull = z * v, d @ v

    # How one item moves the vector v.
    moved = z * (w.sum(axis=1, keepdims=True) - w) - pull  # n times what dD adds to F
    slope = d - 2 * np.outer(v, v)
    np.fill_diagonal(slope, v**2 - (v**2).sum())
    dv = -np.linalg.solve(slope, moved.T).T

    # How it moves τ, directly and through v.
    third = np.nan_to_num(moments.third)  # i < j < k, 0 elsewhere
    of_v = (
        np.einsum("ijk,j,k->i", third, v, v)
        + np.einsum("ijk,i,k->j", third, v, v)
        + np.einsum("ijk,i,j->k", third, v, v)
    )
    size, product = _over_trios(v**2), float(of_v @ v) / 3
    rest = float(v @ pull) / 2 - v * pull  # sums over pairs of the other judges of v_j v_k D_jk
    dt = _over_trios(w) - product - w @ rest
    squares = (v**2).sum() - v**2
    others = (squares**2 - ((v**4).sum() - v**4)) / 2
    dtau = (dt + dv @ of_v - tau * (dv @ (2 * v * others))) / size

    # The prevalence, the δ and the accuracies by the chain rule.
    balance = (1 + tau / np.sqrt(4 + tau**2)) / 2
    db = (2 * dtau / (4 + tau**2) ** 1.5)[:, None]
    q = balance * (1 - balance)
    delta = v / np.sqrt(q)
    ddelta = dv / np.sqrt(q) - delta * (1 - 2 * balance) / (2 * q) * db
    first = -z - db * delta + (1 - balance) * ddelta
    second = z + db * delta + balance * ddelta
    both = np.stack(((1 - f) + (1 - balance) * delta, f + balance * delta))
    overall = db * (both[0] - both[1]) + balance * first + (1 - balance) * second

    def error(influence: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(counts @ influence**2) / n)

    return float(error(db)[0]), np.stack((error(first), error(second)), axis=1), error(overall)


def _over_trios(w: FloatArray) -> FloatArray:
    """Return the sum over trios of products, along the last axis."""
    one, two, three = (np.sum(w**power, axis=-1) for power in (1, 2, 3))
    return np.asarray((one**3 - 3 * one * two + 2 * three) / 6)


# Agreement rates: a baseline that takes one independence for another.


def agreement_rates(codes: IntArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`2 a_{ij} - 1` of every pair of binary judges (61), and the items on which both
    vote.

    At any point :math:`a_{ij} = 1 - c_i - c_j + 2 c_{ij}` (74), with c the shares of items on which
    one judge or both are right, which follows from (71); (72) and (73) need :math:`+ 2 P_i P_j` and
    :math:`+ 2 e_i e_j`, where they print a single product with a minus sign.

    >>> rate, _ = agreement_rates(np.array([[0, 0, 1], [1, 1, 1]]), np.array([1.0, 3.0]))
    >>> rate[0].tolist()
    [1.0, 1.0, 0.5]
    """
    weight = counts[:, None]
    n = codes.shape[1]
    if n < 3:
        raise NotIdentifiable(
            f"agreement needs three judges, got {n}: add judges or label some items"
        )
    voted = (codes >= 0).astype(float)
    together = voted.T @ (weight * voted)
    first, second = ((codes == c).astype(float) for c in (0, 1))
    same = first.T @ (weight * first) + second.T @ (weight * second)
    with np.errstate(invalid="ignore"):
        return 2 * same / together - 1, together


def agreement_accuracy(codes: IntArray, counts: FloatArray) -> FloatArray:
    r"""Return each judge's accuracy by agreement, the median over trios; NaN where none is solved.

    .. math:: 1 - 2 e_i = c/(2a_{jk} - 1) = \sqrt{(2a_{ij} - 1)(2a_{ik} - 1)/(2a_{jk} - 1)}   \tag{J6}

    (80)-(81), where (81) prints the factors of c with the other sign: their product would be
    negative whenever judges agree more often than not.
    """
    rate, _ = agreement_rates(codes, counts)
    return np.array(
        [
            min(float(np.mean([half for half, _, _ in _middle(rate, i)] or [np.nan])), 1.0)
            for i in range(len(rate))
        ]
    )


def agreement_errors(codes: IntArray, counts: FloatArray) -> FloatArray:
    """Return standard errors of (J6), by the middle trios of each median; NaN where there are
    none.
    """
    rate, together = agreement_rates(codes, counts)

    def moved(i: int, j: int) -> FloatArray:
        """Return how one item of each pattern moves the logarithm of the rate of i and j."""
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        step = np.where(codes[:, i] == codes[:, j], 1.0, -1.0) - rate[i, j]
        return np.asarray(np.where(both, step, 0.0) / (together[i, j] * rate[i, j]))

    errors = np.full(len(rate), np.nan)
    for i in range(len(rate)):
        middle = _middle(rate, i)
        if middle:
            with np.errstate(all="ignore"):  # a rate of 0 has no slope: no error
                parts = [
                    (2 * half - 1) / 4 * (moved(i, j) + moved(i, k) - moved(j, k))
                    for half, j, k in middle
                ]
                errors[i] = np.sqrt(counts @ np.mean(parts, axis=0) ** 2)
    return errors


def _middle(rate: FloatArray, i: int) -> list[tuple[float, int, int]]:
    """Return the accuracy of judge i and the other two judges, for both middle trios of its median;
    none if none.
    """
    others = np.delete(range(len(rate)), i)
    a, b = np.triu_indices(len(others), 1)
    j, k = others[a], others[b]
    with np.errstate(all="ignore"):
        square = rate[i, j] * rate[i, k] / rate[j, k]
    good = np.flatnonzero(np.isfinite(square) & (square >= 0))
    if not good.size:
        return []
    order = good[np.argsort(square[good], kind="stable")]
    ends = order[[(len(order) - 1) // 2, len(order) // 2]]
    return [((1 + float(np.sqrt(square[t]))) / 2, int(j[t]), int(k[t])) for t in ends.tolist()]


def agreement_error_rate(a_ij: Fraction, a_ik: Fraction, a_jk: Fraction) -> Surd:
    """Return the error rate of judge i by (80)-(81) in exact arithmetic.

    Its square root hardly ever resolves, for judges that are independent too, while every error
    rate of a finite test is a fraction: the equations assume what is not so (supplement 8.1).

    >>> print(agreement_error_rate(*[Fraction(19, 25)] * 3))  # judges right on every α, 3/5 of β
    1/2 + -1/50·√325
    """
    square = (2 * a_ij - 1) * (2 * a_ik - 1) / (2 * a_jk - 1)
    return Surd(
        Fraction(1, 2), Fraction(-1, 2 * square.denominator), square.numerator * square.denominator
    )


def agreement_gap(
    prevalence: float, first: tuple[float, float], second: tuple[float, float]
) -> float:
    r"""Return :math:`e_{ij} - e_i e_j` of two judges that are independent given the label.

    .. math:: e_{ij} - e_i e_j = P_\alpha P_\beta (e_{i\alpha} - e_{i\beta})(e_{j\alpha} - e_{j\beta})   \tag{J7}

    It is zero only if a judge errs equally often on both labels: (78) and (79) are no identities,
    which is why :func:`agreement_accuracy` is wrong for independent judges. Accuracies are given on
    α, β.

    >>> round(agreement_gap(0.5, (1.0, 0.6), (1.0, 0.6)), 3)
    0.04
    """
    return prevalence * (1 - prevalence) * (first[1] - first[0]) * (second[1] - second[0])
