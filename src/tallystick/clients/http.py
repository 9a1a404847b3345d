"""Any JSON API over HTTP: a request template and a path to the label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from tallystick.clients.client import Client, Fault, Reply
from tallystick.clients.kind import ClientKind, ClientSpec, text_or_file
from tallystick.clients.secrets import (
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
from tallystick.clients.wire import Connections
from tallystick.errors import InputError
from tallystick.results import Json

__all__ = ["KIND", "HttpClient"]


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


KIND = ClientKind(
    prefixes=("https:", "http:"), example="https://HOST/PATH", make=_make, keeps_prefix=True
)
"""Any JSON API over HTTP."""
