import numpy as np
import pytest

from tallystick import shift


def result(deterministic, n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(["a", "b", "c"], n)
    old = np.where(rng.random(n) < 0.8, truth, "a")
    new = np.where(rng.random(n) < 0.9, old, "b")
    table = {"gold": truth.tolist(), "old": old.tolist(), "new": new.tolist()}
    return shift.evaluate(
        table, truth="gold", old="old", new="new", deterministic=deterministic
    ), table


def test_with_every_answer_known_of_a_deterministic_api_the_numbers_are_exact():
    found, table = result(True)
    new, old, gold = (np.array(table[name]) for name in ("new", "old", "gold"))
    assert found.accuracy_change.estimate == pytest.approx(
        np.mean(new == gold) - np.mean(old == gold)
    )
    assert found.flip_rate.estimate == pytest.approx(np.mean(new != old))
    low, high = found.accuracy_change.interval
    assert low == pytest.approx(high)


def test_rows_of_the_matrix_and_recalls_follow_from_its_cells():
    found, table = result(True)
    matrix = np.array(found.shift)
    assert np.allclose(matrix.sum(axis=1), 0)
    assert np.trace(matrix) == pytest.approx(found.accuracy_change.estimate)
    share = np.mean(np.array(table["gold"]) == "b")
    at = found.labels.index("b")
    assert found.recall_change["b"].estimate == pytest.approx(matrix[at, at] / share)


def test_answers_that_may_be_noise_leave_a_doubt():
    found, _ = result(False)
    low, high = found.accuracy_change.interval
    assert high - low > 0.01
