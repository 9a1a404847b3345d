from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from tallystick.errors import InputError
from tallystick.stats.intervals import wilson
from tallystick.stats.poststratify import poststratified_ratio, poststratified_share

FOUR = np.array([True, True, False, False])


def test_the_ends_are_those_of_the_formula():
    sizes, k, x = np.array([80, 28]), np.array([20, 10]), np.array([15, 3])
    total, share, weights = sizes.sum(), x / k, sizes / sizes.sum()
    q = t.ppf(0.975, k.sum() - 2)
    star = k * (sizes - 1) / (sizes - k)
    brick = wilson(share * star, star, quantile=q)
    low = (
        (weights * share).sum()
        - np.sqrt((weights**2 * (share - brick.low) ** 2).sum())
        - 1 / (2 * total)
    )
    high = (
        (weights * share).sum()
        + np.sqrt((weights**2 * (brick.high - share) ** 2).sum())
        + 1 / (2 * total)
    )
    found = poststratified_share(sizes, k, x)
    assert found.estimate[0] == pytest.approx((weights * share).sum())
    assert tuple(found.interval[0]) == pytest.approx((low, high))


def test_the_population_keeps_the_doubt_of_drawing_its_items():
    sizes, k, x = np.array([80, 28]), np.array([20, 10]), np.array([15, 3])
    weights, share = sizes / 108, x / k
    est, q = (weights * share).sum(), t.ppf(0.975, 28)
    brick = wilson(x, k, quantile=q)
    between = q**2 * (weights * (share - est) ** 2).sum() / 108
    found = poststratified_share(sizes, k, x, target="population").interval[0]
    assert found.low == pytest.approx(
        est - np.sqrt((weights**2 * (share - brick.low) ** 2).sum() + between)
    )
    assert found.high == pytest.approx(
        est + np.sqrt((weights**2 * (brick.high - share) ** 2).sum() + between)
    )


def test_every_row_is_a_judge_of_its_own():
    rows = poststratified_share([[80, 28], [60, 48]], [[20, 10], [16, 14]], [[15, 3], [16, 2]])
    for i, (k, x, n) in enumerate([([20, 10], [15, 3], [80, 28]), ([16, 14], [16, 2], [60, 48])]):
        one = poststratified_share(n, k, x)
        assert rows.interval[i] == one.interval[0]
        assert rows.worth[i] == one.worth[0]


def test_a_stratum_with_one_label_is_taken_together_with_the_rest():
    found = poststratified_share([90, 10], [19, 1], [15, 0])
    together = poststratified_share([100], [20], [15])
    assert found.interval[0] == together.interval[0]
    assert found.estimate[0] == 0.75
    assert found.worth[0] == pytest.approx(20)


def test_an_empty_stratum_is_no_stratum():
    assert (
        poststratified_share([100, 0], [20, 0], [15, 0]).interval[0]
        == poststratified_share([100], [20], [15]).interval[0]
    )


def test_everything_labelled_leaves_a_point():
    found = poststratified_share([30, 10], [30, 10], [25, 2])
    assert found.interval.low[0] == found.interval.high[0] == found.estimate[0] == 27 / 40


def test_logic_bounds_the_ends():
    assert tuple(poststratified_share([3, 3], [2, 2], [2, 2]).interval[0]) == pytest.approx(
        (4 / 6, 1)
    )
    assert tuple(poststratified_share([3, 3], [2, 2], [0, 0]).interval[0]) == pytest.approx(
        (0, 2 / 6)
    )


def test_no_labels_leave_the_estimate_unknown():
    found = poststratified_share([50, 50], [0, 0], [0, 0])
    assert np.isnan(found.estimate[0])
    assert tuple(found.interval[0]) == (0, 1)
    assert found.worth[0] == 0


def test_strata_that_differ_make_labels_worth_more():
    assert poststratified_share([500, 500], [25, 25], [24, 2]).worth[0] > 100


def test_the_ratio_is_that_of_the_formula():
    sizes, k, x = np.array([40, 10, 8, 142]), np.array([10, 3, 2, 35]), np.array([8, 1, 1, 1])
    q = t.ppf(0.975, k.sum() - 4)
    star = k * (sizes - 1) / (sizes - k)
    share = x / k
    brick = wilson(share * star, star, quantile=q)
    down, up = (sizes * (share - brick.low)) ** 2, (sizes * (brick.high - share)) ** 2
    a, c = (sizes * share)[:2].sum(), (sizes * share)[2:].sum()
    la, ua, lc, uc = down[:2].sum(), up[:2].sum(), down[2:].sum(), up[2:].sum()
    r_lo = (a**2 - la) / (a * c + np.sqrt(a**2 * c**2 - (a**2 - la) * (c**2 - uc)))
    r_hi = (a * c + np.sqrt(a**2 * c**2 - (a**2 - ua) * (c**2 - lc))) / (c**2 - lc)
    found = poststratified_ratio(sizes, k, x, inside=FOUR)
    assert found.estimate[0] == pytest.approx(a / (a + c))
    assert found.interval.low[0] == pytest.approx(r_lo / (1 + r_lo) - 1 / (2 * (a + c)))
    assert found.interval.high[0] == pytest.approx(r_hi / (1 + r_hi) + 1 / (2 * (a + c)))


def test_an_outside_without_hits_lets_the_ratio_reach_one():
    found = poststratified_ratio([40, 10, 8, 142], [10, 3, 2, 35], [9, 1, 0, 0], inside=FOUR)
    assert found.interval.high[0] == 1
    assert found.estimate[0] == 1


def test_an_inside_without_hits_lets_the_ratio_reach_zero():
    found = poststratified_ratio([40, 10, 8, 142], [10, 3, 2, 35], [0, 0, 1, 3], inside=FOUR)
    assert found.interval.low[0] == 0
    assert found.estimate[0] == 0


@pytest.mark.parametrize("hits", [[0, 0, 0, 0], [5, 1, 0, 0]])
def test_a_side_without_labels_or_no_hit_at_all_leaves_logic_only(hits):
    labelled = [10, 3, 0, 0] if hits[0] else [10, 3, 2, 35]
    found = poststratified_ratio([40, 10, 8, 142], labelled, hits, inside=FOUR)
    assert np.isnan(found.estimate[0])
    most = 1 if not hits[0] else (6 + 37) / (6 + 37)
    least = 0 if not hits[0] else 6 / (6 + 150)
    assert tuple(found.interval[0]) == pytest.approx((least, most))


def test_everything_labelled_makes_the_ratio_a_point():
    found = poststratified_ratio([4, 3, 2, 9], [4, 3, 2, 9], [4, 1, 1, 1], inside=FOUR)
    assert tuple(found.interval[0]) == pytest.approx((5 / 7, 5 / 7))


def test_the_population_ratio_is_wider_than_the_one_of_these_items():
    args = ([40, 10, 8, 142], [10, 3, 2, 35], [9, 1, 1, 1])
    items = poststratified_ratio(*args, inside=FOUR).interval
    population = poststratified_ratio(*args, inside=FOUR, target="population").interval
    assert population.width[0] > items.width[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: poststratified_share([10], [11], [3]), "between 0 and sizes"),
        (lambda: poststratified_share([10], [5], [6]), "between 0 and labelled"),
        (lambda: poststratified_share([[0, 0]], [[0, 0]], [[0, 0]]), "no items at all"),
        (
            lambda: poststratified_share([10], [5], [3], target="everyone"),
            "target must be 'items' or 'population'",
        ),
        (lambda: poststratified_share([10], [5], [3], alpha=2), r"alpha must be in \(0, 1\)"),
        (
            lambda: poststratified_ratio([1, 1], [1, 1], [1, 1], inside=np.array([True, True])),
            "some of the 2 cells",
        ),
        (
            lambda: poststratified_ratio([1, 1], [1, 1], [1, 1], inside=np.array([True])),
            "some of the 2 cells",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
