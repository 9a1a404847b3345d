"""A client that talks to the application in this process, and what it needs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
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
