from __future__ import annotations

import numpy as np
import pytest

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.stats.anytime import betting

STEP = 2.0**-24  # the ends are found by 24 halvings of [0, 1]


def plain_capital(x, m, *, alpha, anytime, population):
    """The hedged capital process, once more and from the formulas: its largest value against the
    mean m."""
    up = down = most = 1.0
    total, scatter = 0.5, 0.25
    for i, value in enumerate(x):
        t = i + 1
        horizon = t * np.log(1 + t) if anytime else len(x)
        bet = np.sqrt(2 * np.log(2 / alpha) / (scatter / t * horizon))
        mu = m if population is None else (population * m - x[:i].sum()) / (population - i)
        up *= 1 + min(bet, 0.5 / mu) * (value - mu)
        down *= 1 - min(bet, 0.5 / (1 - mu)) * (value - mu)
        total += value
        scatter += (value - total / (t + 1)) ** 2
        most = max(most, up, down)
    return most / 2


def single(x, **options):
    return betting(x, **options)[0]


@pytest.mark.parametrize("anytime", [False, True])
@pytest.mark.parametrize("population", [None, 150])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_capital_reaches_its_threshold_exactly_at_the_ends(anytime, population, seed):
    x, alpha = as_rng(seed).beta(4, 2, size=100), 0.1
    found = single(x, alpha=alpha, anytime=anytime, population=population)
    for end, outwards in ((found.low, -1e-6), (found.high, 1e-6)):
        options = {"alpha": alpha, "anytime": anytime, "population": population}
        assert plain_capital(x, end + outwards, **options) > 1 / alpha
        assert plain_capital(x, end - outwards, **options) < 1 / alpha


def test_every_row_has_its_interval_and_one_sequence_is_one_row():
    rows = as_rng(1).random((3, 50))
    many = betting(rows)
    assert list(many) == [single(row) for row in rows]
    assert len(betting(rows[0])) == 1


def test_bounds_move_and_scale_the_interval():
    x = as_rng(2).random(80)
    unit, wide = single(x), single(-2 + 6 * x, bounds=(-2, 4))
    assert tuple(wide) == pytest.approx([-2 + 6 * end for end in unit], abs=6 * STEP)


def test_reflected_values_reflect_the_interval():
    x = as_rng(3).beta(2, 5, size=90)
    here, there = single(x), single(1 - x)
    assert (here.low, here.high) == pytest.approx((1 - there.high, 1 - there.low), abs=STEP)


def test_a_whole_population_leaves_a_point():
    x = as_rng(4).random(60)
    found = single(x, population=60)
    assert found.width < 1e-9
    assert found.low == pytest.approx(x.mean())


def test_without_replacement_is_narrower_and_within_logic():
    x = (as_rng(5).random(80) < 0.3).astype(float)
    urn = single(x, population=100)
    assert urn.width < single(x).width
    assert urn.low >= x.sum() / 100 - 1e-12
    assert urn.high <= (x.sum() + 20) / 100 + 1e-12


def test_one_side_is_tighter_there_and_open_at_the_other_end():
    x = as_rng(6).beta(3, 3, size=100)
    assert single(x, side="lower").low > single(x).low
    assert single(x, side="lower").high == 1
    assert single(x, side="upper").low == 0
    assert single(x, side="upper", population=200).low == pytest.approx(x.sum() / 200)


def test_fixed_size_is_exact_and_stopping_at_will_is_anytime_and_wider():
    x = as_rng(9).random(300)
    assert single(x).guarantee == "exact"
    assert single(x, anytime=True).guarantee == "anytime"
    assert single(x, anytime=True).width > single(x).width


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "not empty"),
        ([0.2, 1.2], {}, "values must lie in the bounds"),
        ([0.2, np.nan], {}, "values must lie in the bounds"),
        ([0.2, 0.3], {"population": 1}, "population must be at least the 2 values"),
        (np.zeros((2, 2, 2)), {}, "one sequence or one per row"),
    ],
)
def test_values_that_cannot_be_bet_on_are_refused(values, options, message):
    with pytest.raises(InputError, match=message):
        betting(values, **options)


def test_capital_lost_beyond_all_measure_only_widens():
    x = np.zeros(5000)
    found = single(x)
    assert found.low == 0
    assert 0 < found.high < 0.01


def test_values_that_refute_every_mean_leave_nothing_but_logic():
    drifting = [1.0] * 200 + [0.0] * 200
    assert tuple(single(drifting)) == (0, 1)
    assert tuple(single(drifting, population=800)) == (0.25, 0.75)
