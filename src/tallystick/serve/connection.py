"""One connection: how long a request may take to arrive, and whose process is at the other end.

uvicorn waits for ever for the rest of a request, and an application sees a request only once its
headers are complete. So the time is kept here, where the bytes come in.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tallystick.serve.auth import is_loopback

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["connection_of"]

_RATE = 16 * 1024
"""Bytes of a body that buy one more second: 8 MB over a slow line take longer than the limit."""

_PROCESS = Path("/proc/self")
_SOCKETS = (_PROCESS / "net/tcp", _PROCESS / "net/tcp6")


def connection_of(service: Service) -> type[asyncio.Protocol]:
    """Return the protocol of the connections of a service."""

    class Connection(_Connection):
        _service = service

    return Connection


class _Connection(HttpToolsProtocol):
    """uvicorn's protocol with a deadline for each request."""

    _service: Service
    _deadline: asyncio.TimerHandle | None = None
    _came = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()
        # A proxy that adds no header still is a process of another user, as a rule. Without an
        # address nobody counts as this machine.
        if self._service.door.keyless and self.client is not None and is_loopback(self.client[0]):
            here = transport.get_extra_info("sockname")[1]
            if not _is_our_user(there=self.client[1], here=here):
                self.client = None

    def data_received(self, data: bytes) -> None:
        self._begin()  # empty lines before a request begin none, and must not keep it open
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._end()
        self._begin()
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self._came += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._end()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        """Start the clock of a request, if it does not run yet."""
        if self._deadline is None:
            self._came = 0
            self._wait(self._service.config.request_seconds)

    def _wait(self, seconds: float) -> None:
        self._deadline = self.loop.call_later(seconds, self._cut_off)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cut_off(self) -> None:
        """Close a connection whose request did not arrive in time."""
        cycle = self.cycle
        answered = cycle is None or cycle.response_complete
        waits_for_us = self.flow.read_paused or not (answered or cycle.more_body)
        bought = 0.0 if answered else self._came / _RATE
        if waits_for_us or bought >= 1.0:
            self._came = 0
            self._wait(max(1.0, bought))
        else:
            self._deadline = None
            self.transport.close()


def _is_our_user(*, there: int, here: int) -> bool:
    """Say whether the other end of a connection on loopback belongs to the user of this process.

    Linux lists the owner of each socket. Where there is no such list, nobody can tell.
    """
    ports = f":{there:04X}", f":{here:04X}"
    lists = [one.read_text(encoding="ascii") for one in _SOCKETS if one.exists()]
    owners = [
        # A socket that was closed meanwhile (its state is not 01) has no owner that can be trusted.
        int(fields[7]) if fields[3] == "01" else -1
        for fields in (line.split() for text in lists for line in text.splitlines()[1:])
        if fields[1].endswith(ports[0]) and fields[2].endswith(ports[1])
    ]
    return not lists or (bool(owners) and set(owners) == {_PROCESS.stat().st_uid})
