import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.verbs.dynamic.forecast import forecast_panel, forecast_path, majority_risk

THREE = {"000": 60, "100": 6, "010": 5, "001": 9, "110": 4, "101": 3, "011": 3, "111": 10}


def rounds_of(patterns, times=1):
    rows = [
        [int(d) for d in word] for word, count in patterns.items() for _ in range(count * times)
    ]
    return np.array(rows, dtype=bool).T


def test_three_rounds_reach_the_printed_vector():
    found = forecast_path(rounds_of(THREE))
    assert round(found.step, 4) == 0.0181
    assert round(found.variance**0.5, 4) == 0.0135
    assert round(found.panel, 4) == -0.0003
    assert [round(end, 4) for end in found.gain.interval] == [-0.0258, 0.0436]
    assert found.gain.interval.level == 0.9


def test_rounds_of_different_teams_get_a_wider_range():
    one, many = (forecast_path(rounds_of(THREE), teams=flag) for flag in (None, "named apart"))
    error = (many.variance + many.spread**2) ** 0.5
    assert many.gain.interval.low == pytest.approx(min(many.step, many.panel) - 2.919986 * error)
    assert many.gain.interval.high == pytest.approx(many.step + 2.919986 * error)
    assert 1.7 <= many.gain.interval.width / one.gain.interval.width <= 2.6
    assert many.gain.interval.assumption != one.gain.interval.assumption


def test_the_high_end_stays_near_the_items_at_the_edge():
    errors = np.zeros((3, 400), dtype=bool)
    errors[:, :80] = True
    errors[2, :4] = False  # four items are wrong by one vote
    found = forecast_path(errors, teams="named apart")
    assert found.gain.interval.high <= 0.01 + 1.645 * (0.01 / 400) ** 0.5


def test_an_even_number_of_rounds_is_forecast_from_the_one_before():
    errors = np.vstack([rounds_of(THREE), np.ones((1, 100), dtype=bool)])
    assert forecast_path(errors) == forecast_path(errors[:3])


@pytest.mark.parametrize("rounds", [1, 2])
def test_fewer_than_three_rounds_have_no_forecast(rounds):
    found = forecast_path(rounds_of(THREE)[:rounds])
    assert isinstance(found.gain.interval, Unknown)
    assert found.decision == "cannot tell"
    assert "at least 3 rounds" in found.reason


def test_nothing_is_decided_on_fewer_than_400_items():
    small, large = (forecast_path(rounds_of(THREE, k), pays=0.5) for k in (3, 4))
    assert small.gain.interval.high < 0.5
    assert (small.decision, large.decision) == ("cannot tell", "stop")
    assert "at least 400" in small.reason


def test_go_on_is_said_only_where_any_gain_pays():
    # Three models that err alike: the spread is 0, and repairs outnumber breaks.
    patterns = {"000": 70, "100": 5, "010": 5, "001": 5, "110": 5, "101": 5, "011": 5}
    errors = rounds_of(patterns, 60)
    found = forecast_path(errors)
    assert found.gain.interval.low > 0.001
    assert found.decision == "go on"
    cautious = forecast_path(errors, pays=0.001)
    assert cautious.decision == "cannot tell"
    assert cautious.reason is not None


def test_the_panel_part_is_the_panel_forecast():
    errors = rounds_of(THREE)
    assert forecast_path(errors).panel == forecast_panel(errors).gain.estimate


def _campaign(rng, rounds, *, turn):
    """Rounds on a population: shared difficulty, protection where earlier rounds erred."""
    size = 4000
    hard, other = rng.standard_normal((2, size))
    count, errors = np.zeros(size), []
    for t in range(rounds):
        angle = turn * t
        shared = np.cos(angle) * hard + np.sin(angle) * other
        score = 0.6**0.5 * shared + 0.4**0.5 * rng.standard_normal(size) - 0.15 * count
        errors.append(score > 0.6)
        count += errors[-1]
    return np.array(errors)


@pytest.mark.parametrize(
    ("turn", "one_learner", "rounds"), [(0.0, True, 3), (0.0, True, 5), (0.7, False, 5)]
)
def test_the_range_holds_the_gain_in_the_population_nine_times_in_ten(turn, one_learner, rounds):
    rng = np.random.default_rng(rounds)
    inside = 0
    for _ in range(200):
        errors = _campaign(rng, rounds + 2, turn=turn)
        before = majority_risk(errors[:rounds].sum(axis=0), rounds)
        gain = before - majority_risk(errors.sum(axis=0), rounds + 2)
        held_out = rng.choice(errors.shape[1], 400, replace=False)
        found = forecast_path(
            errors[:rounds, held_out], teams=None if one_learner else "named apart"
        )
        inside += gain in found.gain.interval
    # 200 draws at .9 give fewer than 164 with probability 3e-4.
    assert inside >= 164
