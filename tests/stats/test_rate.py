from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats.anytime import RateTest, rate_log_e


def all_orders(population, events):
    runs = np.zeros((len(list(combinations(range(population), events))), population))
    for row, places in enumerate(combinations(range(population), events)):
        runs[row, list(places)] = 1
    return runs


def random_orders(rng, population, events, runs, length):
    """The first *length* of many random orders of a population with so many events."""
    table = np.zeros((runs, length))
    hits = np.zeros(runs)
    for t in range(length):
        table[:, t] = rng.random(runs) < (events - hits) / (population - t)
        hits += table[:, t]
    return table


@pytest.mark.parametrize(("limit", "percent"), [(0.01, 304), (0.005, 605), (0.05, 60)])
def test_a_clean_run_is_as_long_as_promised(limit, percent):
    path = rate_log_e(np.zeros(700), limit=limit, population=20_000, side="below")
    assert int(np.argmax(path >= np.log(20))) + 1 == percent


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


def test_a_whole_population_is_always_settled():
    for population, limit in ((10, 0.25), (7, 0.5)):
        for events in range(population + 1):
            orders = all_orders(population, events)
            last = {
                s: rate_log_e(orders, limit=limit, population=population, side=s)[:, -1]
                for s in ("below", "above")
            }
            assert np.all(np.isposinf(last["below"])) == (events < limit * population)
            assert np.all(np.isposinf(last["above"])) == (events > limit * population)


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


@pytest.mark.parametrize(
    ("population", "events", "side", "length"),
    [
        (5000, 50, "below", 600),
        (5000, 250, "below", 200),
        (5000, 50, "above", 400),
        (5000, 250, "above", 200),
        (800, 8, "below", 400),
    ],
)
def test_four_thousand_boundary_runs_stop_falsely_at_most_alpha(population, events, side, length):
    rng = np.random.default_rng(43)
    runs = random_orders(rng, population, events, 4000, length)
    peaks = rate_log_e(runs, limit=events / population, population=population, side=side).max(
        axis=1
    )
    # above 253 a binomial count of 4000 at .05 comes once in 10,000 times; a test that never stops
    # would be useless
    assert 40 <= np.sum(peaks >= np.log(20)) <= 253


def test_many_events_are_found_at_once():
    path = rate_log_e(np.ones(10), limit=0.01, population=1000, side="above")
    assert path[1] >= np.log(20)
    path = rate_log_e(np.tile([0, 0, 0, 0, 1], 20), limit=0.01, population=1000, side="above")
    assert np.argmax(path >= np.log(20)) < 20


def test_many_runs_go_through_at_once():
    runs = np.random.default_rng(47).random((3, 4, 50)) < 0.1
    together = rate_log_e(runs, limit=0.1, population=60, side="above")
    assert together.shape == (3, 4, 50)
    np.testing.assert_allclose(
        together[1, 2], rate_log_e(runs[1, 2], limit=0.1, population=60, side="above")
    )


def test_bad_answers_are_refused():
    test = RateTest(limit=0.1, population=5, side="below")
    with pytest.raises(InputError, match="events must be 0 or 1"):
        test.update([0, np.nan])
    with pytest.raises(InputError, match="population must be at least"):
        test.update(np.zeros(6))
    with pytest.raises(InputError, match="side must be"):
        RateTest(limit=0.1, population=5, side="under")
    with pytest.raises(InputError, match="use rate_log_e for many"):
        test.update(np.zeros((2, 2)))
    assert test.update([]) is test
