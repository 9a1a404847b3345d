"""Posting records: all or nothing, once, registers, limits."""

from __future__ import annotations

import gzip
import json
import threading
from typing import Any

import httpx
import pytest

from tallystick.serve.jobs import Service
from tests.serve.web import Web

URL = "/v1/streams/qa/records"


@pytest.fixture(autouse=True)
def stream(web: Web) -> None:
    assert web.put("/v1/streams/qa", json={}).status_code == 200


def lines(*records: dict[str, Any]) -> bytes:
    return b"\n".join(json.dumps(one).encode() for one in records)


def recount(service: Service) -> tuple[Any, Any]:
    """Return the kept counts, and the same from the rows."""
    with service.store.read() as reader:
        kept = reader.all(
            "select stream, bucket, slice, pattern, n from tally where n <> 0 order by 1, 2, 3, 4"
        )
        counted = reader.all(
            "select stream, bucket, slice, pattern, count(*) from rows group by 1, 2, 3, 4"
            " order by 1, 2, 3, 4"
        )
    return kept, counted


def test_a_batch_is_kept_and_counted(web: Web, service: Service) -> None:
    answer = web.post(
        URL,
        content=lines(
            {"item": "a", "votes": {"gpt": "pass", "claude": "fail"}},
            {"item": "b", "votes": {"gpt": "pass"}, "slice": {"lang": "en"}},
            {"item": 3, "system": "new", "grades": {"len": 12.5}},
        ),
    )
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "accepted": 3,
        "new": 3,
        "changed": 0,
        "same": 0,
        "seq": 1,
        "again": False,
    }
    kept, counted = recount(service)
    assert kept == counted
    assert len(kept) == 3
    assert web.get("/v1/streams/qa").json()["rows"] == 3


def test_a_byte_order_mark_is_no_part_of_the_body(web: Web) -> None:
    answer = web.post(URL, content=b'\xef\xbb\xbf{"item": "a"}\n{"item": "b"}')
    assert answer.json()["new"] == 2


def test_an_array_is_read_like_lines(web: Web) -> None:
    answer = web.post(URL, json=[{"item": "a", "votes": {"gpt": 1}}, {"item": "a"}])
    assert answer.json()["new"] == 1
    assert answer.json()["same"] == 1


def test_the_same_value_again_changes_nothing_and_another_is_refused(
    web: Web, service: Service
) -> None:
    first = lines({"item": "a", "votes": {"gpt": "pass"}})
    assert web.post(URL, content=first).json()["new"] == 1
    assert web.post(URL, content=first).json()["same"] == 1
    other = web.post(URL, content=lines({"item": "b"}, {"item": "a", "votes": {"gpt": "fail"}}))
    assert other.status_code == 409
    [error] = other.json()["errors"]
    assert (error["line"], error["column"], error["value"]) == (2, "gpt", "fail")
    assert "replace" in error["way_out"]
    assert web.get("/v1/streams/qa").json()["rows"] == 1  # nothing of the batch was kept
    changed = web.post(URL, json=[{"item": "a", "votes": {"gpt": "fail"}, "replace": True}])
    assert changed.json()["changed"] == 1
    kept, counted = recount(service)
    assert kept == counted


@pytest.mark.parametrize("part", ["grades", "slice"])
def test_grades_and_slices_are_registers_too(web: Web, service: Service, part: str) -> None:
    one, two = ({"x": 1.5}, {"x": 2.5}) if part == "grades" else ({"x": "u"}, {"x": "v"})
    web.post(URL, json=[{"item": "a", part: one}])
    assert web.post(URL, json=[{"item": "a", part: one}]).json()["same"] == 1
    assert web.post(URL, json=[{"item": "a", part: two}]).status_code == 409
    assert web.post(URL, json=[{"item": "a", part: two, "replace": True}]).json()["changed"] == 1
    kept, counted = recount(service)
    assert kept == counted


def test_the_same_key_is_answered_again_and_another_body_is_refused(web: Web) -> None:
    body = lines({"item": "a", "votes": {"gpt": "pass"}})
    first = web.post(URL, content=body, headers={"Idempotency-Key": "k1"}).json()
    second = web.post(URL, content=body, headers={"Idempotency-Key": "k1"}).json()
    assert second == {**first, "again": True}
    other = web.post(URL, content=lines({"item": "b"}), headers={"Idempotency-Key": "k1"})
    assert other.status_code == 409
    assert web.get("/v1/streams/qa").json()["rows"] == 1


def test_the_same_key_twice_at_once_has_one_effect(web: Web) -> None:
    body = lines(*({"item": f"i{n}", "votes": {"gpt": "pass"}} for n in range(50)))
    answers: list[dict[str, Any]] = []

    def post() -> None:
        answers.append(web.post(URL, content=body, headers={"Idempotency-Key": "k"}).json())

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one["again"] for one in answers) == [False] + [True] * 7
    assert web.get("/v1/streams/qa").json()["rows"] == 50


def test_labels_come_late_and_are_corrected(web: Web, service: Service) -> None:
    web.post(URL, json=[{"item": "a", "votes": {"gpt": "pass"}}])

    def truth() -> Any:
        with service.store.read() as reader:
            [(codes,)] = reader.all("select p.codes from rows r join pattern p on p.id = r.pattern")
            words = [
                reader.one(
                    "select label from label_code c join stream_column s on s.id = c.stream_column"
                    " where c.id = ? and s.kind = 'label'",
                    (int.from_bytes(codes[i : i + 4], "little"),),
                )
                for i in range(0, len(codes), 4)
            ]
        return next((word[0] for word in words if word), None)

    def say(value: Any, by: str, **more: Any) -> int:
        record = {"item": "a", "label": {"value": value, "by": by}, **more}
        return web.post(URL, json=[record]).status_code

    assert truth() is None
    assert say("pass", "ann") == 200
    assert truth() == "pass"
    assert say("fail", "ann") == 409
    assert say("fail", "bob") == 200
    assert truth() is None  # two who disagree give no truth
    assert say("fail", "eve") == 200
    assert truth() == "fail"
    assert say("fail", "ann", replace=True) == 200
    assert say(None, "bob", replace=True) == 200
    assert truth() == "fail"
    with service.store.read() as reader:
        [(n, current)] = reader.all("select count(*), sum(current) from label")
    assert (n, current) == (5, 3)  # never overwritten
    kept, counted = recount(service)
    assert kept == counted


def test_votes_can_be_taken_back(web: Web, service: Service) -> None:
    web.post(URL, json=[{"item": "a", "votes": {"gpt": "pass", "llama": "fail"}}])
    assert web.post(URL, json=[{"item": "a", "votes": {"gpt": None}}]).json()["same"] == 1
    gone = web.post(URL, json=[{"item": "a", "votes": {"gpt": None}, "replace": True}])
    assert gone.json()["changed"] == 1
    kept, counted = recount(service)
    assert kept == counted


def test_limits_of_a_request(web: Web) -> None:
    many = b'{"item":"a"}\n' * 10_001
    assert web.post(URL, content=many).status_code == 413
    assert web.post(URL, content=b" " * (8 * 1024 * 1024 + 1)).status_code == 413
    labels = [{"item": str(n), "votes": {"gpt": f"label {n}"}} for n in range(65)]
    assert web.post(URL, json=labels).status_code == 422
    columns = [{"item": "a", "votes": {f"judge {n}": "x" for n in range(257)}}]
    assert web.post(URL, json=columns).status_code == 422


def test_gzip_is_limited_after_unpacking(web: Web) -> None:
    def status(body: bytes, coding: str = "gzip") -> int:
        return web.post(URL, content=body, headers={"Content-Encoding": coding}).status_code

    good = gzip.compress(b'{"item": "a"}')
    assert status(good) == 200
    assert status(gzip.compress(b" " * (20 * 1024 * 1024), 9)) == 413
    assert [status(one) for one in (b"not gzip", good[:-9], good + good, b"")] == [400] * 4
    assert status(good, "br") == 415


@pytest.mark.parametrize("shape", ["lines", "list"])
def test_a_record_has_64_kb_beside_what_a_labeller_sees(web: Web, shape: str) -> None:
    votes = {f"{'judge' * 40}{n}": "x" * 100 for n in range(250)}
    long = {"item": "a", "votes": votes}
    shown = {"item": "b", "votes": {"gpt": "x"}, "show": "w" * 200_000}

    def sent(*records: dict[str, Any]) -> httpx.Response:
        return web.post(URL, content=lines(*records) if shape == "lines" else json.dumps(records))

    assert sent(shown, shown).status_code == 200
    answer = sent(shown, long)
    assert answer.status_code == 413
    [error] = answer.json()["errors"]
    assert (error["line"], error["way_out"]) == (2, "use 1 to 65,536 bytes")


def test_a_closed_stream_names_the_nearest_column(web: Web) -> None:
    web.put("/v1/streams/qa", json={"columns": {"claude": "vote"}, "labels": ["pass", "fail"]})
    wrong = web.post(URL, json=[{"item": "a", "votes": {"cluade": "pass"}}])
    assert wrong.status_code == 422
    assert "'claude'" in wrong.json()["errors"][0]["way_out"]
    wrong = web.post(URL, json=[{"item": "a", "votes": {"claude": "pas"}}])
    assert "'pass'" in wrong.json()["errors"][0]["way_out"]
    assert web.post(URL, json=[{"item": "a", "votes": {"claude": "pass"}}]).status_code == 200


def test_when_too_much_waits_the_answer_is_503_with_a_time(
    web: Web, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    held = service.writer.submit(lambda _: gate.wait(30))  # the writer is busy
    monkeypatch.setattr("tallystick.serve.writer.MOST_WAITING", 1000)
    try:
        answer = web.post(URL, json=[{"item": "a"}])
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
    finally:
        gate.set()
    held.result(30)
    assert web.post(URL, json=[{"item": "a"}]).status_code == 200
