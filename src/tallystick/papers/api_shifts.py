r"""Chen, Zaharia and Zou, *How did the model change?* ([CZZ22]_, api-shifts): MASA, statement by
statement.

An API was measured once on labelled items, as a confusion matrix :math:`C^o`. It is asked again
about N of them, and :math:`\Delta C = C - C^o` is estimated. The items lie in partitions of one true
label each. Arrays have one entry per partition k: its share :math:`p_k`, its uncertainty
:math:`\sigma_k^2`, its answers :math:`N_k`; counts H have a row per partition and a column per
answer.

| statement | function | test: `pytest tests/papers/test_api_shifts.py -k` |
|---|---|---|
| 2: C, old matrix C^o, ΔC | `confusion_matrix` | trace_of_the_shift |
| 3.1: partitions, K | `partitions` | partitions_are_pure |
| 3.2: loss, weights W | `allocation_loss` | loss_is_the_expected |
| Definition 1 | `uncertainty_score` | definition_1 |
| (3.1) | `uncertainty`, `running_uncertainty` | estimate_counts, unbiased, three_sums |
| Lemma 1 | `optimal_allocation`, `optimal_loss` | beats_the_optimum |
| Algorithm 1, line 3, a | `masa_score`, `masa_choice` | chooses_as_algorithm_1 |
| lines 5-8, Lemma 5: MASA's update | `masa_update` | update_agrees, line_7 |
| line 10 | `shift_estimate` | line_10 |
| Algorithm 1, whole | `masa` | algorithm_1, masa_approaches |
| Theorem 2, conditions | `theorem_conditions` | conditions_of_the_theorem |
| Theorem 2, bound | `theorem_bound` | theorem_2_bounds |
| A: stopping rule | `loss_bound`, `uniform_error_bound` | above_the_loss, table_1 |
| Lemma 3 | `uncertainty_radius` | lemma_3 |
| Lemmas 6 and 7 | `allocation_excess` | theorem_2_bounds |
| 4: uniform | `uniform_loss` | baseline |
| 4: equal, proportional | `equal_allocation`, `proportional_allocation` | baseline |

`sampling.Masa` is line 3 in the product, with prices, failed calls and answers in flight. The error
does not depend on :math:`C^o`; old answers *by item* are worth more than this allocation
(``docs/papers/api_shifts.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.stats.exact_tails import open_unit, positive, whole

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Sections 2 and 3.1: what changes, and where it is measured.


def confusion_matrix(true: IntArray, answered: IntArray, *, shape: tuple[int, int]) -> FloatArray:
    r"""Return :math:`C_{ij} = \Pr[y = i, \hat y = j]`, the shares of all items; :math:`C^o` from old
    answers.

    Section 2. The trace of a difference of two is the change of accuracy. A column beyond the
    labels may stand for answers that are no label, which the paper does not have.

    Examples
    --------
    >>> confusion_matrix(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), shape=(2, 2))
    array([[0.25, 0.25],
           [0.  , 0.5 ]])
    """
    matrix = np.zeros(shape)
    np.add.at(matrix, (true, answered), 1 / len(true))
    return matrix


def partitions(label: ArrayLike, difficulty: ArrayLike, *, bins: int) -> IntArray:
    """Return the partition of every item: each true label is cut by difficulty into *bins* of equal
    size.

    Section 3.1, with K = *bins*. A label with fewer items than bins gets one bin per item. Equal
    difficulties are told apart by position, so that bins have equal sizes whatever the ties.

    Examples
    --------
    >>> partitions([0, 0, 0, 0, 1, 1], [0.9, 0.1, 0.8, 0.2, 0.5, 0.4], bins=2)
    array([1, 0, 1, 0, 3, 2])
    """
    labels, hard = np.asarray(label), np.asarray(difficulty, dtype=np.float64)
    whole(1, bins=bins)
    if hard.shape != labels.shape or labels.ndim != 1 or np.isnan(hard).any():
        raise InputError(
            f"difficulty must hold {len(labels)} numbers, none of them NaN, got shape {hard.shape}"
        )

    # By label, then difficulty, then position: the sort is stable.
    order = np.lexsort((hard, labels))
    _, code, size = np.unique(labels[order], return_inverse=True, return_counts=True)
    used = np.minimum(bins, size)

    rank = np.arange(len(order)) - (np.cumsum(size) - size)[code]
    of = np.empty(len(order), np.intp)
    of[order] = (np.cumsum(used) - used)[code] + rank * used[code] // size[code]
    return of


# Section 3.3: how uncertain a partition is.


def uncertainty_score(p: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    r"""Return how uncertain an answer with probabilities *p* (last axis) is: Definition 1.

    .. math:: \sigma^2 = \sum_j w_j^2 p_j (1 - p_j) \quad (= 1 - \sum_j p_j^2 \text{ without weights})   \tag{U1}

    The trace of the covariance of :math:`w_j 1[\hat y = j]`, so n answers cost σ²/n in squared
    Frobenius error. *weights* are a row of the W of section 3.2, broadcast against *p*. The
    collision entropy is :math:`-\log(1 - \sigma^2)`.

    Examples
    --------
    >>> uncertainty_score([0.5, 0.5])
    array(0.5)
    >>> uncertainty_score([1 / 3, 1 / 3, 1 / 3])   # the paper's third example prints 1/3 by mistake
    array(0.66666667)
    """
    prob = np.asarray(p, dtype=np.float64)
    if np.any(prob < 0) or not np.allclose(prob.sum(axis=-1), 1):
        raise InputError("p must hold probabilities that sum to 1 along the last axis")
    return np.asarray(np.sum(_squared(weights) * prob * (1 - prob), axis=-1))  # (U1)


def uncertainty(counts: ArrayLike, *, weights: ArrayLike | None = None) -> FloatArray:
    r"""Return the unbiased estimate of the score from counts (last axis) of n ≥ 2 answers: (3.1).

    .. math:: \hat\sigma^2 = \sum_j w_j^2 \frac{H_j (n - H_j)}{n (n - 1)}
              \quad \Bigl(= 1 - \sum_j \frac{H_j (H_j - 1)}{n (n - 1)} \Bigr)   \tag{U2}

    Where n < 2 it is NaN: unknown, not zero.

    Examples
    --------
    >>> uncertainty([[3, 1], [2, 2], [1, 0]])
    array([0.5       , 0.66666667,        nan])
    """
    H = np.asarray(counts, dtype=np.float64)
    if np.any(H < 0):
        raise InputError("counts must not be negative")
    n = H.sum(axis=-1)
    pairs = np.sum(_squared(weights) * H * (n[..., None] - H), axis=-1)
    return np.asarray(np.where(n < 2, np.nan, pairs / np.where(n < 2, 1, n * (n - 1))))  # (U2)


def running_uncertainty(n: Any, square: Any, length: Any) -> Any:
    r"""Return (3.1) of any n vectors from three running sums, Σ‖x‖² and ‖Σx‖²; 0 where n < 2.

    .. math:: \hat\sigma^2 = \frac{n \sum_i \lVert x_i \rVert^2 - \lVert \sum_i x_i \rVert^2}{n (n - 1)}   \tag{U3}

    One-hot vectors times weights give (U2); a vector may also be a change, e(new) - e(old). Numbers
    and arrays alike, without branches: a sampler calls it once per answer.

    Examples
    --------
    >>> running_uncertainty(4, 4, 3 * 3 + 1 * 1)   # counts 3 and 1
    0.5
    """
    # By Cauchy-Schwarz the numerator is >= 0; abs only removes a rounding below it. n < 2 gives 0/1.
    return abs(n * square - length) / (n * (n - 1) + (n < 2))  # (U3)


# Section 3.2 and Lemma 1: what an allocation costs, and the best one; the baselines of section 4.


def allocation_loss(shares: ArrayLike, sigma2: ArrayLike, allocation: ArrayLike) -> float:
    r"""Return the expected squared Frobenius error of *allocation*: :math:`\sum_k p_k^2 \sigma_k^2 /
    N_k`.

    Section 3.2, for independent draws. With weights W the error is that of :math:`W \odot \Delta C`:
    pass scores with weights. The identity for W gives the variance of the change of accuracy.

    Examples
    --------
    >>> round(allocation_loss([0.5, 0.5], [0.09, 0.01], [75, 25]), 6)
    0.0004
    """
    p, s2, n = (np.asarray(one, dtype=np.float64) for one in (shares, sigma2, allocation))
    return float((p**2 * s2 / n).sum())


def optimal_allocation(shares: ArrayLike, sigma: ArrayLike, *, calls: int) -> FloatArray:
    r"""Return how many of *calls* each partition gets if its uncertainty is known: Lemma 1.

    .. math:: N^*_k = \frac{p_k \sigma_k}{\sum_l p_l \sigma_l} N   \tag{M1}

    The proof drops a square in Σ Pr²; the statement is right.

    Examples
    --------
    >>> optimal_allocation([0.5, 0.5], [0.3, 0.1], calls=100)
    array([75., 25.])
    """
    weight = np.asarray(shares, dtype=np.float64) * np.asarray(sigma, dtype=np.float64)
    total = weight.sum()
    if total == 0:  # nothing is uncertain: any allocation has error 0
        return proportional_allocation(shares, calls=calls)
    return np.asarray(weight / total * calls)  # (M1)


def optimal_loss(shares: ArrayLike, sigma: ArrayLike, *, calls: int) -> float:
    r"""Return the loss of the optimal allocation, :math:`(\sum_k p_k \sigma_k)^2 / N`; proof of
    Lemma 1.

    Examples
    --------
    >>> round(optimal_loss([0.5, 0.5], [0.3, 0.1], calls=100), 6)
    0.0004
    """
    return float((np.asarray(shares) * np.asarray(sigma)).sum() ** 2 / calls)


def proportional_allocation(shares: ArrayLike, *, calls: int) -> FloatArray:
    """Return N p: standard stratified sampling (appendix C), the baseline that is hard to beat.

    MASA beats uniform sampling 1.8-5.9 times in squared error, this one on the same partitions only
    1.02-1.5 times (errata): compare with both.
    """
    return np.asarray(shares, dtype=np.float64) * calls


def equal_allocation(shares: ArrayLike, *, calls: int) -> FloatArray:
    """Return as many questions for each partition: the "stratified sampling" of Table 1, K = 1."""
    return np.full(np.shape(shares), calls / np.size(shares))


def uniform_loss(matrix: ArrayLike, *, calls: int) -> float:
    r"""Return the loss of uniform sampling, :math:`(1 - \sum_{ij} C_{ij}^2) / N`.

    Examples
    --------
    >>> round(uniform_loss([[0.4, 0.1], [0.1, 0.4]], calls=100), 6)
    0.0066
    """
    return max(0.0, 1 - float(np.square(matrix).sum())) / calls


# Section 3.4: Algorithm 1.


def masa_score(share: Any, asked: Any, sigma2: Any, *, exploration: float, reach: Any = 1.0) -> Any:
    r"""Return how much a partition wants to be asked: the maximand of line 3, numbers or arrays.

    .. math:: \frac{p}{N} \Bigl( \hat\sigma + w \sqrt[4]{a / N} \Bigr)  \tag{M2}

    Line 3 prints a square root; the theory has the fourth (errata). No a between 0.01 and 20
    differs measurably, 0 is 7-170 times worse. Weights W are in σ̂ entry by entry, which minimises
    the weighted loss, and *reach* w is the largest of the partition's row: the paper says only that
    line 3 is multiplied by them.

    Examples
    --------
    >>> masa_score(0.5, 16.0, 0.25, exploration=1.0)
    0.03125
    """
    # Roots are taken twice, not to the power ¼: square roots round alike everywhere.
    sqrt: Any = math.sqrt if isinstance(asked, float) else np.sqrt
    return share / asked * (sqrt(sigma2) + reach * sqrt(sqrt(exploration / asked)))  # (M2)


def masa_choice(
    shares: FloatArray,
    asked: FloatArray,
    sigma2: FloatArray,
    *,
    exploration: float,
    reach: float | FloatArray = 1.0,
) -> int:
    """Return the partition to ask next: line 3. Each gets two questions before any gets a third."""
    if (asked < 2).any():
        return int(np.argmax(asked < 2))
    return int(np.argmax(masa_score(shares, asked, sigma2, exploration=exploration, reach=reach)))


def masa_update(
    counts: FloatArray, sigma2: float, answer: int, *, weights: ArrayLike | None = None
) -> tuple[FloatArray, float]:
    r"""Return the counts H and the estimate σ̂² of a partition after one more answer j: lines 5-8.

    .. math:: \hat\sigma^2_{n+1} = \hat\sigma^2_n + \frac{2}{n+1} \Bigl( \frac{\bar w^2 + w_j^2}{2}
              - \frac{w_j^2 H_j}{n} - \hat\sigma^2_n \Bigr), \qquad
              \bar w^2 = \frac1n \sum_l w_l^2 H_l   \tag{M3}

    :math:`1 - H_j/n - \hat\sigma^2_n` in the bracket without weights, as in the proof of Lemma 5
    (B.3). Line 7 as it is printed collapses to 0 (errata). N and μ̂ of lines 5 and 6 are H.sum()
    and H / N.

    Examples
    --------
    >>> counts, sigma2 = masa_update(np.array([2.0, 0.0]), 0.0, 1)
    >>> counts, sigma2 == uncertainty(counts)
    (array([2., 1.]), np.True_)
    """
    squared = np.broadcast_to(_squared(weights), counts.shape)
    n = float(counts.sum())
    if n:
        own = float(squared[answer])
        fresh = (float(squared @ counts) / n + own) / 2 - own * float(counts[answer]) / n
        sigma2 = max(
            0.0, sigma2 + 2 / (n + 1) * (fresh - sigma2)
        )  # (M3), without a rounding below 0
    after = counts.copy()
    after[answer] += 1  # line 8
    return after, sigma2


def shift_estimate(
    shares: FloatArray, counts: FloatArray, labels: IntArray, old_matrix: FloatArray
) -> FloatArray:
    r"""Return :math:`\Delta \hat C_{ij} = \sum_k p_{ik} \hat\mu_{ikj} - C^o_{ij}`: line 10.

    *labels* holds the true label of each partition. One without an answer has no estimate.
    """
    answered = counts.sum(axis=1)
    if not answered.all():
        raise InputError(f"partition {int(answered.argmin())} has no answer: ask it, or merge it")
    found = np.zeros(old_matrix.shape)
    np.add.at(found, labels, (shares / answered)[:, None] * counts)
    return np.asarray(found - old_matrix)


@dataclass(frozen=True, eq=False, kw_only=True)
class MasaRun:
    """What Algorithm 1 found: ΔĈ, the counts H and σ̂² of every partition, and which it asked, in
    order.
    """

    shift: FloatArray
    counts: FloatArray
    sigma2: FloatArray
    chosen: IntArray


def masa(
    ask: Callable[[int], int],
    true: ArrayLike,
    partition: ArrayLike,
    *,
    old_matrix: ArrayLike,
    calls: int,
    rng: Rng,
    exploration: float = 1.0,
    weights: ArrayLike | None = None,
) -> MasaRun:
    """Estimate how an API changed by Algorithm 1, as the paper states it: draws are independent.

    Costs O(LKN) and holds O(L²K) numbers (Lemma 5). `shift --strategy masa` asks no item twice.

    Parameters
    ----------
    ask
        The API: from the position of an item to the code of its answer.
    true, partition
        True label and partition of every item, see :func:`partitions`.
    old_matrix
        The paper's C^o, one row per label and one column per answer.
    calls, exploration
        The paper's N and a > 0.
    weights
        The paper's W, of the shape of *old_matrix*.
    rng
        Draws the items.

    Examples
    --------
    >>> true = np.repeat([0, 1], 500)
    >>> new = np.where(np.arange(1000) % 10 == 0, 1, true)       # a tenth of label 0 is now taken for 1
    >>> cells = partitions(true, np.zeros(1000), bins=1)
    >>> run = masa(new.__getitem__, true, cells, old_matrix=[[0.5, 0], [0, 0.5]], calls=300, rng=1)
    >>> run.counts.sum(axis=1), run.shift[0].round(3)            # the truth is -.05 and .05
    (array([202.,  98.]), array([-0.042,  0.042]))
    """
    whole(1, calls=calls)
    positive(exploration=exploration)
    label, cell, old = np.asarray(true), np.asarray(partition), np.asarray(old_matrix, np.float64)
    sizes = np.bincount(cell)
    shares, first = sizes / len(cell), np.cumsum(sizes) - sizes
    inside = np.argsort(cell, kind="stable")
    labels = np.zeros(len(sizes), np.intp)
    labels[cell] = label
    if (labels[cell] != label).any():
        raise InputError("items of one partition must have one true label: see partitions")
    row = np.broadcast_to(1.0 if weights is None else np.asarray(weights), old.shape)[labels]

    draw = as_rng(rng)
    counts, sigma2 = np.zeros(row.shape), np.zeros(len(sizes))  # line 1
    chosen = np.empty(calls, np.intp)
    for n in range(calls):  # line 2
        k = masa_choice(
            shares, counts.sum(axis=1), sigma2, exploration=exploration, reach=row.max(axis=1)
        )  # line 3
        item = inside[first[k] + draw.integers(sizes[k])]  # line 4
        counts[k], sigma2[k] = masa_update(counts[k], sigma2[k], ask(item), weights=row[k])
        chosen[n] = k
    shift = shift_estimate(shares, counts, labels, old)
    return MasaRun(shift=shift, counts=counts, sigma2=sigma2, chosen=chosen)


# Theorem 2 with its lemmas, and the stopping rule of appendix A. No result of `shift` rests on
# them.


def theorem_conditions(
    *, labels: int, bins: int, calls: int, exploration: float
) -> tuple[str, ...]:
    r"""Return, in words, which conditions of Theorem 2 do not hold; nothing if all do.

    .. math:: a > 2 \log L + \log K + \tfrac94 \log N, \qquad N > 4 L K   \tag{M4}

    The paper itself runs with a = 1, far below; measured, it makes no difference.

    Examples
    --------
    >>> theorem_conditions(labels=2, bins=3, calls=2000, exploration=20)
    ()
    >>> theorem_conditions(labels=10, bins=3, calls=100, exploration=1)[1]
    'Theorem 2 asks for more than 4 L K = 120 calls, the budget has 100'
    """
    least = 2 * math.log(labels) + math.log(bins) + 2.25 * math.log(calls)  # (M4)
    broken = []
    if exploration <= least:
        broken.append(
            f"Theorem 2 asks for an exploration a above {least:.1f}, this run has {exploration:g}"
        )
    if calls <= 4 * labels * bins:
        broken.append(
            f"Theorem 2 asks for more than 4 L K = {4 * labels * bins} calls, the budget has"
            f" {calls}"
        )
    return tuple(broken)


def allocation_excess(
    shares: ArrayLike, sigma: ArrayLike, *, calls: int, exploration: float
) -> float:
    r"""Return how many times :math:`N_k` may fall below the optimum :math:`N^*_k`: Lemma 6.

    .. math:: \frac{N^*_k}{N_k} \le 1 + \frac{4S}{N} + \frac{4}{\sigma_{min}}
              \Bigl( \frac{\log 2/\delta}{N \Delta_{min}} \Bigr)^{1/4}, \qquad
              \Delta_k = \frac{p_k \sigma_k}{\sum_l p_l \sigma_l}   \tag{M5}

    for S partitions (the paper's L K) where Lemma 3 holds. Here :math:`\log 2/\delta = 2a`, which makes
    the radius of Lemma 3 that of line 3; the paper sets :math:`\delta = 2 e^{-a}`, which does not.
    """
    p, s = np.asarray(shares, dtype=np.float64), np.asarray(sigma, dtype=np.float64)
    if not (s > 0).all() or not (p > 0).all():
        raise InputError(
            "Theorem 2 is about partitions that have items and are uncertain: leave the others out"
        )
    if calls <= 4 * len(p):
        raise InputError(f"Theorem 2 asks for more than 4 L K = {4 * len(p)} calls, got {calls}")
    least = float((p * s).min() / (p * s).sum())
    root = math.sqrt(math.sqrt(2 * exploration / (calls * least)))
    return 1 + 4 * len(p) / calls + 4 / float(s.min()) * root  # (M5)


def theorem_bound(
    shares: ArrayLike, sigma: ArrayLike, *, labels: int, calls: int, exploration: float
) -> float:
    r"""Return how large the loss of MASA can be, by Theorem 2 with the constants of its proof.

    .. math:: \mathcal L \le \mathcal L^* x^2 + L S N \delta, \qquad x \text{ of (M5)}   \tag{M6}

    Inequality B.6 and the end of the proof; the theorem hides the constants in
    :math:`O(N^{-5/4} \log^{1/4} N)`. They are large: a check of the theorem, not a forecast.

    Parameters
    ----------
    shares, sigma
        Share and true uncertainty of every partition, none of them 0.
    labels, calls, exploration
        The paper's L, N > 4 L K and a.

    Examples
    --------
    >>> round(theorem_bound([0.5, 0.5], [0.5, 0.7], labels=2, calls=10**6, exploration=20), 9)
    1.156e-06
    """
    excess = allocation_excess(shares, sigma, calls=calls, exploration=exploration)
    outside = labels * np.size(shares) * calls * 2 * math.exp(-2 * exploration)
    return optimal_loss(shares, sigma, calls=calls) * excess**2 + outside  # (M6)


def uncertainty_radius(answered: ArrayLike, *, delta: float) -> FloatArray:
    r"""Return how far σ̂² is from σ², with probability 1 - δ: :math:`\sqrt{\log(2/\delta)/(2 n)}`,
    Lemma 3.

    Its proof, by McDiarmid's inequality, gives this radius to σ̂² and its root to σ̂. Printed, the
    lemma gives it to σ̂ itself, which is false: ten answers, of which each is the rarer with
    probability .3, break it in 2.8% of all cases at δ = .0005 (errata).
    """
    open_unit(delta=delta)
    return np.asarray(np.sqrt(math.log(2 / delta) / (2 * np.asarray(answered, dtype=np.float64))))


def loss_bound(
    shares: ArrayLike, answered: ArrayLike, sigma2: ArrayLike, *, delta: float = 0.05
) -> float:
    r"""Return the upper bound on the loss; MASA stops once it is below the square of the error
    wanted.

    .. math:: \sum_k \frac{p_k^2}{N_k}
              \min\Bigl( 1, \hat\sigma_k^2 + \sqrt{\tfrac{\log(2/\delta)}{2 N_k}} \Bigr)   \tag{M7}

    Appendix A, with the radius of Lemma 3 for its unnamed constant c. It bounds the expected error,
    not the error, and holds at one time, not at any: `verbs.shift.frobenius_bound` is a guarantee.

    Parameters
    ----------
    shares, answered, sigma2
        Share, answers and estimate of every partition; an unknown one (NaN) counts as 1.
    delta
        The δ of Lemma 3, for one partition at one time.

    Examples
    --------
    >>> round(loss_bound([0.5, 0.5], [100, 100], [0.1, 0.0]), 6)
    0.000929
    """
    open_unit(delta=delta)
    n = np.asarray(answered, dtype=np.float64)
    if (n < 1).any():
        return math.inf
    variance = np.nan_to_num(np.asarray(sigma2, dtype=np.float64), nan=1.0)
    most = np.minimum(variance + uncertainty_radius(n, delta=delta), 1.0)
    return allocation_loss(shares, most, n)  # (M7)


def uniform_error_bound(calls: int, *, delta: float = 0.05) -> float:
    r"""Return the bound on the Frobenius error at which uniform or equal sampling stops:
    :math:`\sqrt{c/n}`.

    Appendix A, "the standard upper bound for Bernoulli variables", with :math:`c = \log(2/\delta)/2`
    (Hoeffding), which the paper does not name: 1% takes 18,445 calls, Table 1 has 15.2K to 20.8K.

    Examples
    --------
    >>> round(uniform_error_bound(18_445), 5)
    0.01
    """
    whole(1, calls=calls)
    return float(uncertainty_radius(calls, delta=delta))


def _squared(weights: ArrayLike | None) -> FloatArray:
    return np.square(np.asarray(1.0 if weights is None else weights, dtype=np.float64))
