"""Tables as people bring them: what the first command of bound says must not mislead."""

import numpy as np
import pytest

from tallystick import bound
from tallystick.errors import InputError

N = 400


def table(labelled=60, noise=0.1):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, N)
    made = {}
    for name, right in (("w1", 0.8), ("w2", 0.75), ("w3", 0.7), ("h", 1 - noise), ("h2", 0.7)):
        made[name] = np.where(rng.random(N) < right, truth, 1 - truth).tolist()
    made["gold"] = [int(y) if i < labelled else None for i, y in enumerate(truth)]
    return made


def ask(**options):
    return bound.evaluate(table(), weak=["w1", "w2", "w3"], truth="gold", **options)


def test_an_estimate_from_labels_is_not_called_one_under_independence():
    first = ask(prediction="h").folds()[0].rows[0]
    assert isinstance(first["estimate"], float)
    assert first["if independent"] is None


def test_classifiers_are_compared_in_percent():
    result = ask(prediction=["h", "h2"])
    assert result.units()["estimate"] == "share"
    assert {row["model"] for row in result.rows()} == {"h", "h2"}


def test_refuted_label_models_are_told_apart_where_their_names_hold_commas():
    rng = np.random.default_rng(1)
    made = {name: rng.integers(0, 3, N).tolist() for name in ("w1", "w2", "w3", "h")}
    gold = rng.integers(0, 3, N).tolist()
    made["gold"] = [y if i < 80 else None for i, y in enumerate(gold)]
    result = bound.evaluate(made, prediction="h", weak=["w1", "w2", "w3"], truth="gold")
    [said] = [text for text in result.warnings if text.startswith("the labels refute")]
    assert "label models: " in said
    assert "; " in said
    assert said.endswith("Do not rely on their estimates")


def test_one_class_only_says_how_to_name_the_others():
    made = {name: [1] * 30 for name in ("w1", "w2", "h")}
    with pytest.raises(InputError, match=r"classes=, --classes"):
        bound.evaluate(made, prediction="h", weak=["w1", "w2"])


def test_a_table_with_one_row_per_vote_of_a_labelling_function_is_turned() -> None:
    rows: dict[str, list] = {"item": [], "lf": [], "vote": [], "h": []}
    for i in range(90):
        for k in range(4):
            rows["item"].append(i)
            rows["lf"].append(k)
            rows["vote"].append(-1 if (i + k) % 5 == 0 else int((i * (k + 3)) % 7 < 3))
            rows["h"].append(int(i % 7 < 3))
    result = bound.evaluate(rows, prediction="h")
    assert result.n_items == 90
    assert result.reading.line().startswith("read: 90 items (item) · weak labels 0, 1, 2, 3 (lf)")
