from tallystick.dynamic import theory
from tallystick.dynamic.advice import Advice
from tallystick.dynamic.verdict import advice_text, log_verdict, risk, stop_reason
from tallystick.results import Interval, Unknown


class Joint:
    """One round of a log, as far as a verdict looks at it."""

    def __init__(self, round, all_wrong):
        self.round, self.all_wrong, self.independent = round, all_wrong, 0.021
        self.interval = Interval(0.1, 0.145)


def test_a_log_says_its_share_with_its_interval_in_one_unit():
    text = log_verdict(5, [Joint(1, 0.04), Joint(3, 0.123)], Unknown("no fit"))
    assert text == (
        "All 5 models are wrong together on 12.3\xa0% [10.0, 14.5] of the items of round 3, against"
        " 2.1\xa0% if their errors were independent (round 1: 4.0\xa0%)."
    )


def test_an_advice_says_its_gain_in_points_and_to_stop_needs_none():
    gain = {"gain": 0.012, "no_gain": 0.1, "price": 2.0, "options": (), "reason": "r"}
    advice = Advice(course="one more round", interval=Interval(-0.003, 0.024), **gain)
    assert advice_text(advice) == str(advice)
    assert "expected gain +1.2 points [−0.3, +2.4]" in str(advice)
    assert str(Advice(course="stop", interval=None, **gain)) == "stop"


def test_risks_keep_three_digits_however_small():
    assert risk(0.0001234567) == "0.000123"
    assert risk(0.0) == "0"


def test_a_doubt_is_repeated_in_the_reason():
    class Best:
        course, gain, price = "one more round", -0.1, 2.0

    text = stop_reason(Best(), 0.2, 10.0, "the fit is refuted")
    assert "would lower the majority risk of 0.2 by 0, worth 0 for a price of 2." in text
    assert text.endswith("Beware: the fit is refuted.")


def test_theory_says_what_is_left_where_labels_are_random():
    known = theory(0.1, noise=0.2)
    assert "no risk is proved" in known.verdict
    assert all(text.startswith("If no label were random: ") for text in known.statements[:-1])
    assert known.statements[-1].startswith("With 20.0\xa0% random labels, at least")
