"""A change that a window saw is part of the answer over all rows."""

from __future__ import annotations

import numpy as np

from tallystick import judge


def stream(n: int, *, breaks: int | None = None, silent: int | None = None) -> dict[str, list]:
    """Return three judges; from *breaks* on x guesses, from *silent* on y says nothing."""
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, n)
    right = {name: np.full(n, 0.9) for name in ("x", "y", "z")}
    if breaks is not None:
        right["x"][breaks:] = 0.55
    votes = {
        name: np.where(rng.random(n) < share, truth, 1 - truth).tolist()
        for name, share in right.items()
    }
    if silent is not None:
        votes["y"][silent:] = [None] * (n - silent)
    return votes


def test_a_judge_that_breaks_is_named_in_the_verdict_and_the_alarms() -> None:
    result = judge(stream(3000, breaks=1500), judges=("x", "y", "z"), window=100)
    assert "x alone changed around item 1," in result.verdict
    assert result.alarms
    assert any("agreement with the majority" in warning for warning in result.warnings)


def test_a_judge_that_falls_silent_is_said() -> None:
    result = judge(stream(2000, silent=1000), judges=("x", "y", "z"), window=100)
    assert any("y" in warning and "vote" in warning for warning in result.warnings)
    assert "But " in result.verdict


def test_a_quiet_stream_reads_as_without_windows() -> None:
    votes = stream(2000)
    watched = judge(votes, judges=("x", "y", "z"), window=100)
    assert watched.verdict == judge(votes, judges=("x", "y", "z")).verdict
    assert len(watched.windows) == 20
