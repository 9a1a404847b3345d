import numpy as np
import pytest

from tallystick.errors import BudgetError, InputError
from tallystick.sampling import Flips, Masa, Sampler
from tallystick.verbs.shift import AskDesign, Items, design
from tallystick.verbs.shift.design import outcome, weight_matrix


def test_masa_has_a_stratum_for_each_label_and_bin(items):
    plan = design(items, calls=200, how=AskDesign(strategy="masa", bins=4))
    assert len(plan.strata) == 3 * 4
    assert plan.n_outcomes == 4  # answers only: O(L² K) numbers in all
    assert plan.policy == Masa()
    assert plan.baseline is None


def test_ours_learns_from_old_answers(items):
    plan = design(items, calls=200, how=AskDesign())
    assert isinstance(plan.policy, Flips)
    assert plan.baseline is not None


def test_without_old_answers_ours_is_refused(items):
    past = Items.of(["a", "b"] * 20, matrix=np.eye(2) * 20)
    with pytest.raises(InputError, match="masa"):
        design(past, calls=20, how=AskDesign())


def test_a_budget_below_two_a_stratum_is_refused(items):
    with pytest.raises(BudgetError, match="18 calls"):
        design(items, calls=17, how=AskDesign(strategy="masa"))


def test_uniform_ignores_strata_and_equal_splits_by_label(items):
    assert len(design(items, calls=10, how=AskDesign(strategy="uniform")).strata) == 1
    assert len(design(items, calls=10, how=AskDesign(strategy="equal")).strata) == 3


def test_an_unknown_strategy_is_refused():
    with pytest.raises(InputError, match="strategy"):
        AskDesign(strategy="best")


def test_mixed_strata_tell_the_labels_apart():
    rng = np.random.default_rng(0)
    truth = np.repeat(["a", "b", "c"], [200, 3, 3])  # two labels too rare for strata of their own
    items = Items.of(truth, old=rng.permutation(truth))
    plan = design(items, calls=40, how=AskDesign())
    assert plan.n_outcomes == 3 * 4
    assert outcome(plan, items, 205, 1) == 2 * 4 + 1


@pytest.mark.parametrize("strategy", ["ours", "masa", "uniform", "proportional", "equal"])
def test_every_strategy_spends_its_budget(items, strategy):
    plan = design(items, calls=60, how=AskDesign(strategy=strategy))
    sampler = Sampler(plan, rng=0)
    while batch := sampler.ask():
        sampler.tell([(item, outcome(plan, items, item, int(items.truth[item]))) for item in batch])
    assert len(set(sampler.items)) == 60


def test_weights_lead_questions_to_what_matters(items):
    def asked(weights):
        plan = design(items, calls=200, how=AskDesign(strategy="masa", weights=weights))
        sampler = Sampler(plan, rng=0)
        rng = np.random.default_rng(1)
        while batch := sampler.ask():
            sampler.tell([(item, int(rng.integers(3))) for item in batch])
        return np.bincount(items.truth[sampler.items], minlength=3)

    four = items.labels.index("four")
    assert asked("four>five")[four] > 1.5 * asked(None)[four]


def test_weights_are_read_or_refused():
    assert weight_matrix("accuracy", ["a", "b"]).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert weight_matrix("a>(other)", ["a", "b"])[0, 2] == 1
    assert weight_matrix([[1, 2], [3, 4]], ["a", "b"]).tolist() == [[1, 2, 0], [3, 4, 0]]
    for bad in ("a>c", "a", [[1.0]], [[0, 0], [0, 0]], [[-1, 0], [0, 1]]):
        with pytest.raises(InputError):
            weight_matrix(bad, ["a", "b"])
