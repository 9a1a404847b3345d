import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cli.gate import Gate, all_of, parse_gate
from tallystick.errors import InputError
from tallystick.results import Interval


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
    with pytest.raises(InputError, match="'newer', which is not one of 'new'"):
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


def test_a_gate_is_written_as_it_is_read():
    for text in ("new >= old - 0.01", "x <= 0.05", "a > b", "a < b + 0.5"):
        assert parse_gate(str(parse_gate(text))) == parse_gate(text)


def test_one_failure_fails_all_and_one_doubt_leaves_all_open():
    gates = [parse_gate("a >= 0.5"), parse_gate("b >= 0.5")]
    ends = {"a": Interval(0.6, 0.7), "b": Interval(0.4, 0.6)}
    assert all_of(gates, lambda gate: ends[gate.left]) is None
    assert all_of(gates, lambda gate: Interval(0.6, 0.7)) is True
    assert (
        all_of(gates, lambda gate: Interval(0.1, 0.2) if gate.left == "a" else ends["b"]) is False
    )


def test_a_quoted_name_is_one_of_the_known_ones():
    assert parse_gate('"a>b" >= 0.1', known=["a>b", "a"]) == Gate("a>b", ">=", None, 0.1)
    with pytest.raises(InputError, match="'a>b', which is not one of 'a'"):
        parse_gate('"a>b" >= 0.1', known=["a"])
