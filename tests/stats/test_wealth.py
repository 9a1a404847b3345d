"""The largest refuted mean, against capital that is multiplied up draw by draw."""

import math

import numpy as np
import pytest

from tallystick.stats.bets import Wagers, stakes_before


def refuted(mean, x, stakes, slope, offset, reach, floor, cut, threshold):
    """(I14) as it is written."""
    capital = 1.0
    for i in range(len(x)):
        price = slope[i] * mean - offset[i]
        if price < floor[i]:
            return True
        stake = stakes[i]
        if stake * (price + reach[i]) > cut:
            stake = cut / (price + reach[i])
        capital *= 1 + stake * (x[i] - price)
        if capital >= threshold:
            return True
    return False


@pytest.mark.parametrize("draws", [1, 7, 60])
def test_the_end_is_refuted_and_the_next_point_of_the_grid_is_not(draws):
    rng = np.random.default_rng(draws)
    rows, halvings = 60, 30
    left = (2 * draws - np.arange(draws)) / (2 * draws)
    reach = rng.random((rows, draws)) * rng.choice([0.0, 0.3], (rows, 1))
    wagers = Wagers(
        x=rng.random((rows, draws)) * rng.choice([0.4, 1.0], (rows, 1)) - 0.2 * reach,
        stakes=rng.random((rows, draws)) * rng.choice([0.2, 3.0], (rows, 1)),
        slope=np.broadcast_to(1 / left, (rows, draws)),
        offset=rng.random((rows, draws)) * 0.1,
        reach=reach,
        floor=rng.choice([-0.05, 0.05], (rows, 1)) * np.ones((1, draws)),
        cut=0.75,
    )
    threshold = rng.choice([1.5, 40.0], rows)
    low, high = np.full(rows, 0.01), np.full(rows, 0.8)
    found = wagers.last_refuted(threshold, low, high, halvings)
    step = (high - low) / 2**halvings
    kinds = set()
    for row in range(rows):
        parts = (wagers.x, wagers.stakes, wagers.slope, wagers.offset, wagers.reach, wagers.floor)
        rest = (*(part[row] for part in parts), wagers.cut, threshold[row])
        if found[row] == math.inf:
            kinds.add("all")
            assert refuted(high[row], *rest)
        elif found[row] == low[row]:
            kinds.add("none")
            assert not refuted(low[row] + step[row], *rest)
        else:
            kinds.add("some")
            assert refuted(found[row] - step[row] / 8, *rest)
            assert not refuted(found[row] + step[row] * 1.125, *rest)
    assert "some" in kinds


def test_stakes_come_from_earlier_values_only():
    x = np.random.default_rng(6).random((1, 40))
    changed = x.copy()
    changed[0, 20:] = 1 - changed[0, 20:]
    log = np.array([3.0])
    one, two = (stakes_before(rows, log)[0] for rows in (x, changed))
    assert (one[:21] == two[:21]).all()
    assert not (one[21:] == two[21:]).any()
