"""Kills at named points and at random moments, a lease holder that is stopped, a watch under kills.

A few rounds of each; benchmarks/truth/serve_faults.py runs as many as the design asks for.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.serve.faults import POINTS, CallAccount, found

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
    held = found("named", address, 8, seed=3)
    assert held["killed"] == held["points"] == 8
    assert held["acknowledged"] > 0
    assert_books_agree(held)


@pytest.mark.slow
@both
def test_a_kill_at_every_named_point_loses_nothing(address: str) -> None:
    held = found("named", address, len(POINTS), seed=4)
    assert held["killed"] == held["points"] == len(POINTS)
    assert_books_agree(held)


def test_kills_at_random_moments_of_a_process_on_postgres_lose_nothing(database: str) -> None:
    held = found("random", database, 6, seed=5)
    assert held["killed"] > 0
    assert held["acknowledged"] > 0
    assert_books_agree(held)


@both
def test_whoever_was_stopped_past_its_lease_can_write_nothing(address: str) -> None:
    held = found("stopped", address, 1)
    assert held["done by the second"] == 1
    assert held["written by the first"] == 0


def test_a_watch_that_is_killed_pays_nothing_twice_but_what_was_in_flight(tmp_path: Path) -> None:
    held = found("watch", str(tmp_path / "faults.sqlite"), 2)
    assert held["paid twice and not in flight at a kill"] == 0
    assert held["most paid twice for a kill"] <= held["most in flight at a kill"] <= 4
    assert (held["rounds"], held["state"]) == (2, "done")
    assert held["items asked"] == held["items"]
    assert held["booked too little"] == 0


def test_only_a_call_in_flight_at_a_kill_may_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "watches").mkdir()
    lines = ('{"journal": 2}', '{"sent": "1:1"}', '{"sent": "1:2"}', '{"answer": "1:1"}', '{"se')
    (tmp_path / "watches" / "1-1.journal").write_text("".join(f"{one}\tsum\n" for one in lines))
    account = CallAccount()
    account.killed({"text 1": 1, "text 2": 1}, tmp_path)
    account.called({"text 1": 2, "text 2": 3})
    assert (account.in_flight, account.twice) == ([1], [1])  # of 2, once
    assert account.beyond == 2  # 1 had its answer, and 2 was in flight only once
