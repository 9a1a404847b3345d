import numpy as np
import pytest

from tallystick import compare
from tallystick.results import Unknown
from tallystick.verbs.compare import Board, Settings
from tallystick.verbs.compare.ranking import rank


def clustered(clusters, per=20, gap=0.3, seed=0):
    rng = np.random.default_rng(seed)
    lead = np.repeat(gap + rng.normal(0, 0.05, clusters), per)
    u = rng.random((clusters * per, 2))
    scores = np.stack([u[:, 0] < 0.5 + lead / 2, u[:, 1] < 0.5 - lead / 2], axis=1).astype(float)
    names = tuple(f"d{i}" for i in np.repeat(np.arange(clusters), per))
    return Board(names=("x", "y"), scores=scores, clusters=names)


def test_a_cluster_column_means_new_clusters_by_default():
    result = rank(clustered(12))
    assert (result.population, result.estimand, result.clusters) == (
        "new clusters",
        "cluster mean",
        12,
    )
    assert "on 12 clusters (240 items), every cluster counting once" in result.verdict
    assert all(row.item_score is not None for row in result.models)
    assert rank(clustered(12), settings=Settings(population="items")).population == (
        "new items of these clusters"
    )


def test_a_verdict_says_which_cluster_would_undo_it():
    result = rank(clustered(12))
    pair = result.pairs[0]
    assert result.decision == "decided"
    assert pair.holds_below > 0.1
    size = f"{100 * pair.holds_below:.1f} points or more"
    assert f"It holds unless one more cluster favours y by {size}." in result.verdict
    assert any("collapses on clusters rarer than 1 in 4" in one for one in result.assumptions)


def test_fewer_than_six_clusters_give_no_verdict_but_their_scores():
    result = rank(clustered(5))
    assert result.decision == "unknowable"
    assert "5 clusters cannot show which model is better on new clusters" in result.verdict
    assert "at least 6, and 12 to be useful" in result.verdict
    assert [row.cluster for row in result.per_cluster] == [f"d{i}" for i in range(5)]
    assert isinstance(result.models[0].interval, Unknown)
    assert isinstance(result.pairs[0].p_value, Unknown)
    assert result.to_dict()["models"][0]["interval"] is None
    assert result.figures() == ()
    assert result.summary()


def test_unbounded_scores_of_few_clusters_are_compared_by_their_typical_ratio():
    rng = np.random.default_rng(1)
    times = rng.lognormal(0, 0.2, (240, 2)) * [1.0, 2.0]
    board = Board(names=("x", "y"), scores=times, clusters=tuple(np.arange(240) % 12))
    result = rank(board, settings=Settings(better="lower"))
    assert result.estimand == "ratio"
    assert result.contenders == ("x",)
    assert result.pairs[0].ratio == pytest.approx(0.5, abs=0.05)


def test_without_true_differences_new_clusters_err_rarely_where_items_err_often():
    """Documents that favour one model or the other: 20 of them, no true difference."""
    rng = np.random.default_rng(7)
    wrong = {"clusters": 0, "items": 0}
    for _ in range(120):
        lead = np.repeat(rng.normal(0, 0.25, 20), 25)
        u = rng.random((500, 2))
        scores = np.stack([u[:, 0] < 0.5 + lead, u[:, 1] < 0.5 - lead], axis=1).astype(float)
        board = Board(names=("x", "y"), scores=scores, clusters=tuple(np.repeat(np.arange(20), 25)))
        for population in wrong:
            found = rank(board, settings=Settings(population=population))
            wrong[population] += found.decision == "decided"
    assert wrong["clusters"] <= 13  # the 1e-3 quantile of Binomial(120, .05) is 14
    assert wrong["items"] > 40


def test_evaluate_takes_the_weight_of_clusters():
    rng = np.random.default_rng(3)
    table = {
        "doc": [f"d{i}" for i in np.repeat(np.arange(8), [5, 5, 5, 5, 5, 5, 5, 200])],
        "a": rng.integers(0, 2, 235),
        "b": rng.integers(0, 2, 235),
    }
    equal = compare.evaluate(table, cluster="doc")
    items = compare.evaluate(table, cluster="doc", cluster_weight="items")
    assert (equal.estimand, items.estimand) == ("cluster mean", "mean")
    assert items.models[0].score == pytest.approx(
        next(row.item_score for row in equal.models if row.name == items.models[0].name)
    )
