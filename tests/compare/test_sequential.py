import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats.bets import e_holm
from tallystick.stats.signs import sign_log_e
from tallystick.verbs.compare import Board, CompareQuestion, Sequential, stop_when_clear


def test_batches_change_nothing():
    scores = (np.random.default_rng(0).random((300, 3)) < [0.5, 0.6, 0.8]).astype(float)
    standings = []
    for size in (1, 7, 300):
        race = Sequential("abc", items=300, rng=4)
        while batch := race.ask(size):
            race.tell(batch, scores[batch])
        standings.append(race.standing())
    assert standings[0] == standings[1] == standings[2]


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 300))
@settings(max_examples=40)
def test_the_evidence_of_every_pair_is_that_of_its_discordant_signs(seed, models, items):
    rng = np.random.default_rng(seed)
    scores = (rng.random((items, models)) < rng.random(models)).astype(float)
    names = [str(j) for j in range(models)]
    race = Sequential(names, items=items, rng=seed)
    order = race.ask(items)
    race.tell(order, scores[order])
    first, second = np.triu_indices(models, 1)
    gaps = scores[order][:, first] - scores[order][:, second]
    path = sign_log_e(np.cumsum(gaps > 0, axis=0), np.cumsum(gaps < 0, axis=0))
    expected = e_holm(np.maximum(0.0, path.max(axis=0)))
    found = race.standing().p_values
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        pair = (names[a], names[b]) if gaps[:, i].sum() >= 0 else (names[b], names[a])
        assert found[pair] == expected[i]  # the very same number


def test_every_item_is_asked_once_in_an_order_that_the_seed_decides():
    first, again, other = (Sequential("ab", items=50, rng=seed).ask(50) for seed in (1, 1, 2))
    assert sorted(first) == list(range(50))
    assert first == again != other


def test_scores_in_bounds_run_on_their_moments():
    rng = np.random.default_rng(2)
    board = Board(
        names=("x", "y"), scores=np.stack([rng.beta(5, 2, 3000), rng.beta(2, 2, 3000)], axis=1)
    )
    result = stop_when_clear(board, question=CompareQuestion(bounds=(0.0, 1.0)))
    assert result.best == "x"
    assert result.stopped_at < 1000
    assert result.pairs[0].interval.guarantee == "anytime"
    with pytest.raises(InputError, match="--bounds"):
        stop_when_clear(board)


def test_equal_models_are_rarely_told_apart_however_often_one_looks():
    rng = np.random.default_rng(3)
    stops = 0
    for run in range(100):
        race = Sequential("ab", items=300, rng=run)
        order = race.ask(300)
        race.tell(order, (rng.random((300, 2)) < 0.5).astype(float))
        stops += race.standing().decided
    assert stops <= 13  # a binomial count of 100 at .05 lies above this once in 1600 times


def test_pairs_at_the_stop_are_listed_from_the_top_of_the_board_down():
    scores = (np.random.default_rng(5).random((400, 3)) < [0.3, 0.9, 0.6]).astype(float)
    result = stop_when_clear(Board(names=("low", "high", "mid"), scores=scores))
    assert [(row.a, row.b) for row in result.pairs] == [
        ("high", "mid"),
        ("high", "low"),
        ("mid", "low"),
    ]


def test_what_does_not_become_clear_is_said():
    scores = (np.random.default_rng(4).random((60, 2)) < 0.5).astype(float)
    result = stop_when_clear(Board(names=("x", "y"), scores=scores))
    assert result.decision == "undecided"
    assert result.stopped_at == 60
    assert result.figures()[0].kind == "curve"


def test_what_was_not_asked_cannot_be_told():
    race = Sequential("ab", items=10, rng=0)
    with pytest.raises(InputError, match="was not asked"):
        race.tell([3], [[1, 0]])
    [item] = race.ask()
    with pytest.raises(InputError, match="0 or 1"):
        race.tell([item], [[0.5, 0]])
    race.tell([item], [[1, 0]])
    with pytest.raises(InputError, match="has two answers"):
        race.tell([item], [[1, 0]])
    with pytest.raises(InputError, match="two different names"):
        Sequential(["x", "x"], items=10, rng=0)


def test_one_pair_is_the_sign_test():
    scores = (np.random.default_rng(1).random((200, 2)) < [0.7, 0.5]).astype(float)
    race = Sequential(["x", "y"], items=200, rng=0)
    order = race.ask(200)
    race.tell(order, scores[order])
    signs = scores[order, 0] - scores[order, 1]
    evidence = sign_log_e(np.cumsum(signs > 0), np.cumsum(signs < 0))
    assert race.standing().p_values["x", "y"] == pytest.approx(np.exp(-max(0, evidence.max())))
