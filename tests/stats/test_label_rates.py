from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

from tallystick.stats.intervals import wilson
from tallystick.stats.label_rates import poststratified_ratio

FOUR = np.array([True, True, False, False])


def test_the_ratio_is_that_of_the_formula():
    sizes, k, x = np.array([40, 10, 8, 142]), np.array([10, 3, 2, 35]), np.array([8, 1, 1, 1])
    q = t.ppf(0.975, k.sum() - 4)
    star = k * (sizes - 1) / (sizes - k)
    share = x / k
    brick = wilson(share * star, star, alpha=2 * norm.sf(q))
    down, up = (sizes * (share - brick.low)) ** 2, (sizes * (brick.high - share)) ** 2
    a, c = (sizes * share)[:2].sum(), (sizes * share)[2:].sum()
    la, ua, lc, uc = down[:2].sum(), up[:2].sum(), down[2:].sum(), up[2:].sum()
    r_lo = (a**2 - la) / (a * c + np.sqrt(a**2 * c**2 - (a**2 - la) * (c**2 - uc)))
    r_hi = (a * c + np.sqrt(a**2 * c**2 - (a**2 - ua) * (c**2 - lc))) / (c**2 - lc)
    found = poststratified_ratio(sizes, k, x, inside=FOUR)
    assert found.estimate[0] == pytest.approx(a / (a + c))
    assert found.interval.low[0] == pytest.approx(r_lo / (1 + r_lo) - 1 / (2 * (a + c)))
    assert found.interval.high[0] == pytest.approx(r_hi / (1 + r_hi) + 1 / (2 * (a + c)))


@pytest.mark.parametrize("hits", [[0, 0, 0, 0], [5, 1, 0, 0]])
def test_a_side_without_labels_or_no_hit_at_all_leaves_logic_only(hits):
    labelled = [10, 3, 0, 0] if hits[0] else [10, 3, 2, 35]
    found = poststratified_ratio([40, 10, 8, 142], labelled, hits, inside=FOUR)
    assert np.isnan(found.estimate[0])
    most = 1 if not hits[0] else (6 + 37) / (6 + 37)
    least = 0 if not hits[0] else 6 / (6 + 150)
    assert tuple(found.interval[0]) == pytest.approx((least, most))


def test_the_population_ratio_is_wider_than_the_one_of_these_items():
    args = ([40, 10, 8, 142], [10, 3, 2, 35], [9, 1, 1, 1])
    items = poststratified_ratio(*args, inside=FOUR).interval
    population = poststratified_ratio(*args, inside=FOUR, population="new").interval
    assert population.width[0] > items.width[0]


def _two(sizes=(10, 10), labelled=(5, 5), hits=(3, 1), **options):
    return poststratified_ratio(sizes, labelled, hits, inside=np.array([True, False]), **options)


@pytest.mark.parametrize(
    ("sizes", "labelled", "hits", "estimate", "end"),
    [
        ([40, 10, 8, 142], [10, 3, 2, 35], [9, 1, 0, 0], 1, "high"),
        ([40, 10, 8, 142], [10, 3, 2, 35], [0, 0, 1, 3], 0, "low"),
        ([4, 3, 2, 9], [4, 3, 2, 9], [4, 1, 1, 1], 5 / 7, "low"),
        ([4, 3, 2, 9], [4, 3, 2, 9], [4, 1, 1, 1], 5 / 7, "high"),
    ],
)
def test_no_hit_on_one_side_and_all_labels_reach_the_end(sizes, labelled, hits, estimate, end):
    found = poststratified_ratio(sizes, labelled, hits, inside=FOUR)
    assert found.estimate[0] == pytest.approx(estimate)
    assert getattr(found.interval, end)[0] == pytest.approx(estimate)
