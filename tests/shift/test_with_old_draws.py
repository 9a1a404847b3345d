import numpy as np
import pytest

from tallystick import shift


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(["a", "b"], n)
    other = np.where(truth == "a", "b", "a")
    draw = lambda rate: np.where(rng.random(n) < rate, truth, other).tolist()  # noqa: E731
    return {"gold": truth.tolist(), "old": draw(0.8), "old2": draw(0.8), "new": draw(0.6)}


def test_the_change_is_against_the_mean_of_all_old_draws_and_assumes_no_equal_noise():
    held = table()
    result = shift(held, truth="gold", old="old", new="new", old_draws=("old2",))
    right = {name: np.mean(np.array(held[name]) == np.array(held["gold"])) for name in held}
    expected = right["new"] - (right["old"] + right["old2"]) / 2
    assert result.accuracy_change.estimate == pytest.approx(expected)
    assert not any("as noisy as the new one" in text for text in result.assumptions)
    alone = shift(held, truth="gold", old="old", new="new")
    assert alone.accuracy_change.estimate == pytest.approx(right["new"] - right["old"])


def test_an_unproved_change_beside_old_draws_names_no_cell_and_says_what_old_answers_do():
    rng = np.random.default_rng(1)
    truth = rng.choice(["a", "b"], 300)
    other = np.where(truth == "a", "b", "a")
    old, old2 = (np.where(rng.random(300) < 0.95, truth, other).tolist() for _ in range(2))
    new = np.where(rng.random(300) < 0.93, truth, other).tolist()
    held = {"gold": truth.tolist(), "old": old, "old2": old2, "new": new}
    result = shift(held, truth="gold", old="old", new="new", old_draws=("old2",))
    assert result.changed is None
    assert "of two old answers to an item do" in result.verdict
    assert "What moved" not in result.verdict
    assert not any(cell.survives for cell in result.top_cells)
