"""Ten tables such as people bring, and whether the first verdict is right at the first try.

Tables and commands were written before any was run (``tests/first/tables.py``), from what ``--help``
says alone. Each command runs once, as a process, and every claim of its answer is held against the
simulation. FIRST is what happened at the very first run; the product was changed after it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.record import record
from tests.first.judging import judged
from tests.first.tables import TABLES

FIRST = {
    "support_bot": "right",
    "rag_wide": "right",
    "two_runs": "right",
    "crowd": "right, but it named a judge first that the table put second",
    "judges_alone": "right",
    "weak_spam": "asked: does -1 mean no answer?",
    "vendor": "asked: are Account and account one label?",
    "leaderboard": "asked: are A and a one label?",
    "ratings": "asked: from where to where do grades go?",
    "agents": "asked: which columns are items, voters and votes?",
}
"""What the first run of each command gave, before anything was changed."""


def main() -> None:
    rows = []
    for name, make in TABLES.items():
        with tempfile.TemporaryDirectory() as folder:
            told = make(Path(folder), np.random.default_rng(0))
            run = subprocess.run(
                [str(Path(sys.executable).with_name("tallystick")), *told.command, "--json"],
                cwd=folder,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
            )
        answer = json.loads(run.stdout) if run.stdout else None
        found = judged(name, run.returncode, answer, run.stderr, told.truth)
        rows.append(
            {
                "table": (make.__doc__ or "").split(":")[0].split(".")[0],
                "typed": f"`tallystick {shlex.join(told.command)}`",
                "at the first run": FIRST[name],
                "now": found.outcome,
                "verdict": answer["verdict"] if answer else found.reason,
            }
        )
    right = sum(row["now"] == "right" for row in rows)
    first = sum(str(row["at the first run"]).startswith("right") for row in rows)
    record(
        "first-five-minutes",
        "Ten tables, ten first commands",
        rows,
        notes=(
            f"At the first run {first} of 10 first verdicts were right, {10 - first} asked a named"
            f" question, none was wrong; now {right} are right.",
            "Right: the command answered and nothing it claims is false: the best system or model,"
            " the sign of every decided difference, and the interval or range of what it names.",
            "With seeds 0 to 15 of the simulation, 159 of 160 verdicts were right; one interval of"
            " a judge (95%) missed its accuracy.",
            "The blanks of the leaderboard were first left out without a word in the verdict. Its"
            " score is now held against the items that the verdict names.",
        ),
    )


if __name__ == "__main__":
    main()
