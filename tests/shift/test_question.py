import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.shift import ShiftQuestion


def test_options_that_name_several_things_take_one_name_or_commas():
    question = ShiftQuestion(other="unsure, refused", gates="flip_rate <= 1%")
    assert question.other == ("unsure", "refused")
    assert question.gates == ("flip_rate <= 1%",)


def test_a_gate_that_compares_two_names_is_refused_at_once():
    with pytest.raises(InputError, match="compares a metric with a number"):
        ShiftQuestion(gates=("new >= old - 0.01",))


def test_a_generator_gives_a_seed_that_a_journal_can_be_continued_by():
    one = ShiftQuestion(seed=np.random.default_rng(4)).whole_seed
    assert one == ShiftQuestion(seed=np.random.default_rng(4)).whole_seed
    assert ShiftQuestion(seed=7).whole_seed == 7


def test_weights_are_words_an_array_or_a_file(tmp_path):
    (tmp_path / "w.csv").write_text("0,1\n2,0\n")
    assert ShiftQuestion(weights="a>b").design("ours").weights == "a>b"
    assert ShiftQuestion(weights="accuracy").design("ours").weights == "accuracy"
    wanted = ((0.0, 1.0), (2.0, 0.0))
    assert ShiftQuestion(weights=str(tmp_path / "w.csv")).design("ours").weights == wanted
    assert ShiftQuestion(weights=np.array(wanted)).design("ours").weights == wanted


def test_headers_are_lines_or_a_mapping():
    lines = ShiftQuestion(header=("X-Team: a",)).client_spec(("x",), ("a",))
    pairs = ShiftQuestion(header={"X-Team": "a"}).client_spec(("x",), ("a",))
    assert lines.headers == pairs.headers == {"X-Team": "a"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "our"}, "did you mean 'ours'"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"repeats": -1}, "repeats must be at least 0"),
        ({"alpha": 1.5}, r"alpha must be in \(0, 1\)"),
    ],
)
def test_values_out_of_range_are_refused_by_name(options, words):
    with pytest.raises(InputError, match=words):
        ShiftQuestion(**options)


def test_a_limit_on_money_without_a_price_is_refused():
    with pytest.raises(InputError, match="price"):
        ShiftQuestion(max_cost=3.0).wire()


def test_one_bin_is_allowed_and_none_is_not():
    assert ShiftQuestion(bins=1).bins == 1
    with pytest.raises(InputError, match="bins must be at least 1"):
        ShiftQuestion(bins=0)
