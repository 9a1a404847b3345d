"""How replies are read: wrong labels and unread answers, by kind, on hand-labelled replies.

    python -m benchmarks.truth.answers [--write]

The replies are those of the tests: tests/clients/replies.ndjson, which the reader was made on, and
replies_fresh.ndjson, which was written and labelled before the reader had seen it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.record import record
from tallystick.clients import AnswerReading

REPLIES = Path(__file__).resolve().parents[2] / "tests" / "clients"


def counted(title: str, kind: str, replies: list[dict[str, Any]]) -> dict[str, Any]:
    """Count one kind: a wrong label, and a stated one that was not read."""
    found = [AnswerReading(one["reading"]).label(one["reply"], one["labels"]) for one in replies]
    pairs = [(label, one["label"]) for label, one in zip(found, replies, strict=True)]
    return {
        "replies": title,
        "kind": kind,
        "number": len(replies),
        "of them with a label": sum(wanted is not None for _, wanted in pairs),
        "wrong": sum(label not in (wanted, None) for label, wanted in pairs),
        "unread": sum(label is None and wanted is not None for label, wanted in pairs),
    }


def table(title: str, file: str) -> list[dict[str, Any]]:
    """Count every kind of one file, and all of them."""
    lines = (REPLIES / file).read_text(encoding="utf-8").splitlines()
    replies = [json.loads(line) for line in lines]
    kinds = dict.fromkeys(one["kind"] for one in replies)
    rows = [counted(title, kind, [r for r in replies if r["kind"] == kind]) for kind in kinds]
    return [*rows, counted(title, "all", replies)]


def main() -> None:
    known, fresh = table("known", "replies.ndjson"), table("fresh", "replies_fresh.ndjson")
    notes = []
    for rows in (known, fresh):
        last = rows[-1]
        wrong = 100 * last["wrong"] / last["number"]
        unread = 100 * last["unread"] / last["of them with a label"]
        notes.append(
            f"{last['replies']}: {wrong:.1f} % wrong, {unread:.1f} % of the stated labels unread"
        )
    record(
        "answer-reading",
        "AnswerReading replies: wrong and unread, by kind",
        [*known, *fresh],
        notes=[
            *notes,
            "The fresh replies were labelled by hand before they were read. Of the first 60, of odd"
            " kinds, 2 were wrong and 6 of 48 unread: reasoning in tags, an answer before its"
            " reasons, the word no before a noun, and Chinese text. That was corrected. Of 40 more,"
            " odd again, 1 was wrong (A if …, otherwise B) and 3 of 27 unread; corrected, too. Of 30"
            " everyday replies none was wrong and none unread, before and after.",
            "A reply without a label is a refusal, names no label or several, or only denies one:"
            " reading a label from it counts as wrong.",
        ],
    )


if __name__ == "__main__":
    main()
