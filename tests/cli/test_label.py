"""``tallystick label``: from a table to a verdict, by files alone."""

from __future__ import annotations

import csv
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick.cli import main
from tallystick.table.session import open_session

JUDGES = "gpt,claude,llama"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    truth = {}
    with Path("t.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", *JUDGES.split(",")])
        for i in range(300):
            good = rng.random() < 0.7
            truth[f"text {i}"] = "pass" if good else "fail"
            votes = ("pass" if (rng.random() < a) == good else "fail" for a in (0.9, 0.85, 0.8))
            writer.writerow([f"i{i}", f"text {i}", *votes])
    return truth


def _begin(*more):
    return [
        *["label", "t.csv", "--question", "judge", "--judges", JUDGES, "--show", "text"],
        *["--session", "s.label", "--json", *more],
    ]


def _json(capsys, *arguments):
    main_or_leave(*arguments)
    return json.loads(capsys.readouterr().out)


def main_or_leave(*arguments):
    with pytest.raises(SystemExit) as leaving:
        main(list(arguments))
    assert leaving.value.code in (0, None)


def _fill(truth, name="b.csv", *, rows=None):
    with Path(name).open(newline="") as stream:
        held = list(csv.DictReader(stream))
    for row in held[:rows]:
        row["answer"] = truth[row["text"]]
    with Path(name).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(held[0]))
        writer.writeheader()
        writer.writerows(held)


def test_the_loop_by_files_ends_in_the_precision_asked(folder, capsys):
    result = _json(capsys, *_begin("--target", "0.07", "--next", "20", "--out", "b.csv"))
    assert result["verb"] == "label"
    assert [one["order"] for one in result["batch"]] == list(range(1, 21))
    assert set(result["batch"][0]) == {"item", "system", "order", "probability"}
    for _ in range(40):
        _fill(folder)
        result = _json(capsys, "label", "--session", "s.label", "--add", "b.csv", "--json")
        if result["stop"]:
            break
        _json(capsys, "label", "--session", "s.label", "--next", "20", "--out", "b.csv", "--json")
    assert result["stop"] == "precision"
    fields = "session asked answered skipped interval anytime_interval forecast stop batch"
    assert set(fields.split()) <= set(result)
    assert result["interval_guarantee"] == "approximate"
    assert result["anytime_interval_guarantee"] == "anytime"
    assert result["needed"] is None

    judged = _json(
        capsys, "judge", "t.csv", "--judges", JUDGES, "--truth-file", "s.label", "--json"
    )
    assert judged["n_labels"] == result["answered"]
    for one, measure in zip(judged["judges"], result["measures"], strict=True):
        assert one["interval"] == pytest.approx(measure["interval"])


def test_a_wrong_answer_leaves_with_1_and_adds_nothing(folder, capsys):
    _json(capsys, *_begin("--next", "3", "--out", "b.csv"))
    text = Path("b.csv").read_text().splitlines()
    text[2] += "maybe"
    Path("b.csv").write_text("\n".join(text) + "\n")
    with pytest.raises(SystemExit) as leaving:
        main(["label", "--session", "s.label", "--add", "b.csv"])
    assert leaving.value.code == 1
    assert "row 2 of b.csv" in capsys.readouterr().err
    assert not open_session("s.label").answers


def test_plan_needs_no_session(folder, capsys):
    result = _json(capsys, "label", "plan", "t.csv", "--judges", JUDGES, "--json")
    assert {one["question"] for one in result["plans"]} == {"judge", "prevalence", "score"}
    assert all(
        one["low"] <= one["labels"] <= one["high"] for one in result["plans"] if one["labels"]
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["label", "t.csv", "--question", "judge"], "--session"),
        (["label", "--session", "none.label"], "does not exist yet"),
        (_begin("--open", "--terminal"), "give one of"),
    ],
)
def test_what_is_missing_is_said(folder, capsys, words, said):
    assert said in _refused(capsys, *words)


def test_instructions_are_kept_for_whoever_labels(folder, capsys):
    Path("rules.txt").write_text("Facts count. Naïve praise does not.", encoding="utf-8")
    _json(capsys, *_begin("--instructions", "rules.txt"))
    assert open_session("s.label").head.instructions == "Facts count. Naïve praise does not."
    with pytest.raises(SystemExit, match="1"):
        main(_begin("--instructions", "none.txt", "--session", "b.label"))
    assert "--instructions none.txt: it cannot be read" in capsys.readouterr().err


def test_another_question_needs_another_session(folder, capsys):
    _json(capsys, *_begin())
    said = _refused(capsys, "label", "t.csv", "--question", "prevalence", "--session", "s.label")
    assert "s.label was begun with question judge, and not with prevalence" in said


def test_other_tools_take_and_give_json(folder, capsys):
    _json(capsys, *_begin("--next", "4", "--out", "t.label-studio.json"))
    tasks = json.loads(Path("t.label-studio.json").read_text())
    for task in tasks:
        choice = {"choices": [folder[task["data"]["text"]]]}
        task["annotations"] = [{"completed_by": 3, "result": [{"value": choice}]}]
    Path("done.json").write_text(json.dumps(tasks))
    result = _json(capsys, "label", "--session", "s.label", "--add", "done.json", "--json")
    assert (result["answered"], result["pending"]) == (4, 0)


def test_kill_9_in_add_loses_no_answer_and_adding_again_counts_none_twice(folder, capsys):
    _json(capsys, *_begin("--next", "30", "--out", "b.csv"))
    _fill(folder)
    size = Path("s.label").stat().st_size
    child = subprocess.Popen(
        [sys.executable, "-m", "tallystick", "label", "--session", "s.label", "--add", "b.csv"],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    while child.poll() is None:  # the moment something is written
        if Path("s.label").stat().st_size > size:
            child.send_signal(signal.SIGKILL)
            break
        time.sleep(0.0005)
    child.wait()
    kept = open_session("s.label").answers
    assert all(one.label == folder[f"text {row}"] for one, row in _rows(kept))
    result = _json(capsys, "label", "--session", "s.label", "--add", "b.csv", "--json")
    assert (result["answered"], result["asked"]) == (30, 30)
    lines = [json.loads(line) for line in Path("s.label").read_text().splitlines()]
    assert sum("answer" in line for line in lines) == 30


def _rows(answers):
    asks = open_session("s.label").asks
    return [(one, asks[one.ask].row) for one in answers.values()]


def test_without_the_extra_the_page_offers_other_ways(folder, capsys, monkeypatch):
    for name in ("uvicorn", "starlette", "starlette.applications"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit) as leaving:
        main([*_begin()[:-1], "--open"])
    assert leaving.value.code == 1
    said = capsys.readouterr().err
    assert "tallystick[serve]" in said
    assert "--terminal" in said
    assert "--next 20 --out batch.csv" in said


def _refused(capsys, *arguments):
    with pytest.raises(SystemExit) as leaving:
        main(list(arguments))
    assert leaving.value.code not in (0, None)
    return capsys.readouterr().err


def test_the_next_command_is_said_at_each_step(folder, capsys):
    def said(*arguments):
        main_or_leave(*arguments)
        return " ".join(capsys.readouterr().out.split())

    words = [word for word in _begin() if word != "--json"]
    assert "label 20 more: tallystick label --session s.label --next 20 --out batch.csv" in said(
        *words
    )
    handed = said("label", "--session", "s.label", "--next", "20", "--out", "b.csv")
    assert (
        "fill in the last column of b.csv, then tallystick label --session s.label --add b.csv"
        in (handed)
    )
    assert "write the batch again that waits for answers: tallystick label" in said(
        "label", "--session", "s.label"
    )
    _fill(folder)
    assert " more: tallystick label" in said("label", "--session", "s.label", "--add", "b.csv")


@pytest.mark.parametrize("question", ["judge", "score"])
def test_the_last_command_asks_the_question_with_the_columns_of_the_session(
    folder, capsys, question
):
    begun = ["label", "t.csv", "--question", question, "--judges", "gpt,llama", "--item", "id"]
    main_or_leave(*begun, *"--session s.label --budget 25 --next 25 --out b.csv".split())
    _fill(folder)
    capsys.readouterr()
    main_or_leave("label", "--session", "s.label", "--add", "b.csv")
    said = " ".join(capsys.readouterr().out.split())
    command = said.partition("Next: ")[2].partition(" --truth-file s.label")[0]
    assert command.split()[:3] == ["tallystick", question, "t.csv"]
    main_or_leave(*command.split()[1:], "--truth-file", "s.label", "--json")
    body = json.loads(capsys.readouterr().out)
    if question == "judge":
        assert [one["name"] for one in body["judges"]] == ["gpt", "llama"]


def test_a_session_whose_table_was_moved_says_so(folder, capsys):
    main_or_leave(*_begin())
    capsys.readouterr()
    Path("t.csv").rename("moved.csv")
    said = _refused(capsys, "label", "--session", "s.label")
    assert "t.csv does not exist" in said
    main_or_leave("label", "moved.csv", "--session", "s.label")


def test_other_options_than_the_session_began_with_are_refused(folder, capsys):
    main_or_leave(*_begin())
    main_or_leave(*_begin())  # the same again is fine
    capsys.readouterr()
    said = _refused(capsys, "label", "t.csv", "--judges", "gpt,claude", "--session", "s.label")
    assert "s.label was begun with judges gpt, claude, llama" in said
    said = _refused(capsys, "label", "--session", "s.label", "--target", "0.02")
    assert "s.label was begun with target 0.05, and not with 0.02" in said


def test_the_second_reader_gets_what_was_drawn_for_the_first(folder, capsys):
    main_or_leave(*_begin("--readers", "2", "--next", "30", "--out", "b.csv"))
    main_or_leave(
        *["label", "--session", "s.label", "--next", "30", "--out", "c.csv", "--reader", "2"]
    )
    capsys.readouterr()
    first, second = (
        dict(line.split(",")[:2] for line in Path(name).read_text().splitlines()[1:])
        for name in ("b.csv", "c.csv")
    )
    assert len(second) == 20
    assert second.items() <= first.items()
    assert len(open_session("s.label").asks) == 30


def test_outputs_that_only_the_system_tells_apart_are_shown_with_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["id,question,A.gpt,B.gpt"]
    lines += [f"{i},q {i},{i % 2},{(i + i // 3) % 2}" for i in range(60)]
    Path("w.csv").write_text("\n".join(lines))
    main_or_leave(
        *["label", "w.csv", "--question", "difference", "--session", "w.label"],
        *["--next", "4", "--out", "b.csv"],
    )
    assert "readers see column 'system'" in capsys.readouterr().err
    with Path("b.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    systems = [row["system"] for row in rows]
    assert sorted(systems[:2]) == sorted(systems[2:]) == ["A", "B"]  # which comes first is drawn
