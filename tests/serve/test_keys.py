"""Keys by HTTP."""

from __future__ import annotations

from tests.serve.web import Web


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
