"""Any JSON API over HTTP: a request template and a path to the label."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from tallystick.clients.client import (
    MISSING,
    Client,
    Fault,
    Given,
    Reply,
    Secret,
    check_fields,
    fill_json,
    look_up,
    parse_path,
    request_of,
)
from tallystick.clients.journal import failure, refuse_keys
from tallystick.errors import InputError
from tallystick.results import Json

if TYPE_CHECKING:
    import httpx


# What a status means: asked again later, a refused key, or an address that is none.
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_KEYS = frozenset({401, 403})
_GONE = frozenset({301, 302, 307, 308, 404, 405})

# Where providers say why a reply ended, and what they say of one that was cut off.
_WHY_ENDED: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "finish_reason"),
    ("stop_reason",),
    ("done_reason",),
    ("candidates", 0, "finishReason"),
    ("incomplete_details", "reason"),
)
_TOO_LONG = (
    *("length", "max_tokens", "MAX_TOKENS", "max_output_tokens"),
    "model_context_window_exceeded",
)


class HttpClient(Client):
    """POST a filled template, read the label from the reply.

    Connections are kept. Redirects are not followed, and no proxy of the environment is used:
    either would carry keys to places that nobody named.

    Parameters
    ----------
    url
        Where to; ``$NAME`` stands for an environment variable.
    request
        JSON with ``{column}`` in its texts.
    given
        Columns, and the headers if they are not named here.
    answer_at
        The JSONPath of the answer in the reply.
    """

    prefix, example = "http", "https://HOST/PATH#$.label"

    def __init__(
        self,
        url: str,
        request: Json,
        given: Given,
        *,
        headers: Mapping[str, str] | None = None,
        answer_at: str,
    ) -> None:
        check_fields(request, given.columns, "the request template")
        # A key that was typed is refused before it can be written anywhere.
        headers = given.question.headers if headers is None else headers
        refuse_keys(url, request, headers)
        self._url = Secret(url, "the address")
        self._headers = {name: Secret(value, f"header {name}") for name, value in headers.items()}
        self._request, self._label = request, answer_at
        self._path = parse_path(self._label)
        self._http: httpx.AsyncClient | None = None
        self._where = ""

    @classmethod
    def of(cls, given: Given) -> HttpClient:
        """Make one from an address and a request template."""
        if given.question.request is None:
            raise InputError(
                'an HTTP API needs a request template: request=\'{"text": "{review}"}\' (--request)'
            )
        # Behind "#", which no server is sent: where the reply holds the answer.
        url, _, answer_at = given.target.partition("#")
        request = request_of(given.question.request)
        return cls(url, request, given, answer_at=answer_at or "$.label")

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
        named = (self._url, *self._headers.values())
        return tuple(value for secret in named for value in secret.values)

    def ready(self) -> None:
        """Open the connections; a key that is not in the environment is asked for by name."""
        if self._http is not None:
            return
        import httpx

        at = httpx.URL(self._url.sent)
        self._where = f"{at.host}:{at.port or at.scheme}"
        json_both_ways = {"Accept": "application/json", "Content-Type": "application/json"}
        named = {name: secret.sent for name, secret in self._headers.items()}
        self._http = httpx.AsyncClient(
            headers={**json_both_ways, "User-Agent": "tallystick", **named},
            # The caller limits the time and the requests in flight, so the connections, too.
            timeout=None,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
            follow_redirects=False,
            trust_env=False,
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return the filled template."""
        return fill_json(self._request, row)

    async def ask(self, row: Mapping[str, Any]) -> Reply:
        """Return the answer with tokens and model; a reply without the field is a fault."""
        reply = await self.post(self.question(row))
        return Reply(
            text=self._text(reply),
            model=_word(look_up(reply, ("model",))),
            fingerprint=_word(look_up(reply, ("system_fingerprint",))),
            input_tokens=_number(reply, "prompt_tokens", "input_tokens"),
            output_tokens=_number(reply, "completion_tokens", "output_tokens"),
            cut=any(look_up(reply, path) in _TOO_LONG for path in _WHY_ENDED),
        )

    async def post(self, body: Json) -> Any:
        """Return the parsed reply, or raise the :class:`Fault` that the failure means."""
        import httpx

        self.ready()
        assert self._http is not None
        # Escaped: half a surrogate pair passes, too.
        content = json.dumps(body, separators=(",", ":")).encode("ascii")
        try:
            reply = await self._http.post(self._url.sent, content=content)
        except httpx.ConnectError as error:
            what = f"{self._where} cannot be reached ({_name(error)})"
            raise Fault(what, retry=True, billed=False) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            # Broken off after sending: the server may have done the work.
            what = f"{self._where} broke off ({_name(error)})"
            raise Fault(what, retry=True, billed=True) from error
        if reply.status_code != 200:
            raise self._refusal(reply)
        try:
            return json.loads(reply.content)
        except ValueError as error:
            what = f"{self._where} answered with something that is not JSON"
            raise Fault(what, retry=True, billed=True) from error

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
        reason = failure(f"the reply has no field {self._label}", error, self.secrets)
        return Fault(reason, retry=True, billed=True)

    def _refusal(self, reply: httpx.Response) -> Fault:
        """Return what a status other than 200 means."""
        status = reply.status_code
        try:
            body = json.loads(reply.content)
        except ValueError:
            body = reply.text
        said = failure(f"HTTP {status}", body, self.secrets)
        if status in _KEYS:
            message = (
                f"{self._where} refused the key ({said}): check the environment variable that holds"
                " it"
            )
            return Fault(message, retry=False, billed=False, fatal=True)
        return Fault(
            f"{self._where} answered {said}",
            retry=status in _AGAIN,
            billed=False,
            wait=_retry_after(reply.headers.get("retry-after")) if status in _AGAIN else None,
            fatal=status in _GONE,
        )


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(reply: Any, *names: str) -> int | None:
    """Return a count of tokens under the names that providers use."""
    found = (look_up(reply, ("usage", name)) for name in names)
    return next((value for value in found if isinstance(value, int) and value >= 0), None)


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
