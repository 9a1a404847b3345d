import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.verbs.dynamic.attempts import clustered_contrast

X = np.array([[3, 6], [1, 0], [8, 9], [0, 2], [5, 4], [2, 0]])
N = np.array([[20, 25], [10, 0], [30, 20], [5, 10], [25, 15], [40, 0]])


def test_the_change_reaches_the_vector_of_the_corrections():
    found = clustered_contrast(X, N, (-1, 1))
    assert round(found.estimate, 4) == 0.1538
    assert round(found.error, 4) == 0.0535
    assert [round(df, 3) for df in found.df] == [3.672, 2.666]
    assert [round(end, 4) for end in found.interval] == [-0.0292, 0.3369]


def test_the_reverse_change_is_the_mirror():
    there, back = (clustered_contrast(X, N, weights) for weights in ((-1, 1), (1, -1)))
    assert back.estimate == -there.estimate
    assert back.interval.low == pytest.approx(-there.interval.high)


def test_a_round_of_one_annotator_has_no_interval():
    found = clustered_contrast([[1, 2], [3, 0]], [[5, 5], [5, 0]], (-1, 1))
    assert found.estimate == pytest.approx(0.4 - 0.4)
    assert isinstance(found.interval, Unknown)


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_without_a_change_the_interval_holds_zero(shared):
    """The page measured .940 to .984; 400 draws at .94 give less than .90 once in 1000."""
    rng = np.random.default_rng(int(10 * shared))
    held, people = 0, 16
    both = int(shared * people)
    for _ in range(400):
        size = 2 * people - both
        skill = rng.beta(0.25 * 6, 0.75 * 6, size)
        n = np.maximum(1, rng.lognormal(2.3, 0.7, (size, 2))).astype(int)
        n[people:, 0] = 0
        n[: people - both, 1] = 0
        held += 0.0 in clustered_contrast(rng.binomial(n, skill[:, None]), n, (-1, 1)).interval
    assert held / 400 >= 0.90


def test_no_change_of_a_rate_is_more_than_a_hundred_points():
    found = clustered_contrast([[0, 1], [0, 0]], [[2, 1], [1, 1]], (-1, 1))
    assert tuple(found.interval) == (-1.0, 1.0)
