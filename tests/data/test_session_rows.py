"""A session that is opened again is the same, and a table that has changed is refused."""

from __future__ import annotations

import csv
import os

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.label import SessionSettings, begin, reopen

JUDGES = ("gpt", "claude", "llama")
N = 120


def rows(n=N, labelled=0):
    rng = np.random.default_rng(3)
    truth = rng.random(2 * n) < 0.7
    for i in range(2 * n):
        votes = np.where(rng.random(3) < 0.85, truth[i], not truth[i]).astype(int)
        human = int(truth[i]) if i < labelled else ""
        yield [f"q{i // 2}", "ab"[i % 2], f"text, {i}", *votes.tolist(), human]


def write_csv(path, **options):
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", "system", "answer text", *JUDGES, "human"])
        writer.writerows(rows(**options))
    return path


def write_parquet(path, **options):
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ["question", "system", "answer text", *JUDGES, "human"]
    columns = dict(zip(names, map(list, zip(*rows(**options), strict=True)), strict=True))
    columns["human"] = [None if one == "" else one for one in columns["human"]]
    pq.write_table(pa.table(columns), path)
    return path


WRITE = {"csv": write_csv, "parquet": write_parquet}
QUESTIONS = {"judge": {}, "score": {}, "best": {"goal": "best"}}


def started(folder, kind="csv", question="score", origin="unknown", **table):
    path = WRITE[kind](folder / f"t.{kind}", **table)
    fields = QUESTIONS[question]
    asked = "score" if fields or question == "score" else question
    named = {"item": "question", "system": "system"} if asked == "score" else {}
    reading = {"judges": JUDGES, **named, **({"truth": "human"} if table else {})}
    return begin(
        folder / "s.label",
        [str(path)],
        question=asked,
        reading=reading,
        options=fields,
        settings=SessionSettings(origin=origin),
    )


@pytest.mark.parametrize(
    ("kind", "origin", "question"),
    [
        ("csv", "random", "score"),
        ("csv", "unknown", "judge"),
        ("parquet", "random", "best"),
        ("parquet", "unknown", "score"),
    ],
)
def test_a_session_that_is_opened_again_says_the_same(
    tmp_path, monkeypatch, kind, origin, question
):
    monkeypatch.chdir(tmp_path)
    with started(tmp_path, kind, question, origin=origin, labelled=30) as work:
        first = work.result().to_dict()
        known = dict(work.in_table)
    with reopen(tmp_path / "s.label") as again:
        assert again.result().to_dict() == first
        assert again.in_table == known


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_that_changed_is_refused(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    started(tmp_path, kind).close()
    WRITE[kind](tmp_path / f"t.{kind}", n=N + 1)
    with pytest.raises(InputError, match="other data"):
        reopen("s.label")


def test_a_vote_that_was_changed_in_place_with_its_time_set_back_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    started(tmp_path).close()
    path = tmp_path / "t.csv"
    held = path.stat()
    with path.open("r+b") as stream:
        line = len(stream.readline()) + len(stream.readline())
        stream.seek(line - len(b",\r\n") - 1)
        vote = stream.read(1)
        stream.seek(-1, 1)
        stream.write(b"0" if vote == b"1" else b"1")
    os.utime(path, ns=(held.st_atime_ns, held.st_mtime_ns))
    with pytest.raises(InputError, match="other data"):
        reopen("s.label")
