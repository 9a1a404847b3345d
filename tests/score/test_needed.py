"""Forecasts are ranges, capped by the table."""

from tallystick.results import Unknown
from tallystick.verbs.score import ScoreQuestion, evaluate
from tallystick.verbs.score.systems import estimate_systems, fitted
from tests.score.tables import ROLES, drawn, outputs_of

NONE = float("nan")


def test_an_interval_that_holds_zero_has_no_upper_end():
    result = evaluate(drawn(items=900, graded=40, rates={"a": 0.8, "b": 0.82}), **ROLES)
    [row] = result.pairs
    assert not row.settled
    assert row.needed.high is None
    clear = evaluate(drawn(items=900, graded=80, rates={"a": 0.5, "b": 0.9}), **ROLES)
    assert clear.pairs[0].needed.high is not None


def test_labels_for_a_precision_are_a_range_within_the_outputs():
    outputs = outputs_of(
        [0] * 28 + [1] * 80, [1] * 3 + [0] * 7 + [NONE] * 18 + [1] * 20 + [NONE] * 60
    )
    [system] = estimate_systems(outputs, ScoreQuestion(), fitted(outputs, ScoreQuestion()))
    assert 30 < system.needed.low <= system.needed.high <= 108
    one = outputs_of([1] * 3, [1, NONE, NONE])
    [alone] = estimate_systems(one, ScoreQuestion(), fitted(one, ScoreQuestion()))
    assert isinstance(alone.needed, Unknown)


def test_grading_what_was_forecast_usually_settles_the_pair():
    rates = {"a": 0.72, "b": 0.86}
    settled = 0
    for seed in range(10):
        first = evaluate(drawn(items=900, graded=25, rates=rates, seed=seed), **ROLES)
        row = first.pair("a", "b")
        if row.settled or first.needed is None:
            settled += 1
            continue
        more = min(900, 25 + first.needed.count // 2)
        again = evaluate(drawn(items=900, graded=more, rates=rates, seed=seed + 50), **ROLES)
        settled += again.pair("a", "b").settled
    assert settled >= 5


def test_the_next_step_counts_outputs_of_both_systems():
    result = evaluate(drawn(items=400, graded=15, rates={"a": 0.8, "b": 0.85}, seed=1), **ROLES)
    assert result.decision == "undecided"
    assert result.needed.count % 2 == 0
    assert result.sentences.next.startswith("Next: ")
