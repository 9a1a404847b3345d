"""Several files as runs of the same items."""

import numpy as np
import pandas as pd
import pytest

from tallystick import compare
from tallystick.errors import InputError
from tallystick.table import Door, read
from tallystick.table.roles import Layout, Roles
from tallystick.table.runs import find_runs

DOOR = Door(
    verb="compare",
    want="models",
    repeats=True,
    runs=True,
    reads=("models", "truth", "item", "cluster", "replicate"),
)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run_a.csv").write_text(
        "item,correct,latency_ms\n" + "".join(f"q{i},{i % 2},{800 + i}\n" for i in range(40))
    )
    (tmp_path / "run_b.csv").write_text(
        "item,correct,latency_ms\n"
        + "".join(f"q{i},{int(i % 4 > 0)},{9 * i}\n" for i in range(2, 44))
    )
    return tmp_path


def test_each_file_is_a_model_and_the_metric_has_a_name_that_decides(runs):
    with read(["run_a.csv", "run_b.csv"], DOOR) as data:
        assert data.metric == "correct"
        assert data.roles.models == ("run_a", "run_b")
        # Items that one run lacks stay: what is missing may turn a gate.
        assert data.n_rows == 44


def test_items_without_a_partner_are_counted(runs):
    result = compare(["run_a.csv", "run_b.csv"], metric="correct")
    [said] = [text for text in result.warnings if "left out" in text]
    assert said.startswith("6 of 44 items are left out because a model gave no answer there")
    assert "most often run_a" in said
    assert "on 38 items that both answered" in result.verdict


def test_runs_are_named_by_the_caller(runs):
    result = compare([], run=("old=run_a.csv", "new=run_b.csv"), metric="correct")
    assert {row.name for row in result.models} == {"old", "new"}
    again = compare({"old": "run_a.csv", "new": "run_b.csv"}, metric="correct")
    assert again.verdict == result.verdict


def test_frames_are_runs_too(runs):
    frames = {name: pd.read_csv(f"run_{name}.csv") for name in "ab"}
    result = compare(frames, metric="latency_ms")
    assert result.better == "lower"
    assert {row.name for row in result.models} == {"a", "b"}


def test_a_folder_of_result_files_is_a_board(runs):
    result = compare(str(runs), metric="correct")
    assert {row.name for row in result.models} == {"run_a", "run_b"}


def test_parts_of_one_table_are_not_runs(runs):
    for name, items in (("part1", range(30)), ("part2", range(30, 60))):
        rows = "".join(f"q{i},{i % 2},{i % 3 // 2}\n" for i in items)
        (runs / f"{name}.csv").write_text("item,gpt,claude\n" + rows)
    result = compare(["part1.csv", "part2.csv"])
    assert result.n_items == 60
    assert {row.name for row in result.models} == {"gpt", "claude"}


def test_items_without_names_are_matched_by_what_was_asked(runs):
    for name, shift in (("x", 0), ("y", 1)):
        rows = "".join(f"how much is {i}?,answer {i},{(i + shift) % 2}\n" for i in range(20))
        (runs / f"{name}.csv").write_text("prompt,output,correct\n" + rows)
    result = compare(["x.csv", "y.csv"], metric="correct")
    assert result.n_items == 20
    assert any("matched by the content of prompt" in note for note in result.notes)


def test_files_with_one_column_each_are_named_by_it(runs):
    for name in ("gpt", "claude"):
        (runs / f"{name}_scores.csv").write_text(
            f"id,{name}\n" + "".join(f"{i},{i % 2}\n" for i in range(9))
        )
    result = compare(["gpt_scores.csv", "claude_scores.csv"])
    assert {row.name for row in result.models} == {"gpt", "claude"}


def test_answers_in_runs_are_held_against_the_truth(runs):
    for name, wrong in (("x", 0), ("y", 12)):
        rows = "".join(f"q{i},{'b' if i < wrong else 'a'},a\n" for i in range(20))
        (runs / f"{name}.csv").write_text("item,answer,gold\n" + rows)
    result = compare(["x.csv", "y.csv"], metric="answer", truth="gold")
    assert result.contenders == ("x",)
    assert result.models[1].score == pytest.approx(0.4)


def test_clusters_and_slices_of_runs_are_carried(runs):
    rng = np.random.default_rng(0)
    for name, share in (("x", 0.9), ("y", 0.4)):
        rows = "".join(f"q{i},d{i % 12},{int(rng.random() < share)}\n" for i in range(240))
        (runs / f"{name}.csv").write_text("item,doc,correct\n" + rows)
    result = compare(["x.csv", "y.csv"], metric="correct", cluster="doc")
    assert (result.population, result.sample, result.clusters) == ("new", "clusters", 12)


def test_a_cluster_that_two_runs_contradict_is_refused(runs):
    for name in "xy":
        (runs / f"{name}.csv").write_text(
            "item,doc,correct\n" + "".join(f"q{i},{name}{i % 3},1\n" for i in range(9))
        )
    with pytest.raises(InputError, match="has doc 'x0' in one run and 'y0'"):
        compare(["x.csv", "y.csv"], metric="correct", cluster="doc")


@pytest.mark.parametrize(
    ("run", "words"),
    [(("old",), "NAME=FILE"), (("a=x.csv", "a=y.csv"), "its own name, got 'a=y.csv'")],
)
def test_runs_that_are_not_named_well_are_refused(run, words):
    with pytest.raises(InputError, match=words):
        find_runs([], Layout(run=run), Roles())


def test_standard_input_is_never_a_run():
    assert find_runs(["-"], Layout(), Roles()) is None


def test_epochs_of_a_long_table_are_runs_of_an_item(tmp_path):
    rows = [
        {
            "item": f"q{i}",
            "model": model,
            "epoch": k,
            "correct": int((i + k + (model == "b")) % 3 > 0),
        }
        for i in range(12)
        for k in range(1, 5)
        for model in "ab"
    ]
    frame = pd.DataFrame(rows)
    with read(frame, DOOR) as data:
        assert (data.roles.item, data.roles.replicate) == ("item", "epoch")
        assert data.roles.models == ("a", "b")
    result = compare(frame, metric="pass^2:correct")
    assert result.estimand == "pass^k"
    assert result.n_items == 12


def test_the_metric_of_a_long_table_is_one_of_its_columns():
    frame = pd.DataFrame(
        {
            "item": np.repeat([f"q{i}" for i in range(50)], 2),
            "model": ["a", "b"] * 50,
            "correct": [1, 0] * 25 + [1, 1] * 25,
            "latency_ms": np.random.default_rng(0).lognormal(5, 0.3, 100),
        }
    )
    result = compare(frame, metric="latency_ms", item="item", judge="model")
    assert (result.metric, result.better) == ("latency_ms", "lower")


def run_file(folder, name, columns):
    (folder / f"{name}.csv").write_text(pd.DataFrame(columns).to_csv(index=False))
    return f"{name}.csv"


def test_a_column_with_one_model_names_the_run(runs):
    files = [
        run_file(runs, name, {"id": range(6), "model": [f"m{name}"] * 6, "f1": [1, 0] * 3})
        for name in "xy"
    ]
    assert {row.name for row in compare(files, metric="f1").models} == {"mx", "my"}


def test_files_without_items_or_scores_are_refused_with_the_way_out(runs):
    files = [run_file(runs, name, {"f1": [0.5, 1.0]}) for name in "xy"]
    with pytest.raises(InputError, match=r"no column names the items.*--item C"):
        compare(files, metric="f1")
    files = [run_file(runs, name, {"id": [1, 2], "note": ["some words", name]}) for name in "xy"]
    with pytest.raises(InputError, match=r"no column holds scores.*--metric C"):
        compare([], run=[f"{file[0]}={file}" for file in files])
