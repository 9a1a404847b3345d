import pytest

from tallystick.dynamic import RoundLog
from tallystick.errors import InputError

PANEL = {
    "item": ["a", "a", "b", "b", "c", "c"],
    "round": [1, 1, 1, 1, 2, 2],
    "model": ["m", "n"] * 3,
    "correct": [1, 0, 1, 1, 0, 0],
}


def changed(**columns):
    return RoundLog.from_long(**{**PANEL, **columns})


def test_a_long_panel_is_turned_into_models_by_items():
    log = changed()
    assert (log.kind, log.models, log.items) == ("panel", ("m", "n"), ("a", "b", "c"))
    assert log.errors.tolist() == [[False, False, True], [True, False, True]]
    assert log.rounds.tolist() == [1, 1, 2]


def test_items_tried_in_every_round_make_a_path():
    log = RoundLog.from_long(
        item=["a", "b"] * 3,
        round=[1, 1, 2, 2, 3, 3],
        model=["h"] * 6,
        correct=["true", "no", "1", "0", 1.0, True],
    )
    assert log.kind == "path"
    assert log.models == ("h (round 1)", "h (round 2)", "h (round 3)")
    assert log.errors.tolist() == [[False, True], [False, True], [False, False]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"round": [1, 1, 1, 1, 3, 3]},
            "round 2 is missing from the log: it goes from round 1 to round 3",
        ),
        ({"round": [4] * 6}, r"a log of one round \(round 4\)"),
        (
            {"model": ["m", "n", "m", "n", "m", "x"]},
            "models differ between rounds: 'x' was not tried in round 1",
        ),
        ({"item": ["a", "a", "b", "b", "c", "d"]}, "item 'd' has no row for model 'm'"),
        ({"item": ["a", "a", "b", "b", "a", "a"]}, "item 'a' (has two rows|belongs to round)"),
        ({"model": ["m", "m", "m", "n", "m", "n"]}, "item 'a' has two rows for model 'm'"),
        ({"correct": [1, 0, 1, "maybe", 0, 0]}, "row 4: needs 0 or 1"),
        ({"round": [1, 1, "x", 1, 2, 2]}, "row 3: a round is a whole number"),
        ({"round": [1, 1, 1.5, 1, 2, 2]}, "row 3: a round is a whole number"),
        ({"correct": [1, 0]}, "equal lengths"),
        ({"item": ["a", "a", "b", None, "c", "c"]}, "column 'item', row 4 is blank"),
        ({"model": ["m", "", "m", "n", "m", "n"]}, "column 'model', row 2 is blank"),
        ({"prediction": ["x", None, "x", "x", "x", "x"]}, "column 'prediction', row 2 is blank"),
        (
            {"truth": ["x", "x", "x", "y", "x", "x"]},
            "item 'b' has the true label 'x' in one row and 'y' in another",
        ),
        ({"weight": [1, 1, 2, 3, 1, 1]}, "item 'b' has the weight 2 in one row and 3 in another"),
        ({"weight": [1, 1, 1, "half", 1, 1]}, "column 'weight', row 4: .* got 'half'"),
        ({"weight": [0] * 6}, "weights of all 3 items are 0"),
    ],
)
def test_a_bad_log_is_refused_by_what_is_wrong_with_it(columns, message):
    with pytest.raises(InputError, match=message):
        changed(**columns)


def test_an_empty_log_and_a_single_model_are_refused():
    with pytest.raises(InputError, match="the log is empty"):
        RoundLog.from_long(item=[], round=[], model=[], correct=[])
    with pytest.raises(InputError, match="two models"):
        RoundLog.from_long(item=["a", "b"], round=[1, 2], model=["m", "m"], correct=[1, 1])


WIDE = {"round": [1, 2], "gold": ["x", "y"], "m": ["x", "x"], "n": ["y", "y"], "cost": ["1.5", "2"]}


def test_a_wide_log_is_read_with_its_costs():
    log = RoundLog.from_wide(WIDE, round="round", truth="gold", models=["m", "n"], cost="cost")
    assert log.cost.tolist() == [1.5, 2.0]
    assert log.errors.tolist() == [[False, True], [True, False]]
    assert log.select(["n", "m"]).models == ("n", "m")
    with pytest.raises(InputError, match="no model 'q'"):
        log.select(["q", "m"])


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("m", ["x", ""], "column 'm', row 2 is blank"),
        ("cost", ["1", "dear"], "column 'cost' needs a number"),
        ("cost", ["1", "-2"], "not negative"),
        ("round", [1, 3], "round 2 is missing"),
    ],
)
def test_bad_cells_of_a_wide_log_are_named(column, values, message):
    with pytest.raises(InputError, match=message):
        RoundLog.from_wide(
            {**WIDE, column: values}, round="round", truth="gold", models=["m", "n"], cost="cost"
        )


def test_an_absent_column_is_named():
    with pytest.raises(InputError, match="no column 'truth'"):
        RoundLog.from_wide(WIDE, round="round", truth="truth", models=["m", "n"])


def test_a_column_that_never_gives_a_true_label_is_not_taken_for_a_model():
    table = {
        "round": [1, 2],
        "gold": ["a", "b"],
        "m1": ["a", "a"],
        "m2": ["b", "b"],
        "checked": ["aa", "bb"],
    }
    with pytest.raises(InputError, match="column 'checked' never gives one of the true labels"):
        RoundLog.from_wide(table, round="round", truth="gold", models=["m1", "m2", "checked"])


def test_an_item_stands_as_often_as_its_weight_says_with_all_that_is_known_of_it():
    columns = {**WIDE, "w": ["2", "1"], "said": ["xx", "yy"]}
    log = RoundLog.from_wide(
        columns,
        round="round",
        truth="gold",
        models=["m", "n"],
        cost="cost",
        validators="said",
        weight="w",
    )
    again = log.select(["n", "m"]).repeated()
    assert (again.items, again.models, again.weight) == (("1", "1", "2"), ("n", "m"), None)
    assert again.errors.tolist() == [[True, True, False], [False, False, True]]
    assert again.predictions.tolist() == [["y", "y", "y"], ["x", "x", "x"]]
    assert (again.labels.tolist(), again.validators) == (["x", "x", "y"], ("xx", "xx", "yy"))
    assert (again.cost.tolist(), again.rounds.tolist()) == ([1.5, 1.5, 2.0], [1, 1, 2])
    assert again.repeated() is again


def test_a_weight_spelled_in_two_ways_is_one_weight():
    assert changed(weight=["2", 2.0, 1, "1.0", 0, 0]).weight.tolist() == [2, 1, 0]


def test_a_long_log_that_contradicts_itself_is_refused():
    log = {"item": ["x", "y"] * 2, "round": [1, 1, 2, 2], "model": ["h1", "h1", "h2", "h2"]}
    told = {"prediction": ["a", "b", "a", "a"], "truth": ["a", "a", "a", "a"]}
    assert RoundLog.from_long(**log, **told, correct=[1, 0, 1, 1]).errors.sum() == 1
    with pytest.raises(
        InputError,
        match=r"row 2: the answer 'b' to a true 'a' is called right \(so in 1 of the rows\)",
    ):
        RoundLog.from_long(**log, **told, correct=[1, 1, 1, 1])


@pytest.mark.parametrize(
    ("column", "values", "name"),
    [
        ("cost", [1, 1, 10, 1], "cost"),
        ("validators", ["aa", "aa", "ba", "aa"], "validators' labels"),
    ],
)
def test_what_an_item_has_once_may_not_differ_between_its_rows(column, values, name):
    log = {
        "item": ["x", "y"] * 2,
        "round": [1, 2, 1, 2],
        "model": ["h1", "h1", "h2", "h2"],
        "correct": [1, 0, 1, 1],
    }
    same = RoundLog.from_long(**log, truth=["a"] * 4, **{column: [values[0]] * 4})
    assert same.kind == "panel"
    with pytest.raises(InputError, match=f"item 'x' has the {name} "):
        RoundLog.from_long(**log, truth=["a"] * 4, **{column: values})


def test_a_path_whose_first_rounds_are_missing_is_refused():
    log = {"item": ["x", "y"] * 2, "model": ["h5", "h5", "h6", "h6"], "correct": [1, 0, 0, 1]}
    with pytest.raises(InputError, match="the path begins in round 5"):
        RoundLog.from_long(**log, round=[5, 5, 6, 6])
    assert RoundLog.from_long(**log, round=[0, 0, 1, 1]).kind == "path"
