"""Evaluation logs as outputs of systems: their scores are judges' grades."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tallystick import score
from tallystick.errors import InputError
from tallystick.table import Door, read

LOGS = Path(__file__).parents[1] / "io" / "logs" / "fixtures"
DOOR = Door(verb="score", want="judges", pivots=False, repeats=True, outputs=True)


def files(*names: str) -> list[str]:
    return [str(LOGS / name) for name in names]


@pytest.mark.parametrize(
    ("names", "judge", "systems", "items"),
    [
        (("inspect/good.eval", "inspect/poor.eval"), "match", 2, 4),
        (("inspect/old.json", "inspect/new.json"), "includes", 2, 4),
        (("promptfoo/two-prompts.json",), "success", 4, 4),
        (("deepeval/old.json", "deepeval/new.json"), "Exact", 2, 6),
    ],
)
def test_models_are_systems_and_the_score_is_a_judge(names, judge, systems, items):
    with read(files(*names), DOOR, judges=(judge,)) as data:
        assert data.roles.judges == (judge,)
        cells = data.cells("system", "item")
    assert len(set(cells["system"])) == systems
    assert len(set(cells["item"])) == items


def test_lm_eval_needs_no_choice_of_its_only_score():
    found = sorted(map(str, (LOGS / "lm_eval").glob("*/samples_sums_2026*")))
    result = score(found)
    assert {row.name for row in result.systems} == {"alpha", "beta"}
    assert result.judges[0].name == "acc"


def test_several_scores_are_asked_about():
    with pytest.raises(InputError, match="--judges match,includes"):
        read(files("inspect/good.eval"), DOOR)
    with read(files("inspect/good.eval"), DOOR, metric="match") as data:
        assert data.roles.judges == ("match",)
    with pytest.raises(InputError, match="has no score 'mach'"):
        read(files("inspect/good.eval"), DOOR, metric="mach")


def test_human_grades_in_a_second_file_are_joined_by_item_and_system(tmp_path):
    human = tmp_path / "human.csv"
    human.write_text("item,system,human\nq0,mockllm/good,1\nq1,mockllm/poor,1\nq2,mockllm/poor,0\n")
    logs = files("inspect/good.eval", "inspect/poor.eval")
    result = score(logs, judges="match", truth_file=str(human))
    labels = {row.name: row.n_labels for row in result.systems}
    assert labels == {"mockllm/good": 1, "mockllm/poor": 2}


def test_one_system_needs_no_column_of_systems_in_the_second_file(tmp_path):
    human = tmp_path / "human.csv"
    human.write_text("item,human\nq0,pass\nq2,fail\n")
    result = score(files("inspect/good.eval"), judges="match", truth_file=str(human))
    assert result.n_labels == 2
    assert result.systems[0].name == "mockllm/good"


def test_a_human_score_inside_the_log_is_the_truth():
    """Tools keep people's grades beside those of judges: one score is the truth of another."""
    result = score(files("inspect/good.eval"), truth="includes")
    assert result.judges[0].name == "match"
    assert result.n_labels == 4


def test_a_human_grade_of_an_unknown_item_is_named(tmp_path):
    human = tmp_path / "human.csv"
    human.write_text("item,system,human\nq99,mockllm/good,1\n")
    logs = files("inspect/good.eval", "inspect/poor.eval")
    with pytest.raises(InputError, match="q99"):
        score(logs, judges="match", truth_file=str(human))


def inspect_log(folder, name, epochs):
    """Write a log of 80 items, each of which was run several times with one outcome."""
    rng = np.random.default_rng(len(name))
    samples = []
    for item, (good, said) in enumerate(rng.random((80, 2)) < 0.8):
        scores = {"match": {"value": "C" if good == said else "I"}}
        if item % 2:
            scores["human"] = {"value": "C" if good else "I"}
        samples += [{"id": f"q{item}", "epoch": k, "scores": scores} for k in range(epochs)]
    path = folder / f"{name}{epochs}.json"
    head = {"version": 2, "status": "success", "eval": {"model": name, "task": "t"}}
    path.write_text(json.dumps({**head, "results": {"scores": []}, "samples": samples}))
    return str(path)


def test_replicates_stay_outputs_and_tell_no_more_of_their_items(tmp_path):
    """Averages of pass and fail were read as grades, 0.5 among them."""
    with read(files("inspect/twice.eval"), DOOR, judges=("match",)) as data:
        assert data.roles.replicate == "replicate"
        assert set(data.cells("match")["match"]) == {0.0, 1.0}
    once, twice = (
        score(
            [inspect_log(tmp_path, name, n) for name in ("a", "bb")], truth="human", judges="match"
        )
        for n in (1, 2)
    )
    for one, two in zip(once.systems, twice.systems, strict=True):
        assert two.n_outputs == 2 * one.n_outputs
        for end in ("low", "high"):
            assert abs(getattr(two.interval, end) - getattr(one.interval, end)) < 0.01


def test_a_human_grade_of_a_replicate_names_it(tmp_path):
    human = tmp_path / "human.csv"
    human.write_text("item,human\nq0,pass\nq2,fail\n")
    logs = files("inspect/twice.eval")
    with pytest.raises(InputError, match="no column 'replicate'"):
        score(logs, judges="match", truth_file=str(human))
    human.write_text("item,replicate,human\nq0,1,pass\nq0,2,fail\n")
    assert score(logs, judges="match", truth_file=str(human)).n_labels == 2


def test_a_plain_table_is_not_a_log(tmp_path):
    path = tmp_path / "outputs.csv"
    path.write_text("id,system,gpt\n1,a,1\n2,a,0\n")
    with read(str(path), DOOR) as data:
        assert data.roles.judges == ("gpt",)
