import pytest

from tallystick.results import Interval, Unknown
from tallystick.shift.noise import noise_floor
from tallystick.shift.result import Change
from tallystick.shift.verdict import decide, money_warnings, noise_warning, warnings_of


def change(estimate, low, high):
    return Change(estimate=estimate, interval=Interval(low, high))


FLIPS = change(0.051, 0.040, 0.063)


@pytest.mark.parametrize(
    ("accuracy", "decision", "begins"),
    [
        (
            (-0.044, -0.062, -0.026),
            "decided",
            "The API got worse: accuracy −4.4 points [−6.2, −2.6];",
        ),
        ((0.02, 0.01, 0.03), "decided", "The API got better: accuracy +2.0 points [+1.0, +3.0];"),
        ((0.0, -0.01, 0.01), "decided", "Accuracy did not change by more than 1.0 points: 0.0"),
        ((0.0, -0.02, 0.01), "undecided", "We cannot tell whether accuracy changed: 0.0 points"),
    ],
)
def test_the_verdict_says_the_answer_then_the_number_then_the_doubt(accuracy, decision, begins):
    said, needed, verdict = decide(change(*accuracy), FLIPS, 150, 400)
    assert said == decision
    assert verdict.startswith(begins)
    assert "5.1\xa0% [4.0, 6.3] of its answers changed (150 of 400 items asked)." in verdict
    assert (needed is None) == (decision == "decided")


def test_more_calls_than_items_are_never_asked_for():
    _, needed, _ = decide(change(0.0, -0.2, 0.2), FLIPS, 390, 400)
    assert needed.count == 10
    _, needed, _ = decide(change(0.0, -0.2, 0.2), FLIPS, 400, 400)
    assert needed is None


def test_unknown_flips_are_left_out():
    unknown = Change(estimate=Unknown("no old answers"), interval=None)
    _, _, verdict = decide(change(-0.04, -0.06, -0.02), unknown, 150, 400)
    assert verdict == (
        "The API got worse: accuracy −4.0 points [−6.0, −2.0] (150 of 400 items asked)."
    )


def test_nothing_is_warned_of_where_nothing_is_wrong():
    assert warnings_of(failed=0, other=0, joined=0, strata=5) == ()
    assert money_warnings(None, asked=3, wanted=5, unpaid=2) == ()
    assert money_warnings(10.0, asked=None, wanted=5, unpaid=0) == ()


def test_a_tiny_p_value_is_written_as_a_bound():
    floor = noise_floor([0] * 100, [1] * 60 + [0] * 40, [1] * 60 + [0] * 40)
    text = noise_warning(floor, alpha=0.05)
    assert "which is beyond the API's own randomness (p < 0.0001)" in text
    calm = noise_floor([0] * 100, [1] * 10 + [0] * 90, [0] * 100)
    assert "not proved to be beyond" in noise_warning(calm, alpha=0.05)
