"""A client that talks to the application in this process, and what it needs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx


class Clock:
    """Seconds since 1970 that only move when a test says so."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Loop:
    """An event loop in a thread of its own."""

    def __enter__(self) -> Loop:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=120)


class Web:
    """httpx, one call at a time, with cookies kept; a browser's headers only if a test sends them."""

    def __init__(
        self,
        app: Any,
        loop: Loop,
        *,
        base: str = "http://127.0.0.1:8765",
        peer: str = "127.0.0.1",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._loop = loop
        self._client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app, client=(peer, 50000)),
            base_url=base,
            headers=dict(headers or {}),
        )
        self.base = base
        self.headers = self._client.headers
        self.cookies = self._client.cookies

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        answer: httpx.Response = self._loop.run(self._client.request(method, path, **given))
        return answer

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self.request("GET", path, **given)

    def post(self, path: str, **given: Any) -> httpx.Response:
        return self.request("POST", path, **given)

    def put(self, path: str, **given: Any) -> httpx.Response:
        return self.request("PUT", path, **given)

    def delete(self, path: str, **given: Any) -> httpx.Response:
        return self.request("DELETE", path, **given)


@contextlib.contextmanager
def running(folder: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Run ``tallystick serve`` as a process of its own on a free port; it is stopped at the end."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "tallystick", "serve"),
            *("--data", str(folder), "--port", "0", *options),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **(env or {})},
    )
    try:
        address = ""
        said = []
        for line in process.stderr or ():
            said.append(line)
            if match := re.search(r"serves (http://\S+)", line):
                address = match[1]
                break
        if not address:
            raise RuntimeError("the service did not start")
        # Whatever it logs is read: a full pipe would stop the service.
        drain = threading.Thread(target=lambda: list(process.stderr or ()), daemon=True)
        drain.start()
        wait_until_ready(address)
        yield Running(process, address, "".join(said))
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
        if address:
            drain.join()
        if process.stderr is not None:
            process.stderr.close()


@dataclass(frozen=True)
class Running:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    address: str
    said: str = ""
    """What it wrote until it was ready to listen."""

    def kill(self) -> None:
        """End it as a power cut would, as far as a process can."""
        self.process.kill()
        self.process.wait()


def wait_until_ready(address: str) -> None:
    for _ in range(600):
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{address} is not ready")
