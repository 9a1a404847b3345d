import itertools

import numpy as np
import pytest
from scipy import stats

from tallystick.errors import InputError
from tallystick.stats.clusters import cluster_errors, satterthwaite
from tallystick.stats.pairs import pairs_of_new_clusters


def general_cr2(sizes, values):
    """CR2 and its Satterthwaite degrees of freedom by the general matrix formulas, for an intercept
    only."""
    n = sum(sizes)
    x = np.ones((n, 1))
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    residual = (np.eye(n) - hat) @ values
    starts = np.cumsum([0, *sizes])
    columns, variance = [], 0.0
    for lo, hi in itertools.pairwise(starts):
        block = np.eye(hi - lo) - hat[lo:hi, lo:hi]
        w, v = np.linalg.eigh(block)
        adjust = v @ np.diag(1 / np.sqrt(w)) @ v.T
        variance += (np.ones(hi - lo) @ adjust @ residual[lo:hi] / n) ** 2
        columns.append((np.eye(n) - hat)[:, lo:hi] @ adjust @ np.ones(hi - lo) / n)
    gram = np.array(columns) @ np.array(columns).T
    return np.sqrt(variance), np.trace(gram) ** 2 / np.sum(gram**2)


@pytest.mark.parametrize("sizes", [(3, 3, 3), (2, 5, 9, 4), (1, 20, 3)])
def test_closed_forms_are_the_general_matrix_formulas(sizes):
    values = np.random.default_rng(1).random(sum(sizes))
    codes = np.repeat(np.arange(len(sizes)), sizes)
    mean, error, freedom = cluster_errors(sizes, np.bincount(codes, values))
    expected_error, expected_freedom = general_cr2(sizes, values)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(expected_error)
    assert freedom == pytest.approx(expected_freedom)


def test_items_of_their_own_are_the_usual_standard_error():
    values = np.random.default_rng(2).random(40)
    _, error, freedom = cluster_errors(np.ones(40), values)
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(40))
    assert freedom == pytest.approx(39)


def test_one_cluster_says_nothing_of_new_ones():
    with pytest.raises(InputError, match="at least two clusters"):
        pairs_of_new_clusters(np.array([10.0]), np.array([[5.0, 6.0]]), bounds=(0, 1), alpha=0.05)
    with pytest.raises(InputError, match="at least two positive"):
        satterthwaite([10])


def test_clusters_that_all_agree_get_an_interval_and_not_a_point():
    counts, sums = np.full(6, 10.0), np.tile([7.0, 5.0], (6, 1))
    table = pairs_of_new_clusters(counts, sums, bounds=(0.0, 1.0), alpha=0.05)
    assert table.intervals[0].width > 0.1
    for scale in (1e-6, 1 / 3, 1e7):
        uneven = np.array([3.0, 7.0, 11.0, 5.0, 9.0, 13.0])
        free = pairs_of_new_clusters(
            uneven, uneven[:, None] * [0.7, 0.5] * scale, bounds=None, alpha=0.05
        )
        assert tuple(free.intervals[0]) == (-np.inf, np.inf)
        assert free.p_value.tolist() == [1.0]


def test_simultaneous_intervals_pay_for_the_number_of_pairs():
    """Without Bonferroni's factor the simultaneous intervals would be the single ones."""
    rng = np.random.default_rng(2)
    counts, sums = np.full(12, 10.0), rng.normal(50, 5, (12, 4))
    table = pairs_of_new_clusters(counts, sums, bounds=None, alpha=0.05)
    wider = table.simultaneous.width / table.intervals.width
    expected = stats.t.ppf(1 - 0.05 / 12, 11) / stats.t.ppf(1 - 0.05 / 2, 11)
    assert wider == pytest.approx(np.full(6, expected))
