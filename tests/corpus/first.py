"""Ten tables such as people bring, with the command that they type first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus.run import commands
from tests.corpus.tables import write_csv, write_rows


def support_bot(folder: Path) -> None:
    """Judged outputs, long: verdicts in two spellings, a QA team that reviewed 120 of 1,600."""
    rng = np.random.default_rng(0)
    rows: list[list[Any]] = []
    topics = ("billing", "login", "shipping", "refund")
    for number in range(800):
        hard = rng.random()
        for version in ("v1.8", "v2.0"):
            good = hard < (0.80 if version == "v1.8" else 0.66)
            wordy = version == "v2.0"
            cells = []
            for miss, false in ((0.05, 0.30), (0.09, 0.22)):
                passes = rng.random() < (1 - miss if good else false + 0.35 * wordy)
                words = ("Pass", "PASS", "pass") if passes else ("Fail", "FAIL", "fail")
                blank = rng.random() < 0.015
                cells.append("" if blank else words[int(rng.choice(3, p=(0.9, 0.05, 0.05)))])
            topic = topics[number % 4]
            text = f"Customer asks about {topic} (case {number})"
            reply = f"Hello, about {topic}: ..."
            rows.append([f"conv_{number:05d}", text, version, reply, *cells, good])
    reviewed = set(rng.choice(800, 60, replace=False).tolist())
    for place, row in enumerate(rows):
        row[-1] = ("Pass" if row[-1] else "Fail") if place // 2 in reviewed else ""
    head = ["Conversation ID", "User message", "bot_version", "Reply", "gpt-4o verdict"]
    write_rows(folder / "support_bot.csv", [*head, "claude verdict", "QA review"], rows)


def rag_wide(folder: Path) -> None:
    """Judged outputs, wide: SYSTEM_JUDGE columns of 1 and 0, people graded 40 of 500."""
    rng = np.random.default_rng(0)
    hard = rng.random(500)
    good = {"baseline": hard < 0.58, "rerank": (hard < 0.74) ^ (rng.random(500) < 0.03)}
    graded = np.zeros(500, bool)
    graded[rng.choice(500, 40, replace=False)] = True
    columns: dict[str, Any] = {
        "qid": [f"q{k}" for k in range(500)],
        "question": [f"What does clause {k} of the contract say?" for k in range(500)],
    }
    for name, is_good in good.items():
        for judge, slip in (("gpt", 0.12), ("sonnet", 0.15)):
            votes = np.where(rng.random(500) < slip, ~is_good, is_good)
            columns[f"{name}_{judge}"] = votes.astype(int).tolist()
        human = [int(v) if g else "" for v, g in zip(is_good, graded, strict=True)]
        columns[f"{name}_human"] = human
    write_csv(folder / "rag_eval.csv", columns)


def two_runs(folder: Path) -> None:
    """Two exports of one test set in different order, some questions that timed out, one twice."""
    rng = np.random.default_rng(0)
    hard = rng.random(900)
    right = {"run_may": hard < 0.62, "run_june": (hard < 0.69) ^ (rng.random(900) < 0.05)}
    for name, good in right.items():
        rows: list[list[Any]] = []
        for k in rng.permutation(900):
            said = [f"answer {k}", str(bool(good[k])).upper(), f"{rng.gamma(3):.2f}"]
            rows.append([k, f"Question number {k}?", "see key", *said])
        for place in rng.choice(900, 6, replace=False):
            rows[place][3:5] = ["", ""]
        rows.append(rows[17])
        head = ["id", "question", "expected", "model_output", "is_correct", "latency_s"]
        write_rows(folder / f"{name}.csv", head, rows)


def crowd(folder: Path) -> None:
    """Annotators, long: each comment was read by three of six people, one of whom guesses."""
    rng = np.random.default_rng(0)
    skill = {"maria": 0.93, "jonas": 0.88, "wei": 0.90, "ahmed": 0.85, "tmp_worker_7": 0.52}
    skill["lena"] = 0.91
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
            text = f"comment text {number}"
            rows.append([f"c-{number}", text, name, shown, "2024-05-02 10:11", known])
    head = ["comment_id", "comment", "annotator", "label", "created_at", "gold_label"]
    write_rows(folder / "annotations.tsv", head, rows, delimiter="\t")


def judges_alone(folder: Path) -> None:
    """Judges without truth: four LLM judges on 1,200 traces, three of which share a blind spot."""
    rng = np.random.default_rng(0)
    true = rng.random(1200) < 0.7
    blind = ~true & (rng.random(1200) < 0.35)
    columns: dict[str, Any] = {
        "trace_id": [f"tr-{k:04x}" for k in range(1200)],
        "input": [f"user turn {k}" for k in range(1200)],
        "output": [f"assistant turn {k}" for k in range(1200)],
    }
    judges = (("gpt4_judge", 0.07), ("claude_judge", 0.09), ("llama_judge", 0.16), ("rules", 0.2))
    for name, slip in judges:
        vote = true ^ (rng.random(1200) < slip)
        vote = vote if name == "rules" else vote | blind
        columns[name] = ["yes" if one else "no" for one in vote]
    write_csv(folder / "judge_votes.csv", columns)


def weak_spam(folder: Path) -> None:
    """Weak labels: five rules that vote 1, 0 or -1 (no opinion), and a classifier's prediction."""
    rng = np.random.default_rng(0)
    spam = rng.random(3000) < 0.4
    columns: dict[str, Any] = {"text": [f"mail body {k}" for k in range(3000)]}
    rules = {"lf_keyword": (0.5, 0.86), "lf_regex_url": (0.4, 0.9), "lf_short": (0.6, 0.74)}
    for name, (fires, right) in {**rules, "lf_sender": (0.45, 0.88), "lf_caps": (0.3, 0.8)}.items():
        vote = np.where(rng.random(3000) < right, spam, ~spam).astype(int)
        columns[name] = np.where(rng.random(3000) < fires, vote, -1).tolist()
    guess = np.where(rng.random(3000) < 0.87, spam, ~spam)
    columns["y_pred"] = guess.astype(int).tolist()
    write_csv(folder / "spam.csv", columns)


def vendor(folder: Path) -> None:
    """An API, old and new answers in one table: refunds are now answered as billing."""
    rng = np.random.default_rng(0)
    names = np.array(["billing", "refund", "shipping", "account"])
    truth = rng.choice(names, 2000, p=(0.35, 0.2, 0.3, 0.15))
    old = np.where(rng.random(2000) < 0.88, truth, rng.choice(names, 2000))
    new = np.where((old == "refund") & (rng.random(2000) < 0.3), "billing", old)
    new = np.where(rng.random(2000) < 0.01, rng.choice(names, 2000), new)
    shown = [one.capitalize() if k % 50 == 0 else one for k, one in enumerate(new.tolist())]
    text = [f"ticket text {k}" for k in range(2000)]
    ids = list(range(50_000, 52_000))
    columns = {"ticket_id": ids, "text": text, "category": truth, "march": old, "june": shown}
    write_csv(folder / "tickets.csv", columns)


def leaderboard(folder: Path) -> None:
    """Four models' letters beside the key: a byte-order mark, semicolons, small letters, blanks."""
    rng = np.random.default_rng(0)
    letters = np.array(list("ABCD"))
    key = rng.choice(letters, 1400)
    hard = rng.random(1400)
    columns: dict[str, Any] = {
        "example_id": list(range(1, 1401)),
        "subject": rng.choice(["law", "physics", "history"], 1400).tolist(),
        "answer": key.tolist(),
    }
    levels = {"llama-3-8b": 0.61, "mistral-7b": 0.60, "qwen2-7b": 0.70, "gemma-7b": 0.55}
    for name, level in levels.items():
        good = (hard < level) ^ (rng.random(1400) < 0.08)
        other = letters[(np.searchsorted(letters, key) + rng.integers(1, 4, 1400)) % 4]
        said = np.where(good, key, other)
        refused = ~good & (rng.random(1400) < 0.05)
        small = rng.random(1400) < 0.04
        columns[name] = [
            "" if r else (str(s).lower() if low else str(s))
            for s, r, low in zip(said, refused, small, strict=True)
        ]
    write_csv(folder / "mmlu_small.csv", columns, delimiter=";", encoding="utf-8-sig")


def ratings(folder: Path) -> None:
    """Grades from 1 to 5: one LLM judge on 1,500 summaries of three models, an editor on 90."""
    rng = np.random.default_rng(0)
    rows = []
    edited = set(rng.choice(500, 30, replace=False).tolist())
    for number in range(500):
        topic = rng.normal(0, 0.6)
        for name, level in (("pegasus", 3.1), ("t5-large", 3.5), ("gpt-4o-mini", 4.2)):
            real = int(np.clip(round(rng.normal(level + topic, 0.7)), 1, 5))
            kind = 0.6 if name == "pegasus" else 0.2
            judged = int(np.clip(round(rng.normal(real + kind, 0.6)), 1, 5))
            human = real if number in edited else "n/a"
            rows.append([f"doc{number}", name, f"summary of {number}", judged, human])
    head = ["doc_id", "model", "summary", "llm_score", "editor_score"]
    write_rows(folder / "summaries.csv", head, rows)


def agents(folder: Path) -> None:
    """JSON lines of an agent benchmark: two agents, 150 tasks, three trials of each, true/false."""
    rng = np.random.default_rng(0)
    hard, lines = rng.random(150), []
    for number in range(150):
        for name, level in (("planner-v1", 0.42), ("planner-v2", 0.60)):
            for trial in range(1, 4):
                done = bool(rng.random() < np.clip(level + 0.9 * (0.5 - hard[number]), 0.02, 0.98))
                cost = round(float(rng.gamma(2, 0.1)), 3)
                line = {"task": f"repo__{number}", "agent": name, "trial": trial}
                lines.append({**line, "resolved": done, "cost_usd": cost})
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / "agent_runs.jsonl").write_text(text + "\n", encoding="utf-8")


PAIRS = [
    commands(table, line + " --json", of="first", name=line)
    for table, line in (
        (
            support_bot,
            "score support_bot.csv --system bot_version"
            " --judges 'gpt-4o verdict,claude verdict' --truth 'QA review'",
        ),
        (rag_wide, "score rag_eval.csv --systems baseline,rerank --truth human"),
        (two_runs, "compare run_may.csv run_june.csv --metric is_correct"),
        (
            crowd,
            "judge annotations.tsv --judge annotator --vote label --item comment_id"
            " --truth gold_label",
        ),
        (judges_alone, "judge judge_votes.csv"),
        (weak_spam, "bound spam.csv --prediction y_pred --weak 'lf_*'"),
        (vendor, "shift tickets.csv --truth category --old march --new june"),
        (leaderboard, "compare mmlu_small.csv --truth answer"),
        (ratings, "score summaries.csv --system model --judges llm_score --truth editor_score"),
        (
            agents,
            "compare agent_runs.jsonl --models agent --metric resolved --item task"
            " --replicate trial",
        ),
        # Less is said: what does each verb make of the same tables by itself?
        (support_bot, "score support_bot.csv"),
        (two_runs, "compare run_may.csv run_june.csv"),
        (leaderboard, "compare mmlu_small.csv"),
        (ratings, "score summaries.csv"),
    )
]
