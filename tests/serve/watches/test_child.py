"""The process of a run does what it is told, and ends when the service does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tallystick.serve.watches import carry_out

TABLE = {
    "id": [str(i) for i in range(60)],
    "gold": ["a", "b"] * 30,
    "said": ["a", "b"] * 30,
}


def order(kind: str, journal: Path | None = None, **more: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"api": "replay:said"}
    if journal is not None:
        options["journal"] = str(journal)
    return {
        "kind": kind,
        "table": {name: list(held) for name, held in TABLE.items()},
        "roles": {"item": "id", "truth": "gold"},
        "labels": ["a", "b"],
        "options": options,
        "draws": 1,
        "budget": 60,
        "alpha": 0.05,
        "alarm_alpha": 0.01,
        "old_draws": [],
        "allow": [],
        "guard": True,
        **more,
    }


def test_a_check_says_whether_the_api_changed_beyond_noise() -> None:
    same = order("check")
    same["table"]["old"] = TABLE["said"]
    found = carry_out(same)
    assert not found["changed"]
    assert found["result"]["flip_rate"]["estimate"] == 0
    moved = order("check")
    moved["table"]["old"] = ["b", "a"] * 30
    assert carry_out(moved)["changed"]


def test_answers_that_can_no_longer_be_read_are_a_change() -> None:
    broken = order("check")
    broken["table"]["old"] = TABLE["said"]
    broken["table"]["said"] = [f"The answer is {one.upper()}." for one in TABLE["said"]]
    found = carry_out(broken)
    assert not found["changed"]  # accuracy may be as it was
    assert found["unread"].startswith("60 of 60 answers cannot be read")
    assert found["unread"].endswith("it was 0 of 60.")

    always = order("check")
    always["table"]["old"] = ["(unread)"] * 20 + TABLE["said"][20:]
    always["table"]["said"] = ["hm"] * 22 + TABLE["said"][22:]
    assert carry_out(always)["unread"] == ""  # the baseline had such answers, too


def test_the_process_answers_one_line_of_json(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tallystick.serve.watches"],
        input=json.dumps(order("baseline", tmp_path / "j")) + "\n" + " " * 10,
        capture_output=True,
        text=True,
        check=False,
    )
    # Standard input ended, which means that the service died: either the answer came first, or
    # the process stopped at once.
    assert done.returncode in (0, 75)
    if done.returncode == 0:
        assert json.loads(done.stdout)["answers"]["0"] == ["a"]


def test_an_order_that_cannot_be_carried_out_is_an_answer_not_a_crash(tmp_path: Path) -> None:
    bad = order("check", tmp_path / "j")
    bad["options"]["api"] = "openai:m"
    process = subprocess.Popen(
        [sys.executable, "-m", "tallystick.serve.watches"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(bad) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    process.stdin.close()
    process.stdout.close()
    process.wait()
    assert answer["cost"] == 0
    assert answer["error"]


def test_the_process_ends_when_the_service_dies(tmp_path: Path) -> None:
    slow = order("baseline", tmp_path / "j")
    slow["options"]["api"] = "command:sleep 60"
    slow["guard"] = False
    process = subprocess.Popen(
        [sys.executable, "-m", "tallystick.serve.watches"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(slow) + "\n")
    process.stdin.flush()
    process.stdin.close()
    assert process.wait(timeout=30) == 75
