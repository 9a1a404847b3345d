"""One POST of JSON, and what each failure of it means."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from tallystick.clients.client import Fault
from tallystick.clients.secrets import server_words
from tallystick.results import Json

if TYPE_CHECKING:
    import httpx

    from tallystick.clients.connection import Connection

__all__ = ["Connections"]

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_KEYS = frozenset({401, 403})
_GONE = frozenset({301, 302, 307, 308, 404, 405})
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "Content-Type": "application/json",
    "User-Agent": "tallystick",
}


class Connections:
    """As many connections to one address as requests are in flight.

    Redirects are not followed, and no proxy of the environment is used: either would carry keys to
    places that nobody named.

    Parameters
    ----------
    url
        Where to.
    headers
        Sent with every request.
    timeout
        Seconds that a request may take.
    secrets
        Values that no message may show.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout: float,
        secrets: Sequence[str] = (),
    ) -> None:
        import httpx

        self._url = httpx.URL(url)
        self._where = f"{self._url.host}:{self._url.port or self._url.scheme}"
        self._verify = httpx.create_ssl_context() if self._url.scheme == "https" else None
        self._timeout, self._secrets = timeout, tuple(secrets)
        self._headers = httpx.Headers({**_HEADERS, **headers})
        self._idle: list[Connection] = []
        self._all: list[Connection] = []

    async def post(self, body: Json) -> Any:
        """Return the parsed reply, or raise the :class:`Fault` that the failure means."""
        import httpx

        where = self._where
        # escaped: half a surrogate pair passes, too
        content = json.dumps(body, separators=(",", ":")).encode("ascii")
        wire = self._idle.pop() if self._idle else self._open()
        try:
            reply = await wire.post(content)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Fault(
                f"{where} cannot be reached ({_name(error)})", retry=True, billed=False
            ) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            # Broken off after sending: the server may have done the work.
            raise Fault(f"{where} broke off ({_name(error)})", retry=True, billed=True) from error
        finally:
            self._idle.append(wire)
        if reply.status_code != 200:
            raise _refusal(where, reply, self._secrets)
        try:
            return json.loads(reply.content)
        except ValueError as error:
            raise Fault(
                f"{where} answered with something that is not JSON", retry=True, billed=True
            ) from error

    def _open(self) -> Connection:
        from tallystick.clients.connection import Connection

        wire = Connection(self._url, self._headers, verify=self._verify, timeout=self._timeout)
        self._all.append(wire)
        return wire

    async def close(self) -> None:
        """Close every connection."""
        for wire in self._all:
            await wire.close()


def _refusal(where: str, reply: httpx.Response, secrets: Sequence[str]) -> Fault:
    """Return what a status other than 200 means."""
    status = reply.status_code
    try:
        body = json.loads(reply.content)
    except ValueError:
        body = reply.text
    words = server_words(body, secrets)
    said = f": {words}" if words else ""
    if status in _KEYS:
        message = (
            f"{where} refused the key (HTTP {status}{said}): check the environment variable that"
            " holds it"
        )
        return Fault(message, retry=False, billed=False, fatal=True)
    again = status in _AGAIN
    wait = _retry_after(reply.headers.get("retry-after")) if again else None
    return Fault(
        f"{where} answered HTTP {status}{said}",
        retry=again,
        billed=False,
        wait=wait,
        fatal=status in _GONE,
    )


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
