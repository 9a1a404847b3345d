import numpy as np
import pytest
from scipy.stats import binom

from tallystick.errors import InputError
from tallystick.sampling import Budget, Masa, Plan, Strata, replay
from tallystick.verbs.shift import optimal_allocation, optimal_loss
from tallystick.verbs.shift.papers import loss_bound, theorem_bound, theorem_conditions


def test_the_conditions_of_the_theorem_are_reported():
    least = 2 * np.log(2) + np.log(3) + 2.25 * np.log(2000)
    assert theorem_conditions(labels=2, bins=3, calls=2000, exploration=least + 1e-9) == ()
    assert len(theorem_conditions(labels=2, bins=3, calls=2000, exploration=least - 1e-9)) == 1
    assert len(theorem_conditions(labels=2, bins=3, calls=24, exploration=1)) == 2


def test_the_bound_is_above_the_loss_and_meets_it_with_many_answers():
    p, sigma2 = np.array([0.5, 0.5]), np.array([0.1, 0.2])
    for n in (10, 1000, 10**8):
        loss = (p**2 * sigma2 / n).sum()
        assert loss_bound(p, [n, n], sigma2) > loss
    assert loss_bound(p, [n, n], sigma2) == pytest.approx(loss, rel=1e-2)


def test_an_unasked_partition_has_no_bound():
    assert loss_bound([0.5, 0.5], [0, 3], [0.1, 0.1]) == np.inf
    with pytest.raises(InputError, match="delta"):
        loss_bound([1.0], [2], [0.1], delta=0)


def score(k, t):
    """The U-statistic (3.1) of t answers of two kinds, k of them of the first."""
    return 1 - (k * (k - 1) + (t - k) * (t - k - 1)) / (t * (t - 1))


@pytest.mark.parametrize("t", [2, 5, 10, 50, 400])
@pytest.mark.parametrize("p", [0.001, 0.03, 0.3, 0.5])
@pytest.mark.parametrize("delta", [0.3, 0.05, 5e-4, 1e-9])
def test_lemma_three_holds_with_the_fourth_root_by_enumeration(t, p, delta):
    k, truth = np.arange(t + 1), 2 * p * (1 - p)
    chance, seen = binom.pmf(k, t, p), np.maximum(score(k, t), 0)
    radius = np.sqrt(np.log(2 / delta) / (2 * t))
    assert chance[np.abs(seen - truth) > radius].sum() <= delta
    assert chance[np.abs(np.sqrt(seen) - np.sqrt(truth)) > np.sqrt(radius)].sum() <= delta
    # and so the bound on the loss holds, too
    bound = np.array([loss_bound([1.0], [t], [one], delta=delta) for one in seen])
    assert chance[bound < truth / t].sum() <= delta


def test_lemma_three_is_false_as_it_is_printed():
    t, p, delta = 10, 0.3, 5e-4
    k = np.arange(t + 1)
    apart = np.abs(np.sqrt(np.maximum(score(k, t), 0)) - np.sqrt(2 * p * (1 - p)))
    assert binom.pmf(k, t, p)[apart > np.sqrt(np.log(2 / delta) / (2 * t))].sum() == pytest.approx(
        0.7**10, rel=1e-3
    )


@pytest.mark.parametrize("calls", [200, 1000, 4000])
def test_theorem_two_bounds_the_loss_of_the_algorithm(calls):
    sizes, rates = np.array([500, 300, 200]), np.array([0.5, 0.1, 0.3])
    of = np.repeat(np.arange(3), sizes)
    answers = np.concatenate(
        [np.arange(n) < round(n * rate) for n, rate in zip(sizes, rates, strict=True)]
    ).astype(int)
    exploration = 2 * np.log(2) + np.log(3) + 2.25 * np.log(calls) + 0.01
    assert theorem_conditions(labels=2, bins=2, calls=calls, exploration=exploration) == ()
    plan = Plan(
        strata=Strata(of),
        policy=Masa(exploration=exploration),
        budget=Budget(calls=calls),
        n_outcomes=2,
        replacement=True,
    )
    p, sigma = sizes / 1000, np.sqrt(2 * rates * (1 - rates))
    seen = replay(plan, answers, runs=400, rng=1).observed()
    # Lemma 6: no partition is asked much less than the optimum would ask it.
    best = optimal_allocation(p, sigma, calls=calls)
    least = (p * sigma).min() / (p * sigma).sum()
    wider = 1 + 12 / calls + 4 / sigma.min() * (2 * exploration / (calls * least)) ** 0.25
    assert (best / seen.asked).max() <= wider
    # Theorem 2: nor does the loss of the stratified mean exceed its bound. The loss sums over
    # partitions.
    means = seen.new / seen.answered[..., None]
    truth = np.stack([1 - rates, rates], axis=1)
    loss = (p[:, None] ** 2 * (means - truth) ** 2).sum(axis=(1, 2))
    best_loss = optimal_loss(p, sigma, calls=calls)
    assert loss.mean() <= theorem_bound(p, sigma, labels=2, calls=calls, exploration=exploration)
    # The constants of the theorem are loose; what is left above the optimum is small, and falls
    # faster than 1/N.
    assert loss.mean() / best_loss <= 1.3
    assert loss.mean() >= best_loss * (1 - 4 * loss.std() / loss.mean() / 20)


def test_the_bound_of_the_theorem_refuses_what_it_is_not_about():
    with pytest.raises(InputError, match="uncertain"):
        theorem_bound([0.5, 0.5], [0.0, 0.5], labels=2, calls=100, exploration=1)
    with pytest.raises(InputError, match="more than 4 L K = 8"):
        theorem_bound([0.5, 0.5], [0.1, 0.5], labels=2, calls=8, exploration=1)
