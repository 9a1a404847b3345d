import numpy as np

from tallystick.compare import Board, Settings
from tallystick.compare.margins import margin


def scores(n=400, seed=0):
    return np.random.default_rng(seed).random((n, 2))


def test_right_and_wrong_rest_on_exact_intervals():
    board = Board(names=("x", "y"), scores=(scores() < 0.7).astype(float))
    assert margin(board, "x", "y").method == "exact-score"
    assert margin(board, "x", None).method == "clopper-pearson"


def test_a_margin_turns_with_its_sides():
    board = Board(names=("x", "y"), scores=scores(), clusters=tuple(map(str, np.arange(400) % 40)))
    one, other = margin(board, "x", "y"), margin(board, "y", "x")
    assert np.allclose((one.low, one.high), (-other.high, -other.low))


def test_scores_in_bounds_rest_on_betting():
    board = Board(names=("x", "y"), scores=scores())
    settings = Settings(bounds=(0.0, 1.0))
    for right in ("y", None):
        found = margin(board, "x", right, settings=settings)
        assert (found.method, found.guarantee) == ("betting", "exact")


def test_unbounded_scores_name_their_assumption():
    board = Board(names=("x", "y"), scores=scores())
    for right in ("y", None):
        assert margin(board, "x", right).guarantee == "under"
