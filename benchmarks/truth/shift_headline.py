"""What the headline of shift says, run after run: changed, less stable, or nothing shown.

    python -m benchmarks.truth.shift_headline [--runs 30] [--write]

Simulated APIs on 2,000 items of four labels with 500 calls, the old one right on .8. Each answers an
item with its label of that item, and at random with the chance *noise*. No case has old draws unless it
says so.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.clients import Client
from tallystick.results import Gate, Unknown, check_gates, parse_gate
from tallystick.verbs.shift import Items, Past, ShiftQuestion, ShiftResult, run
from tallystick.verbs.shift.answer import metric_estimate

LABELS = np.array(["a", "b", "c", "d"])
ITEMS, CALLS = 2000, 500


class Fresh(Client):
    """An API that answers every call anew."""

    def __init__(self, said: np.ndarray, noise: np.ndarray, rng: np.random.Generator) -> None:
        self.said, self.noise, self.rng = said, noise, rng

    @property
    def description(self) -> dict[str, Any]:
        """Nothing is kept of it."""
        return {"kind": "simulated"}

    def question(self, row: Mapping[str, Any]) -> Any:
        """Return the number of the item."""
        return row["n"]

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return its label, or another one by chance."""
        return str(LABELS[noisy(self.said[row["n"]], self.noise[row["n"]], self.rng)])


def noisy(said: Any, noise: Any, rng: np.random.Generator) -> Any:
    """Return each label, or with the chance *noise* one of the other three."""
    size = np.shape(said)
    return np.where(rng.random(size) < noise, (said + rng.integers(1, 4, size)) % 4, said)


@dataclass(frozen=True, kw_only=True)
class Case:
    """How the new API differs: by label, and by noise of old and new, on a part of the items."""

    name: str
    to_right: float = 0.0
    to_wrong: float = 0.0
    between: float = 0.0
    old_noise: float = 0.0
    new_noise: float = 0.0
    noisy_part: float = 1.0
    draws: int = 1
    changed: bool = True


CASES = (
    Case(name="changed, same accuracy", to_right=0.03, to_wrong=0.03, between=0.02),
    Case(
        name="changed, same accuracy, noise .05",
        to_right=0.05,
        to_wrong=0.05,
        old_noise=0.05,
        new_noise=0.05,
    ),
    Case(name="changed, better", to_right=0.06, to_wrong=0.01),
    Case(name="changed, better, noise .05", to_right=0.08, old_noise=0.05, new_noise=0.05),
    Case(name="unchanged, no noise", changed=False),
    Case(name="unchanged, noise .05", old_noise=0.05, new_noise=0.05, changed=False),
    Case(name="unchanged, noise .15", old_noise=0.15, new_noise=0.15, changed=False),
    Case(
        name="unchanged, noise .4 on a fifth",
        old_noise=0.4,
        new_noise=0.4,
        noisy_part=0.2,
        changed=False,
    ),
    Case(
        name="unchanged, noise .15, 2 old draws",
        old_noise=0.15,
        new_noise=0.15,
        draws=2,
        changed=False,
    ),
    Case(name="became flaky, .1", new_noise=0.1),
    Case(name="became flaky, .05", new_noise=0.05),
    Case(name="became flaky, .5 on a fifth", new_noise=0.5, noisy_part=0.2),
    Case(name="became flaky, .5 on a fifth, 2 old draws", new_noise=0.5, noisy_part=0.2, draws=2),
    Case(name="flakier, .05 to .15, 2 old draws", old_noise=0.05, new_noise=0.15, draws=2),
)


def one_run(case: Case, seed: int) -> tuple[ShiftResult, dict[str, float]]:
    """Make the APIs of a case and ask the new one; return what is true of the two as well."""
    rng = np.random.default_rng([seed, sum(map(ord, case.name))])
    truth = rng.integers(0, 4, ITEMS)
    before = noisy(truth, 0.2, rng)
    after, u = before.copy(), rng.random(ITEMS)
    right = before == truth
    # Shares are of all items: those that can move so are a part of them.
    better = ~right & (u < case.to_right / 0.2)
    worse = right & (u < case.to_wrong / 0.8)
    other = ~right & ~better & (u < (case.to_right + case.between) / 0.2)
    after[better] = truth[better]
    after[worse] = (truth[worse] + 1) % 4
    after[other] = (truth + 6 - before)[other] % 4
    part = rng.random(ITEMS) < case.noisy_part
    old_noise, new_noise = case.old_noise * part, case.new_noise * part
    draws = np.stack([noisy(before, old_noise, rng) for _ in range(case.draws)], axis=1)
    items = Items.of(LABELS[truth].tolist(), old=LABELS[draws[:, 0]], labels=LABELS.tolist())
    past = Past(draws=draws if case.draws > 1 else None)
    client = Fresh(after, new_noise, rng)
    rows = [{"n": n} for n in range(ITEMS)]
    result = run(items, client, rows, ShiftQuestion(budget=CALLS, seed=seed), past=past)
    # What is true: each API's distribution of answers to every item.
    was, now = chances(before, old_noise), chances(after, new_noise)
    item = np.arange(ITEMS)
    return result, {
        "accuracy": float((now - was)[item, truth].mean()),
        "beyond": float(((now - was) ** 2).sum(axis=1).mean() / 2),
        "stability": float(1 - (now**2).sum(axis=1).mean()),
    }


def chances(said: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the chance of each label for each item."""
    found = np.repeat(noise[:, None] / 3, 4, axis=1)
    found[np.arange(len(said)), said] = 1 - noise
    return found


def _passes(gate: Gate, result: ShiftResult) -> bool:
    """Say whether a result passes a gate."""
    [found] = check_gates((gate,), margin=lambda one: metric_estimate(result, one.left))
    return found.passed is True


def _is_possible(result: ShiftResult) -> bool:
    """Say whether the numbers of a result can be true together."""
    gained, moved = result.accuracy_change.estimate, result.flip_rate.estimate
    if isinstance(gained, Unknown) or isinstance(moved, Unknown):
        return True
    parts = (gained, *(cell.change for cell in result.top_cells))
    return all(abs(part) <= moved + 1e-9 for part in parts)


def said(result: ShiftResult) -> str:
    """Return the kind of headline."""
    if result.noise.less_stable:
        return "less stable"
    return {True: "changed", False: "hardly changed", None: "cannot tell"}[result.changed]


def row_of(case: Case, runs: int) -> dict[str, Any]:
    """Count the headlines of a case, and what a flip_rate gate at 2% would say."""
    made = [one_run(case, seed) for seed in range(runs)]
    results = [result for result, _ in made]
    held = dict.fromkeys(made[0][1], 0)
    for result, true in made:
        shown = {
            "accuracy": result.accuracy_change,
            "beyond": result.noise.beyond,
            "stability": result.noise.stability,
        }
        for name, change in shown.items():
            assert change.interval is not None
            low, high = change.interval
            held[name] += low - 1e-9 <= true[name] <= high + 1e-9
    heads = Counter(map(said, results))
    mean = [r.accuracy_change.interval for r in results]
    better = sum(one is not None and (one.low > 0 or one.high < 0) for one in mean)
    gate = parse_gate("flip_rate <= .02")
    passed = sum(_passes(gate, result) for result in results)
    possible = sum(map(_is_possible, results))
    return {
        "case": case.name,
        "runs": runs,
        **{
            name: heads[name]
            for name in ("changed", "less stable", "hardly changed", "cannot tell")
        },
        "better or worse said": better,
        "gate flip_rate <= 2% passed": passed,
        "numbers possible together": possible,
        **{f"{name} covered": number / runs for name, number in held.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--only", default="")
    known, _ = parser.parse_known_args()
    rows = [row_of(case, known.runs) for case in CASES if known.only in case.name]
    if known.only:
        for row in rows:
            print(row)
        return
    record("shift-headline", "The headline of shift, by what happened to the API", rows, notes=[])


if __name__ == "__main__":
    main()
