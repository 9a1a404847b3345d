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

ASIDE = ("as_of", "command", "source")


def random_records(seed: int) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """Return settings and batches: any order, repeats, late and corrected labels."""
    rng = random.Random(seed)
    judges = ["gpt", "claude", "llama", "rule 4", "qwen"][: rng.randint(2, 5)]
    labels = rng.choice([["pass", "fail"], ["0", "1"], ["1", "0"], ["a", "b", "c"]])
    predicts = rng.random() < 0.6  # then the first column answers every item
    systems = rng.choice([[""], [""], ["old", "new"], ["s1", "s2", "s3"]])
    langs = ["en", "de", "fr"][: rng.randint(1, 3)]
    graded = rng.random() < 0.4
    skill = {judge: rng.uniform(0.55, 0.97) for judge in judges}
    records: list[dict[str, Any]] = []
    for n in range(rng.choice([1, 8, 60, 120, 300])):
        for system in systems:
            truth = rng.choice(labels)
            name = {"item": f"i{n}", "system": system} if system else {"item": f"i{n}"}
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


def post(web: Web, stream: str, seed: int) -> None:
    """Post a random stream; some batches twice, some with a key."""
    settings, batches = random_records(seed)
    rng = random.Random(seed + 1)
    assert web.put(f"/v1/streams/{stream}", json=settings).status_code == 200
    for number, batch in enumerate(batches):
        headers = {"Idempotency-Key": f"b{number}"} if rng.random() < 0.5 else {}
        times = 2 if headers and rng.random() < 0.3 else 1
        for _ in range(times):
            answer = web.post(f"/v1/streams/{stream}/records", json=batch, headers=headers)
            assert answer.status_code == 200, answer.text


def differences(web: Web, stream: str, folder: Path, verb: str, query: dict[str, str]) -> list[str]:
    """Return the fields in which HTTP and the command line differ about a stream."""
    span = {name: value for name, value in query.items() if name in ("window", "slice", "labels")}
    answer = web.get(f"/v1/streams/{stream}/results/{verb}", params=query)
    assert answer.status_code == 200, answer.text
    by_http = answer.json()
    rows = web.get(f"/v1/streams/{stream}/rows", params={**span, "format": "csv"})
    path = folder / "rows.csv"
    path.write_bytes(rows.content)
    words = shlex.split(by_http["command"])
    assert words[:3] == ["tallystick", verb, "rows.csv"]
    ran = CliRunner().invoke(app, [verb, str(path), *words[3:], "--json"])
    if ran.exit_code != 0:
        # What the command line refuses, a stream cannot know.
        return [] if by_http["decision"] == "unknowable" else [f"refused: {ran.exception}"]
    by_hand = json.loads(ran.stdout.replace(str(path), "rows.csv"))
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
