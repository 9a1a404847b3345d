"""Streams by HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.serve.answer import answer_stream
from tallystick.serve.auth import Span
from tallystick.serve.client import check_stream
from tallystick.serve.jobs import Service
from tests.serve.postgres import both
from tests.serve.queue.people import InProcess
from tests.serve.web import Web


def test_a_stream_is_made_shown_changed_and_deleted(web: Web) -> None:
    made = web.put("/v1/streams/qa", json={})
    assert made.status_code == 200, made.text
    assert made.json()["rows"] == 0
    assert web.put("/v1/streams/qa", json={"window": 50}).json()["settings"] == {"window": 50}
    assert [one["name"] for one in web.get("/v1/streams").json()["streams"]] == ["qa"]
    assert web.delete("/v1/streams/qa").status_code == 200
    gone = web.get("/v1/streams/qa")
    assert gone.status_code == 404
    assert gone.json()["errors"][0]["way_out"].startswith(
        "an admin makes it: PUT /v1/streams/qa with"
    )


def test_a_new_stream_of_an_old_name_has_nothing_of_the_old_one(web: Web, service: Service) -> None:
    service.worker = InProcess(service.store)
    url = "/v1/streams/qa"
    etags = set()
    for n in (20, 30):
        web.put(url, json={})
        votes = [{"item": k, "votes": {"a": "x", "b": "y" if k % 3 else "x"}} for k in range(n)]
        web.post(f"{url}/records", json=votes)
        answer = web.get(f"{url}/results/judge")
        assert answer.json()["n_items"] == n
        etags.add(answer.headers["etag"])
        web.delete(url)
    assert len(etags) == 2


def test_settings_that_are_not_named_stay(web: Web) -> None:
    url = "/v1/streams/kept"
    web.put(url, json={"labels": ["pass", "fail"], "question": "Is it right?", "window": 50})
    after = web.put(url, json={"retention_days": 90}).json()["settings"]
    assert after == {
        "labels": ["pass", "fail"],
        "question": "Is it right?",
        "window": 50,
        "retention_days": 90.0,
    }
    assert web.put(url, json={"labels": [], "retention_days": None}).json()["settings"] == {
        "question": "Is it right?",
        "window": 50,
    }
    assert web.put(url, json={"scale": {"len": [0, 1]}}).status_code == 200
    both = web.put(url, json={"columns": {"len": "vote"}})
    assert both.status_code == 422  # it contradicts what stays


def test_labels_of_the_second_version_have_no_order_until_they_are_set_again(
    web: Web, service: Service
) -> None:
    web.put("/v1/streams/old", json={"labels": ["spam", "ham"]})
    service.writer.do(
        lambda tx: tx.run("update stream set settings = ?", ('{"labels": ["spam", "ham"]}',))
    )
    service.forget()

    def command() -> str:
        return str(answer_stream(service.store, "old", "score", {}, Span()).command)

    assert not web.get("/v1/streams/old").json()["settings"]["labels_ranked"]
    assert "--labels" not in command()
    web.put("/v1/streams/old", json={"window": 50})
    assert "--labels" not in command()
    web.put("/v1/streams/old", json={"labels": ["spam", "ham"]})
    assert "--labels=spam,ham" in command()


URL = "/v1/streams/qa/records"


@pytest.fixture(autouse=True)
def stream(web: Web) -> None:
    assert web.put("/v1/streams/qa", json={}).status_code == 200


def votes(web: Web, *values: Any) -> list[Any]:
    """Post one vote per item, in a request each, and return what is kept."""
    for n, value in enumerate(values):
        answer = web.post(URL, json=[{"item": str(n), "votes": {"gpt": value}}])
        assert answer.status_code == 200, answer.text
    lines = web.get("/v1/streams/qa/rows?format=csv").text.splitlines()
    return [line.split(",")[1] for line in lines[1:]]


@pytest.mark.parametrize(
    ("posted", "kept"),
    [
        (("1", "1.0", 1, "0"), ["1", "1", "1", "0"]),
        (("1.0", 1, "1"), ["1.0", "1.0", "1.0"]),
        ((True, "True", "TRUE", False), ["true", "true", "true", "false"]),
        (("Pass", "pass", "PASS"), ["Pass", "Pass", "Pass"]),
    ],
)
def test_another_spelling_is_kept_as_the_label_that_the_column_has(
    web: Web, service: Service, posted: tuple[Any, ...], kept: list[str]
) -> None:
    assert votes(web, *posted) == kept
    again = web.post(URL, json=[{"item": "0", "votes": {"gpt": posted[1]}}])
    assert again.json()["same"] == 1  # and it is the same value of the register
    assert check_stream(service.store, "qa").problems == ()


@pytest.mark.parametrize(
    ("first", "second"), [("1.1", "1.10"), ("7", "007"), ("1", True), ("1", "true")]
)
def test_a_spelling_that_may_be_another_label_is_refused(
    web: Web, first: str, second: str | bool
) -> None:
    votes(web, first)
    answer = web.post(URL, json=[{"item": "9", "votes": {"gpt": second}}])
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert (error["line"], error["column"]) == (1, "gpt")
    assert f"send {first!r}" in error["way_out"]


def test_a_stream_spells_as_its_settings_do(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={"labels": ["Pass", "Fail"]})
    assert votes(web, "pass", "FAIL", "Pass") == ["Pass", "Fail", "Pass"]
    assert check_stream(service.store, "qa").problems == ()


@both
def test_two_people_who_spell_a_label_differently_agree(web: Web, service: Service) -> None:
    labels = [("ann", "pass"), ("bob", "Pass")]
    for person, value in labels:
        record = {"item": "a", "label": {"value": value, "by": person}}
        assert web.post(URL, json=[record]).status_code == 200
    assert '"label": "pass"' in web.get("/v1/streams/qa/rows").text
    again = web.post(URL, json=[{"item": "a", "label": {"value": "PASS", "by": "ann"}}])
    assert again.json()["same"] == 1
    assert check_stream(service.store, "qa").problems == ()


@both
def test_spellings_are_known_after_the_batch_that_brought_them_is_dropped(
    web: Web, service: Service
) -> None:
    assert votes(web, "1", "1.0") == ["1", "1"]
    service.writer.do(
        lambda transaction: transaction.run("update batch set body = null where seq = 1")
    )
    assert check_stream(service.store, "qa").problems == ()


@pytest.mark.parametrize("gap", ["NaN", "nan", "<NA>", "null", "#N/A"])
def test_what_a_program_writes_into_an_empty_cell_is_no_vote(
    web: Web, service: Service, gap: str
) -> None:
    assert votes(web, "x", gap) == ["x", ""]
    later = web.post(URL, json=[{"item": "1", "votes": {"gpt": "y"}}])
    assert later.json()["changed"] == 1  # nothing stood there
    back = web.post(URL, json=[{"item": "1", "votes": {"gpt": gap}, "replace": True}])
    assert back.json()["changed"] == 1  # taken back, as by null
    label = web.post(URL, json=[{"item": "1", "label": {"value": gap}}])
    assert label.status_code == 422
    assert "leave it out" in label.text
    assert check_stream(service.store, "qa").problems == ()


def test_none_is_asked_about_and_a_listed_one_is_a_label(web: Web, service: Service) -> None:
    asked = web.post(URL, json=[{"item": "0", "votes": {"gpt": "None"}}])
    assert asked.status_code == 422
    assert '"labels"' in asked.json()["errors"][0]["way_out"]
    web.put("/v1/streams/qa", json={"labels": ["None", "mild", "severe"]})
    # The other words for no answer are no vote beside a list that does not have them.
    assert votes(web, "None", "mild", "severe", "abstain") == ["None", "mild", "severe", ""]
    assert check_stream(service.store, "qa").problems == ()
    records = [
        {"item": str(n), "votes": {"claude": word}, "label": {"value": word}}
        for n, word in enumerate(("None", "mild", "severe", "None"))
    ]
    assert web.post(URL, json=records).status_code == 200
    found = answer_stream(service.store, "qa", "judge", {}, Span())
    assert found.result is not None, found.why
    assert "--labels=None,mild,severe" in found.command


def test_columns_that_spell_differently_are_read_as_the_command_line_reads_them(
    web: Web, service: Service
) -> None:
    records = [
        {"item": str(n), "votes": {"a": str(n % 2), "b": f"{n % 2 if n % 5 else 1}.0"}}
        for n in range(40)
    ]
    assert web.post(URL, json=records).status_code == 200
    plain = answer_stream(service.store, "qa", "judge", {}, Span())
    assert plain.result is not None, plain.why
    assert plain.result.n_items == 40  # 1 and 1.0 are one label

    web.post(URL, json=[{"item": "x", "votes": {"c": "true"}}])
    asked = answer_stream(service.store, "qa", "judge", {}, Span())
    assert asked.result is None
    assert "coerce" in asked.why
    found = answer_stream(service.store, "qa", "judge", {"coerce": ["true"]}, Span())
    assert found.result is not None, found.why
