"""`compare` holds predictions against the column that is named like the truth."""

import json

import numpy as np
import pytest

from tests.known.tables import write

N = 400
NAMES = ("truth", "gold", "ground_truth", "y_true", "true_label", "gt", "y_test")


def predictions(seed=1):
    """Model a is right on nine items of ten; model b says 1 most of the time."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, N)
    a = np.where(rng.random(N) < 0.9, truth, 1 - truth)
    b = np.where(rng.random(N) < 0.7, 1, truth)
    return a, b, truth


@pytest.fixture
def tallystick(in_process):
    """Run a command in an empty folder and return its exit code, stdout and stderr."""

    def run(*arguments):
        done = in_process(*arguments)
        return done.returncode, done.stdout.replace("\xa0", " "), done.stderr

    return run


def best(out):
    held = json.loads(out)
    return held["models"][0]["name"], round(held["models"][0]["score"], 3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("models", [(), ("--models", "a,b")])
def test_a_column_named_like_the_truth_is_the_truth(tallystick, name, models):
    a, b, truth = predictions()
    write("t.csv", {"id": range(N), "a": a, "b": b, name: truth})
    code, out, _ = tallystick("compare", "t.csv", *models, "--gate", "b >= a", "--json")
    assert best(out) == ("a", round(float((a == truth).mean()), 3))
    assert json.loads(out)["decision"] == "decided"
    assert code == 10, "the gate passed by the mean of predictions"
    assert json.loads(out)["reading"]["truth"] == name


def test_predictions_in_words_and_of_many_classes_are_held_against_it_too(tallystick):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, N)
    a = np.where(rng.random(N) < 0.9, truth, rng.integers(0, 5, N))
    b = np.where(rng.random(N) < 0.6, truth, 4)
    right = round(float((a == truth).mean()), 3)
    write("numbers.csv", {"a": a, "b": b, "gt": truth})
    assert best(tallystick("compare", "numbers.csv", "--json")[1]) == ("a", right)
    words = np.array(["ant", "bee", "cat", "dog", "eel"])
    write("words.csv", {"a": words[a], "b": words[b], "y_test": words[truth]})
    assert best(tallystick("compare", "words.csv", "--json")[1]) == ("a", right)


def test_every_shape_of_the_table_has_the_same_answer(tallystick):
    a, b, truth = predictions()
    right = ("a", round(float((a == truth).mean()), 3))
    write("a.csv", {"id": range(N), "prediction": a, "gold": truth})
    write("b.csv", {"id": range(N), "prediction": b, "gold": truth})
    runs = tallystick("compare", "--run", "a=a.csv", "--run", "b=b.csv", "--json")
    assert best(runs[1]) == right
    long = {
        "item": [*range(N)] * 2,
        "model": ["a"] * N + ["b"] * N,
        "prediction": [*a, *b],
        "gold": [*truth] * 2,
    }
    write("long.csv", long)
    assert best(tallystick("compare", "long.csv", "--json")[1]) == right
    write("wide.csv", {"a": a, "b": b, "gold": truth})
    assert tallystick("tally", "wide.csv", "-o", "t.tally")[0] == 0
    assert best(tallystick("compare", "t.tally", "--json")[1]) == right


def asks(tallystick, columns, *words):
    """The command asks with exit code 2, and answers about scores once the truth is ignored."""
    write("t.csv", columns)
    code, out, err = tallystick("compare", "t.csv", "--json")
    assert (code, out) == (2, "")
    assert all(word in err for word in words), err
    [truth] = [name for name in columns if name in NAMES]
    code, out, _ = tallystick("compare", "t.csv", "--ignore", truth, "--json")
    assert code == 0
    assert {row["name"] for row in json.loads(out)["models"]} == {"a", "b"}


def test_a_truth_whose_labels_nobody_uses_is_asked_about(tallystick):
    a, b, truth = predictions()
    spam = np.array(["ham", "spam"])[truth]
    asks(tallystick, {"a": a, "b": b, "truth": spam}, "(ham, spam)", "--ignore truth")


def test_probabilities_beside_a_truth_are_asked_about(tallystick):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    a, b = (np.round(0.5 * truth + 0.5 * rng.random(N), 4) for _ in range(2))
    asks(tallystick, {"a": a, "b": b, "y_true": truth}, "a, b and y_true hold numbers")


def test_zero_and_one_beside_a_truth_of_more_labels_may_be_right_and_wrong(tallystick):
    a, b, _ = predictions()
    truth = np.random.default_rng(0).integers(0, 5, N)
    asks(tallystick, {"a": a, "b": b, "gold": truth}, "--truth gold --models a,b")


def test_two_columns_named_like_the_truth_are_asked_about(tallystick):
    a, b, truth = predictions()
    write("t.csv", {"a": a, "b": b, "gold": truth, "truth": truth})
    code, _, err = tallystick("compare", "t.csv")
    assert code == 2
    assert "which column is the truth? gold and truth may" in err


def test_marks_beside_a_truth_stay_scores(tallystick):
    a, b, truth = predictions()
    marks = {"a_correct": (a == truth).astype(int), "b_correct": (b == truth).astype(int)}
    right = round(float((a == truth).mean()), 3)
    write("marks.csv", {**marks, "gold": truth})
    assert best(tallystick("compare", "marks.csv", "--json")[1]) == ("a_correct", right)
    write("both.csv", {"a": a, "b": b, **marks, "gold": truth})
    code, out, _ = tallystick("compare", "both.csv", "--json")
    assert (code, best(out)) == (0, ("a", right))
    assert {row["name"] for row in json.loads(out)["models"]} == {"a", "b"}


def test_references_in_free_text_are_no_labels_of_scores(tallystick):
    a, b, _ = predictions()
    write("t.csv", {"id": range(N), "a": a, "b": b, "gold": [f"answer {i}" for i in range(N)]})
    code, out, _ = tallystick("compare", "t.csv", "--json")
    assert (code, best(out)) == (0, ("b", round(float(b.mean()), 3)))


def test_a_pilot_of_a_plan_is_read_alike(tallystick):
    a, b, truth = predictions()
    write("t.csv", {"a": a, "b": b, "gold": truth})
    _, out, _ = tallystick("plan", "t.csv")
    assert "(gold)" in out.splitlines()[0]
    gap = 100 * float((a == truth).mean() - (b == truth).mean())
    assert f"a difference of {gap:.1f} points" in out
