"""Section 5 with real learners: curves, learners that heed weights, the static control."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Population, path
from tallystick.papers.dynamic_benchmarks.rollouts import (
    EstimatorTrainer,
    RandomErrors,
    curves,
    fresh_copy,
    learner_rollouts,
    plurality,
    refuse_weight_blind,
    roll,
    run_experiment,
)

X, Y = (part[:600] for part in load_digits(return_X_y=True))
TREE = DecisionTreeClassifier(max_depth=4, max_features="log2")
RNG = np.random.default_rng(0)
U = RNG.standard_normal((120, 3))
V = (U[:, 0] + 0.5 * RNG.standard_normal(120) > 0).astype(int)


def test_with_two_labels_plurality_is_majority_and_agrees_with_the_rollouts():
    people = Population.uniform(50)
    done = roll(people, path(6), RandomErrors(0.2), rollouts=5, rng=0, keep_errors=True)
    seen = curves(done.error_sets.astype(int), np.zeros(50, dtype=int))
    for name in ("risk", "model_risk", "epsilon"):
        assert getattr(seen, name) == pytest.approx(getattr(done, name), abs=1e-12), name
    assert seen.binary_risk == pytest.approx(seen.risk)


def test_plurality_forgives_scattered_errors_splits_ties_and_has_the_risk_of_the_curves():
    seen = curves(np.array([[["a"], ["a"], ["b"], ["c"], ["d"]]]), np.array(["a"]))
    assert seen.risk[0].tolist() == [0, 0, 0, 0, 0]
    assert seen.binary_risk[0].tolist() == [0, 0, 0, 0.5, 1]
    ties = curves(np.array([[[0], [1], [2]]]), np.array([0])).risk[0]
    assert ties.tolist() == pytest.approx([0, 1 / 2, 2 / 3])
    rng = np.random.default_rng(0)
    calls, truth = rng.integers(0, 4, size=(3, 6, 40)), rng.integers(0, 4, size=40)
    for t in range(1, 7):
        risk = curves(calls, truth).risk[:, t - 1]
        assert plurality(calls[:, :t], truth).mean(axis=1) == pytest.approx(risk)
    with pytest.raises(InputError, match="shape"):
        curves(np.zeros((2, 3)), np.zeros(3))


def test_a_static_control_is_held_against_the_plain_data():
    calls, truth = np.array([[[1, 0, 0, 0], [1, 0, 0, 0]]]), np.zeros(4, dtype=int)
    assert curves(calls, truth, trained_on_path=False).epsilon[0].tolist() == [0.25, 0.25]
    assert curves(calls, truth).epsilon[0].tolist() == [0.25, 0.625]


# Learners.


class Pretender(GaussianNB):
    """Takes sample weights, and drops them."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EstimatorTrainer(KNeighborsClassifier(), U, V), r"KNeighborsClassifier\.fit takes no sample_weight"),
        (lambda: refuse_weight_blind(EstimatorTrainer(Pretender(), U, V), V, seed=0), "ignores sample weights"),
        (lambda: refuse_weight_blind(lambda weights, rng: np.zeros(120, int), V, seed=0), "ignores sample weights"),
        (lambda: refuse_weight_blind(lambda weights, rng: np.zeros(3), np.zeros(3), seed=0), "two classes"),
        (lambda: run_experiment(TREE, X[:100], Y[:100], rounds=0, rollouts=2, rng=0), "at least 1"),
        (lambda: run_experiment(TREE, np.zeros((40, 1)), np.arange(40) % 2, rounds=2, rollouts=1, rng=0), "base model gets only"),
    ],
)  # fmt: skip
def test_a_learner_that_cannot_follow_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("learner", [GaussianNB(), LogisticRegression(), DecisionTreeClassifier()])
def test_honest_learners_pass_even_if_they_memorise_and_weights_move_their_fit(learner):
    trainer = EstimatorTrainer(learner, U, V)
    refuse_weight_blind(trainer, V, seed=0)
    refuse_weight_blind(lambda weights, rng: V, V, seed=0)  # no mistakes: nothing to tell it by
    heavy = np.where(V == 1, 1.0, 1e-3)
    calls = trainer(heavy / heavy.sum(), np.random.default_rng(0))
    assert calls.mean() >= trainer(np.full(120, 1 / 120), np.random.default_rng(0)).mean()


def test_every_random_state_is_seeded_from_the_generator_and_the_original_is_untouched():
    tree = DecisionTreeClassifier(max_features=1)
    copies = [fresh_copy(tree, np.random.default_rng(seed)).random_state for seed in (1, 1, 2)]
    assert copies[0] == copies[1] != copies[2]
    assert tree.random_state is None


def test_the_path_beats_the_static_ensemble_and_both_beat_one_model():
    done = run_experiment(TREE, X, Y, rounds=9, rollouts=4, rng=0)
    on_path, static = done.path.risk.mean(axis=0), done.static.risk.mean(axis=0)
    assert on_path[-1] < static[-1] < static[0]
    assert done.kept.sum() == done.labels.size == done.predictions.shape[2]
    assert done.path.epsilon.mean() > 0.1


def test_a_rollout_is_the_same_with_or_without_its_control():
    trainer = EstimatorTrainer(TREE, X[:200], Y[:200])
    asked = {"rounds": 3, "rollouts": 2, "rng": 5}
    alone, none = learner_rollouts(trainer, Y[:200], static=False, **asked)
    both, control = learner_rollouts(trainer, Y[:200], **asked)
    assert (none, control.shape) == (None, both.shape)
    assert np.array_equal(alone, both)
