"""Nothing acknowledged is ever lost, and nothing counts twice."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from tests.serve.kill import kill_rounds


def test_kill_minus_nine_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    found = kill_rounds(tmp_path, 3, seed=1)
    assert found["acknowledged"] > 0
    assert (found["lost"], found["twice"]) == (0, 0)
    assert found["integrity"] == "ok"
    assert found["problems"] == []
