import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.experiment import (
    EstimatorTrainer,
    fresh_copy,
    refuse_weight_blind,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = (X[:, 0] + 0.5 * RNG.standard_normal(120) > 0).astype(int)


class Pretender(GaussianNB):
    """Takes sample weights, and drops them."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


def test_a_learner_without_sample_weights_is_refused():
    with pytest.raises(InputError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        EstimatorTrainer(KNeighborsClassifier(), X, Y)


def test_a_learner_that_takes_weights_and_ignores_them_is_refused():
    with pytest.raises(InputError, match="ignores sample weights"):
        refuse_weight_blind(EstimatorTrainer(Pretender(), X, Y), Y, seed=0)


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), LogisticRegression(), DecisionTreeClassifier()]
)
def test_honest_learners_pass_even_if_they_memorise(estimator):
    refuse_weight_blind(EstimatorTrainer(estimator, X, Y), Y, seed=0)


def test_a_black_box_with_the_same_mistakes_under_any_weights_is_refused():
    with pytest.raises(InputError, match="ignores sample weights"):
        refuse_weight_blind(lambda weights, rng: np.zeros(120, dtype=int), Y, seed=0)
    refuse_weight_blind(lambda weights, rng: Y, Y, seed=0)  # no mistakes: nothing to tell it by


def test_every_random_state_is_seeded_from_the_generator_and_the_original_is_untouched():
    tree = DecisionTreeClassifier(max_features=1)
    copies = [fresh_copy(tree, np.random.default_rng(seed)).random_state for seed in (1, 1, 2)]
    assert copies[0] == copies[1] != copies[2]
    assert tree.random_state is None


def test_weights_move_the_fit():
    trainer = EstimatorTrainer(LogisticRegression(), X, Y)
    heavy = np.where(Y == 1, 1.0, 1e-3)
    calls = trainer(heavy / heavy.sum(), np.random.default_rng(0))
    assert calls.mean() > trainer(np.full(120, 1 / 120), np.random.default_rng(0)).mean()


def test_one_class_is_refused():
    with pytest.raises(InputError, match="two classes"):
        refuse_weight_blind(lambda weights, rng: np.zeros(3), np.zeros(3), seed=0)
