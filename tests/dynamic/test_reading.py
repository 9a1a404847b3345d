"""Logs through the one door: every bad cell is refused with its place, and NA is no label."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.dynamic import evaluate
from tallystick.verbs.dynamic.reading import DOOR, log_of
from tallystick.verbs.dynamic.validators import agreements
from tests.dynamic.logs import read_log

PANEL = {
    "item": ["a", "a", "b", "b", "c", "c"],
    "round": [1, 1, 1, 1, 2, 2],
    "model": ["m", "n"] * 3,
    "correct": [1, 0, 1, 1, 0, 0],
}
MORE = ("prediction", "truth", "validators", "cost", "count")


def changed(**columns):
    roles = {name: name for name in columns if name in MORE}
    return read_log({**PANEL, **columns}, **roles)


def test_a_long_panel_is_turned_into_models_by_items():
    log = changed()
    assert (log.kind, log.models, log.items) == ("panel", ("m", "n"), ("a", "b", "c"))
    assert log.errors.tolist() == [[False, False, True], [True, False, True]]
    assert (log.rounds.tolist(), log.round_names) == ([0, 0, 1], (1, 2))


@pytest.mark.parametrize(
    "correct", [[True, False, True, True, False, True], ["yes", "no", "yes", "yes", "no", "yes"]]
)
def test_items_tried_in_every_round_make_a_path_and_one_family_of_words_says_right(correct):
    # Words of several families in one column ("true" beside "no") are refused at the door.
    log = read_log(
        {
            "item": ["a", "b"] * 3,
            "round": [1, 1, 2, 2, 3, 3],
            "model": ["h"] * 6,
            "correct": correct,
        }
    )
    assert log.kind == "path"
    assert log.models == ("h (round 1)", "h (round 2)", "h (round 3)")
    assert log.errors.tolist() == [[False, True], [False, False], [True, False]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"correct": ["1", "0", "1", "maybe", "0", "0"]}, "row 4.*'correct' is 'maybe'"),
        ({"correct": [1, 0, 1, 2, 0, 0]}, "row 4.*'correct' is 2: it needs 0 or 1"),
        ({"correct": [1, 0, 1, None, 0, 0]}, "row 4.*'correct' is blank: it needs 0 or 1"),
        ({"round": [1, 1, None, 1, 2, 2]}, "row 3.*'round' is blank: every row needs its round"),
        ({"correct": [1, 0]}, "equal lengths"),
        ({"item": ["a", "a", "b", None, "c", "c"]}, "row 4.*item column 'item' is blank"),
        ({"model": ["m", "", "m", "n", "m", "n"]}, "row 2.*column 'model' is blank"),
        ({"prediction": ["x", None, "x", "x", "x", "x"]}, "row 2.*'prediction' is blank"),
        (
            {"truth": ["x", "x", "x", "y", "x", "x"]},
            "item 'b' has the true label 'x' in one row and 'y' in another",
        ),
        ({"truth": ["x", "x", "x", None, "x", "x"]}, "'b' has a true label in one row and none"),
        ({"count": [1, 1, 2, 3, 1, 1]}, "item 'b' has the count 2 in one row and 3 in another"),
        ({"count": ["1", "1", "1", "half", "1", "1"]}, "row 4.*'count' is 'half'"),
        ({"count": [0] * 6}, "every count in 'count' is 0"),
        ({"item": [], "round": [], "model": [], "correct": []}, "log is empty|no rows|blank"),
    ],
)
def test_a_bad_log_is_refused_by_what_is_wrong_with_it(columns, message):
    with pytest.raises(InputError, match=message):
        changed(**columns)


def test_models_of_a_long_log_are_chosen_by_the_names_in_its_rows():
    columns = {"item": list("aaabbb"), "round": [1] * 3 + [2] * 3, "model": list("mno") * 2}
    log = read_log({**columns, "correct": [1, 0, 1] * 2}, models="o,m")
    assert log.models == ("o", "m")
    with pytest.raises(InputError, match="no model 'q'"):
        read_log({**columns, "correct": [1, 0, 1] * 2}, models=["q", "m"])


WIDE = {"round": [1, 2], "gold": ["x", "y"], "m": ["x", "x"], "n": ["y", "y"], "cost": ["1.5", "2"]}


def wide(columns=WIDE, **options):
    return read_log(columns, **{"truth": "gold", "models": ["m", "n"], **options})


def test_a_wide_log_is_read_with_its_costs():
    log = wide(cost="cost")
    assert log.cost.tolist() == [1.5, 2.0]
    assert log.errors.tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("cost", ["1", "dear"], "row 2.*'cost' is 'dear'"),
        ("cost", ["1", "-2"], "row 2.*'cost' is '-2'.*at least 0"),
        ("cost", ["1", ""], "row 2.*'cost' is blank: every row needs its cost"),
    ],
)
def test_bad_cells_of_a_wide_log_are_named(column, values, message):
    with pytest.raises(InputError, match=message):
        wide({**WIDE, column: values}, cost="cost")


def test_an_absent_column_a_repeated_item_and_a_role_of_long_logs_are_refused():
    with pytest.raises(InputError, match="no column 'truth'"):
        wide(truth="truth")
    with pytest.raises(InputError, match="item 'a' has two rows: a wide log has one row per item"):
        wide({**WIDE, "id": ["a", "a"]}, item="id")
    with pytest.raises(InputError, match="prediction is a role of long logs"):
        wide(prediction="cost")


def test_a_log_without_rounds_is_one_round_and_a_missing_round_is_said():
    data = read({k: v for k, v in WIDE.items() if k != "round"}, DOOR, truth="gold", models="m,n")
    log, notes = log_of(data)
    assert log.round_names == ("all items",)
    assert any("no column of rounds" in note for note in notes)
    _, notes = log_of(read({**WIDE, "round": [1, 3]}, DOOR, truth="gold", models="m,n"))
    assert "round 2 is missing: the rounds that there are count in order" in notes


def test_a_blank_answer_is_a_gap_and_no_error():
    log = wide({**WIDE, "m": ["x", ""]})
    assert log.answered.tolist() == [[True, False], [True, True]]
    assert log.errors.tolist() == [[False, False], [True, False]]
    sparse = changed(item=["a", "a", "b", "b", "c", "d"], model=["m", "n", "m", "n", "m", "n"])
    assert sparse.answered.tolist() == [[True, True, True, False], [True, True, False, True]]


PATH = {
    "item": ["h1", "h2", "c1"] * 2 + ["h1", "h2"],
    "round": [1, 1, 1, 2, 2, 2, 3, 3],
    "model": ["m"] * 8,
    "correct": [1, 0, 0, 1, 1, 0, 0, 1],
}


def test_a_held_out_column_makes_a_path_of_its_items_only():
    held = [1, 1, 0] * 2 + [1, 1]
    log, notes = log_of(read({**PATH, "held_out": held}, DOOR))
    assert (log.kind, log.items, log.held_out) == ("path", ("h1", "h2"), True)
    assert log.errors.tolist() == [[False, True], [False, False], [True, False]]
    assert any("6 of 8 rows are held out by 'held_out'" in note for note in notes)
    words = ["test", "test", "train"] * 2 + ["test", "test"]
    assert read_log({**PATH, "split": words}, held_out="split").items == ("h1", "h2")
    with pytest.raises(InputError, match="marks no item as held out"):
        read_log({**PATH, "held_out": [0] * 8})
    with pytest.raises(InputError, match=r"neither a panel nor a path.*--held-out COLUMN"):
        read_log(PATH)


def test_held_out_items_that_missed_a_round_are_left_out_and_counted():
    held = {**PATH, "held_out": [1] * 8}
    log, notes = log_of(read(held, DOOR))
    assert log.items == ("h1", "h2")
    assert "1 items were not tried in every round and are left out" in notes


def test_a_column_that_never_gives_a_true_label_is_not_taken_for_a_model():
    with pytest.raises(InputError, match="column 'checked' never gives one of the true labels"):
        wide({**WIDE, "checked": ["xx", "yy"]}, models=["m", "n", "checked"])


@pytest.mark.parametrize("blank", ["NA", "", None])
def test_items_without_a_true_label_are_left_out_and_counted(blank):
    """They counted as wrong for every model: 52 % wrong together where it is 4 %."""
    gold = ["a"] * 50 + [blank] * 50
    table = {"round": [1, 2] * 50, "gold": gold, "m": ["a"] * 96 + ["b"] * 4, "n": ["a", "b"] * 50}
    data = read(table, DOOR, truth="gold", models=["m", "n"])
    log, notes = log_of(data)
    assert len(log.items) == 50
    assert log.items[-1] == "50"
    assert log.errors.all(axis=0).sum() == 0
    assert "50 of 100 items have no true label and are left out" in notes
    long = {"item": list("aabbcc"), "round": [1, 1, 2, 2, 2, 2], "model": ["m", "n"] * 3}
    long |= {"correct": [1, 0] * 3, "truth": ["x", "x", "y", "y", blank, blank]}
    kept, notes = log_of(read(long, DOOR, truth="truth"))
    assert kept.items == ("a", "b")
    assert "1 of 3 items has no true label and is left out" in notes


def test_a_log_without_any_true_label_is_refused():
    with pytest.raises(InputError, match="no item has a true label"):
        wide({**WIDE, "gold": ["NA", "NA"]})


def test_a_long_log_that_contradicts_itself_is_refused():
    log = {"item": ["x", "y"] * 2, "round": [1, 1, 2, 2], "model": ["h1", "h1", "h2", "h2"]}
    log |= {"prediction": ["a", "b", "a", "a"], "truth": ["a", "a", "a", "a"]}
    roles = {"prediction": "prediction", "truth": "truth"}
    assert read_log({**log, "correct": [1, 0, 1, 1]}, **roles).errors.sum() == 1
    with pytest.raises(
        InputError,
        match=r"row 2.*the answer 'b' to a true 'a' is called right \(so in 1 of the rows\)",
    ):
        read_log({**log, "correct": [1, 1, 1, 1]}, **roles)


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
        "truth": ["a"] * 4,
    }
    roles = {"truth": "truth", column: column}
    assert read_log({**log, column: [values[0]] * 4}, **roles).kind == "panel"
    with pytest.raises(InputError, match=f"item 'x' has the {name} "):
        read_log({**log, column: values}, **roles)


SPELLED = {
    "round": [1, 2, 2],
    "gold": ["yes", "no", "no"],
    "m": ["Yes", "no", "yes"],
    "n": [" yes", "NO", "no"],
}


def test_a_label_that_the_truth_spells_in_two_ways_is_refused_with_the_way_out():
    with pytest.raises(InputError, match=r"'Yes' \(text, .*'yes' .*--coerce"):
        wide({**SPELLED, "gold": ["yes", "no", "Yes"]})


def test_capitals_that_the_truth_does_not_use_are_no_labels_of_their_own():
    assert wide(SPELLED).errors.tolist() == wide(SPELLED, coerce=True).errors.tolist()


def test_coerced_spellings_are_one_label():
    log = wide(SPELLED, coerce=True)
    assert log.labels.tolist() == ["yes", "no", "no"]
    assert log.errors.tolist() == [[False, False, True], [False, False, False]]


def test_numbers_and_words_for_them_meet_in_one_spelling():
    columns = {
        "round": [1, 2, 2],
        "gold": [1, 0, 1],
        "m": ["1", "0.0", "true"],
        "n": [1.0, 0.0, 1.0],
    }
    log = wide(columns, coerce=True)
    assert [log.labels.tolist(), *log.predictions.tolist()] == [["1", "0", "1"]] * 3
    with pytest.raises(InputError, match="one label spelled in two ways"):
        wide(columns)


def test_a_whole_float_is_the_label_of_its_integer():
    """pandas makes floats of integers with a gap: 1 and 1.0 were refused as two spellings."""
    columns = {"round": [1, 2], "gold": [1, 0], "m": [1.0, 1.0], "n": [0, 0]}
    assert wide(columns).errors.tolist() == [[False, True], [True, False]]


def test_a_long_log_is_held_to_one_spelling_too():
    columns = {
        "item": ["a", "a", "b", "b"],
        "round": [1, 1, 2, 2],
        "model": ["m", "n"] * 2,
        "correct": [1, 1, 1, 0],
        "prediction": ["X", "x", "x", "y"],
        "truth": ["x", "x", "X", "X"],
    }
    roles = {"prediction": "prediction", "truth": "truth"}
    with pytest.raises(InputError, match=r"'[xX]' \(text, in column '.*--coerce"):
        read_log(columns, **roles)
    log = read_log(columns, **roles, coerce=True)
    assert log.predictions.tolist() == [["x", "x"], ["x", "y"]]


def test_a_validator_s_word_for_no_answer_is_no_vote():
    log = wide({**WIDE, "said": ["xx", "NA"]}, validators="said")
    assert log.validators == ("xx", None)
    assert agreements(log.validators, log.labels.tolist())[1].tolist() == [2, 0]


def test_every_kind_of_source_gives_the_same_log(tmp_path):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from tallystick.table import write_csv

    files = [tmp_path / f"log.{ending}" for ending in ("csv", "ndjson", "parquet")]
    for file in files:
        write_csv(file, {**WIDE, "cost": [1.5, 2.0]})
    plain = {name: values for name, values in WIDE.items() if name != "cost"}
    for source in (*files, pd.DataFrame(plain), pl.DataFrame(plain), pa.table(plain)):
        log = wide(source)
        assert np.array_equal(log.errors, wide().errors), type(source)


def _held_out_panel():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    models = {f"round{k}": np.where(rng.random(60) < 0.8, truth, 1 - truth) for k in range(4)}
    return {"id": np.arange(60), "label": truth, **models, "held_out": rng.random(60) < 0.5}


def test_a_held_out_column_of_a_wide_log_chooses_its_items_and_can_be_left_out():
    table = _held_out_panel()
    kept = int(table["held_out"].sum())
    found = evaluate(table, truth="label")
    assert found.n_items == kept
    assert any(f"{kept} of 60 rows are held out by 'held_out'" in note for note in found.notes)
    assert evaluate(table, truth="label", ignore=("held_out",)).n_items == 60


def test_a_long_log_with_held_out_items_and_no_rounds_is_a_panel():
    table = _held_out_panel()
    rows = [
        (
            i,
            int(table["label"][i]),
            bool(table["held_out"][i]),
            f"round{k}",
            int(table[f"round{k}"][i]),
        )
        for k in range(4)
        for i in range(60)
    ]
    names = ("id", "label", "held_out", "model", "prediction")
    log = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    log["correct"] = [int(a == b) for a, b in zip(log["label"], log["prediction"], strict=True)]
    found = evaluate(log)
    assert found.n_items == int(table["held_out"].sum())
    assert any("copy 'model' into a column called round" in note for note in found.notes)
