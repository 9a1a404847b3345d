import numpy as np
import pytest

from tallystick import compare
from tallystick.stats.pairs import sign_flip_table

FIRST = [0.12, 0.05, 0.20, -0.03, 0.08, 0.15, 0.02, 0.10]
SECOND = [0.10, 0.20, 0.15, 0.30, 0.12, 0.25]


def sample(differences):
    d = np.array(differences)
    return np.stack([0.5 + d / 2, 0.5 - d / 2], axis=1)


@pytest.mark.parametrize(
    ("differences", "estimate", "p", "low", "high"),
    [(FIRST, 0.08625, 0.0781, -0.0150, 0.1850), (SECOND, 0.1867, 0.0469, 0.0200, 0.3500)],
)
def test_the_vectors_of_the_page_come_out_of_the_table(differences, estimate, p, low, high):
    table = sign_flip_table(sample(differences), bounds=(0, 1), rng=0)
    assert table.difference[0] == pytest.approx(estimate, abs=5e-5)
    assert table.p_value[0] == pytest.approx(p, abs=5e-5)
    assert tuple(table.intervals[0]) == pytest.approx((low, high), abs=5e-5)


def test_three_models_of_the_page_are_adjusted_together():
    means = np.array(
        [.9, .7, .5, .8, .75, .6, .95, .6, .65, .7, .65, .3,
         .85, .8, .55, .9, .6, .5, .6, .62, .4, .75, .55, .35]
    ).reshape(8, 3)  # fmt: skip
    table = sign_flip_table(means, bounds=(0, 1), rng=0)
    assert table.adjusted_p == pytest.approx([0.0625, 0.0117, 0.03125], abs=5e-5)
    assert table.adjustment == "step-down sign-flips"
    assert tuple(table.simultaneous[1]) == pytest.approx((0.2, 0.45), abs=5e-4)


@pytest.mark.parametrize("models", [2, 5])
@pytest.mark.parametrize("clusters", [8, 20])
def test_the_verb_rests_on_the_table_of_its_cluster_sums(models, clusters):
    """benchmarks/truth/compare_clusters.py measures the table; this holds the verb to it."""
    rng = np.random.default_rng([models, clusters])
    names = [f"m{j}" for j in range(models)]
    right = rng.random((clusters, 5, models)) < 0.6
    rows = {name: right[:, :, j].ravel().astype(int) for j, name in enumerate(names)}
    rows["doc"] = np.repeat([f"d{i:02}" for i in range(clusters)], 5)
    found = compare(rows, cluster="doc", models=names)

    table = sign_flip_table(right.mean(axis=1), bounds=(0.0, 1.0), rng=0)
    wanted = {
        frozenset((names[i], names[j])): p
        for i, j, p in zip(table.first, table.second, table.adjusted_p, strict=True)
    }
    assert {frozenset((p.a, p.b)): p.adjusted_p for p in found.pairs} == pytest.approx(wanted)
