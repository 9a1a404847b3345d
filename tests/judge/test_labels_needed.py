import numpy as np
import pytest

from tallystick.verbs.judge import evaluate
from tallystick.verbs.judge.few_labels import labels_needed_first


def panel(n, accuracy, labelled, rng=1):
    draw = np.random.default_rng(rng)
    truth = draw.integers(0, 2, n)
    votes = {
        f"j{j}": np.where(draw.random(n) < a, truth, 1 - truth).tolist()
        for j, a in enumerate(accuracy)
    }
    return {**votes, "gold": [int(t) if i < labelled else None for i, t in enumerate(truth)]}


@pytest.mark.parametrize("labelled", [0, 20, 60, 199, 200])
def test_no_forecast_asks_for_more_labels_than_the_table_has(labelled):
    table = panel(200, (0.85, 0.84, 0.83), labelled)
    result = evaluate(table, judges=("j0", "j1", "j2"), truth="gold")
    forecast = result.labels_needed
    assert forecast.left == 200 - labelled
    assert 0 <= forecast.precision <= forecast.left
    assert forecast.leader is None or forecast.leader <= forecast.left
    if result.needed is not None and result.needed.count is not None:
        assert result.needed.count <= forecast.left


def test_the_forecast_of_precision_is_about_right():
    table = panel(5000, (0.85, 0.8, 0.75), 60)
    more = evaluate(table, truth="gold").labels_needed.precision
    assert more > 0
    again = evaluate(panel(5000, (0.85, 0.8, 0.75), 60 + more), truth="gold")
    assert max(score.interval.width / 2 for score in again.judges) == pytest.approx(0.05, abs=0.015)


def test_the_forecast_of_the_leader_tells_it_more_often_than_not():
    told = 0
    for seed in range(10):
        table = panel(4000, (0.9, 0.8, 0.7), 60, rng=seed)
        result = evaluate(table, truth="gold")
        if not result.rivals:
            told += 1
            continue
        more = result.labels_needed.leader
        if more is None:
            continue
        again = evaluate(panel(4000, (0.9, 0.8, 0.7), 60 + more, rng=seed), truth="gold")
        told += not again.rivals
    assert told >= 5


def test_first_labels_are_counted_at_the_level_and_within_the_table():
    assert labels_needed_first([np.nan], 10, alpha=0.05).precision == 10
    at = [labels_needed_first([0.8], 1000, alpha=a).precision for a in (0.2, 0.05, 0.01)]
    assert at == sorted(set(at))
