"""Real judges with a known truth; skipped where the data is not there."""

from pathlib import Path

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.verbs.score import evaluate


def test_labels_on_one_of_four_systems_score_that_one_and_say_so(shared_data: Path):
    result = evaluate(
        str(shared_data / "score" / "arena_4systems.csv.gz"),
        item="prompt_id",
        system="system",
        judges="judge_score",
        truth="oracle_label",
        scale=(0, 1),
    )
    assert result.verdict.startswith("Only base has human grades: it scores 75.5")
    assert [row.name for row in result.systems if not isinstance(row.score, Unknown)] == ["base"]
    assert result.pairs == ()
    assert result.decision == "undecided"
    base = result.system("base")
    assert base.judge_only not in base.interval


def test_subsets_of_llmbar_as_systems_are_covered_where_the_judges_are_not(shared_data: Path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(shared_data / "judge" / "llmbar_swap0.csv.gz")
    judges = [name for name in frame.columns if name not in ("item", "truth")]
    for name in (*judges, "truth"):
        frame[name] = frame[name].map({1: "pass", 2: "fail"})
    frame["system"] = frame["item"].str.replace(r"-\d+$", "", regex=True)
    true = (frame["truth"] == "pass").groupby(frame["system"]).mean()
    rng = np.random.default_rng(1)
    inside = judged = total = wrong = 0
    for seed in range(2):
        shown = frame.copy()
        keep = np.zeros(len(shown), bool)
        for _, part in shown.groupby("system"):
            keep[rng.choice(part.index, 20, replace=False)] = True
        shown.loc[~keep, "truth"] = None
        result = evaluate(
            shown, item="item", system="system", judges=judges, truth="truth", seed=seed
        )
        for row in result.systems:
            total += 1
            inside += true[row.name] in row.interval
            judged += row.judge_only in row.interval
        wrong += sum(pair.settled and true[pair.a] < true[pair.b] for pair in result.pairs)
    assert inside >= total - 1
    assert judged < inside
    assert wrong == 0
