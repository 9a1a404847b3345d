"""What bound and judge say where votes are copied, and how often they would mislead.

Without labels nothing is decided, so *decided and wrong* has to be 0 on every table. How often the
truth lies outside the range of a label model is why. With labels, a claim on the classifier or on
the best judge may be false on 2.5% of the tables. Nothing was chosen on these tables.
Run: ``python -m benchmarks.truth.bound_honest [--write]``.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from benchmarks.record import kept_row, record
from tallystick.results import Interval
from tallystick.verbs import bound, judge

TABLES = 200
ROWS = 1000
WEAK = 5
CLASSES = 3
LABELS = 30
NAMES = ("0", "1", "2")
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
    asked = {"prediction": "h", "weak": weak, "at_least": CLAIM, "labels": NAMES}
    seen: dict[str, list[float]] = {}
    count, labelled = Counter[str](), []
    for i in range(TABLES):
        draw = np.random.default_rng([16, i, len(name), round(1000 * sum(map(ord, name)) % 997)])
        rows, y = made(draw)
        truth = float((np.asarray(rows["h"]) == y).mean())
        blind = bound.evaluate(rows, **asked)
        for one in blind.bounds:
            low, high = one.interval if isinstance(one.interval, Interval) else (0.0, 1.0)
            seen.setdefault(one.label_model, []).append(not low <= truth <= high)
        votes = {name: rows[name] for name in weak}
        graded = judge.evaluate(votes, judges=weak, labels=NAMES)
        count["decided"] += blind.decision == "decided"
        count["judge decided"] += graded.decision == "decided" or graded.leader is not None

        # The same rows with a few labels: what is claimed then may be false on 2.5% of the tables.
        picked = set(draw.choice(ROWS, LABELS, replace=False).tolist())
        gold = {"y": [int(v) if j in picked else None for j, v in enumerate(y)]}
        told = bound.evaluate(rows | gold, truth="y", **asked)
        low, high = told.gold[0].interval
        labelled.append(not low <= truth <= high)
        count["claims"] += told.decision == "decided"
        count["false"] += (low >= CLAIM > truth) or (high < CLAIM <= truth)
        best = judge.evaluate(votes | gold, judges=weak, truth="y", labels=NAMES)
        if best.leader is not None and not best.rivals:
            right = {
                name: np.mean([v == t for v, t in zip(cast, y, strict=True) if v is not None])
                for name, cast in votes.items()
            }
            count["best"] += 1
            count["not best"] += right[best.leader] < max(right.values())
    return {
        "votes": name,
        "tables": TABLES,
        "decided and wrong": count["decided"],
        "judge: decided or a best named": count["judge decided"],
        **{f"truth outside: {model}": float(np.mean(held)) for model, held in seen.items()},
        f"truth outside: {LABELS} labels": float(np.mean(labelled)),
        f"claims, {LABELS} labels": count["claims"],
        "false claims": count["false"],
        f"best judge named, {LABELS} labels": count["best"],
        "falsely": count["not best"],
    }


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
