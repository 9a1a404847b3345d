"""Random streams: what applications, judges and people post, with the faults that tables have.

A stream is a function of its seed. Records come in any order and in any batches, some twice, some
late, some as corrections; names and labels may be odd; and some streams have a fault of which the
command line warns, or which it asks about.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

_PLAIN = (
    *(["pass", "fail"], ["0", "1"], ["1", "0"], ["a", "b", "c"], ["1", "2", "3", "4", "5"]),
    *(["irrelevant", "relevant"], ["poor", "fair", "good"]),
)
_OWN_WORDS = (["irrelevant", "relevant"], ["poor", "fair", "good"])
"""Labels that mean nothing to a program unless the stream says which is the worst."""

_ODD = (
    ["ja, oder?", "nein"],
    ["=1", "-1"],
    ["TRUE", "FALSE"],
    ["1.0", "0.0"],
    ["\u00c4", "\u00df", '"'],
    ["yes ", "no"],
    ["'x", "x"],
    ["1e3", "2"],
    ["no one", "some"],
)
"""Labels that files and spreadsheets like to get wrong. What may be two labels or no answer (1 and
01, None) is refused at the door: see `tallystick.serve.routes`."""
_ODD_ITEMS = (
    *("i{}", "\u00fc{}", '"{}"', "a,{}", "={}", "{} x", "{}", "-{}", "a\t{}", "{}.0", "0{}"),
    *("NA{}", "{}e1", "'{}"),
)
NOW = 1_800_000_000

FAULTS = (
    *("copied truth", "block of labels", "reversed codes", "unrelated truth", "foreign words"),
    *("capitals", "decimals", "no-answer code", "words for no answer", "never true", "splits"),
    *("marks as answers", "all labelled", "no label", "grades only", "summary item", "one silent"),
)
"""What is wrong with a stream, or special about it."""


@dataclass(kw_only=True)
class RandomStream:
    """Settings, batches, and what else happens to a stream."""

    settings: dict[str, Any] = field(default_factory=dict)
    batches: list[list[dict[str, Any]]] = field(default_factory=list)
    fault: str = ""
    draw: int = 0
    labels: list[str] = field(default_factory=list)


def random_stream(seed: int, *, odd: bool = False) -> RandomStream:
    """Return the stream of a seed; *odd* ones are smaller, with names that files get wrong."""
    rng = random.Random(seed)
    fault = rng.choice(FAULTS) if rng.random() < 0.6 else ""
    judges = ["gpt", "claude", "llama", "rule 4", "qwen"][: rng.randint(2, 5)]
    labels = rng.choice(_ODD if odd else _PLAIN)
    if fault in ("reversed codes", "marks as answers"):
        labels = ["0", "1"]
    elif fault in ("capitals", "words for no answer", "never true") and not odd:
        labels = ["pass", "fail"]
    elif fault == "decimals":
        labels = ["1", "0", "2"]
    elif fault in ("no-answer code", "grades only"):
        labels = ["1", "2", "3", "4", "5"]
    if fault == "marks as answers":
        judges = [f"{name}_correct" for name in judges]
    made = RandomStream(fault=fault, labels=labels)
    predicts = rng.random() < 0.6  # then the first column answers every item
    if predicts and fault != "grades only":
        made.settings["reading"] = {"prediction": judges[0]}
    if rng.random() < 0.15 and not odd and not fault:
        made.draw = rng.choice([10, 30])
        made.settings["labels"] = labels
    if labels in _OWN_WORDS and not fault and rng.random() < 0.7:
        made.settings |= {"labels": labels, "positive": labels[-1]}
    if labels == ["1", "2", "3", "4", "5"] and rng.random() < 0.3:
        made.settings["scale"] = {judge: [1, 5] for judge in judges}
    rows = _rows(rng, judges, made, odd=odd, predicts=predicts)
    made.batches = _batches(rng, rows, made)
    return made


def _rows(
    rng: random.Random, judges: list[str], made: RandomStream, *, odd: bool, predicts: bool
) -> list[dict[str, Any]]:
    """Return what is true of each row, in the order in which rows come."""
    fault, labels = made.fault, made.labels
    named = rng.choice(_ODD_ITEMS) if odd else "i{}"
    systems = rng.choice([[""], [""], ["old", "new"], ["s1", "s2", "s3"]])
    langs = ["en", "de", "fr"][: rng.randint(1, 3)]
    graded = rng.random() < 0.4
    hours = rng.choice([2, 2, 60])
    skill = {judge: rng.uniform(0.55, 0.97) for judge in judges}
    sizes = [1, 8, 20, 40, 80] if odd else [1, 8, 60, 120, 300]
    items = rng.choice(sizes[2:] if fault else sizes)
    rows: list[dict[str, Any]] = []
    for n in range(items):
        for system in systems:
            truth = rng.choice(labels)
            votes = {
                judge: truth if rng.random() < skill[judge] else rng.choice(labels)
                for judge in judges
                if rng.random() < 0.9 or (predicts and judge == judges[0])
            }
            name = {"item": named.format(n)} | ({"system": system} if system else {})
            row: dict[str, Any] = {
                "name": name,
                "votes": votes,
                "truth": truth,
                "label": None,
                "grades": {},
            }
            row["at"] = None if rng.random() < 0.1 else NOW - rng.randint(0, 3600 * hours)
            row["slice"] = {"lang": rng.choice(langs)} if rng.random() < 0.95 else {}
            if rng.random() < 0.4:
                row["label"] = truth
            if graded:
                row["grades"] = {"length": round(rng.gauss(100, 20), 2)}
            rows.append(row)
    rng.shuffle(rows)
    for place, row in enumerate(rows):
        _spoil(rng, row, fault, judges, labels, place / len(rows))
    return rows


def _spoil(
    rng: random.Random,
    row: dict[str, Any],
    fault: str,
    judges: list[str],
    labels: list[str],
    place: float,
) -> None:
    """Put the fault of a stream into one of its rows."""
    votes, first = row["votes"], judges[-1]
    if fault == "copied truth" and first in votes and row["label"] is not None:
        votes[first] = row["label"]
    elif fault == "block of labels":
        row["label"] = row["truth"] if place < 0.25 else None
    elif fault == "reversed codes" and row["label"] is not None:
        row["label"] = {"0": "1", "1": "0"}[row["truth"]]
    elif fault == "unrelated truth" and row["label"] is not None:
        row["label"] = rng.choice(labels)
    elif fault == "foreign words" and first in votes:
        votes[first] = f"le {votes[first]}"
    elif fault == "capitals":
        row["votes"] = {
            name: vote.title() if name == first else vote for name, vote in votes.items()
        }
    elif fault == "decimals" and first in votes:
        votes[first] += ".0"
    elif fault == "no-answer code" and first in votes and rng.random() < 0.15:
        votes[first] = "99"
    elif fault in ("words for no answer", "never true") and rng.random() < 0.2:
        words = ["NA", "n/a", "abstain"] if fault == "words for no answer" else ["tie", "error"]
        votes[first] = rng.choice(words)
    elif fault == "splits":
        row["slice"]["part"] = "train" if place < 0.5 else "test"
    elif fault == "all labelled":
        row["label"] = row["truth"]
    elif fault == "no label":
        row["label"] = None
    elif fault == "grades only":
        row["grades"] = {name: float(vote) for name, vote in votes.items()}
        row["votes"] = {}
    elif fault == "summary item" and place == 0:
        row["name"] = {**row["name"], "item": "mean"}
    elif fault == "one silent" and rng.random() < 0.8:
        votes.pop(first, None)


def _batches(
    rng: random.Random, rows: list[dict[str, Any]], made: RandomStream
) -> list[list[dict[str, Any]]]:
    """Return the records of the rows: whole or apart, repeated, late, corrected."""
    heads, plain, late = [], [], []
    for row in rows:
        name, votes = row["name"], row["votes"]
        head = {**name, "votes": votes, "slice": row["slice"]}
        head |= {"at": row["at"]} if row["at"] is not None else {}
        head |= {"grades": row["grades"]} if row["grades"] else {}
        heads.append({key: value for key, value in head.items() if value != {}})
        for judge, vote in votes.items():
            if rng.random() < 0.3:  # the same again, or apart
                plain.append({**name, "votes": {judge: vote}})
        if row["label"] is not None:
            late.append({**name, "label": {"value": row["label"], "by": "ann"}})
            late += _corrections(rng, row, made.labels) if not made.fault else []
        if not made.fault and votes and rng.random() < 0.05:
            judge = rng.choice(sorted(votes))
            vote = rng.choice([None, *made.labels])
            late.append({**name, "votes": {judge: vote}, "replace": True})
    rng.shuffle(plain)
    # Corrections must follow what they correct; everything else may come in any order.
    first = [*heads, *plain]
    if not made.fault and rng.random() < 0.5:
        rng.shuffle(first)
    ordered = [*first, *late]
    batches: list[list[dict[str, Any]]] = []
    while ordered:
        size = rng.choice([1, 7, 50, 400])
        batches.append(ordered[:size])
        ordered = ordered[size:]
    return batches


def _corrections(
    rng: random.Random, row: dict[str, Any], labels: list[str]
) -> list[dict[str, Any]]:
    """Return what people say of a row after its first label: another label, none, or a second."""
    name, found = row["name"], []
    if rng.random() < 0.2:
        value = rng.choice([None, *labels])
        found.append({**name, "label": {"value": value, "by": "ann"}, "replace": True})
    if rng.random() < 0.1:
        found.append({**name, "label": {"value": rng.choice(labels), "by": "bob"}})
        if rng.random() < 0.5:
            found.append({**name, "label": {"value": rng.choice(labels), "by": "cy"}})
    return found
