"""Forecasts are ranges, capped by the table."""

from tallystick.results import Unknown
from tallystick.verbs.score import ScoreQuestion
from tallystick.verbs.score.systems import estimate_systems, fitted
from tests.score.tables import outputs_of

NONE = float("nan")


def test_labels_for_a_precision_are_a_range_within_the_outputs():
    outputs = outputs_of(
        [0] * 28 + [1] * 80, [1] * 3 + [0] * 7 + [NONE] * 18 + [1] * 20 + [NONE] * 60
    )
    [system] = estimate_systems(outputs, ScoreQuestion(), fitted(outputs, ScoreQuestion()))
    assert 30 < system.needed.low <= system.needed.high <= 108
    one = outputs_of([1] * 3, [1, NONE, NONE])
    [alone] = estimate_systems(one, ScoreQuestion(), fitted(one, ScoreQuestion()))
    assert isinstance(alone.needed, Unknown)
