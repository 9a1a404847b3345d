"""The security list, item by item: who comes in, and who does not."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.serve import auth
from tallystick.serve.auth import Principal, make_key, make_session
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config, Service
from tests.serve.web import Clock, Web

Far = Callable[..., Web]


def key(service: Service, role: str, **given: object) -> str:
    made: str = service.writer.do(
        lambda transaction: make_key(transaction, role=role, name=role, **given)  # type: ignore[arg-type]
    )
    return made


def test_without_a_key_only_this_machine_comes_in(web: Web, far: Far) -> None:
    assert web.get("/v1/streams").status_code == 200
    refused = far().get("/v1/streams")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "tallystick serve key" in refused.json()["errors"][0]["way_out"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},  # a foreign name that resolves to 127.0.0.1
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "[::1"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Forwarded-Server": "tally.example"},
        {"Forwarded": "for=127.0.0.1"},
        {"X-Real-IP": "127.0.0.1"},
        {"Via": "1.1 proxy"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
    ],
)
def test_a_rebound_name_or_a_proxy_is_not_this_machine(web: Web, headers: dict[str, str]) -> None:
    assert web.get("/v1/streams", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
    ],
)
def test_a_page_of_another_site_cannot_write_here(web: Web, headers: dict[str, str]) -> None:
    assert web.put("/v1/streams/qa", json={}, headers=headers).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8765"}
    assert web.put("/v1/streams/qa", json={}, headers=own).status_code == 200


def test_each_role_does_its_own_and_no_more(web: Web, far: Far, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    requests = {
        "read": ("GET", "/v1/streams/qa", b""),
        "write": ("POST", "/v1/streams/qa/records", b'{"item": "a"}'),
        "admin": ("PUT", "/v1/streams/qa", b"{}"),
    }
    for role in ("read", "write", "label", "admin"):
        client = far(key(service, role))
        for needed, (method, path, body) in requests.items():
            status = client.request(method, path, content=body).status_code
            assert status == (200 if role in (needed, "admin") else 403), (role, needed)


def test_a_key_for_one_stream_does_not_open_another(web: Web, far: Far, service: Service) -> None:
    for name in ("mine", "yours"):
        web.put(f"/v1/streams/{name}", json={})
    client = far(key(service, "read", streams=("mine",)))
    assert client.get("/v1/streams/mine").status_code == 200
    assert client.get("/v1/streams/yours").status_code == 403
    assert [one["name"] for one in client.get("/v1/streams").json()["streams"]] == ["mine"]


def test_a_key_has_256_bits_and_only_its_digest_is_kept(service: Service) -> None:
    made = key(service, "read")
    _, ident, secret = made.split("_", 2)
    assert len(secret) == 43  # 256 bits in base64
    [(kept,)] = service.read(lambda r: r.all("select sha256 from key where id = ?", (ident,)))
    assert bytes(kept) == hashlib.sha256(secret.encode()).digest()


def test_wrong_expired_and_revoked_keys_are_refused(
    web: Web, far: Far, service: Service, clock: Clock
) -> None:
    good = key(service, "read")
    ident = good.split("_")[1]
    for wrong in (good[:-1] + ("a" if good[-1] != "a" else "b"), f"ts_{ident}_", "ts_x_y", "ts_"):
        assert far(wrong).get("/v1/streams").status_code == 401
    assert far().get("/v1/streams", headers={"Authorization": "Basic eDp5"}).status_code == 401
    short = key(service, "read", expires=clock.now + 10)
    assert far(short).get("/v1/streams").status_code == 200
    clock.now += 20
    service.door.forget()
    assert far(short).get("/v1/streams").status_code == 401
    assert far(good).get("/v1/streams").status_code == 200
    assert web.delete(f"/v1/keys/{ident}").status_code == 200
    assert far(good).get("/v1/streams").status_code == 401


def test_digests_are_compared_in_constant_time(
    far: Far, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[int, int]] = []
    real = auth.hmac.compare_digest

    def watched(a: bytes, b: bytes) -> bool:
        compared.append((len(a), len(b)))
        return real(a, b)

    monkeypatch.setattr(auth.hmac, "compare_digest", watched)
    far("ts_nobody_secret").get("/v1/streams")  # an id that does not exist costs the same
    far(key(service, "read")).get("/v1/streams")
    assert compared == [(32, 32), (32, 32)]


def test_no_key_is_ever_logged_or_taken_from_the_address(
    far: Far, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    made = key(service, "admin")
    with caplog.at_level(logging.DEBUG):
        assert far(made).get("/v1/streams").status_code == 200
        assert far(made + "x").get("/v1/streams").status_code == 401
    assert made.split("_", 2)[2] not in caplog.text
    assert far().get(f"/v1/streams?key={made}").status_code == 401


def test_too_many_requests_of_one_key_are_429(far: Far, service: Service) -> None:
    service.config = Config(rate=0.001, burst=3.0, job_pause=0.0)
    one, other = far(key(service, "read")), far(key(service, "read"))
    statuses = [one.get("/v1/streams").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    assert one.get("/v1/streams").headers["retry-after"] == "1"
    assert other.get("/v1/streams").status_code == 200


def test_a_session_ends_after_twelve_hours_and_with_its_key(
    far: Far, service: Service, clock: Clock
) -> None:
    operator = Principal("start", "admin", "operator")
    cookie, who = service.writer.do(
        lambda transaction: make_session(transaction, operator, now=clock.now)
    )
    assert who.csrf
    browser = far()
    browser.cookies.set(auth.COOKIE, cookie, domain="tally.example")
    assert browser.get("/v1/streams").status_code == 200
    posted = browser.put("/v1/streams/qa", json={}, headers={"Origin": "https://evil.example"})
    assert posted.status_code == 403
    clock.now += 12 * 3600 + 1
    service.door.forget()
    assert browser.get("/v1/streams").status_code == 401
    [(kept,)] = service.read(lambda reader: reader.all("select id from session"))
    assert cookie.encode() != bytes(kept)  # at rest it is a digest, too


def test_a_session_without_a_key_opens_nothing_that_a_request_without_a_key_may_not(
    web: Web, far: Far, service: Service
) -> None:
    assert web.get("/settings").status_code == 200  # which begins a session for its forms
    cookie = web.cookies[auth.COOKIE]
    stranger = far()
    stranger.cookies.set(auth.COOKIE, cookie, domain="tally.example")
    assert stranger.get("/v1/streams").status_code == 401
    key(service, "admin")
    assert web.get("/settings").status_code == 401


def test_every_answer_carries_the_policy(web: Web, far: Far) -> None:
    for answer in (web.get("/healthz"), web.get("/v1/none"), far().get("/v1/streams")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'")
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        # Under no-referrer a browser sends forms with "Origin: null", and they would be refused.
        assert answer.headers["referrer-policy"] == "same-origin"


def test_keys_are_listed_without_their_secrets(web: Web) -> None:
    made = web.post("/v1/keys", json={"role": "write", "name": "app", "days": 30})
    assert made.status_code == 201
    secret = made.json()["key"].split("_", 2)[2]
    listed = web.get("/v1/keys")
    assert secret not in listed.text
    assert [one["name"] for one in listed.json()["keys"]] == ["app"]


def test_when_a_key_was_used_is_known_at_once_and_outlives_the_service(
    web: Web, far: Callable[..., Web], service: Service, clock: Clock, tmp_path: Path
) -> None:
    key = web.post("/v1/keys", json={"role": "read", "name": "app"}).json()["key"]
    [before] = web.get("/v1/keys").json()["keys"]
    assert before["last_used"] is None
    assert far(key).get("/v1/streams").status_code == 200
    [after] = web.get("/v1/keys").json()["keys"]
    assert after["last_used"] == clock.now
    service.close()
    store = open_store(tmp_path / "serve.sqlite")
    with store.read() as reader:
        assert reader.all("select last_used from key") == [(clock.now,)]
    store.close()
