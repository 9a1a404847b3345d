import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import BudgetError
from tallystick.sampling import Flips, Masa, Strata
from tallystick.verbs.shift import Items, design
from tallystick.verbs.shift.design import collapse, outcome


def test_masa_has_a_stratum_for_each_label_and_bin(items):
    plan = design(items, calls=200, strategy="masa")
    assert len(plan.strata) == 3 * 3
    assert plan.n_outcomes == 4  # answers only: O(L² K) numbers in all
    assert plan.policy == Masa()
    assert plan.baseline is None


def test_ours_learns_from_old_answers(items):
    plan = design(items, calls=200)
    assert isinstance(plan.policy, Flips)
    assert plan.baseline is not None


def test_a_budget_below_two_a_stratum_is_refused(items):
    with pytest.raises(BudgetError, match="18 calls"):
        design(items, calls=17, strategy="masa")


def test_mixed_strata_tell_the_labels_apart():
    rng = np.random.default_rng(0)
    truth = np.repeat(["a", "b", "c"], [200, 3, 3])  # two labels too rare for strata of their own
    items = Items.of(truth, old=rng.permutation(truth))
    plan = design(items, calls=40)
    assert plan.n_outcomes == 4 * 4
    assert outcome(plan, items, 205, 1) == 2 * 4 + 1


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 999))
def test_collapsed_strata_all_have_two_answers_or_are_whole(sizes, seed):
    rng = np.random.default_rng(seed)
    strata = Strata(np.repeat(np.arange(len(sizes)), sizes), rng.integers(0, 2, len(sizes)))
    answered = np.array([rng.integers(0, size + 1) for size in sizes])
    joined = collapse(strata, answered)
    told = np.concatenate([np.arange(s) < a for a, s in zip(answered, sizes, strict=True)])
    got = np.bincount(joined.of, weights=told)
    assert len(joined) == 1 or (got >= np.minimum(2, joined.sizes)).all()


def test_labels_are_coded_in_order_and_all_else_is_none_of_them():
    items = Items.of(["b", "a", " ", "b"], old=["a", None, "b", "?"])
    assert items.labels == ("a", "b")
    assert items.old.tolist() == [0, 2, 1, 2]
    assert items.columns[-1] == "(other)"
    assert items.known.tolist() == [True, True, False, True]
    assert items.matrix.tolist() == pytest.approx(np.array([[0, 0, 1], [1, 0, 1]]) / 3)
