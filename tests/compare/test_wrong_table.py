import numpy as np
import pytest

from tallystick import compare
from tallystick.errors import InputError

RNG = np.random.default_rng(0)
RIGHT = RNG.integers(0, 2, (80, 2))


def test_marks_are_not_held_against_a_truth():
    table = {
        "label": RNG.integers(0, 2, 80),
        "bert_correct": RIGHT[:, 0],
        "roberta_correct": RIGHT[:, 1],
    }
    with pytest.raises(InputError, match="leave out --truth"):
        compare(table, truth="label", models=("bert_correct", "roberta_correct"))
    answers = {"label": table["label"], "bert": RIGHT[:, 0], "roberta": RIGHT[:, 1]}
    assert compare(answers, truth="label", models=("bert", "roberta")).n_items == 80


def test_a_table_of_results_is_refused():
    table = {
        "model": ["gpt", "llama", "qwen"],
        "mmlu": [0.86, 0.79, 0.8],
        "gsm8k": [0.92, 0.8, 0.7],
    }
    with pytest.raises(InputError, match="one row per 'model' and one column per measurement"):
        compare(table)


def test_per_cent_against_shares_is_refused():
    scores = RIGHT * [50.0, 1.0]
    scores[::7, 0] = 25
    table = {"id": np.arange(80), "a": scores[:, 0], "b": scores[:, 1]}
    with pytest.raises(InputError, match="scale"):
        compare(table, models=("a", "b"))


def test_a_gate_that_cannot_be_missed_is_refused():
    table = {"a": RIGHT[:, 0], "b": RIGHT[:, 1]}
    with pytest.raises(InputError, match=r"For 2 points write 'a >= b - 2%'"):
        compare(table, gates=("a >= b - 2",))
    assert compare(table, gates=("a >= b - 2%",)).gates[0].passed in (True, False, None)


def test_models_in_rows_and_items_in_columns_are_to_be_transposed(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"q{i}" for i in range(40)]
    path = tmp_path / "wide.csv"
    rows = [f"m{j}," + ",".join(map(str, rng.integers(0, 2, 40))) for j in range(3)]
    path.write_text("model," + ",".join(names) + "\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError, match="models are in rows and items in columns: transpose it"):
        compare(path)
