import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Population, path
from tallystick.papers.dynamic_benchmarks.experiment import curves, plurality
from tallystick.papers.dynamic_benchmarks.rollouts import RandomErrors, roll


def test_with_two_labels_plurality_is_majority_and_agrees_with_the_rollouts():
    done = roll(
        Population.uniform(50), path(6), RandomErrors(0.2), rollouts=5, rng=0, keep_errors=True
    )
    seen = curves(done.error_sets.astype(int), np.zeros(50, dtype=int))
    for name in ("risk", "model_risk", "epsilon"):
        assert getattr(seen, name) == pytest.approx(getattr(done, name), abs=1e-12), name
    assert seen.binary_risk == pytest.approx(seen.risk)


def test_plurality_forgives_scattered_errors_that_a_binary_majority_counts():
    calls = np.array([[["a"], ["a"], ["b"], ["c"], ["d"]]])
    seen = curves(calls, np.array(["a"]))
    assert seen.risk[0].tolist() == [0, 0, 0, 0, 0]
    assert seen.binary_risk[0].tolist() == [0, 0, 0, 0.5, 1]


def test_the_plurality_of_items_has_the_risk_of_the_curves():
    rng = np.random.default_rng(0)
    calls, truth = rng.integers(0, 4, size=(3, 6, 40)), rng.integers(0, 4, size=40)
    for t in range(1, 7):
        assert plurality(calls[:, :t], truth).mean(axis=1) == pytest.approx(
            curves(calls, truth).risk[:, t - 1]
        )


def test_ties_of_a_plurality_are_split():
    calls = np.array([[[0], [1], [2]]])
    assert curves(calls, np.array([0])).risk[0].tolist() == pytest.approx([0, 1 / 2, 2 / 3])


def test_a_static_control_is_held_against_the_plain_data():
    calls = np.array([[[1, 0, 0, 0], [1, 0, 0, 0]]])
    plain = curves(calls, np.zeros(4, dtype=int), trained_on_path=False)
    on_path = curves(calls, np.zeros(4, dtype=int))
    assert plain.epsilon[0].tolist() == [0.25, 0.25]
    assert on_path.epsilon[0].tolist() == [0.25, 0.625]


def test_wrong_shapes_are_refused():
    with pytest.raises(InputError, match="shape"):
        curves(np.zeros((2, 3)), np.zeros(3))
