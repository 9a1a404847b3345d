import csv
import json
import re
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "io" / "logs" / "fixtures"


@pytest.fixture
def tallystick(in_process):
    return in_process


def test_json_is_one_object_of_the_contract(tallystick, scores):
    done = tallystick("compare", scores, "--models", "old,new", "--json")
    held = json.loads(done.stdout)
    assert held["verb"] == "compare"
    assert held["contenders"] == ["new"]
    assert [row["name"] for row in held["models"]] == ["new", "old"]
    assert held["pairs"][0]["interval_guarantee"] == "approximate"
    sure = tallystick("compare", scores, "--models", "old,new", "--certified", "--json")
    assert json.loads(sure.stdout)["pairs"][0]["interval_guarantee"] == "exact"
    assert held["models"][0]["rank_interval"] == [1, 1]


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("new >= old - 0.01", 0),
        ("old >= new", 10),
        ("new >= old + 0.07", 11),
        ("score(new) > 10%", 0),
    ],
)
def test_gates_leave_by_their_code_and_are_in_the_json(tallystick, scores, gate, code):
    done = tallystick("compare", scores, "--models", "old,new", "--gate", gate, "--json")
    assert done.returncode == code, done.stderr
    assert f": {gate} (" in done.stderr
    [outcome] = json.loads(done.stdout)["gates"]
    assert outcome["expression"] == gate
    assert outcome["passed"] is {0: True, 10: False, 11: None}[code]
    low, high = outcome["interval"]
    assert low < outcome["estimate"] < high


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


def test_logs_are_compared_like_tables(tallystick):
    logs = FIXTURES / "inspect"
    done = tallystick(
        "compare", logs / "old.json", logs / "new.json", "--metric", "match", "--json"
    )
    held = json.loads(done.stdout)
    assert {row["name"] for row in held["models"]} == {"mockllm/old", "mockllm/new"}
    assert "inspect-json" in done.stderr


def test_stopping_early_says_where(tallystick, scores):
    held = json.loads(
        tallystick("compare", scores, "--models", "old,new", "--stop-early", "--json").stdout
    )
    assert held["stopped_at"] <= held["available"] == 400
    assert [row["name"] for row in held["models"]] == ["new", "old"]
    assert all(row["interval_guarantee"] == "anytime" for row in held["models"])
    ranks = [row["rank_interval"] for row in held["models"]]
    assert (ranks, held["tiers"]) == (
        ([[1, 1], [2, 2]], [["new"], ["old"]])
        if len(held["contenders"]) == 1
        else ([[1, 2], [1, 2]], [["new", "old"]])
    )
    assert held["detectable_difference"] is None
    assert "as many items" in held["unknown"]["detectable_difference"]


def test_slices_are_corrected(tallystick, scores, tmp_path):
    text = scores.read_text().replace("id,doc", "id,doc,half").splitlines()
    rows = [
        text[0],
        *(
            ",".join([*line.split(",")[:2], "ab"[i % 2], *line.split(",")[2:]])
            for i, line in enumerate(text[1:])
        ),
    ]
    (tmp_path / "sliced.csv").write_text("\n".join(rows) + "\n")
    done = tallystick("compare", "sliced.csv", "--models", "old,new", "--by", "half", "--json")
    held = json.loads(done.stdout)
    assert [part["slice"] for part in held["slices"]] == ["a", "b"]
    assert held["slices"][0]["alpha"] == 0.025


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


def test_a_column_of_words_is_left_out_and_said(tallystick):
    done = tallystick(
        "compare", "-", stdin="topic,base,tuned\n" + "law,1,0\nart,0,1\nlaw,1,1\nart,0,0\n" * 9
    )
    assert done.returncode == 0
    assert "models base, tuned: 0 or 1 · unused: topic" in done.stdout


def test_a_value_that_cannot_be_parsed_is_a_usage_error(tallystick):
    done = tallystick("compare", "-", "--bounds", "wide", stdin="x,y\n0.5,0\n")
    assert done.returncode == 2
    assert "LO,HI with two numbers" in done.stderr


def test_plan_prints_methods(tallystick, scores):
    held = json.loads(
        tallystick("plan", "--difference", "0.02", "--disagreement", "0.1", "--json").stdout
    )
    assert held["verb"] == "plan"
    assert {"name", "n_items", "guarantee"} <= set(held["methods"][0])
    assert [one["n_items"] for one in held["methods"][:3]] == [1949, 2043, 3762]
    pilot = tallystick("plan", scores, "--json")
    assert pilot.returncode == 0
    read = json.loads(pilot.stdout)["reading"]
    assert read["models"] == ["old", "new"]
    assert set(read["unused"]) == {"doc"}


def test_a_pilot_is_planned_from_the_columns_that_are_named(tallystick, scores):
    held = json.loads(tallystick("plan", scores, "--columns", "old,new", "--json").stdout)
    assert "in a pilot of 400 items" in held["verdict"]
    assert any("may flatter" in text for text in held["warnings"])
    held = json.loads(
        tallystick("plan", scores, "--columns", "old,new", "--difference", "0.01", "--json").stdout
    )
    assert not any("may flatter" in text for text in held["warnings"])


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
