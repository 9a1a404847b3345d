"""Alarms reach the team: signed, tried again, and never to a private address by accident."""

from __future__ import annotations

import hashlib
import hmac
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.jobs import Service
from tests.serve.web import Clock, Web


class _Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((dict(self.headers), body))  # type: ignore[attr-defined]
        status = self.server.statuses.pop(0) if self.server.statuses else 200  # type: ignore[attr-defined]
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def receiver(service: Service) -> Iterator[Any]:
    """A receiver on loopback, which the operator listed."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    server.got, server.statuses = [], []  # type: ignore[attr-defined]
    service.config = replace(service.config, allow_hosts=("127.0.0.1",))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def hooked(web: Web, receiver: Any, **more: Any) -> str:
    url = f"http://127.0.0.1:{receiver.server_port}/in"
    made = web.put("/v1/webhook", json={"url": url, **more})
    assert made.status_code == 200, made.text
    secret: str = made.json()["secret"]
    return secret


def alarm(service: Service, **more: Any) -> int:
    note = AlertNote(name="change", what="w", proves="p", does_not_prove="d", **more)
    return service.writer.do(lambda tx: raise_alert(tx, note, now=service.clock()))


def run_jobs(service: Service, clock: Clock, seconds: float = 6.0) -> None:
    service.jobs.plan()
    clock.now += seconds
    service.jobs.run_due()


def test_an_alarm_is_sent_once_with_a_signature_that_the_receiver_can_check(
    service: Service, web: Web, clock: Clock, receiver: Any
) -> None:
    secret = hooked(web, receiver)
    ident = alarm(service, detail={"window": 3})
    run_jobs(service, clock)
    run_jobs(service, clock)
    [(headers, body)] = receiver.got
    at, _, signed = headers["Tallystick-Signature"].partition(",v1=")
    stamp = at.removeprefix("t=")
    expected = hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert signed == expected
    assert abs(int(stamp) - clock.now) < 60
    told = json.loads(body)
    assert (told["id"], told["name"], told["detail"]) == (ident, "change", {"window": 3})
    [delivery] = web.get("/v1/webhook").json()["deliveries"]
    assert (delivery["tries"], delivery["last_status"], delivery["next"]) == (1, 200, None)


def test_a_receiver_that_fails_is_tried_six_times_over_a_day_and_no_more(
    service: Service, web: Web, clock: Clock, receiver: Any
) -> None:
    hooked(web, receiver)
    alarm(service)
    receiver.statuses = [500] * 10
    times = []
    for _ in range(3 * 24 * 12):
        before = len(receiver.got)
        run_jobs(service, clock, 300.0)
        if len(receiver.got) > before:
            times.append(clock.now)
        if len(times) == 6 and clock.now > times[-1] + 7200:
            break
    assert len(times) == 6
    assert 20 * 3600 < times[-1] - times[0] < 26 * 3600
    [delivery] = web.get("/v1/webhook").json()["deliveries"]
    assert (delivery["tries"], delivery["done"], delivery["next"]) == (6, None, None)
    assert delivery["last_error"] == "answered 500"


def test_a_receiver_that_comes_back_gets_the_alarm(
    service: Service, web: Web, clock: Clock, receiver: Any
) -> None:
    hooked(web, receiver)
    alarm(service)
    receiver.statuses = [503]
    run_jobs(service, clock)
    run_jobs(service, clock, 61.0)
    assert len(receiver.got) == 2
    assert receiver.got[0][1] == receiver.got[1][1]
    assert receiver.got[0][0]["Tallystick-Delivery"] == receiver.got[1][0]["Tallystick-Delivery"]


def test_an_earlier_hook_hears_only_of_its_streams(
    service: Service, web: Web, clock: Clock, receiver: Any
) -> None:
    # An earlier version knew several addresses, each for some streams: they go on.
    web.put("/v1/streams/mine", json={})
    web.put("/v1/streams/other", json={})
    hooked(web, receiver)
    service.writer.do(lambda tx: tx.run("update hook set streams = ?", ('["mine"]',)))
    ids = dict(service.read(lambda reader: reader.all("select name, id from stream")))
    alarm(service, stream=ids["other"])
    alarm(service, stream=ids["mine"])
    run_jobs(service, clock)
    assert [json.loads(body)["stream"] for _, body in receiver.got] == ["mine"]


def test_the_secret_is_shown_once_and_stays(web: Web, receiver: Any) -> None:
    assert hooked(web, receiver)
    other = f"http://127.0.0.1:{receiver.server_port}/other"
    assert web.put("/v1/webhook", json={"url": other}).json() == {"url": other, "secret": None}
    assert web.get("/v1/webhook").json()["urls"] == [other]
    assert "secret" not in web.get("/v1/webhook").text


def test_a_private_address_is_refused_with_the_way_out(web: Web) -> None:
    for url in ("https://127.0.0.1/x", "https://169.254.169.254/latest", "http://example.com/"):
        refused = web.put("/v1/webhook", json={"url": url})
        assert refused.status_code == 422
        assert "--allow-host" in refused.json()["detail"]


def test_a_sample_can_be_sent_by_hand(web: Web, receiver: Any) -> None:
    assert web.post("/v1/webhook/test").status_code == 404
    hooked(web, receiver)
    assert web.post("/v1/webhook/test").json()["last_status"] == 200
    assert json.loads(receiver.got[0][1])["name"] == "test"


def test_a_muted_stream_keeps_its_alarms_and_sends_none(
    service: Service, web: Web, clock: Clock, receiver: Any
) -> None:
    hooked(web, receiver)
    alarm(service, muted=True)
    run_jobs(service, clock)
    assert receiver.got == []
    [kept] = web.get("/v1/alerts").json()["alerts"]
    assert kept["seen_by"] == "muted"


def test_a_deleted_hook_hears_nothing(
    service: Service, web: Web, clock: Clock, receiver: Any
) -> None:
    hooked(web, receiver)
    alarm(service)
    assert web.delete("/v1/webhook").json() == {"deleted": 1}
    run_jobs(service, clock)
    assert receiver.got == []
