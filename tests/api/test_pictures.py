"""The pictures in README and docs are what the code draws today."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("draw", ROOT / "docs" / "pictures" / "draw.py")
draw = importlib.util.module_from_spec(spec)
spec.loader.exec_module(draw)


# One verb shows that the script runs; all of them take as long as their demonstrations.
@pytest.mark.parametrize(
    "name",
    [
        "compare",
        *(pytest.param(one, marks=pytest.mark.slow) for one in draw.VERBS if one != "compare"),
    ],
)
def test_the_committed_picture_is_fresh(name):
    committed = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert draw.picture(name) + "\n" == committed, "run: python docs/pictures/draw.py"
