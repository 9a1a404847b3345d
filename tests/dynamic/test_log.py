import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.log import MOST_ITEMS, RoundLog


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
        "weight": np.array([2, 1]),
    }
    return RoundLog(**{**plain, **fields})


def test_models_are_selected_by_name():
    log = panel()
    assert log.select(["n", "m"]).models == ("n", "m")
    with pytest.raises(InputError, match="no model 'q'"):
        log.select(["q", "m"])


def test_an_item_stands_as_often_as_its_weight_says_with_all_that_is_known_of_it():
    again = panel().select(["n", "m"]).repeated()
    assert (again.items, again.models, again.weight) == (("1", "1", "2"), ("n", "m"), None)
    assert again.errors.tolist() == [[True, True, False], [False, False, True]]
    assert again.predictions.tolist() == [["y", "y", "y"], ["x", "x", "x"]]
    assert (again.labels.tolist(), again.validators) == (["x", "x", "y"], ("xx", "xx", "yy"))
    assert (again.cost.tolist(), again.rounds.tolist()) == ([1.5, 1.5, 2.0], [0, 0, 1])
    assert again.repeated() is again


def test_weights_that_sum_to_nothing_or_to_too_much_are_refused():
    with pytest.raises(InputError, match="weights of all 2 items are 0"):
        panel(weight=np.array([0, 0]))
    with pytest.raises(InputError, match="sum to 500,001 items"):
        panel(weight=np.array([MOST_ITEMS, 1]))
    panel(weight=np.array([MOST_ITEMS, 0]))


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
    log = panel(answered=np.array([[True, True], [False, True]]), weight=None)
    log = RoundLog(**{**log.__dict__, "errors": np.array([[True, True], [False, False]])})
    assert log.vote().tolist() == [1.0, 0.5]


def test_the_models_of_a_path_cannot_be_selected():
    with pytest.raises(InputError, match="the models of a path are its rounds"):
        panel(kind="path", weight=None).select(["m"])
