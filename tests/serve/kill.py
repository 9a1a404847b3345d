"""kill -9 at random moments, and the books afterwards."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from tests.serve.faults import books
from tests.serve.web import running


class _Sender(threading.Thread):
    """Posts batch after batch until it is told to stop or the server is gone."""

    def __init__(self, url: str, name: str, stop: threading.Event) -> None:
        super().__init__(name=name)
        self._url, self._stopping = url, stop
        self.acknowledged: list[tuple[str, bytes]] = []
        self.in_flight: list[tuple[str, bytes]] = []

    def run(self) -> None:
        rng = random.Random(self.name)
        with httpx.Client() as client:
            n = 0
            while not self._stopping.is_set():
                one = (f"{self.name}-{n}", _body(rng))
                n += 1
                try:
                    answer = _post(client, self._url, one)
                except httpx.TransportError:
                    self.in_flight.append(one)
                    return
                (self.acknowledged if answer.status_code == 200 else self.in_flight).append(one)


def _post(client: Any, url: str, one: tuple[str, bytes]) -> httpx.Response:
    key, body = one
    answer: httpx.Response = client.post(
        f"{url}/records", content=body, headers={"Idempotency-Key": key}
    )
    return answer


def kill_rounds(
    folder: Path, rounds: int, *, seed: int, db: str | None = None, servers: int = 1
) -> dict[str, Any]:
    """Post from four threads, kill the servers at random moments, start them again, and so on.

    More than one server needs a *db* that they share; each then dies at a moment of its own. Return
    how many batches were acknowledged, and what was lost, doubled or miscounted.
    """
    rng = random.Random(seed)
    acknowledged: list[tuple[str, bytes]] = []
    in_flight: list[tuple[str, bytes]] = []
    again = 0
    for number in range(rounds):
        with contextlib.ExitStack() as stack:
            own = [folder] if db is None else [folder / str(k) for k in range(servers)]
            options = () if db is None else ("--db", db)
            started = [stack.enter_context(running(one, *options)) for one in own]
            urls = [f"{server.address}/v1/streams/qa" for server in started]
            httpx.put(urls[0], json={})
            # What was under way when a server died is sent again: the same bytes and key.
            for one in in_flight:
                answer = _post(httpx, rng.choice(urls), one)
                assert answer.status_code == 200, answer.text
                again += answer.json()["again"]
                acknowledged.append(one)
            stop = threading.Event()
            senders = [_Sender(urls[k % len(urls)], f"{seed}-{number}-{k}", stop) for k in range(4)]
            for sender in senders:
                sender.start()
            for server in rng.sample(started, len(started)):
                time.sleep(rng.uniform(0.02, 0.4))
                server.kill()
            stop.set()
            for sender in senders:
                sender.join()
        acknowledged += [one for sender in senders for one in sender.acknowledged]
        in_flight = [one for sender in senders for one in sender.in_flight]
    # What was under way at the last kill may be there or not, and nobody was told.
    found = books(db or str(folder / "tallystick.sqlite"), {key for key, _ in acknowledged})
    return {"acknowledged": len(acknowledged), "again": again, **found}


def _body(rng: random.Random) -> bytes:
    lines = []
    for _ in range(rng.choice([1, 10, 40])):
        item, judge = rng.randrange(3000), rng.choice(["a", "b", "c"])
        # The vote is a function of item and judge, so the order of batches cannot matter.
        vote = "pass" if (item * 7 + ord(judge)) % 3 else "fail"
        lines.append(f'{{"item": "i{item}", "votes": {{"{judge}": "{vote}"}}}}')
    return "\n".join(lines).encode()
