"""A real server on loopback, and a small table of items whose API changed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tallystick.verbs.shift import Items

KINDS = ("500", "429", "reset", "hang", "garbage", "error200")
SERVER = Path(__file__).with_name("server.py")
COLUMNS = ["id", "true", "old", "new", "confidence"]


@dataclass(frozen=True)
class Server:
    url: str

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/stats", timeout=5) as reply:
            return json.load(reply)


@contextmanager
def serving(
    *,
    delay: float = 0.0,
    faults: float = 0.0,
    seconds: float = 60.0,
    pause: float = 1.0,
    kinds: Sequence[str] = KINDS,
) -> Iterator[Server]:
    numbers = map(str, (delay, faults, seconds, pause))
    command = [sys.executable, str(SERVER), *numbers, ",".join(kinds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Server(f"http://127.0.0.1:{int(process.stdout.readline())}")
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def server() -> Callable[..., Any]:
    """Start a server in a ``with`` block; it is stopped at its end."""
    return serving


def table(n: int, *, seed: int = 0) -> list[dict[str, Any]]:
    """Items of three labels; the new API takes some fours for fives."""
    rng = random.Random(seed)
    rows = []
    for number in range(n):
        true = rng.choice(("four", "five", "six"))
        old = true if rng.random() < 0.9 else rng.choice(("four", "five", "six", ""))
        new = "five" if true == "four" and rng.random() < 0.2 else old
        rows.append(
            {
                "id": f"i{number}",
                "true": true,
                "old": old,
                "new": new,
                "confidence": round(rng.random(), 3),
            }
        )
    return rows


def items_of(rows: list[dict[str, Any]]) -> Items:
    return Items.of(
        [row["true"] for row in rows],
        old=[row["old"] for row in rows],
        confidence=[row["confidence"] for row in rows],
        names=[row["id"] for row in rows],
    )


@pytest.fixture(scope="session")
def rows() -> list[dict[str, Any]]:
    return table(600)


@pytest.fixture(scope="session")
def items(rows: list[dict[str, Any]]) -> Items:
    return items_of(rows)
