"""Small tables for each verb, made from seeds, and how tables are written."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Columns = Mapping[str, Sequence[Any]]


def write_rows(
    path: Path,
    head: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> None:
    """Write rows as delimited text."""
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(head)
        writer.writerows(rows)


def write_csv(path: Path, columns: Columns, **how: Any) -> None:
    """Write columns as delimited text; None is a blank cell."""
    write_rows(path, list(columns), list(zip(*columns.values(), strict=True)), **how)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns with these names."""
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def written(name: str, make: Callable[[], Columns]) -> Callable[[Path], None]:
    """Return what writes one CSV table."""
    return lambda folder: write_csv(folder / name, make())


def flipped(
    rng: np.random.Generator, truth: np.ndarray, accuracy: float, labels: Sequence[Any]
) -> np.ndarray:
    """Return the truth as somebody says it who is right this often."""
    place = {label: k for k, label in enumerate(labels)}
    codes = np.array([place[one] for one in truth.tolist()])
    moved = (codes + rng.integers(1, len(labels), len(codes))) % len(labels)
    return np.array(labels, object)[np.where(rng.random(len(codes)) < accuracy, codes, moved)]


def some(rng: np.random.Generator, column: Sequence[Any], known: int) -> list[Any]:
    """Return a column of which only so many cells, drawn at random, are filled."""
    kept = set(rng.choice(len(column), known, replace=False).tolist())
    return [cell if k in kept else None for k, cell in enumerate(column)]


def votes(
    n: int = 300,
    labels: Sequence[Any] = ("pass", "fail"),
    known: int = 80,
    *,
    judges: Mapping[str, float] | None = None,
    seed: int = 1,
) -> dict[str, list[Any]]:
    """Items, the votes of a panel and some true labels, with columns to slice and weigh by."""
    rng = np.random.default_rng(seed)
    truth = np.array(labels, object)[rng.integers(0, len(labels), n)]
    panel = judges or {"gpt": 0.9, "claude": 0.85, "llama": 0.75}
    said = {name: flipped(rng, truth, right, labels).tolist() for name, right in panel.items()}
    return {
        "id": [f"i{k}" for k in range(n)],
        "text": [f"an answer about subject {k}" for k in range(n)],
        "length": rng.integers(20, 400, n).tolist(),
        "lang": rng.choice(["de", "en"], n).tolist(),
        **said,
        "gold": some(rng, truth.tolist(), known),
    }


def outputs(
    n: int = 150,
    known: int = 40,
    *,
    grades: bool = False,
    systems: Mapping[str, float] | None = None,
    seed: int = 2,
) -> dict[str, list[Any]]:
    """Outputs of several systems, judged by three, graded by people on a few items."""
    rng = np.random.default_rng(seed)
    graded = set(rng.choice(n, known, replace=False).tolist())
    rows: list[dict[str, Any]] = []
    levels = systems or {"system-a": 0.5, "system-b": 0.85, "system-c": 0.7}
    for question in range(n):
        hard = rng.random()
        for system, level in levels.items():
            row: dict[str, Any] = {"question": f"q{question}", "system": system}
            row["topic"] = ("law", "maths", "code")[question % 3]
            if grades:
                true = int(np.clip(round(rng.normal(1.5 + 3 * level - hard, 0.6)), 1, 5))
                for judge, kind in (("gpt", 0.4), ("claude", 0.1), ("llama", 0.0)):
                    row[judge] = int(np.clip(round(rng.normal(true + kind, 0.7)), 1, 5))
            else:
                true = int(hard < level)
                kind = 0.3 if system == "system-a" else 0.0
                for judge, right in (("gpt", 0.9), ("claude", 0.86), ("llama", 0.78)):
                    kinder = rng.random() < kind
                    row[judge] = 1 if kinder else (true if rng.random() < right else 1 - true)
            row["human"] = true if question in graded else None
            rows.append(row)
    return {name: [row[name] for row in rows] for name in rows[0]}


def scores(n: int = 300, *, seed: int = 3) -> dict[str, list[Any]]:
    """Right or wrong of two models on items in documents."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    old = (hard < 0.6).astype(int)
    new = np.where(rng.random(n) < 0.9, hard < 0.72, rng.random(n) < 0.6).astype(int)
    docs = [f"d{k % 30}" for k in range(n)]
    items = [f"q{k}" for k in range(n)]
    return {"id": items, "doc": docs, "old": old.tolist(), "new": new.tolist()}


def weak(n: int = 500, known: int = 60, *, seed: int = 4) -> dict[str, list[Any]]:
    """Rules that vote or abstain, a classifier with its score, some true labels."""
    rng = np.random.default_rng(seed)
    spam = rng.random(n) < 0.4
    word = np.where(spam, "spam", "ham")
    columns: dict[str, list[Any]] = {"id": list(range(n))}
    rules = {"lf_url": (0.6, 0.88), "lf_caps": (0.5, 0.8), "lf_sender": (0.7, 0.84)}
    for name, (fires, right) in {**rules, "lf_short": (0.4, 0.75)}.items():
        vote = flipped(rng, word, right, ("ham", "spam"))
        columns[name] = [v if f < fires else None for v, f in zip(vote, rng.random(n), strict=True)]
    score = np.clip(np.where(spam, rng.beta(4, 2, n), rng.beta(2, 4, n)), 0.01, 0.99).round(3)
    columns["score"] = score.tolist()
    columns["h"] = np.where(score > 0.5, "spam", "ham").tolist()
    columns["g"] = flipped(rng, word, 0.8, ("ham", "spam")).tolist()
    columns["label"] = some(rng, word.tolist(), known)
    return columns


def api_items(n: int = 400, *, worse: float = 0.15, seed: int = 5) -> dict[str, list[Any]]:
    """Items of an API: truth, old answers with a confidence, further old draws, new answers."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["bad", "good"], n)
    sure = rng.beta(4, 1, n).round(3)
    old = np.where(
        rng.random(n) < 0.55 + 0.45 * sure, truth, np.where(truth == "bad", "good", "bad")
    )
    new = np.where((truth == "bad") & (rng.random(n) < worse), "good", old)

    def again(column: np.ndarray, share: float) -> list[Any]:
        return np.where(
            rng.random(n) < share, np.where(column == "bad", "good", "bad"), column
        ).tolist()

    return {
        "id": [f"t{k}" for k in range(n)],
        "text": [f"review {k} [{word}]" for k, word in enumerate(truth)],
        "country": rng.choice(["at", "ch", "de"], n).tolist(),
        "y": truth.tolist(),
        "spring": old.tolist(),
        "spring_2": again(old, 0.04),
        "spring_3": again(old, 0.04),
        "confidence": sure.tolist(),
        "june": new.tolist(),
        "noisy": again(old, 0.15),
    }


def round_log(items: int = 80, *, seed: int = 6) -> dict[str, list[Any]]:
    """Three rounds of a benchmark and five models on every item: one row per item and model."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in (1, 2, 3):
        for k in range(items):
            hard = rng.standard_normal()
            for name in ("ada", "bea", "cleo", "dora", "eve"):
                right = 0.8 * hard + 0.6 * rng.standard_normal() < 0.9 - 0.2 * number
                rows.append((f"{number}-{k}", number, name, int(right)))
    return columns_of(("item", "round", "model", "correct"), rows)


def attempts(n: int = 300, *, seed: int = 7) -> dict[str, list[Any]]:
    """Attempts of annotators to fool a model, with what validators said of those that did."""
    rng = np.random.default_rng(seed)
    when = np.repeat([1, 2, 3], n // 3)
    fooled = rng.random(n) < np.array([0.4, 0.3, 0.22])[when - 1]
    valid = rng.random(n) < 0.8
    yes = np.where(fooled, rng.binomial(3, np.where(valid, 0.9, 0.15)), 0)
    return {
        "annotator": [f"u{k % 15}" for k in range(n)],
        "round": when.tolist(),
        "model_wrong": fooled.astype(int).tolist(),
        "votes_yes": yes.tolist(),
        "votes_no": np.where(fooled, 3 - yes, 0).tolist(),
        "seconds": rng.integers(60, 400, n).tolist(),
    }


def battles(items: int = 150, known: int = 50, *, seed: int = 8) -> dict[str, list[Any]]:
    """A judge that likes the old system compared two systems in both orders, people a few."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        new_is_better = rng.random() < 0.65
        for a, b in (("new", "old"), ("old", "new")):
            right = "a" if (a == "new") == new_is_better else "b"
            wrong = "b" if right == "a" else "a"
            judge = right if rng.random() < (0.45 if new_is_better else 0.85) else wrong
            judge = "tie" if rng.random() < 0.05 else judge
            human = right if item < known and a == "new" else None
            rows.append((item, a, b, judge, human))
    return columns_of(("id", "a", "b", "gpt", "human"), rows)


def long_votes(
    columns: Columns, judges: Sequence[str], names: Sequence[str]
) -> dict[str, list[Any]]:
    """Return a panel with one row per vote; *names* are those of item, judge and vote."""
    n = len(columns["id"])
    pairs = [(k, judge) for k in range(n) for judge in judges]
    item, who, vote = names
    made = {
        item: [columns["id"][k] for k, _ in pairs],
        who: [judge for _, judge in pairs],
        vote: [columns[judge][k] for k, judge in pairs],
    }
    return {**made, "gold": [columns["gold"][k] for k, _ in pairs]} if "gold" in columns else made


def answered(batch: str, table: str, truth: str, keys: Sequence[str]) -> Callable[[Path], None]:
    """Return what a person does with a batch of items: write the true label of each into it."""

    def fill(folder: Path) -> None:
        with (folder / table).open(encoding="utf-8", newline="") as stream:
            known = {tuple(row[key] for key in keys): row[truth] for row in csv.DictReader(stream)}
        with (folder / batch).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        for row in rows:
            row["answer"] = known[tuple(row[key] for key in keys)]
        write_rows(folder / batch, list(rows[0]), [list(row.values()) for row in rows])

    return fill
