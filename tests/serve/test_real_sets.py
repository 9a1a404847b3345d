"""Real tables, posted in random order, are answered by HTTP as by the command line."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from tallystick.serve.jobs import Service
from tests.serve.equal import differences
from tests.serve.queue.people import InProcess
from tests.serve.web import Web

Asked = tuple[tuple[str, dict[str, str]], ...]

SETS: dict[str, tuple[dict[str, Any], Asked]] = {
    "judge/bluebirds.csv.gz": (
        {"truth": "truth", "votes": 8},
        (("judge", {}), ("compare", {"models": "w00,w01,w02"}), ("judge", {"window": "last:60"})),
    ),
    "judge/llmbar_swap0.csv.gz": (
        {"truth": "truth", "votes": 6, "part": True},
        (("judge", {"by": "part"}), ("compare", {}), ("judge", {"slice": "part:Natural"})),
    ),
    "judge/mushroom_lr_judges.csv.gz": (
        {"truth": "truth", "votes": 7, "labelled": 0.03},
        (("judge", {}), ("judge", {"window": "last:3000"}), ("compare", {})),
    ),
    "score/arena_4systems.csv.gz": (
        {"truth": "oracle_label", "grades": ["judge_score"], "system": "system", "digits": 1},
        (("score", {}), ("score", {"label-draw": "unknown", "window": "24h"})),
    ),
    "bound/youtube.parquet": (
        {"truth": "y", "votes": 8, "slices": ["split"], "reading": {"prediction": ["any"]}},
        (("bound", {"missing": "-1"}), ("bound", {"missing": "-1", "by": "split"})),
    ),
    "compare/helm_lite_binary.parquet": (
        {"grades": 6, "slices": ["scenario"]},
        (("compare", {}), ("compare", {"by": "scenario"})),
    ),
}


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    with gzip.open(path, "rt") as lines:
        head = lines.readline().rstrip("\n").split(",")
    texts = pc.ConvertOptions(column_types={name: pa.string() for name in head})
    return list(pc.read_csv(path, convert_options=texts).to_pylist())


def records_of(rows: list[dict[str, Any]], how: dict[str, Any], rng: random.Random) -> list[Any]:
    """Return a table as records: the votes of a row together or apart, labels by themselves."""
    aside = {"item", "item_id", "id", "prompt_id", "text", "prompt", "response", "response_chars"}
    aside |= {how.get("truth"), how.get("system"), *how.get("slices", ())}
    free = [name for name in rows[0] if name not in aside]
    votes = free[: how.get("votes", 0)]
    graded = how.get("grades", 0)
    grades = free[:graded] if isinstance(graded, int) else graded
    records: list[dict[str, Any]] = []
    for k, row in enumerate(rows):
        ident = str(row.get("item", row.get("prompt_id", k)))
        name = {"item": ident} | ({"system": row[how["system"]]} if "system" in how else {})
        given = {one: str(row[one]) for one in votes if row[one] not in (None, "")}
        if "reading" in how:  # a classifier of keywords: spam if any rule says so
            given["any"] = str(int("1" in given.values()))
        slices = {one: str(row[one]) for one in how.get("slices", ())}
        if how.get("part"):
            slices["part"] = ident.rpartition("-")[0]
        head = {"slice": slices, "grades": {one: float(row[one]) for one in grades}}
        records.append({**name, **{key: value for key, value in head.items() if value}})
        together = rng.random() < 0.7
        parts = [given] if together else [{one: vote} for one, vote in given.items()]
        records += [{**name, "votes": part} for part in parts if part]
        truth = row.get(how.get("truth", ""))
        if truth not in (None, "") and rng.random() < how.get("labelled", 1.0):
            # A column has at most 64 labels, so grades that people gave are rounded.
            value = str(round(float(truth), how["digits"])) if "digits" in how else str(truth)
            records.append({**name, "label": {"value": value, "by": "file"}})
    rng.shuffle(records)
    return records


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("name", sorted(SETS))
def test_a_real_set_is_answered_as_by_the_command_line(
    name: str, web: Web, service: Service, shared_data: Path, tmp_path: Path
) -> None:
    service.worker = InProcess(service.store)
    how, questions = SETS[name]
    records = records_of(rows_of(shared_data / name), how, random.Random(name))
    assert web.put("/v1/streams/real", json={"reading": how.get("reading", {})}).status_code == 200
    for start in range(0, len(records), 2_000):
        batch = records[start : start + 2_000]
        assert web.post("/v1/streams/real/records", json=batch).status_code == 200
    for verb, query in questions:
        said = web.get(f"/v1/streams/real/results/{verb}", params=query).json()
        assert said["decision"] != "unknowable", said["verdict"]
        assert differences(web, "real", tmp_path, verb, query) == [], (verb, query)
