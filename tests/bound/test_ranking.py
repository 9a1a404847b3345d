from itertools import product

import numpy as np
import pytest

from tallystick.verbs.bound.thresholds import auc_ends, frechet_auc, mid_ranks

VECTORS = [
    (
        [0.1, 0.4, 0.35, 0.8, 0.5, 0.6, 0.7, 0.9, 0.2, 0.95],
        [0] * 4 + [1] * 6,
        [0.25, 0.7],
        (0.2676, 0.9968),
    ),
    ([0.2, 0.2, 0.9, 0.5, 0.9, 0.9, 0.1], [0] * 3 + [1] * 4, [0.5, 0.75], (0.2111, 0.9667)),
]


@pytest.mark.parametrize(("score", "place", "p", "ends"), VECTORS)
def test_the_vectors_of_the_methods_page_and_its_corrections(score, place, p, ends):
    found = frechet_auc(np.array(score), np.array(place), np.array(p))
    assert found == pytest.approx(ends, abs=5e-5)


@pytest.mark.parametrize("seed", range(12))
def test_the_ends_are_those_of_all_labellings(seed):
    """Every way to place a whole number of positives in each pattern, half of them with ties."""
    draw = np.random.default_rng(seed)
    score = np.round(draw.random(8), 1 if seed % 2 else 6)
    place = np.array([0] * 4 + [1] * 4)
    positives = draw.integers(0, 5, 2)
    if positives.sum() in (0, 8):
        positives = np.array([2, 1])
    found = []
    for y in product((0, 1), repeat=8):
        y = np.array(y)
        if (np.bincount(place, weights=y) == positives).all():
            one, zero = score[y == 1], score[y == 0]
            beats = (one[:, None] > zero).mean() + 0.5 * (one[:, None] == zero).mean()
            found.append(beats)
    ends = frechet_auc(score, place, positives / 4)
    assert ends == pytest.approx((min(found), max(found)), abs=1e-12)


def test_a_class_without_probability_has_no_auc():
    assert np.isnan(frechet_auc(np.array([0.1, 0.2]), np.array([0, 0]), np.array([0.0]))).all()
    ends = auc_ends(np.array([0.1, 0.2]), np.array([0, 0]), np.array([1.0]), np.array([2.0]), rng=1)
    assert ends is None


def test_mid_ranks_are_the_share_below_with_ties_at_half():
    assert mid_ranks(np.array([3.0, 1.0, 1.0])).tolist() == pytest.approx([5 / 6, 1 / 3, 1 / 3])


def world(draw, n, patterns=16):
    law = np.random.default_rng(7)
    p, mean = law.uniform(0.1, 0.9, patterns), law.normal(0, 1, patterns)
    place = draw.integers(0, patterns, n)
    return draw.normal(mean[place], 1), place, p


def test_the_interval_holds_both_sharp_ends_where_the_plug_in_does_not():
    draw = np.random.default_rng(1)
    low, high = frechet_auc(*world(draw, 200_000))
    held = plain = 0
    for _ in range(60):
        score, place, p = world(draw, 400)
        ends = auc_ends(score, place, p, np.bincount(place, minlength=16) + 0.0, rng=draw)
        edges = ends.edges(1.96)
        held += edges[0] <= low and high <= edges[1]
        plain += ends.sharp[0] <= low and high <= ends.sharp[1]
        assert edges[0] <= ends.independent <= edges[1]
    assert held >= 52  # at 95 %, fewer has probability .002
    assert plain < 30
