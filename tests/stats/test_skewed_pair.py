import numpy as np
import pytest

from tallystick.stats.skewed import items_for_mean

TEN = [1, 1.2, 0.8, 2, 3.5, 0.9, 1.1, 6, 1.4, 0.7]


def items_at(spread):
    return max(40.0, 40 * np.exp(2 * (spread**2 - 1)))


def test_the_spread_of_the_vector_comes_out():
    # The page's vector, with a 0 as its lowest score: σ is .9289, so 40 items are enough. Three
    # times as far out on a logarithmic scale it is 2.7867.
    assert items_for_mean([*TEN, 0], [np.pi / 3] * 11) == 40
    median = 1.15
    wide = [median * (x / median) ** 3 if x > median else x for x in TEN]
    found = items_for_mean([*wide, median, 0], [np.pi / 3] * 12)
    assert found == pytest.approx(items_at(3 * 0.92891), rel=1e-3)


@pytest.mark.parametrize(("spread", "needed"), [(1.0, 40), (1.25, 123), (1.5, 487), (2.0, 16_100)])
def test_the_rule_asks_for_the_printed_numbers(spread, needed):
    # Half of the scores above 0 lie at M e^spread, half at or below M, so σ is the spread.
    scores = np.r_[0, np.ones(21), np.full(20, np.exp(spread))] * 0.37
    assert items_for_mean(scores, np.full(42, 0.5)) == pytest.approx(needed, rel=0.005)


def test_the_larger_spread_of_the_two_models_decides_and_how_many_are_lowest_plays_no_part():
    rng = np.random.default_rng(0)
    calm, wild = rng.lognormal(0, 0.3, 200), rng.lognormal(0, 1.4, 200)
    wild[:50] = 0
    one = items_for_mean(calm, wild)
    assert one == items_for_mean(wild, calm)
    assert one == items_for_mean(wild[49:], np.full(151, 0.5))
    assert one > 200


def test_small_counts_need_forty_items_and_large_ones_follow_the_rule():
    assert items_for_mean([1, 0, 3, 0, 90] * 8, [2] * 40) == 40
    # tokens: whole numbers, but with a median above 30
    assert items_for_mean([100, 900, 20, 40_000], [200, 300, 100, 250]) > 40
