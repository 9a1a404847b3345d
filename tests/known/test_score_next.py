"""``score`` says what to grade next: the number of outputs is what the advice costs."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import re

import pytest

from tallystick.cli import main

RATES = {"a": 0.80, "b": 0.76, "c": 0.70, "d": 0.72}


def write(path, graded, *, systems="abcd", items=200, ran=lambda system, item: True):
    """Write outputs of systems with two judges, and the human grades that *graded* names."""
    rng = random.Random(3)

    def vote(good):
        return "pass" if good == (rng.random() < 0.85) else "fail"

    found = []
    for item in range(items):
        for system in systems:
            good = rng.random() < RATES[system]
            if ran(system, item):
                human = ("pass" if good else "fail") if graded(system, item) else ""
                found.append([f"q{item}", system, vote(good), vote(good), human])
    rng.shuffle(found)  # grades on the first rows would be doubted
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["question", "system", "gpt", "claude", "human"])
        rows.writerows(found)
    return path


def run(*words):
    """Run a command that succeeds, and return what it prints in one line."""
    out, code = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            main([str(word) for word in words])
        except SystemExit as leaving:
            code = leaving.code
    assert not code, out.getvalue()
    return " ".join(out.getvalue().split())


def answer(path, *words):
    """Return what ``score`` advises, and what its JSON says is needed."""
    text = run("score", path, "--truth", "human", *words)
    needed = json.loads(run("score", path, "--truth", "human", *words, "--json"))["needed"]
    found = re.search(r"Next: [^.]*(\. [^.]* plausible)?\.", text)
    return found.group() if found else "", needed


def test_grades_on_different_items_count_only_where_they_are(tmp_path):
    # Nine items have two grades and the others at most one: 9 x 2 + 11 x 3 are missing.
    places = {"a": range(15), "b": range(12, 27), "c": range(24, 34), "d": range(31, 41)}
    table = write(tmp_path / "t.csv", lambda system, item: item in places[system])
    said, needed = answer(table)
    assert said == (
        "Next: grade 20 random questions for every system (51 outputs without a grade yet)."
    )
    assert needed == {
        "count": 51,
        "of": "human grades, on 20 random questions for every system",
    }


def test_grading_what_was_advised_leaves_nothing_of_it_to_advise(tmp_path):
    before = write(tmp_path / "before.csv", lambda system, item: item < 5 + "abcd".index(system))
    said, needed = answer(before)
    # Five items have all grades, three have some (3, 2, 1 of four), and twelve have none.
    assert "(54 outputs without a grade yet)" in said
    assert needed["count"] == 54
    after = write(tmp_path / "after.csv", lambda system, item: item < 20)
    said, needed = answer(after)
    assert "20 random questions" not in said
    assert "20 random questions" not in needed["of"]


@pytest.mark.parametrize(("graded", "outputs"), [(0, 32), (2, 24)])
def test_a_table_of_eight_items_is_asked_for_eight(tmp_path, graded, outputs):
    table = write(tmp_path / "t.csv", lambda system, item: item < graded, items=8)
    said, needed = answer(table, "--judges", "gpt,claude")
    assert said == (
        f"Next: grade 8 random questions for every system ({outputs} outputs without a grade yet)."
    )
    assert needed["count"] == outputs


def test_a_tally_knows_no_items_and_is_asked_for_outputs(tmp_path):
    sizes = {"a": 15, "b": 15, "c": 10, "d": 10}
    table = write(tmp_path / "t.csv", lambda system, item: item < sizes[system])
    tally = tmp_path / "t.tally"
    run("tally", table, "-o", tally, "--columns", "system,gpt,claude,human")
    said, needed = answer(tally)
    assert (
        said == "Next: grade 20 random outputs for every system (30 outputs without a grade yet)."
    )
    assert needed["count"] == 30


def test_systems_that_ran_on_different_items_are_not_asked_for_grades(tmp_path):
    table = write(
        tmp_path / "t.csv",
        lambda system, item: item < 40,
        ran=lambda system, item: "abcd".index(system) == item % 4,
    )
    said, needed = answer(table)
    assert said == "Next: get more outputs of every system on the same questions."
    assert needed == {"count": None, "of": "outputs of every system on the same questions"}


def test_a_forecast_counts_an_output_with_a_grade_once(tmp_path):
    def count(extra):
        table = write(
            tmp_path / f"{extra}.csv",
            lambda system, item: item < (30 + extra if system == "a" else 30),
            systems="ad",
            items=600,
        )
        said, needed = answer(table)
        items = int(re.search(r"\((\d+) questions", said).group(1))
        low, high = map(int, re.search(r"(\d+) to ([\d,]+) are", said.replace(",", "")).groups())
        assert low <= needed["count"] <= high
        return said, items, needed["count"]

    said, items, grades = count(0)
    assert grades == 2 * items
    said, items, grades = count(25)
    assert "(a and d)" in said.replace(f"{items} questions, ", "")
    assert grades == 2 * items - 25


def test_a_table_that_cannot_settle_it_gives_no_number(tmp_path):
    table, rows = tmp_path / "t.csv", ["question,system,gpt,human"]
    for i in range(60):  # of 40 graded questions a passes 20 and b 21, and they disagree on half
        for system, good in (("a", i % 2), ("b", int(i == 0 or i // 2 % 2))):
            rows.append(f"q{i},{system},{i % 3 % 2},{good if i * 7 % 60 < 40 else ''}")
    table.write_text("\n".join(rows))
    said, needed = answer(table)
    assert said.startswith("Next: even all 60 questions may not settle")
    assert needed["count"] is None


def test_two_equal_systems_are_certified_equal_without_an_error(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"q{i},{s},{i % 2},{i % 2 if i * 7 % 60 < 30 else ''}" for i in range(60) for s in "ab"]
    path.write_text("\n".join(["question,system,gpt,human", *rows]))
    assert "We cannot tell" in run("score", path, "--truth", "human", "--certified")
