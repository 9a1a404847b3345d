import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.stats.bets import e_holm
from tallystick.stats.signs import sign_log_e
from tallystick.verbs.compare import Board, CompareQuestion, stop_when_clear


def board(scores):
    return Board(names=tuple(f"m{j}" for j in range(scores.shape[1])), scores=scores)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 120))
@settings(max_examples=20, deadline=None)
def test_the_evidence_of_every_pair_is_that_of_its_discordant_signs(seed, models, items):
    rng = np.random.default_rng(seed)
    scores = (rng.random((items, models)) < rng.random(models)).astype(float)
    found = stop_when_clear(board(scores), CompareQuestion(seed=seed))
    taken = scores[as_rng(seed).permutation(items)[: found.n_items]]
    first, second = np.triu_indices(models, 1)
    gaps = taken[:, first] - taken[:, second]
    path = sign_log_e(np.cumsum(gaps > 0, axis=0), np.cumsum(gaps < 0, axis=0))
    expected = e_holm(np.maximum(0.0, path.max(axis=0)))
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        row = found.pair(f"m{a}", f"m{b}")
        assert row.adjusted_p == expected[i]
        assert (row.verdict == "not settled") == (row.adjusted_p > 0.05)
    # Nobody stops before it is clear, and nobody goes on once it is.
    clear = [
        len(np.unique(np.where(gaps[:n].sum(axis=0) > 0, second, first)[p <= 0.05])) == models - 1
        for n, p in ((len(taken) - 1, e_holm(path[:-1].max(axis=0, initial=0.0))),)
    ]
    assert not any(clear)
    assert (found.decision == "decided") == (len(found.contenders) == 1)
    assert found.decision == "decided" or found.n_items == items


def test_scores_in_bounds_run_on_their_moments():
    rng = np.random.default_rng(2)
    scores = board(np.stack([rng.beta(5, 2, 3000), rng.beta(2, 2, 3000)], axis=1))
    result = stop_when_clear(scores, question=CompareQuestion(bounds=(0.0, 1.0)))
    assert result.contenders == ("m0",)
    assert result.n_items < 1000
    assert result.pairs[0].interval.guarantee == "anytime"
    with pytest.raises(InputError, match="--bounds"):
        stop_when_clear(scores)


def test_what_does_not_become_clear_is_said():
    scores = (np.random.default_rng(4).random((60, 2)) < 0.5).astype(float)
    result = stop_when_clear(board(scores))
    assert result.decision == "undecided"
    assert result.n_items == result.available == 60
    assert "Not clear after 60 of 60 items" in result.verdict


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"clusters": ("a", "b") * 10}, "independent items"),
        ({"weights": np.arange(20.0)}, "independent items"),
    ],
)
def test_what_cannot_be_stopped_early_is_refused(change, said):
    scores = np.tile([[1.0, 0.0], [0.0, 1.0]], (10, 1))
    with pytest.raises(InputError, match=said):
        stop_when_clear(Board(names=("a", "b"), scores=scores, **change))
    with pytest.raises(InputError, match="higher is better"):
        stop_when_clear(board(scores), CompareQuestion(lower_is_better=True))
