"""Noisy judges: what the paper proves, on exact small cases, in fractions wherever that is possible.

Equations are numbered as in the paper; where it is misprinted, the printed form is shown to fail."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.noisy_judges import (
    agreement_accuracy,
    agreement_error_rate,
    agreement_errors,
    agreement_gap,
    agreement_rates,
    majority_scores,
    majority_shares,
    rank_one,
    spectral_errors,
    spectral_point,
)
from tallystick.papers.noisy_judges.correlated_judges import (
    Point,
    blind_spots,
    correlation,
    error_correlation,
    feature_partition,
    independence_test,
    joint_shares,
    nearly_independent,
    pair_covariance,
    sample_point,
    simulate,
    variety_distance,
    variety_projection,
    vote_shares,
)
from tallystick.papers.noisy_judges.trio_quadratic import (
    choose_branch,
    exact_trio,
    failure_modes,
    mirrored,
    solve_points,
    solve_trios,
    trio_moments,
    trio_quadratic,
    triplet,
    unresolved_roots,
)
from tallystick.stats.latent_model import LatentModel, fit, log_likelihood
from tallystick.table import Tally
from tallystick.verbs.judge import independent, majority

GRID = np.array(list(itertools.product([0, 1], repeat=3)))
QUALITY = {"w": ("9/10", "4/5"), "x": ("3/4", "17/20"), "y": ("4/5", "3/4"), "z": ("7/10", "4/5")}
GAMMAS = {("a", ("x", "y")): "1/100", ("a", ("x", "z")): "1/60", ("b", ("y", "z")): "1/50"}

shares = st.fractions(min_value=0, max_value=1, max_denominator=6)
inner = st.fractions(min_value=Fraction(1, 6), max_value=Fraction(5, 6), max_denominator=6)
good = st.fractions(min_value=Fraction(6, 10), max_value=Fraction(9, 10), max_denominator=10)
sketches = st.lists(st.integers(0, 5), min_size=16, max_size=16).filter(
    lambda cells: sum(cells[:8]) and sum(cells[8:])
)


def three(prevalence, *accuracy, correlations=()):
    quality = dict(zip("xyz", accuracy, strict=True))
    return Point(prevalence=prevalence, accuracy=quality, correlations=dict(correlations))


def counted(point):
    """Return codes and exact counts of the smallest test of a point."""
    shares_of_patterns = vote_shares(point)
    codes = [[point.labels.index(vote) for vote in votes] for votes in shares_of_patterns]
    test = simulate(point)
    return np.array(codes), np.array([int(s * test.size) for s in shares_of_patterns.values()])


def sampled(cells):
    """Return the tally of three labelled judges, from the counts of patterns on a and on b."""
    rows = [(votes, label) for label in "ab" for votes in itertools.product("ab", repeat=3)]
    columns = {name: [votes[j] for votes, _ in rows] for j, name in enumerate("xyz")}
    return Tally.from_patterns({**columns, "truth": [label for _, label in rows]}, cells)


def drawn(n, rng, point):
    """Return codes and counts of *n* independent draws."""
    data = simulate(point).independent_draws(n, rng=rng)
    votes = np.stack([data[name] == point.labels[1] for name in point.names], axis=1).astype(int)
    return np.unique(votes, axis=0, return_counts=True)


# Theorems 1 and 3, definitions 1.4-1.6: points and votes.


@settings(max_examples=30)
@given(inner, st.lists(st.tuples(shares, shares), min_size=3, max_size=3))
def test_theorem_1_is_equations_9_to_16(prevalence, accuracy):
    found = vote_shares(three(prevalence, *accuracy))
    for votes in itertools.product("ab", repeat=3):
        on_a = prod(
            p if vote == "a" else 1 - p for vote, (p, _) in zip(votes, accuracy, strict=True)
        )
        on_b = prod(
            p if vote == "b" else 1 - p for vote, (_, p) in zip(votes, accuracy, strict=True)
        )
        assert found[votes] == prevalence * on_a + (1 - prevalence) * on_b


@settings(max_examples=30)
@given(sketches)
def test_theorem_3_any_labelled_sketch_is_remade_by_its_own_point(cells):
    point = sample_point(sampled(cells), truth="truth")
    remade, n = joint_shares(point), sum(cells)
    keys = [(votes, label) for label in "ab" for votes in itertools.product("ab", repeat=3)]
    assert [remade[key] for key in keys] == [Fraction(cell, n) for cell in cells]


@settings(max_examples=30)
@given(inner, st.lists(st.tuples(shares, shares), min_size=1, max_size=4))
def test_the_smallest_test_has_exactly_the_point_and_no_correlation(prevalence, accuracy):
    point = Point(
        prevalence=prevalence, accuracy={f"j{k}": pair for k, pair in enumerate(accuracy)}
    )
    test = simulate(point)
    found = sample_point(test.tally, truth="truth")
    assert test.tally.n == test.size
    assert (found.prevalence, found.accuracy) == (point.prevalence, point.accuracy)
    assert set(found.correlations.values()) <= {Fraction(0)}


def test_no_smaller_test_exists():
    test = simulate(Point(prevalence="1/3", accuracy={"x": ("3/4", "1/2"), "y": ("2/3", "1/5")}))
    shares_of_items = [Fraction(count, test.size) for count in test.counts.values()]
    for size in range(1, test.size):
        assert any((share * size).denominator > 1 for share in shares_of_items)


def test_a_stream_is_a_shuffle_and_independent_draws_are_not():
    test = simulate(Point(prevalence="1/2", accuracy={"x": ("3/4", "3/4"), "y": ("3/4", "3/4")}))
    assert Tally.of(test.stream(rng=1)) == Tally.of(test.stream(rng=2))
    found = sample_point(Tally.of(test.independent_draws(test.size * 50, rng=3)), truth="truth")
    assert any(found.correlations.values())


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_point_of_n_judges_has_the_dimension_of_equation_38(n):
    point = Point(prevalence="1/2", accuracy={f"j{k}": ("3/4", "2/3") for k in range(n)})
    found = sample_point(simulate(point).tally, truth="truth").correlations
    groups = [group for m in range(2, n + 1) for group in itertools.combinations(point.names, m)]
    assert set(found) == {(label, group) for label in "ab" for group in groups}
    assert 1 + 2 * n + len(found) == 2 ** (n + 1) - 1


@given(st.lists(st.integers(0, 5), min_size=8, max_size=8).filter(any))
def test_equation_31_with_its_signs_corrected_is_an_identity(counts):
    right = GRID == 1
    n = sum(counts)
    p = [
        Fraction(sum(c for c, row in zip(counts, right, strict=True) if row[j]), n)
        for j in range(3)
    ]
    gamma = {pair: correlation(right[:, pair], counts) for pair in ((0, 1), (0, 2), (1, 2))}
    mixed = p[0] * gamma[1, 2] + p[1] * gamma[0, 2] + p[2] * gamma[0, 1]
    mean = Fraction(counts[7], n)
    three_way = correlation(right, counts)
    assert three_way == mean - mixed - prod(p)
    assert (three_way == mean + mixed - prod(p)) == (mixed == 0)  # as printed


@settings(max_examples=30)
@given(inner, shares, shares, st.tuples(shares, shares))
def test_equation_51_is_the_covariance_of_two_judges(prevalence, a, b, second):
    weak = Fraction(1, 36) * min(a, 1 - a) * min(b, 1 - b)
    point = Point(
        prevalence=prevalence,
        accuracy={"x": (a, b), "y": second},
        correlations={("a", ("x", "y")): weak * min(second[0], 1 - second[0])},
    )
    f = vote_shares(point)
    for label in "ab":  # (37): the covariance is the same for both labels
        first = sum(share for votes, share in f.items() if votes[0] == label)
        other = sum(share for votes, share in f.items() if votes[1] == label)
        assert f[label, label] - first * other == pair_covariance(point, "x", "y")


def test_impossible_points_are_refused():
    sure = {"x": ("1", "1"), "y": ("1/2", "1/2")}
    with pytest.raises(InputError, match="correlations"):
        vote_shares(Point(prevalence="1/2", accuracy=sure, correlations={("a", ("x", "y")): "1/4"}))
    with pytest.raises(InputError, match="exact share"):
        Point(prevalence=0.5, accuracy={"x": ("1", "1")})
    with pytest.raises(InputError, match="in \\[0, 1\\]"):
        Point(prevalence="3/2", accuracy={"x": ("1", "1")})
    with pytest.raises(InputError, match="names no label"):
        Point(prevalence="1/2", accuracy={"x": ("1", "1")}, correlations={("a", ("x", "q")): "1/9"})
    with pytest.raises(InputError, match="rename"):
        simulate(Point(prevalence="1/2", accuracy={"truth": ("1", "1/2")}))
    with pytest.raises(InputError, match="two labels"):
        sample_point(Tally.of({"x": [0, 1, 2], "gold": [0, 1, 2]}), truth="gold")
    with pytest.raises(InputError, match="a vote of every judge"):
        sample_point(Tally.of({"x": [0, 1, None], "gold": [0, 1, 1]}), truth="gold")


# Theorem 2: the quadratic, its two points, the branch.


@settings(max_examples=30)
@given(inner, st.lists(st.tuples(good, good), min_size=3, max_size=3))
def test_the_roots_of_the_quadratic_are_the_prevalence_and_its_mirror(prevalence, accuracy):
    point = three(prevalence, *accuracy)
    d12, d13, d23 = (pair_covariance(point, *pair) for pair in ("xy", "xz", "yz"))
    f = vote_shares(point)
    f1, f2, f3 = (sum(s for votes, s in f.items() if votes[j] == "b") for j in range(3))
    third = f["b", "b", "b"] - f1 * f2 * f3 - f1 * d23 - f2 * d13 - f3 * d12
    a, b, c = trio_quadratic(d12, d13, d23, third)
    assert [a * p**2 + b * p + c for p in (prevalence, 1 - prevalence)] == [0, 0]
    assert any(a * p**2 + b * p + c for p in (prevalence / 2, (1 + prevalence) / 3))


@given(
    st.floats(0.05, 0.95), st.lists(st.tuples(*[st.floats(0.55, 0.95)] * 2), min_size=3, max_size=3)
)
def test_an_independent_trio_is_solved_exactly(first, pairs):
    model = model_of(first, pairs)
    trios = solve_trios(GRID, np.exp(log_likelihood(model, GRID)))
    assert trios.status[0] == "sensible"
    assert trios.balance[0] == pytest.approx(first, abs=1e-8)
    np.testing.assert_allclose(trios.accuracy[0], pairs, atol=1e-8)


def model_of(first, pairs):
    return LatentModel([first, 1 - first], [[[a, 1 - a], [1 - b, b]] for a, b in pairs])


def test_equal_classes_need_no_special_case():
    model = model_of(0.5, [(0.9, 0.9), (0.8, 0.8), (0.7, 0.7)])
    found = solve_trios(GRID, np.exp(log_likelihood(model, GRID)))
    assert found.balance[0] == pytest.approx(0.5, abs=1e-12)
    assert found.third[0] == pytest.approx(0, abs=1e-15)


def test_the_sign_printed_in_table_1_gives_the_mirror_point():
    model = model_of(0.3, [(0.9, 0.8), (0.8, 0.9), (0.7, 0.8)])
    trios = solve_trios(GRID, np.exp(log_likelihood(model, GRID)))
    printed = (1 - trios.third[0] / np.sqrt(trios.square[0])) / 2
    assert trios.balance[0] == pytest.approx(0.3)
    assert printed == pytest.approx(0.7)


def test_the_mirror_point_gives_the_same_votes():
    point = three(
        "1/3",
        ("3/4", "1/2"),
        ("2/3", "3/5"),
        ("1/2", "4/5"),
        correlations={("a", ("x", "y")): "1/50", ("b", ("x", "y", "z")): "-1/100"},
    )
    assert vote_shares(point) == vote_shares(point.mirror())
    balance, accuracy = mirrored(np.array(1 / 3), np.array([[0.75, 0.5]]))
    assert balance == pytest.approx(float(point.mirror().prevalence))
    assert accuracy[0].tolist() == [float(part) for part in point.mirror().accuracy["x"]]


def test_knowledge_picks_the_branch_and_votes_alone_do_not():
    worse = three("1/4", ("1/5", "3/10"), ("3/10", "1/5"), ("1/4", "1/4"))
    trios = solve_trios(*counted(worse))
    assert choose_branch(trios)[0] == pytest.approx(0.75)  # better than chance
    assert choose_branch(trios, prevalence=(0.1, 0.4))[0] == pytest.approx(0.25)
    known = np.array([[0.2, 0.3], [np.nan, np.nan], [np.nan, np.nan]])
    balance, accuracy = choose_branch(trios, reference=known)
    assert balance == pytest.approx(0.25)
    np.testing.assert_allclose(accuracy[0, 1], [0.3, 0.2])
    with pytest.raises(NotIdentifiable, match="both mirror points"):
        choose_branch(trios, prevalence=(0.2, 0.8))


def test_the_closed_form_is_the_maximum_of_the_likelihood_for_a_sensible_trio():
    counts = np.array([300, 40, 60, 70, 50, 45, 90, 345])
    trios = solve_trios(GRID, counts)
    assert trios.status[0] == "sensible"
    found = fit(GRID, counts, n_classes=2)
    np.testing.assert_allclose(trios.accuracy[0], np.einsum("jcc->jc", found.confusion), atol=1e-5)


def test_moments_from_bits_equal_moments_from_products():
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 2, size=(300, 6))
    counts = rng.integers(0, 40, size=300)
    whole = trio_moments(codes, counts)
    halves = trio_moments(codes, counts + 1e-13)  # weights, which bits do not serve
    i, j, k = np.array(list(itertools.combinations(range(6), 3))).T
    assert np.allclose(whole.third[i, j, k], halves.third[i, j, k], atol=1e-12)
    assert np.allclose(whole.covariance, halves.covariance, atol=1e-12)


def test_trios_solved_in_rows_are_those_solved_one_by_one():
    rng = np.random.default_rng(2)
    alone = [solve_trios(GRID, counts) for counts in rng.integers(1, 40, (50, 8))]
    rows = [
        np.concatenate([getattr(one, name) for one in alone])
        for name in ("judges", "mean", "covariance", "third")
    ]
    together = solve_points(*rows)
    assert together.status.tolist() == [str(one.status[0]) for one in alone]
    np.testing.assert_array_equal(
        together.accuracy, np.concatenate([one.accuracy for one in alone])
    )


# Section 4: failure modes. Theorem 5: square roots that do not resolve.


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        # pattern order 000 001 010 011 100 101 110 111
        ([1, 1, 1, 1, 1, 1, 1, 1], "blind judge"),
        ([4, 4, 1, 1, 1, 1, 4, 4], "blind judge"),  # the third judge is a coin
        ([4, 1, 2, 3, 2, 3, 1, 4], "no variety"),  # D_12 = 0, and the third goes along with both
        ([7, 5, 4, 2, 2, 0, 0, 0], "negative product"),
        ([1, 6, 6, 6, 6, 6, 6, 1], "complex"),
        ([3, 7, 4, 0, 6, 6, 7, 1], "outside"),
    ],
)
def test_every_failure_has_its_name(counts, status):
    trios = solve_trios(GRID, counts)
    assert trios.status[0] == status
    assert failure_modes(trios) == {mode: int(mode == status) for mode in failure_modes(trios)}
    if status in ("blind judge", "no variety"):
        assert np.isnan(trios.balance[0])


def test_a_correlated_trio_has_an_unresolved_root_and_an_independent_one_has_not():
    quality = (("9/10", "4/5"), ("3/4", "3/4"), ("2/3", "4/5"))
    clean = counted(three("1/3", *quality))
    dirty = counted(three("1/3", *quality, correlations=GAMMAS))
    assert exact_trio(*clean).resolved
    assert exact_trio(*clean).prevalence[0].fraction == Fraction(1, 3)
    assert not exact_trio(*dirty).resolved
    assert (unresolved_roots(*clean), unresolved_roots(*dirty)) == (0, 1)


@settings(max_examples=30)
@given(inner, st.lists(st.tuples(good, good), min_size=3, max_size=3), st.integers(-9, 9))
def test_one_pair_correlated_on_one_label_resolves_and_is_wrong_nevertheless(
    prevalence, accuracy, size
):
    gamma = Fraction(size, 1000)
    point = three(prevalence, *accuracy, correlations={("a", ("x", "y")): gamma})
    trio = exact_trio(*counted(point))
    assert trio.resolved  # the converse of Theorem 5 fails
    delta = [sum(pair) - 1 for pair in accuracy]
    n = simulate(point).size
    square = prevalence * (1 - prevalence) * delta[2] * (delta[0] * delta[1] + gamma)
    assert trio.radicand == square**2 * n**6
    assert (trio.prevalence[0].fraction == prevalence) == (gamma == 0)


def test_an_exact_trio_needs_three_complete_judges_on_whole_items():
    with pytest.raises(InputError, match="three judges"):
        exact_trio([[0, 1], [1, 1]], [3, 4])
    with pytest.raises(InputError, match="three judges"):
        exact_trio([[0, 1, -1], [1, 1, 0]], [3, 4])
    with pytest.raises(InputError, match="whole counts"):
        exact_trio(GRID, np.full(8, 0.5))
    with pytest.raises(NotIdentifiable, match="D = 0"):
        exact_trio(GRID, np.ones(8))


# Many judges: three solve any ensemble (supplement 3), and two do not.


@pytest.fixture(scope="module")
def four():
    model = model_of(0.65, [(0.9, 0.8), (0.7, 0.85), (0.6, 0.75), (0.95, 0.6)])
    codes = np.array(list(itertools.product([0, 1], repeat=4)))
    return model, codes, np.exp(log_likelihood(model, codes))


def test_many_judges_are_graded_exactly_on_exact_frequencies(four):
    model, codes, chance = four
    for balance in (None, model.balance):
        found = triplet(codes, chance, balance=balance)
        np.testing.assert_allclose(found.balance, model.balance, atol=1e-10)
        np.testing.assert_allclose(found.confusion, model.confusion, atol=1e-10)


def test_votes_missing_at_random_change_nothing_on_exact_frequencies(four):
    model, codes, chance = four
    parts = [(codes, chance)]
    for j in range(4):
        gap = codes.copy()
        gap[:, j] = -1
        parts.append((gap, (0.2 + 0.1 * j) * chance))
    found = triplet(np.vstack([c for c, _ in parts]), np.concatenate([w for _, w in parts]))
    np.testing.assert_allclose(found.confusion, model.confusion, atol=1e-10)


def test_a_wrong_balance_that_drives_an_accuracy_out_is_refused_or_clipped():
    model = model_of(0.5, [(0.95, 0.95), (0.9, 0.9), (0.9, 0.9)])
    chance = np.exp(log_likelihood(model, GRID))
    with pytest.raises(NotIdentifiable, match="judge 0 would be right on"):
        triplet(GRID, chance, balance=[0.9, 0.1])
    assert triplet(GRID, chance, balance=[0.9, 0.1], clip=True).confusion.max() == 1.0


def test_no_sensible_trio_is_refused_with_its_failures_named():
    with pytest.raises(NotIdentifiable, match="1 x complex"):
        triplet(GRID, [1, 6, 6, 6, 6, 6, 6, 1])
    with pytest.raises(NotIdentifiable, match="judge 0 is in no trio"):
        triplet(GRID, [1, 1, 1, 1, 1, 1, 1, 1], balance=[0.5, 0.5])


def test_two_judges_and_a_bad_balance_are_refused():
    with pytest.raises(NotIdentifiable, match="three judges, got 2"):
        solve_trios([[0, 1], [1, 1]], [1, 1])
    with pytest.raises(InputError, match="balance must hold two"):
        triplet(GRID, np.ones(8), balance=[1.0, 0.0])


# Theorem 4: the containing variety.


@settings(max_examples=30)
@given(sketches)
def test_the_true_point_lies_on_the_containing_variety_whatever_the_correlations(cells):
    point = sample_point(sampled(cells), truth="truth")
    on_a = [
        sum(share for votes, share in vote_shares(point).items() if votes[j] == "a")
        for j in range(3)
    ]
    pi = [(a - f, b - (1 - f)) for f, (a, b) in zip(on_a, point.accuracy.values(), strict=True)]
    for first, second in itertools.product(pi, pi):
        assert point.prevalence * first[0] == (1 - point.prevalence) * first[1]  # (22), (45)
        assert first[0] * second[1] == first[1] * second[0]  # (23), (46)
    accuracy = [[float(part) for part in pair] for pair in point.accuracy.values()]
    f = [float(share) for share in on_a]
    assert variety_distance(f, float(point.prevalence), accuracy) < 1e-15
    assert variety_distance(f, float(point.prevalence), 1 - np.array(accuracy) / 2) > 0.01


@settings(max_examples=40)
@given(st.lists(st.integers(0, 30), min_size=8, max_size=8).filter(lambda c: sum(c) > 10))
def test_the_distance_of_the_independent_estimate_is_zero_correlated_or_not(cells):
    """Figure 3 of the paper cannot gauge correlation: (22) is the vote marginal rearranged."""
    trios = solve_trios(GRID, cells)
    if not np.isfinite(trios.balance[0]):
        return
    size = 1 + np.abs(trios.accuracy[0]).max()
    found = variety_distance(1 - trios.mean[0], trios.balance[0], trios.accuracy[0])
    assert found < 1e-7 * size


def test_the_variety_judges_foreign_estimates_and_moves_them():
    codes, counts = counted(Point(prevalence="1/3", accuracy=QUALITY))
    f = counts @ (codes == 0) / counts.sum()
    foreign = np.full((4, 2), 0.9)
    assert variety_distance(f, 1 / 3, foreign) > 0.05
    moved = variety_projection(f, 1 / 3, foreign)
    assert variety_distance(f, 1 / 3, moved) < 1e-12
    assert ((moved >= 0) & (moved <= 1)).all()
    grid = np.linspace(0, 1, 2001)
    line = (grid - f[0]) * (1 / 3) / (2 / 3) + (1 - f[0])
    inside = (line >= 0) & (line <= 1)
    best = np.hypot(grid[inside] - 0.9, line[inside] - 0.9).min()
    assert np.hypot(*(moved[0] - 0.9)) == pytest.approx(best, abs=1e-3)
    with pytest.raises(InputError, match="prevalence must be"):
        variety_projection(f, 1.0, foreign)


# (24), (41): blind spots; section 4: the search.


def solved(prevalence, quality, label=None, pair=(), gamma=0):
    named = {(label, pair): gamma} if label else {}
    found = vote_shares(Point(prevalence=prevalence, accuracy=quality, correlations=named))
    codes = [["ab".index(vote) for vote in votes] for votes in found]
    return solve_trios(codes, [float(share) for share in found.values()])


def test_blind_spots_are_the_derivatives_by_a_real_correlation():
    quality = {"x": ("9/10", "4/5"), "y": ("3/4", "17/20"), "z": ("4/5", "3/4")}
    spots = blind_spots(solved("2/5", quality))
    delta = [0.7, 0.6, 0.55]
    largest = 0.0
    for side, (label, share) in enumerate((("a", 0.4), ("b", 0.6))):
        for k, pair in enumerate((("y", "z"), ("x", "z"), ("x", "y"))):
            ends = [solved("2/5", quality, label, pair, f"{sign}/100000") for sign in (1, -1)]
            slope = (ends[0].balance[0] - ends[1].balance[0]) / 2e-5
            moved = (ends[0].accuracy[0] - ends[1].accuracy[0]) / 2e-5
            assert spots.prevalence[0, k, side] == pytest.approx(slope, rel=1e-4)
            largest = max(largest, abs(slope), np.abs(moved).max())
            # The third judge moves on the other label alone, the pair on this one alone (J13).
            i, j = (other for other in range(3) if other != k)
            third = -share / (1 - share) * delta[k] / (delta[i] * delta[j])
            expected = np.zeros((3, 2))
            expected[k, 1 - side], expected[i, side] = third, 1 / delta[j]
            expected[j, side] = 1 / delta[i]
            np.testing.assert_allclose(moved, expected, rtol=1e-4, atol=1e-5)
    assert spots.condition[0] == pytest.approx(largest, rel=1e-4)


def test_a_blind_judge_harms_if_it_is_one_of_the_pair_and_not_as_the_third():
    numbers = []
    for weak in ("1/2", "11/20", "3/5", "4/5"):
        quality = {"x": ("9/10", "9/10"), "y": ("4/5", "4/5"), "z": (weak, "3/5")}
        spots = blind_spots(solved("2/5", quality))
        numbers.append(spots.condition[0])
        # z is the third judge of the pair x, y: (41) would have its slope grow like 1/δ_z.
        assert spots.prevalence[0, 2, 0] == pytest.approx(-0.4 / (0.8 * 0.6))
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == pytest.approx(4 * numbers[-1])


def test_the_search_ranks_sensible_trios_by_what_correlation_could_do():
    rng = np.random.default_rng(4)
    data = simulate(Point(prevalence="2/5", accuracy=QUALITY)).independent_draws(3000, rng=rng)
    votes = [data[name] == "b" for name in QUALITY]
    coins = rng.random((2, 3000)) < 0.5
    trios = solve_trios(np.stack((*votes, *coins), axis=1).astype(int), np.ones(3000))
    places = nearly_independent(trios, limit=3)
    condition = blind_spots(trios).condition
    assert (trios.status[places] == "sensible").all()
    assert condition[places].tolist() == sorted(condition[trios.status == "sensible"])[:3]
    assert np.isnan(condition[trios.status != "sensible"]).all()
    every = nearly_independent(trios, limit=100)
    assert len(every) == failure_modes(trios)["sensible"] < len(trios.status)


def test_judges_of_a_partition_share_no_feature():
    found = feature_partition(12, judges=3, each=4, rng=2)
    assert found.shape == (3, 4)
    assert len(set(found.ravel().tolist())) == 12
    assert (feature_partition(40, rng=2) != feature_partition(40, rng=3)).any()
    with pytest.raises(InputError, match="need 9 features"):
        feature_partition(8, rng=1)


def test_four_judges_refute_independence_and_three_cannot():
    codes, counts = drawn(4000, 5, Point(prevalence="2/5", accuracy=QUALITY))
    g2, freedom, p_value = independence_test(codes, counts)
    assert (freedom, p_value > 0.01, g2 > 0) == (6, True, True)
    exact = counted(Point(prevalence="1/2", accuracy=dict.fromkeys("wxyz", ("4/5", "3/4"))))
    assert independence_test(*exact)[0] == pytest.approx(0, abs=1e-3)
    pairs = {("a", ("w", "x")): "1/20", ("b", ("w", "x")): "1/20"}
    tied = drawn(4000, 5, Point(prevalence="2/5", accuracy=QUALITY, correlations=pairs))
    assert independence_test(*tied)[2] < 1e-6
    rho = error_correlation(trio_moments(*tied)) - np.eye(4)
    assert np.unravel_index(rho.argmax(), rho.shape) == (0, 1)
    assert rho[0, 1] > 0.3
    assert np.sort(rho[np.triu_indices(4, 1)])[-2] < 0.2
    with pytest.raises(NotIdentifiable, match="whatever they vote"):
        independence_test(GRID, np.ones(8))


# (5)-(7): majority vote, and the author's own trio on UCI Adult (his package ntqr 0.9).

ADULT = [715, 161, 2406, 455, 290, 94, 1335, 231, 271, 469, 3395, 7517, 272, 399, 6377, 12455]
"""Items of a with the votes aaa, aab, aba, …, bbb, then items of b."""


def test_the_majority_decides_and_grades_by_its_decision():
    codes, counts = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 1]]), np.array([2.0, 1.0, 1.0])
    assert (counts @ majority_shares(codes) / 4).tolist() == [0.5, 0.5]
    right, mass = majority_scores(codes, counts)
    assert (right / mass).tolist() == [[1, 0.5], [1, 1], [0, 1]]
    right, mass = majority_scores(codes, counts, leave_one_out=True)
    # By the two others: ties count half for each label.
    assert right.sum(axis=1).tolist() == [2.0, 2.5, 1.5]
    assert mass.sum(axis=1).tolist() == [4.0, 4.0, 4.0]


def test_labelled_statistics_equal_the_published_fractions():
    point = sample_point(sampled(ADULT), truth="truth")
    assert point.prevalence == Fraction(5687, 36842)
    on_a, on_b = zip(*point.accuracy.values(), strict=True)
    assert on_a == (Fraction(3737, 5687), Fraction(1260, 5687), Fraction(4746, 5687))
    assert on_b == (Fraction(6501, 10385), Fraction(29744, 31155), Fraction(4168, 6231))
    assert point.correlations["a", ("x", "y")] == Fraction(273192, 32341969)
    assert point.correlations["a", ("x", "z")] == Fraction(13325, 32341969)
    assert point.correlations["a", ("y", "z")] == Fraction(-264525, 32341969)


def test_majority_vote_equals_the_published_fractions():
    result = majority(sampled(ADULT), truth="truth")
    counts = np.add(ADULT[:8], ADULT[8:]).astype(float)
    right, mass = majority_scores(GRID, counts)

    def fraction(value):
        return Fraction(value).limit_denominator(36842)

    assert counts @ majority_shares(GRID)[:, 0] == 7979
    assert fraction(result.prevalence["a"].estimate) == Fraction(7979, 36842)
    published = [Fraction(7417, 7979), Fraction(2178, 7979), Fraction(7349, 7979)]
    assert [fraction(score.per_label["a"].estimate) for score in result.judges] == published
    assert [Fraction(int(r), int(m)) for r, m in zip(right[:, 0], mass[:, 0], strict=True)] == (
        published
    )


def test_the_independent_point_is_the_published_one_to_nine_digits():
    result = independent(
        sampled(ADULT), truth=None, judges=list("xyz"), prevalence={"a": (0.0, 0.4)}
    )
    assert result.prevalence["a"].estimate == pytest.approx(0.167114439653, abs=1e-9)
    on_a = [score.per_label["a"].estimate for score in result.judges]
    on_b = [score.per_label["b"].estimate for score in result.judges]
    assert on_a == pytest.approx([0.688996977, 0.321976661, 0.656115773], abs=1e-9)
    assert on_b == pytest.approx([0.636731272, 0.977557746, 0.640823021], abs=1e-9)
    mirror = result.solutions[1]
    assert mirror.prevalence["a"] == pytest.approx(1 - 0.167114439653, abs=1e-9)
    assert mirror.accuracy["x"]["a"] == pytest.approx(1 - 0.636731272, abs=1e-9)


def test_the_independent_point_is_the_published_surd_exactly():
    trio = exact_trio(GRID, np.add(ADULT[:8], ADULT[8:]))
    assert not trio.resolved
    first = trio.prevalence[0]
    assert first.a == Fraction(1, 2)
    published = Fraction(11187722681, 61316911076911789)
    assert first.b < 0
    assert first.b**2 * first.r == published**2 * 3328641826009
    assert float(first) == pytest.approx(0.167114439653, abs=1e-12)
    accuracies = [[float(on_a), float(on_b)] for (on_a, on_b), _ in trio.accuracy]
    np.testing.assert_allclose(
        accuracies,
        [[0.688996977, 0.636731272], [0.321976661, 0.977557746], [0.656115773, 0.640823021]],
        atol=1e-9,
    )


# (53)-(60): the spectral method.


def slopes(codes, counts, function, step=1e-3):
    """Standard errors from numerical derivatives in the count of every pattern."""
    moved = []
    for p in range(len(counts)):
        ends = [counts.copy(), counts.copy()]
        ends[0][p] -= step
        ends[1][p] += step
        moved.append((function(codes, ends[1]) - function(codes, ends[0])) / (2 * step))
    return np.sqrt(counts @ np.array(moved) ** 2)


def test_spectral_recovers_an_independent_point():
    point = Point(prevalence="1/3", accuracy=QUALITY)
    balance, accuracy = spectral_point(rank_one(trio_moments(*counted(point))))
    assert balance == pytest.approx(1 / 3, abs=1e-6)
    np.testing.assert_allclose(
        accuracy, [[float(part) for part in pair] for pair in point.accuracy.values()], atol=1e-6
    )


@settings(max_examples=30)
@given(inner, shares, shares)
def test_equation_59_needs_one_more_term(prevalence, a, b):
    point = Point(prevalence=prevalence, accuracy={"x": (a, b)})
    votes = vote_shares(point)
    printed = -1 + 2 * prevalence * (a + b - 1)
    assert votes["a",] - votes["b",] == printed + 2 * (1 - b)
    assert (votes["a",] - votes["b",] == printed) == (b == 1)


def test_errors_of_the_spectral_method_are_those_of_its_numerical_derivatives():
    codes, counts = drawn(500, 3, Point(prevalence="1/4", accuracy=QUALITY))
    rank = rank_one(trio_moments(codes, counts))
    balance, by_label, overall = spectral_errors(codes, counts, rank)

    def point(codes, counts):
        share, accuracy = spectral_point(rank_one(trio_moments(codes, counts)))
        return np.concatenate(([share], accuracy.ravel(), accuracy @ [share, 1 - share]))

    assert np.concatenate(([balance], by_label.ravel(), overall)) == pytest.approx(
        slopes(codes, counts.astype(float), point), rel=1e-4
    )


# (61)-(81): the agreement equations.


@settings(max_examples=30)
@given(sketches)
def test_agreement_is_equation_74_and_72_needs_twice_the_product(cells):
    point = sample_point(sampled(cells), truth="truth")
    f = joint_shares(point)
    agree = sum(share for (votes, _), share in f.items() if votes[0] == votes[1])
    right = [sum(s for (votes, label), s in f.items() if votes[j] == label) for j in range(2)]
    both = sum(s for (votes, label), s in f.items() if votes[0] == votes[1] == label)
    assert agree == 1 - sum(right) + 2 * both  # (74)
    weights = (point.prevalence, 1 - point.prevalence)
    corrected = printed = Fraction(0)
    for side, (label, weight) in enumerate(zip("ab", weights, strict=True)):
        p, q = point.accuracy["x"][side], point.accuracy["y"][side]
        linear = 1 - p - q + 2 * point.correlations[label, ("x", "y")]
        corrected += weight * (linear + 2 * p * q)
        printed += weight * (linear - p * q)
    assert agree == corrected
    assert (agree == printed) == (corrected == printed)
    codes, counts = GRID, np.add(cells[:8], cells[8:]).astype(float)
    assert agreement_rates(codes, counts)[0][0, 1] == pytest.approx(float(2 * agree - 1))


def test_agreement_fails_for_independent_judges_by_the_gap_that_is_derived():
    point = Point(prevalence="1/2", accuracy=dict.fromkeys("xyz", ("1", "3/5")))
    f = joint_shares(point)
    wrong = [sum(s for (votes, label), s in f.items() if votes[j] != label) for j in range(2)]
    both = sum(s for (votes, label), s in f.items() if votes[0] != label and votes[1] != label)
    assert both - prod(wrong) == Fraction(1, 25)
    assert agreement_gap(0.5, (1, 0.6), (1, 0.6)) == pytest.approx(1 / 25)
    found = agreement_accuracy(*counted(point))
    assert np.abs(found - 0.8).min() > 0.05
    with pytest.raises(NotIdentifiable, match="three judges"):
        agreement_accuracy(np.array([[0, 1], [1, 1]]), np.ones(2))


def test_agreement_is_right_where_judges_err_alike_on_both_labels():
    even = Point(
        prevalence="1/3", accuracy={"x": ("4/5",) * 2, "y": ("3/4",) * 2, "z": ("2/3",) * 2}
    )
    assert agreement_accuracy(*counted(even)) == pytest.approx([0.8, 0.75, 2 / 3])


def test_the_root_of_the_agreement_equations_does_not_resolve_for_independent_judges():
    point = Point(prevalence="1/3", accuracy={name: QUALITY[name] for name in "wxy"})
    codes, counts = counted(point)
    n = int(counts.sum())
    same = [
        Fraction(int(counts @ (codes[:, i] == codes[:, j])), n) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    found = agreement_error_rate(*same)
    assert found.fraction is None  # an error rate of a finite test is a fraction
    assert 1 - float(found) == pytest.approx(agreement_accuracy(codes, counts)[0], abs=1e-12)
    assert prod(1 - 2 * a for a in same) < 0  # (81) as printed has no real root
    alike = agreement_error_rate(*[Fraction(17, 25)] * 3)  # judges right on 4/5 of both labels
    assert alike.r * alike.b**2 == (Fraction(3, 5) / 2) ** 2


def test_errors_of_agreement_are_those_of_its_numerical_derivatives():
    codes, counts = drawn(500, 3, Point(prevalence="1/4", accuracy=QUALITY))
    held = counts.astype(float)
    assert agreement_errors(codes, held) == pytest.approx(
        slopes(codes, held, agreement_accuracy), rel=1e-4
    )
