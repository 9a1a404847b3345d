"""OpenAI-compatible chat: a model, a prompt template, and the answer in the text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tallystick.clients.chat import chat_messages, extra_fields, prompt_of, system_of, with_labels
from tallystick.clients.http import HttpClient
from tallystick.clients.kind import ChatOptions, ClientKind, ClientSpec
from tallystick.errors import InputError
from tallystick.results import Json

__all__ = ["KIND", "OpenAIClient"]

DEFAULT = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"


class OpenAIClient(HttpClient):
    """Ask a chat model. The temperature is not set unless you set it: some models refuse it.

    Parameters
    ----------
    target
        ``model@base-url``; without the address OpenAI's own. Parameters of the address, such as
        Azure's ``?api-version=…``, are kept.
    prompt
        A template with ``{column}``; ``{labels}`` stands for the labels.
    labels
        The labels.
    key_name
        The environment variable with the key. A server that wants none (a local one) is asked
        without, and a header that holds a key replaces it.
    headers, columns, timeout
        As for any HTTP client.
    chat
        System prompt, temperature, length, JSON mode, extra fields and examples.
    """

    def __init__(
        self,
        target: str,
        *,
        prompt: str,
        labels: Sequence[str],
        columns: Sequence[str],
        key_name: str | None = None,
        timeout: float,
        headers: Mapping[str, str] | None = None,
        chat: ChatOptions | None = None,
    ) -> None:
        model, _, base = target.partition("@")
        if not model:
            raise InputError(f"api (--api) must be openai:MODEL@BASE-URL, got openai:{target}")
        key = key_name or KEY
        own = dict(headers or {})
        keyed = any(name.lower() in ("authorization", "api-key") for name in own)
        if not (os.environ.get(key) or base or keyed):
            raise InputError(
                f"openai:{model} needs a key: export {key}=…, or name a server (openai:MODEL@URL)"
            )
        if os.environ.get(key) and not keyed:
            own["Authorization"] = f"Bearer ${key}"
        super().__init__(
            _endpoint(base or DEFAULT),
            request=_body(
                model, with_labels(prompt, labels, columns), chat or ChatOptions(), columns
            ),
            label="$.choices[0].message.content",
            headers=own,
            columns=columns,
            timeout=timeout,
        )


def _body(model: str, prompt: str, chat: ChatOptions, columns: Sequence[str]) -> dict[str, Json]:
    """Return the request as a template."""
    messages = chat_messages(prompt, chat, columns)
    system = system_of(chat, columns)
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    body: dict[str, Any] = {"model": model, "messages": messages}
    if chat.temperature is not None:
        body["temperature"] = chat.temperature
    if chat.max_tokens is not None:
        body["max_tokens"] = chat.max_tokens
    if chat.json_mode:
        body["response_format"] = {"type": "json_object"}
    return body | extra_fields(chat)


def _endpoint(base: str) -> str:
    """Put the path of chat before the parameters of an address.

    >>> _endpoint("https://x.openai.azure.com/openai/deployments/d?api-version=2024-06-01")
    'https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-06-01'
    """
    parts = urlsplit(base)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/chat/completions"))


def _make(spec: ClientSpec) -> OpenAIClient:
    return OpenAIClient(
        spec.target,
        prompt=prompt_of(spec, "openai"),
        labels=spec.labels,
        columns=spec.columns,
        key_name=spec.key_name,
        timeout=spec.timeout,
        headers=spec.headers,
        chat=spec.chat,
    )


KIND = ClientKind(prefixes=("openai:",), example="openai:MODEL@URL", make=_make, prompts=True)
"""``openai:MODEL@URL``; without the address OpenAI's own."""
