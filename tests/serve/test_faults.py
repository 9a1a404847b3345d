"""Kills at named points and at random moments, a lease holder that is stopped.

A few rounds of each; benchmarks/truth/serve_faults.py runs as many as the design asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.serve.faults import POINTS, found
from tests.serve.kill import kill_rounds

both = pytest.mark.parametrize("engine", ["sqlite", "postgres"])


@pytest.fixture
def address(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if engine == "sqlite":
        return str(tmp_path / "faults.sqlite")
    return str(request.getfixturevalue("database"))


def assert_books_agree(held: dict[str, object]) -> None:
    assert (held["lost"], held["twice"], held["problems"]) == (0, 0, [])
    assert held["integrity"] in ("ok", "its own")


@both
def test_a_kill_before_or_after_any_write_commit_or_answer_loses_nothing(address: str) -> None:
    held = found("named", address, 5, seed=3)
    assert held["killed"] == held["points"] == 5
    assert held["acknowledged"] > 0
    assert_books_agree(held)


@pytest.mark.slow
@both
def test_a_kill_at_every_named_point_loses_nothing(address: str) -> None:
    held = found("named", address, len(POINTS), seed=4)
    assert held["killed"] == held["points"] == len(POINTS)
    assert_books_agree(held)


def test_kills_at_random_moments_of_a_process_on_postgres_lose_nothing(database: str) -> None:
    held = found("random", database, 4, seed=5)
    assert held["killed"] > 0
    assert held["acknowledged"] > 0
    assert_books_agree(held)


@both
def test_whoever_was_stopped_past_its_lease_can_write_nothing(address: str) -> None:
    held = found("stopped", address, 1)
    assert held["done by the second"] == 1
    assert held["written by the first"] == 0


def test_kill_minus_nine_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    found = kill_rounds(tmp_path, 3, seed=1)
    assert found["acknowledged"] > 0
    assert_books_agree(found)
    assert found["integrity"] == "ok"
