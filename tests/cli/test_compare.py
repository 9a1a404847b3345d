import csv
import json
import re
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "io" / "logs" / "fixtures"


def test_the_population_changes_the_answer(tallystick, scores):
    runs = [
        json.loads(
            tallystick("compare", scores, "--cluster", "doc", "--population", p, "--json").stdout
        )
        for p in ("these", "new")
    ]
    assert [(run["population"], run["sample"]) for run in runs] == [
        ("these", "items"),
        ("new", "clusters"),
    ]
    low, high = runs[0]["pairs"][0]["interval"]
    assert low == high


def test_partly_blank_truth_says_which_labels_to_buy(tallystick, tmp_path):
    table = "id,gold,a,b\n" + "".join(
        f"q{i},{'x' if i < 5 else ''},x,{'x' if i % 2 else 'y'}\n" for i in range(40)
    )
    done = tallystick(
        "compare",
        "-",
        *("--truth", "gold", "--models", "a,b", "--items-out", "items.csv", "--json"),
        stdin=table,
    )
    held = json.loads(done.stdout)
    assert held["decision"] == "undecided"
    assert held["needed"]["of"] == "labels on items drawn at random"
    rows = list(csv.DictReader((tmp_path / "items.csv").read_text().splitlines()))
    assert sum(row["label_next"] == "True" for row in rows) == 17


@pytest.mark.parametrize(
    ("arguments", "table", "words"),
    [
        (["--models", "x,y"], "x,y\n1,0\n", "two items"),
        ([], "x\n1\n0\n", "two models"),
        (["--bounds", "0,1"], "x,y\n0.5,0\n2,0.1\n", "row 2.*at most 1"),
        (["--gate", "z >= x"], "x,y\n1,0\n0,1\n", "'z'"),
        ([], "x,x\n1,0\n", "twice"),
        (["--truth", "gold", "--models", "x,y"], "gold,x,y\n,a,b\n,a,a\n", "blank everywhere"),
    ],
)
def test_bad_input_is_refused_without_a_traceback(tallystick, arguments, table, words):
    done = tallystick("compare", "-", *arguments, stdin=table)
    assert done.returncode == 1
    assert re.search(words, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_a_value_that_cannot_be_parsed_is_a_usage_error(tallystick):
    done = tallystick("compare", "-", "--bounds", "wide", stdin="x,y\n0.5,0\n")
    assert done.returncode == 2
    assert "LO,HI with two numbers" in done.stderr


def test_items_that_a_pilot_leaves_out_are_said(tallystick):
    done = tallystick("plan", "-", "--columns", "x,y", stdin="x,y\n1,0\n0,1\n1,0\n1,\n")
    assert "1 of 4 items are left out" in done.stdout


def test_a_pilot_with_blank_labels_is_planned_from_all_its_rows(tallystick):
    table = "gold,A,B\n" + "x,x,y\n" * 26 + "y,x,y\n" * 14 + ",x,x\n" * 160
    held = json.loads(
        tallystick("plan", "-", "--truth", "gold", "--columns", "A,B", "--json", stdin=table).stdout
    )
    assert (
        "a difference of 6.0 points between two models that disagree on 20.0% of them"
        in held["verdict"]
    )
    assert any("160 of 200 items have no true label" in text for text in held["warnings"])


def test_failures_in_logs_stand_in_the_answer(tallystick, tmp_path):
    log = json.loads((FIXTURES / "inspect" / "new.json").read_text())
    log["samples"][0]["scores"] = None
    (tmp_path / "failed.json").write_text(json.dumps(log))
    again = log["samples"][0] | {"epoch": 2, "scores": log["samples"][1]["scores"]}
    (tmp_path / "half.json").write_text(json.dumps(log | {"samples": [*log["samples"], again]}))
    for name, items in (
        ("failed.json", len(log["samples"]) - 1),
        ("half.json", len(log["samples"])),
    ):
        old = FIXTURES / "inspect" / "old.json"
        held = json.loads(tallystick("compare", old, name, "--metric", "match", "--json").stdout)
        [told] = [
            text
            for text in held["warnings"]
            if "1 samples failed and have no score (1 of 'mockllm/new')" in text
        ]
        assert told.endswith("(1 of 'mockllm/new')")
        assert held["n_items"] == items
        lost = any("1 of 4 items are left out" in text for text in held["warnings"])
        assert lost == (items == 3)
