from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.stats.anytime import RateTest, rate_log_e


def all_orders(population, events):
    runs = np.zeros((len(list(combinations(range(population), events))), population))
    for row, places in enumerate(combinations(range(population), events)):
        runs[row, list(places)] = 1
    return runs


def test_the_mean_of_e_is_exactly_one_on_the_boundary():
    population, events = 10, 3
    for side in ("below", "above"):
        paths = np.exp(
            rate_log_e(all_orders(population, events), limit=0.3, population=population, side=side)
        )
        for t in range(population):
            # beyond some t every order is settled one way or the other; until then E is a
            # martingale
            assert paths[:, t].mean() <= 1 + 1e-9
        assert paths[:, 0].mean() == pytest.approx(1)
        assert paths[:, 3].mean() == pytest.approx(1)


@pytest.mark.parametrize("population", [5, 9, 12])
def test_under_every_null_population_e_stays_below_one_on_average_and_finite(population):
    for limit in (0.1, 0.25, 0.5):
        for events in range(population + 1):
            share = events / population
            orders = all_orders(population, events)
            for side, null in (("below", share >= limit), ("above", share <= limit)):
                if null:
                    paths = rate_log_e(orders, limit=limit, population=population, side=side)
                    assert np.all(paths < np.inf)
                    assert np.all(np.exp(paths).mean(axis=0) <= 1 + 1e-9)


@given(
    st.lists(st.booleans(), max_size=60), st.integers(0, 60), st.sampled_from(["below", "above"])
)
def test_a_stream_equals_the_batch_wherever_it_is_cut(events, cut, side):
    test = RateTest(limit=0.2, population=100, side=side)
    streamed = test.update(events[:cut]).update(events[cut:])
    assert (streamed.items, streamed.events) == (len(events), sum(events))
    if events:
        path = rate_log_e(events, limit=0.2, population=100, side=side)
        assert streamed.log_e == pytest.approx(path[-1])
        assert streamed.peak == pytest.approx(max(0.0, path.max()))
