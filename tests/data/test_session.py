"""A session's state is what its lines say, read from the first to the last."""

from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.table.session import Session, SessionFile, SessionHead, open_session, packed
from tallystick.table.session_rows import fingerprint, session_labels

TABLE = {"id": ["a", "b", "c", "d"], "gpt": ["x", "y", "x", "y"]}


def _batch(before, units):
    return {
        "batch": before,
        "spread": [1.0],
        "draws": [[unit, 0, 0.5] for unit in units],
        "asks": [[k, unit, TABLE["id"][unit], None] for k, unit in enumerate(units)],
        "twice": [0],
    }


def _answer(ask, label, reader="1"):
    kind = {"skip": ask} if label is None else {"answer": ask, "label": label}
    return {**kind, "reader": reader}


def _session(*events, readers=("1",)):
    head = SessionHead(question="judge", readers=readers)
    return Session(path="s.label", head=head).then(events)


def test_reading_in_pieces_is_reading_at_once():
    events = [_batch(0, [2, 0]), _answer(0, "x"), _batch(2, [3]), _answer(1, None)]
    events += [{"undo": 0, "reader": "1"}, _answer(0, "y")]
    whole = _session(*events)
    pieces = _session()
    for event in events:
        pieces = pieces.then([event])
    assert pieces == whole
    assert [ask.draw for ask in whole.asks] == [0, 1, 2]
    assert whole.readable() == 2
    assert whole.labels(0) == ("y",)
    assert whole.skipped(1)
    assert session_labels(whole) == {2: "y"}


def test_an_answer_behind_an_open_one_is_not_read():
    session = _session(_batch(0, [2, 0, 1]), _answer(2, "x"), _answer(0, "x"))
    assert session.readable() == 1
    assert session_labels(session) == {2: "x"}


def test_two_readers_agree_differ_and_are_settled_by_a_third():
    readers = ("1", "2", "3")
    session = _session(_batch(0, [2, 0]), _answer(0, "x"), _answer(1, "x"), readers=readers)
    assert [ask.number for ask in session.open_asks("2")] == [0]
    session = session.then([_answer(0, "y", "2")])
    assert session.disagree(0)
    assert session.labels(0) == ("x", "y")
    assert session_labels(session) == {0: "x"}  # row 2 has no single label
    assert [ask.number for ask in session.open_asks("3")] == [0]
    session = session.then([_answer(0, "y", "3")])
    assert session.labels(0) == ("y",)
    with pytest.raises(InputError, match="there are 1, 2, 3"):
        session.open_asks("9")


def _written(tmp_path, columns=("gpt",)):
    import numpy as np

    with read(TABLE, judges=("gpt",)) as data:
        mark = fingerprint(data.table, columns)
    head = SessionHead(question="judge", columns=columns, fingerprint=mark)
    path = tmp_path / "s.label"
    with SessionFile(path, head.to_event()) as file:
        file.append([{"strata": packed(np.zeros(4, int))}, _batch(0, [2, 0]), _answer(0, "x")])
    return path


def test_the_door_reads_a_session_as_truth(tmp_path):
    path = _written(tmp_path)
    with read(TABLE, judges=("gpt",), truth_file=str(path)) as data:
        assert data.roles.truth == "label"
        assert data.cells("label")["label"] == [None, None, "x", None]
        assert data.session == open_session(path)
        assert any("1 labels of a labelling session" in note for note in data.notes)


def test_labels_that_the_table_holds_stay(tmp_path):
    path = _written(tmp_path)
    table = {**TABLE, "gold": ["y", None, None, None]}
    with read(table, judges=("gpt",), truth="gold", truth_file=str(path)) as data:
        assert data.cells("gold")["gold"] == ["y", None, "x", None]


def test_another_table_is_refused(tmp_path):
    path = _written(tmp_path)
    with pytest.raises(InputError, match="have changed since"):
        read({**TABLE, "gpt": ["x"] * 4}, judges=("gpt",), truth_file=str(path))
    with pytest.raises(InputError, match="have changed since"):
        read({"other": ["x"] * 4}, judges=("other",), truth_file=str(path))
