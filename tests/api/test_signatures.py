"""What editors see of the verbs is what the command line is made of."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import tallystick as ts
from docs.signatures import STUB, stub
from tallystick.errors import InputError


def test_the_stub_is_made_from_the_declarations() -> None:
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", STUB, "-"],
        input=stub(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert formatted.stdout == STUB.read_text(encoding="utf-8"), "python -m docs.signatures"


def test_a_verb_is_a_function_with_a_signature_and_help() -> None:
    found = inspect.signature(ts.score).parameters
    assert list(found)[:4] == ["data", "system", "systems", "judges"]
    assert found["truth"].kind is inspect.Parameter.KEYWORD_ONLY
    assert "Columns with the judges' votes" in (ts.score.__doc__ or "")


def test_a_verb_without_a_table_answers_and_a_misspelt_keyword_is_refused() -> None:
    assert ts.plan(difference=0.05, disagreement=0.2).methods
    with pytest.raises(InputError, match="did you mean 'judges'"):
        ts.judge({"a": ["x", "y"]}, jugdes=["a"])
