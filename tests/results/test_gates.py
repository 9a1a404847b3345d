import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.results import (
    Gate,
    GateEstimate,
    Interval,
    Unknown,
    check_gates,
    exit_code,
    parse_gate,
)


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("new >= old - 0.01", Gate("new", ">=", "old", -0.01)),
        ("new>=old-0.01", Gate("new", ">=", "old", -0.01)),
        ("new > old + 2%", Gate("new", ">", "old", 0.02)),
        ("flip_rate <= 0.05", Gate("flip_rate", "<=", None, 0.05)),
        ("score < -.5", Gate("score", "<", None, -0.5)),
        ("'a - 1' >= \"b > c\"", Gate("a - 1", ">=", "b > c", 0.0)),
        ('"a>b" >= 0.1', Gate("a>b", ">=", None, 0.1)),
        ("'a <= b' < 'c >= d' + 1%", Gate("a <= b", "<", "c >= d", 0.01)),
        ("\"it's\" > 'x'", Gate("it's", ">", "x", 0.0)),
        ("it's >= that's", Gate("it's", ">=", "that's", 0.0)),
        ("new >= old", Gate("new", ">=", "old", 0.0)),
    ],
)
def test_gates_are_read(text, gate):
    assert parse_gate(text) == gate


def test_a_known_name_wins_over_arithmetic():
    known = ["gpt-4", "gpt-3.5", "gpt"]
    assert parse_gate("gpt-4 >= gpt-3.5", known=known) == Gate("gpt-4", ">=", "gpt-3.5", 0.0)
    assert parse_gate("gpt-4 >= gpt-3.5 - 0.01", known=known) == Gate(
        "gpt-4", ">=", "gpt-3.5", -0.01
    )
    assert parse_gate("gpt >= gpt - 0.01", known=known).offset == -0.01


@pytest.mark.parametrize(
    "text", ["", "new", "new == old", "new = 1", "new >=", ">= 1", "new != old"]
)
def test_what_is_no_gate_is_refused(text):
    with pytest.raises(InputError, match="a gate"):
        parse_gate(text)


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="no name 'newer': did you mean 'new'"):
        parse_gate("newer >= new", known=["new"])


@given(
    st.sampled_from([">=", "<=", ">", "<"]),
    st.floats(-1, 1),
    st.floats(-1, 1),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_gate_never_contradicts_a_point_of_the_interval(relation, offset, low, width, place):
    high = low + width
    value = min(high, low + place * width)
    gate = Gate("x", relation, None, offset)
    truth = {
        ">=": value >= offset,
        "<=": value <= offset,
        ">": value > offset,
        "<": value < offset,
    }[relation]
    assert gate.holds(Interval(low, high)) in (truth, None)
    assert gate.holds(Interval(value, value)) is truth


def test_a_quoted_name_is_one_of_the_known_ones():
    assert parse_gate('"a>b" >= 0.1', known=["a>b", "a"]) == Gate("a>b", ">=", None, 0.1)
    with pytest.raises(InputError, match="no name 'a>b': there are a"):
        parse_gate('"a>b" >= 0.1', known=["a"])


def known(estimate, low, high):
    return lambda gate: GateEstimate(estimate, Interval(low, high, guarantee="exact"))


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("score(new) > 0.8", Gate("new", ">", None, 0.8, "score")),
        ("score( new )>80%", Gate("new", ">", None, 0.8, "score")),
        ('score("my model") >= 0.8', Gate("my model", ">=", None, 0.8, "score")),
        ("score('a > b') >= 0.8", Gate("a > b", ">=", None, 0.8, "score")),
        ("score(new) >= score(old) - 0.02", Gate("new", ">=", "old", -0.02, "score")),
        ('score("a b") < score("c - 1") + 2%', Gate("a b", "<", "c - 1", 0.02, "score")),
        ("my model >= 'old model' - 0.01", Gate("my model", ">=", "old model", -0.01)),
        ("'score(new)' > 0.8", Gate("score(new)", ">", None, 0.8)),
    ],
)
def test_a_gate_may_name_a_measure_and_names_may_have_spaces(text, gate):
    assert parse_gate(text) == gate


def test_a_known_name_that_looks_like_a_call_is_a_name():
    names = ["gpt(4)", "gpt"]
    assert parse_gate("gpt(4) > 0.8", known=names) == Gate("gpt(4)", ">", None, 0.8)
    assert parse_gate("score(gpt(4)) > 0.8", known=names).left == "gpt(4)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("score(new) >= old", "no measure, or one on both sides"),
        ("rank(new) >= 1", r"one on both sides \(score\): got 'rank"),
        ("score(newer) >= 1", "no name 'newer'"),
    ],
)
def test_a_measure_that_cannot_be_used_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_gate(text, known=["new", "old"], measures=["score"])


@given(
    st.text("ab -+1.(<>='", min_size=1).filter(lambda name: name.strip() == name),
    st.none() | st.text("ab -+1.(<>='", min_size=1).filter(lambda name: name.strip() == name),
    st.sampled_from([">=", "<=", ">", "<"]),
    st.sampled_from([0.0, -0.01, 0.5]),
    st.none() | st.just("score"),
)
def test_every_gate_is_written_as_it_is_read(left, right, relation, offset, measure):
    gate = Gate(left, relation, right, offset, measure)
    assert parse_gate(str(gate)) == gate


def test_an_outcome_says_the_number_the_doubt_and_the_margin():
    [outcome] = check_gates(["b >= a - 2%"], known=["a", "b"], margin=known(0.44, 0.059, 0.82))
    assert outcome.passed is True
    assert outcome.text == "difference +44.0 points [+5.9, +82.0], 46.0 points above the bar"
    assert str(outcome).startswith("gate passed: b >= a - 2% (difference")
    assert outcome.to_dict() == {
        "expression": "b >= a - 2%",
        "passed": True,
        "estimate": 0.44,
        "interval": [0.059, 0.82],
        "interval_guarantee": "exact",
    }


def test_a_gate_on_a_number_is_in_the_unit_of_the_number():
    [share] = check_gates(["score(b) > 0.95"], margin=known(0.919, 0.764, 0.984))
    assert share.passed is None
    assert share.text == "91.9% [76.4, 98.4], 3.1 points below the bar"
    [plain] = check_gates(
        ["latency < 900"], margin=lambda gate: GateEstimate(813.3, Interval(790, 836), "number")
    )
    assert plain.text == "813 [790, 836], 86.7 below the bar"


def test_what_is_not_known_leaves_a_gate_undecided_with_the_reason():
    unknown = GateEstimate(Unknown("no labels"), Unknown("no labels"))
    [outcome] = check_gates(["a > 0.5"], margin=lambda gate: unknown)
    assert (outcome.passed, outcome.text) == (None, "unknown: no labels")
    assert outcome.to_dict()["unknown"] == {"estimate": "no labels", "interval": "no labels"}
    [bare] = check_gates(["a > 0.5"], margin=lambda gate: Interval(0.6, 0.7))
    assert bare.passed is True


@pytest.mark.parametrize(
    ("ends", "code"),
    [([(0.6, 0.7)], 0), ([(0.6, 0.7), (0.4, 0.6)], 11), ([(0.1, 0.2), (0.4, 0.6)], 10), ([], 0)],
)
def test_the_exit_code_is_the_worst_of_the_gates(ends, code):
    outcomes = [
        outcome
        for low, high in ends
        for outcome in check_gates(["a >= 0.5"], margin=known(low, low, high))
    ]
    assert exit_code(outcomes) == code
