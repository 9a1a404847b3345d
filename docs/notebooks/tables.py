"""Write the small CSV files that the notebooks start from: simulated, so that the truth is known."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent / "data"
TOPICS = ("billing", "login", "refund", "shipping")


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(7)
    _outputs(rng)
    _runs(rng)
    _votes(rng)
    _tickets(rng)


def _outputs(rng: np.random.Generator) -> None:
    """Write 600 answers of two bots with two judges; people graded 80. Judges like the wordy bot."""
    graded = set(rng.choice(300, 40, replace=False).tolist())
    rows = []
    for question in range(300):
        hard = rng.random()
        for bot, level in (("concise", 0.80), ("wordy", 0.55)):
            good = hard < level
            false = 0.25 if bot == "concise" else 0.7
            judges = [rng.random() < (0.93 if good else false) for _ in range(2)]
            human = ("pass" if good else "fail") if question in graded else ""
            said = ["pass" if one else "fail" for one in judges]
            rows.append([f"q{question:03d}", TOPICS[question % 4], bot, *said, human])
    _write("outputs.csv", ["question", "topic", "bot", "gpt", "claude", "human"], rows)


def _runs(rng: np.random.Generator) -> None:
    """Write two runs of 400 questions: before and after a new prompt."""
    hard = rng.random(400)
    for name, level in (("before", 0.66), ("after", 0.73)):
        right = (hard < level) ^ (rng.random(400) < 0.03)
        rows = [[f"q{k}", TOPICS[k % 4], int(right[k])] for k in rng.permutation(400)]
        _write(f"{name}.csv", ["id", "topic", "correct"], rows)


def _votes(rng: np.random.Generator) -> None:
    """Write the votes of three judges on 500 answers; the truth is in a file of its own."""
    truth = np.where(rng.random(500) < 0.7, "pass", "fail")
    other = np.where(truth == "pass", "fail", "pass")
    votes = [np.where(rng.random(500) < right, truth, other) for right in (0.91, 0.85, 0.79)]
    rows = list(zip(range(500), *votes, strict=True))
    _write("votes.csv", ["answer_id", "gpt", "claude", "llama"], rows)
    _write("truth.csv", ["answer_id", "label"], list(zip(range(500), truth, strict=True)))


def _tickets(rng: np.random.Generator) -> None:
    """Write 600 tickets with the answers of an API in March and in June: refunds suffer."""
    truth = rng.choice(TOPICS, 600)
    march = np.where(rng.random(600) < 0.9, truth, rng.choice(TOPICS, 600))
    june = np.where((march == "refund") & (rng.random(600) < 0.35), "billing", march)
    rows = list(zip(range(600), truth, march, june, strict=True))
    _write("tickets.csv", ["ticket", "category", "march", "june"], rows)


def _write(name: str, head: list[str], rows: list[Any]) -> None:
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
