import pytest

from tallystick.errors import InputError
from tallystick.verbs.shift import ShiftQuestion


def test_options_that_name_several_things_take_one_name_or_commas():
    question = ShiftQuestion(old_draws="spring.2, spring.3", gates="flip_rate <= 1%")
    assert question.old_draws == ("spring.2", "spring.3")
    assert question.gates == ("flip_rate <= 1%",)


@pytest.mark.parametrize(
    "gate", ["new >= old - 0.01", "flip_rate >= old", "accuracy >= 0", "recall_change >= 0"]
)
def test_a_gate_that_is_not_on_a_metric_is_refused_at_once(gate):
    with pytest.raises(InputError, match=r"compares one of flip_rate, .*LABEL with a number"):
        ShiftQuestion(gates=(gate,))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "our"}, "did you mean 'ours'"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"repeats": -1}, "repeats must be at least 0"),
        ({"max_cost": 3.0}, "price"),
        ({"alpha": 1.5}, r"alpha must be in \(0, 1\)"),
    ],
)
def test_values_out_of_range_are_refused_by_name(options, words):
    with pytest.raises(InputError, match=words):
        ShiftQuestion(**options)


def test_the_command_line_shows_few_options():
    from tallystick.table import options_of
    from tallystick.verbs.ask.result import AskQuestion

    def shown(question):
        return [name for name, one in options_of(question).items() if not one.hidden]

    assert len(shown(ShiftQuestion)) <= 24
    assert len(shown(AskQuestion)) <= 20
    gone = {"bins", "exploration", "weights", "old_matrix", "target_error", "simultaneous"}
    assert not gone & set(shown(ShiftQuestion))
