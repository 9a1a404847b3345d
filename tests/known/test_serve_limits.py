"""Requests that never arrive are cut off (tallystick.serve.auth)."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")

LIMIT = 1.0
_SERVE = """
import sys
from pathlib import Path
from tallystick.serve.app import serve_forever, start_service
from tallystick.serve.jobs import Config
config = Config(port=0, folder=Path(sys.argv[1]), request_seconds=float(sys.argv[2]))
service = start_service(config, sys.argv[1] + "/a.sqlite")
serve_forever(service, say=lambda line: print(line, file=sys.stderr, flush=True))
"""


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A service that waits for a request for one second; the address of its socket."""
    folder = tmp_path_factory.mktemp("impatient")
    words = [sys.executable, "-c", _SERVE, str(folder), str(LIMIT)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline() if process.stderr else ""
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            assert found is not None, line
            address = ("127.0.0.1", int(found[1]))
            with httpx.Client(base_url=f"http://127.0.0.1:{found[1]}") as client:
                client.put("/v1/streams/qa", json={}).raise_for_status()
            yield address
        finally:
            process.terminate()
            process.communicate(timeout=30)


def seconds_until_closed(
    address: tuple[str, int], begin: bytes, drip: bytes, *, patience: float
) -> float:
    """Send the beginning of a request, then a little of it over and over, until it is cut off."""
    with socket.create_connection(address) as one:
        began = time.monotonic()
        one.settimeout(0.1)
        one.sendall(begin)
        while time.monotonic() - began < patience:
            try:
                if not one.recv(65536):
                    break
            except TimeoutError:
                with contextlib.suppress(ConnectionError):  # the next read says so
                    one.sendall(drip)
            except ConnectionError:
                break
        return time.monotonic() - began


HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n{"
CHUNKED = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
HALF = {
    "nothing at all": (b"", b""),
    "half a header": (HEAD, b""),
    "a header that grows": (HEAD + b"X-A: ", b"a"),
    "headers that never end": (HEAD, b"X-A: a\r\n"),
    "empty lines": (b"\r\n", b"\r\n"),
    "empty lines after an answer": (HEAD + b"\r\n", b"\r\n"),
    "half a body": (POST % b"v1/streams/qa/records", b""),
    "a body that drips": (POST % b"v1/streams/qa/records", b"a"),
    "chunks that drip": (CHUNKED, b"1\r\na\r\n"),
    "a body that nobody reads": (POST % b"healthz", b"a"),
    "a second request that is half": (HEAD + b"\r\n" + HEAD, b"a"),
}


def test_half_a_request_is_cut_off_however_it_drips(impatient: tuple[str, int]) -> None:
    took: dict[str, float] = {}

    def measure(name: str, begin: bytes, drip: bytes) -> None:
        took[name] = seconds_until_closed(impatient, begin, drip, patience=15 * LIMIT)

    threads = [threading.Thread(target=measure, args=(name, *HALF[name])) for name in HALF]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(took) == len(HALF)
    assert max(took.values()) < 10 * LIMIT, took
    assert min(took.values()) > 0.9 * LIMIT, took


def test_a_slow_body_and_a_slow_answer_are_waited_for(impatient: tuple[str, int]) -> None:
    line = json.dumps({"item": "a" * 200, "votes": {"gpt": "x", "llama": "x", "claude": "y"}})
    body = b"\n".join(line.replace("a", f"{n}-", 1).encode() for n in range(400))
    head = b"POST /v1/streams/qa/records HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    with socket.create_connection(impatient, timeout=60) as one:
        one.sendall(head % len(body))
        pieces = 6
        step = len(body) // pieces + 1
        for n in range(pieces):
            one.sendall(body[n * step : (n + 1) * step])
            time.sleep(0.5 * LIMIT)
        assert one.recv(65536).startswith(b"HTTP/1.1 200")
        # The same connection; the first answer needs a process that takes seconds to start.
        one.sendall(b"GET /v1/streams/qa/results/judge HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n\r\n")
        assert one.recv(65536).startswith(b"HTTP/1.1 200")


def test_an_answer_that_nobody_reads_is_given_up(impatient: tuple[str, int]) -> None:
    """It would hold a state of the database for ever."""
    url = f"http://127.0.0.1:{impatient[1]}/v1/streams/big"
    httpx.put(url, json={}).raise_for_status()
    for start in range(0, 30_000, 10_000):
        names = (f"{start + k}-{'x' * 200}" for k in range(10_000))
        body = "\n".join(json.dumps({"item": one, "votes": {"a": "x"}}) for one in names)
        httpx.post(f"{url}/records", content=body, timeout=60).raise_for_status()
    whole = len(httpx.get(f"{url}/rows", timeout=60).content)
    assert whole > 6_000_000
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(impatient)
        one.sendall(b"GET /v1/streams/big/rows HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(4 * LIMIT)
        size = 0
        with contextlib.suppress(ConnectionError):
            while piece := one.recv(1 << 20):
                size += len(piece)
    assert size < whole
