import csv
import json

import numpy as np
import pytest

from tallystick.verbs.bound.question import spam

WEAK = "links,words,sender,caps"


@pytest.fixture
def table(tmp_path):
    data = spam(600, rng=3, labelled=600)
    data["truth"] = [y if i % 5 == 0 else None for i, y in enumerate(data["truth"])]
    path = tmp_path / "spam.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*data, "score"])
        for i in np.random.default_rng(1).permutation(600):  # labels on the first rows are doubted
            cells = ["" if data[name][i] is None else data[name][i] for name in data]
            writer.writerow([*cells, 0.2 + 0.6 * data["classifier"][i]])
    return path


@pytest.fixture
def edited(table, tmp_path):
    """Return a function that writes the table again, every row passed through an edit.

    Without *labelled* the column of labels is left out: by its name it is the truth.
    """

    def write(edit, *, labelled=True):
        rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
        rows = [row | edit(i, row) for i, row in enumerate(rows)]
        names = [name for name in rows[0] if labelled or name != "truth"]
        path = tmp_path / ("edited.csv" if labelled else "unlabelled.csv")
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


@pytest.fixture
def unlabelled(edited):
    return edited(lambda i, row: {}, labelled=False)


def test_several_predictions_are_compared(tallystick, edited):
    def other(i, row):
        return {"other": 1 - int(row["classifier"]) if i % 3 == 0 else row["classifier"]}

    asked = ("--prediction", "classifier", "--prediction", "other", "--weak", WEAK, "--json")
    blind, labelled = (
        json.loads(tallystick("bound", edited(other, labelled=given), *asked).stdout)
        for given in (False, True)
    )
    assert blind["predictions"] == ["classifier", "other"]
    assert blind["pairs"] == []
    assert blind["decision"] == "undecided"
    assert labelled["pairs"][0]["better"] == "classifier"
    assert labelled["decision"] == "decided"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--weak", WEAK], "--prediction"),
        (["--prediction", "classifier", "--weak", "linkz"], "links"),
        (["--prediction", "classifier", "--weak", WEAK, "--metric", "auc"], "auc"),
        (["--score", "score", "--weak", WEAK, "--thresholds", "2"], "thresholds"),
        (["--prediction", "classifier", "--weak", WEAK, "--label-model", "labels"], "a file"),
        (
            ["--score", "score", "--weak", WEAK, "--thresholds", ".3,.5", "--at-least", ".6"],
            "choose the threshold",
        ),
        (["--prediction", "classifier", "--weak", WEAK, "--metric", "risk"], "risk"),
    ],
)
def test_bad_input_leaves_with_one_and_names_the_way_out(tallystick, table, arguments, said):
    done = tallystick("bound", table, *arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_score_outside_the_unit_interval_is_refused_with_its_row(tallystick, edited):
    path = edited(lambda i, row: {"score": 3 * float(row["score"])})
    done = tallystick("bound", path, "--score", "score", "--weak", WEAK)
    assert done.returncode == 1
    # The one door names the first cell that is no score, instead of the range of the column.
    assert "column 'score' is '2.4" in done.stderr
    assert "at least 0, at most 1" in done.stderr


def test_minus_one_is_a_class_where_the_predictions_show_it(tallystick, edited):
    names = WEAK.split(",")

    def recoded(i, row):
        return {name: -1 if row[name] == "0" else 1 for name in [*names, "classifier"]}

    asked = ("--prediction", "classifier", "--weak", WEAK, "--json")
    done = tallystick("bound", edited(recoded, labelled=False), *asked)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["classes"] == ["-1", "1"]
    # A truth that says 0 and 1 makes it a question.
    done = tallystick("bound", edited(recoded), *asked)
    assert done.returncode == 2
    assert "say -1 beside 0, 1, not in the truth 'truth'" in done.stderr


def test_the_classes_of_a_slice_are_those_of_the_whole_table(tallystick, edited):
    path = edited(
        lambda i, row: (
            {"caps": i % 2} | ({name: "2" for name in row if i % 12 == 0 and name != "caps"})
        )
    )
    asked = (
        "--prediction classifier --weak links,words,sender --label-model majority --by caps".split()
    )
    done = tallystick("bound", path, *asked, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["classes"] == ["0", "1", "2"]
    assert [one["classes"] for one in said["slices"]] == [said["classes"]] * 2  # odd rows show no 2
