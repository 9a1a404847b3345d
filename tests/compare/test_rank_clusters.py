import numpy as np

from tallystick.verbs.compare import Board, CompareQuestion, rank


def clustered(clusters, per=20, gap=0.3, seed=0):
    rng = np.random.default_rng(seed)
    lead = np.repeat(gap + rng.normal(0, 0.05, clusters), per)
    u = rng.random((clusters * per, 2))
    scores = np.stack([u[:, 0] < 0.5 + lead / 2, u[:, 1] < 0.5 - lead / 2], axis=1).astype(float)
    names = tuple(f"d{i}" for i in np.repeat(np.arange(clusters), per))
    return Board(names=("x", "y"), scores=scores, clusters=names)


def test_a_cluster_column_means_new_clusters_by_default():
    result = rank(clustered(12))
    assert (result.population, result.sample, result.clusters) == ("new", "clusters", 12)
    assert result.estimand == "cluster mean"
    assert "on 12 clusters (240 items), every cluster counting once" in result.verdict
    assert all(row.item_score is not None for row in result.models)
    these = rank(clustered(12), question=CompareQuestion(population="these"))
    assert (these.population, these.decision) == ("these", "decided")
    assert these.models[0].interval.width == these.pairs[0].interval.width == 0


def test_unbounded_scores_of_few_clusters_are_compared_by_the_mean():
    rng = np.random.default_rng(1)
    times = rng.lognormal(0, 0.2, (240, 2)) * [1.0, 2.0]
    board = Board(names=("x", "y"), scores=times, clusters=tuple(np.arange(240) % 12))
    result = rank(board, question=CompareQuestion(lower_is_better=True))
    assert result.estimand == "cluster mean"
    assert result.contenders == ("x",)
    assert result.pairs[0].interval.method == "t"
