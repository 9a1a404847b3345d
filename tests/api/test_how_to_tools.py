"""The pages on other tools do what they say: code and commands run as printed.

pandas, Polars and Snorkel's matrices are doctests. Here are the pages that need files or a running
Spark. The logs are those that the tools themselves wrote (tests/io/logs/fixtures).
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "how-to"
LOGS = ROOT / "tests" / "io" / "logs" / "fixtures"
DATA = ROOT / "docs" / "notebooks" / "data"


def blocks(page: str, kind: str) -> list[str]:
    text = (PAGES / page).read_text(encoding="utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def commands(page: str) -> list[list[str]]:
    lines = "".join(blocks(page, "console")).splitlines()
    return [shlex.split(line.removeprefix("$ tallystick ")) for line in lines]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    from tallystick.cli import main

    monkeypatch.chdir(tmp_path)

    def ran(words: list[str]) -> dict:
        with contextlib.suppress(SystemExit):
            main([*words, "--json"])
        out, err = capsys.readouterr()
        assert out, err
        return json.loads(out)

    return ran


@pytest.mark.parametrize(
    ("page", "files", "models"),
    [
        ("inspect.md", {"old.json": "inspect/old.json", "new.json": "inspect/new.json"}, 2),
        ("deepeval.md", {"old.json": "deepeval/old.json", "new.json": "deepeval/new.json"}, 2),
    ],
)
def test_two_logs_are_compared_by_the_printed_command(page, files, models, run, tmp_path) -> None:
    for name, log in files.items():
        shutil.copy(LOGS / log, tmp_path / name)
    for words in commands(page):
        answer = run(words)
        assert len(answer["models"]) == models
        assert answer["verdict"]


def test_promptfoo_gives_one_model_per_provider_and_prompt(run, tmp_path) -> None:
    one, two = commands("promptfoo.md")
    for name in ("results.json", "before.json", "after.json"):
        shutil.copy(LOGS / "promptfoo" / "two-prompts.json", tmp_path / name)
    assert len(run(one)["models"]) == 4
    assert "before.json" in two


def test_label_studio_takes_tasks_and_gives_answers(run, tmp_path) -> None:
    shutil.copy(DATA / "votes.csv", tmp_path)
    truth = (DATA / "truth.csv").read_text(encoding="utf-8").split()
    known = dict(line.split(",") for line in truth[1:])
    draw, add, conclude = commands("label-studio.md")
    run(draw)
    tasks = json.loads((tmp_path / "tasks.label-studio.json").read_text(encoding="utf-8"))
    assert len(tasks) == 20
    for task in tasks:
        choice = {"choices": [known[str(task["data"]["answer_id"])]]}
        task["annotations"] = [{"completed_by": 1, "result": [{"value": choice}]}]
    (tmp_path / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    assert run(add)["answered"] == 20
    assert run(conclude)["n_labels"] == 20


def test_a_spark_frame_is_counted_and_its_counts_are_kept(
    spark, tmp_path, monkeypatch, capsys
) -> None:
    from tallystick import judge

    monkeypatch.chdir(tmp_path)
    shutil.copy(DATA / "votes.csv", tmp_path)
    scope = {"spark": spark}
    for block in blocks("spark.md", "python"):
        # The Java side has a folder of its own.
        code = block.replace('csv("votes.csv"', f"csv({str(tmp_path / 'votes.csv')!r}")
        exec(compile(code, "spark.md", "exec"), scope)
    assert capsys.readouterr().out.startswith("Without labels we cannot tell which judge is best.")
    kept = judge(str(tmp_path / "votes.tally"))
    assert kept.verdict == scope["result"].verdict


def test_a_fitted_snorkel_model_takes_the_place_of_ours() -> None:
    labeling = pytest.importorskip("snorkel.labeling.model", reason="snorkel is not installed")
    import numpy as np

    from tallystick import bound

    rng = np.random.default_rng(0)
    spam = rng.random(500) < 0.4
    votes = np.column_stack([np.where(rng.random(500) < 0.85, spam, ~spam) for _ in range(3)])
    model = labeling.LabelModel(cardinality=2, verbose=False)
    model.fit(votes.astype(int), seed=0)
    table = {f"lf{j}": votes[:, j].astype(int) for j in range(3)} | {"h": spam.astype(int)}
    found = bound(table, prediction="h", weak=["lf0", "lf1", "lf2"], label_model=model)
    assert [row.name for row in found.label_models] == ["given"]
