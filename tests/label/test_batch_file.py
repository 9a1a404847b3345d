"""Batches go out in draw order and blind, and come back partly filled."""

from __future__ import annotations

import csv

import pytest

from tallystick.errors import InputError
from tallystick.verbs.label.exchange import read_answers_of, write_answers, write_asks
from tests.label.conftest import WORDS


def _rows(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _write(path, rows):
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_partly_filled_batch_is_added_once(start, truth, tmp_path):
    path = tmp_path / "batch.csv"
    with start("judge", show=("text",)) as work:
        asks = work.next(6)
        write_asks(path, work, asks)
        rows = _rows(path)
        for row, ask in zip(rows[:3], asks, strict=False):
            row["answer"] = WORDS[truth[ask.row]].upper()
        rows[1]["note"] = "hard"
        rows[2]["answer"] = "skip"
        _write(path, rows)
        events = read_answers_of(path, work, reader="1")
        work.write(events)
        assert len(events) == 3
        assert work.standing().read.n == 3
        assert work.session.skipped(2)
        assert work.session.answers[1, "1"].note == "hard"
        assert read_answers_of(path, work, reader="1") == []  # the same file again adds nothing


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        (
            "answer",
            "passs",
            "row 2 of .*one of fail, pass, or skip, got 'passs'. Nothing was added",
        ),
        ("order", "9", "order is '9', and asks go from 1 to 3"),
        ("order", "x", "order is 'x'"),
        ("order", "1", "numbered again"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_added(start, tmp_path, column, value, said):
    path = tmp_path / "batch.csv"
    with start("judge") as work:
        write_asks(path, work, work.next(3))
        rows = _rows(path)
        for row in rows:
            row["answer"] = "pass"
        rows[1][column] = value
        _write(path, rows)
        with pytest.raises(InputError, match=said):
            read_answers_of(path, work, reader="1")
        assert not work.session.answers


def test_an_old_batch_corrects_nothing(start, tmp_path):
    path = tmp_path / "batch.csv"
    with start("judge") as work:
        write_asks(path, work, work.next(2))
        work.answer(0, "pass", reader="1")
        rows = _rows(path)
        rows[0]["answer"] = "fail"
        _write(path, rows)
        with pytest.raises(InputError, match=r"reader 1 said 'pass' before: only the list"):
            read_answers_of(path, work, reader="1")


def test_my_answers_are_listed_and_corrected_in_one_file(start, tmp_path):
    path = tmp_path / "mine.csv"
    with start("judge") as work:
        for ask in work.next(3):
            work.answer(ask.number, "pass", reader="1", note="sure" if ask.number else "")
        work.next(5)
        write_answers(path, work, reader="1")
        rows = _rows(path)
        assert [row["answer"] for row in rows] == ["pass"] * 3
        assert rows[1]["note"] == "sure"
        assert read_answers_of(path, work, reader="1") == []
        rows[2]["correction"] = "skip"
        _write(path, rows)
        [event] = read_answers_of(path, work, reader="1")
        work.write([event])
        assert work.session.skipped(2)


def test_cells_that_a_spreadsheet_rewrote_are_the_same(start, table, tmp_path):
    path = tmp_path / "batch.csv"
    with start("judge", show=("id", "text")) as work:
        write_asks(path, work, work.next(2))
        rows = _rows(path)
        rows[0] |= {"text": rows[0]["text"].replace(" ", "  ") + " ", "answer": "pass"}
        _write(path, rows)
        assert len(read_answers_of(path, work, reader="1")) == 1


def test_a_batch_that_a_spreadsheet_saved_is_read(start, tmp_path):
    """Semicolons, a byte order mark, other order, more columns, other case, numbers rewritten."""
    path, saved = tmp_path / "batch.csv", tmp_path / "saved.csv"
    with start("judge") as work:
        asks = work.next(4)
        write_asks(path, work, asks)
        rows = _rows(path)[::-1]
        for row, answer in zip(rows, ("PASS", "Fail ", " skip", "pass"), strict=True):
            row["answer"] = answer
            row["checked by"] = "Zoë"
        with saved.open("w", encoding="utf-8-sig", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0].keys(), delimiter=";")
            writer.writeheader()
            writer.writerows(rows)
        work.write(read_answers_of(saved, work, reader="1"))
        said = [work.session.answers[ask.number, "1"] for ask in asks]
        assert [one.label for one in said] == ["pass", None, "fail", "pass"]
        assert not read_answers_of(saved, work, reader="1")
