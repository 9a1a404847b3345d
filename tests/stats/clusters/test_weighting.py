import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.clusters import cluster_values


def test_equal_weights_give_the_mean_of_cluster_means():
    found = cluster_values([10, 40], [[5.0, 10.0], [40.0, 10.0]])
    assert found.scores == pytest.approx([0.75, 0.625])
    assert found.sizes.tolist() == [1, 1]


def test_item_weights_give_the_mean_of_all_items():
    found = cluster_values([10, 40], [[5.0, 10.0], [40.0, 10.0]], weight="items")
    assert found.scores == pytest.approx([0.9, 0.4])
    assert np.array_equal(found.values, [[5, 10], [40, 10]])


@pytest.mark.parametrize(
    ("counts", "sums", "weight", "named"),
    [
        ([1, 0], [[1.0], [0.0]], "equal", "counts must be positive"),
        ([1], [[1.0], [0.0]], "equal", "shapes"),
        ([1, 2], [[1.0], [np.nan]], "equal", "finite"),
        ([1, 2], [[1.0], [0.0]], "size", "weight must be 'equal' or 'items', got 'size'"),
    ],
)
def test_what_cannot_be_weighted_is_refused(counts, sums, weight, named):
    with pytest.raises(InputError, match=named):
        cluster_values(counts, sums, weight=weight)
