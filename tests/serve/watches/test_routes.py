"""Watches by HTTP: for administrators only, and never with a secret in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tallystick.serve.jobs import Service
from tests.serve.watches.test_order import order
from tests.serve.web import Web


@pytest.fixture
def given(service: Service) -> dict[str, Any]:
    service.config = replace(service.config, allow_hosts=("127.0.0.1",))
    held: dict[str, Any] = msgspec.to_builtins(order())
    return held


def test_only_administrators_see_and_make_watches(
    web: Web, far: Callable[..., Web], given: dict[str, Any]
) -> None:
    key = web.post("/v1/keys", json={"role": "write", "name": "w"}).json()["key"]
    assert far(key).put("/v1/watches/w", json=given).status_code == 403
    assert far(key).get("/v1/watches").status_code == 403
    assert far().get("/v1/watches").status_code == 401


def test_other_items_need_a_new_baseline_and_another_cap_does_not(
    service: Service, web: Web, given: dict[str, Any]
) -> None:
    web.put("/v1/watches/w", json=given)
    service.writer.do(lambda tx: tx.run("update watch set baseline = 7"))
    web.put("/v1/watches/w", json={**given, "cap_month": 3.0})
    assert web.get("/v1/watches/w").json()["baseline"] == 7
    web.put("/v1/watches/w", json={**given, "prompt": "Another {text}?"})
    assert web.get("/v1/watches/w").json()["baseline"] is None


def test_a_watch_is_listed_without_its_items_and_can_be_deleted(
    web: Web, given: dict[str, Any]
) -> None:
    web.put("/v1/watches/w", json=given)
    [watch] = web.get("/v1/watches").json()["watches"]
    assert (watch["name"], watch["items"], watch["spent"]) == ("w", 2, 0.0)
    assert web.delete("/v1/watches/w").json() == {"deleted": "w"}
    assert web.get("/v1/watches/w").status_code == 404
    assert web.delete("/v1/watches/w").status_code == 404


def test_two_baselines_at_once_are_refused(web: Web, given: dict[str, Any]) -> None:
    web.put("/v1/watches/w", json=given)
    assert web.post("/v1/watches/w/baseline").status_code == 200
    again = web.post("/v1/watches/w/baseline")
    assert again.status_code == 409
    assert "under way" in again.json()["detail"]


def test_a_bad_name_and_an_unknown_field_are_refused_with_the_way_out(
    web: Web, given: dict[str, Any]
) -> None:
    assert web.put("/v1/watches/a b", json=given).status_code == 422
    wrong = web.put("/v1/watches/w", json={**given, "cap": 1})
    assert wrong.status_code == 422
    assert "cap" in wrong.text
