"""Alarms are listed, seen, and shown only to those who may see their stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.jobs import Service
from tests.serve.web import Web


def alarm(service: Service, name: str, **more: Any) -> int:
    note = AlertNote(name=name, what=name, proves="p", does_not_prove="d", **more)
    return service.writer.do(lambda tx: raise_alert(tx, note, now=service.clock()))


def test_alarms_are_listed_newest_first_until_somebody_saw_them(service: Service, web: Web) -> None:
    first, second = alarm(service, "change"), alarm(service, "silent")
    listed = web.get("/v1/alerts").json()["alerts"]
    assert [one["id"] for one in listed] == [second, first]
    seen = web.post(f"/v1/alerts/{first}/seen").json()
    assert seen["seen"] == service.clock()
    left = web.get("/v1/alerts?unseen=true").json()["alerts"]
    assert [one["id"] for one in left] == [second]


def test_a_key_sees_alarms_of_its_streams_only(
    service: Service, web: Web, far: Callable[..., Web]
) -> None:
    for name in ("mine", "other"):
        web.put(f"/v1/streams/{name}", json={})
    ids = dict(service.read(lambda reader: reader.all("select name, id from stream")))
    alarm(service, "change", stream=ids["mine"])
    alarm(service, "change", stream=ids["other"])
    order = {"role": "read", "name": "r", "streams": ["mine"]}
    key = web.post("/v1/keys", json=order).json()["key"]
    assert [one["stream"] for one in far(key).get("/v1/alerts").json()["alerts"]] == ["mine"]
    assert far().get("/v1/alerts").status_code == 401
    assert far(key).post("/v1/alerts/1/seen").status_code == 403


def test_an_alarm_that_does_not_exist_is_not_found(web: Web) -> None:
    for name in ("7", "x", "9" * 30):
        assert web.post(f"/v1/alerts/{name}/seen").status_code == 404
    assert web.get("/v1/alerts?limit=many").status_code == 422
