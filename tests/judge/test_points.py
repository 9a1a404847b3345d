"""Points, the votes that they imply, and back: correlated, simulate, supervised, exact."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.table import Tally
from tallystick.verbs.judge import Point, correlated, exact, simulate, supervised, supervised_point

shares = st.fractions(min_value=0, max_value=1, max_denominator=6)


inner = st.fractions(min_value=Fraction(1, 6), max_value=Fraction(5, 6), max_denominator=6)


@given(inner, st.lists(st.tuples(shares, shares), min_size=1, max_size=4))
def test_the_smallest_test_has_exactly_the_point_and_no_correlation(prevalence, accuracy):
    point = Point(
        prevalence=prevalence, accuracy={f"j{k}": pair for k, pair in enumerate(accuracy)}
    )
    test = simulate(point)
    found = supervised_point(test.tally, truth="truth")
    assert found.n == test.size
    assert found.prevalence["a"] == prevalence
    for name, (a, b) in point.accuracy.items():
        assert found.accuracy(name) == {"a": a, "b": b}
    assert set(found.correlations().values()) <= {Fraction(0)}


def test_no_smaller_test_exists():
    test = simulate(Point(prevalence="1/3", accuracy={"x": ("3/4", "1/2"), "y": ("2/3", "1/5")}))
    shares_of_items = [Fraction(count, test.size) for count in test.counts.values()]
    for size in range(1, test.size):
        assert any((share * size).denominator > 1 for share in shares_of_items)


@given(
    st.lists(st.integers(0, 5), min_size=16, max_size=16).filter(
        lambda c: sum(c[:8]) and sum(c[8:])
    )
)
def test_any_labelled_sketch_is_remade_by_its_own_point(cells):
    patterns = [tuple("ab"[k >> j & 1] for j in range(3)) for k in range(8)]
    rows = [(votes, label) for label in "ab" for votes in patterns]
    columns = {f"j{j}": [votes[j] for votes, _ in rows] for j in range(3)}
    votes = Tally.from_patterns({**columns, "truth": [label for _, label in rows]}, cells)
    found = supervised_point(votes, truth="truth")
    if len(found.classes) < 2:
        return
    point = Point(
        prevalence=found.prevalence["a"],
        accuracy={
            name: (found.accuracy(name)["a"], found.accuracy(name)["b"]) for name in found.names
        },
        correlations=found.correlations(),
    )
    n = sum(cells)
    remade = correlated(point)
    for k, pattern in enumerate(patterns):
        assert remade[pattern] == Fraction(cells[k] + cells[8 + k], n)


def test_the_mirror_point_gives_the_same_votes():
    point = Point(
        prevalence="1/3",
        accuracy={"x": ("3/4", "1/2"), "y": ("2/3", "3/5"), "z": ("1/2", "4/5")},
        correlations={("a", ("x", "y")): "1/50", ("b", ("x", "y", "z")): "-1/100"},
    )
    assert correlated(point) == correlated(point.mirror())


def test_a_stream_is_a_shuffle_and_independent_draws_are_not():
    test = simulate(Point(prevalence="1/2", accuracy={"x": ("3/4", "3/4"), "y": ("3/4", "3/4")}))
    assert Tally.of(test.stream(rng=1)) == Tally.of(test.stream(rng=2))
    drawn = Tally.of(test.independent_draws(test.size * 50, rng=3))
    found = supervised_point(drawn, truth="truth")
    assert any(found.correlation(label, ("x", "y")) for label in "ab")


def test_impossible_correlations_are_refused():
    point = Point(
        prevalence="1/2",
        accuracy={"x": ("1", "1"), "y": ("1/2", "1/2")},
        correlations={("a", ("x", "y")): "1/4"},
    )
    with pytest.raises(InputError, match="correlations"):
        correlated(point)


def test_floats_are_refused_where_exact_numbers_are_meant():
    with pytest.raises(InputError, match="exact share"):
        Point(prevalence=0.5, accuracy={"x": ("1", "1")})
    with pytest.raises(InputError, match="in \\[0, 1\\]"):
        Point(prevalence="3/2", accuracy={"x": ("1", "1")})


def test_correlations_of_unknown_judges_are_refused():
    with pytest.raises(InputError, match="names no label"):
        Point(prevalence="1/2", accuracy={"x": ("1", "1")}, correlations={("a", ("x", "q")): "1/9"})


def test_a_truth_named_like_a_judge_is_refused():
    with pytest.raises(InputError, match="rename"):
        simulate(Point(prevalence="1/2", accuracy={"truth": ("1", "1/2")}))


def test_correlations_of_every_order_are_given():
    point = Point(prevalence="1/2", accuracy={f"j{k}": ("3/4", "2/3") for k in range(4)})
    found = supervised_point(simulate(point).tally, truth="truth").correlations()
    groups = [group for m in (2, 3, 4) for group in combinations(point.names, m)]
    assert set(found) == {(label, group) for label in "ab" for group in groups}


def test_supervised_intervals_are_exact_and_blank_truth_is_left_out():
    votes = Tally.of({"x": [0, 0, 1, 1, 0], "gold": [0, 1, 1, 1, None]})
    result = supervised(votes, truth="gold")
    assert result.n_labels == 4
    assert result.judges[0].accuracy == 0.75
    assert result.judges[0].interval.guarantee == "exact"
    with pytest.raises(InputError, match="not one item"):
        supervised(Tally.of({"x": [0, 1], "gold": [None, None]}), truth="gold")


def test_an_exact_trio_needs_three_complete_judges():
    with pytest.raises(InputError, match="three judges"):
        exact(Tally.of({"x": [0, 1], "y": [0, 1]}))
    with pytest.raises(InputError, match="three judges"):
        exact(Tally.of({"x": [0, 1], "y": [0, 1], "z": [0, None]}))
