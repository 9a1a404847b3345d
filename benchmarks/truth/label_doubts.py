"""Doubts about labels: how many are false on clean tables, and how many faults are found.

A clean table has labels on rows that were drawn at random, in the shape of one of the verbs, beside
columns such as people keep: a topic, documents, a time, a running number, a length, who labelled.
Half of the tables are sorted by something. The level was fixed on the tables of seed 1; the figures
are of tables that were drawn afterwards (seed 2, or ``--seed``). A faulty table has at least 200
rows and 20 labels on chosen rows. Labels where models disagree are no fault in ``compare``, whose
difference needs no others, and chosen labels are none in ``shift``, which says its accuracy of the
labelled items alone: these are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick import bound, compare, judge, score, shift

CLEAN, FAULTY = 300, 60
Rng = np.random.Generator
Columns = dict[str, Any]

VERBS: dict[str, Callable[..., Any]] = {
    "judge": judge,
    "score": score,
    "score of systems": score,
    "bound": bound,
    "shift": shift,
    "compare": compare,
}
FAULTS = ("time", "slice", "group", "failure", "copy")
NO_FAULT = {("failure", "compare")} | {(fault, "shift") for fault in FAULTS}
LEAST_ROWS, LEAST_LABELS = 200, 20


def votes(rng: Rng, truth: Any, right: float, hard: Any) -> Any:
    """Answers of one voter, wrong more often on hard items."""
    wrong = rng.random(len(truth)) > np.clip(right + 0.15 - 0.3 * hard, 0.05, 0.98)
    return np.where(wrong, 1 - truth, truth)


def table(rng: Rng, verb: str, least: int = 60) -> tuple[Columns, Columns]:
    """Return the columns of a table and its roles, every row with a label."""
    n = int(np.exp(rng.uniform(np.log(least), np.log(5000))))
    rows, repeat = n, 1
    if verb == "score of systems":
        repeat = int(rng.integers(2, 4))
        n = max(n // repeat, 30)
        rows = n * repeat
    group = rng.integers(0, max(n // int(rng.integers(3, 30)), 5), n)
    topics = np.array(["billing", "sales", "tech", "other"])
    topic = rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1])
    # Documents and topics are easy or hard for all voters alike.
    level = rng.random(group.max() + 1)
    hard = np.clip(0.5 * rng.random(n) + 0.3 * level[group] + 0.05 * topic, 0, 1)
    truth = (rng.random(n) < rng.uniform(0.3, 0.8)).astype(int)
    begin = datetime(2026, 1, 1)
    minutes = np.sort(rng.integers(0, 60 * 24 * 90, n))
    own: Columns = {
        "id": np.arange(1000, 1000 + n),
        "topic": topics[topic],
        "conversation": np.array([f"c{k}" for k in group]),
        "created": np.array([str(begin + timedelta(minutes=int(one))) for one in minutes]),
        "length": rng.integers(20, 900, n),
    }
    index = np.repeat(np.arange(n), repeat)
    own = {name: cells[index] for name, cells in own.items()}
    true = truth[index]
    if repeat > 1:
        names = np.array(["alpha", "beta", "gamma"])[:repeat]
        own["system"] = np.tile(names, n)
        true = (rng.random(rows) < 0.5 + 0.3 * truth[index]).astype(int)
    held = [votes(rng, true, right, hard[index]) for right in rng.uniform(0.65, 0.9, 4)]
    roles: Columns = {"truth": "gold", "item": "id"}
    if verb == "bound":
        own |= {"model": held[0], "rule_a": held[1], "rule_b": held[2]}
        roles = {"truth": "gold", "prediction": "model", "weak": ("rule_a", "rule_b")}
    elif verb == "shift":
        own |= {"old": held[0], "new": np.where(rng.random(rows) < 0.85, held[0], held[1])}
        roles |= {"old": "old", "new": "new"}
    elif verb == "compare":
        own |= {"one": held[0], "two": held[1]}
        roles |= {"models": ("one", "two")}
    else:
        own |= {"gpt": held[0], "claude": held[1], "llama": held[2]}
        roles |= {"judges": ("gpt", "claude", "llama")}
        if repeat > 1:
            roles["system"] = "system"
    own["gold"] = true
    return own, roles


def drawn(rng: Rng, own: Columns) -> Any:
    """Return which rows have a label: a random draw of items, all outputs of each."""
    index = own["id"] - 1000
    n = int(index.max()) + 1
    most = min(300, n // 2)
    chosen = rng.permutation(n) < int(np.exp(rng.uniform(np.log(10), np.log(most))))
    return chosen[index]


def chosen(rng: Rng, own: Columns, roles: Columns, fault: str) -> Any:
    """Return which rows have a label where somebody chose them: a part of 10 to 40% of a kind."""
    index = own["id"] - 1000
    rank = index / (index.max() + 1)
    if fault == "time":
        begin = rng.uniform(0, 0.7)
        pool = (rank >= begin) & (rank < begin + rng.uniform(0.08, 0.3))
    elif fault == "slice":
        pool = own["topic"] == rng.choice(["billing", "sales", "tech"])
    elif fault == "group":
        names = np.unique(own["conversation"])
        pool = np.isin(own["conversation"], rng.permutation(names)[: max(len(names) // 6, 2)])
    elif fault == "copy":
        pool = rng.random(len(index)) < rng.uniform(0.3, 1.0)
    else:
        first, second = voters(roles)[:2]
        apart = own[first] != own[second]
        pool = apart if rng.random() < 0.5 else own[first] != own["gold"]
    most = min(300, int(pool.sum()))
    keep = rng.permutation(np.flatnonzero(pool))[: int(rng.uniform(0.4, 1) * most)]
    found = np.zeros(len(index), bool)
    found[keep] = True
    return found


def voters(roles: Columns) -> tuple[str, ...]:
    """Return the columns of votes."""
    if "old" in roles:
        return roles["old"], roles["new"]
    if "prediction" in roles:
        return roles["prediction"], *roles["weak"]
    return tuple(roles.get("judges") or roles["models"])


def finished(rng: Rng, own: Columns, known: Any, *, sort: bool) -> Columns:
    """Return the table as it is brought: blank labels, who labelled, sorted or shuffled."""
    n = len(known)
    made: Columns = dict(own)
    made["gold"] = [int(y) if one else None for y, one in zip(own["gold"], known, strict=True)]
    if rng.random() < 0.5:
        made["labelled_by"] = [str(rng.choice(["ann", "bob"])) if one else None for one in known]
    order = np.arange(n)
    if sort:
        by = rng.choice(["topic", "conversation", "length", "created"])
        order = np.argsort(own[by], kind="stable")
    elif rng.random() < 0.7:
        order = rng.permutation(n)
    return {
        name: [(cells[k].item() if hasattr(cells[k], "item") else cells[k]) for k in order]
        for name, cells in made.items()
    }


def doubted(verb: str, made: Columns, roles: Columns) -> str:
    """Return the verdict if it is a doubt, else nothing."""
    verdict = str(VERBS[verb](made, **roles, seed=0).verdict)
    return verdict if " decide nothing, because " in verdict else ""


def main() -> None:
    seed = int(sys.argv[sys.argv.index("--seed") + 1]) if "--seed" in sys.argv else 2
    rng = np.random.default_rng(seed)
    rows: list[Columns] = []
    false: list[str] = []
    for verb in VERBS:
        wrong = 0
        for k in range(CLEAN // len(VERBS)):
            own, roles = table(rng, verb)
            made = finished(rng, own, drawn(rng, own), sort=k % 2 == 0)
            said = doubted(verb, made, roles)
            wrong += bool(said)
            false += [f"false, {verb}: {said}"] if said else []
        rows.append({"tables": f"clean, {verb}", "number": CLEAN // len(VERBS), "doubted": wrong})
    rows.append({"tables": "clean", "number": CLEAN, "doubted": len(false)})
    missed: list[str] = []
    for fault in FAULTS:
        found = 0
        for k in range(FAULTY // len(FAULTS)):
            able = [one for one in VERBS if (fault, one) not in NO_FAULT]
            verb = able[k % len(able)]
            known = np.zeros(1, bool)
            while known.sum() < LEAST_LABELS:
                own, roles = table(rng, verb, LEAST_ROWS)
                known = chosen(rng, own, roles, fault)
            if fault == "copy":
                own["gold"] = own[voters(roles)[0]]
            made = finished(rng, own, known, sort=k % 2 == 0)
            said = doubted(verb, made, roles)
            found += bool(said)
            missed += (
                [] if said else [f"missed, {fault}, {verb}: {int(known.sum())} of {len(known)}"]
            )
        number = FAULTY // len(FAULTS)
        rows.append({"tables": f"labels by {fault}", "number": number, "doubted": found})
    rows.append({"tables": "faulty", "number": FAULTY, "doubted": FAULTY - len(missed)})
    record("label_doubts", "Doubts about labels", rows, notes=[*false, *missed])


if __name__ == "__main__":
    main()
