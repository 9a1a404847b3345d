from tallystick.results import Interval, Unknown
from tallystick.verbs.dynamic import theory
from tallystick.verbs.dynamic.analyse import Advice, Gain, PathRound
from tallystick.verbs.dynamic.result import (
    log_needed,
    log_verdict,
    risk,
    round_text,
    simulation_assumptions,
)
from tallystick.verbs.dynamic.simulate import IDEAL, Collection


def advice(decision, *, low=-0.003, high=0.024, certain=None, pays=0.0, reason=None):
    gain = Gain(estimate=0.01, interval=Interval(low, high))
    return Advice(decision=decision, gain=gain, certain=certain, pays=pays, more=2, reason=reason)


LAST = PathRound(
    round=5,
    model="h",
    items=500,
    risk=0.1,
    interval=Interval(0.08, 0.12),
    model_risk=0.1,
    **dict.fromkeys(
        ("change", "change_interval", "model_change", "model_change_interval"), Unknown("none")
    ),
)


def test_a_path_says_go_on_stop_or_cannot_tell_first():
    assert log_verdict(advice("go on", low=0.001), LAST, 5).startswith("Go on: two more rounds")
    stop = log_verdict(advice("stop", pays=0.03), LAST, 5)
    assert stop.startswith(
        "Stop: two more rounds of the same learner would not help by 3.0 points or more"
    )
    open_ = log_verdict(advice("cannot tell"), LAST, 5)
    assert open_ == (
        "We cannot tell whether two more rounds would help; the likely gain is between −0.3 points"
        " and +2.4 points (90 % range); the vote of 5 rounds is wrong on 10.0\xa0% [8.0, 12.0]."
    )


def test_a_panel_names_its_round_and_its_models():
    certain = (-0.1, 0.1)
    worth = log_verdict(advice("worth it", low=0.001, certain=certain), LAST, 5)
    assert worth.startswith("Two more models like these would help the vote")
    assert worth.endswith("the vote of 5 models is wrong on 10.0\xa0% of round 5.")
    assert round_text("all items") == "all items"


def test_what_is_needed_is_said_only_where_nothing_can_be_told():
    assert log_needed("path", advice("stop"), 500) is None
    assert log_needed("path", advice("cannot tell"), 100).count == 300
    assert "models" in log_needed("panel", advice("cannot tell"), 100).of


def test_risks_keep_three_digits_however_small():
    assert risk(0.0001234567) == "0.000123"
    assert risk(0.0) == "0"


def test_theory_says_ours_and_what_the_paper_prints():
    statements = " ".join(theory(0.1, rounds=5).statements)
    assert "at most 0.05 (ours; Theorem 3.4 prints 0.11)" in statements
    assert "at most 0.108 (ours; Theorem 4.1 prints 0.543 for flat mixing)" in statements
    flat = " ".join(theory(0.1, mixing="flat").statements)
    assert "at most 0.084 (ours" in flat


def test_theory_says_what_is_left_where_labels_are_random():
    known = theory(0.1, noise=0.2)
    assert "no risk is proved" in known.verdict
    assert all(text.startswith("If no label were random: ") for text in known.statements[:-1])
    assert known.statements[-1].startswith("With 20.0\xa0% random labels, at least")


def test_a_simulation_says_what_its_annotators_bring_back():
    assert "all errors" in simulation_assumptions("Perfect", IDEAL)[-1]
    few = simulation_assumptions("Perfect", Collection(20, 0.5, 0.0, 0.1))[-1]
    assert "20 items, from 50.0\xa0% of the errors" in few
    assert "10.0\xa0% mistakes" in few
