"""Forecasts are ranges, capped by the table."""

from tallystick.results import Interval, Unknown
from tallystick.stats.certified import LabelRange
from tallystick.verbs.score import ScoreQuestion, evaluate
from tallystick.verbs.score.pairs import SystemPair, settle_plan, spreads
from tallystick.verbs.score.systems import estimate_systems, fitted
from tests.score.tables import ROLES, drawn, outputs_of

NONE = float("nan")


def pair(**change):
    held = {
        "first": 0,
        "second": 1,
        "difference": 0.1,
        "interval": Interval(-0.05, 0.25),
        "p_value": 0.2,
        "adjusted_p": 0.2,
        "needed": LabelRange(low=100, high=None, items=1000),
        "common": 20,
    }
    return SystemPair(**{**held, **change})


def plan_of(one, sizes=(120.0, 197.5, 340.0), most=1000):
    """Return the plan where no item has a grade of one of the two systems only."""
    return settle_plan(sizes, one, most, lambda items: 2 * (items - one.common))


def test_the_best_guess_is_rounded_up_and_what_is_graded_is_taken_off():
    plan = plan_of(pair())
    assert plan.items == 200 - 20
    assert plan.low < plan.grades == 2 * plan.items < plan.high
    assert plan.enough


def test_certified_labels_need_more():
    plain, exact = (spreads(ScoreQuestion(certified=one)) for one in (False, True))
    assert [b / a for a, b in zip(plain, exact, strict=True)] == [1.5] * 3


def test_a_small_difference_may_not_be_settled_by_all_items():
    plan = plan_of(pair(difference=0.001), (290.0, float("inf"), float("inf")), 300)
    assert not plan.enough
    assert plan.high == 2 * 280


def test_a_forecast_below_what_did_not_settle_it_is_not_believed():
    assert plan_of(pair(difference=0.5, common=60), (8.0, 9.0, 12.0)).items >= 6


def test_nothing_is_forecast_without_common_labels_or_without_a_difference():
    assert plan_of(pair(needed=Unknown("too few"))) is None
    assert plan_of(pair(difference=0.0)) is None
    few = evaluate(drawn(items=300, graded=8), **ROLES)
    assert all(isinstance(row.needed, Unknown) for row in few.pairs)


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
