"""Streams by HTTP."""

from __future__ import annotations

from tallystick.serve.answer import answer_stream
from tallystick.serve.auth import Span
from tallystick.serve.jobs import Service
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
        "An admin makes it: PUT /v1/streams/qa with"
    )


def test_wrong_settings_name_the_field(web: Web) -> None:
    wrong = web.put("/v1/streams/qa", json={"windw": 3})
    assert wrong.status_code == 422
    assert "windw" in wrong.json()["detail"]
    assert web.put("/v1/streams/qa", content=b"{").status_code == 400
    reserved = web.put("/v1/streams/qa", json={"columns": {"label": "vote"}})
    assert reserved.json()["errors"][0]["column"] == "label"


def test_a_new_stream_of_an_old_name_has_nothing_of_the_old_one(web: Web) -> None:
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
