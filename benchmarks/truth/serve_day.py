"""A day with two drifts, and twenty days without: which alarms the service raises, and when.

``python -m benchmarks.truth.serve_day [drift N] [quiet N] [--keep FILE] [--write]`` runs N drifting days
and N streams of five quiet days; with --keep those of earlier calls are counted, too. The service is
the real one, with its writer, its jobs and its worker process, on SQLite; only its clock is simulated,
so a day takes seconds. Three judges vote on the answers of two systems: about 10,000 a day, few at
night. One vote in twenty comes after the settle time, one answer in fifty gets a label hours later.

- Drift 1, at 9 h: the judge claude falls from 88% to 70% right.
- Drift 2, at 17 h: answers that are good fall from 75% to 55%, for both systems.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pieces import add_piece, pieces
from benchmarks.record import record
from tallystick.serve.app import make_app, make_service
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config
from tests.serve.web import Clock, Loop, Web

ACCURACY = {"gpt": 0.92, "claude": 0.88, "llama": 0.85}
PER_DAY, STEP, SETTLE = 10_000, 600.0, 300.0
CLAUDE, SYSTEMS = 9.0, 17.0
"""Hours of the two drifts."""


class SimulatedDays:
    """Posts what a simulated clock brings, and lets the service do its jobs."""

    def __init__(self, web: Web, clock: Clock, service: Any, *, seed: int, drifts: bool) -> None:
        self._web, self._clock, self._service = web, clock, service
        self._rng = np.random.default_rng([24, seed])
        self._drifts = drifts
        self._begun = clock.now
        self._later: list[tuple[float, dict[str, Any]]] = []
        self.items = 0
        self.arrived: list[tuple[float, int]] = []
        """(hour, items so far) at every step, to count a delay in items."""

    def step(self) -> None:
        """Let ten minutes pass."""
        hour = (self._clock.now - self._begun) / 3600
        share = 1 + 0.8 * math.sin(2 * math.pi * (hour % 24 - 8) / 24)
        n = int(self._rng.poisson(PER_DAY * STEP / 86_400 * share))
        now: list[dict[str, Any]] = []
        for k in range(n):
            now += self._answer(hour + k * STEP / 3600 / max(n, 1))
        due = [one for at, one in self._later if at <= self._clock.now]
        self._later = [(at, one) for at, one in self._later if at > self._clock.now]
        for records in (now, due):
            if records:
                lines = "\n".join(map(json.dumps, records))
                answer = self._web.post("/v1/streams/day/records", content=lines)
                assert answer.status_code == 200, answer.text
        self.arrived.append((hour, self.items))
        self._clock.now += STEP
        self._service.jobs.run_due()

    def _answer(self, hour: float) -> list[dict[str, Any]]:
        """Return what is posted at once about one answer; the rest is kept for later."""
        rng, clock = self._rng, self._clock.now
        name = {"item": f"i{self.items // 2}", "system": ("old", "new")[self.items % 2]}
        self.items += 1
        good = rng.random() < (0.55 if self._drifts and hour >= SYSTEMS else 0.75)
        records: list[dict[str, Any]] = []
        for judge, accuracy in ACCURACY.items():
            guess = self._drifts and judge == "claude" and hour >= CLAUDE
            right = rng.random() < (0.70 if guess else accuracy)
            vote = {**name, "votes": {judge: "good" if good == right else "bad"}}
            if rng.random() < 0.05:
                self._later.append((clock + SETTLE + rng.uniform(600, 7200), vote))
            else:
                records.append(vote)
        if rng.random() < 0.02:
            label = {"value": "good" if good else "bad", "by": "ann"}
            self._later.append((clock + rng.uniform(1800, 14_400), {**name, "label": label}))
        return records

    def items_at(self, hour: float) -> int:
        """Return how many answers had come at an hour."""
        return max((n for at, n in self.arrived if at <= hour), default=0)


def simulate(seed: int, *, days: int, drifts: bool, window: int) -> dict[str, Any]:
    """Return what was raised, and after how long."""
    clock = Clock(1_800_000_000.0)
    with tempfile.TemporaryDirectory() as folder, Loop() as loop:
        store = open_store(Path(folder) / "serve.sqlite", durability="normal")
        service = make_service(store, config=Config(job_pause=0.0), clock=clock)
        try:
            web = Web(make_app(service), loop)
            settings = {"window": window, "settle": SETTLE, "labels": ["good", "bad"]}
            assert web.put("/v1/streams/day", json=settings).status_code == 200
            service.jobs.plan()
            begun = clock.now
            running = SimulatedDays(web, clock, service, seed=seed, drifts=drifts)
            for _ in range(int(days * 86_400 / STEP)):
                running.step()
            alerts = web.get("/v1/alerts?limit=1000").json()["alerts"]
        finally:
            service.close()
    raised = sorted(
        ((one["at"] - begun) / 3600, one["name"]) for one in alerts if one["name"] != "naming"
    )
    found: dict[str, Any] = {"items": running.items, "raised": raised}
    if drifts:
        found["delays"] = [_delay(running, raised, *ends) for ends in ((9.0, 17.0), (17.0, 24.2))]
        found["early"] = sum(at < CLAUDE for at, _ in raised)
    return found


def _delay(
    running: SimulatedDays, raised: list[tuple[float, str]], start: float, end: float
) -> dict[str, float] | None:
    """Return how long after a drift the first alarm came, None if there was none before *end*."""
    first = next((at for at, name in raised if name == "change" and start <= at < end), None)
    if first is None:
        return None
    return {"hours": first - start, "items": running.items_at(first) - running.items_at(start)}


def drift_row(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what drifting days showed."""
    row: dict[str, Any] = {"stream": "a day, two drifts", "streams": len(runs)}
    row["items"] = sum(one["items"] for one in runs)
    for place, name in enumerate(("judge falls", "answers worsen")):
        held = [one["delays"][place] for one in runs]
        seen = [one for one in held if one is not None]
        hours = sorted(one["hours"] for one in seen)
        items = sorted(one["items"] for one in seen)
        row[f"{name}: alarms"] = f"{len(seen)} of {len(held)}"
        row[f"{name}: delay, median (max)"] = (
            f"{np.median(hours):.1f} h ({hours[-1]:.1f}), {np.median(items):.0f} items ({items[-1]})"
            if seen
            else "-"
        )
    row["alarms before any drift"] = sum(one["early"] for one in runs)
    return row


def quiet_row(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what quiet days showed."""
    items = sum(one["items"] for one in runs)
    raised = [name for one in runs for _, name in one["raised"]]
    changes = raised.count("change")
    return {
        "stream": "five quiet days",
        "streams": len(runs),
        "items": items,
        "false alarms": changes,
        "per 10,000 items": round(1e4 * changes / items, 4),
        "promised": "at most 0.05",
        "other alarms": len(raised) - changes,
    }


def main() -> None:
    words = sys.argv[1:]
    wanted = {
        kind: int(words[words.index(kind) + 1]) if kind in words else 0
        for kind in ("drift", "quiet")
    }
    if not any(wanted.values()):
        wanted = {"drift": 10, "quiet": 4}
    runs = pieces()
    for kind, n in wanted.items():
        for _ in range(n):
            seed = sum(one["kind"] == kind for one in runs)
            if kind == "drift":
                found = simulate(seed, days=1, drifts=True, window=250)
            else:
                found = simulate(1000 + seed, days=5, drifts=False, window=1000)
            runs.append({"kind": kind, **found})
            add_piece(runs[-1])
    rows = [
        row([one for one in runs if one["kind"] == kind])
        for kind, row in (("drift", drift_row), ("quiet", quiet_row))
        if any(one["kind"] == kind for one in runs)
    ]
    notes = [
        "A delay runs from the drift to the alarm: the window must fill and settle first.",
        "The clock is simulated; store, writer, jobs and worker are those of the service.",
    ]
    record("serve-day", "Serve: days with drifts and without", rows, notes=notes)


if __name__ == "__main__":
    main()
