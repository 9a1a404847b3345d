"""Label Studio, Argilla and Prodigy give back the session that was sent to them."""

from __future__ import annotations

import json

import pytest

from tallystick.errors import FileError, InputError
from tallystick.verbs.label import SessionSettings, begin
from tallystick.verbs.label.exchange import read_answers_of, write_asks
from tests.label.conftest import WORDS


def _added(path, work, *, reader):
    events = read_answers_of(path, work, reader=reader)
    work.write(events)
    return len(events)


def _said(work):
    return {key: (one.label, one.skipped, one.note) for key, one in work.session.answers.items()}


def _answered(start, truth, name):
    work = start("prevalence", name=name, readers=2, seed=4)
    asks = work.next(30)
    for k, ask in enumerate(asks):
        label = None if k % 7 == 3 else WORDS[truth[ask.row]]
        work.answer(ask.number, label, reader="1", note="odd, “quoted”\n2" if k == 5 else "")
    for ask in work.session.open_asks("2")[:9]:
        work.answer(ask.number, "pass", reader="2")
    return work


def _exported(path, work, tool):
    """Write what a tool exports of the tasks that it was given and of what people answered."""
    write_asks(path, work, work.session.asks, tool=tool)
    text = path.read_text()
    tasks = json.loads(text) if text[0] == "[" else list(map(json.loads, text.splitlines()))
    made = []
    for ask, task in zip(work.session.asks, tasks, strict=True):
        said = work.session.said(ask.number)
        if tool == "label-studio":
            task["annotations"] = [
                {
                    "completed_by": one.reader,
                    "was_cancelled": one.skipped,
                    "result": [
                        {"from_name": "answer", "value": {"choices": [one.label]}},
                        {"from_name": "note", "value": {"text": [one.note]}},
                    ][one.skipped :],
                }
                for one in said
            ]
        if tool == "argilla":
            status = ("submitted", "discarded")
            task["responses"] = {
                "label": [
                    {
                        "value": one.label,
                        "user_id": one.reader,
                        "status": status[one.skipped],
                        "note": one.note,
                    }
                    for one in said
                ]
            }
        if tool != "prodigy":
            made.append(task)
            continue
        for one in said:
            chosen = {"answer": "accept", "accept": [one.label]}
            own = {"answer": "ignore"} if one.skipped else chosen
            made.append({**task, **own, "_annotator_id": one.reader, "note": one.note})
    if tool == "prodigy":
        path.write_text("".join(json.dumps(one) + "\n" for one in made))
    else:
        path.write_text(json.dumps(made))


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "prodigy"])
def test_the_round_trip_gives_an_equal_session(start, truth, tmp_path, tool):
    path = tmp_path / "export.json"
    with _answered(start, truth, "a.label") as work:
        _exported(path, work, tool)
        sent, asks, result = _said(work), work.session.asks, work.result()
    with start("prevalence", name="b.label", readers=2, seed=4) as other:
        other.next(30)
        assert other.session.asks == asks
        assert _added(path, other, reader="1") == len(sent)
        assert _said(other) == sent
        again = other.result()
        assert _added(path, other, reader="1") == 0  # twice adds nothing
        other.answer(0, "fail" if sent[0, "1"][0] == "pass" else "pass", reader="1")
        assert _added(path, other, reader="1") == 1  # a tool exports what stands there now
        assert _said(other) == sent
    assert (again.interval, again.anytime_interval) == (result.interval, result.anytime_interval)


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "prodigy"])
def test_what_another_session_exported_is_refused(start, truth, tmp_path, tool):
    path = tmp_path / "export.json"
    with _answered(start, truth, "a.label") as work:
        _exported(path, work, tool)
    with start("prevalence", name="b.label", readers=2, seed=5) as other:
        other.next(30)
        with pytest.raises(InputError, match="belongs to another session than"):
            _added(path, other, reader="1")
        assert not other.session.answers


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "prodigy"])
def test_tasks_go_out_blind_and_in_draw_order(start, tmp_path, tool):
    path = tmp_path / "tasks.json"
    with start("judge", show=("text",)) as work:
        asks = work.next(5)
        write_asks(path, work, asks, tool=tool)
    text = path.read_text()
    records = json.loads(text) if text[0] == "[" else list(map(json.loads, text.splitlines()))
    holder = {"label-studio": "data", "argilla": "fields"}.get(tool)
    shown = [(record[holder] if holder else record)["text"] for record in records]
    assert [one.removeprefix("text:\n") for one in shown] == [f"text {ask.row}" for ask in asks]
    assert "gpt" not in path.read_text()


_SAID = {"from_name": "answer", "to_name": "t0", "type": "choices", "id": "x"}
_SMALL = {"text": "text 1", "annotator": 1, "annotation_id": 4, "lead_time": 2.5}
_EXPORTS = {
    "label-studio": [
        {
            "id": 77,
            "data": {"text": "text 1", "tallystick_ask": 1},
            "annotations": [
                {
                    "id": 5,
                    "completed_by": {"id": 2, "email": "ann@example.org"},
                    "was_cancelled": False,
                    "lead_time": 3.2,
                    "result": [{**_SAID, "value": {"choices": ["pass"]}}],
                }
            ],
            "predictions": [],
        }
    ],
    # JSON-MIN: data and answers side by side, one entry per annotation.
    "label-studio, small": [
        {**_SMALL, "id": 1, "tallystick_ask": 1, "answer": "pass"},
        {**_SMALL, "id": 2, "tallystick_ask": 2, "answer": {"choices": ["fail"]}},
        {**_SMALL, "id": 3, "tallystick_ask": 3},
    ],
    "argilla 2 and 1": [
        {
            "id": "ask-1",
            "fields": {"text": "text 1"},
            "metadata": {"tallystick_ask": 1},
            "responses": {"label": [{"value": "pass", "user_id": "b2c"}]},
        },
        {
            "fields": {"text": "text 2"},
            "metadata": {"tallystick_ask": 2},
            "responses": [
                {"user_id": "b2c", "status": "submitted", "values": {"label": {"value": "fail"}}}
            ],
        },
        {
            "metadata": {"tallystick_ask": 3},
            "responses": [{"status": "draft", "values": {"label": {"value": "fail"}}}],
        },
    ],
}


@pytest.mark.parametrize("tool", _EXPORTS)
def test_an_export_as_a_tool_writes_it_is_read(start, tmp_path, tool):
    path = tmp_path / "export.json"
    records = _EXPORTS[tool]
    path.write_text(json.dumps(records))
    labels = [("pass",), ("fail",), ()][: len(records)]
    with start("judge") as work:
        work.next(3)
        assert _added(path, work, reader="1") == sum(map(len, labels))
        assert [work.session.labels(k) for k in range(len(records))] == labels


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"data": {}}, "has no 'tallystick_ask'"),
        ({"data": {"tallystick_ask": 9}}, "asks go from 1 to 1"),
        (
            {
                "data": {"tallystick_ask": 1},
                "annotations": [{"result": [{"value": {"choices": ["a", "b"]}}]}],
            },
            "the answers a, b, and one is needed",
        ),
        (
            {
                "data": {"tallystick_ask": 1},
                "annotations": [{"result": [{"value": {"choices": ["pass"]}}]}] * 2,
            },
            "answers ask 1 again, after entry 1",
        ),
    ],
)
def test_records_that_cannot_be_used_are_refused(start, tmp_path, record, said):
    path = tmp_path / "records.json"
    path.write_text(json.dumps([record]))
    with start("judge") as work:
        work.next(1)
        with pytest.raises(InputError, match=said):
            _added(path, work, reader="1")
        path.write_text("{")
        with pytest.raises(FileError, match="damaged JSON file"):
            _added(path, work, reader="1")


def test_lines_as_prodigy_writes_them_are_read(start, tmp_path):
    path = tmp_path / "out.jsonl"
    task = {"text": "text 1", "_input_hash": 1, "_task_hash": 2, "_view_id": "choice"}
    lines = [
        {**task, "meta": {"tallystick_ask": 1}, "accept": ["pass"], "answer": "accept"},
        {**task, "meta": {"tallystick_ask": 2}, "accept": [], "answer": "ignore"},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with start("judge") as work:
        work.next(2)
        assert _added(path, work, reader="1") == 2
        assert work.session.labels(0) == ("pass",)
        assert work.session.skipped(1)


def _of_people(work, *people):
    """Return an export of Label Studio with one answer per person and task."""
    return [
        {
            "id": 900 + ask.number,
            "data": {"tallystick_ask": ask.number + 1},
            "annotations": [
                {"completed_by": who, "result": [{"value": {"choices": [label]}}]}
                for who, label in people
            ],
        }
        for ask in work.session.asks
    ]


def test_more_annotators_than_readers_are_refused_by_name(start, tmp_path):
    path = tmp_path / "export.json"
    with start("prevalence") as work:
        work.next(4)
        path.write_text(json.dumps(_of_people(work, (7, "pass"), (8, "fail"))))
        with pytest.raises(InputError, match=r"answers of 2 people \(7, 8\).*has 1 reader:"):
            _added(path, work, reader="1")
        assert not work.session.answers


def test_of_several_controls_the_one_called_answer_counts(start, tmp_path):
    path = tmp_path / "export.json"
    parts = [
        {"from_name": "answer", "value": {"choices": ["pass"]}},
        {"from_name": "topic", "value": {"choices": ["fail"]}},
    ]
    record = {"data": {"tallystick_ask": 1}, "annotations": [{"result": parts}]}
    with start("judge") as work:
        work.next(1)
        path.write_text(json.dumps([record]))
        assert _added(path, work, reader="1") == 1
        assert work.session.labels(0) == ("pass",)
        parts[0]["from_name"] = "verdict"
        path.write_text(json.dumps([record]))
        with pytest.raises(InputError, match="answers pass, fail, and one is needed"):
            _added(path, work, reader="1")


@pytest.mark.parametrize("tool", ["label-studio", "argilla", "prodigy"])
def test_a_column_called_answer_is_no_answer(tmp_path, tool):
    """JSON-MIN holds data and answers side by side: the text of a model must not become a label."""
    table = {
        "answer": [f"pass the salt {k}" for k in range(40)],
        "gpt": ["pass", "fail", "fail", "pass"] * 10,
    }
    path = tmp_path / "tasks.json"
    reading = {"judges": ("gpt",)}
    settings = SessionSettings(show=("answer",))
    session = tmp_path / "s.label"
    with begin(session, table, question="prevalence", reading=reading, settings=settings) as work:
        write_asks(path, work, work.next(4), tool=tool)
        records = json.loads(path.read_text()) if tool == "label-studio" else []
        assert all("answer" not in one["data"] for one in records)
        path.write_text(json.dumps([one["data"] for one in records]) if records else "[]")
        assert _added(path, work, reader="1") == 0
