"""The trio of classifiers on UCI Adult that the paper's author ships with his package ntqr 0.9, as
exact numbers."""

from fractions import Fraction

import pytest

from tallystick.table import Tally
from tallystick.verbs.judge import exact, independent, majority, supervised_point

COUNTS = {
    "a": {
        "aaa": 715,
        "aab": 161,
        "aba": 2406,
        "abb": 455,
        "baa": 290,
        "bab": 94,
        "bba": 1335,
        "bbb": 231,
    },
    "b": {
        "aaa": 271,
        "aab": 469,
        "aba": 3395,
        "abb": 7517,
        "baa": 272,
        "bab": 399,
        "bba": 6377,
        "bbb": 12455,
    },
}
NAMES = ("c0", "c1", "c2")


@pytest.fixture(scope="module")
def votes():
    rows = [
        (votes, label, count) for label, cells in COUNTS.items() for votes, count in cells.items()
    ]
    columns = {name: [row[0][j] for row in rows] for j, name in enumerate(NAMES)}
    return Tally.from_patterns(
        {**columns, "truth": [row[1] for row in rows]}, [row[2] for row in rows]
    )


def test_labelled_statistics_equal_the_published_fractions(votes):
    point = supervised_point(votes, truth="truth")
    assert point.n == 36842
    assert point.prevalence["a"] == Fraction(5687, 36842)
    on_a = [point.accuracy(name)["a"] for name in NAMES]
    on_b = [point.accuracy(name)["b"] for name in NAMES]
    assert on_a == [Fraction(3737, 5687), Fraction(1260, 5687), Fraction(4746, 5687)]
    assert on_b == [Fraction(6501, 10385), Fraction(29744, 31155), Fraction(4168, 6231)]
    assert point.correlation("a", ("c0", "c1")) == Fraction(273192, 32341969)
    assert point.correlation("a", ("c0", "c2")) == Fraction(13325, 32341969)
    assert point.correlation("a", ("c1", "c2")) == Fraction(-264525, 32341969)


def test_majority_vote_equals_the_published_fractions(votes):
    result = majority(votes, truth="truth")

    def fraction(value):
        return Fraction(value).limit_denominator(36842)

    assert fraction(result.prevalence["a"].estimate) == Fraction(7979, 36842)
    on_a = [fraction(score.per_label["a"].estimate) for score in result.judges]
    assert on_a == [Fraction(7417, 7979), Fraction(2178, 7979), Fraction(7349, 7979)]


def test_the_independent_point_is_the_published_one_to_nine_digits(votes):
    result = independent(votes, truth=None, judges=NAMES, prevalence={"a": (0.0, 0.4)})
    assert result.prevalence["a"].estimate == pytest.approx(0.167114439653, abs=1e-9)
    on_a = [score.per_label["a"].estimate for score in result.judges]
    on_b = [score.per_label["b"].estimate for score in result.judges]
    assert on_a == pytest.approx([0.688996977, 0.321976661, 0.656115773], abs=1e-9)
    assert on_b == pytest.approx([0.636731272, 0.977557746, 0.640823021], abs=1e-9)
    mirror = result.solutions[1]
    assert mirror.prevalence["a"] == pytest.approx(1 - 0.167114439653, abs=1e-9)
    assert mirror.accuracy["c0"]["a"] == pytest.approx(1 - 0.636731272, abs=1e-9)


def test_the_independent_point_is_the_published_surd_exactly(votes):
    trio = exact(votes, judges=NAMES)
    assert not trio.resolved
    first = trio.prevalence[0]
    assert first.a == Fraction(1, 2)
    published = Fraction(11187722681, 61316911076911789)
    assert first.b < 0
    assert first.b**2 * first.r == published**2 * 3328641826009
    assert float(first) == pytest.approx(0.167114439653, abs=1e-12)
