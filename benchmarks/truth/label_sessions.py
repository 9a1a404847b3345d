"""What sessions cost and whether they hold: labels to the stop, coverage there, wrong winners.

    python -m benchmarks.truth.label_sessions [--runs 40] [--only PART,PART] [--write]

Each session is run by the engine itself, batch by batch, with the truth as its reader; the stop is
the session's own. *Random* is the same session without the judges' votes: random labels with the
same interval and the same stop. Parts: prevalence (± 5 points), judge (every judge to ± 5), mean (of
systems), difference, best. Real data: the folder of TALLYSTICK_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.record import record
from benchmarks.truth.label_sets import Population, populations
from tallystick.results import Interval, Unknown
from tallystick.sampling.planned import mean_of
from tallystick.sampling.tasks import LabelTask
from tallystick.stats.few_labels import Rows, fit
from tallystick.table import Data, read
from tallystick.table.session import RANDOM, SessionHead
from tallystick.verbs.label.begin import label_question, options_of, task_of
from tallystick.verbs.label.plan import plan, rehearse

TARGET = {"prevalence": 0.05, "judge": 0.05, "mean": 0.08}


def head_of(task: LabelTask, name: str, seed: int, target: float) -> SessionHead:
    share = task.claim == "share"
    options: dict[str, Any] = {"target": target if share else None, "epsilon": None}
    return SessionHead(
        question=name,
        options={**options, **({"rule": RANDOM} if share else {})},
        classes=task.classes,
        scale=task.scale,
        target=target,
        seed=seed,
    )


def without_votes(task: LabelTask) -> LabelTask:
    """Return the task with an estimator that knows the labels only."""

    def alone(units: Any, values: Any, alpha: float) -> list[Any]:
        found: list[Any] = []
        for j, measure in enumerate(task.measures):
            known = ~np.isnan(values[:, j])
            if not known.any():
                found.append(None)
                continue
            y, left = values[known, j], int(measure.cell_sizes(task.strata).sum()) - known.sum()
            rows = Rows(
                y=np.append(y, [np.nan] * bool(left)),
                grades=np.zeros((y.size + bool(left), 1)),
                count=np.append(np.ones(y.size), [left] * bool(left)),
            )
            few = fit(rows, pass_fail=task.scale is None)
            found.append(mean_of(few, 0, alpha))
        return found

    return replace(task, shared=alone)


def measured(
    data: Data,
    name: str,
    options: Mapping[str, Any],
    labels: Mapping[int, Any],
    truths: Sequence[float],
    *,
    runs: int,
    target: float,
) -> dict[str, Any]:
    """Run sessions with the votes and without; return one row of the table."""
    asked = label_question(name)
    task = task_of(asked, data, options_of(asked, options))
    row: dict[str, Any] = {}
    for label, own in (("session", task), ("random", without_votes(task))):
        counts, covered = [], []
        for seed in range(runs):  # the same seeds: the same items come first
            needed, where = rehearse(
                own, labels, head_of(own, name, seed, target), most=100_000, step=0
            )
            counts.append(float(needed or 0))
            covered += [
                isinstance(one.interval, Interval)
                and one.interval.low - 1e-9 <= truth <= one.interval.high + 1e-9
                for one, truth in zip(where.measures, truths, strict=True)
            ]
        row |= {
            f"{label} labels": round(float(np.mean(counts))),
            f"{label} covers": np.mean(covered),
        }
    row["ratio"] = round(row["session labels"] / row["random labels"], 2)
    said = plan(data, (name,), target=target, **options).plans[0]
    told = {"plan": said.labels, "from": said.low, "to": said.high}
    row |= {name: None if isinstance(one, Unknown) else one for name, one in told.items()}
    row["plan / needed"] = row["plan"] and round(row["plan"] / row["session labels"], 2)
    return row


def of_votes(one: Population) -> tuple[Data, dict[int, Any]]:
    assert one.votes is not None
    judges = [f"j{k}" for k in range(one.votes.shape[1])]
    words = np.array(["no", "yes", ""])
    table = {name: words[one.votes[:, k]].tolist() for k, name in enumerate(judges)}
    labels = {row: str(words[code]) for row, code in enumerate(one.truth.tolist())}
    door = label_question("prevalence").door
    return read(table, door, judges=tuple(judges), labels=("no", "yes")), labels


def shares(runs: int, question: str) -> list[dict[str, Any]]:
    rows = []
    for one in populations():
        if one.votes is None or (question == "judge" and one.votes.shape[1] > 8):
            continue
        data, labels = of_votes(one)
        truths = [float(one.truth.mean())]
        if question == "judge":
            voted = one.votes >= 0
            right = (one.votes == one.truth[:, None]) & voted
            truths = list(right.sum(axis=0) / voted.sum(axis=0))
        options = {"positive": "yes"} if question == "prevalence" else {}
        found = measured(
            data, question, options, labels, truths, runs=runs, target=TARGET[question]
        )
        rows.append({"set": one.name, **found})
        print(rows[-1], flush=True)
    return rows


def outputs(
    rng: np.random.Generator,
    k: int,
    items: int,
    *,
    graded: bool,
    noise: float,
    spread: float = 0.25,
) -> tuple[dict[str, list[Any]], Any]:
    """Return outputs of k systems with two judges, and what people say of each."""
    hard = rng.normal(0, 0.15, items)[:, None]
    quality = 0.6 + np.linspace(-spread / 2, spread / 2, k)[None, :] + hard
    quality = quality + rng.normal(0, 0.2, (items, k))
    if graded:
        truth = np.clip(np.round(1 + 4 * quality), 1, 5)
        judge = [
            np.clip(np.round(truth + rng.normal(0, 4 * noise, truth.shape)), 1, 5) for _ in range(2)
        ]
    else:
        truth = (rng.random((items, k)) < np.clip(quality, 0.02, 0.98)).astype(float)
        judge = [np.where(rng.random(truth.shape) < noise, 1 - truth, truth) for _ in range(3)]
    table: dict[str, list[Any]] = {
        "id": np.repeat(np.arange(items), k).tolist(),
        "system": [f"s{j}" for j in range(k)] * items,
    }
    for j, grades in enumerate(judge):
        table[f"gpt{j}"] = grades.astype(int).ravel().tolist()
    return table, truth


SYSTEMS = {
    "7 systems, grades, judges r .8": (7, 300, True, 0.2),
    "7 systems, grades, useless judges": (7, 300, True, 5.0),
    "4 systems, pass/fail, judges 85%": (4, 400, False, 0.15),
    "2 systems, pass/fail, useless judges": (2, 600, False, 0.5),
}


def means(runs: int) -> list[dict[str, Any]]:
    rows = []
    for name, (k, items, graded, noise) in SYSTEMS.items():
        table, truth = outputs(
            np.random.default_rng(len(name)), k, items, graded=graded, noise=noise
        )
        judges = tuple(one for one in table if one.startswith("gpt"))
        data = read(
            table,
            label_question("score").door,
            judges=judges,
            system="system",
            item="id",
        )
        options = {"scale": (1.0, 5.0)} if graded else {}
        labels = dict(enumerate(truth.astype(int).ravel().tolist()))
        shown = (truth - 1) / 4 if graded else truth
        found = measured(
            data,
            "score",
            options,
            labels,
            list(shown.mean(axis=0)),
            runs=runs,
            target=TARGET["mean"],
        )
        rows.append({"set": name, **found})
        print(rows[-1], flush=True)
    return rows


def winners(runs: int, goal: str) -> list[dict[str, Any]]:
    """Count wrong winners and labels of sessions that ask who is better."""
    rows = []
    for k, spread, noise in ((2, 0.12, 0.15), (2, 0.0, 0.15), (4, 0.2, 0.15), (4, 0.2, 0.5)):
        if (goal == "difference") != (k == 2):
            continue
        wrong, counts, open_ = 0, [], 0
        for seed in range(runs):
            rng = np.random.default_rng([seed, k, int(100 * spread)])
            table, truth = outputs(rng, k, 400, graded=False, noise=noise, spread=spread)
            judges = tuple(one for one in table if one.startswith("gpt"))
            data = read(
                table,
                label_question("score").door,
                judges=judges,
                system="system",
                item="id",
            )
            asked = label_question("score")
            task = task_of(asked, data, options_of(asked, {"goal": goal}))
            task = replace(task, epsilon=0.02)
            labels = dict(enumerate(truth.astype(int).ravel().tolist()))
            needed, where = rehearse(
                task, labels, head_of(task, "score", seed, 0.05), most=100_000, step=0
            )
            counts.append(needed or 0)
            score = truth.mean(axis=0)
            named = None if where.winner in (None, "neither") else int(str(where.winner)[1:])
            open_ += named is None
            slack = 0.0 if goal == "difference" else 0.02
            wrong += named is not None and score[named] < score.max() - slack - 1e-9
        rows.append(
            {
                "set": f"{k} systems, spread {spread}, judges wrong {noise:.0%}",
                "labels": round(float(np.mean(counts))),
                "wrong": wrong,
                "no winner": open_,
                "sessions": runs,
            }
        )
        print(rows[-1], flush=True)
    return rows


PARTS: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "prevalence": lambda runs: shares(runs, "prevalence"),
    "judge": lambda runs: shares(runs, "judge"),
    "mean": means,
    "difference": lambda runs: winners(runs, "difference"),
    "best": lambda runs: winners(runs, "best"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    options, _ = parser.parse_known_args()
    for name in options.only.split(","):
        rows = PARTS[name](options.runs)
        note = f"{options.runs} sessions per row, and as many without votes from the same seeds."
        record(f"label-sessions-{name}", f"Sessions: {name}", rows, notes=[note])


if __name__ == "__main__":
    main()
