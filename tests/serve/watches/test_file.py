"""The operator's file may name code of this machine; HTTP may not change what stands in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tallystick.errors import InputError
from tallystick.serve.jobs import Service
from tallystick.serve.watch_runs import FILE, read_watches, take_file
from tests.serve.watches.test_order import order
from tests.serve.web import Web


def written(folder: Path, **more: object) -> Path:
    (folder / "items.csv").write_text("id,text,gold\n1,good,a\n2,bad,b\n", encoding="utf-8")
    watch = {"api": "command:cat", "items": "items.csv", "item": "id", "truth": "gold", **more}
    (folder / FILE).write_text(json.dumps({"local": watch}), encoding="utf-8")
    return folder / FILE


def test_items_are_read_from_the_table_beside_the_file(tmp_path: Path) -> None:
    held = read_watches(written(tmp_path))["local"]
    assert held.items == [
        {"id": "1", "text": "good", "gold": "a"},
        {"id": "2", "text": "bad", "gold": "b"},
    ]


def test_a_watch_of_the_file_cannot_be_changed_by_http(
    service: Service, web: Web, tmp_path: Path
) -> None:
    written(tmp_path)
    assert take_file(service) == 1
    service.config = replace(service.config, allow_hosts=("127.0.0.1",))
    refused = web.put("/v1/watches/local", json=msgspec.to_builtins(order()))
    assert refused.status_code == 409
    assert "operator's file" in refused.json()["detail"]


def test_no_file_is_no_watch(service: Service) -> None:
    assert take_file(service) == 0


@pytest.mark.parametrize("text", ["[]", "{", '{"w": {"api": 3}}', '{"w": {"items": "no.csv"}}'])
def test_a_file_that_cannot_be_used_stops_the_start_and_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"watches\.json cannot be used"):
        read_watches(tmp_path / FILE)
