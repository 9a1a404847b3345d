import numpy as np
import pytest

from tallystick import shift
from tallystick.errors import AskError, InputError

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
    assert any("failed calls are no answers" in note and repr(text) in note for note in found.notes)


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


def test_measurements_are_refused_with_the_way_out():
    rng = np.random.default_rng(0)
    y = rng.normal(0, 1, 200).round(2)
    table = {"y": y, "old": (y + 0.1).round(2), "new": (y - 0.1).round(2)}
    with pytest.raises(InputError, match="shift compares labels") as refused:
        shift(table, truth="y", old="old", new="new")
    assert "tallystick compare" in str(refused.value)


NAMED = [
    ("old_answer", "new_answer"),
    ("team_old", "team_new"),
    ("answerBefore", "answerAfter"),
    ("baseline.label", "New label"),
]


@pytest.mark.parametrize(("old", "new"), NAMED)
def test_old_and_new_answers_are_found_by_a_part_of_their_names(old, new):
    """They were refused: no API was named, and no column of new answers."""
    table = _table()
    plain = shift(table, truth="label", old="old", new="new")
    named = {{"old": old, "new": new}.get(name, name): column for name, column in table.items()}
    found = shift({**named, "new_customer": np.arange(300)}, truth="label")
    assert found.accuracy_change == plain.accuracy_change
    assert (found.reading.old, found.reading.new) == (old, new)
    assert found.reading.how["old"] == found.reading.how["new"] == "only candidate"
    assert "?" in found.reading.line()


def test_two_columns_of_new_answers_are_asked_about():
    table = _table()
    table = {
        "id": table["id"],
        "old_label": table["old"],
        "new_a": table["new"],
        "new_b": table["new"],
    }
    with pytest.raises(AskError) as asked:
        shift(table)
    assert asked.value.calls == (
        "--old old_label --new new_a",
        "--old new_a --new old_label",
    )


def test_pass_and_fail_under_such_names_are_asked_about_if_they_agree_by_chance_alone():
    rng = np.random.default_rng(1)
    table = {"old_answer": rng.integers(0, 2, 300), "new_customer": rng.integers(0, 2, 300)}
    with pytest.raises(AskError, match="old answers, and which the new"):
        shift(table)


@pytest.mark.parametrize("name", ["gold", "label", "Soll"])
def test_columns_with_the_same_labels_are_asked_about_and_the_truth_is_in_the_command(name):
    """A name says which is the truth, or how well each agrees with the other two."""
    table = _table()
    table = {"alt": table["old"], "neu": table["new"], name: table["label"], "id": table["id"]}
    with pytest.raises(AskError) as asked:
        shift(table)
    assert asked.value.candidates == ("alt", "neu")
    beside = f"--truth {name} --old"
    assert asked.value.calls == (f"{beside} alt --new neu", f"{beside} neu --new alt")
    assert ("it may be the truth" in str(asked.value)) is (name == "Soll")


def test_an_api_is_never_paid_for_by_a_part_of_a_name():
    table = _table()
    table = {"id": table["id"], "old_answer": table["old"], "new_answer": table["new"]}
    with pytest.raises(InputError, match=r"name their column \(--old\)"):
        shift(table, api="replay:new_answer", budget=50)


@pytest.mark.parametrize("options", [{}, {"old": "old"}])
def test_without_two_columns_of_answers_the_api_has_to_be_named(options):
    table = _table()
    with pytest.raises(InputError, match="name the API to ask") as refused:
        shift({"id": table["id"], "old": table["old"], "when": table["id"]}, **options)
    assert not isinstance(refused.value, AskError)


def test_grades_are_labels():
    rng = np.random.default_rng(0)
    grades = rng.integers(1, 11, (3, 200)) / 2
    table = dict(zip(("y", "old", "new"), grades, strict=True))
    assert shift(table, truth="y", old="old", new="new").n_items == 200
