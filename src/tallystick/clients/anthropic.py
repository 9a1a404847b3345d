"""Anthropic's messages: a model, a prompt template, and the answer in the text blocks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.clients.chat import chat_messages, extra_fields, prompt_of, system_of, with_labels
from tallystick.clients.http import HttpClient
from tallystick.clients.kind import ChatOptions, ClientKind, ClientSpec
from tallystick.errors import InputError

__all__ = ["KIND", "AnthropicClient"]

DEFAULT = "https://api.anthropic.com"
KEY = "ANTHROPIC_API_KEY"
VERSION = "2023-06-01"
LONGEST = 1024
"""Tokens of a reply if nothing is said: the API wants a number."""


class AnthropicClient(HttpClient):
    """Ask through the messages API; the answer is the text of all its text blocks.

    Parameters
    ----------
    target
        ``model@base-url``; without the address Anthropic's own.
    prompt, labels, columns, timeout, headers, chat
        As for an OpenAI-compatible chat. JSON mode is a sentence of the system prompt here.
    key_name
        The environment variable with the key.
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
            raise InputError(
                f"api (--api) must be anthropic:MODEL or anthropic:MODEL@URL, got {target!r}"
            )
        key = key_name or KEY
        own = {"anthropic-version": VERSION, **(headers or {})}
        keyed = any(name.lower() in ("authorization", "x-api-key") for name in own)
        if not (os.environ.get(key) or base or keyed):
            raise InputError(f"anthropic:{model} needs a key: export {key}=…")
        if os.environ.get(key) and not keyed:
            own["x-api-key"] = f"${key}"

        how = chat or ChatOptions()
        request: dict[str, Any] = {
            "model": model,
            "max_tokens": how.max_tokens or LONGEST,
            "messages": chat_messages(with_labels(prompt, labels, columns), how, columns),
        }
        system = system_of(how, columns)
        if how.json_mode:
            system = " ".join(
                filter(None, (system, "Answer with one JSON object and nothing else."))
            )
        if system is not None:
            request["system"] = system
        if how.temperature is not None:
            request["temperature"] = how.temperature
        super().__init__(
            f"{(base or DEFAULT).rstrip('/')}/v1/messages",
            request=request | extra_fields(how),
            label="$.content",
            headers=own,
            columns=columns,
            timeout=timeout,
        )

    def _text(self, reply: Any) -> str | None:
        """Join the text blocks; a reply without content is a fault."""
        blocks = reply.get("content") if isinstance(reply, Mapping) else None
        if not isinstance(blocks, list):
            raise self._no_answer(reply)
        texts = [
            str(block.get("text", ""))
            for block in blocks
            if isinstance(block, Mapping) and block.get("type") == "text"
        ]
        return "".join(texts) or None


def _make(spec: ClientSpec) -> AnthropicClient:
    return AnthropicClient(
        spec.target,
        prompt=prompt_of(spec, "anthropic"),
        labels=spec.labels,
        columns=spec.columns,
        key_name=spec.key_name,
        timeout=spec.timeout,
        headers=spec.headers,
        chat=spec.chat,
    )


KIND = ClientKind(prefixes=("anthropic:",), example="anthropic:MODEL", make=_make, prompts=True)
"""``anthropic:MODEL``, or ``anthropic:MODEL@URL`` for another server."""
