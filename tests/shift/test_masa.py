import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.shift import loss_bound, optimal_allocation, optimal_loss, theorem_conditions


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=2, max_size=8), st.integers(0, 99))
def test_no_allocation_beats_the_optimum(cells, seed):
    p = np.array([a for a, _ in cells]) / sum(a for a, _ in cells)
    sigma = np.array([b for _, b in cells])
    best = optimal_allocation(p, sigma, calls=1000)
    loss = (p**2 * sigma**2 / best).sum()
    assert loss == pytest.approx(optimal_loss(p, sigma, calls=1000))
    other = best * np.random.default_rng(seed).uniform(0.5, 2, len(best))
    other *= 1000 / other.sum()
    assert (p**2 * sigma**2 / other).sum() >= loss * (1 - 1e-12)


def test_certain_partitions_are_asked_by_size():
    assert optimal_allocation([0.25, 0.75], [0, 0], calls=8).tolist() == [2, 6]


def test_the_conditions_of_the_theorem_are_reported():
    least = 2 * np.log(2) + np.log(3) + 2.25 * np.log(2000)
    assert theorem_conditions(labels=2, bins=3, calls=2000, exploration=least + 1e-9) == ()
    assert len(theorem_conditions(labels=2, bins=3, calls=2000, exploration=least - 1e-9)) == 1
    assert len(theorem_conditions(labels=2, bins=3, calls=24, exploration=1)) == 2


def test_the_bound_is_above_the_loss_and_meets_it_with_many_answers():
    p, sigma2 = np.array([0.5, 0.5]), np.array([0.1, 0.2])
    for n in (10, 1000, 10**8):
        loss = (p**2 * sigma2 / n).sum()
        assert loss_bound(p, [n, n], sigma2) > loss
    assert loss_bound(p, [n, n], sigma2) == pytest.approx(loss, rel=1e-2)


def test_an_unasked_partition_has_no_bound():
    assert loss_bound([0.5, 0.5], [0, 3], [0.1, 0.1]) == np.inf
    with pytest.raises(InputError, match="delta"):
        loss_bound([1.0], [2], [0.1], delta=0)
