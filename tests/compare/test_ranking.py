import itertools
import json

import numpy as np
import pytest
from scipy.stats import ttest_rel

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Unknown, to_json
from tallystick.stats.pairs import pairs_of_items
from tallystick.table import Moments
from tallystick.verbs.compare import Board, CompareQuestion, evaluate, leaderboard


def board(n=600, accuracy=(0.9, 0.7, 0.69, 0.4), seed=0):
    difficulty = np.random.default_rng(seed).random(n)
    noise = np.random.default_rng(seed + 1).random((n, len(accuracy)))
    scores = (0.7 * difficulty[:, None] + 0.3 * noise < np.array(accuracy)).astype(float)
    return Board(names=tuple("abcdefgh"[: len(accuracy)]), scores=scores)


def test_a_leaderboard_orders_ranks_and_tiers():
    result = evaluate(board())
    assert [row.name for row in result.models] == ["a", "b", "c", "d"]
    assert result.contenders == ("a",)
    assert [row.rank_interval for row in result.models] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert result.tiers == (("a",), ("b", "c"), ("d",))
    assert result.pair("d", "a").verdict == "a is better"
    assert 0 < result.detectable_difference < 0.1


def test_moments_merged_from_shards_give_the_same_answer():
    scores = board().scores
    columns = {name: scores[:, j] for j, name in enumerate("abcd")}
    shards = [
        Moments.of({name: x[part] for name, x in columns.items()})
        for part in (slice(0, 100), slice(100, None))
    ]
    assert (
        leaderboard(shards[1] + shards[0]).to_dict() == leaderboard(Moments.of(columns)).to_dict()
    )


def test_perfect_and_hopeless_models_have_no_empty_interval():
    scores = np.stack([np.ones(30), np.zeros(30), np.ones(30)], axis=1)
    result = evaluate(Board(names=("right", "wrong", "also"), scores=scores))
    assert all(row.interval.width > 0.05 for row in result.models)
    assert all(row.interval.width > 0.05 for row in result.pairs)
    assert result.contenders == ("right", "also")
    assert any(
        "right, wrong, also: the same score on every item" in text for text in result.warnings
    )


def test_bounded_scores_that_never_differ_have_no_empty_interval():
    scores = np.tile(np.random.default_rng(0).random((50, 1)), (1, 2))
    result = evaluate(
        Board(names=("x", "y"), scores=scores), question=CompareQuestion(bounds=(0.0, 1.0))
    )
    assert result.pairs[0].interval.width > 0.05
    assert result.decision == "undecided"


@pytest.mark.parametrize(
    ("names", "scores", "words"),
    [
        (("x",), [[1.0], [0.0]], "at least two models"),
        (("x", "y"), [[1.0, 0.0]], "at least two items"),
        (("x", "x"), [[1.0, 0.0]], "two models are called 'x'"),
    ],
)
def test_what_cannot_be_compared_is_refused(names, scores, words):
    with pytest.raises(InputError, match=words):
        evaluate(Board(names=names, scores=np.array(scores)))


def test_scores_outside_the_bounds_are_refused_by_item():
    with pytest.raises(InputError, match=r"item 'q2': the score 1.5 of 'y' is outside the bounds"):
        evaluate(
            Board(names=("x", "y"), scores=np.array([[0, 1.0], [0, 1.5]]), items=("q1", "q2")),
            question=CompareQuestion(bounds=(0, 1)),
        )


def test_a_constant_real_score_is_pointed_out():
    scores = np.stack([np.full(40, 0.37), np.random.default_rng(0).random(40)], axis=1)
    result = evaluate(
        Board(names=("x", "y"), scores=scores), question=CompareQuestion(bounds=(0, 1))
    )
    assert any("x: the same score on every item" in text for text in result.warnings)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("models", [2, 3])
def test_unbounded_scores_that_differ_alike_on_every_item_are_not_told_apart(scale, models):
    loss = np.random.default_rng(0).random((50, 1))
    scores = scale * np.hstack([loss, loss + 0.3, np.full((50, 1), 0.4)])
    result = evaluate(Board(names=tuple("xyz"[:models]), scores=scores[:, :models]))
    row = result.pair("x", "y")
    assert tuple(row.interval) == tuple(row.simultaneous) == (-np.inf, np.inf)
    assert (row.p_value, row.adjusted_p, row.verdict) == (1.0, 1.0, "not settled")
    assert json.loads(to_json(result.to_dict()))["pairs"]
    if models == 3:
        flat = next(row for row in result.models if row.name == "z")
        assert tuple(flat.interval) == (-np.inf, np.inf)


def test_a_model_of_one_score_has_no_score_without_doubt_on_new_clusters_either():
    scores = np.stack([np.full(60, 0.5), np.random.default_rng(0).random(60)], axis=1)
    clustered = Board(names=("x", "y"), scores=scores, clusters=tuple(range(12)) * 5)
    for bounds, width in (((0.0, 1.0), 0.3), (None, np.inf)):
        result = evaluate(clustered, question=CompareQuestion(bounds=bounds))
        assert next(row for row in result.models if row.name == "x").interval.width >= width


def test_how_many_more_are_needed_is_said_in_what_was_drawn():
    rng = np.random.default_rng(3)
    shares = np.clip(np.stack([rng.normal(0.52, 0.2, 90), rng.normal(0.5, 0.2, 90)], axis=1), 0, 1)
    gap = shares[:, 0] - shares[:, 1]
    bounded = CompareQuestion(bounds=(0.0, 1.0))
    alone = evaluate(Board(names=("y", "x"), scores=shares), question=bounded)
    assert alone.decision == "undecided"
    wanted = ((1.96 + 0.8416) * gap.std(ddof=1) / gap.mean()) ** 2 - 90
    assert alone.needed.count == pytest.approx(wanted, rel=0.01)
    assert alone.needed.of.startswith("items, if x stays")
    clustered = Board(names=("y", "x"), scores=shares, clusters=tuple(range(18)) * 5)
    new = evaluate(clustered, question=bounded)
    assert new.needed.of.startswith("clusters, if x stays")
    assert new.needed.count == pytest.approx(18 * (wanted + 90) / 90 - 18, rel=0.5)


def test_a_difference_beyond_the_bounds_is_not_called_detectable():
    few = Board(
        names=tuple("xyz"), scores=np.array([[1, 0.5, 0], [0, 0.5, 1], [1, 0.5, 0.5], [0, 1, 0]])
    )
    result = evaluate(few, question=CompareQuestion(bounds=(0, 1)))
    assert isinstance(result.detectable_difference, Unknown)


def test_equal_weights_are_the_unweighted_answer():
    held = board(accuracy=(0.62, 0.55))
    result = evaluate(Board(names=held.names, scores=held.scores, weights=np.full(600, 2.0)))
    gap = held.scores[:, 0] - held.scores[:, 1]
    half = 1.9639 * gap.std(ddof=1) / np.sqrt(600)
    assert result.pairs[0].difference == pytest.approx(gap.mean())
    assert result.pairs[0].interval.low == pytest.approx(gap.mean() - half, abs=1e-4)


def test_a_board_of_hundreds_lists_the_pairs_that_one_looks_for():
    rng = np.random.default_rng(0)
    names = tuple(f"m{j}" for j in range(220))
    large = Board(
        names=names, scores=(rng.random((60, 220)) < np.linspace(0.1, 0.9, 220)).astype(float)
    )
    result = evaluate(large, question=CompareQuestion(draws=1000))
    best = [row.name for row in result.models]
    listed = {(row.a, row.b) for row in result.pairs}
    assert {(best[0], name) for name in best[1:]} <= listed
    assert set(itertools.pairwise(best)) <= listed
    assert len(listed) == len(result.pairs) == 780 + 180 + 180
    table = pairs_of_items(large.moments(), bounds=None, alpha=0.05, rng=as_rng(0), draws=1000)
    assert (
        f"{int((table.adjusted_p <= 0.05).sum()):,} of 24,090 pairs are settled" in result.verdict
    )
    assert any("of 24,090 pairs are listed" in text for text in result.warnings)
    assert [figure.size for figure in result.figures()] == [220, 219]
    assert len(result.rows()) == 220
    with pytest.raises(InputError, match="is not listed: the models are"):
        result.pair(best[60], best[90])


def test_each_pair_of_scores_is_tested_by_what_differs_in_it():
    # a and b differ on most rows: plain t. b and c differ on two: a pseudo-item stays.
    draw = np.random.default_rng(3)
    b = np.round(draw.random(20), 1)
    a, c = np.clip(b + draw.choice([0.0, 0.1, 0.2], 20), 0, 1), b.copy()
    c[:2] = 1 - c[:2]
    scores = np.column_stack([a, b, c])
    result = evaluate(Board(names=("a", "b", "c"), scores=scores), bounds=(0.0, 1.0))
    assert result.pair("a", "b").p_value == pytest.approx(ttest_rel(a, b).pvalue)
    assert result.pair("b", "c").p_value > ttest_rel(b, c).pvalue
    assert any("where few rows differ" in text for text in result.assumptions)
