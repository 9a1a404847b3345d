"""Gates rest on the intervals that are shown."""

import pytest

from tallystick.errors import InputError
from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn


def gates(*texts, **more):
    return evaluate(drawn(items=300, graded=60), gates=texts, **ROLES, **more).gates


def test_a_difference_is_checked_against_its_interval_in_either_direction():
    passed, failed, undecided = gates("b >= a - 0.02", "a >= b", "b >= c + 0.2")
    assert passed.passed is True
    assert failed.passed is False
    assert undecided.passed is None
    assert tuple(passed.interval) == pytest.approx(
        [-end for end in reversed(tuple(failed.interval))]
    )


def test_a_score_is_checked_against_a_number_and_an_open_one_says_what_to_grade():
    low, open_ = gates("score(b) > 0.5", "score(b) > 0.92")
    assert low.passed is True
    assert open_.passed is None
    assert "more of b" in open_.text


def test_without_people_a_gate_cannot_be_decided():
    table = drawn()
    table.pop("human")
    roles = {name: value for name, value in ROLES.items() if name != "truth"}
    one, two = evaluate(table, gates=("b >= a", "score(b) > 0.1"), **roles).gates
    assert one.passed is None
    assert two.passed is None


@pytest.mark.parametrize("text", ["b >= nobody", "tpr(b) > 0.5", "b ~ a"])
def test_a_misspelt_gate_is_refused(text):
    with pytest.raises(InputError):
        gates(text)


def test_a_scale_is_the_unit_of_gates():
    table = {
        "item": [i // 2 for i in range(400)],
        "system": ["old", "new"] * 200,
        "gpt": [2 + i % 2 + (i // 2) % 2 for i in range(400)],
        "human": [2 + i % 2 + (i // 2) % 2 if i // 2 % 10 in (0, 3) else None for i in range(400)],
    }
    roles = {"item": "item", "system": "system", "judges": "gpt", "truth": "human"}
    found = evaluate(table, scale=(1, 5), gates=("score(new) > 3", "new >= old + 0.5"), **roles)
    assert [gate.passed for gate in found.gates] == [True, True]
    assert found.gates[1].estimate == pytest.approx(1.0, abs=0.05)
