"""The notebooks run from the first cell to the last, and show what they show today."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

pytest.importorskip("pandas")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
SPEC = importlib.util.spec_from_file_location("notebook_run", FOLDER / "run.py")
assert SPEC is not None
assert SPEC.loader is not None
run = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run)


@pytest.mark.parametrize("path", run.notebooks(), ids=lambda path: path.stem)
def test_the_notebook_runs_and_its_stored_outputs_are_fresh(path: Path) -> None:
    """Where this fails because a sentence changed: make notebooks."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert run.texts(run.executed(path)) == run.texts(stored)


def test_there_are_five_notebooks_and_each_starts_from_a_csv_file() -> None:
    assert [path.stem for path in run.notebooks()] == [
        "compare",
        "judges",
        "label",
        "score",
        "shift",
    ]
    for path in run.notebooks():
        assert ".csv" in path.read_text(encoding="utf-8")
        assert path.stat().st_size < 50_000


def test_a_page_shows_code_outputs_and_pictures() -> None:
    page = run.as_markdown(json.loads((FOLDER / "score.ipynb").read_text(encoding="utf-8")))
    assert page.startswith("# How good are my bots")
    assert "```py\nimport pandas" in page
    assert "concise is better than wordy" in page
    assert "data:image/svg+xml;base64," in page
