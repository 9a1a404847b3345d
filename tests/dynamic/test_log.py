import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.log import RoundLog


def panel(**fields):
    plain = {
        "kind": "panel",
        "items": ("1", "2"),
        "rounds": np.array([0, 1]),
        "round_names": (1, 2),
        "models": ("m", "n"),
        "errors": np.array([[False, True], [True, False]]),
        "predictions": np.array([["x", "x"], ["y", "y"]]),
        "labels": np.array(["x", "y"]),
        "validators": ("xx", "yy"),
        "cost": np.array([1.5, 2.0]),
    }
    return RoundLog(**{**plain, **fields})


def test_models_are_selected_by_name():
    log = panel()
    assert log.select(["n", "m"]).models == ("n", "m")
    with pytest.raises(InputError, match="no model 'q'"):
        log.select(["q", "m"])


def test_a_single_model_is_refused_and_a_single_round_is_not():
    with pytest.raises(InputError, match="two models"):
        panel(models=("m",))
    (only,) = panel(rounds=np.array([0, 0]), round_names=(4,)).parts()
    assert (only.round, only.where.tolist()) == (4, [True, True])


def test_a_sparse_round_takes_the_models_and_items_with_the_most_answers_together():
    answered = np.ones((3, 6), dtype=bool)
    answered[2, :4] = False  # two models on six items are more answers than three on two
    log = RoundLog(
        kind="panel",
        items=tuple("abcdef"),
        rounds=np.zeros(6, dtype=int),
        round_names=(1,),
        models=("m", "n", "o"),
        errors=np.zeros((3, 6), dtype=bool),
        answered=answered,
    )
    (part,) = log.parts()
    assert (part.models, part.left_out, part.errors.shape) == (("m", "n"), 0, (2, 6))
    assert log.vote().tolist() == [0.0] * 6


def test_the_vote_counts_those_who_answered():
    log = panel(answered=np.array([[True, True], [False, True]]))
    log = RoundLog(**{**log.__dict__, "errors": np.array([[True, True], [False, False]])})
    assert log.vote().tolist() == [1.0, 0.5]


def test_the_models_of_a_path_cannot_be_selected():
    with pytest.raises(InputError, match="the models of a path are its rounds"):
        panel(kind="path").select(["m"])
