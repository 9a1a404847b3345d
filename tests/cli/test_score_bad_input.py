"""``tallystick score`` on bad input: a clear error, or the strongest statement that is true."""

from __future__ import annotations

import csv

import pytest

from tests.score.tables import drawn

ROLES = ("--system", "system", "--judges", "x,y,z", "--truth", "human", "--item", "item")


@pytest.fixture
def score(tmp_path, in_process):
    """Write a table and score it."""

    def run(table, *words, roles=ROLES):
        return in_process("score", save(tmp_path, "outputs.csv", table), *roles, *words)

    return run


@pytest.fixture
def table():
    return drawn(items=120, graded=30)


def save(folder, name, table):
    with (folder / name).open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return name


def text_of(done):
    """Return the answer in one line, with plain spaces, below what was read."""
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    below = [line for line in lines[1:] if not line.startswith("  ")]
    return " ".join(" ".join(below).split())


def refused(done, *parts):
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") <= 5  # a message, and no traceback
    shown = " ".join(done.stderr.split())
    for part in parts:
        assert part in shown


@pytest.mark.parametrize(("item", "system"), [("i999", "a"), ("i3", "old")])
def test_a_label_on_an_unknown_output_is_refused_by_its_name(tmp_path, score, table, item, system):
    del table["human"]
    labels = {"item": ["i1", item], "system": ["a", system], "human": ["pass", "fail"]}
    file = save(tmp_path, "labels.csv", labels)
    done = score(table, "--truth-file", file)
    refused(done, "labels.csv: 1 of 2 labels are for items that outputs.csv does not have")
    refused(done, f"'{item}' / '{system}'", "Check 'item' and 'system' in both files")


def test_a_human_grade_outside_the_scale_is_refused_with_its_place(score, table):
    for name in ("x", "y", "z", "human"):
        table[name] = [None if word is None else 4 if word == "pass" else 2 for word in table[name]]
    place = next(i for i, grade in enumerate(table["human"]) if grade is not None)
    table["human"][place] = 7
    done = score(table, "--scale", "1,5")
    refused(done, f"row {place + 1} of outputs.csv (line {place + 2}), column human")
    refused(done, "'7' is outside the scale 1 to 5", "widen the scale (--scale)")


def test_a_judge_that_never_grades_a_system_is_named_and_the_answer_stands(score, table):
    table["z"] = [
        "" if system == "c" else word
        for word, system in zip(table["z"], table["system"], strict=True)
    ]
    text = text_of(score(table))
    assert text.startswith("b is the best of three systems: ")
    assert "! z never graded c, so the judges' score there comes from the other judges." in text


@pytest.mark.parametrize("named", [True, False])
def test_one_system_gets_its_score_and_no_ranking(score, table, named):
    rows = [i for i, system in enumerate(table["system"]) if system == "a"]
    one = {name: [column[i] for i in rows] for name, column in table.items()}
    roles = ROLES
    if not named:
        del one["system"]
        roles = ROLES[2:]
    text = text_of(score(one, roles=roles))
    assert text.startswith("a scores 43.3% [" if named else "The outputs score 43.3% [")
    assert "best" not in text
    assert "difference" not in text


def test_two_labels_settle_nothing_and_say_what_would(score, table):
    table["human"] = ["pass", "fail", *[None] * 358]
    text = text_of(score(table))
    assert text.startswith("We cannot tell which system is best: a 100.0% [0.8, 100.0]")
    assert "20 random items for every system (58 outputs without a grade yet)." in text
    assert "from 2 human grades on 1 item." in text
    assert "! People graded outputs of a and b only." in text


def test_two_labels_of_one_system_rank_nobody(score, table):
    table["human"] = ["pass", None, None, "pass", *[None] * 356]
    text = text_of(score(table))
    assert text.startswith("Only a has human grades: it scores 100.0% [20.8, 100.0].")
    assert "Not settled: how good b and c are, and which system is best." in text


def test_a_gate_on_two_labels_is_undecided(score, table):
    table["human"] = ["pass", "fail", *[None] * 358]
    done = score(table, "--gate", "a >= b")
    assert done.returncode == 11


def test_labels_that_are_all_equal_leave_doubt_on_one_side(score, table):
    table["human"] = [None if word is None else "pass" for word in table["human"]]
    text = text_of(score(table))
    assert text.startswith("We cannot tell which system is best: a 100.0% [90.8")
    assert "[100.0, 100.0]" not in text


@pytest.mark.parametrize("changed", [False, True])
def test_an_output_that_occurs_twice_is_refused_with_both_places(score, table, changed):
    twice = {name: [*column, column[0]] for name, column in table.items()}
    if changed:
        twice["x"][-1] = "fail" if twice["x"][0] == "pass" else "pass"
    done = score(twice)
    refused(done, "item and system 'i0' and 'a' occur twice", "row 1 of outputs.csv (line 2)")
    refused(done, "row 361 of outputs.csv (line 362): keep one row per output")
