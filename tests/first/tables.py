"""Ten tables such as people bring, with the command that a person types who has read only
``tallystick --help`` and ``tallystick VERB --help``.

Tables and commands were written before any of them was run. Each is simulated, so that the truth
is known; headers, blanks, spellings and mistakes are those of real exports.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["TABLES", "Told"]

Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True)
class Told:
    """A table on the disk: what is typed, and what only the simulation knows."""

    command: tuple[str, ...]
    truth: Mapping[str, float]


def support_bot(folder: Path, rng: Rng) -> Told:
    """Judged outputs, long: two versions of a bot, verdicts in two spellings, a QA team that
    reviewed 120 of 1,600 answers. The judges like the wordy new version.
    """
    rows = []
    right: dict[str, list[float]] = {"v1.8": [], "v2.0": []}
    topics = ("billing", "login", "shipping", "refund")
    for number in range(800):
        hard = rng.random()
        for version in right:
            good = hard < (0.80 if version == "v1.8" else 0.66)
            right[version].append(good)
            wordy = version == "v2.0"
            cells = []
            for miss, false in ((0.05, 0.30), (0.09, 0.22)):
                passes = rng.random() < (1 - miss if good else false + 0.35 * wordy)
                words = ("Pass", "PASS", "pass") if passes else ("Fail", "FAIL", "fail")
                cells.append(
                    "" if rng.random() < 0.015 else words[int(rng.choice(3, p=(0.9, 0.05, 0.05)))]
                )
            text = f"Customer asks about {topics[number % 4]} (case {number})"
            rows.append(
                [
                    f"conv_{number:05d}",
                    text,
                    version,
                    f"Hello, about {topics[number % 4]}: ...",
                    *cells,
                    good,
                ]
            )
    reviewed = set(rng.choice(800, 60, replace=False).tolist())
    for place, row in enumerate(rows):
        row[-1] = ("Pass" if row[-1] else "Fail") if place // 2 in reviewed else ""
    head = ["Conversation ID", "User message", "bot_version", "Reply", "gpt-4o verdict"]
    _csv(folder / "support_bot.csv", [*head, "claude verdict", "QA review"], rows)
    command = ("score", "support_bot.csv", "--system", "bot_version")
    more = ("--judges", "gpt-4o verdict,claude verdict", "--truth", "QA review")
    return Told(
        command=(*command, *more), truth={name: _mean(good) for name, good in right.items()}
    )


def rag_wide(folder: Path, rng: Rng) -> Told:
    """Judged outputs, wide: one row per question, SYSTEM_JUDGE columns of 1 and 0, people graded
    40 of 500 questions.
    """
    hard = rng.random(500)
    good = {"baseline": hard < 0.58, "rerank": (hard < 0.74) ^ (rng.random(500) < 0.03)}
    graded = np.zeros(500, bool)
    graded[rng.choice(500, 40, replace=False)] = True
    columns: dict[str, Sequence[Any]] = {
        "qid": [f"q{k}" for k in range(500)],
        "question": [f"What does clause {k} of the contract say?" for k in range(500)],
    }
    for name, is_good in good.items():
        for judge, slip in (("gpt", 0.12), ("sonnet", 0.15)):
            votes = np.where(rng.random(500) < slip, ~is_good, is_good).astype(int)
            columns[f"{name}_{judge}"] = votes.tolist()
        columns[f"{name}_human"] = [
            int(v) if g else "" for v, g in zip(is_good, graded, strict=True)
        ]
    _csv(folder / "rag_eval.csv", list(columns), list(zip(*columns.values(), strict=True)))
    command = ("score", "rag_eval.csv", "--systems", "baseline,rerank", "--truth", "human")
    return Told(command=command, truth={name: _mean(one) for name, one in good.items()})


def two_runs(folder: Path, rng: Rng) -> Told:
    """Before and after: two exports of one test set in different order, TRUE and FALSE, some
    questions that timed out, a row that was exported twice.
    """
    hard = rng.random(900)
    right = {"run_may": hard < 0.62, "run_june": (hard < 0.69) ^ (rng.random(900) < 0.05)}
    for name, good in right.items():
        order = rng.permutation(900)
        rows = [
            [
                k,
                f"Question number {k}?",
                "see key",
                f"answer {k}",
                str(bool(good[k])).upper(),
                f"{rng.gamma(3):.2f}",
            ]
            for k in order
        ]
        for place in rng.choice(900, 6, replace=False):
            rows[place][3:5] = ["", ""]
        rows.append(rows[17])
        head = ["id", "question", "expected", "model_output", "is_correct", "latency_s"]
        _csv(folder / f"{name}.csv", head, rows)
    command = ("compare", "run_may.csv", "run_june.csv", "--metric", "is_correct")
    return Told(command=command, truth={name: _mean(good) for name, good in right.items()})


def crowd(folder: Path, rng: Rng) -> Told:
    """Annotators, long: each comment was read by three of six people, gold on 200 of 1,000; one of
    the readers guesses.
    """
    skill = {
        "maria": 0.93,
        "jonas": 0.88,
        "wei": 0.90,
        "ahmed": 0.85,
        "tmp_worker_7": 0.52,
        "lena": 0.91,
    }
    toxic = rng.random(1000) < 0.35
    gold = set(rng.choice(1000, 200, replace=False).tolist())
    rows = []
    for number in range(1000):
        for name in rng.choice(list(skill), 3, replace=False):
            said = bool(toxic[number]) ^ bool(rng.random() > skill[name])
            shown = "toxic" if said else "not toxic"
            if rng.random() < 0.02:
                shown = "skip"
            known = ("toxic" if toxic[number] else "not toxic") if number in gold else ""
            rows.append(
                [f"c-{number}", f"comment text {number}", name, shown, "2024-05-02 10:11", known]
            )
    head = ["comment_id", "comment", "annotator", "label", "created_at", "gold_label"]
    _csv(folder / "annotations.tsv", head, rows, delimiter="\t")
    command = ("judge", "annotations.tsv", "--judge", "annotator", "--vote", "label")
    more = ("--item", "comment_id", "--truth", "gold_label")
    return Told(command=(*command, *more), truth=skill)


def judges_alone(folder: Path, rng: Rng) -> Told:
    """Judges without truth: four LLM judges on 1,200 traces, three of which share a blind spot."""
    true = rng.random(1200) < 0.7
    blind = ~true & (rng.random(1200) < 0.35)
    columns: dict[str, Sequence[Any]] = {
        "trace_id": [f"tr-{k:04x}" for k in range(1200)],
        "input": [f"user turn {k}" for k in range(1200)],
        "output": [f"assistant turn {k}" for k in range(1200)],
    }
    truth = {}
    for name, slip, shares in (
        ("gpt4_judge", 0.07, True), ("claude_judge", 0.09, True), ("llama_judge", 0.16, True), ("rules", 0.2, False)
    ):  # fmt: skip
        vote = true ^ (rng.random(1200) < slip)
        vote = vote | blind if shares else vote
        columns[name] = ["yes" if one else "no" for one in vote]
        truth[name] = _mean(vote == true)
    _csv(folder / "judge_votes.csv", list(columns), list(zip(*columns.values(), strict=True)))
    return Told(command=("judge", "judge_votes.csv"), truth=truth)


def weak_spam(folder: Path, rng: Rng) -> Told:
    """Weak labels: five rules that vote 1, 0 or -1 (no opinion), and a classifier's prediction."""
    spam = rng.random(3000) < 0.4
    columns: dict[str, Sequence[Any]] = {"text": [f"mail body {k}" for k in range(3000)]}
    for name, fires, right in (
        ("lf_keyword", 0.5, 0.86), ("lf_regex_url", 0.4, 0.9), ("lf_short", 0.6, 0.74),
        ("lf_sender", 0.45, 0.88), ("lf_caps", 0.3, 0.8),
    ):  # fmt: skip
        vote = np.where(rng.random(3000) < right, spam, ~spam).astype(int)
        columns[name] = np.where(rng.random(3000) < fires, vote, -1).tolist()
    guess = np.where(rng.random(3000) < 0.87, spam, ~spam)
    columns["y_pred"] = guess.astype(int).tolist()
    _csv(folder / "spam.csv", list(columns), list(zip(*columns.values(), strict=True)))
    command = ("bound", "spam.csv", "--prediction", "y_pred", "--weak", "lf_*")
    return Told(command=command, truth={"accuracy": _mean(guess == spam)})


def vendor(folder: Path, rng: Rng) -> Told:
    """An API, old and new answers in one table: refunds are now answered as billing."""
    names = np.array(["billing", "refund", "shipping", "account"])
    truth = rng.choice(names, 2000, p=(0.35, 0.2, 0.3, 0.15))
    old = np.where(rng.random(2000) < 0.88, truth, rng.choice(names, 2000))
    new = np.where((old == "refund") & (rng.random(2000) < 0.3), "billing", old)
    new = np.where(rng.random(2000) < 0.01, rng.choice(names, 2000), new)
    shown = [one.capitalize() if k % 50 == 0 else one for k, one in enumerate(new.tolist())]
    text = [f"ticket text {k}" for k in range(2000)]
    rows = list(zip(range(50_000, 52_000), text, truth, old, shown, strict=True))
    _csv(folder / "tickets.csv", ["ticket_id", "text", "category", "march", "june"], rows)
    command = ("shift", "tickets.csv", "--truth", "category", "--old", "march", "--new", "june")
    change = {"accuracy_change": _mean(new == truth) - _mean(old == truth)}
    return Told(command=command, truth={**change, "flip_rate": _mean(new != old)})


def leaderboard(folder: Path, rng: Rng) -> Told:
    """Four models' letters beside the key, in a European export: a byte-order mark, semicolons,
    small letters, blanks where a model refused.
    """
    letters = np.array(list("ABCD"))
    key = rng.choice(letters, 1400)
    hard = rng.random(1400)
    columns: dict[str, Sequence[Any]] = {
        "example_id": list(range(1, 1401)),
        "subject": rng.choice(["law", "physics", "history"], 1400).tolist(),
        "answer": key.tolist(),
    }
    right: dict[str, np.ndarray] = {}
    whole = np.ones(1400, bool)
    for name, level in (
        ("llama-3-8b", 0.61),
        ("mistral-7b", 0.60),
        ("qwen2-7b", 0.70),
        ("gemma-7b", 0.55),
    ):
        good = (hard < level) ^ (rng.random(1400) < 0.08)
        other = letters[(np.searchsorted(letters, key) + rng.integers(1, 4, 1400)) % 4]
        said = np.where(good, key, other)
        refused = ~good & (rng.random(1400) < 0.05)
        small = rng.random(1400) < 0.04
        columns[name] = [
            "" if r else (str(s).lower() if low else str(s))
            for s, r, low in zip(said, refused, small, strict=True)
        ]
        right[name], whole = good, whole & ~refused
    rows = list(zip(*columns.values(), strict=True))
    _csv(folder / "mmlu_small.csv", list(columns), rows, delimiter=";", encoding="utf-8-sig")
    # The verdict speaks, in so many words, of the items that all models answered.
    truth = {name: _mean(good[whole]) for name, good in right.items()}
    return Told(command=("compare", "mmlu_small.csv", "--truth", "answer"), truth=truth)


def ratings(folder: Path, rng: Rng) -> Told:
    """Grades from 1 to 5: one LLM judge on 1,500 summaries of three models, an editor on 90."""
    rows = []
    truth: dict[str, list[float]] = {"pegasus": [], "t5-large": [], "gpt-4o-mini": []}
    edited = set(rng.choice(500, 30, replace=False).tolist())
    for number in range(500):
        topic = rng.normal(0, 0.6)
        for name, level in (("pegasus", 3.1), ("t5-large", 3.5), ("gpt-4o-mini", 4.2)):
            real = int(np.clip(round(rng.normal(level + topic, 0.7)), 1, 5))
            truth[name].append(real)
            kind = 0.6 if name == "pegasus" else 0.2
            judged = int(np.clip(round(rng.normal(real + kind, 0.6)), 1, 5))
            rows.append(
                [
                    f"doc{number}",
                    name,
                    f"summary of {number}",
                    judged,
                    real if number in edited else "n/a",
                ]
            )
    _csv(
        folder / "summaries.csv", ["doc_id", "model", "summary", "llm_score", "editor_score"], rows
    )
    command = ("score", "summaries.csv", "--system", "model")
    more = ("--judges", "llm_score", "--truth", "editor_score")
    return Told(
        command=(*command, *more), truth={name: _mean(all_) for name, all_ in truth.items()}
    )


def agents(folder: Path, rng: Rng) -> Told:
    """JSON lines of an agent benchmark: two agents, 150 tasks, three trials of each, true/false."""
    hard, lines = rng.random(150), []
    truth: dict[str, list[bool]] = {"planner-v1": [], "planner-v2": []}
    for number in range(150):
        for name, level in (("planner-v1", 0.42), ("planner-v2", 0.60)):
            for trial in range(1, 4):
                done = bool(rng.random() < np.clip(level + 0.9 * (0.5 - hard[number]), 0.02, 0.98))
                truth[name].append(done)
                lines.append(
                    {
                        "task": f"repo__{number}",
                        "agent": name,
                        "trial": trial,
                        "resolved": done,
                        "cost_usd": round(float(rng.gamma(2, 0.1)), 3),
                    }
                )
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / "agent_runs.jsonl").write_text(text + "\n", encoding="utf-8")
    command = ("compare", "agent_runs.jsonl", "--models", "agent", "--metric", "resolved")
    more = ("--item", "task", "--replicate", "trial")
    return Told(
        command=(*command, *more), truth={name: _mean(done) for name, done in truth.items()}
    )


TABLES: Mapping[str, Callable[[Path, Rng], Told]] = {
    make.__name__: make
    for make in (
        support_bot, rag_wide, two_runs, crowd, judges_alone,
        weak_spam, vendor, leaderboard, ratings, agents,
    )
}  # fmt: skip
"""By name, what writes the table into a folder and says what to type."""


def _mean(values: Any) -> float:
    return float(np.mean(np.asarray(values)))


def _csv(
    path: Path,
    head: Sequence[str],
    rows: Sequence[Any],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(head)
        writer.writerows(rows)
