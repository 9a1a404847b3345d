from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
from tallystick.table import Tally
from tallystick.verbs.judge import independent

shares = st.fractions(min_value=Fraction(6, 10), max_value=Fraction(9, 10), max_denominator=10)
prevalences = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10)


def table(point):
    return simulate(point).tally


def three(prevalence="1/2", *accuracy):
    return Point(prevalence=prevalence, accuracy=dict(zip("xyz", accuracy, strict=True)))


@settings(max_examples=30)
@given(prevalences, st.lists(st.tuples(shares, shares), min_size=3, max_size=3))
def test_independent_judges_are_recovered_exactly_with_both_points(prevalence, accuracy):
    point = three(prevalence, *accuracy)
    result = independent(table(point), judges=["x", "y", "z"])
    assert result.prevalence["a"].estimate == pytest.approx(float(prevalence), abs=1e-9)
    for score, (a, b) in zip(result.judges, accuracy, strict=True):
        assert score.per_label["a"].estimate == pytest.approx(float(a), abs=1e-8)
        assert score.per_label["b"].estimate == pytest.approx(float(b), abs=1e-8)
    mirror = point.mirror()
    assert result.solutions[1].prevalence["a"] == pytest.approx(float(mirror.prevalence), abs=1e-9)
    assert result.trios["unresolved root"] == 0


def test_the_branch_is_chosen_and_named():
    worse = three("1/4", ("1/5", "3/10"), ("3/10", "1/5"), ("1/4", "1/4"))
    votes = table(worse)
    by_chance = independent(votes, judges=["x", "y", "z"])
    assert by_chance.prevalence["a"].estimate == pytest.approx(0.75)
    assert by_chance.solutions[0].branch == "better-than-chance"
    by_share = independent(votes, judges=["x", "y", "z"], prevalence={"a": (0.1, 0.4)})
    assert by_share.prevalence["a"].estimate == pytest.approx(0.25)
    assert by_share.solutions[0].branch == "prevalence"


def test_a_prevalence_range_that_contains_both_points_is_refused():
    votes = table(three("2/5", ("9/10", "4/5"), ("3/4", "3/4"), ("2/3", "4/5")))
    with pytest.raises(NotIdentifiable, match="both mirror points"):
        independent(votes, judges=["x", "y", "z"], prevalence={"a": (0.3, 0.7)})


@pytest.mark.parametrize("bad", [(0.5, 0.2), (-0.1, 0.5), (0.5, 1.5), (0.0, 0.0)])
def test_a_prevalence_that_is_no_range_in_the_unit_interval_is_refused(bad):
    votes = table(three("2/5", ("9/10", "4/5"), ("3/4", "3/4"), ("2/3", "4/5")))
    with pytest.raises(InputError, match="LABEL=LOW,HIGH, a range within"):
        independent(votes, judges=["x", "y", "z"], prevalence={"a": bad})


@pytest.mark.parametrize(
    ("cells", "mode"),
    [
        ([1, 1, 1, 1, 1, 1, 1, 1], "blind judge"),
        ([30, 30, 0, 0, 0, 0, 30, 30], "blind judge"),
        ([1, 4, 4, 4, 0, 5, 2, 6], "no variety"),
        ([3, 5, 7, 5, 6, 5, 5, 3], "complex"),
        ([6, 5, 4, 2, 2, 0, 0, 0], "negative product"),
        ([3, 6, 4, 0, 6, 5, 6, 1], "outside"),
    ],
)
def test_every_failure_mode_is_told_apart(cells, mode):
    patterns = list(product("ab", repeat=3))
    columns = {name: [pattern[j] for pattern in patterns] for j, name in enumerate("xyz")}
    with pytest.raises(NotIdentifiable, match=f"1 {mode}"):
        independent(Tally.from_patterns(columns, cells))


def test_failure_modes_are_counted_over_random_sketches_and_each_occurs():
    rng = np.random.default_rng(5)
    seen = set()
    cells = list(product("ab", repeat=3))
    columns = {name: [cell[j] for cell in cells] for j, name in enumerate("xyz")}
    for _ in range(300):
        votes = Tally.from_patterns(columns, rng.integers(0, 6, size=8))
        try:
            seen |= {mode for mode, number in independent(votes).trios.items() if number}
        except (NotIdentifiable, InputError) as error:
            seen |= {
                mode
                for mode in ("blind judge", "no variety", "complex", "negative product", "outside")
                if mode in str(error)
            }
    assert {
        "sensible",
        "blind judge",
        "no variety",
        "complex",
        "negative product",
        "outside",
    } <= seen
    assert "unresolved root" in seen


def test_one_or_two_judges_are_refused_with_the_way_out():
    votes = Tally.of({"x": [0, 1, 1], "y": [0, 1, 0]})
    with pytest.raises(NotIdentifiable, match="logical"):
        independent(votes)
