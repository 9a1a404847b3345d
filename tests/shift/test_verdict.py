import pytest

from tallystick.results import Interval, Unknown
from tallystick.verbs.shift.result import Change, Noise, Requests
from tallystick.verbs.shift.verdict import (
    Facts,
    assumptions_of,
    decide,
    money_warnings,
    noise_notes,
    request_notes,
    warnings_of,
)


def change(estimate, low, high):
    return Change(estimate=estimate, interval=Interval(low, high))


FLIPS = change(0.051, 0.040, 0.063)


def facts(accuracy, flips=FLIPS, asked=150, population=400, **more):
    return Facts(
        accuracy=accuracy, flips=flips, asked=asked, population=population, calls=asked, **more
    )


def noise(kind, **more):
    fields = {
        "repeats": 30,
        "confirmed": 20,
        "reverted": 8,
        "share": 0.7,
        "accuracy_share": 0.7,
        "beyond": change(0.021, 0.010, 0.030),
        "p_value": 0.018,
        "equal_noise": True,
        "whole_noise": change(-0.044, -0.07, -0.02),
        "new_items": None,
    }
    return Noise(answers_are=kind, **{**fields, **more})


@pytest.mark.parametrize(
    ("accuracy", "decision", "begins"),
    [
        (
            (-0.044, -0.062, -0.026),
            "decided",
            "The API got worse: accuracy −4.4 points [−6.2, −2.6].",
        ),
        ((0.02, 0.01, 0.03), "decided", "The API got better: accuracy +2.0 points [+1.0, +3.0]."),
        ((0.0, -0.01, 0.01), "decided", "Accuracy did not change by more than 1.0 points: 0.0"),
        ((0.0, -0.02, 0.01), "undecided", "We cannot tell whether accuracy changed: 0.0 points"),
    ],
)
def test_the_verdict_says_the_answer_then_the_number_then_the_doubt(accuracy, decision, begins):
    said, needed, verdict = decide(facts(change(*accuracy), asked=150, population=400))
    assert said == decision
    assert verdict.startswith(begins)
    assert "5.1\xa0% [4.0, 6.3] of its answers changed (150 of 400 items asked)." in verdict
    assert (needed is None) == (decision == "decided")


def test_more_calls_than_items_are_never_asked_for():
    _, needed, _ = decide(facts(change(0.0, -0.2, 0.2), asked=390, population=400))
    assert needed.count == 10
    _, needed, _ = decide(facts(change(0.0, -0.2, 0.2), asked=400, population=400))
    assert needed is None


def test_unknown_flips_are_left_out():
    unknown = Change(estimate=Unknown("no old answers"), interval=None)
    _, _, verdict = decide(facts(change(-0.04, -0.06, -0.02), unknown))
    assert verdict == (
        "The API got worse: accuracy −4.0 points [−6.0, −2.0] (150 of 400 items asked)."
    )


def test_nothing_is_warned_of_where_nothing_is_wrong():
    assert warnings_of(failed=0, other=0, joined=0, strata=5) == ()
    assert money_warnings(None, asked=3, wanted=5, unpaid=2) == ()
    assert money_warnings(10.0, asked=None, wanted=5, unpaid=0) == ()


def test_recorded_answers_are_only_said_to_differ():
    said, _, verdict = decide(facts(change(-0.044, -0.062, -0.026), noise=noise("recorded")))
    assert said == "decided"
    assert verdict.startswith("The new answers are worse: accuracy")
    assert "The API" not in verdict


def test_two_statements_these_answers_differ_and_the_api_changed():
    _, _, verdict = decide(facts(change(-0.044, -0.062, -0.026), noise=noise("random")))
    assert verdict.startswith("The API got worse: accuracy")
    assert (
        "5.1\xa0% [4.0, 6.3] of the answers differ, 2.1\xa0% [1.0, 3.0] beyond its own" in verdict
    )


def test_without_labels_nothing_is_said_of_accuracy():
    none = Change(estimate=Unknown("there are no true labels"), interval=None)
    found = {}
    for kind in ("random", "recorded", "deterministic"):
        one = facts(none, noise=noise(kind), labelled=False)
        found[kind] = decide(one)
    assert all("ccuracy" not in verdict for _, _, verdict in found.values())
    assert found["random"][2].startswith("The API changed: 5.1\xa0%")
    assert found["recorded"][0] == "undecided"
    unclear = noise("random", beyond=change(0.0, -0.02, 0.02))
    decision, _, verdict = decide(facts(none, noise=unclear, labelled=False))
    assert decision == "undecided"
    assert verdict.endswith("That can be the API's own randomness.")


def test_more_calls_are_not_asked_for_where_noise_would_stay():
    loud = noise("random", accuracy_share=1.0)
    wide = change(0.0, -0.05, 0.05)
    assert decide(facts(wide, change(0.3, 0.2, 0.4), noise=loud))[1] is None
    quiet = noise("random", accuracy_share=0.0)
    assert decide(facts(wide, change(0.3, 0.2, 0.4), noise=quiet))[1] is not None


def test_the_assumption_of_equal_noise_is_printed_with_the_interval_without_it():
    assert assumptions_of(noise("random"), labelled=True)[-1] == (
        "the old API was as noisy as the new one"
    )
    assert not any("as noisy" in one for one in assumptions_of(noise("recorded"), labelled=True))
    told = noise_notes(noise("random"), alpha=0.05)
    assert "30 flips were asked again: 20 gave the new answer again, 8 went back" in told[0]
    assert "without that assumption accuracy changed by −4.4 points [−7.0, −2.0]" in told[1]
    assert noise_notes(noise("deterministic"), alpha=0.05) == ()


def test_what_was_sent_answered_and_paid_is_counted():
    requests = Requests(sent=150, billed=140, answered=132, failed=3, paid_twice=2, unused=4)
    (text,) = request_notes(requests, 1.4, "USD")
    assert text.startswith("132 answers from 150 requests sent, 140 of which may have been billed")
    assert "cost 1.4 USD; 2 requests may have been paid twice; 4 paid answers are not" in text
    assert request_notes(Requests(), 0.0, "") == ()


def test_grades_are_in_points_of_their_scale():
    from tallystick import shift

    table = {"old": [1, 3, 5, 2] * 30, "new": [2, 3, 5, 3] * 30}
    result = shift.evaluate(table, old="old", grader="new")
    assert result.grade_change.estimate == 0.125
    assert "+12.5 points" in result.verdict
    assert "of the scale from 1 to 5" in result.verdict


def test_answers_that_cannot_be_read_say_nothing_about_accuracy():
    """All of them were wrong answers before: "The API got worse: accuracy −86 points"."""
    from tallystick import shift

    table = {"gold": ["a", "b"] * 50, "old": ["a", "b"] * 50, "said": ["PASS", "FAIL"] * 50}
    result = shift.evaluate(table, truth="gold", old="old", api="replay:said", budget=40)
    assert result.decision == "undecided"
    assert result.verdict.startswith("40 of 40 answers could not be read as a label")
