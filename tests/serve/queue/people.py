"""A stream to label, and people with keys of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick.serve.auth import HttpProblem
from tallystick.serve.database import Store
from tallystick.serve.worker import Workers, perform
from tests.serve.web import Web

STREAM = "bot"
JUDGES = ("gpt", "claude", "llama")


class InProcess(Workers):
    """The workers without processes of their own."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.address())
        self._store = store

    def ask(self, work: str, stream: str, *given: Any, patience: float | None = None) -> Any:
        answer = perform(self._store, work, stream, *given)
        if answer.status >= 400:
            raise HttpProblem(answer.status, answer.detail)
        return answer.value


def fill(
    web: Web, *, stream: str = STREAM, n: int = 300, seed: int = 1, **settings: Any
) -> list[str]:
    """Post *n* rows with three votes each; return their truths."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(n) < 0.7, "pass", "fail")
    other = {"pass": "fail", "fail": "pass"}
    body = {"labels": ["pass", "fail"], "open": True, **settings}
    assert web.put(f"/v1/streams/{stream}", json=body).status_code == 200
    records = [
        {
            "item": f"q{k}",
            "votes": {
                judge: truth[k] if rng.random() < right else other[truth[k]]
                for judge, right in zip(JUDGES, (0.9, 0.85, 0.7), strict=True)
            },
            "show": {"Customer": f"Question {k}?", "Answer": f"Answer {k}."},
        }
        for k in range(n)
    ]
    for start in range(0, n, 5_000):
        answer = web.post(f"/v1/streams/{stream}/records", json=records[start : start + 5_000])
        assert answer.status_code == 200, answer.text
    return [str(one) for one in truth]


def key_of(web: Web, name: str, role: str = "label") -> str:
    """Make a key for a person."""
    return str(web.post("/v1/keys", json={"role": role, "name": name}).json()["key"])


def draw(web: Web, stream: str = STREAM, **order: Any) -> dict[str, Any]:
    """Order a draw."""
    answer = web.post(f"/v1/streams/{stream}/frames", json=order)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def turn(web: Web, stream: str = STREAM) -> dict[str, Any] | None:
    """Take the next item."""
    answer = web.get(f"/v1/streams/{stream}/next")
    assert answer.status_code in (200, 204), answer.text
    return dict(answer.json()) if answer.status_code == 200 else None


def say(web: Web, ask: str, value: str, stream: str = STREAM) -> None:
    """Answer it."""
    answer = web.post(f"/v1/streams/{stream}/labels", json={"ask": ask, "value": value})
    assert answer.status_code == 200, answer.text
