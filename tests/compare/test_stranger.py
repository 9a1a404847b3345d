"""Tables as people bring them, with the command that ``--help`` suggests; written before the work."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tallystick.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def command(line):
        code = 0
        try:
            main(line.split())
        except SystemExit as leaving:
            code = leaving.code or 0
        out, err = capsys.readouterr()
        return code, " ".join(out.replace("\u00a0", " ").split()), " ".join(err.split())

    return command


def write(name, head, rows):
    with Path(name).open("w", newline="") as file:
        made = csv.writer(file)
        made.writerow(head.split(","))
        made.writerows(rows)


def test_kaggle_columns_are_battles(run):
    rng = np.random.default_rng(1)
    strength = {"gpt-4": 1.0, "claude-2": 0.6, "llama-2": -0.4}
    rows = []
    for i in range(600):
        a, b = rng.choice(list(strength), 2, replace=False)
        first = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        marks = (0, 0, 1) if rng.random() < 0.25 else (int(first), int(not first), 0)
        rows.append([30_000 + i, a, b, f"prompt {i}", "ra", "rb", *marks])
    head = (
        "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie"
    )
    write("kaggle.csv", head, rows)
    code, out, _ = run("compare kaggle.csv")
    assert code == 0
    assert "of 3 pairs of models are told apart in 600 battles" in out
    assert "gpt-4" in out
    assert "winner_model_b leads" not in out
    rows[7][6:] = (1, 1, 0)
    write("kaggle.csv", head, rows)
    code, _, err = run("compare kaggle.csv")
    assert code == 1
    assert "hold 1, 1, 0: one of them must be 1" in err


def test_alpacaeval_preferences_from_one_to_two_are_battles(run):
    rng = np.random.default_rng(2)
    rows = [
        {
            "instruction": f"Write {i}",
            "output_1": "x",
            "generator_1": "baseline",
            "output_2": "y",
            "generator_2": "mistral",
            "annotator": "weighted",
            "preference": float(np.clip(1.5 + rng.normal(0.12, 0.4), 1, 2)),
        }
        for i in range(400)
    ]
    Path("alpaca.json").write_text(json.dumps(rows))
    code, out, _ = run("compare alpaca.json")
    rate = np.mean([row["preference"] for row in rows]) - 1
    assert code == 0
    assert f"mistral beats baseline in {100 * rate:.1f}%" in out
    assert "baseline always stands before mistral" in out


def test_an_arena_whose_judge_prefers_a_place_says_so(run):
    rng = np.random.default_rng(3)
    rows = []
    for i in range(500):
        a, b = rng.choice(["vicuna", "koala"], 2, replace=False)
        rows.append([f"q{i}", a, b, rng.choice(["model_a", "model_b", "tie"], p=[0.62, 0.2, 0.18])])
    write("arena.csv", "question_id,model_a,model_b,winner", rows)
    code, out, _ = run("compare arena.csv")
    assert code == 0
    assert "We cannot tell which model is best" in out
    assert "! the first place wins 7" in out
    assert "so no model gains by it" in out


def test_folds_are_compared_by_plain_t_with_the_sign_test_beside(run):
    rng = np.random.default_rng(4)
    base = rng.normal(0.84, 0.02, 10)
    rows = [[i + 1, f"{x:.4f}", f"{x + rng.normal(0.008, 0.004):.4f}"] for i, x in enumerate(base)]
    write("folds.csv", "fold,logreg,xgb", rows)
    for line in ("compare folds.csv", "compare folds.csv --bounds 0,1"):
        code, out, _ = run(line)
        assert code == 0
        assert "xgb is better than logreg" in out
        assert "xgb ahead in 10 rows and behind in 0, exact sign test p = 0.0020" in out
        assert "ratio" not in out
        assert "need about 40" not in out


def test_models_in_rows_are_to_be_transposed(run):
    rng = np.random.default_rng(5)
    rows = [[m, *rng.integers(0, 2, 60)] for m in ("small", "mid", "large")]
    write("wide.csv", "model," + ",".join(f"q{j}" for j in range(60)), rows)
    code, _, err = run("compare wide.csv")
    assert code == 1
    assert "transpose it" in err
    assert "tallystick compare wide-items.csv --item item" in err


def test_one_cell_of_minus_two_is_asked_about(run):
    scores = np.random.default_rng(6).beta(4, 2, (3000, 2)).round(3)
    scores[1234, 1] = -2
    write("scores.csv", "id,base,tuned", ([i, *row] for i, row in enumerate(scores)))
    code, out, err = run("compare scores.csv --item id")
    assert code in (1, 2)
    assert "--missing=-2" in err
    assert not out
    assert run("compare scores.csv --item id --missing=-2")[0] == 0


def test_questions_of_one_document_are_not_independent(run):
    rng = np.random.default_rng(7)
    rows = []
    for d in range(60):
        q, shift = rng.uniform(0.4, 0.8), rng.normal(0, 0.4)
        for j in range(8):
            old, new = rng.random() < q, rng.random() < np.clip(q + shift, 0, 1)
            rows.append([f"doc{d}", f"d{d}q{j}", int(old), int(new)])
    write("docs.csv", "document,question,old,new", rows)
    code, out, _ = run("compare docs.csv --models old,new --item question")
    assert code == 0
    assert "--cluster document" in out
    code, out, _ = run("compare docs.csv --models old,new --item question --cluster document")
    assert "60 clusters (480 items), every cluster counting once" in out


def test_failures_are_left_out_aloud_with_the_worst_case_beside(run):
    rng = np.random.default_rng(8)
    right = rng.random((300, 2)) < (0.7, 0.78)
    blank = rng.random(300) < 0.15
    rows = [
        [i, int(a), "" if c else int(b)]
        for i, ((a, b), c) in enumerate(zip(right, blank, strict=True))
    ]
    write("failures.csv", "item,stable,fast", rows)
    code, out, _ = run("compare failures.csv --item item")
    assert code == 0
    assert f"on {300 - blank.sum()} items that both answered" in out
    assert "whatever the missing answers are" in out


def test_plan_reads_what_compare_reads(run):
    rng = np.random.default_rng(9)
    first = rng.beta(5, 2, 150)
    second = np.clip(first + rng.normal(0.03, 0.15, 150), 0, 1)
    for name, values in (("a.csv", first), ("b.csv", second)):
        write(name, "id,f1,exact", ([i, f"{v:.3f}", int(v > 0.8)] for i, v in enumerate(values)))
    for metric, test in (("f1", "paired t"), ("exact", "paired, right or wrong")):
        code, out, _ = run(f"plan a.csv b.csv --item id --metric {metric} --difference 0.05")
        assert code == 0
        assert f"{test} " in out
        assert "the test that compare runs" in out
    rows = []
    for d in range(30):
        lead = rng.normal(0.05, 0.15)
        rows += [
            [d, f"d{d}q{j}", rng.integers(0, 2), int(rng.random() < 0.5 + lead)] for j in range(6)
        ]
    write("pilot.csv", "document,question,old,new", rows)
    code, out, _ = run("plan pilot.csv --columns old,new --cluster document --difference 0.1")
    assert code == 0
    assert "clusters show a difference of 10.0 points" in out
    assert "sign-flips over clusters" in out


def test_ten_models_are_planned_by_max_t(run):
    code, out, _ = run("plan --difference .03 --disagreement .15 --models 10")
    assert code == 0
    assert "About 2,671 items show a difference of 3.0 points between any two of 10 models" in out
    assert "Hoeffding" not in out


def test_grades_in_long_form_are_compared_by_t(run):
    rng = np.random.default_rng(10)
    rows = []
    for i in range(120):
        level = rng.normal(0, 0.8)
        for name, mean in (("prompt_v1", 3.2), ("prompt_v2", 3.7)):
            grade = np.clip(round(mean + level + rng.normal(0, 0.6)), 1, 5)
            rows.append([i, name, int(grade)])
    write("grades.csv", "question_id,model,grade", rows)
    code, out, _ = run("compare grades.csv")
    assert code == 0
    assert "prompt_v2 is better than prompt_v1: 3." in out


def test_skewed_latencies_say_which_way_is_better(run):
    rng = np.random.default_rng(11)
    level = rng.lognormal(0, 1, 120)
    old, new = (k * level * np.exp(rng.normal(0, 0.2, 120)) for k in (200, 170))
    write("latency.csv", "request,old_latency,new_latency", zip(range(120), old, new, strict=True))
    code, out, err = run("compare latency.csv --item request")
    assert code == 0
    assert "new_latency is better than old_latency" in out
    assert "lower is better" in out + err
