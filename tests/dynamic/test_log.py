import numpy as np
import pytest

from tallystick.dynamic.log import MOST_ITEMS, RoundLog
from tallystick.errors import InputError


def panel(**fields):
    plain = {
        "kind": "panel",
        "items": ("1", "2"),
        "rounds": np.array([1, 2]),
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
    assert (again.cost.tolist(), again.rounds.tolist()) == ([1.5, 1.5, 2.0], [1, 1, 2])
    assert again.repeated() is again


def test_weights_that_sum_to_nothing_or_to_too_much_are_refused():
    with pytest.raises(InputError, match="weights of all 2 items are 0"):
        panel(weight=np.array([0, 0]))
    with pytest.raises(InputError, match="sum to 500,001 items"):
        panel(weight=np.array([MOST_ITEMS, 1]))
    panel(weight=np.array([MOST_ITEMS, 0]))


def test_a_single_model_a_single_round_and_a_missing_round_are_refused():
    with pytest.raises(InputError, match="two models"):
        panel(models=("m",))
    with pytest.raises(InputError, match=r"a log of one round \(round 4\)"):
        panel(rounds=np.array([4, 4]))
    with pytest.raises(
        InputError, match="round 2 is missing from the log: it goes from round 1 to"
    ):
        panel(rounds=np.array([1, 3]))


def test_the_models_of_a_path_cannot_be_selected():
    with pytest.raises(InputError, match="the models of a path are its rounds"):
        panel(kind="path", weight=None).select(["m"])
