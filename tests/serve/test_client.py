"""The client sends the same bytes until they are answered, and keeps them over its own death."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tallystick import serve
from tallystick.errors import InputError
from tallystick.serve.client import RefusedBatch, ServeClient
from tests.serve.web import Web

URL = "http://127.0.0.1:8765/v1/streams/qa"


class Bridge(httpx.BaseTransport):
    """Sends to the application in this process; fails as often as a test says."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.down = 0
        self.lose_answers = 0
        self.seen: list[tuple[str, bytes]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.down:
            self.down -= 1
            raise httpx.ConnectError("down")
        self.seen.append((request.headers["idempotency-key"], request.content))
        answer = self.web.request(
            "POST", request.url.path, content=request.content, headers=dict(request.headers)
        )
        if self.lose_answers:
            self.lose_answers -= 1
            raise httpx.ReadError("lost")
        return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)


@pytest.fixture
def bridge(web: Web) -> Bridge:
    web.put("/v1/streams/qa", json={})
    return Bridge(web)


def rows(web: Web) -> int:
    held: int = web.get("/v1/streams/qa").json()["rows"]
    return held


def test_records_arrive_in_batches(bridge: Bridge, web: Web) -> None:
    with serve.Client(URL, batch=10, transport=bridge) as client:
        for n in range(25):
            client.vote(n, gpt="pass")
    assert len(bridge.seen) == 3
    assert rows(web) == 25


def test_the_same_bytes_go_again_until_they_are_answered(bridge: Bridge, web: Web) -> None:
    bridge.down, bridge.lose_answers = 2, 2
    client = ServeClient(URL, transport=bridge)
    client.post({"item": "a", "grades": {"len": 1.0}})
    assert client.flush()
    assert len(bridge.seen) == 3
    assert len(set(bridge.seen)) == 1
    assert rows(web) == 1
    client.close()


def test_what_was_not_answered_outlives_the_process(
    bridge: Bridge, web: Web, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    bridge.down = 1000
    first = ServeClient(URL, spool=spool, batch=2, patience=0.0, transport=bridge)
    for n in range(5):
        first.vote(n, gpt="pass")
    assert not first.flush()
    kept = spool.read_bytes()
    spool.write_bytes(kept + b'{"key": "cut off')  # it died while it wrote
    bridge.down = 0
    second = ServeClient(URL, spool=spool, transport=bridge)
    assert second.waiting == 3
    assert second.flush()
    assert rows(web) == 5
    assert not spool.exists()


def test_refused_records_are_put_aside_and_the_others_arrive(
    bridge: Bridge, web: Web, tmp_path: Path
) -> None:
    spool = tmp_path / "votes.spool"
    client = ServeClient(URL, transport=bridge, spool=spool, batch=4)
    for item, vote in (("a", "good"), ("b", "good"), ("c", "bad"), ("a", "bad")):
        client.vote(item, gpt=vote)  # the last one contradicts the first, and nothing is raised
    assert rows(web) == 3
    client.vote("d", gpt="good")
    with pytest.raises(RefusedBatch, match="replace") as caught:
        client.flush()
    assert [one["item"] for one in caught.value.records] == ["a"]
    assert (client.waiting, rows(web), spool.exists()) == (0, 4, False)
    [aside] = (tmp_path / "votes.spool.refused").read_text().splitlines()
    assert json.loads(aside)["record"] == {"item": "a", "votes": {"gpt": "bad"}}
    assert client.flush()  # it was said once
    client.close()


def test_whoever_listens_hears_of_refused_records_and_nothing_is_raised(
    bridge: Bridge, web: Web
) -> None:
    told: list[RefusedBatch] = []
    with ServeClient(URL, transport=bridge, on_refused=told.append) as quiet:
        for n in range(60):
            quiet.post({"item": "" if n % 2 else f"i{n}"})  # more wrong lines than are listed
        quiet.post({"item": "half", "votes": {"gpt": 0.5}})
    assert rows(web) == 30
    assert sum(len(one.records) for one in told) == 31


def test_a_number_that_is_none_is_no_vote(bridge: Bridge, web: Web) -> None:
    with ServeClient(URL, transport=bridge) as client:
        client.post({"item": "a", "votes": {"gpt": float("nan")}, "grades": {"len": float("nan")}})
    assert rows(web) == 1


def test_a_stream_that_is_missing_is_said_and_the_batch_waits(
    bridge: Bridge, web: Web, tmp_path: Path
) -> None:
    url = "http://127.0.0.1:8765/v1/streams/later"
    client = ServeClient(url, transport=bridge, spool=tmp_path / "spool", batch=1, patience=0.0)
    client.vote("a", gpt="x")
    with pytest.raises(RefusedBatch, match="PUT"):
        client.flush()
    assert client.waiting == 1
    web.put("/v1/streams/later", json={})
    assert client.flush()
    client.close()


def test_what_is_lost_without_a_spool_is_said(
    bridge: Bridge, caplog: pytest.LogCaptureFixture
) -> None:
    bridge.down = 1000
    with ServeClient(URL, transport=bridge, patience=0.0) as client:
        client.vote("a", gpt="x")
        client.vote("b", gpt="x")
    assert "2 records were not sent" in caplog.text


def test_arguments_are_checked() -> None:
    with pytest.raises(InputError, match="http"):
        ServeClient("localhost:8765")
    with pytest.raises(InputError, match="batch"):
        ServeClient(URL, batch=0)
    with pytest.raises(InputError, match="stream"):
        ServeClient("http://127.0.0.1:8765")
