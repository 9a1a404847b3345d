"""The proof that HTTP and the command line say the same of a stream."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.errors import InputError, TallystickError
from tallystick.serve.answer import stream_question, why_not
from tallystick.serve.auth import LABEL_DRAWS, span_of
from tallystick.serve.database import Store
from tallystick.serve.results import label_way
from tallystick.table import Tally
from tests.serve.random_streams import NOW, RandomStream, random_stream
from tests.serve.web import Web

ASIDE = ("as_of", "command", "source", "label_doubts")
GATE_CODES = (10, 11)
"""What the command line ends with where a gate fails, or is undecided."""


def post(web: Web, stream: str, seed: int, *, odd: bool = False) -> RandomStream:
    """Post a random stream; some batches twice, some with a key. Draws are labelled."""
    made = random_stream(seed, odd=odd)
    rng = random.Random(seed + 1)
    assert web.put(f"/v1/streams/{stream}", json=made.settings).status_code == 200
    for number, batch in enumerate(made.batches):
        headers = {"Idempotency-Key": f"b{number}"} if rng.random() < 0.5 else {}
        times = 2 if headers and rng.random() < 0.3 else 1
        for _ in range(times):
            answer = web.post(f"/v1/streams/{stream}/records", json=batch, headers=headers)
            assert answer.status_code == 200, answer.text
    if made.draw:
        label_draw(web, stream, made, rng)
    return made


def label_draw(web: Web, stream: str, made: RandomStream, rng: random.Random) -> None:
    """Draw rows and label most of them, as a person at the queue does."""
    drawn = web.post(f"/v1/streams/{stream}/frames", json={"budget": made.draw, "overlap": 0.0})
    if drawn.status_code == 422:  # every row is labelled already
        return
    assert drawn.status_code == 201, drawn.text
    for _ in range(made.draw - 2):
        turn = web.get(f"/v1/streams/{stream}/next")
        if turn.status_code != 200:
            return
        said = {"ask": turn.json()["ask"], "value": rng.choice(made.labels)}
        assert web.post(f"/v1/streams/{stream}/labels", json=said).status_code == 200


def differences(
    web: Web,
    stream: str,
    folder: Path,
    verb: str,
    query: dict[str, str],
) -> list[str]:
    """Return the fields in which HTTP and the command line differ about a stream.

    Cells that begin like a formula are quoted in CSV, so such streams are read as NDJSON.
    """
    answer = web.get(f"/v1/streams/{stream}/results/{verb}", params=query)
    if answer.status_code == 422:
        # A column that the stream does not have; the request itself is refused.
        return [] if "no column" in answer.text else [f"422: {answer.text:.300}"]
    assert answer.status_code == 200, answer.text
    by_http = answer.json()
    span = {name: value for name, value in query.items() if name in ("window", "slice")}
    draw = query.get("label-draw", "")
    # After a draw, rows come with the labels that a verb can use.
    span["label-draw"] = draw if draw in LABEL_DRAWS else label_way(verb)
    path = exported(web, stream, folder, span)
    words = shlex.split(by_http["command"])
    assert words[:3] == ["tallystick", verb, "rows.csv"]
    ran = CliRunner().invoke(app, [verb, str(path), *words[3:], "--json"])
    if ran.exit_code not in (0, *GATE_CODES):
        # What the command line refuses, a stream cannot know, and says so in the same words.
        assert isinstance(ran.exception, TallystickError), ran.exception
        said = why_not(ran.exception, stream).replace(str(path), f"stream {stream}")
        if by_http["decision"] != "unknowable":
            return [f"refused: {said:.300}"]
        why = by_http["unknown"]["result"]
        return [] if _alike(why, said) else [f"why: {why:.300} / {said:.300}"]
    by_hand = json.loads(ran.stdout.replace(str(path), f"stream {stream}"))
    # What the service knows of its labels, and adds, no file can show.
    if any(doubt["grave"] for doubt in by_http.get("label_doubts", ())):
        by_http["decision"] = by_hand["decision"]
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


def unlike(one: Store, two: Store, stream: str, verb: str, query: dict[str, str]) -> list[str]:
    """Return in what the inputs of an answer differ between two databases: counts, rows, command.

    The answer is a function of them, so it need not be computed twice to be the same.
    """
    draw = query.get("label-draw", "")
    draw = draw if draw in LABEL_DRAWS else ""
    own = ("window", "slice", *(["label-draw"] if draw else []))
    given = {name: [value] for name, value in query.items() if name not in own}
    slices = [query["slice"]] if "slice" in query else []
    span = span_of(query.get("window", ""), slices, now=NOW, label_draw=draw)
    try:
        first, second = (stream_question(store, stream, verb, given, span) for store in (one, two))
    except InputError:
        return []  # a column that the stream does not have
    parts = [
        ("counts or rows", _plain(first.source), _plain(second.source)),
        ("beside", first.beside, second.beside),
        ("command", first.command, second.command),
    ]
    return [f"databases, {what}: {a!r:.200} / {b!r:.200}" for what, a, b in parts if a != b]


def _plain(source: Any) -> Any:
    """Return a table as rows without their numbers, which two databases give in their own way."""
    if source is None or isinstance(source, Tally):
        return source
    kept = [name for name in source.column_names if name != "row"]
    return source.select(kept).to_pylist()


def exported(web: Web, stream: str, folder: Path, span: dict[str, str]) -> Path:
    """Write the rows of a stream to a file, as whoever runs the command line would."""
    rows = web.get(f"/v1/streams/{stream}/rows", params={**span, "format": "csv"})
    path = folder / "rows.csv"
    if re.search(rb"'[-=+@\t]", rows.content):
        rows = web.get(f"/v1/streams/{stream}/rows", params=span)
        path = folder / "rows.ndjson"
    path.write_bytes(rows.content)
    return path


def _alike(why: str, said: str) -> bool:
    """Say whether a refusal has the same words: counts do not know in which row a label stands."""
    if why.startswith("no row is in this window"):
        return said.endswith("has a header but no rows: nothing to count")
    place = re.compile(r"(, )?row [\d,]+ of stream \w+( \(line \d+\))?(, )?")
    return place.sub("", why) == place.sub("", said)


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
    ("judge", {"window": "24h", "alpha": ".1"}),
    ("judge", {"judges": "gpt,claude", "missing": "99,NA"}),
    ("judge", {"by": "system"}),
    ("judge", {"method": "dawid-skene", "slice": "lang:de", "window": "7d"}),
    ("score", {"by": "lang"}),
    ("score", {"window": "24h", "alpha": "0.2"}),
    ("score", {"label-draw": "all", "window": "last:50"}),
    ("score", {"gate": "score(new) > 0.5"}),
    ("compare", {"window": "24h"}),
    ("compare", {"gate": "gpt >= claude - 0.05"}),
    ("compare", {"stop-early": "true", "window": "last:100"}),
    ("compare", {"by": "system", "alpha": "0.2", "missing": "NA"}),
    ("compare", {"slice": "lang:fr", "models": "gpt,claude"}),
    ("bound", {"by": "lang"}),
    ("bound", {"label-model": "majority", "window": "..2027-01-15T07:00Z"}),
    ("bound", {"slice": "lang:en", "alpha": "0.1", "metric": "accuracy"}),
    ("judge", {"coerce": "true"}),
    ("judge", {"label-draw": "all"}),
    ("score", {"label-draw": "all"}),
    ("compare", {"label-draw": "even"}),
)
"""Questions that are asked of streams, in turn."""
