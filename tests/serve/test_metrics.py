"""Figures for Prometheus, without anything that grows or is private."""

from __future__ import annotations

from collections.abc import Callable

from tallystick.serve.jobs import Service
from tests.serve.test_alerts import alarm
from tests.serve.web import Web


def test_figures_count_records_rows_and_alarms(service: Service, web: Web) -> None:
    web.put("/v1/streams/s", json={})
    web.post("/v1/streams/s/records", content='{"item": "secret-item", "votes": {"ann": "toxic"}}')
    alarm(service, "change")
    answer = web.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'tallystick_records_total{stream="s"} 1' in lines
    assert 'tallystick_rows{stream="s"} 1' in lines
    assert 'tallystick_alarms_total{stream="",name="change"} 1' in lines
    assert any(line.startswith("tallystick_commit_seconds_count ") for line in lines)
    assert "secret-item" not in answer.text
    assert "toxic" not in answer.text


def test_off_loopback_figures_need_a_key(web: Web, far: Callable[..., Web]) -> None:
    assert far().get("/metrics").status_code == 401
    key = web.post("/v1/keys", json={"role": "read", "name": "p"}).json()["key"]
    assert far(key).get("/metrics").status_code == 200


def test_every_line_is_a_comment_or_a_sample(web: Web) -> None:
    for line in web.get("/metrics").text.splitlines():
        assert line.startswith("# ") or float(line.rpartition(" ")[2]) >= 0
