"""APIs over HTTP: any JSON API by a template and a path, chat models by their provider.

A provider is a declaration: where it is, which key it wants, where its reply holds the answer, and
how it writes a request. The addresses of all have one form: ``PROVIDER:MODEL@https://HOST/v1``, and
without the address the provider's own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from tallystick.clients.client import (
    MISSING,
    Client,
    Fault,
    Reply,
    Secret,
    check_fields,
    fill_json,
    look_up,
    parse_path,
    request_of,
    text_or_file,
)
from tallystick.clients.journal import failure, refuse_keys
from tallystick.errors import InputError
from tallystick.results import Json

if TYPE_CHECKING:
    import httpx

    from tallystick.clients.question import ClientQuestion

# What a status means: asked again later, a refused key, or an address that is none.
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_KEYS = frozenset({401, 403})
_GONE = frozenset({301, 302, 307, 308, 404, 405})

# Where providers say why a reply ended, and what they say of one that was cut off.
_WHY_ENDED = (
    *("$.choices[0].finish_reason", "$.stop_reason", "$.done_reason"),
    *("$.candidates[0].finishReason", "$.incomplete_details.reason"),
)
_TOO_LONG = (
    "length",
    "max_tokens",
    "MAX_TOKENS",
    "max_output_tokens",
    "model_context_window_exceeded",
)


class HttpClient(Client):
    """POST a filled template, read the label from the reply.

    Redirects are not followed, and no proxy of the environment is used:
    either would carry keys to places that nobody named.

    Parameters
    ----------
    url
        Where to; ``$NAME`` stands for an environment variable.
    request
        JSON with ``{column}`` in its texts.
    columns
        The columns that it may name.
    headers
        Name to value, keys as ``$NAME``.
    answer_at
        The JSONPath of the answer in the reply.
    """

    def __init__(
        self,
        url: str,
        request: Json,
        *,
        columns: Sequence[str],
        headers: Mapping[str, str],
        answer_at: str,
    ) -> None:
        check_fields(request, columns, "--request")
        # A key that was typed is refused before it can be written anywhere.
        refuse_keys(url, request, headers)
        self._url = Secret(url, "the address")
        self._headers = {name: Secret(value, f"header {name}") for name, value in headers.items()}
        self._request, self._label = request, answer_at
        self._path = parse_path(answer_at)
        self._http: httpx.AsyncClient | None = None

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
        model, fingerprint = (look_up(reply, (name,)) for name in ("model", "system_fingerprint"))
        return Reply(
            text=self._text(reply),
            model=model if isinstance(model, str) else None,
            fingerprint=fingerprint if isinstance(fingerprint, str) else None,
            input_tokens=_tokens(reply, "prompt_tokens", "input_tokens"),
            output_tokens=_tokens(reply, "completion_tokens", "output_tokens"),
            cut=any(look_up(reply, parse_path(path)) in _TOO_LONG for path in _WHY_ENDED),
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
        except (httpx.TransportError, httpx.DecodingError) as error:
            # Broken off after sending: the server may have done the work.
            unsent = isinstance(error, httpx.ConnectError)
            what = "cannot be reached" if unsent else "broke off"
            name = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise Fault(f"{self._where} {what} ({name})", retry=True, billed=not unsent) from error
        if reply.status_code != 200:
            raise self._refusal(reply)
        try:
            return json.loads(reply.content)
        except ValueError as error:
            what = f"{self._where} answered with something that is not JSON"
            raise Fault(what, retry=True, billed=True) from error

    def _text(self, reply: Any) -> str | None:
        """Return the field of the answer as text; of a list of blocks a tool's input, or texts."""
        found = look_up(reply, self._path)
        if found is MISSING:
            # HTTP 200 with {"error": …} is no answer: some proxies report overload like this.
            reason = f"the reply has no field {self._label}"
            said = failure(reason, look_up(reply, ("error",)), self.secrets)
            raise Fault(said, retry=True, billed=True)
        if isinstance(found, list):
            blocks = [block for block in found if isinstance(block, Mapping)]
            for block in blocks:
                if block.get("type") == "tool_use" and isinstance(block.get("input"), Mapping):
                    return json.dumps(block["input"], ensure_ascii=False)
            texts = (str(block.get("text", "")) for block in blocks if block.get("type") == "text")
            return "".join(texts) or None
        if isinstance(found, bool):
            return "true" if found else "false"
        return None if found is None or isinstance(found, dict) else str(found)

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


def _tokens(reply: Any, *names: str) -> int | None:
    """Return a count of tokens under the names that providers use."""
    found = (look_up(reply, ("usage", name)) for name in names)
    return next((value for value in found if isinstance(value, int) and value >= 0), None)


def _retry_after(value: str | None) -> float | None:
    """Read the header: seconds, or a date."""
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return max(0.0, (date - datetime.now(UTC)).total_seconds()) if date.tzinfo else None


def web_client(
    target: str, question: ClientQuestion, columns: Sequence[str], labels: Sequence[str]
) -> HttpClient:
    """Make a client from an address and a request template."""
    if question.request is None:
        raise InputError(
            'an HTTP API needs a request template: request=\'{"text": "{review}"}\' (--request)'
        )
    # Behind "#", which no server is sent: where the reply holds the answer.
    url, _, answer_at = target.partition("#")
    return HttpClient(
        url,
        request_of(question.request),
        columns=columns,
        headers=question.headers,
        answer_at=answer_at or "$.label",
    )


# Chat models: a prompt with columns filled in, and the answer in the text.


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One API of chat models.

    Parameters
    ----------
    home, call, version
        The provider's own address, the path of a call, and the version that an address must have.
    key, keys
        The header of the key, by name, and all headers that may hold one.
    at
        Where the reply holds the answer.
    form
        From a schema to the fields that ask for it.
    body, system, headers
        Further fields of every request, whether the system prompt is one of them, and headers.
    """

    home: str
    call: str
    version: str = "v1"
    key: str
    keys: tuple[str, ...]
    at: str
    form: Callable[[Json], dict[str, Any]]
    body: Mapping[str, Any] = field(default_factory=dict)
    system: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def client(
        self, target: str, question: ClientQuestion, columns: Sequence[str], labels: Sequence[str]
    ) -> HttpClient:
        """Ask a chat model, ``PROVIDER:MODEL@URL``.

        A header that holds a key replaces the provider's.
        """
        model, _, base = target.partition("@")
        if not model or question.prompt is None:
            raise InputError(
                "a chat model (--api) needs a prompt, such as prompt='Is this review positive?"
                " {review} Answer one of {labels}.' (--prompt), and a name"
            )
        prompt = with_labels(text_or_file(question.prompt), labels)
        system = None if question.system_prompt is None else text_or_file(question.system_prompt)
        check_fields(prompt, columns, "--prompt")
        check_fields(system, columns, "--system-prompt")

        # The request in the provider's words; what nobody gave is left to the model.
        messages = [{"role": "user", "content": prompt}]
        body = {"model": model, **self.body, "messages": messages}
        if system is not None and self.system:
            body["system"] = system
        elif system is not None:
            messages.insert(0, {"role": "system", "content": system})
        if question.answer == "schema":
            body |= self.form(_schema(labels))

        # The provider itself always wants a key; another server gets one if there is one.
        headers = {**self.headers, **question.headers}
        typed = {name.lower() for name in question.headers} & {name.lower() for name in self.keys}
        if not typed and (not base or os.environ.get(self.key.partition("$")[2])):
            headers[self.keys[0]] = self.key
        return HttpClient(
            _endpoint(base or self.home, self.call, self.version),
            body | request_of(question.request),
            columns=columns,
            headers=headers,
            answer_at=self.at,
        )


OPENAI = Provider(
    home="https://api.openai.com/v1",
    call="chat/completions",
    key="Bearer $OPENAI_API_KEY",
    keys=("Authorization", "api-key"),
    at="$.choices[0].message.content",
    form=lambda schema: {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }
    },
    version="",
)
ANTHROPIC = Provider(
    home="https://api.anthropic.com",
    call="messages",
    key="$ANTHROPIC_API_KEY",
    keys=("x-api-key", "Authorization"),
    at="$.content",
    form=lambda schema: {
        "tools": [{"name": "answer", "input_schema": schema}],
        "tool_choice": {"type": "tool", "name": "answer"},
    },
    body={"max_tokens": 1024},  # the API wants a limit
    system=True,
    headers={"anthropic-version": "2023-06-01"},
)


def _endpoint(base: str, last: str, version: str) -> str:
    """Put the path of a call before the parameters of an address; a bare host gets its version.

    >>> _endpoint("https://x.openai.azure.com/openai/deployments/d?api-version=2024-06-01", "chat", "")
    'https://x.openai.azure.com/openai/deployments/d/chat?api-version=2024-06-01'
    >>> _endpoint("http://host", "chat", ""), _endpoint("http://host/v1", "messages", "v1")
    ('http://host/v1/chat', 'http://host/v1/messages')
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if not path or (version and not path.endswith(f"/{version}")):
        path = f"{path}/{version or 'v1'}"
    return urlunsplit(parts._replace(path=f"{path}/{last}"))


def _schema(labels: Sequence[str]) -> Json:
    """Return the JSON schema of an answer that is one of the labels."""
    if not labels:
        raise InputError("answer (--answer) schema needs the labels: name them (--labels)")
    listed: list[Json] = [label.replace("{", "{{").replace("}", "}}") for label in labels]
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": listed}},
        "required": ["answer"],
        "additionalProperties": False,
    }


def with_labels(prompt: str, labels: Sequence[str]) -> str:
    """Put the labels for ``{labels}``; braces in a label are text.

    Without labels it can only mean a column of that name.

    >>> with_labels("One of {labels}: {text} {{labels}}", ["a", "{b}"])
    'One of a, {{b}}: {text} {{labels}}'
    """
    if not labels:
        return prompt
    listed = ", ".join(labels).replace("{", "{{").replace("}", "}}")
    return re.sub(
        r"\{\{|\}\}|\{labels\}",
        lambda match: listed if match[0] == "{labels}" else match[0],
        prompt,
    )
