import numpy as np
import pytest

from tallystick.stats.skewed import mean_rule

TEN = [1, 1.2, 0.8, 2, 3.5, 0.9, 1.1, 6, 1.4, 0.7]


def test_the_spread_of_the_vector_comes_out():
    # The page's vector, with a 0 as its lowest score.
    rule = mean_rule([*TEN, 0], [np.pi / 3] * 11)
    assert round(rule.spread, 4) == 0.9289
    assert round(40 * np.exp(2 * (rule.spread**2 - 1)), 1) == 30.4
    assert (rule.needed, rule.settled) == (40, False)


@pytest.mark.parametrize(("spread", "needed"), [(1.0, 40), (1.25, 123), (1.5, 487), (2.0, 16_100)])
def test_the_rule_asks_for_the_printed_numbers(spread, needed):
    # Half of the scores above 0 lie at M e^spread, half at or below M, so σ is the spread.
    scores = np.r_[0, np.ones(21), np.full(20, np.exp(spread))] * 0.37
    assert mean_rule(scores, np.full(42, 0.5)).needed == pytest.approx(needed, rel=0.005)


@pytest.mark.parametrize(("by", "times"), [(10.0, 1.0), (-10.0, 1.0), (0.0, 1e-6), (3.3, -2.0)])
def test_the_rule_does_not_know_where_a_scale_begins(by, times):
    rng = np.random.default_rng(0)
    for x, y in [
        (rng.lognormal(0, 1.3, 80), rng.lognormal(0, 0.4, 80)),
        (rng.poisson(4.0, 80), rng.poisson(9.0, 80)),
        (rng.choice([0.1, 0.2, 0.3, 0.5], 80), rng.choice([0.1, 0.4], 80)),
    ]:
        one, other = mean_rule(x, y), mean_rule(by + times * x, by + times * y)
        assert other.needed == pytest.approx(one.needed)
        assert (other.spread is None) == (one.spread is None)


def test_the_larger_spread_of_the_two_models_decides_and_how_many_are_lowest_plays_no_part():
    rng = np.random.default_rng(0)
    calm, wild = rng.lognormal(0, 0.3, 200), rng.lognormal(0, 1.4, 200)
    wild[:50] = 0
    one, other = mean_rule(calm, wild), mean_rule(wild, calm)
    assert one == other
    assert one.spread == mean_rule(wild[49:], np.full(151, 0.5)).spread
    assert not one.settled


def test_nothing_above_the_median_has_no_spread():
    many_steps = [0.5] * 59 + [np.pi]
    assert mean_rule(many_steps, [0.25] * 60).spread == 0
    assert mean_rule([0.5] * 60, [0.25] * 60).settled


def test_small_counts_need_forty_items_and_large_ones_follow_the_rule():
    few, many = [1, 0, 3, 0, 90] * 7, [1, 0, 3, 0, 90] * 8
    assert not mean_rule(few, [2] * 35).settled
    assert mean_rule(many, [2] * 40).settled
    assert mean_rule(many, [2] * 40).spread is None
    # tokens: whole numbers, but with a median above 30
    assert mean_rule([100, 900, 20, 4000], [200, 300, 100, 250]).spread > 0
