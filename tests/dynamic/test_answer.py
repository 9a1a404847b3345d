import numpy as np
import pytest

from tallystick import dynamic
from tallystick.data import Roles, conclude
from tallystick.dynamic.answer import applies
from tallystick.errors import InputError


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
    return dynamic.evaluate(table(), truth="gold", rollouts=20)


def test_evaluate_is_analyse_on_the_log_of_the_table(plain):
    log = dynamic.read_log(table(), truth="gold", models=["m_a", "m_b", "m_c"])
    same = dynamic.analyse(log, rollouts=20, rng=0)
    assert plain.models == ("m_a", "m_b", "m_c")
    assert plain.rounds == same.rounds
    assert plain.advice == same.advice


def test_what_was_taken_by_default_is_said(plain):
    assert any("round" in note and "by their names" in note for note in plain.notes)
    assert any(note.startswith("models: ") and "m_c" in note for note in plain.notes)


def test_models_of_the_chain_are_read_beside_the_models_that_are_named():
    loop = {**table(), **{f"loop{k}": table(seed=k)["m_a"] for k in (1, 2)}}
    said = dynamic.evaluate(loop, truth="gold", models="m_*", chain="loop1,loop2", rollouts=20)
    assert said.models == ("m_a", "m_b", "m_c")
    assert (said.forgetting[0].before, said.forgetting[0].model) == ("loop1", "loop2")
    with pytest.raises(InputError, match="loop3"):
        dynamic.evaluate(loop, truth="gold", models="m_*", chain="loop1,loop3", rollouts=20)


def test_weights_count_rows_and_the_answer_says_so():
    weighted = dynamic.evaluate(
        {**table(), "w": [2] * 90}, truth="gold", models="m_*", weight="w", rollouts=20
    )
    assert weighted.n_items == 180
    assert weighted.assumptions[-1].startswith("a row of weight w stands for w items")


def test_theory_and_simulate_answer_without_a_table():
    known = conclude(dynamic.THEORY, None, dynamic.TheoryQuestion(epsilon=0.1))
    assert known == dynamic.theory(0.1)
    assert all(line in known.summary() for line in known.statements)
    with pytest.raises(InputError, match="add --epsilon"):
        conclude(dynamic.THEORY, None, dynamic.TheoryQuestion())


def test_a_table_with_rounds_and_two_models_is_analysed_by_audit():
    roles = Roles(round="round", truth="gold", judges=("m_a", "m_b"))
    assert applies(roles)["models"] == ("m_a", "m_b")
    assert applies(Roles(truth="gold", judges=("m_a", "m_b"))) is None
    assert applies(Roles(round="round", judges=("m_a",))) is None
