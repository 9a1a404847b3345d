"""What bound and judge say where votes are copied, and how often they would mislead.

Without labels nothing is decided, so *decided and wrong* has to be 0 on every table. How often the
truth lies outside the range of a label model is why. With labels, a claim on the classifier or on
the best judge may be false on 2.5% of the tables. Nothing was chosen on these tables.
Run: ``python -m benchmarks.truth.bound_honest [--write]``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.record import kept_row, record
from tallystick.results import Interval
from tallystick.verbs import bound, judge
from tallystick.verbs.bound.result import Bound

TABLES = 200
ROWS = 1000
WEAK = 5
CLASSES = 3
LABELS = 30
LABEL_NAMES = ("0", "1", "2")
CLAIM = 0.7


def copied(share: float, draw: np.random.Generator) -> tuple[dict[str, Any], np.ndarray]:
    """Return a table whose weak labels copy the first one on *share* of the rows, and the truth."""
    y = draw.choice(CLASSES, ROWS, p=draw.dirichlet(np.full(CLASSES, 4.0)))

    def answers(right: float) -> np.ndarray:
        wrong = (y + draw.integers(1, CLASSES, ROWS)) % CLASSES
        return np.where(draw.random(ROWS) < right, y, wrong)

    first = answers(draw.uniform(0.5, 0.8))
    silent = draw.choice([0.0, 0.3])
    rows: dict[str, Any] = {}
    for j in range(WEAK):
        own = answers(draw.uniform(0.5, 0.8))
        votes = first if j == 0 else np.where(draw.random(ROWS) < share, first, own)
        speaks = draw.random(ROWS) >= silent
        rows[f"w{j}"] = [int(v) if s else None for v, s in zip(votes, speaks, strict=True)]
    # Half of the classifiers have learnt from the weak labels, and so lean on the first one.
    lean = draw.choice([0.0, 0.4])
    h = np.where(draw.random(ROWS) < lean, first, answers(draw.uniform(0.55, 0.95)))
    return rows | {"h": h.tolist()}, y


def family(draw: np.random.Generator) -> tuple[dict[str, Any], np.ndarray]:
    """Return votes of one family of models: all err on the same hard half of the rows."""
    y = draw.integers(0, CLASSES, ROWS)
    hard = draw.random(ROWS) < 0.5
    shared = (y + draw.integers(1, CLASSES, ROWS)) % CLASSES
    rows: dict[str, Any] = {}
    for j in range(WEAK + 1):
        misled = hard & (draw.random(ROWS) < draw.uniform(0.5, 0.8))
        own = np.where(draw.random(ROWS) < 0.95, y, shared)
        rows["h" if j == WEAK else f"w{j}"] = np.where(misled, shared, own).tolist()
    return rows, y


def copied_votes() -> list[dict[str, Any]]:
    """Count, over many tables, how often the answer is decided, and how often ranges miss."""
    shares = [partial(copied, share) for share in (0.0, 0.7, 0.8, 0.95)]
    names = [f"copied {share:.0%}" for share in (0.0, 0.7, 0.8, 0.95)]
    return [
        kept_row(name, partial(measured, name, made))
        for name, made in zip([*names, "one family"], [*shares, family], strict=True)
    ]


def measured(name: str, made: Any) -> dict[str, Any]:
    """Return the row of one way to make tables."""
    weak = [f"w{j}" for j in range(WEAK)]
    seen: dict[str, list[float]] = {}
    width: dict[str, list[float]] = {}
    wrong, labelled = 0, []
    claims = {"blind": 0, "claim": 0, "claim, false": 0, "best": 0, "best, false": 0}
    for i in range(TABLES):
        draw = np.random.default_rng([16, i, len(name), round(1000 * sum(map(ord, name)) % 997)])
        rows, y = made(draw)
        truth = float((np.asarray(rows["h"]) == y).mean())
        blind = bound.evaluate(rows, prediction="h", weak=weak, at_least=CLAIM, labels=LABEL_NAMES)
        wrong += blind.decision == "decided"
        votes = {name: rows[name] for name in weak}
        graded = judge.evaluate(votes, judges=weak, labels=LABEL_NAMES)
        claims["blind"] += graded.decision == "decided" or graded.leader is not None
        for one in blind.bounds:
            low, high = _ends(one)
            seen.setdefault(one.label_model, []).append(not low <= truth <= high)
            width.setdefault(one.label_model, []).append(high - low)
        picked = set(draw.choice(ROWS, LABELS, replace=False).tolist())
        gold = [int(v) if j in picked else None for j, v in enumerate(y)]
        told = bound.evaluate(
            rows | {"y": gold},
            prediction="h",
            weak=weak,
            truth="y",
            at_least=CLAIM,
            labels=LABEL_NAMES,
        )
        found = told.gold[0]
        labelled.append(not found.interval.low <= truth <= found.interval.high)
        claims["claim"] += told.decision == "decided"
        claims["claim, false"] += told.decision == "decided" and (
            (found.interval.low >= CLAIM) != (truth >= CLAIM)
        )
        best = judge.evaluate(votes | {"y": gold}, judges=weak, truth="y", labels=LABEL_NAMES)
        if best.leader is not None and not best.rivals:
            claims["best"] += 1
            claims["best, false"] += _rate(votes[best.leader], y) < max(
                _rate(votes[name], y) for name in weak if name != best.leader
            )
    return {
        "votes": name,
        "tables": TABLES,
        "decided and wrong": wrong,
        **{f"truth outside: {model}": float(np.mean(held)) for model, held in seen.items()},
        **{f"width: {model}": float(np.mean(held)) for model, held in width.items()},
        f"truth outside: {LABELS} labels": float(np.mean(labelled)),
        "judge decides or names a best without labels": claims["blind"],
        f"claims on h, {LABELS} labels": claims["claim"],
        "of these false": claims["claim, false"],
        f"best judge named, {LABELS} labels": claims["best"],
        "falsely": claims["best, false"],
    }


def _rate(votes: list[Any], y: np.ndarray) -> float:
    """Return how often votes are right where there are any."""
    cast = [(vote, true) for vote, true in zip(votes, y.tolist(), strict=True) if vote is not None]
    return float(np.mean([vote == true for vote, true in cast]))


def _ends(one: Bound) -> tuple[float, float]:
    return (
        (one.interval.low, one.interval.high) if isinstance(one.interval, Interval) else (0.0, 1.0)
    )


if __name__ == "__main__":
    record(
        "bound-copied-votes",
        "Bound without labels: copied votes and one family, three classes",
        copied_votes(),
        notes=[
            f"{ROWS:,} rows, {WEAK} weak labels, half of the tables with copied votes have 30%"
            " abstentions. The weak labels copy the first one on the share of rows given; in one"
            " family all err on the same hard half. The claim is that the accuracy is at least"
            f" {CLAIM:g}.",
            "Without labels the answer is two ranges with an *if*, and never a decision.",
        ],
    )
