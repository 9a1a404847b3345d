import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.verbs.shift import optimal_allocation, optimal_loss


@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=2, max_size=8),
    st.integers(0, 99),
)
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
