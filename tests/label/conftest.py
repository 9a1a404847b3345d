"""Small tables of votes, and people who answer from a known truth."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tallystick.verbs.label import SessionSettings, Work, begin

JUDGES = ("gpt", "claude", "llama")
WORDS = ("fail", "pass")


def draw(n: int = 300, seed: int = 1, accuracy: tuple[float, ...] = (0.9, 0.85, 0.8)) -> Any:
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.7).astype(int)
    votes = [np.where(rng.random(n) < a, truth, 1 - truth) for a in accuracy]
    return truth, votes


@pytest.fixture
def truth() -> Any:
    return draw()[0]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    _, votes = draw()
    path = tmp_path / "votes.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", *JUDGES])
        for i in range(len(votes[0])):
            writer.writerow([f"i{i}", f"text {i}", *(WORDS[v[i]] for v in votes)])
    return path


@pytest.fixture
def start(table: Path, tmp_path: Path) -> Callable[..., Work]:
    def opened(question: str = "judge", name: str = "s.label", **settings: Any) -> Work:
        roles = {"models": JUDGES} if question == "compare" else {"judges": JUDGES}
        roles = settings.pop("reading", roles)
        options = settings.pop("options", {})
        return begin(
            tmp_path / name,
            str(table),
            question=question,
            reading=roles,
            options=options,
            settings=SessionSettings(**settings),
        )

    return opened


def fill(work: Work, truth: Any, *, limit: int = 10_000, reader: str = "1") -> int:
    """Answer as the truth says until the session stops or *limit* answers are given."""
    given = 0
    while given < limit and work.standing().stop is None:
        asks = work.next()
        if not asks:
            break
        for ask in asks[: limit - given]:
            work.answer(ask.number, WORDS[truth[ask.row]], reader=reader)
            given += 1
    return given
