"""The pictures in README and docs are what the code draws today."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("draw", ROOT / "docs" / "pictures" / "draw.py")
draw = importlib.util.module_from_spec(spec)
spec.loader.exec_module(draw)


@pytest.mark.parametrize("verb", draw.VERBS)
def test_the_committed_picture_is_fresh(verb):
    committed = (ROOT / "docs" / "pictures" / f"{verb}.svg").read_text(encoding="utf-8")
    assert draw.picture(verb) + "\n" == committed, "run: python docs/pictures/draw.py"
