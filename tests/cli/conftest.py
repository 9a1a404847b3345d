"""The command line in this process, and the installed command, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

COMMAND = str(Path(sys.executable).with_name("tallystick"))


@pytest.fixture
def tallystick(in_process, monkeypatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a verb in this process, a hundred columns wide."""
    monkeypatch.setenv("COLUMNS", "100")
    return in_process


@pytest.fixture
def installed(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``tallystick …`` in an empty folder and return what it printed and how it left."""

    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            env={**os.environ, "COLUMNS": "100"},
            check=False,
        )

    return run


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """A small table of votes in CSV."""
    path = tmp_path / "votes.csv"
    path.write_text("item,ann,bob\n1,spam,spam\n2,ham,spam\n3,ham,ham\n4,spam,\n", encoding="utf-8")
    return path


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    difficulty = rng.random(400)
    lines = ["id,doc,old,new"]
    for i, z in enumerate(difficulty):
        lines.append(
            f"q{i},d{i % 40},{int(z < 0.6)},{int(z < 0.7 if rng.random() < 0.9 else rng.random() < 0.6)}"
        )
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
