import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.stats.intervals import wilson
from tallystick.verbs.dynamic.attempts import clustered_cost, clustered_rate

X, N = [3, 1, 8, 0, 5, 2], [20, 10, 30, 5, 25, 40]


def ends(interval, digits=4):
    return [round(end, digits) for end in interval]


def test_six_annotators_reach_the_printed_vector():
    found = clustered_rate(X, N)
    assert round(found.rate, 4) == 0.1462
    assert round(found.df, 3) == 2.739
    assert round(found.effective, 2) == 37.28
    assert ends(found.interval) == [0.0393, 0.4176]
    assert (found.annotators, found.attempts, found.successes) == (6, 130, 19)


def test_four_annotators_reach_the_vectors_of_the_corrections():
    found = clustered_rate([0, 2, 1, 9], [12, 8, 15, 10])
    assert (round(found.rate, 4), round(found.df, 3), round(found.effective, 3)) == (
        0.2667,
        2.538,
        3.749,
    )
    assert ends(found.interval) == [0.0188, 0.8736]
    nobody = clustered_rate([0, 0, 0, 0], [12, 8, 15, 10])
    assert round(nobody.effective, 3) == 3.799
    assert ends(nobody.interval) == [0.0, 0.5028]


def test_everybody_mirrors_nobody():
    nobody, everybody = (clustered_rate([k * n for n in (12, 8, 15)], [12, 8, 15]) for k in (0, 1))
    low, high = everybody.interval
    assert (1 - high, 1 - low) == pytest.approx(tuple(nobody.interval))


def test_the_degrees_of_freedom_equal_the_matrix_form():
    """(A2) as it is printed, with the whole matrix."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = rng.integers(1, 50, rng.integers(2, 30)).astype(float)
        h, q = n / n.sum(), (n**2).sum()
        c = np.diag(n**2) - np.outer(n**2, h) - np.outer(h, n**2) + np.outer(h, h) * q
        m = c / np.sqrt(np.outer(1 - h, 1 - h))
        expected = max(1.0, np.trace(m) ** 2 / (m**2).sum())
        assert clustered_rate(np.zeros(n.size), n).df == pytest.approx(expected, rel=1e-9)


def test_annotators_without_attempts_change_nothing():
    assert clustered_rate([*X, 0, 0], [*N, 0, 0]) == clustered_rate(X, N)


def test_exactly_proportional_successes_use_all_attempts():
    found = clustered_rate([2, 4, 6], [10, 20, 30])
    assert found.effective == 60
    assert found.interval.low > 0


def test_one_annotator_has_a_rate_and_no_interval():
    found = clustered_rate([3], [20])
    assert found.rate == 0.15
    assert isinstance(found.interval, Unknown)


def test_many_alike_annotators_come_near_wilson():
    rng = np.random.default_rng(1)
    n = np.full(400, 20)
    found = clustered_rate(rng.binomial(n, 0.2), n)
    plain = wilson(found.successes, found.attempts)
    assert found.interval.width == pytest.approx(plain.width, rel=0.12)


def test_the_cost_per_success_reaches_the_vector_of_the_corrections():
    cost, interval = clustered_cost([10, 6, 12, 4, 11, 22], X, N)
    assert round(cost, 3) == 3.421
    assert (round(interval.low, 3), round(interval.high, 2)) == (0.689, 16.99)


def test_without_a_success_there_is_no_cost_per_success():
    cost, interval = clustered_cost([1, 2], [0, 0], [5, 5])
    assert isinstance(cost, Unknown)
    assert isinstance(interval, Unknown)
    cost, interval = clustered_cost([4], [2], [5])
    assert cost == 2.0
    assert isinstance(interval, Unknown)


def _held(rng, rate, annotators, spread):
    """Coverage of the population's rate, with skill and effort that vary."""
    held = 0
    for _ in range(400):
        n = np.maximum(1, rng.lognormal(2.5, 0.8, annotators)).astype(int)
        skill = rng.beta(rate * spread, (1 - rate) * spread, annotators)
        held += rate in clustered_rate(rng.binomial(n, skill), n).interval
    return held / 400


@pytest.mark.parametrize(
    ("rate", "annotators", "spread"), [(0.05, 8, 5), (0.3, 6, 5), (0.3, 20, 8)]
)
def test_the_interval_holds_the_rate_when_skill_varies(rate, annotators, spread):
    """The page measured .932 to 1; 400 draws at .932 give less than .885 once in 1000."""
    assert _held(np.random.default_rng(annotators), rate, annotators, spread) >= 0.885
