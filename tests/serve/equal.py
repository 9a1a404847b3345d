"""Random streams, and the proof that HTTP and the command line say the same of them."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tallystick.cli.app import app
from tests.serve.web import Web

ASIDE = ("as_of", "command", "source", "label_doubts")


_PLAIN = (["pass", "fail"], ["0", "1"], ["1", "0"], ["a", "b", "c"])
_ODD = (
    ["ja, oder?", "nein"],
    ["=1", "-1"],
    ["TRUE", "FALSE"],
    ["1.0", "0.0"],
    ["\u00c4", "\u00df", '"'],
    ["yes ", "no"],
)
_ODD_ITEMS = ("i{}", "\u00fc{}", '"{}"', "a,{}", "={}", "{} x", "{}", "-{}", "a\t{}", "{}.0")


def random_records(
    seed: int, *, odd: bool = False
) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """Return settings and batches: any order, repeats, late and corrected labels.

    *odd* streams are smaller, with names and labels that files and databases like to get wrong.
    """
    rng = random.Random(seed)
    judges = ["gpt", "claude", "llama", "rule 4", "qwen"][: rng.randint(2, 5)]
    labels = rng.choice(_ODD if odd else _PLAIN)
    named = rng.choice(_ODD_ITEMS) if odd else "i{}"
    predicts = rng.random() < 0.6  # then the first column answers every item
    systems = rng.choice([[""], [""], ["old", "new"], ["s1", "s2", "s3"]])
    langs = ["en", "de", "fr"][: rng.randint(1, 3)]
    graded = rng.random() < 0.4
    skill = {judge: rng.uniform(0.55, 0.97) for judge in judges}
    records: list[dict[str, Any]] = []
    for n in range(rng.choice([1, 8, 20, 40, 80] if odd else [1, 8, 60, 120, 300])):
        for system in systems:
            truth = rng.choice(labels)
            item = named.format(n)
            name = {"item": item, "system": system} if system else {"item": item}
            at = 1_799_990_000 + rng.randint(0, 9_000)
            votes = {
                judge: truth if rng.random() < skill[judge] else rng.choice(labels)
                for judge in judges
                if rng.random() < 0.9 or (predicts and judge == judges[0])
            }
            first: dict[str, Any] = {**name, "at": at, "slice": {"lang": rng.choice(langs)}}
            if graded:
                first["grades"] = {"length": round(rng.gauss(100, 20), 2)}
            records.append({**first, "votes": votes})
            for judge, vote in votes.items():
                if rng.random() < 0.3:  # the same again, or apart
                    records.append({**name, "votes": {judge: vote}})
            if rng.random() < 0.4:
                late = {**name, "label": {"value": truth, "by": "ann"}}
                records.append(late)
                if rng.random() < 0.2:
                    other = rng.choice(labels)
                    records.append(
                        {**name, "label": {"value": other, "by": "ann"}, "replace": True}
                    )
                if rng.random() < 0.1:
                    records.append({**name, "label": {"value": rng.choice(labels), "by": "bob"}})
    heads = [one for one in records if "at" in one]
    rest = [one for one in records if "at" not in one]
    rng.shuffle(heads)
    # Corrections must follow what they correct; everything else may come in any order.
    plain = [one for one in rest if "label" not in one]
    rng.shuffle(plain)
    said = [one for one in rest if "label" in one]
    ordered = [*heads, *plain, *said]
    batches: list[list[dict[str, Any]]] = []
    while ordered:
        size = rng.choice([1, 7, 50, 400])
        batches.append(ordered[:size])
        ordered = ordered[size:]
    settings: dict[str, Any] = {}
    if predicts:
        settings["roles"] = {"prediction": [judges[0]]}
    return settings, batches


def post(web: Web, stream: str, seed: int, *, odd: bool = False) -> None:
    """Post a random stream; some batches twice, some with a key."""
    settings, batches = random_records(seed, odd=odd)
    rng = random.Random(seed + 1)
    assert web.put(f"/v1/streams/{stream}", json=settings).status_code == 200
    for number, batch in enumerate(batches):
        headers = {"Idempotency-Key": f"b{number}"} if rng.random() < 0.5 else {}
        times = 2 if headers and rng.random() < 0.3 else 1
        for _ in range(times):
            answer = web.post(f"/v1/streams/{stream}/records", json=batch, headers=headers)
            assert answer.status_code == 200, answer.text


def differences(
    web: Web,
    stream: str,
    folder: Path,
    verb: str,
    query: dict[str, str],
    *,
    other: Web | None = None,
) -> list[str]:
    """Return the fields in which HTTP and the command line differ about a stream.

    With *other*, a service on another database, its answer must be the same bytes, too. Cells that
    begin like a formula are quoted in CSV, so such streams are read as NDJSON.
    """
    span = {name: value for name, value in query.items() if name in ("window", "slice", "labels")}
    answer = web.get(f"/v1/streams/{stream}/results/{verb}", params=query)
    assert answer.status_code == 200, answer.text
    by_http = answer.json()
    if other is not None:
        there = other.get(f"/v1/streams/{stream}/results/{verb}", params=query)
        if there.content != answer.content:
            return [f"databases: {answer.text:.300} / {there.text:.300}"]
    rows = web.get(f"/v1/streams/{stream}/rows", params={**span, "format": "csv"})
    path = folder / "rows.csv"
    if b"'=" in rows.content or b"'-" in rows.content:
        rows = web.get(f"/v1/streams/{stream}/rows", params=span)
        path = folder / "rows.ndjson"
    path.write_bytes(rows.content)
    words = shlex.split(by_http["command"])
    assert words[:3] == ["tallystick", verb, "rows.csv"]
    ran = CliRunner().invoke(app, [verb, str(path), *words[3:], "--json"])
    if ran.exit_code != 0:
        # What the command line refuses, a stream cannot know.
        return [] if by_http["decision"] == "unknowable" else [f"refused: {ran.exception}"]
    by_hand = json.loads(ran.stdout.replace(str(path), "rows.csv"))
    # What the service knows of its labels, and adds, no file can show.
    for name, part in (("warnings", "warning"), ("assumptions", "assumption")):
        own = [doubt[part] for doubt in by_http.get("label_doubts", ())]
        assert by_http[name][len(by_http[name]) - len(own) :] == own
        by_http[name] = by_http[name][: len(by_http[name]) - len(own)]
    names = by_http.keys() | by_hand.keys()
    return [
        f"{name}: {by_http.get(name)!r:.300} / {by_hand.get(name)!r:.300}"
        for name in sorted(names)
        if name not in ASIDE and by_http.get(name) != by_hand.get(name)
    ]


QUERIES: tuple[tuple[str, dict[str, str]], ...] = (
    ("judge", {}),
    ("judge", {"by": "lang", "alpha": "0.1"}),
    ("judge", {"slice": "lang:en"}),
    ("judge", {"window": "last:40"}),
    ("judge", {"method": "majority", "window": "2027-01-15T06:00Z..2027-01-15T08:00Z"}),
    ("score", {}),
    ("score", {"label-draw": "unknown", "slice": "lang:en"}),
    ("compare", {}),
    ("compare", {"by": "lang"}),
    ("bound", {}),
    ("bound", {"window": "last:30"}),
)
"""Questions that are asked of every stream."""
