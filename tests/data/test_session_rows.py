"""What a session keeps beside its file gives the same session, and never hides a change."""

from __future__ import annotations

import csv
import os
import stat

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import session_rows
from tallystick.table.session_rows import rows_file
from tallystick.verbs.label import SessionSettings, begin, reopen

JUDGES = ("gpt", "claude", "llama")
N = 120


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(session_rows, "LEAST_ROWS", 10)


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
QUESTIONS = {
    "judge": {},
    "prevalence": {},
    "score": {},
    "difference": {"goal": "difference"},
    "best": {"goal": "best"},
}


def started(folder, kind="csv", question="score", origin="unknown", **table):
    path = WRITE[kind](folder / f"t.{kind}", **table)
    fields = QUESTIONS[question]
    asked = "score" if fields or question == "score" else question
    named = {"item": "question", "system": "system"} if asked == "score" else {}
    reading = {"judges": JUDGES, **named, **({"truth": "human"} if table else {})}
    if asked != "score":
        reading["rows_are_items"] = True
    return begin(
        folder / "s.label",
        [str(path)],
        question=asked,
        reading=reading,
        options=fields,
        settings=SessionSettings(origin=origin),
    )


def told(work):
    """Everything that a session says and shows after another batch."""
    asks = work.next(12)
    for ask in asks:
        if ask.number not in {one for one, _ in work.session.answers}:
            work.answer(ask.number, work.label_of("1"), reader="1")
    body = work.result().to_dict()
    body["reading"].pop("how")  # what was kept is not found again, but known
    return asks, work.shown(asks), body, work.task.notes


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("question", list(QUESTIONS))
def test_a_session_is_the_same_with_and_without_what_was_kept(
    tmp_path, monkeypatch, kind, question
):
    found = []
    for keep in (True, False):
        folder = tmp_path / str(keep)
        folder.mkdir()
        monkeypatch.chdir(folder)
        started(folder, kind, question).close()
        if not keep:
            rows_file(folder / "s.label").unlink()
        with reopen("s.label") as work:
            found.append(told(work))
            assert (work.cells._file is not None) is keep
    assert found[0] == found[1]


@pytest.mark.parametrize("origin", ["random", "unknown"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels_that_were_there_are_found_again(tmp_path, monkeypatch, kind, origin):
    monkeypatch.chdir(tmp_path)
    with started(tmp_path, kind, origin=origin, labelled=30) as work:
        first = work.result().to_dict()
        known = dict(work.in_table)
    with reopen(tmp_path / "s.label") as again:
        assert again.cells._file is not None
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


def test_a_table_that_was_written_again_unchanged_is_read_and_kept_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    started(tmp_path).close()
    before = rows_file("s.label").read_bytes()
    write_csv(tmp_path / "t.csv")
    with reopen("s.label") as work:
        assert work.cells._file is None
    assert rows_file("s.label").read_bytes() != before
    with reopen("s.label") as work:
        assert work.cells._file is not None


@pytest.mark.parametrize("damage", ["cut", "other", "gone"])
def test_a_damaged_file_of_rows_is_made_again(tmp_path, monkeypatch, damage):
    monkeypatch.chdir(tmp_path)
    started(tmp_path).close()
    path = rows_file("s.label")
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-100] if damage == "cut" else b"hello")
    with reopen("s.label", write=False) as work:  # reading changes nothing
        assert work.cells._file is None
    with reopen("s.label"):
        pass
    with reopen("s.label") as work:
        assert work.cells._file is not None


def test_rows_that_cannot_be_kept_are_no_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session_rows, "_write", full)
    with started(tmp_path) as work:
        assert len(work.next(4)) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.label", "t.csv"]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_only_the_owner_may_read_the_kept_cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    started(tmp_path).close()
    assert stat.S_IMODE(rows_file("s.label").stat().st_mode) == 0o600


def test_a_small_table_leaves_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session_rows, "LEAST_ROWS", 100_000)
    started(tmp_path).close()
    assert not rows_file("s.label").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_votes_with_too_many_patterns_are_read_again_from_the_table(tmp_path, monkeypatch, kind):
    from tallystick.table import data as row_memory

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(row_memory, "MOST_PATTERNS", 3)
    started(tmp_path, kind).close()
    assert not rows_file("s.label").exists()
    with reopen("s.label") as work:
        assert len(work.next(4)) == 4
