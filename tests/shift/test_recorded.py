import numpy as np
import pytest

from tallystick import shift
from tallystick.errors import InputError

LABELS = np.array(["neg", "neu", "pos"])


def _table(n=300):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, n)
    old, new = (np.where(rng.random(n) < 0.9, truth, (truth + 1) % 3) for _ in range(2))
    return {
        "id": np.arange(n),
        "label": LABELS[truth],
        "old": LABELS[old],
        "new": LABELS[new].astype(object),
    }


@pytest.mark.parametrize("text", ["Error: 429", "timeout", "rate limit", "503 Service Unavailable"])
@pytest.mark.parametrize("way", [{"new": "new"}, {"api": "replay:new", "budget": 300}])
def test_failed_calls_are_left_out_and_said_and_not_counted_as_wrong(text, way):
    table = _table()
    table["new"][:60] = text
    found = shift(table, truth="label", old="old", **way)
    alone = {name: column[60:] for name, column in table.items()}
    apart = shift(alone, truth="label", old="old", new="new")
    assert found.accuracy_change.estimate == pytest.approx(apart.accuracy_change.estimate, abs=0.02)
    assert any(f"are failed calls ({text!r})" in note for note in found.notes)


def test_a_label_that_sounds_like_a_failed_call_is_a_label():
    table = {name: np.array(column, dtype=object) for name, column in _table().items()}
    for name in ("label", "old", "new"):
        table[name][table[name] == "neg"] = "timeout"
    found = shift(table, truth="label", old="old", new="new")
    assert found.n_items == 300


def test_answers_in_other_words_are_refused_with_both_vocabularies():
    table = _table()
    table["new"] = np.array(
        [{"neg": "negative", "neu": "neutral", "pos": "positive"}[w] for w in table["new"]]
    )
    with pytest.raises(InputError, match="most answers in 'new' are none of the labels") as refused:
        shift(table, truth="label", old="old", new="new")
    assert "'positive'" in str(refused.value)
    assert "'pos'" in str(refused.value)


def test_an_api_that_refuses_everything_is_an_answer():
    table = _table()
    table["new"][:] = "I'm sorry, but I can't answer that."
    assert shift(table, truth="label", old="old", new="new").accuracy_change.estimate < -0.5


def test_measurements_are_refused_with_the_way_out():
    rng = np.random.default_rng(0)
    y = rng.normal(0, 1, 200).round(2)
    table = {"y": y, "old": (y + 0.1).round(2), "new": (y - 0.1).round(2)}
    with pytest.raises(InputError, match="shift compares labels") as refused:
        shift(table, truth="y", old="old", new="new")
    assert "tallystick compare" in str(refused.value)


def test_grades_are_labels():
    rng = np.random.default_rng(0)
    grades = rng.integers(1, 11, (3, 200)) / 2
    table = dict(zip(("y", "old", "new"), grades, strict=True))
    assert shift(table, truth="y", old="old", new="new").n_items == 200
