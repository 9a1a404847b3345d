"""Streams by HTTP."""

from __future__ import annotations

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
    assert gone.json()["errors"][0]["way_out"] == "make it first: PUT /v1/streams/qa"


def test_wrong_settings_name_the_field(web: Web) -> None:
    wrong = web.put("/v1/streams/qa", json={"windw": 3})
    assert wrong.status_code == 422
    assert "windw" in wrong.json()["detail"]
    assert web.put("/v1/streams/qa", content=b"{").status_code == 400
    reserved = web.put("/v1/streams/qa", json={"columns": {"label": "vote"}})
    assert reserved.json()["errors"][0]["column"] == "label"
