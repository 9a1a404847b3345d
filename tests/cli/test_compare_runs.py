"""The commands of the tutorial: runs in files and logs, gates for a build."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

FIXTURES = Path(__file__).parent.parent / "io" / "logs" / "fixtures"


@pytest.fixture
def runs(tmp_path):
    for name, keep in (("a", 3), ("b", 5)):
        rows = "".join(
            f"q{i},{int(i % 6 < keep)},{700 + 37 * (i * keep % 50)}\n" for i in range(300)
        )
        (tmp_path / f"run_{name}.csv").write_text(f"item,correct,latency_ms\n{rows}")
    return tmp_path


def test_two_result_files_are_two_models(tallystick, runs):
    done = tallystick("compare", "run_a.csv", "run_b.csv", "--metric", "correct", "--json")
    held = json.loads(done.stdout)
    assert held["contenders"] == ["run_b"]
    assert (held["metric"], held["better"]) == ("correct", "higher")
    asked = tallystick("compare", "run_a.csv", "run_b.csv")
    assert asked.returncode == 0
    assert "score 'correct' of 2 logs" in asked.stderr


def test_runs_are_named_on_the_command_line(tallystick, runs):
    done = tallystick(
        *"compare --run old=run_a.csv --run new=run_b.csv --metric latency_ms --json".split()
    )  # fmt: skip
    held = json.loads(done.stdout)
    assert {row["name"] for row in held["models"]} == {"old", "new"}
    assert held["better"] == "lower"
    assert "lower is better, by the name 'latency_ms'" in done.stderr


def test_nothing_to_read_is_a_usage_error(tallystick):
    done = tallystick("compare")
    assert done.returncode == 2
    assert "--run" in done.stderr


@pytest.mark.parametrize(
    ("gate", "code", "passed"),
    [("new >= old - 0.01", 0, True), ("old >= new", 10, False), ("new >= old + 0.07", 11, None)],
)
def test_a_gate_is_the_same_in_the_exit_code_json_junit_and_markdown(
    tallystick,
    scores,
    tmp_path,
    gate,
    code,
    passed,
):
    done = tallystick(
        "compare", scores, "--models", "old,new", "--gate", gate, *"--json --junit gates.xml --summary summary.md".split()
    )  # fmt: skip
    assert done.returncode == code
    [outcome] = json.loads(done.stdout)["gates"]
    assert outcome["passed"] is passed
    suite = ElementTree.parse(tmp_path / "gates.xml").getroot()
    [case] = suite.iter("testcase")
    kinds = {True: [], False: ["failure"], None: ["error"]}
    assert [child.tag for child in case if child.tag != "system-out"] == kinds[passed]
    text = (tmp_path / "summary.md").read_text()
    assert "| new " in text
    word = {True: "passed", False: "failed", None: "undecided"}[passed]
    assert f"| {gate} | {word} |" in text
    tallystick("compare", scores, "--models", "old,new", "--summary", "summary.md")
    assert (tmp_path / "summary.md").read_text().startswith(text)  # appended, not replaced


def test_slices_are_written_as_percentages(tallystick, scores):
    text = scores.read_text().splitlines()
    rows = [f"{text[0]},half", *(f"{line},{'ab'[i % 2]}" for i, line in enumerate(text[1:]))]
    scores.write_text("\n".join(rows) + "\n")
    done = tallystick("compare", scores, "--models", "old,new", "--by", "half")
    assert done.stdout.count("points [") >= 2
    assert not re.search(r"-0\.0|−0\.0(?!\d)", done.stdout)


def test_battles_are_wins_ties_and_losses(tallystick, tmp_path):
    rows = "".join(f"gpt,claude,{w}\n" for w in ["model_a"] * 30 + ["tie"] * 10 + ["model_b"] * 20)
    (tmp_path / "arena.csv").write_text(f"model_a,model_b,winner\n{rows}")
    held = json.loads(tallystick("compare", "arena.csv", "--json").stdout)
    [pair] = held["pairs"]
    assert (pair["wins"], pair["ties"], pair["losses"]) == (30, 10, 20)
    assert pair["win_rate"] == pytest.approx(0.5833, abs=1e-4)
    refused = tallystick("compare", "arena.csv", "--metric", "elo")
    assert refused.returncode == 1
    assert "takes no --metric" in refused.stderr
