"""Alarms are listed and seen, and reach the team: signed, tried again, never at a private address."""

from __future__ import annotations

import hashlib
import hmac
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tallystick.errors import InputError
from tallystick.serve.alerts import AlertNote, post, raise_alert, target_of
from tallystick.serve.jobs import Service
from tests.serve.web import Clock, Web


def alarm(service: Service, name: str = "change", **more: Any) -> int:
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


class _Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((dict(self.headers), body))  # type: ignore[attr-defined]
        status = self.server.statuses.pop(0) if self.server.statuses else 200  # type: ignore[attr-defined]
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
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
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def hooked(web: Web, receiver: Any, **more: Any) -> str:
    url = f"http://127.0.0.1:{receiver.server_port}/in"
    made = web.put("/v1/webhook", json={"url": url, **more})
    assert made.status_code == 200, made.text
    secret: str = made.json()["secret"]
    return secret


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
    for _ in range(3 * 24 * 3):
        before = len(receiver.got)
        run_jobs(service, clock, 1200.0)
        if len(receiver.got) > before:
            times.append(clock.now)
        if len(times) == 6 and clock.now > times[-1] + 7200:
            break
    assert len(times) == 6
    assert 20 * 3600 < times[-1] - times[0] < 26 * 3600
    [delivery] = web.get("/v1/webhook").json()["deliveries"]
    assert (delivery["tries"], delivery["done"], delivery["next"]) == (6, None, None)
    assert delivery["last_error"] == "answered 500"
    # Each try is the same delivery, so that a receiver can tell.
    assert len({(headers["Tallystick-Delivery"], body) for headers, body in receiver.got}) == 1


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


def test_a_sample_can_be_sent_by_hand(
    service: Service, web: Web, clock: Clock, receiver: Any
) -> None:
    hooked(web, receiver)
    ident = web.post("/v1/webhook/test").json()["id"]
    run_jobs(service, clock)
    [delivery] = web.get("/v1/webhook").json()["deliveries"]
    assert (delivery["id"], delivery["last_status"]) == (ident, 200)
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


def answers(*addresses: str) -> Any:
    """A resolver that gives one answer after the other, as an attacker's DNS does."""
    given = list(addresses)

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        address = given.pop(0) if len(given) > 1 else given[0]
        return [(2, 1, 6, "", (address, port))]

    return resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.9",
        "169.254.169.254",
        "172.16.0.1",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
    ],
)
def test_internal_addresses_are_refused_unless_listed(address: str) -> None:
    with pytest.raises(InputError, match="internal address"):
        target_of("https://hooks.example/x", resolve=answers(address))
    listed = target_of(
        "https://hooks.example/x", allow=("Hooks.Example",), resolve=answers(address)
    )
    assert listed.address == address


def test_the_name_is_resolved_once_so_that_dns_cannot_change_its_mind() -> None:
    target = target_of("https://hooks.example/x", resolve=answers("93.184.216.34", "127.0.0.1"))
    assert target.address == "93.184.216.34"


def test_one_internal_address_among_public_ones_is_enough_to_refuse() -> None:
    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", port)), (2, 1, 6, "", ("10.0.0.1", port))]

    with pytest.raises(InputError, match=r"10\.0\.0\.1"):
        target_of("https://hooks.example/x", resolve=resolve)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://hooks.example/", "public https address"),
        ("ftp://hooks.example/", "public https address"),
        ("https:///x", "public https address"),
        ("https://user:pass@hooks.example/", "password"),
        ("https://hooks.example:99999/", "Port"),
        ("file:///etc/passwd", "public https address"),
    ],
)
def test_addresses_that_are_not_plain_https_are_refused(url: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        target_of(url, resolve=answers("93.184.216.34"))


def test_a_redirect_is_an_answer_and_is_not_followed(receiver: Any) -> None:
    receiver.statuses.append(302)
    target = target_of(f"http://127.0.0.1:{receiver.server_port}/moved?a=1", allow=("127.0.0.1",))
    assert post(target, b"{}", {}) == 302
    assert len(receiver.got) == 1
