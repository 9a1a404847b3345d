import numpy as np
import pytest

from tallystick import compare
from tallystick.errors import InputError
from tallystick.stats.pairs import fit_scores
from tallystick.verbs.compare import Board, CompareQuestion, rank
from tallystick.verbs.compare.board import pass_board
from tallystick.verbs.compare.question import PassMetric


def board(right, runs=10):
    c = np.array(right, dtype=float)
    n = np.full(c.shape, float(runs))
    names = tuple("abcdef"[: c.shape[1]])
    return Board(names=names, scores=c / n, right=c, runs=n)


def test_pass_at_k_is_the_unbiased_item_value():
    found = pass_board(board([[3, 3]]), PassMetric("pass@k", 5))
    assert found.scores.round(4).tolist() == [[0.9167, 0.9167]]
    found = pass_board(board([[3, 3]]), PassMetric("pass^k", 2))
    assert found.scores.round(4).tolist() == [[0.0667, 0.0667]]


def test_items_that_were_run_several_times_have_the_interval_that_every_verb_gives_their_means():
    c = np.array([0, 3, 10, 5, 1, 8])
    held = board(np.stack([c, c[::-1]], axis=1))
    result = rank(held, question=CompareQuestion(metric="pass@5"))
    scores = pass_board(held, PassMetric("pass@k", 5)).scores
    fit = fit_scores(scores, bounds=(0, 1))
    for row in result.models:
        j = held.place(row.name)
        assert row.score == pytest.approx(scores[:, j].mean())
        assert tuple(row.interval) == pytest.approx(tuple(fit.means().interval[j]))
    a, b = (held.place(name) for name in (result.pairs[0].a, result.pairs[0].b))
    assert tuple(result.pairs[0].interval) == pytest.approx(tuple(fit.difference(a, b).interval[0]))
    assert (result.metric, result.estimand) == ("pass@5", "pass@k")


def test_runs_of_a_wide_table_are_counted_by_model():
    table = {
        "item": ["q1", "q1", "q1", "q2", "q2", "q2"] * 1,
        "epoch": [1, 2, 3] * 2,
        "a": [1, 1, None, 0, 1, 0],
        "b": [0, 1, 0, 0, 0, 1],
    }
    found = Board.of(table, item="item", replicate="epoch", models=["a", "b"])
    assert found.runs.tolist() == [[2.0, 3.0], [3.0, 3.0]]
    assert found.right.tolist() == [[2.0, 1.0], [1.0, 1.0]]
    assert found.scores.round(3).tolist() == [[1.0, 0.333], [0.333, 0.333]]


def test_pass_at_k_without_runs_is_refused():
    with pytest.raises(InputError, match="needs several runs per item"):
        compare({"a": [1, 0, 1], "b": [0, 0, 1]}, metric="pass@2")
