import numpy as np
import pytest

from tallystick.stats.clusters import fewest_clusters, subsets_of


def test_up_to_twelve_clusters_every_subset_occurs_once():
    for clusters in (1, 5, 12):
        found = subsets_of(clusters, rng=0)
        assert found.complete
        assert len(np.unique(found.member, axis=0)) == found.number == 2**clusters


def test_beyond_twelve_clusters_the_full_subset_is_one_of_ten_thousand():
    found = subsets_of(13, rng=0)
    assert not found.complete
    assert found.member.shape == (10_000, 13)
    assert found.member[0].all()


def test_a_share_of_subsets_is_counted_without_rounding_error():
    # .0273 is 7 of 256; as a float product it may come out as 6.999…
    assert subsets_of(8, rng=0).rank(7 / 256) == 7
    assert subsets_of(28, rng=0).rank(0.05) == 500


@pytest.mark.parametrize(("alpha", "least"), [(0.05, 6), (0.1, 5), (0.01, 8), (2**-4, 5)])
def test_the_fewest_clusters_are_those_whose_smallest_p_value_reaches_the_level(alpha, least):
    assert fewest_clusters(alpha) == least
    assert 2 / 2**least <= alpha < 2 / 2 ** (least - 1)
