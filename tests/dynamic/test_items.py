"""What is said of each item: who errs, what the vote says, which to check first."""

import numpy as np
import pytest

from tallystick.table import read
from tallystick.verbs.dynamic import evaluate
from tallystick.verbs.dynamic.columns import columns_of
from tallystick.verbs.dynamic.log import log_of
from tallystick.verbs.dynamic.reading import DOOR, item_rows

TABLE = {
    "round": [1, 1, 2, 2],
    "gold": ["x"] * 4,
    "m": list("xyxy"),
    "n": list("xyyx"),
    "o": list("xzxx"),
}


def rows(table, **options):
    data = read(table, DOOR, **options)
    return item_rows(log_of(data, columns_of(data))[0]).columns


def test_items_on_which_all_models_err_come_first_and_the_vote_says_what_most_answer():
    found = rows(TABLE, truth="gold", models=["m", "n", "o"])
    assert found["wrong"] == [0, 3, 1, 1]
    assert found["vote"] == ["x", "y", "x", "x"]
    assert found["check_order"] == [4, 1, 2, 3]
    assert found["vote_error"] == [0, 1, 0, 0]
    assert found["truth"] == ["x"] * 4


def test_the_errors_of_the_vote_average_to_the_risk_of_a_round_and_long_logs_say_the_same():
    rng = np.random.default_rng(0)
    right = rng.random((4, 80)) < 0.7
    wide = {"item": [f"i{k}" for k in range(80)], "round": [1 + k // 40 for k in range(80)]}
    wide |= {name: right[m].astype(int).tolist() for m, name in enumerate("abcd")}
    long = {
        "item": np.repeat(wide["item"], 4),
        "round": np.repeat(wide["round"], 4),
        "model": list("abcd") * 80,
        "correct": right.T.astype(int).ravel(),
    }
    found, other = rows(wide, models=list("abcd")), rows(long)
    assert found == other
    for each in evaluate(wide, models=list("abcd")).rounds:
        where = np.array(found["round"]) == each.round
        assert np.mean(np.array(found["vote_error"])[where]) == pytest.approx(each.risk)


def test_an_item_of_a_path_has_no_round():
    path = {"item": [1, 2] * 2, "round": [1, 1, 2, 2], "correct": [1, 0, 1, 1]}
    assert rows(path)["round"] == [None, None]
