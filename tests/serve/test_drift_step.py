"""A window of the service is a window of `judge`: the same alarms on the same votes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tallystick.serve.drift import drift_step, worked
from tallystick.verbs.judge.windows import windows


def votes(n: int, *, change: int | None = None, seed: int = 3) -> dict[str, list[Any]]:
    """Three judges who are right on .9; the first one guesses from *change* on."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    right = rng.random((n, 3)) < 0.9
    if change is not None:
        right[change:, 0] = rng.random(n - change) < 0.5
    cells = np.where(right, truth[:, None], 1 - truth[:, None])
    return {name: [str(v) for v in cells[:, j]] for j, name in enumerate(("ann", "bob", "eve"))}


def stepped(columns: dict[str, list[Any]], size: int) -> list[dict[str, Any]]:
    state, steps = None, []
    for start in range(0, len(columns["ann"]), size):
        part = {name: held[start : start + size] for name, held in columns.items()}
        given = {"state": state, "columns": part, "alpha": 0.05, "key": "judge"}
        # Through JSON each time, as the database keeps it.
        step = json.loads(worked(None, json.loads(json.dumps(given))))
        state = step["state"]
        steps.append(step)
    return steps


def test_steps_raise_the_alarms_of_the_command_line() -> None:
    columns = votes(3000, change=1500)
    steps = stepped(columns, 500)
    direct = list(windows([columns], size=500))
    assert [len(step["alarms"]) for step in steps] == [len(one.alarms) for one in direct]
    assert sum(len(step["alarms"]) for step in steps) == 1
    proved = [alarm["proves"] for step in steps for alarm in step["alarms"]]
    assert proved == [alarm.proves for one in direct for alarm in one.alarms]


def test_a_judge_without_votes_is_silent_and_not_gone() -> None:
    columns = votes(2000)
    columns["bob"] = columns["bob"][:1000] + [None] * 1000
    kinds = [kind for step in stepped(columns, 500) for kind, _ in step["notices"]]
    assert "silent" in kinds
    state = stepped(votes(500), 500)[0]["state"]
    left = {name: held for name, held in votes(500).items() if name != "bob"}
    step = drift_step({"state": state, "columns": left, "alpha": 0.05, "key": "judge"})
    assert not step["started"]


def test_a_new_judge_begins_the_test_anew() -> None:
    state = stepped(votes(500), 500)[0]["state"]
    more = {**votes(500), "new": ["1"] * 500}
    assert drift_step({"state": state, "columns": more, "alpha": 0.05, "key": "judge"})["started"]


def test_words_that_are_no_vote_are_read_as_silence() -> None:
    columns = {
        name: ["abstain" if k % 2 else v for k, v in enumerate(c)] for name, c in votes(100).items()
    }
    given = {"state": None, "columns": columns, "alpha": 0.05, "key": "s", "missing": ["abstain"]}
    assert (
        drift_step(given)["state"]["watch"]["labels"]
        == drift_step(
            {
                **given,
                "columns": {
                    name: [None if v == "abstain" else v for v in c] for name, c in columns.items()
                },
            }
        )["state"]["watch"]["labels"]
    )
