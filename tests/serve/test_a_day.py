"""The demonstration of the service finds what was put into its day."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "serve_a_day.py"


@pytest.mark.slow
def test_the_day_shows_the_drift_the_silence_and_a_verdict() -> None:
    run = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True, timeout=300
    )
    assert "claude alone changed" in run.stdout
    assert "llama cast no vote" in run.stdout
    assert "a person labelled 60 answers" in run.stdout
    assert "most accurate of your three judges" in run.stdout
