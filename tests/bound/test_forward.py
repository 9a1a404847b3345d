import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.papers.frechet_bounds import Summary, plug_in
from tallystick.papers.frechet_bounds.dual import (
    agreement,
    budget_end,
    joint_event,
    pair_cost,
    pair_difference,
    two_labels,
)
from tallystick.verbs.bound.forward import (
    Evidence,
    Scheme,
    cost_ends,
    cost_learner,
    forward,
    label_bins,
    pair_learner,
    shrunk,
    split,
)

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


def test_with_many_rows_the_risk_is_that_of_the_cost_matrix():
    share, q, p, held = evidence()
    cost = np.array([[0.0, 5.0], [1.0, 0.0]])
    low, high = cost_ends(held, cost, cost_learner(cost), rng=1, scheme=Scheme(orders=1))
    assert (low.estimate, high.estimate) == pytest.approx(
        two_labels(q, p, cost).mean(share), abs=6e-3
    )


def test_accuracy_is_also_a_cost_and_more_classes_use_a_programme_a_bin():
    share, q, p, held = evidence(classes=3)
    low, high = cost_ends(held, np.eye(3), cost_learner(np.eye(3)), rng=1, scheme=Scheme(orders=1))
    sharp = agreement(q, p).mean(share)
    assert low.estimate <= sharp[0] + 2e-3  # potentials of a bin are valid, not always the best
    assert high.estimate >= sharp[1] - 2e-3


def test_with_many_rows_the_difference_of_a_pair_is_sharp():
    draw = np.random.default_rng(4)
    share, p = draw.dirichlet(np.full(8, 5.0)), laws(draw, 8, 3)
    w = laws(draw, 8, 9)
    held = Evidence(counts=large(share, w), p=p, bins=label_bins(p, share))
    low, high = cost_ends(held, pair_cost(3), pair_learner, rng=1, scheme=Scheme(orders=1))
    assert (low.estimate, high.estimate) == pytest.approx(
        pair_difference(w.reshape(8, 3, 3), p).mean(share), abs=3e-3
    )


def test_labels_put_a_wrong_label_model_right():
    draw = np.random.default_rng(2)
    share, q, p = draw.dirichlet(np.full(6, 5.0)), laws(draw, 6, 2), laws(draw, 6, 2)
    held = Evidence(
        counts=large(share, q), p=p[:, ::-1].copy(), bins=np.arange(6), gold=large(share, p)
    )
    [(low, high)] = forward(held, [ACCURACY], rng=1, scheme=Scheme(orders=1))
    sharp = agreement(q, p).mean(share)
    assert low.estimate <= sharp[0] + 2e-3
    assert high.estimate >= sharp[1] - 2e-3


def test_labels_alone_give_the_sharp_bound():
    draw = np.random.default_rng(3)
    share, q, p = draw.dirichlet(np.full(6, 5.0)), laws(draw, 6, 2), laws(draw, 6, 2)
    held = Evidence(counts=large(share, q), p=None, bins=np.arange(6), gold=large(share, p))
    [(low, high)] = forward(held, [ACCURACY], rng=1, scheme=Scheme(orders=1))
    assert (low.estimate, high.estimate) == pytest.approx(agreement(q, p).mean(share), abs=3e-3)


def test_what_the_label_model_does_not_know_is_bounded_by_logic():
    _, _, p, held = evidence()
    nothing = Evidence(counts=held.counts, p=np.full_like(p, np.nan), bins=held.bins * 0)
    [(low, high), (bottom, top)] = forward(
        nothing, [ACCURACY, Summary("recall", 1)], rng=1, scheme=Scheme(orders=1)
    )
    assert (low.estimate, high.estimate) == (0, 1)
    assert (bottom.estimate, top.estimate) == (0, 1)


def test_an_average_error_of_delta_moves_accuracy_by_delta():
    _, _, _, held = evidence()
    moved = Evidence(counts=held.counts, p=held.p, bins=held.bins, delta=0.05)
    [(low, high)] = forward(held, [ACCURACY], rng=1, scheme=Scheme(orders=1))
    [(lower, higher)] = forward(moved, [ACCURACY], rng=1, scheme=Scheme(orders=1))
    assert (low.estimate - lower.estimate, higher.estimate - high.estimate) == pytest.approx(
        (0.05, 0.05)
    )


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.01, 0.2), st.sampled_from(["precision", "recall", "f1"]))
def test_an_average_error_of_delta_is_covered_for_ratios(seed, delta, metric):
    draw = np.random.default_rng(seed)
    share, q, p = draw.dirichlet(np.full(4, 5.0)), laws(draw, 4, 2), laws(draw, 4, 2)
    wrong = np.clip(p[:, 1] + draw.choice([-1, 1], 4) * delta, 0, 1)
    counts = large(share, q)
    wanted = Summary(metric, 1)
    [(low, high)] = forward(
        Evidence(counts=counts, p=p, bins=np.arange(4), delta=delta),
        [wanted],
        rng=1,
        scheme=Scheme(orders=1),
    )
    truth = np.column_stack([1 - wrong, wrong])
    assert low.estimate <= plug_in(counts, truth, wanted, "lower")[0] + 5e-3
    assert high.estimate >= plug_in(counts, truth, wanted, "upper")[0] - 5e-3


def test_an_average_error_of_delta_may_lie_where_the_risk_is_dearest():
    counts = np.array([[2000, 0], [0, 2000]])
    p, cost = np.array([[0.8, 0.2], [0.5, 0.5]]), np.array([[0.0, 10.0], [0.0, 0.0]])
    held = Evidence(counts=counts, p=p, bins=np.arange(2), delta=0.05)
    _, high = cost_ends(held, cost, cost_learner(cost), rng=1, scheme=Scheme(orders=1))
    worst = 0.5 * 10 * 0.3  # wrong by 0.1 on the half of the rows that cost
    assert high.edge(1.96) >= worst


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 0.2), st.sampled_from(["risk", "pair"]))
def test_an_average_error_of_delta_is_covered_for_any_cost(seed, delta, what):
    draw = np.random.default_rng(seed)
    share, p = draw.dirichlet(np.full(4, 5.0)), laws(draw, 4, 2 if what == "risk" else 3)
    if what == "risk":
        q, cost = laws(draw, 4, 2), draw.uniform(0, 10, (2, 2))
        learn, sharp = cost_learner(cost), two_labels(q, p, cost)
    else:
        q, cost, learn = laws(draw, 4, 9), pair_cost(3), pair_learner
        sharp = pair_difference(q.reshape(4, 3, 3), p)
    held = Evidence(counts=large(share, q), p=p, bins=np.arange(4), delta=delta)
    low, high = cost_ends(held, cost, learn, rng=1, scheme=Scheme(orders=1))
    assert low.estimate <= budget_end(sharp.lower, delta, share) + 1e-2
    assert high.estimate >= budget_end(sharp.upper, delta, share) - 1e-2


@pytest.mark.parametrize("metric", ["recall", "f1"])
def test_an_error_as_large_as_the_class_leaves_bounds_that_exist(metric):
    _, _, p, held = evidence()
    never = np.column_stack([held.counts.sum(axis=1), np.zeros(len(p), dtype=np.int64)])
    for counts in (never, held.counts):
        robust = Evidence(counts=counts, p=p, bins=held.bins, delta=0.9)
        [(low, high)] = forward(robust, [Summary(metric, 1)], rng=1, scheme=Scheme(orders=1))
        assert np.clip(low.edge(1.96), 0, 1) == 0
        assert np.isfinite(high.edge(1.96))
    assert np.clip(high.edge(1.96), 0, 1) == 1


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


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(2, 12))
def test_blocks_are_a_partition_of_the_rows(seed, blocks):
    counts = np.random.default_rng(seed).integers(0, 50, (5, 3))
    assert (split(counts, blocks, rng=seed).sum(axis=0) == counts).all()


def test_shrunk_laws_sum_to_one_and_an_unseen_pattern_has_its_bins_law():
    counts = np.array([[40, 10], [0, 0], [0, 30]])
    q = shrunk(counts, np.array([0, 0, 1]))
    assert q.sum(axis=1) == pytest.approx(1)
    assert q[1] == pytest.approx(
        (40 * np.array([1, 0]) + 10 * np.array([0, 1]) + 2 * np.array([0.5, 0.5])) / 52
    )


def test_bins_of_more_than_two_classes_tell_the_leading_class_apart():
    p = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.4, 0.3, 0.3]])
    assert len(set(label_bins(p, np.ones(3)).tolist())) == 3
