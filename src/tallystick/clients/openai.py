"""OpenAI-compatible chat: a model, a prompt template, and a label somewhere in the text."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tallystick.clients.http import HttpClient
from tallystick.clients.kind import ClientKind, ClientSpec, text_or_file
from tallystick.clients.template import check_fields
from tallystick.errors import InputError

__all__ = ["KIND", "OpenAIClient"]

DEFAULT = "https://api.openai.com/v1"


class OpenAIClient(HttpClient):
    """Ask a chat model, at temperature 0, for a label.

    Parameters
    ----------
    target
        ``model@base-url``; without the address OpenAI's own.
    prompt
        A template with ``{column}``; ``{labels}`` stands for the labels.
    labels
        The labels.
    key_name
        The environment variable with the key. A server that wants none (a local one) is asked
        without.
    columns, timeout
        As for any HTTP client.
    """

    def __init__(
        self,
        target: str,
        *,
        prompt: str,
        labels: Sequence[str],
        columns: Sequence[str],
        key_name: str = "OPENAI_API_KEY",
        timeout: float,
    ) -> None:
        model, _, base = target.partition("@")
        if not model:
            raise InputError(f"openai: wants openai:MODEL@BASE-URL, got openai:{target}")
        text = prompt.replace("{labels}", ", ".join(labels).replace("{", "(").replace("}", ")"))
        check_fields(text, columns, "the prompt")
        if not os.environ.get(key_name) and not base:
            raise InputError(
                f"openai:{model} needs a key: export {key_name}=…, or name a server"
                " (openai:MODEL@URL)"
            )
        super().__init__(
            f"{(base or DEFAULT).rstrip('/')}/chat/completions",
            request={
                "model": model,
                "temperature": 0,
                "messages": [{"role": "user", "content": text}],
            },
            label="$.choices[0].message.content",
            headers={"Authorization": f"Bearer ${key_name}"} if os.environ.get(key_name) else {},
            columns=columns,
            timeout=timeout,
        )

    @property
    def loose(self) -> bool:
        """A chat model wraps its label in words."""
        return True


def _make(spec: ClientSpec) -> OpenAIClient:
    if spec.prompt is None:
        raise InputError(
            "openai: needs a prompt, such as prompt='Is this review positive? {review} Answer one"
            " of {labels}.' (--prompt)"
        )
    return OpenAIClient(
        spec.target,
        prompt=text_or_file(spec.prompt),
        labels=spec.labels,
        columns=spec.columns,
        key_name=spec.key_name,
        timeout=spec.timeout,
    )


KIND = ClientKind(prefixes=("openai:",), example="openai:MODEL@URL", make=_make)
"""``openai:MODEL@URL``; without the address OpenAI's own."""
