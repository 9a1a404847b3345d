"""Chat APIs of providers: how a call is written, and what its reply holds."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from tallystick.clients.client import Given, check_fields, request_of, text_or_file
from tallystick.clients.http import HttpClient
from tallystick.errors import InputError

# Chat models: a prompt with columns filled in, and the answer in the text. The addresses of all
# providers have one form: PROVIDER:MODEL@https://HOST/v1, and without the address the provider's
# own. A provider is its declaration: where it is, which key it wants, where its reply holds the
# answer, and how it writes a request.


class ChatClient(HttpClient):
    """Ask a chat model, ``PROVIDER:MODEL@URL``.

    Parameters of the address, such as Azure's ``?api-version=…``, are kept. A server that wants no
    key (a local one) is asked without, and a header that holds a key replaces the provider's.

    Attributes
    ----------
    home, call, version
        The provider's own address, the path of a call, and the version that an address must have.
    key, keys
        The header of the key, by name, and all headers that may hold one.
    headers
        Further headers.
    at
        Where the reply holds the answer.
    """

    prompts = True
    home: ClassVar[str]
    call: ClassVar[str]
    version: ClassVar[str] = ""
    key: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    headers: ClassVar[Mapping[str, str]] = {}
    at: ClassVar[str]

    @classmethod
    def body(cls, prompt: str, system: str | None, given: Given) -> dict[str, Any]:
        """Return the request in the provider's words; what nobody gave is left to the model."""
        raise NotImplementedError

    @classmethod
    def of(cls, given: Given) -> ChatClient:
        """Make one from an address, a prompt and further fields of the request."""
        question, columns = given.question, given.columns
        model, _, base = given.target.partition("@")
        if not model or question.prompt is None:
            raise InputError(
                f"api (--api) {cls.example} needs a prompt, such as prompt='Is this review"
                " positive? {review} Answer one of {labels}.' (--prompt), and a model"
            )
        prompt = with_labels(text_or_file(question.prompt), given.labels)
        system = None if question.system_prompt is None else text_or_file(question.system_prompt)
        check_fields(prompt, columns, "the prompt")
        check_fields(system, columns, "the system prompt")
        own = question.headers
        headers = {**cls.headers, **own}
        typed = {name.lower() for name in own} & {name.lower() for name in cls.keys}
        # The provider itself always wants a key; another server gets one if there is one.
        if not typed and (not base or os.environ.get(cls.key.partition("$")[2])):
            headers[cls.keys[0]] = cls.key
        body = {"model": model, **cls.body(prompt, system, given), **request_of(question.request)}
        url = _endpoint(base or cls.home, cls.call, version=cls.version)
        return cls(url, body, given, headers=headers, answer_at=cls.at)


class OpenAIClient(ChatClient):
    """Ask through an OpenAI-compatible address; a temperature is sent if the request has one."""

    prefix, example = "openai:", "openai:MODEL@URL"
    home, call = "https://api.openai.com/v1", "chat/completions"
    key, keys = "Bearer $OPENAI_API_KEY", ("Authorization", "api-key")
    at = "$.choices[0].message.content"

    @classmethod
    def body(cls, prompt: str, system: str | None, given: Given) -> dict[str, Any]:
        """Return messages, and a response format for one of the labels."""
        body: dict[str, Any] = {"messages": [{"role": "user", "content": prompt}]}
        if system is not None:
            body["messages"].insert(0, {"role": "system", "content": system})
        if given.question.answer == "schema":
            form = {"name": "answer", "strict": True, "schema": _schema(given.labels)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


class AnthropicClient(ChatClient):
    """Ask through Anthropic's messages; the answer is the text of all text blocks, or of a tool."""

    prefix, example = "anthropic:", "anthropic:MODEL@URL"
    home, call, version = "https://api.anthropic.com", "messages", "v1"
    key, keys = "$ANTHROPIC_API_KEY", ("x-api-key", "Authorization")
    headers: ClassVar[Mapping[str, str]] = {"anthropic-version": "2023-06-01"}
    at = "$.content"

    @classmethod
    def body(cls, prompt: str, system: str | None, given: Given) -> dict[str, Any]:
        """Return messages, and a tool for one of the labels; the API wants a longest reply."""
        messages = [{"role": "user", "content": prompt}]
        body: dict[str, Any] = {"max_tokens": LONGEST, "messages": messages}
        if system is not None:
            body["system"] = system
        if given.question.answer == "schema":
            body["tools"] = [{"name": "answer", "input_schema": _schema(given.labels)}]
            body["tool_choice"] = {"type": "tool", "name": "answer"}
        return body

    def _text(self, reply: Any) -> str | None:
        """Join the text blocks; a reply without content is a fault."""
        blocks = reply.get("content") if isinstance(reply, Mapping) else None
        if not isinstance(blocks, list):
            raise self._no_answer(reply)
        known = [block for block in blocks if isinstance(block, Mapping)]
        for block in known:
            if block.get("type") == "tool_use" and isinstance(block.get("input"), Mapping):
                return json.dumps(block["input"], ensure_ascii=False)
        texts = [str(block.get("text", "")) for block in known if block.get("type") == "text"]
        return "".join(texts) or None


# Tokens of an Anthropic reply if nothing is said.
LONGEST = 1024


def _endpoint(base: str, last: str, *, version: str = "") -> str:
    """Put the path of a call before the parameters of an address; a bare host gets its version.

    >>> _endpoint("https://x.openai.azure.com/openai/deployments/d?api-version=2024-06-01", "chat")
    'https://x.openai.azure.com/openai/deployments/d/chat?api-version=2024-06-01'
    >>> _endpoint("http://host", "chat"), _endpoint("http://host/v1", "messages", version="v1")
    ('http://host/v1/chat', 'http://host/v1/messages')
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    if not path or (version and not path.endswith(f"/{version}")):
        path = f"{path}/{version or 'v1'}"
    return urlunsplit(parts._replace(path=f"{path}/{last}"))


def _schema(labels: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer that is one of the labels."""
    if not labels:
        raise InputError("answer (--answer) schema needs the labels: name them (--labels)")
    listed = [label.replace("{", "{{").replace("}", "}}") for label in labels]
    answer = {"type": "string", "enum": listed}
    return {
        "type": "object",
        "properties": {"answer": answer},
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
    return _LABELS.sub(lambda match: listed if match[0] == "{labels}" else match[0], prompt)


_LABELS = re.compile(r"\{\{|\}\}|\{labels\}")
