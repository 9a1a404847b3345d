"""The ten tables of tests/first, with the command that is typed first and some that say less."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.corpus.run import commands
from tests.first.tables import TABLES


def _written(name: str) -> Callable[[Path], None]:
    def table(folder: Path) -> None:
        TABLES[name](folder, np.random.default_rng(0))

    return table


TEN = {name: _written(name) for name in TABLES}
PAIRS = [
    commands(TEN[name], line + " --json", of="first", name=line)
    for name, line in (
        (
            "support_bot",
            "score support_bot.csv --system bot_version"
            " --judges 'gpt-4o verdict,claude verdict' --truth 'QA review'",
        ),
        ("rag_wide", "score rag_eval.csv --systems baseline,rerank --truth human"),
        ("two_runs", "compare run_may.csv run_june.csv --metric is_correct"),
        (
            "crowd",
            "judge annotations.tsv --judge annotator --vote label --item comment_id"
            " --truth gold_label",
        ),
        ("judges_alone", "judge judge_votes.csv"),
        ("weak_spam", "bound spam.csv --prediction y_pred --weak 'lf_*'"),
        ("vendor", "shift tickets.csv --truth category --old march --new june"),
        ("leaderboard", "compare mmlu_small.csv --truth answer"),
        ("ratings", "score summaries.csv --system model --judges llm_score --truth editor_score"),
        (
            "agents",
            "compare agent_runs.jsonl --models agent --metric resolved --item task"
            " --replicate trial",
        ),
        # Less is said: what does each verb make of the same tables by itself?
        ("support_bot", "score support_bot.csv"),
        ("two_runs", "compare run_may.csv run_june.csv"),
        ("leaderboard", "compare mmlu_small.csv"),
        ("ratings", "score summaries.csv"),
    )
]
