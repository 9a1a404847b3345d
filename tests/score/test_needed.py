"""Forecasts are ranges, capped by the table."""

import pytest

from tallystick.results import Interval, Unknown
from tallystick.score import ScoreQuestion, evaluate
from tallystick.score.consensus import consensus
from tallystick.score.needed import for_precision, pair_range, settle_plan
from tallystick.score.system_pair import SystemPair
from tallystick.score.systems import System, estimate_systems
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
        "variance": 0.3,
        "common": 20,
        "items": 1000,
    }
    return SystemPair(**{**held, **change})


def test_the_best_guess_is_the_printed_formula_rounded_up():
    plan = settle_plan(pair(), 0.05)  # M(.1; V .3, N 1000) is 190.6
    assert plan.items == 200
    assert plan.low < plan.items < plan.high
    assert plan.enough


def test_certified_labels_need_more():
    # the same formula with a spread of 1.5: M(.1; V .675, N 1000) is 346.3
    assert settle_plan(pair(), 0.05, certified=True).items == 350


def test_a_small_difference_may_not_be_settled_by_all_items():
    plan = settle_plan(pair(difference=0.001, items=300), 0.05)
    assert not plan.enough
    assert plan.high == 300


def test_a_forecast_below_what_did_not_settle_it_is_not_believed():
    assert settle_plan(pair(difference=0.5, common=60), 0.05).items >= 66


def test_nothing_is_forecast_without_common_labels_or_without_a_difference():
    assert settle_plan(pair(variance=None), 0.05) is None
    assert settle_plan(pair(difference=0.0), 0.05) is None
    assert isinstance(pair_range(pair(variance=None), 0.05), Unknown)


def test_an_interval_that_holds_zero_has_no_upper_end():
    assert pair_range(pair(), 0.05).high is None


def test_labels_for_a_precision_are_a_range_within_the_outputs():
    outputs = outputs_of(
        [0] * 28 + [1] * 80, [1] * 3 + [0] * 7 + [NONE] * 18 + [1] * 20 + [NONE] * 60
    )
    [system] = estimate_systems(outputs, consensus(outputs), ScoreQuestion())
    found = for_precision(system, 0.03, 0.05)
    assert 30 < found.low <= found.high <= 108
    empty = System(name="a", found=None, outlook=None, n=3, n_labels=0)
    assert isinstance(for_precision(empty, 0.03, 0.05), Unknown)


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


def test_a_half_is_refused():
    with pytest.raises(Exception, match="precision"):
        ScoreQuestion(precision=0.5)
