"""Any JSON API over HTTP: a request template and a path to the label."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ssl import SSLContext
from types import TracebackType
from typing import Any

import h11
import httpx

from tallystick.clients.client import Client, ClientKind, ClientSpec, Fault, Reply, text_or_file
from tallystick.clients.journal import (
    refuse_key,
    refuse_keys_in_body,
    refuse_keys_in_url,
    server_words,
)
from tallystick.clients.template import (
    MISSING,
    Secret,
    check_fields,
    fill_json,
    look_up,
    parse_json,
    parse_path,
)
from tallystick.errors import InputError
from tallystick.results import Json


class HttpClient(Client):
    """POST a filled template, read the label from the reply.

    Parameters
    ----------
    url
        Where to; ``$NAME`` stands for an environment variable.
    request
        JSON with ``{column}`` in its texts.
    label
        A path such as ``$.result[0].label``.
    headers
        Name to value; keys only as ``$NAME``.
    columns
        Columns that the data has.
    timeout
        Seconds that a request may take.
    """

    def __init__(
        self,
        url: str,
        *,
        request: Json,
        label: str,
        headers: Mapping[str, str],
        columns: Sequence[str],
        timeout: float,
    ) -> None:
        check_fields(request, columns, "the request template")
        # A key that was typed is refused before it can be written anywhere.
        refuse_keys_in_url(url)
        refuse_keys_in_body(request)
        for name, value in headers.items():
            refuse_key("header", name, value)
        self._url = Secret(url, "the address")
        self._headers = {name: Secret(value, f"header {name}") for name, value in headers.items()}
        self._request, self._path, self._label = request, parse_path(label), label
        self._timeout = timeout
        self._wire: Connections | None = None

    @property
    def description(self) -> dict[str, Json]:
        """Address, template, path and headers, keys by name only."""
        headers: dict[str, Json] = {name: value.shown for name, value in self._headers.items()}
        return {
            "kind": "http",
            "url": self._url.shown,
            "request": self._request,
            "label": self._label,
            "headers": headers,
        }

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that stand for ``$NAME``."""
        return tuple(
            value for secret in (self._url, *self._headers.values()) for value in secret.values
        )

    async def __aenter__(self) -> HttpClient:
        sent = {name: value.sent for name, value in self._headers.items()}
        self._wire = Connections(self._url.sent, sent, timeout=self._timeout, secrets=self.secrets)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._wire is not None:
            await self._wire.close()

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return the filled template."""
        return fill_json(self._request, row)

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return what stands at the path; None where it is null, or something nested."""
        return (await self.ask(row)).text

    async def ask(self, row: Mapping[str, Any]) -> Reply:
        """Return the answer with tokens and model; a reply without the field is a fault."""
        if self._wire is None:
            raise InputError("the client is not open: use it in an 'async with' block")
        reply = await self._wire.post(self.question(row))
        return Reply(
            text=self._text(reply),
            model=_word(look_up(reply, ("model",))),
            fingerprint=_word(look_up(reply, ("system_fingerprint",))),
            input_tokens=_number(reply, "prompt_tokens", "input_tokens"),
            output_tokens=_number(reply, "completion_tokens", "output_tokens"),
            cut=any(look_up(reply, path) in _TOO_LONG for path in _WHY_ENDED),
        )

    def _text(self, reply: Any) -> str | None:
        """Return the field of the answer, as text."""
        found = look_up(reply, self._path)
        if found is MISSING:
            # HTTP 200 with {"error": …} is no answer: some proxies report overload like this.
            raise self._no_answer(reply)
        if isinstance(found, bool):
            return "true" if found else "false"
        return None if found is None or isinstance(found, dict | list) else str(found)

    def _no_answer(self, reply: Any) -> Fault:
        """Say what came in the place of an answer."""
        error = look_up(reply, ("error",))
        if error is MISSING or error is None:
            return Fault(f"the reply has no field {self._label}", retry=True, billed=True)
        words = server_words(error, self.secrets)
        reason = f"the reply is an error instead of an answer: {words}".rstrip(": ")
        return Fault(reason, retry=True, billed=True)


_WHY_ENDED: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "finish_reason"),
    ("stop_reason",),
    ("done_reason",),
    ("candidates", 0, "finishReason"),
    ("incomplete_details", "reason"),
)
"""Where providers say why a reply ended."""

_TOO_LONG = (
    *("length", "max_tokens", "MAX_TOKENS", "max_output_tokens"),
    "model_context_window_exceeded",
)
"""What they say of one that was cut off."""


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(reply: Any, *names: str) -> int | None:
    """Return a count of tokens under the names that providers use."""
    for name in names:
        value = look_up(reply, ("usage", name))
        if isinstance(value, int) and value >= 0:
            return value
    return None


def _make(spec: ClientSpec) -> HttpClient:
    if spec.request is None:
        raise InputError(
            'an HTTP API needs a request template: request=\'{"text": "{review}"}\' (--request)'
        )
    request: Json = (
        parse_json(text_or_file(spec.request), "the request template (--request)")
        if isinstance(spec.request, str)
        else dict(spec.request)
    )
    return HttpClient(
        spec.target,
        request=request,
        label=spec.label_path,
        headers=spec.headers,
        columns=spec.columns,
        timeout=spec.timeout,
    )


HTTP = ClientKind(
    prefixes=("https:", "http:"), example="https://HOST/PATH", make=_make, keeps_prefix=True
)
"""Any JSON API over HTTP."""

# One kept connection for many small requests, on asyncio's own streams.


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


# One POST of JSON, and what each failure of it means.


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
