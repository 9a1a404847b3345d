"""One kept connection for many small requests: an httpx transport on asyncio's own streams."""

from __future__ import annotations

import asyncio
import contextlib
from ssl import SSLContext

import h11
import httpx

__all__ = ["Transport"]


class Transport(httpx.AsyncBaseTransport):
    """Send requests over one HTTP/1.1 connection, one after the other, each in a single write.

    httpx's own transport serves any event loop, any version of the protocol and any number of connections. For one
    small request after the other that costs four times what the request costs, and a run makes thousands. Requests,
    replies and errors are httpx's, so that either can take the other's place.

    Parameters
    ----------
    verify
        Certificates to trust; None for plain HTTP.
    """

    def __init__(self, verify: SSLContext | None) -> None:
        self._verify = verify
        self._http: h11.Connection | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the whole reply. Whatever goes wrong closes the connection; the next request opens another."""
        limit = request.extensions.get("timeout", {})
        if self._http is None or self._reader is None or self._reader.at_eof():
            await self._connect(request.url, limit.get("connect"))
        try:
            async with asyncio.timeout(limit.get("read")):
                reply = await self._exchange(request)
        except BaseException as error:
            self._drop()
            if isinstance(error, TimeoutError):
                raise httpx.ReadTimeout("no answer in time", request=request) from error
            if isinstance(error, OSError):
                raise httpx.ReadError(str(error), request=request) from error
            if isinstance(error, h11.RemoteProtocolError):
                raise httpx.RemoteProtocolError(str(error), request=request) from error
            raise
        return reply

    async def _connect(self, url: httpx.URL, limit: float | None) -> None:
        self._drop()
        try:
            async with asyncio.timeout(limit):
                self._reader, self._writer = await asyncio.open_connection(
                    url.host, url.port or (443 if url.scheme == "https" else 80), ssl=self._verify
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout("no connection in time") from error
        except OSError as error:  # certificates that do not fit are one, too
            raise httpx.ConnectError(str(error)) from error
        self._http = h11.Connection(h11.CLIENT)

    async def _exchange(self, request: httpx.Request) -> httpx.Response:
        http, reader, writer = self._http, self._reader, self._writer
        assert http is not None  # connected by the caller
        assert reader is not None
        assert writer is not None
        question = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        parts = [http.send(question), http.send(h11.Data(data=request.content)), http.send(h11.EndOfMessage())]
        writer.write(b"".join(part for part in parts if part))
        head: h11.Response | None = None
        body: list[bytes] = []
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                data = await reader.read(65536)
                if not data and head is None:
                    raise httpx.RemoteProtocolError("the server hung up without an answer", request=request)
                http.receive_data(data)
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                break
        assert head is not None  # the body came after it
        if http.our_state is h11.DONE and http.their_state is h11.DONE:
            http.start_next_cycle()
        else:
            self._drop()  # the server does not keep the connection
        return httpx.Response(head.status_code, headers=list(head.headers), content=b"".join(body), request=request)

    def _drop(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._http = self._reader = self._writer = None

    async def aclose(self) -> None:
        """Close the connection."""
        writer = self._writer
        self._http = self._reader = self._writer = None
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
