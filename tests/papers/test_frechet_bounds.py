"""The statements of "Estimating Fréchet bounds" ([MP23]), each by a test that can fail: exact small
cases, linear programmes written out, laws, and seeded simulation where a theorem is asymptotic."""

from __future__ import annotations

import math
import sys
from dataclasses import FrozenInstanceError, replace
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq, linprog, minimize

from tallystick.errors import ConvergenceError, InputError
from tallystick.papers.frechet_bounds import (
    METRICS,
    Summary,
    at_thresholds,
    choose_model,
    choose_weak_labels,
    independent,
    moved,
    noise_aware_weights,
    plug_in,
    plug_in_interval,
    ratio_end,
    summary,
    weak_set_ends,
)
from tallystick.papers.frechet_bounds.dual import (
    Side,
    agreement,
    breakdown,
    budget_breakdown,
    budget_end,
    centred,
    class_joint,
    coupling_value,
    entropy_width,
    joint_event,
    outer_bound,
    pair_cost,
    pair_difference,
    programme,
    robust_end,
    row_values,
    shifted_labels,
    two_labels,
)
from tallystick.papers.frechet_bounds.smoothed_dual import SampleEnd, sample_end, smoothed

SIDES: tuple[Side, ...] = ("lower", "upper")
HALF = [[0.5, 0.5]]
ROUNDING = 1e-12
SOME = settings(max_examples=40)
# Multiples of 1/8 before normalising make zeros, ties and kinks common.
MASS = st.one_of(st.integers(0, 8).map(lambda k: k / 8), st.floats(0, 1))


def outward(side):
    return 1.0 if side == "upper" else -1.0


def laws(draw, patterns, labels):
    mass = draw(arrays(np.float64, (patterns, labels), elements=MASS))
    mass[mass.sum(axis=1) < 1e-6, 0] = 1
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


@st.composite
def problems(draw):
    patterns, labels = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    return laws(draw, patterns, labels), laws(draw, patterns, labels)


@st.composite
def pairs(draw):
    patterns, labels = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    return laws(draw, patterns, labels**2).reshape(patterns, labels, labels), laws(
        draw, patterns, labels
    )


@st.composite
def binaries(draw):
    patterns, atoms = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    cost = draw(
        arrays(
            np.float64,
            (atoms, 2),
            elements=st.one_of(st.integers(-2, 2).map(float), st.floats(-3, 3)),
        )
    )
    return laws(draw, patterns, atoms), laws(draw, patterns, 2), cost


def independent_value(q, p, cost):
    return coupling_value(q[:, :, None] * p[:, None, :], cost)


def assert_encloses(bounds, value):
    assert (
        bounds.lower.value <= bounds.upper.value
    ).all()  # exactly: where the ends meet, rounding must not cross them
    assert (bounds.lower.value <= value + ROUNDING).all()
    assert (value <= bounds.upper.value + ROUNDING).all()


def assert_proved(bounds, q, p, cost):
    for end in (bounds.lower, bounds.upper):
        proved = outer_bound(q, p, cost, end.potentials, side=end.side)
        np.testing.assert_allclose(proved, end.value, rtol=0, atol=ROUNDING)


# Theorem 2.1, (2.1)-(2.2): any potentials prove an outer bound, the best ones the sharp bound.


@SOME
@given(problems(), st.data())
def test_any_potentials_prove_an_outer_bound(problem, data):
    q, p = problem
    a = data.draw(arrays(np.float64, p.shape, elements=st.floats(-3, 3)))
    delta = data.draw(st.floats(0, 1))
    bounds, cost = agreement(q, p), np.eye(q.shape[1])
    slack = 1e-11
    upper = outer_bound(q, p, cost, a, side="upper", delta=delta)
    lower = outer_bound(q, p, cost, a, side="lower", delta=delta)
    assert (upper >= robust_end(bounds.upper, delta) - slack).all()
    assert (lower <= robust_end(bounds.lower, delta) + slack).all()


@SOME
@given(problems())
def test_row_values_average_to_the_bound_and_serve_every_class_at_once(problem):
    q, p = problem
    end = agreement(q, p).upper
    rows = row_values(p, np.eye(q.shape[1]), end.potentials, side="upper")
    # The form that a pass over rows uses: p_c where q_c > p_c, else whether h = c.
    in_s = q > p
    by_class = np.where(in_s[:, None, :], p[:, None, :], np.eye(q.shape[1]))
    np.testing.assert_allclose(rows, by_class.sum(axis=2), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose((q * rows).sum(axis=1), end.value, rtol=0, atol=ROUNDING)


def test_a_constant_added_to_the_potentials_proves_the_same():
    rng = np.random.default_rng(8)
    p, a, g = rng.dirichlet(np.ones(3), 4), rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    for side in ("lower", "upper"):
        here = row_values(p, g, a, side=side, delta=0.2)
        there = row_values(p, g, a + np.array([[1.0], [-2.0], [3.0], [0.5]]), side=side, delta=0.2)
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-12)


def test_potentials_are_centred_by_their_mean_and_not_as_printed_by_their_sum():
    """(B.1): the sum leaves the set 𝒜, the mean leads into it, and the bound stays."""
    rng = np.random.default_rng(3)
    q, p, a = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), 4), rng.normal(size=(4, 3))
    inside = centred(a)
    np.testing.assert_allclose(inside.sum(axis=1), 0, atol=1e-15)
    assert np.abs((a - a.sum(axis=1, keepdims=True)).sum(axis=1)).min() > 0.1
    for side in SIDES:
        np.testing.assert_allclose(
            outer_bound(q, p, np.eye(3), inside, side=side),
            outer_bound(q, p, np.eye(3), a, side=side),
            atol=1e-14,
        )


# (1.1) and section A.1: the programme, pattern by pattern, for any bounded loss.


def plainly(q, p, g, sign):
    """The transport programme of one pattern, written out."""
    atoms, labels = g.shape
    rows = [[float(i == k) for i in range(atoms) for _ in range(labels)] for k in range(atoms)]
    columns = [[float(y == k) for _ in range(atoms) for y in range(labels)] for k in range(labels)]
    return float(
        sign * linprog(sign * g.ravel(), A_eq=rows + columns, b_eq=[*q, *p], method="highs").fun
    )


def test_every_block_equals_the_programme_written_out():
    rng = np.random.default_rng(5)
    q, p, g = (
        rng.dirichlet(np.ones(6), 25),
        rng.dirichlet(np.ones(4), 25),
        rng.normal(size=(25, 6, 4)),
    )
    for side, sign in (("lower", 1.0), ("upper", -1.0)):
        end = programme(q, p, g, side=side)
        expected = [plainly(*one, sign) for one in zip(q, p, g, strict=True)]
        np.testing.assert_allclose(end.value, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(end.primal, expected, rtol=0, atol=1e-9)


def test_the_programme_is_enclosed_from_both_sides_across_blocks():
    rng = np.random.default_rng(6)
    q, p, g = (
        rng.dirichlet(np.ones(60), 40),
        rng.dirichlet(np.ones(3), 40),
        rng.normal(size=(60, 3)),
    )
    end = programme(q, p, g, side="upper")
    assert (end.value >= end.primal - 1e-12).all()
    assert end.gap.max() < 1e-12
    np.testing.assert_allclose(end.coupling.sum(axis=2), q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(end.coupling.sum(axis=1), p, rtol=0, atol=1e-9)
    proved = outer_bound(q, p, g, end.potentials, side="upper")
    np.testing.assert_allclose(end.value, proved, rtol=0, atol=1e-14)


def test_the_worst_label_law_stays_within_its_own_radius():
    rng = np.random.default_rng(7)
    q, p, g = rng.dirichlet(np.ones(5), 30), rng.dirichlet(np.ones(3), 30), rng.normal(size=(5, 3))
    delta = rng.uniform(0, 0.3, 30)
    end = programme(q, p, g, side="lower", delta=delta)
    assert (np.abs(end.coupling.sum(axis=1) - p).sum(axis=1) / 2 <= delta + 1e-9).all()
    assert end.gap.max() < 1e-9
    assert (end.value <= programme(q, p, g, side="lower").value + 1e-12).all()


@pytest.mark.parametrize(("side", "expected"), [("lower", 0.1), ("upper", 0.7)])
def test_the_coupling_attains_what_the_primal_says_and_the_gap_is_a_distance(side, expected):
    """X = Y for two fair-to-biased coins: P(X = Y) between |1 - .6 - .3| and .7 (Fréchet)."""
    q, p, g = np.array([[0.4, 0.6]]), np.array([[0.7, 0.3]]), np.eye(2)
    end = programme(q, p, g, side=side)
    assert (end.side, end.primal[0]) == (side, pytest.approx(expected))
    assert (end.coupling[0] * g).sum() == pytest.approx(end.primal[0])
    assert end.gap[0] < 1e-9
    further = replace(end, value=end.value + outward(side) * 0.1)
    np.testing.assert_allclose(further.gap, 0.1)
    with pytest.raises(FrozenInstanceError):
        end.value = np.array([0.4])
    constant = programme([[0.3, 0.7]], [[0.1, 0.9]], np.full((2, 2), 2.5), side=side)
    assert constant.value == pytest.approx(2.5)


@pytest.mark.parametrize("side", SIDES)
def test_matching_two_tables_bounds_the_event_that_neither_shows(side):
    """Section 5: g = 1_B, here B = {X in {1, 2}, Y = 1}, which is the joint of two events."""
    rng = np.random.default_rng(4)
    x, y, share = rng.dirichlet(np.ones(3), 6), rng.dirichlet(np.ones(2), 6), np.arange(1, 7)
    event = np.array([[0, 0], [0, 1], [0, 1]])
    found = np.average(programme(x, y, event, side=side).value, weights=share)
    sharp = joint_event(x[:, 1:].sum(axis=1), y[:, 1]).mean(share)
    assert found == pytest.approx(sharp[side == "upper"], abs=1e-9)


# The closed forms: equal to their programmes on 504 instances of 2 to 10 labels, a third of them
# degenerate, and laws that hold for all marginals.


LABELS = range(2, 11)
EACH = 56
TOLERANCE = 1e-7


@cache
def instances(labels):
    rng = np.random.default_rng([3, labels])
    sharpness = rng.choice([0.1, 0.5, 1.0, 5.0], EACH)
    p = np.array([rng.dirichlet(np.full(labels, s)) for s in sharpness])
    q = np.array([rng.dirichlet(np.full(labels, s)) for s in rng.permutation(sharpness)])
    w = np.array([rng.dirichlet(np.full(labels**2, s)) for s in sharpness])
    q[:5] = p[:5]  # the kink
    q[5:8] = np.eye(labels)[0]
    p[7:10] = np.eye(labels)[1]
    p[10:13] = 1 / labels
    p[13:16, 0] = 0
    w[:3] = np.eye(labels**2)[[0, 1, labels]]  # always agreed, always apart
    w[3:6, :: labels + 1] = 0  # never agreed
    w[6:9] = (q[6:9, :, None] * p[6:9, None, :]).reshape(3, -1)
    delta = rng.choice([0.0, 0.01, 0.1, 0.3, 1.0], EACH)
    return {"q": whole(q), "p": whole(p), "w": whole(w), "delta": delta}


def whole(laws):
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def largest_difference(bounds, q, p, cost, delta):
    worst = 0.0
    for radius in (np.zeros_like(delta), delta):
        for end in (bounds.lower, bounds.upper):
            solved = programme(q, p, cost, side=end.side, delta=radius)
            closed = robust_end(end, radius)
            worst = max(
                worst, np.abs(closed - solved.value).max(), np.abs(closed - solved.primal).max()
            )
    return float(worst)


BOTH = np.array([[0.0, 0.0], [0.0, 1.0]])


def coins(*shares):
    """Return two-valued laws from the shares of their second value."""
    return [np.column_stack([1 - share, share]) for share in shares]


def closed_form(form, labels):
    """Return a closed form on the instances, and what a programme needs to find it."""
    it = instances(labels)
    q, p, w = it["q"], it["p"], it["w"]
    if form == "agreement":
        return agreement(q, p), q, p, np.eye(labels)
    if form == "joint event":
        return joint_event(q[:, 0], p[:, 0]), *coins(q[:, 0], p[:, 0]), BOTH
    if form == "pair":
        return pair_difference(w.reshape(EACH, labels, labels), p), w, p, pair_cost(labels)
    rng, half = np.random.default_rng(labels), (EACH // 2, labels, 2)
    cost = np.concatenate([rng.normal(size=half), rng.integers(-1, 2, half)])
    return two_labels(q, instances(2)["p"], cost), q, instances(2)["p"], cost


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("form", ["agreement", "joint event", "pair", "two labels"])
def test_every_closed_form_equals_its_programme(form, labels):
    assert largest_difference(*closed_form(form, labels), instances(labels)["delta"]) <= TOLERANCE


@SOME
@given(problems(), pairs(), binaries())
def test_closed_forms_enclose_independence_and_are_proved_by_their_potentials(one, pair, binary):
    (q, p), (w, r), (atoms, two, cost) = one, pair, binary
    x, y = q[:, 0], p[:, 0]
    forms = [
        (agreement(q, p), q, p, np.eye(q.shape[1])),
        (joint_event(x, y), *coins(x, y), BOTH),
        (pair_difference(w, r), w.reshape(len(w), -1), r, pair_cost(r.shape[1])),
        (two_labels(atoms, two, cost), atoms, two, cost),
    ]
    for bounds, *programmes in forms:
        assert_encloses(bounds, independent_value(*programmes))
        assert_proved(bounds, *programmes)
    for end in (forms[2][0].lower, forms[2][0].upper):
        assert np.isin(np.abs(end.potentials), [0, 1, 2]).all()


@SOME
@given(problems())
def test_the_classes_of_a_joint_add_up_to_agreement(problem):
    whole, classes = agreement(*problem), class_joint(*problem)
    np.testing.assert_allclose(
        sum(c.lower.value for c in classes), whole.lower.value, rtol=0, atol=ROUNDING
    )
    np.testing.assert_allclose(
        sum(c.upper.value for c in classes), whole.upper.value, rtol=0, atol=ROUNDING
    )


@SOME
@given(problems(), pairs(), st.permutations(range(5)))
def test_renaming_the_labels_changes_no_bound(problem, pair, names):
    (q, p), (w, r) = problem, pair
    order, other = ([y for y in names if y < law.shape[1]] for law in (p, r))
    here, there = agreement(q, p), agreement(q[:, order], p[:, order])
    np.testing.assert_array_equal(there.upper.potentials, here.upper.potentials[:, order])
    renamed = pair_difference(w[:, other][:, :, other], r[:, other])
    for one, two in ((here, there), (pair_difference(w, r), renamed)):
        for side in SIDES:
            one_end, two_end = getattr(one, side), getattr(two, side)
            np.testing.assert_allclose(two_end.value, one_end.value, rtol=0, atol=ROUNDING)


@SOME
@given(pairs())
def test_a_pair_is_mirrored_by_exchange_and_no_wider_than_the_bounds_of_each_allow(problem):
    w, p = problem
    there, back = pair_difference(w, p), pair_difference(w.transpose(0, 2, 1), p)
    np.testing.assert_array_equal(there.upper.value, -back.lower.value)
    np.testing.assert_array_equal(there.lower.potentials, -back.upper.potentials)
    first, second = agreement(w.sum(axis=2), p), agreement(w.sum(axis=1), p)
    assert (there.upper.value <= first.upper.value - second.lower.value + ROUNDING).all()
    assert (there.lower.value >= first.lower.value - second.upper.value - ROUNDING).all()


@SOME
@given(problems(), st.data())
def test_coarsening_the_patterns_only_widens(problem, data):
    q, p = problem
    counts = data.draw(st.lists(st.integers(1, 9), min_size=len(q), max_size=len(q)))
    low, high = agreement(q, p).mean(counts)
    coarse = [np.average(law, axis=0, weights=counts, keepdims=True) for law in (q, p)]
    wide_low, wide_high = agreement(*coarse).mean()
    assert wide_low <= low + ROUNDING
    assert wide_high >= high - ROUNDING


def test_ends_that_meet_do_not_cross_by_rounding():
    # 1 + 0.1 - 1 is more than 0.1 in floats
    low, high = agreement([[1.0, 0.0]], [[0.1, 0.9]]).mean()
    assert low <= high
    assert low == 0.1


# What may be passed in.


ONES, THIRDS, FLAT = np.eye(2), [[0.2, 0.3, 0.5]], np.zeros((3, 2))
UP = {"side": "upper"}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: agreement(HALF * 2, [[0.5, 0.5], [0.5, 0.4]]), r"p\[1\] sums to 0.9"),
        (lambda: agreement(HALF * 2, [[0.5, 0.5], [1.5, -0.5]]), r"p\[1\] holds 1.5"),
        (lambda: agreement(HALF * 2, [[1.0, 0.0], [1 + 1e-10, -1e-10]]), r"p\[1\] holds -1e-10"),
        (lambda: agreement(HALF * 2, [[0.5, 0.5], [np.nan, 0.5]]), r"p\[1\] holds nan"),
        (lambda: agreement(HALF * 2, [[1.0], [1.0]]), "at least two labels"),
        (lambda: agreement(HALF * 2, [0.5, 0.5]), r"2 dimension\(s\), got shape \(2,\)"),
        (lambda: agreement(HALF * 2, np.zeros((0, 2))), "non-empty"),
        (lambda: agreement(HALF, [[0.5, 0.5 + 5e-9]]), "sums to"),
        (lambda: agreement(HALF, THIRDS), "one shape"),
        (lambda: joint_event([0.5], [0.5, 0.5]), "one shape"),
        (lambda: pair_difference([[[0.25, 0.25], [0.25, 0.25]]], THIRDS), "w must have shape"),
        (lambda: pair_cost(1), "labels must be at least 2"),
        (lambda: two_labels(HALF, THIRDS, ONES), "for more labels solve a programme"),
        (lambda: two_labels(HALF, HALF, np.eye(3)[:, :2]), r"cost must have shape \(2, 2\)"),
        (lambda: two_labels(HALF, HALF, [[0, np.inf], [0, 0]]), "cost must be finite"),
        (lambda: programme(HALF, HALF * 2, ONES, **UP), "one row per pattern"),
        (lambda: programme(HALF, HALF, ONES, side="both"), "side must be 'lower' or 'upper', got 'both'"),
        (lambda: row_values(HALF, ONES, [[0.0, 1.0, 2.0]], **UP), r"potentials must be finite and of shape \(1, 2\)"),
        (lambda: row_values(HALF, ONES, [[0.0, np.inf]], **UP), "potentials must be finite"),
        (lambda: coupling_value(ONES, ONES), "coupling must have shape"),
        (lambda: outer_bound(THIRDS, HALF, ONES, [[0.0, 0.0]], **UP), r"q must have shape \(1, 2\)"),
        (lambda: agreement(HALF * 2, HALF * 2).mean([1, 2, 3]), "one entry for each of the 2"),
        (lambda: agreement(HALF * 2, HALF * 2).mean([1, -1]), r"weights\[1\] is -1.0"),
        (lambda: agreement(HALF * 2, HALF * 2).mean([0, 0]), "all zero"),
        *(
            (lambda delta=delta: robust_end(agreement(HALF, HALF).upper, delta), "delta must be in")
            for delta in (-0.1, 1.1, np.nan, [[0.1]], [0.1, 0.2])
        ),
        (lambda: entropy_width(HALF, HALF * 2), "one row per pattern"),
        (lambda: entropy_width(HALF, HALF, spread=-1), "spread must be finite"),
        (lambda: smoothed(HALF * 2, FLAT, **UP), "pattern must name one of the 2 patterns"),
        (lambda: smoothed(HALF * 2, FLAT, pattern=[0, 1, 2], **UP), r"an index in \[0, 2\) for each of the 3"),
        (lambda: smoothed(HALF * 2, FLAT, pattern=[0, 0, 1], weight=[1, 1, 0], **UP), "pattern 1 has no atom"),
        (lambda: smoothed(HALF, [[0, np.nan]], **UP), r"cost must be finite and of shape \(atoms, 2\)"),
        (lambda: smoothed(HALF, FLAT, tolerance=0, **UP), "tolerance must be positive, got 0"),
        (lambda: smoothed(HALF, FLAT, solver="adam", **UP), "solver must be 'newton' or 'lbfgs', got 'adam'"),
        (lambda: summary("precision", None), "positive"),
        (lambda: summary("auc", 1), "auc"),
    ],
)  # fmt: skip
def test_what_is_no_law_cost_weight_or_radius_is_refused_by_name(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_rounding_may_miss_one_and_counts_serve_as_weights():
    agreement(HALF, [[0.5, 0.5 + 5e-10]])
    bounds = agreement([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]])
    assert (bounds.mean([3, 1]), bounds.mean()) == ((0.75, 0.75), (0.5, 0.5))
    assert entropy_width(HALF, [[1.0, 0.0]]) == 0  # knowing the label leaves no width
    assert entropy_width(HALF, HALF, spread=3) == 3  # and it never exceeds the spread


# Theorem A.1: the width.


def test_no_cost_of_the_spread_has_wider_bounds():
    rng = np.random.default_rng(12)
    for sharpness in (0.02, 0.1, 0.5):
        q, p = rng.dirichlet(np.ones(4), 10), rng.dirichlet(np.full(3, sharpness), 10)
        weights = rng.dirichlet(np.ones(10))
        limit = entropy_width(q, p, weights=weights, spread=2.0)
        for _ in range(5):
            g = rng.uniform(9, 11, (4, 3))  # far from zero: the constant does not count
            ends = [weights @ programme(q, p, g, side=side).value for side in ("lower", "upper")]
            assert ends[1] - ends[0] <= limit


# Theorem A.3: the label model is wrong by δ.


RNG = np.random.default_rng(11)
Z, K = 12, 4
Q, P = RNG.dirichlet(np.full(K, 0.5), Z), RNG.dirichlet(np.full(K, 0.5), Z)
W = RNG.dirichlet(np.full(K * K, 0.3), Z).reshape(Z, K, K)
COUNTS = RNG.integers(1, 50, Z)
ENDS = [
    *(getattr(agreement(Q, P), side) for side in ("lower", "upper")),
    *(getattr(pair_difference(W, P), side) for side in ("lower", "upper")),
    *(
        getattr(
            two_labels(Q, P[:, :2] / P[:, :2].sum(1, keepdims=True), RNG.normal(size=(K, 2))), side
        )
        for side in ("lower", "upper")
    ),
]


def population(end, delta):
    return float(np.average(robust_end(end, delta), weights=COUNTS))


@pytest.mark.parametrize("end", ENDS)
def test_an_end_moves_with_the_error_and_breaks_where_it_meets_the_target(end):
    np.testing.assert_array_equal(robust_end(end, 0), end.value)
    here, there = end.mean(COUNTS), population(end, 1.0)
    assert budget_end(end, 0, COUNTS) == here
    for delta in (0.01, 0.1, 0.4):
        moved_by = abs(population(end, delta) - here)
        assert moved_by <= abs(budget_end(end, delta, COUNTS) - here) + 1e-12
    for part in (0.1, 0.5, 0.9, 0.999):
        target = here + part * (there - here)
        everywhere, average = (
            solve(end, target, COUNTS) for solve in (breakdown, budget_breakdown)
        )
        root = brentq(lambda d, c: population(end, d) - c, 0, 1, (target,), xtol=1e-14)
        assert everywhere == pytest.approx(root, abs=1e-9)
        assert budget_end(end, average, COUNTS) == pytest.approx(target, abs=1e-12)
        assert average <= everywhere + 1e-12


@pytest.mark.parametrize(("labels", "delta"), [(3, 0.02), (3, 0.15), (4, 0.3)])
def test_a_budget_on_average_equals_one_programme_over_all_patterns(labels, delta):
    rng = np.random.default_rng(labels)
    w, p = rng.dirichlet(np.full(labels**2, 0.3), 5), rng.dirichlet(np.full(labels, 0.5), 5)
    share = np.array([0.1, 0.3, 0.2, 0.15, 0.25])
    g, atoms = pair_cost(labels), labels**2
    # Variables, pattern by pattern: the coupling, what each label receives, what it gives away.
    size = atoms * labels + 2 * labels
    cost, rows, right = np.zeros(5 * size), [], []
    spent = np.zeros(5 * size)
    for z in range(5):
        at = z * size
        cost[at : at + atoms * labels] = -share[z] * g.ravel()
        spent[at + atoms * labels + labels : at + size] = share[z]
        for i in range(atoms):
            row = np.zeros(5 * size)
            row[at + i * labels : at + (i + 1) * labels] = 1
            rows.append(row)
            right.append(w[z, i])
        for y in range(labels):
            row = np.zeros(5 * size)
            row[at + y : at + atoms * labels : labels] = 1
            row[at + atoms * labels + y], row[at + atoms * labels + labels + y] = -1, 1
            rows.append(row)
            right.append(p[z, y])
    solved = linprog(
        cost, A_eq=np.array(rows), b_eq=right, A_ub=spent[None], b_ub=[delta], method="highs"
    )
    end = pair_difference(w.reshape(5, labels, labels), p).upper
    assert budget_end(end, delta, share) == pytest.approx(-solved.fun, abs=1e-9)


@pytest.mark.parametrize("solve", [breakdown, budget_breakdown])
def test_a_breakdown_is_zero_when_passed_and_infinite_when_out_of_reach(solve):
    end = agreement(Q, P).lower
    assert solve(end, end.mean(COUNTS) + 0.01, COUNTS) == 0
    assert solve(end, -0.01, COUNTS) == math.inf
    assert solve(end, 0.0, COUNTS) <= end.value.max() + 1e-12  # the very last reachable value
    with pytest.raises(InputError, match="target must be a finite number"):
        solve(end, math.nan, COUNTS)
    distance = budget_breakdown(end, 0.05, COUNTS)
    assert distance == pytest.approx(end.mean(COUNTS) - 0.05, abs=1e-14)
    assert breakdown(agreement(HALF, HALF).lower, -0.1) == math.inf


@pytest.mark.parametrize(("joint", "in_h", "in_y"), [(1, 1, 0), (1, 0, 1), (2, 1, 1)])
def test_a_claim_on_a_ratio_breaks_where_the_worst_ratio_meets_it(joint, in_h, in_y):
    rng = np.random.default_rng(2)
    q, p, share = rng.beta(5, 2, 8), rng.beta(5, 2, 8), rng.dirichlet(np.ones(8))
    claim = 0.3
    cost = np.array([[0, -claim * in_y], [-claim * in_h, joint - claim * (in_h + in_y)]])
    two = np.column_stack([1 - q, q]), np.column_stack([1 - p, p])
    delta = breakdown(two_labels(*two, cost).lower, 0.0, share)
    assert 0 < delta < 1
    worst = np.clip(1 - q, p - delta, p + delta)
    ratio = (
        joint
        * (share @ np.maximum(q + worst - 1, 0))
        / (in_h * (share @ q) + in_y * (share @ worst))
    )
    assert ratio == pytest.approx(claim, abs=1e-12)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_shifted_labels_attain_the_robust_end_within_the_radius(side):
    for delta in (0.0, 0.05, 0.3, 1.0):
        shifted = shifted_labels(Q, P, delta, side=side)
        assert (np.abs(shifted - P).sum(axis=1) / 2 <= delta + 1e-12).all()
        assert (shifted >= 0).all()
        attained = getattr(agreement(Q, shifted), side).value
        np.testing.assert_allclose(
            attained, robust_end(getattr(agreement(Q, P), side), delta), rtol=0, atol=1e-12
        )


def test_a_law_that_gives_everything_away_stays_a_law():
    q, p = [[1.0, 0.0]], [[0.1, 0.9]]  # 1 + 0.1 - 1 is more than 0.1 in floats
    shifted = shifted_labels(q, p, 0.5, side="lower")
    assert agreement(q, shifted).mean() == (0.0, 0.0)


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize(
    ("metric", "joint", "in_h", "in_y"),
    [("precision", 1, 1, 0), ("recall", 1, 0, 1), ("f1", 2, 1, 1)],
)
def test_the_shifted_labels_of_two_classes_are_the_worst_for_every_ratio(
    metric, joint, in_h, in_y, side
):
    """A ratio N/D reaches c and no more exactly if the programme of N - cD has the value 0."""
    rng = np.random.default_rng(len(metric))
    q, p, share = rng.dirichlet([1, 1], 8), rng.dirichlet([1, 1], 8), rng.dirichlet(np.ones(8))
    for delta in (0.0, 0.07, 0.2):
        worst = shifted_labels(q, p, delta, side=side)[:, 1]
        t = np.minimum(q[:, 1], worst) if side == "upper" else np.maximum(q[:, 1] + worst - 1, 0)
        ratio = joint * (share @ t) / (in_h * (share @ q[:, 1]) + in_y * (share @ worst))
        cost = np.array([[0, -ratio * in_y], [-ratio * in_h, joint - ratio * (in_h + in_y)]])
        solved = programme(q, p, cost, side=side, delta=delta)
        assert share @ solved.value == pytest.approx(0, abs=1e-9)


def test_error_in_the_labels_costs_the_range_of_the_potentials():
    plain = row_values(HALF, np.eye(2), [[0.0, -1.0]], side="upper")
    np.testing.assert_allclose(
        row_values(HALF, np.eye(2), [[0.0, -1.0]], side="upper", delta=0.25), plain + 0.25
    )
    plain = row_values(HALF, np.eye(2), [[0.0, 3.0]], side="lower")
    np.testing.assert_allclose(
        row_values(HALF, np.eye(2), [[0.0, 3.0]], side="lower", delta=0.25), plain - 0.75
    )


def test_the_range_of_the_potentials_is_never_more_than_the_constant_of_the_paper():
    """(A.14) allows 2 max|a| δ for potentials in 𝒜; the range, which is exact, is at most that."""
    rng = np.random.default_rng(5)
    p, a = rng.dirichlet(np.ones(4), 50), centred(rng.normal(size=(50, 4)))
    plain, wrong = (row_values(p, np.eye(4), a, side="upper", delta=d)[:, 0] for d in (0.0, 0.1))
    printed = 2 * np.abs(a).max(axis=1) * 0.1
    assert (wrong - plain <= printed + ROUNDING).all()
    assert (wrong - plain).mean() < 0.9 * printed.mean()


# (2.3)-(2.4): the smoothed dual.


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("seed", range(4))
def test_the_smoothed_dual_equals_the_programme_within_its_tolerance(side, seed):
    rng = np.random.default_rng(seed)
    patterns, atoms, labels = 6, 40, 4
    g = (
        rng.random((patterns, atoms, labels))
        if seed % 2
        else rng.integers(0, 3, (patterns, atoms, labels)).astype(float)
    )
    p = rng.dirichlet(np.full(labels, 0.3), patterns)
    p[0] = [0.25, 0.75, 0, 0]  # labels that never occur
    p[1] = [1, 0, 0, 0]
    p[2] = [1 - 3e-12, 1e-12, 1e-12, 1e-12]  # labels that hardly ever do
    count = rng.integers(1, 9, (patterns, atoms))
    count[3] = 1
    p[3] = 0.25  # marginals that fit without splitting an atom: the dual optimum is not unique
    order = rng.permutation(patterns * atoms)
    end = smoothed(
        p,
        g.reshape(-1, labels)[order],
        side=side,
        pattern=np.repeat(np.arange(patterns), atoms)[order],
        weight=count.ravel()[order],
    )
    sharp = programme(count / count.sum(axis=1, keepdims=True), p, g, side=side).value
    excess = outward(side) * (end.value - sharp)
    assert (excess >= -1e-12).all()
    assert (excess <= 1e-7).all()
    assert (end.gap <= 1e-7).all()


@pytest.mark.parametrize("side", SIDES)
def test_the_softmax_becomes_a_coupling_that_attains_the_primal_value(side):
    rng = np.random.default_rng(9)
    g, p = rng.normal(size=(300, 3)), rng.dirichlet(np.ones(3), 2)
    z, weight = rng.integers(0, 2, 300), rng.random(300)
    end = smoothed(p, g, side=side, pattern=z, weight=weight)
    assert (end.coupling >= 0).all()
    for k in range(2):
        mine = weight[z == k] / weight[z == k].sum()
        np.testing.assert_allclose(end.coupling[z == k].sum(axis=1), mine, rtol=0, atol=1e-14)
        np.testing.assert_allclose(end.coupling[z == k].sum(axis=0), p[k], rtol=0, atol=1e-14)
        assert (end.coupling[z == k] * g[z == k]).sum() == pytest.approx(end.primal[k], abs=1e-13)


@pytest.mark.parametrize("side", SIDES)
def test_as_printed_it_lies_inside_and_without_the_logarithm_outside(side):
    rng = np.random.default_rng(2)
    q, p = rng.dirichlet(np.ones(5), 20), rng.dirichlet(np.ones(5), 20)
    sharp = getattr(agreement(q, p), side).value
    end = smoothed(
        p,
        np.tile(np.eye(5), (20, 1)),
        side=side,
        pattern=np.repeat(np.arange(20), 5),
        weight=q.ravel(),
        tolerance=0.05,
    )
    out = outward(side)
    assert (out * (end.printed - sharp) <= 1e-12).all()
    assert (out * (end.printed - sharp)).min() < -0.01  # and visibly so
    assert (out * (end.value - sharp) >= -1e-12).all()
    assert (out * (end.soft - end.value) >= -1e-12).all()
    assert (out * (end.soft - sharp) <= end.epsilon * np.log(5) + 1e-4).all()


def test_lbfgs_takes_over_where_newton_does_not_arrive(monkeypatch):
    rng = np.random.default_rng(4)
    g, p = rng.random((80, 3)), rng.dirichlet(np.ones(3), 1)
    expected = smoothed(p, g, side="upper").value
    module = sys.modules["tallystick.papers.frechet_bounds.smoothed_dual"]
    monkeypatch.setattr(module, "newton", lambda atoms, a, epsilon, residual: a)
    rescued = smoothed(p, g, side="upper", tolerance=0.05)
    assert rescued.value == pytest.approx(expected, abs=0.05)
    monkeypatch.setattr(module, "lbfgs", lambda atoms, a, epsilon, residual: a)
    with pytest.raises(
        ConvergenceError, match=r"pattern 0: .* raise the tolerance, or solve a programme"
    ):
        smoothed(p, g, side="upper", tolerance=0.05)


# (2.5)-(2.7), Theorem 2.4 and Corollary 3.1: the estimate of the paper, at a fixed ε.


def as_printed(p, g, z, side, epsilon):
    """(2.5)-(2.6) written out, with the penalty of section 2.2 for the sum over y, by L-BFGS."""
    sign = outward(side)

    def objective(flat):
        a = flat.reshape(p.shape)
        u = sign * (g + a[z]) / epsilon
        top = u.max(axis=1, keepdims=True)
        e = np.exp(u - top)
        soft = epsilon * (top[:, 0] + np.log(e.mean(axis=1)))
        value = (soft - sign * (p * a).sum(axis=1)[z]).mean() + (a.sum(axis=1) ** 2).sum()
        slope = np.zeros_like(a)
        np.add.at(slope, z, sign * (e / e.sum(axis=1, keepdims=True) - p[z]) / len(z))
        return float(value), (slope + 2 * a.sum(axis=1, keepdims=True)).ravel()

    solved = minimize(
        objective,
        np.zeros(p.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return float(sign * solved.fun)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("epsilon", [0.5, 0.05])
def test_the_estimate_is_that_of_the_equations_written_out(side, epsilon):
    """Lemma C.1: the penalty does not move the optimum."""
    rng = np.random.default_rng(0)
    p, g = rng.dirichlet(np.ones(3), 3), rng.random((120, 3))
    z = np.concatenate([np.arange(3), rng.integers(0, 3, 117)])
    end = sample_end(p, g, side=side, epsilon=epsilon, pattern=z)
    assert end.value == pytest.approx(as_printed(p, g, z, side, epsilon), abs=1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_the_estimate_lies_inside_the_sharp_end_by_at_most_epsilon_log_k(side):
    rng = np.random.default_rng(6)
    p, g = rng.dirichlet(np.ones(4), 1), rng.random((200, 4))
    sharp = smoothed(p, g, side=side).value[0]
    for epsilon in (0.3, 0.03):
        inside = outward(side) * (sharp - sample_end(p, g, side=side, epsilon=epsilon).value)
        assert 0 < inside <= epsilon * math.log(4)


# Three patterns, equally frequent; P(h = 1 | z) in tenths, so that 30 rows are the population.
TENTHS, TRUE_LAW = np.array([2, 5, 9]), np.array([[0.7, 0.3], [0.35, 0.65], [0.25, 0.75]])
PLACE = np.repeat(np.arange(3), 10)
SAYS = np.concatenate([np.arange(10) < k for k in TENTHS]).astype(int)


@pytest.mark.parametrize("side", SIDES)
def test_the_interval_covers_the_smoothed_end_as_theorem_24_says(side):
    """P(Y | Z) is known here, as the theorem wants. Of 150 at 95%, fewer than 132 or all have a
    probability below 1e-3."""
    asked = {"side": side, "epsilon": 0.05}
    whole_law = sample_end(TRUE_LAW, np.eye(2)[SAYS], pattern=PLACE, **asked)
    draw, n, held, values = np.random.default_rng(8), 400, 0, []
    for _ in range(150):
        rows = draw.integers(0, 30, n)
        end = sample_end(TRUE_LAW, np.eye(2)[SAYS[rows]], pattern=PLACE[rows], **asked)
        low, high = end.interval(0.05)
        held += low <= whole_law.value <= high
        values.append(end.value)
    assert 132 <= held < 150
    # σ/√n of the theorem, and what the estimates do
    assert np.std(values) == pytest.approx(whole_law.error * math.sqrt(30 / n), rel=0.15)


def test_the_variance_of_f1_has_its_denominator_squared():
    """Corollary 3.1, (3.2), as corrected; F is homogeneous, so the printed one cannot be right."""
    joint = SampleEnd("lower", 0.2, 0.01)
    h, y = 0.3, 0.5
    found = {metric: ratio_end(joint, metric, h=h, y=y) for metric in ("precision", "recall", "f1")}
    assert found["precision"].value == pytest.approx(0.2 / h)
    assert found["recall"].error == pytest.approx(0.01 / y)
    assert found["f1"].value == pytest.approx(2 * 0.2 / (h + y))
    assert found["f1"].error ** 2 == pytest.approx(4 * 0.01**2 / (h + y) ** 2)
    assert found["f1"].side == "lower"


# (3.1) and the plug-in: Theorem 2.4 and Corollary 3.1 at ε = 0.


def test_the_slopes_of_every_metric_are_its_derivatives():
    draw = np.random.default_rng(6)
    t, h, y = draw.uniform(0.1, 0.2, (3, 4))
    h, y = h + 0.2, y + 0.2
    for name in METRICS:
        wanted = summary(name, 2)
        held = wanted.slopes(t, h, y)
        for part, slope in ((0, held.by_t), (1, held.by_h), (2, held.by_y)):
            for c in range(4):
                there = [t.copy(), h.copy(), y.copy()]
                there[part][c] += 1e-6
                assert (wanted.slopes(*there).value - held.value) / 1e-6 == pytest.approx(
                    slope[c], abs=1e-4
                )


@pytest.mark.parametrize("metric", METRICS)
def test_the_plug_in_is_the_metric_of_the_sharp_joint(metric):
    rng = np.random.default_rng(9)
    counts, p = rng.integers(1, 60, (7, 3)), rng.dirichlet(np.ones(3), 7)
    share = counts.sum(axis=1) / counts.sum()
    q, wanted = counts / counts.sum(axis=1, keepdims=True), summary(metric, 2)
    ends = np.array([bounds.mean(share) for bounds in class_joint(q, p)]).T
    for side, t in zip(SIDES, ends, strict=True):
        expected = wanted.slopes(t, share @ q, share @ p).value
        assert plug_in(counts, p, wanted, side)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_the_error_of_a_ratio_counts_its_denominator_too(metric):
    """Corollary 3.1 takes P(h = 1) and P(Y = 1) for known and is off by 10% and more here."""
    draw, n = np.random.default_rng(2), 3000
    law = np.column_stack([10 - TENTHS, TENTHS]) / 30
    samples = draw.multinomial(n, law.ravel(), size=1500).reshape(-1, 3, 2)
    values, errors = plug_in(samples, TRUE_LAW, Summary(metric, 1), "upper")
    assert errors.mean() == pytest.approx(values.std(), rel=0.06)
    h, y = samples[..., 1].sum(axis=1) / n, samples.sum(axis=2) @ TRUE_LAW[:, 1] / n
    below = {"precision": h, "recall": y, "f1": (h + y) / 2}[metric]
    assert (values * below).std() / below.mean() > 1.1 * values.std()


def test_a_pattern_of_which_nothing_is_known_is_bounded_by_logic():
    counts, p = np.array([[40, 10], [20, 30]]), np.full((2, 2), np.nan)
    for wanted in (Summary("accuracy"), Summary("recall", 1)):
        assert [plug_in(counts, p, wanted, side)[0] for side in SIDES] == [0, 1]


def test_the_estimate_under_independence_lies_between_the_plug_in_ends():
    rng = np.random.default_rng(0)
    counts, p = rng.integers(1, 1000, (12, 3)), rng.dirichlet(np.ones(3), 12)
    for wanted in (Summary("accuracy"), Summary("macro-f1"), Summary("precision", 2)):
        low, high = (plug_in(counts, p, wanted, side)[0] for side in SIDES)
        assert low - 1e-9 <= independent(counts, p, wanted) <= high + 1e-9
    by_hand = (counts * p).sum() / counts.sum()
    assert independent(counts, p, Summary("accuracy")) == pytest.approx(by_hand)


def test_the_plug_in_collapses_where_patterns_are_many():
    """ERRATA: 12 weak labels on 1000 rows, and the true label model."""
    draw = np.random.default_rng(5)
    votes = np.array(list(product([0, 1], repeat=12)))
    right = draw.uniform(0.6, 0.8, 12)
    joint = np.stack(
        [np.where(votes == c, right, 1 - right).prod(axis=1) / 2 for c in (0, 1)], axis=1
    )
    share = joint.sum(axis=1)
    p = joint / share[:, None]
    q = 0.7 * p + 0.15
    sharp = agreement(q, p).mean(share)
    counts = draw.multinomial(1000, (share[:, None] * q).ravel()).reshape(q.shape)
    low, high = plug_in_interval(counts, p, Summary("accuracy"), alpha=0.05)
    assert sharp[0] < low
    assert high < sharp[1]


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
@pytest.mark.parametrize("side", SIDES)
def test_a_ratio_moves_at_least_as_far_as_an_average_error_can_move_it(metric, side):
    """Theorem A.3 for ratios: no law within δ on average goes further than the worst vertex."""
    rng = np.random.default_rng(len(metric))
    q, p, share = rng.dirichlet([1, 1], 5), rng.dirichlet([1, 1], 5), rng.dirichlet(np.ones(5))
    wanted, delta, h = Summary(metric, 1), 0.05, share @ q

    def joint(law):
        return np.array([getattr(one, side).mean(share) for one in class_joint(q, law)])

    t, y = moved(wanted, joint(p), h, share @ p, side=side, delta=delta)
    limit = wanted.slopes(t, h, y).value
    for _ in range(200):
        error = rng.normal(size=5)
        error *= delta / (share @ np.abs(error))
        other = np.clip(p[:, 1] + error, 0, 1)
        law = np.column_stack([1 - other, other])
        value = wanted.slopes(joint(law), h, share @ law).value
        assert outward(side) * (limit - value) >= -1e-12


# Sections 4, 4.1, 4.2 and A.4: thresholds, models, weak labels and the noise-aware loss.


@pytest.mark.parametrize("positive", [0, 1])
def test_every_threshold_is_a_prediction_of_its_own(positive):
    rng = np.random.default_rng(7)
    score, z = rng.integers(0, 5, 500), rng.integers(0, 4, 500)
    p = rng.dirichlet([1, 1], 4)
    counts = np.zeros((4, 5), dtype=np.int64)
    np.add.at(counts, (z, score), 1)
    at_once = at_thresholds(counts, positive=positive)
    assert at_once.shape == (4, 4, 2)
    for t in range(4):
        h = np.where(score > t, positive, 1 - positive)
        alone = np.zeros((4, 2), dtype=np.int64)
        np.add.at(alone, (z, h), 1)
        np.testing.assert_array_equal(at_once[t], alone)
    for side in SIDES:
        together = plug_in(at_once, p, Summary("f1", 1), side)[0]
        apart = [plug_in(one, p, Summary("f1", 1), side)[0] for one in at_once]
        np.testing.assert_allclose(together, apart, atol=1e-14)


def test_each_rule_chooses_by_its_own_end():
    """A.4: the safe, the hopeful, the balanced and the label model's choice may all differ."""
    safe, hopeful, balanced, expected = (0.6, 0.7), (0.1, 0.99), (0.5, 0.9), (0.4, 0.95)
    lower, upper = zip(safe, hopeful, balanced, expected, strict=True)
    assert choose_model(lower, upper, [0.65, 0.5, 0.7, 0.8]) == {
        "lower bound": 0,
        "upper bound": 1,
        "average": 2,
        "label model": 3,
    }
    assert set(choose_model([0.5, 0.5], [0.9, 0.9], [0.7, 0.7]).values()) == {0}


def weak_world():
    """Three weak labels of accuracy .9, .75 and .6 and a coin; the classifier errs on its own."""
    votes = np.array(list(product([0, 1], repeat=4)))
    right = np.array([0.9, 0.75, 0.6, 0.5])
    joint = np.stack(
        [np.where(votes == c, right, 1 - right).prod(axis=1) / 2 for c in (0, 1)], axis=1
    )
    p = joint / joint.sum(axis=1, keepdims=True)
    return votes, joint.sum(axis=1, keepdims=True) * (0.8 * p + 0.1), p


def test_a_coin_is_a_useless_weak_label_and_the_best_one_comes_first():
    names = ["best", "good", "poor", "coin"]
    world = weak_world()

    def ends(kept):
        return weak_set_ends(*world, [names.index(name) for name in kept])

    first, steps = choose_weak_labels(ends, start=[], candidates=names[::-1])
    assert first == pytest.approx(agreement(HALF, HALF).mean())
    assert [step.added for step in steps][:2] == ["best", "good"]
    assert steps[0].useful
    [coin] = [step for step in steps if step.added == "coin"]
    assert not coin.useful
    widths = [first[1] - first[0], *(step.width for step in steps)]
    assert all(later <= earlier + ROUNDING for earlier, later in pairwise(widths))
    assert ends(names[:3]) == pytest.approx(ends(names), abs=1e-12)
    with pytest.raises(InputError, match="candidates"):
        choose_weak_labels(ends, start=names, candidates=[])


def test_the_noise_aware_loss_is_the_expected_loss_of_the_label_model():
    law = {(0, 0): [0.9, 0.1], (0, 1): [np.nan, np.nan], (1, 1): [0.2, 0.8]}
    votes = [[1, 1], [0, 0], [0, 1], [1, 1]]
    weights = noise_aware_weights(lambda asked: [law[tuple(row)] for row in asked.tolist()], votes)
    assert weights.tolist() == [[0.2, 0.8], [0.9, 0.1], [0.0, 0.0], [0.2, 0.8]]
    with pytest.raises(InputError, match="votes must be integers"):
        noise_aware_weights(lambda asked: [[1.0, 0.0]] * len(asked), [[1.0, 0.5]])
