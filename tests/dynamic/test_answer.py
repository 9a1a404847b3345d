import numpy as np
import pytest

from tallystick import dynamic
from tallystick.errors import InputError
from tallystick.table import Roles, conclude
from tallystick.verbs.dynamic.analyse import analyse
from tallystick.verbs.dynamic.question import TheoryQuestion
from tallystick.verbs.dynamic.reading import applies
from tests.dynamic.logs import read_log


def table(items=90, seed=0):
    rng = np.random.default_rng(seed)
    hard = 0.8 * rng.standard_normal(items)
    said = {
        name: np.where(hard + 0.6 * rng.standard_normal(items) > 0.4, "b", "a").tolist()
        for name in ("m_a", "m_b", "m_c")
    }
    rounds = np.repeat([1, 2, 3], items // 3).tolist()
    return {"uid": list(range(items)), "round": rounds, "gold": ["a"] * items, **said}


@pytest.fixture(scope="module")
def plain():
    return dynamic.evaluate(table(), truth="gold")


def test_evaluate_is_analyse_on_the_log_of_the_table(plain):
    same = analyse(read_log(table(), truth="gold", models=["m_a", "m_b", "m_c"]))
    assert plain.models == ("m_a", "m_b", "m_c")
    assert plain.rounds == same.rounds
    assert plain.advice == same.advice


def test_what_was_taken_by_default_is_said(plain):
    assert plain.reading.how["round"] == "by name"
    assert "m_c" in plain.reading.models


def test_weights_count_rows_and_the_answer_says_so():
    weighted = dynamic.evaluate({**table(), "w": [2] * 90}, truth="gold", models="m_*", weight="w")
    assert weighted.n_items == 180
    assert weighted.assumptions[-1].startswith("a row of weight w stands for w items")


def test_attempts_are_told_from_panels_and_have_no_weights():
    tries = {"worker": list("abc") * 10, "round": [1] * 30, "fooled": [0, 1, 0] * 10, "w": [1] * 30}
    assert dynamic.evaluate(tries).kind == "attempts"
    with pytest.raises(InputError, match="a log of attempts has no weights"):
        dynamic.evaluate(tries, weight="w")
    grid = {"item": list("aabb"), "round": [1] * 4, "model": list("mnmn"), "correct": [1, 0, 1, 1]}
    assert dynamic.evaluate(grid).kind == "panel"
    assert dynamic.evaluate({**grid, "annotator": list("xxyy")}).kind == "panel"
    assert dynamic.evaluate({**grid, "item": list("abcd")}).kind == "attempts"


def test_theory_answers_without_a_table():
    known = conclude(dynamic.THEORY, None, TheoryQuestion(epsilon=0.1))
    assert known == dynamic.theory(0.1)
    assert all(line in known.summary() for line in known.statements)
    with pytest.raises(InputError, match="add --epsilon"):
        conclude(dynamic.THEORY, None, TheoryQuestion())


def test_a_table_with_rounds_and_two_models_is_analysed_by_audit():
    roles = Roles(round="round", truth="gold", judges=("m_a", "m_b"))
    assert applies(roles)["models"] == ("m_a", "m_b")
    assert applies(Roles(truth="gold", judges=("m_a", "m_b"))) is None
    assert applies(Roles(round="round", judges=("m_a",))) is None
