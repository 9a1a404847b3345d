"""One POST of JSON, and what each failure of it means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from tallystick.results import Json
from tallystick.shift.clients.client import Fault

if TYPE_CHECKING:
    import httpx

__all__ = ["Connections", "post"]

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_KEYS = frozenset({401, 403})


class Connections:
    """As many HTTP clients as requests are in flight, each with one connection.

    One client with a pool of many looks through all of its connections at every request, which costs more than the
    request. Redirects are not followed, and no proxy of the environment is used: either would carry keys to places that
    nobody named.

    Parameters
    ----------
    timeout
        Seconds that a request may take.
    secure
        Load the certificates, which plain HTTP does not need.
    """

    def __init__(self, *, timeout: float, secure: bool) -> None:
        import httpx

        self._timeout = timeout
        self._verify = httpx.create_ssl_context() if secure else False
        self._idle: list[httpx.AsyncClient] = []
        self._all: list[httpx.AsyncClient] = []

    async def post(self, url: str, body: Json, headers: Mapping[str, str]) -> Any:
        """Return the parsed reply, or raise the :class:`Fault` that the failure means."""
        client = self._idle.pop() if self._idle else self._open()
        try:
            return await post(client, url, body, headers)
        finally:
            self._idle.append(client)

    def _open(self) -> httpx.AsyncClient:
        import httpx

        one = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        client = httpx.AsyncClient(timeout=self._timeout, limits=one, trust_env=False, verify=self._verify)
        self._all.append(client)
        return client

    async def close(self) -> None:
        """Close every connection."""
        for client in self._all:
            await client.aclose()


async def post(client: httpx.AsyncClient, url: str, body: Json, headers: Mapping[str, str]) -> Any:
    """Return the parsed reply, or raise the :class:`Fault` that the failure means."""
    import httpx

    where = f"{httpx.URL(url).host}:{httpx.URL(url).port or httpx.URL(url).scheme}"
    try:
        reply = await client.post(url, json=body, headers=dict(headers))
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise Fault(f"{where} cannot be reached ({_name(error)})", retry=True, billed=False) from error
    except httpx.TransportError as error:  # broken off after sending: the server may have done the work
        raise Fault(f"{where} broke off ({_name(error)})", retry=True, billed=True) from error
    if reply.status_code in _KEYS:
        message = f"{where} refused the key (HTTP {reply.status_code}): check the environment variable that holds it"
        raise Fault(message, retry=False, billed=False, fatal=True)
    if reply.status_code != 200:
        again = reply.status_code in _AGAIN
        wait = _retry_after(reply.headers.get("retry-after")) if again else None
        gone = reply.status_code in (404, 405, 301, 302, 307, 308)
        raise Fault(f"{where} answered HTTP {reply.status_code}", retry=again, billed=False, wait=wait, fatal=gone)
    try:
        return json.loads(reply.content)
    except ValueError as error:
        raise Fault(f"{where} answered with what is no JSON", retry=True, billed=True) from error


def _name(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _retry_after(value: str | None) -> float | None:
    """Read the header: seconds, or a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (date - datetime.now(UTC)).total_seconds()) if date.tzinfo else None
