"""How did the model change? Each statement of the paper on MASA, by enumeration where it is small."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from benchmarks.replays import replay, stratified
from tallystick.errors import InputError
from tallystick.papers.api_shifts import (
    allocation_excess,
    allocation_loss,
    confusion_matrix,
    equal_allocation,
    loss_bound,
    masa,
    masa_choice,
    masa_score,
    masa_update,
    optimal_allocation,
    optimal_loss,
    partitions,
    proportional_allocation,
    running_uncertainty,
    shift_estimate,
    theorem_bound,
    theorem_conditions,
    uncertainty,
    uncertainty_radius,
    uncertainty_score,
    uniform_error_bound,
    uniform_loss,
)
from tallystick.sampling import (
    Masa,
    Plan,
    Proportional,
    Sampler,
    Strata,
)

answers = st.lists(st.integers(0, 4), min_size=2, max_size=40)
seeds = st.integers(0, 10_000)


# Sections 2 and 3.1.


@given(seeds)
def test_the_trace_of_the_shift_is_the_change_of_accuracy(seed):
    true, old, new = np.random.default_rng(seed).integers(0, 3, (3, 50))
    before, after = (confusion_matrix(true, said, shape=(3, 3)) for said in (old, new))
    change = np.mean(new == true) - np.mean(old == true)
    assert np.trace(after - before) == pytest.approx(change, abs=1e-12)
    assert before.sum() == pytest.approx(1)
    assert before[1, 2] == pytest.approx(np.mean((true == 1) & (old == 2)))


@given(seeds, st.integers(1, 5))
def test_partitions_are_pure_in_label_ordered_and_of_equal_size(seed, bins):
    rng = np.random.default_rng(seed)
    label, hard = rng.integers(0, 4, 60), rng.random(60)
    of = partitions(label, hard, bins=bins)
    sizes = np.bincount(of)
    assert sizes.all(), "numbered without gaps"
    for value in np.unique(label):
        cells = np.unique(of[label == value])
        assert len(cells) == min(bins, (label == value).sum())
        assert np.ptp(sizes[cells]) <= 1
        for low, high in itertools.pairwise(cells):
            assert hard[of == low].max() < hard[of == high].min()
    assert all(len(np.unique(label[of == k])) == 1 for k in range(len(sizes)))


def test_ties_do_not_unbalance_the_bins():
    assert np.bincount(partitions([0] * 9, [1.0] * 9, bins=3)).tolist() == [3, 3, 3]


def test_partitions_need_one_difficulty_per_item():
    with pytest.raises(InputError, match="bins must be a whole number of at least 1"):
        partitions([0], [1.0], bins=0)
    for bad in ([0.1], [0.1, np.nan]):
        with pytest.raises(InputError, match="difficulty must hold 2 numbers"):
            partitions([0, 1], bad, bins=2)


# Definition 1 and equation (3.1).


def test_definition_1_on_the_three_examples_of_the_paper():
    p = [[0.5, 0.5, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert uncertainty_score(p) == pytest.approx([0.5, 0, 2 / 3])  # printed: 1/3


@given(answers)
def test_the_estimate_counts_the_pairs_that_disagree(seen):
    pairs = list(itertools.permutations(seen, 2))
    share = sum(a != b for a, b in pairs) / len(pairs)  # equation (3.1), literally
    assert uncertainty(np.bincount(seen)) == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.5]])
def test_the_estimate_is_unbiased_by_enumeration(weights):
    p = np.array([0.5, 0.3, 0.2])
    mean = sum(
        np.prod(p[list(draw)]) * uncertainty(np.bincount(draw, minlength=3), weights=weights)
        for draw in itertools.product(range(3), repeat=4)
    )
    assert mean == pytest.approx(float(uncertainty_score(p, weights=weights)), abs=1e-12)


@given(answers, st.lists(st.floats(0, 3), min_size=5, max_size=5))
def test_three_sums_of_weighted_vectors_give_the_weighted_estimate(seen, weights):
    vectors = np.eye(5)[seen] * weights
    sums = running_uncertainty(len(seen), (vectors**2).sum(), (vectors.sum(axis=0) ** 2).sum())
    batch = uncertainty(np.bincount(seen, minlength=5), weights=weights)
    assert sums == pytest.approx(float(batch), abs=1e-10)
    assert sums == pytest.approx(np.trace(np.cov(vectors.T)), abs=1e-10)


def test_fewer_than_two_answers_are_unknown_in_batch_and_zero_in_the_running_form():
    assert np.isnan(uncertainty([[0, 0], [1, 0]])).all()
    few = np.array([0, 1])
    assert running_uncertainty(few, few, few).tolist() == [0, 0]


def test_what_is_no_distribution_is_refused():
    with pytest.raises(InputError, match="sum to 1"):
        uncertainty_score([0.5, 0.6])
    with pytest.raises(InputError, match="negative"):
        uncertainty([-1, 3])


# Section 3.2 and Lemma 1.


@pytest.mark.parametrize("weights", [np.ones((2, 2)), np.eye(2), np.array([[0.0, 1.0], [0, 0]])])
def test_the_loss_is_the_expected_squared_error_by_enumeration(weights):
    # Label 0 has two partitions, label 1 one; two answers.
    shares, labels = np.array([0.3, 0.2, 0.5]), np.array([0, 0, 1])
    rates, asked = np.array([0.4, 0.1, 0.7]), np.array([2, 3, 2])
    mu = np.stack([1 - rates, rates], axis=1)
    old = np.array([[0.4, 0.1], [0.2, 0.3]])
    truth = shift_estimate(shares, mu, labels, old)
    error = 0.0
    for heads in itertools.product(*(range(n + 1) for n in asked)):
        chance = np.prod(binom.pmf(heads, asked, rates))
        counts = np.stack([asked - heads, heads], axis=1).astype(float)
        found = shift_estimate(shares, counts, labels, old)
        error += chance * ((weights * (found - truth)) ** 2).sum()
    sigma2 = uncertainty_score(mu, weights=weights[labels])
    assert allocation_loss(shares, sigma2, asked) == pytest.approx(error, rel=1e-12)


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=2, max_size=8),
    st.integers(0, 99),
)
def test_no_allocation_beats_the_optimum(cells, seed):
    p = np.array([a for a, _ in cells]) / sum(a for a, _ in cells)
    sigma = np.array([b for _, b in cells])
    best = optimal_allocation(p, sigma, calls=1000)
    loss = allocation_loss(p, sigma**2, best)
    assert loss == pytest.approx(optimal_loss(p, sigma, calls=1000))
    other = best * np.random.default_rng(seed).uniform(0.5, 2, len(best))
    other *= 1000 / other.sum()
    assert allocation_loss(p, sigma**2, other) >= loss * (1 - 1e-12)


def test_certain_partitions_are_asked_by_size():
    assert optimal_allocation([0.25, 0.75], [0, 0], calls=8).tolist() == [2, 6]


# Section 4: the baselines.


def test_each_baseline_has_its_loss():
    shares, rates = np.array([0.3, 0.7]), np.array([0.4, 0.1])
    mu = np.stack([1 - rates, rates], axis=1)
    sigma2 = uncertainty_score(mu)
    proportional, equal, best = (
        allocation_loss(shares, sigma2, how)
        for how in (
            proportional_allocation(shares, calls=200),
            equal_allocation(shares, calls=200),
            optimal_allocation(shares, np.sqrt(sigma2), calls=200),
        )
    )
    assert proportional == pytest.approx((shares * sigma2).sum() / 200)
    assert equal == pytest.approx((shares**2 * sigma2).sum() / 100)
    assert best < min(proportional, equal)
    matrix = shares[:, None] * mu
    uniform = sum(c * (1 - c) for c in matrix.ravel()) / 200  # one draw is one cell of the matrix
    assert uniform_loss(matrix, calls=200) == pytest.approx(uniform)
    assert proportional < uniform


def test_the_policies_of_the_product_reach_the_allocations_of_the_baselines():
    strata = Strata(np.repeat([0, 1, 2], [60, 30, 10]))
    for policy, allocation in ((Proportional(), proportional_allocation(strata.shares, calls=30)),):
        plan = Plan(strata=strata, policy=policy, budget=30, n_outcomes=1)
        asked = replay(plan, np.zeros(100, int), runs=1, rng=0).observed().asked[0]
        assert asked.tolist() == allocation.tolist()


# Algorithm 1.


@given(answers, st.lists(st.floats(0, 3), min_size=5, max_size=5) | st.none())
def test_the_update_agrees_with_the_batch_at_every_step(seen, weights):
    counts, sigma2 = np.zeros(5), 0.0
    for n, answer in enumerate(seen):
        counts, sigma2 = masa_update(counts, sigma2, answer, weights=weights)
        if n:
            assert sigma2 == pytest.approx(float(uncertainty(counts, weights=weights)), abs=1e-10)
    assert counts.tolist() == np.bincount(seen, minlength=5).tolist()


def test_line_7_as_it_is_printed_collapses():
    said = np.random.default_rng(0).integers(0, 2, 400)
    counts, printed = np.zeros(2), 0.0
    for n, answer in enumerate(said, start=1):
        printed = counts[answer] / 2 if n < 2 else printed + (1 - counts[answer] - printed) / n
        counts[answer] += 1
    assert printed < 0  # a variance
    assert uncertainty(counts) == pytest.approx(0.5, abs=0.01)


@given(st.integers(0, 1000), st.sampled_from([0.01, 1.0, 20.0]), st.booleans())
def test_the_policy_of_the_product_chooses_as_algorithm_1(seed, a, weighted):
    rng = np.random.default_rng(seed)
    strata = Strata(np.repeat(np.arange(4), [40, 30, 20, 10]))
    said = rng.integers(0, 3, 100) * (rng.random(100) < np.array([0.1, 0.9, 0.4, 0.0])[strata.of])
    weights = rng.random(3) if weighted else np.ones(3)
    plan = Plan(
        strata=strata,
        policy=Masa(exploration=a),
        budget=60,
        n_outcomes=3,
        weights=weights,
        replacement=True,
    )
    sampler = Sampler(plan, rng=seed)
    how = {"exploration": a, "reach": weights.max()}
    counts, sigma2 = np.zeros((4, 3)), np.zeros(4)
    while batch := sampler.ask():
        (item,) = batch
        k, n = strata.of[item], counts.sum(axis=1)
        best = masa_choice(strata.shares, n, sigma2, **how)
        if n.min() >= 2:  # line 3, literally
            score = strata.shares / n * (np.sqrt(sigma2) + weights.max() * (a / n) ** 0.25)
            assert masa_score(strata.shares, n, sigma2, **how) == pytest.approx(score)
            assert score[[k, best]] == pytest.approx(score.max(), rel=1e-9), "or they round apart"
        else:
            assert k == best
        counts[k], sigma2[k] = masa_update(counts[k], sigma2[k], said[item], weights=weights)
        sampler.tell({item: int(said[item])})


def test_algorithm_1_returns_the_shift_of_its_line_10():
    rng = np.random.default_rng(3)
    true = rng.integers(0, 3, 600)
    new = np.where(rng.random(600) < 0.7, true, rng.integers(0, 3, 600))
    cells = partitions(true, rng.random(600), bins=2)
    old = confusion_matrix(true, true, shape=(3, 3))
    asked = []

    def ask(item):
        asked.append(item)
        return int(new[item])

    run = masa(ask, true, cells, old_matrix=old, calls=200, rng=5)
    assert run.chosen.tolist() == cells[asked].tolist()
    assert run.counts.sum() == 200
    assert run.counts.sum(axis=1).min() >= 2, "two questions everywhere"
    assert run.sigma2 == pytest.approx(uncertainty(run.counts), abs=1e-12)
    # Line 10, literally.
    for i, j in itertools.product(range(3), repeat=2):
        found = sum(
            np.mean(cells == k) * np.mean([new[item] == j for item in asked if cells[item] == k])
            for k in np.unique(cells[true == i])
        )
        assert run.shift[i, j] == pytest.approx(found - old[i, j], abs=1e-12)


def test_the_estimate_of_the_product_is_line_10():
    rng = np.random.default_rng(4)
    true, new = rng.integers(0, 2, (2, 300))
    cells = partitions(true, rng.random(300), bins=3)
    plan = Plan(
        strata=Strata(cells), policy=Masa(), budget=100, n_outcomes=4
    )  # an outcome is (true, answer)
    seen = replay(plan, 2 * true + new, runs=1, rng=2).observed()
    labels = np.zeros(6, int)
    labels[cells] = true
    counts = np.stack([seen.new[0][k, 2 * labels[k] : 2 * labels[k] + 2] for k in range(6)])
    found = shift_estimate(plan.strata.shares, counts.astype(float), labels, np.zeros((2, 2)))
    assert stratified(seen).value[0].reshape(2, 2) == pytest.approx(found, abs=1e-12)


def test_masa_approaches_the_optimal_allocation_and_weights_steer_it():
    true = np.repeat([0, 1, 2], [200, 600, 200])
    new = true.copy()
    for label, rate in ((0, 0.5), (1, 0.02), (2, 0.2)):
        new[np.flatnonzero(true == label)[: round(rate * (true == label).sum())]] = 3
    cells, old = partitions(true, np.zeros(1000), bins=1), np.zeros((3, 4))
    rates = np.array([0.5, 0.02, 0.2])
    mu = np.zeros((3, 4))
    mu[np.arange(3), np.arange(3)], mu[:, 3] = 1 - rates, rates
    for weights in (np.ones((3, 4)), np.array([[1.0] * 4, [1.0] * 4, [4.0] * 4])):
        run = masa(
            lambda item: int(new[item]),
            true,
            cells,
            old_matrix=old,
            calls=4000,
            rng=1,
            exploration=0.01,
            weights=weights,
        )
        sigma = np.sqrt(uncertainty_score(mu, weights=weights))
        best = optimal_allocation([0.2, 0.6, 0.2], sigma, calls=4000)
        assert run.counts.sum(axis=1) == pytest.approx(best, rel=0.1)


def test_algorithm_1_refuses_what_it_is_not_about():
    how = {"old_matrix": np.eye(2) / 2, "calls": 10, "rng": 0}
    with pytest.raises(InputError, match="one true label"):
        masa(lambda item: 0, [0, 1], [0, 0], **how)
    with pytest.raises(InputError, match="exploration must be above 0"):
        masa(lambda item: 0, [0, 1], [0, 1], exploration=0, **how)
    with pytest.raises(InputError, match="partition 1 has no answer"):
        masa(lambda item: 0, [0, 1], [0, 1], **{**how, "calls": 2})


# Theorem 2, Lemmas 3 and 6, and the stopping rule.


def test_the_conditions_of_the_theorem_are_reported():
    least = 2 * np.log(2) + np.log(3) + 2.25 * np.log(2000)
    assert theorem_conditions(labels=2, bins=3, calls=2000, exploration=least + 1e-9) == ()
    assert len(theorem_conditions(labels=2, bins=3, calls=2000, exploration=least - 1e-9)) == 1
    assert len(theorem_conditions(labels=2, bins=3, calls=24, exploration=1)) == 2


@pytest.mark.parametrize("calls", [200, 1000])
def test_theorem_2_bounds_the_loss_of_the_algorithm(calls):
    sizes, rates = np.array([500, 300, 200]), np.array([0.5, 0.1, 0.3])
    of = np.repeat(np.arange(3), sizes)
    said = np.concatenate(
        [np.arange(n) < round(n * rate) for n, rate in zip(sizes, rates, strict=True)]
    ).astype(int)
    exploration = 2 * np.log(2) + np.log(3) + 2.25 * np.log(calls) + 0.01
    assert theorem_conditions(labels=2, bins=2, calls=calls, exploration=exploration) == ()
    plan = Plan(
        strata=Strata(of),
        policy=Masa(exploration=exploration),
        budget=calls,
        n_outcomes=2,
        replacement=True,
    )
    p, sigma = sizes / 1000, np.sqrt(2 * rates * (1 - rates))
    seen = replay(plan, said, runs=400, rng=1).observed()
    # Lemma 6: no partition is asked much less than the optimum would ask it.
    best = optimal_allocation(p, sigma, calls=calls)
    least = (p * sigma).min() / (p * sigma).sum()
    wider = 1 + 12 / calls + 4 / sigma.min() * (2 * exploration / (calls * least)) ** 0.25
    excess = allocation_excess(p, sigma, calls=calls, exploration=exploration)
    assert excess == pytest.approx(wider)
    assert (best / seen.asked).max() <= excess
    # Theorem 2: nor does the loss of the stratified mean exceed its bound. The loss sums over
    # partitions.
    means = seen.new / seen.answered[..., None]
    truth = np.stack([1 - rates, rates], axis=1)
    loss = (p[:, None] ** 2 * (means - truth) ** 2).sum(axis=(1, 2))
    best_loss = optimal_loss(p, sigma, calls=calls)
    bound = theorem_bound(p, sigma, labels=2, calls=calls, exploration=exploration)
    outside = 2 * 3 * calls * 2 * np.exp(-2 * exploration)
    assert bound == pytest.approx(best_loss * wider**2 + outside)
    assert loss.mean() <= bound
    # The constants of the theorem are loose; what is left above the optimum is small, and falls
    # faster than 1/N.
    assert loss.mean() / best_loss <= 1.3
    assert loss.mean() >= best_loss * (1 - 4 * loss.std() / loss.mean() / 20)


def test_the_bound_of_the_theorem_refuses_what_it_is_not_about():
    with pytest.raises(InputError, match="uncertain"):
        theorem_bound([0.5, 0.5], [0.0, 0.5], labels=2, calls=100, exploration=1)
    with pytest.raises(InputError, match="more than 4 L K = 8"):
        theorem_bound([0.5, 0.5], [0.1, 0.5], labels=2, calls=8, exploration=1)


def score(k, t):
    """(3.1) of t answers of two kinds, k of them of the first, written by hand."""
    return 1 - (k * (k - 1) + (t - k) * (t - k - 1)) / (t * (t - 1))


@pytest.mark.parametrize("t", [2, 5, 10, 50, 400])
@pytest.mark.parametrize("p", [0.001, 0.03, 0.3, 0.5])
@pytest.mark.parametrize("delta", [0.3, 0.05, 5e-4, 1e-9])
def test_lemma_3_holds_with_the_fourth_root_by_enumeration(t, p, delta):
    k, truth = np.arange(t + 1), 2 * p * (1 - p)
    chance, seen = binom.pmf(k, t, p), np.maximum(score(k, t), 0)
    radius = float(uncertainty_radius(t, delta=delta))
    assert radius == pytest.approx(np.sqrt(np.log(2 / delta) / (2 * t)))
    assert chance[np.abs(seen - truth) > radius].sum() <= delta
    assert chance[np.abs(np.sqrt(seen) - np.sqrt(truth)) > np.sqrt(radius)].sum() <= delta
    # and so the bound on the loss holds, too
    bound = np.array([loss_bound([1.0], [t], [one], delta=delta) for one in seen])
    assert chance[bound < truth / t].sum() <= delta


def test_lemma_3_is_false_as_it_is_printed():
    t, p, delta = 10, 0.3, 5e-4
    k = np.arange(t + 1)
    apart = np.abs(np.sqrt(np.maximum(score(k, t), 0)) - np.sqrt(2 * p * (1 - p)))
    beyond = binom.pmf(k, t, p)[apart > uncertainty_radius(t, delta=delta)].sum()
    assert beyond == pytest.approx(0.7**10, rel=1e-3)


def test_the_bound_is_above_the_loss_and_meets_it_with_many_answers():
    p, sigma2 = np.array([0.5, 0.5]), np.array([0.1, 0.2])
    for n in (10, 1000, 10**8):
        loss = allocation_loss(p, sigma2, [n, n])
        assert loss_bound(p, [n, n], sigma2) > loss
    assert loss_bound(p, [n, n], sigma2) == pytest.approx(loss, rel=1e-2)


def test_an_unasked_partition_has_no_bound():
    assert loss_bound([0.5, 0.5], [0, 3], [0.1, 0.1]) == np.inf
    assert loss_bound([1.0], [4], [np.nan]) == 1 / 4
    with pytest.raises(InputError, match="delta"):
        loss_bound([1.0], [2], [0.1], delta=0)


def test_uniform_sampling_stops_within_the_range_of_table_1():
    assert uniform_error_bound(18_445) <= 0.01 < uniform_error_bound(18_444)
    # MASA's own rule, on partitions of which most are nearly certain, stops far earlier: Table 1 has
    # 1.1K to 10.3K.
    shares, sigma2 = np.array([0.9, 0.1]), np.array([0.02, 0.4])
    asked = optimal_allocation(shares, np.sqrt(sigma2), calls=10_300)
    assert np.sqrt(loss_bound(shares, asked, sigma2)) <= 0.01
