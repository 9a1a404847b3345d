"""Keys by HTTP."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tallystick.serve.database import open_store
from tallystick.serve.jobs import Service
from tests.serve.web import Clock, Web


def test_keys_are_listed_without_their_secrets(web: Web) -> None:
    made = web.post("/v1/keys", json={"role": "write", "name": "app", "days": 30})
    assert made.status_code == 201
    secret = made.json()["key"].split("_", 2)[2]
    listed = web.get("/v1/keys")
    assert secret not in listed.text
    assert [one["name"] for one in listed.json()["keys"]] == ["app"]
    assert web.post("/v1/keys", json={"role": "king", "name": "x"}).status_code == 422
    dead = web.post("/v1/keys", json={"role": "read", "name": "x", "days": -3})
    assert (dead.status_code, dead.json()["errors"][0]["column"]) == (422, "days")
    assert web.delete("/v1/keys/none").status_code == 404


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
