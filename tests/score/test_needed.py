"""Forecasts are ranges, capped by the table."""

from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_forecast import Outlook
from tallystick.verbs.score import ScoreQuestion, evaluate
from tallystick.verbs.score.labelling import for_precision, pair_range, settle_plan
from tallystick.verbs.score.reading import consensus
from tallystick.verbs.score.systems import System, SystemPair, estimate_systems
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
        "outlook": Outlook(variance=0.3, pull=0.0, items=1000),
        "common": 20,
    }
    return SystemPair(**{**held, **change})


def plan_of(one, **more):
    """Return the plan where no item has a grade of one of the two systems only."""
    return settle_plan(one, 0.05, lambda items: 2 * (items - one.common), **more)


def test_the_best_guess_is_the_printed_formula_rounded_up():
    plan = plan_of(pair())  # (AL20) of .1, V .3, N 1000 is 197.5
    assert plan.items == 200 - 20
    assert plan.low < plan.grades == 2 * plan.items < plan.high
    assert plan.enough


def test_certified_labels_need_more():
    # the same formula with a spread of 1.5: 351.6 of V .675
    assert plan_of(pair(), certified=True).items == 360 - 20


def test_a_small_difference_may_not_be_settled_by_all_items():
    few = Outlook(variance=0.3, pull=0.0, items=300)
    plan = plan_of(pair(difference=0.001, outlook=few))
    assert not plan.enough
    assert plan.high == 2 * 280


def test_a_forecast_below_what_did_not_settle_it_is_not_believed():
    assert plan_of(pair(difference=0.5, common=60)).items >= 6


def test_nothing_is_forecast_without_common_labels_or_without_a_difference():
    assert plan_of(pair(outlook=None)) is None
    assert plan_of(pair(difference=0.0)) is None
    assert isinstance(pair_range(pair(outlook=None), 0.05), Unknown)


def test_an_interval_that_holds_zero_has_no_upper_end():
    assert pair_range(pair(), 0.05).high is None


def test_labels_for_a_precision_are_a_range_within_the_outputs():
    outputs = outputs_of(
        [0] * 28 + [1] * 80, [1] * 3 + [0] * 7 + [NONE] * 18 + [1] * 20 + [NONE] * 60
    )
    [system] = estimate_systems(outputs, consensus(outputs), ScoreQuestion())
    found = for_precision(system, 0.05)
    assert 30 < found.low <= found.high <= 108
    empty = System(name="a", found=None, outlook=None, n=3, n_labels=0)
    assert isinstance(for_precision(empty, 0.05), Unknown)


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
