"""A person's first command on ten tables such as people bring: the first verdict is right."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pytest

from tests.first.judging import judged
from tests.first.tables import TABLES


@pytest.mark.parametrize("name", list(TABLES))
def test_the_first_verdict_is_right_at_the_first_try(name, tmp_path, monkeypatch, capsys) -> None:
    from tallystick.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    told = TABLES[name](tmp_path, np.random.default_rng(0))
    code = 0
    try:
        main([*told.command, "--json"])
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    out, err = capsys.readouterr()
    found = judged(name, code, json.loads(out) if out else None, err, told.truth)
    assert found.outcome == "right", found.reason


def test_a_false_claim_is_found() -> None:
    """The judge of the tables can say wrong: a swapped winner, an interval beside the truth."""
    row = {"name": "a", "interval": [0.1, 0.2]}
    pair = {"a": "a", "b": "b", "verdict": "a is better"}
    answer = {"systems": [row, {"name": "b"}], "pairs": [pair], "contenders": ["a"]}
    found = judged("ratings", 0, answer, "", {"a": 0.5, "b": 0.9})
    assert found.outcome == "wrong"
    assert found.reason.count(",") >= 2


def test_a_question_names_an_option_and_a_crash_is_wrong() -> None:
    assert judged("ratings", 1, None, "tallystick: say (--scale LO,HI)", {}).outcome == "asked"
    assert judged("ratings", 1, None, "tallystick: this is odd", {}).outcome == "wrong"
    assert judged("ratings", 70, None, "an error of ours --scale", {}).outcome == "wrong"
