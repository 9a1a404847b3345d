"""One kept connection for many small requests, on asyncio's own streams."""

from __future__ import annotations

import asyncio
import contextlib
from ssl import SSLContext

import h11
import httpx

__all__ = ["Connection"]


class Connection:
    """POST one body after the other to one address, over one HTTP/1.1 connection, each in a single
    write.

    httpx's own transport serves any event loop, any version of the protocol and any number of
    connections. For one small request after the other that costs several times what the request
    costs, and a run makes thousands. Replies and errors are httpx's.

    Parameters
    ----------
    url
        The address.
    headers
        Sent with every request; host and length are added.
    verify
        Certificates to trust; None for plain HTTP.
    timeout
        Seconds to connect, and seconds for a whole reply.
    """

    def __init__(
        self, url: httpx.URL, headers: httpx.Headers, *, verify: SSLContext | None, timeout: float
    ) -> None:
        self._url, self._verify, self._timeout = url, verify, timeout
        self._headers = [(b"Host", url.netloc), *headers.raw]
        self._heads: dict[int, h11.Request] = {}
        self._http: h11.Connection | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, content: bytes) -> httpx.Response:
        """Return the whole reply. Whatever goes wrong closes the connection; the next request opens
        another.
        """
        if self._http is None or self._reader is None or self._reader.at_eof():
            await self._open()
        try:
            async with asyncio.timeout(self._timeout):
                return await self._exchange(content)
        except BaseException as error:
            self._drop()
            if isinstance(error, TimeoutError):
                raise httpx.ReadTimeout("no answer in time") from error
            if isinstance(error, OSError):
                raise httpx.ReadError(str(error)) from error
            if isinstance(error, h11.RemoteProtocolError):
                raise httpx.RemoteProtocolError(str(error)) from error
            raise

    async def _open(self) -> None:
        self._drop()
        secure = self._url.scheme == "https"
        try:
            async with asyncio.timeout(self._timeout):
                self._reader, self._writer = await asyncio.open_connection(
                    self._url.host,
                    self._url.port or (443 if secure else 80),
                    ssl=self._verify if secure else None,
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout("no connection in time") from error
        except OSError as error:  # certificates that do not fit are one, too
            raise httpx.ConnectError(str(error)) from error
        self._http = h11.Connection(h11.CLIENT)

    def _head(self, length: int) -> h11.Request:
        """Return the head of a request; they differ by the length of the body alone."""
        if length not in self._heads:
            headers = [*self._headers, (b"Content-Length", str(length).encode())]
            self._heads[length] = h11.Request(
                method="POST", target=self._url.raw_path, headers=headers
            )
        return self._heads[length]

    async def _exchange(self, content: bytes) -> httpx.Response:
        http, reader, writer = self._http, self._reader, self._writer
        assert http is not None  # opened by post
        assert reader is not None
        assert writer is not None
        parts = (
            http.send(self._head(len(content))),
            http.send(h11.Data(data=content)),
            http.send(h11.EndOfMessage()),
        )
        writer.write(b"".join(part for part in parts if part))
        head: h11.Response | None = None
        body: list[bytes] = []
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                data = await reader.read(65536)
                if not data and head is None:
                    raise httpx.RemoteProtocolError(
                        "the server closed the connection without an answer"
                    )
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
        return httpx.Response(head.status_code, headers=list(head.headers), content=b"".join(body))

    def _drop(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._http = self._reader = self._writer = None

    async def close(self) -> None:
        """Close it."""
        writer = self._writer
        self._http = self._reader = self._writer = None
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
