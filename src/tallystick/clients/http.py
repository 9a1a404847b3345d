"""Any JSON API over HTTP: a request template and a path to the label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from tallystick.clients.client import Client
from tallystick.clients.kind import ClientKind, ClientSpec, text_or_file
from tallystick.clients.template import (
    Secret,
    check_fields,
    fill_json,
    find,
    parse_json,
    parse_path,
)
from tallystick.clients.wire import Connections
from tallystick.errors import InputError
from tallystick.results import Json

__all__ = ["KIND", "HttpClient"]

_SENSITIVE = ("authorization", "api-key", "apikey", "token", "secret", "cookie", "password")


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
        import httpx

        check_fields(request, columns, "the request template")
        self._url = Secret(url, "the address")
        if httpx.URL(self._url.shown).userinfo:
            raise InputError(
                "the address holds a password: put it into the environment and a header, as $NAME"
            )
        self._headers = {name: Secret(value, f"header {name}") for name, value in headers.items()}
        for name, value in self._headers.items():
            if any(word in name.lower() for word in _SENSITIVE) and not value.values:
                raise InputError(
                    f"header {name} holds a key: write it as $NAME and put the key into the"
                    " environment"
                )
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
        self._wire = Connections(self._url.sent, sent, timeout=self._timeout)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._wire is not None:
            await self._wire.close()

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return what stands at the path; None where there is nothing, or something nested."""
        if self._wire is None:
            raise InputError("the client is not open: use it in an 'async with' block")
        reply = await self._wire.post(fill_json(self._request, row))
        found = find(reply, self._path)
        return None if found is None or isinstance(found, dict | list) else str(found)


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
