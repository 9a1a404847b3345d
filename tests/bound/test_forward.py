import itertools

import numpy as np
import pytest

from tallystick.papers.frechet_bounds import Summary
from tallystick.papers.frechet_bounds.dual import agreement, joint_event
from tallystick.verbs.bound.forward import Evidence, Scheme, forward, label_bins, shrunk

ACCURACY = Summary("accuracy")


def laws(draw, patterns, classes):
    return draw.dirichlet(np.ones(classes), size=patterns)


def large(share, q, rows=2_000_000):
    return np.rint(rows * share[:, None] * q).astype(np.int64)


def evidence(patterns=12, classes=2, seed=0):
    draw = np.random.default_rng(seed)
    share, q, p = (
        draw.dirichlet(np.full(patterns, 5.0)),
        laws(draw, patterns, classes),
        laws(draw, patterns, classes),
    )
    return share, q, p, Evidence(counts=large(share, q), p=p, bins=label_bins(p, share))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_with_many_rows_the_forward_dual_is_the_sharp_bound(classes):
    share, q, p, held = evidence(classes=classes)
    [(low, high)] = forward(held, [ACCURACY], rng=1, scheme=Scheme(orders=1))
    assert (low.estimate, high.estimate) == pytest.approx(agreement(q, p).mean(share), abs=2e-3)


def test_with_many_rows_f1_is_that_of_the_joint_event():
    share, q, p, held = evidence()
    [(low, high)] = forward(held, [Summary("f1", 1)], rng=1, scheme=Scheme(orders=1))
    below = (share @ q[:, 1] + share @ p[:, 1]) / 2
    expected = np.array(joint_event(q[:, 1], p[:, 1]).mean(share)) / below
    assert (low.estimate, high.estimate) == pytest.approx(expected, abs=3e-3)


def test_what_the_label_model_does_not_know_is_bounded_by_logic():
    _, _, p, held = evidence()
    nothing = Evidence(counts=held.counts, p=np.full_like(p, np.nan), bins=held.bins * 0)
    [(low, high), (bottom, top)] = forward(
        nothing, [ACCURACY, Summary("recall", 1)], rng=1, scheme=Scheme(orders=1)
    )
    assert (low.estimate, high.estimate) == (0, 1)
    assert (bottom.estimate, top.estimate) == (0, 1)


def test_the_forward_dual_covers_where_the_plug_in_collapses():
    draw = np.random.default_rng(5)
    votes = np.array(list(itertools.product([0, 1], repeat=12)))
    right = draw.uniform(0.6, 0.8, 12)
    joint = np.stack(
        [np.where(votes == c, right, 1 - right).prod(axis=1) / 2 for c in (0, 1)], axis=1
    )
    share = joint.sum(axis=1)
    p = joint / share[:, None]
    q = 0.7 * p + 0.15
    sharp = agreement(q, p).mean(share)
    counts = draw.multinomial(1000, (share[:, None] * q).ravel()).reshape(q.shape)
    held = Evidence(counts=counts, p=p, bins=label_bins(p, share))
    [(lower, upper)] = forward(held, [ACCURACY], rng=1, scheme=Scheme())
    assert lower.edge(1.96) <= sharp[0]
    assert sharp[1] <= upper.edge(1.96)


def test_shrunk_laws_sum_to_one_and_an_unseen_pattern_has_its_bins_law():
    counts = np.array([[40, 10], [0, 0], [0, 30]])
    q = shrunk(counts, np.array([0, 0, 1]))
    assert q.sum(axis=1) == pytest.approx(1)
    assert q[1] == pytest.approx(
        (40 * np.array([1, 0]) + 10 * np.array([0, 1]) + 2 * np.array([0.5, 0.5])) / 52
    )
