"""Chat APIs of providers: how a call is written, what its reply holds, what it costs."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tallystick.clients.client import ChatOptions, ClientKind, ClientSpec, Reply, text_or_file
from tallystick.clients.http import HttpClient
from tallystick.clients.journal import Journal
from tallystick.clients.template import check_fields, fields, parse_json
from tallystick.errors import InputError
from tallystick.results import Json, count

# The messages of a chat request: a prompt with columns filled in.


def prompt_of(spec: ClientSpec, kind: str) -> str:
    """Return the prompt template; refuse a spec without a prompt."""
    if spec.prompt is None:
        raise InputError(
            f"{kind}: needs a prompt, such as prompt='Is this review positive? {{review}} Answer"
            " one of {labels}.' (--prompt)"
        )
    return text_or_file(spec.prompt)


def with_labels(prompt: str, labels: Sequence[str], columns: Sequence[str]) -> str:
    """Put the labels for ``{labels}``; braces in a label are text.

    Without labels it can only mean a column of that name; if there is none it is refused.

    >>> with_labels("One of {labels}: {text} {{labels}}", ["a", "{b}"], ["text"])
    'One of a, {{b}}: {text} {{labels}}'
    """
    if "labels" not in fields(prompt) or (not labels and "labels" in columns):
        return prompt
    if not labels:
        raise InputError(
            "the prompt names {labels}, and no labels are known: name them (--labels yes,no), or"
            " write them into the prompt. Nothing was asked"
        )
    listed = _literal(", ".join(labels))
    return _LABELS.sub(lambda match: listed if match[0] == "{labels}" else match[0], prompt)


_LABELS = re.compile(r"\{\{|\}\}|\{labels\}")


def system_of(chat: ChatOptions, columns: Sequence[str]) -> str | None:
    """Return the system prompt, checked; None if there is none."""
    if chat.system is None:
        return None
    text = text_or_file(chat.system)
    check_fields(text, columns, "the system prompt")
    return text


def chat_messages(prompt: str, columns: Sequence[str]) -> list[Json]:
    """Return the messages as a template; ``{{`` and ``}}`` are braces."""
    check_fields(prompt, columns, "the prompt")
    return [{"role": "user", "content": prompt}]


def extra_fields(chat: ChatOptions) -> dict[str, Any]:
    """Return the extra fields of the body."""
    if chat.extra is None:
        return {}
    if not isinstance(chat.extra, str):
        return dict(chat.extra)
    value = parse_json(text_or_file(chat.extra), "the extra body (--extra)")
    if not isinstance(value, dict):
        raise InputError('the extra body (--extra) must be a JSON object such as {"top_p": 0.9}')
    return value


def _literal(text: str) -> str:
    """Escape the braces of a text that is final, since the request is a template."""
    return text.replace("{", "{{").replace("}", "}}")


# OpenAI-compatible chat: a model, a prompt template, and the answer in the text.


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
        System prompt, temperature, length, JSON mode and extra fields.
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
    messages = chat_messages(prompt, columns)
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


OPENAI = ClientKind(prefixes=("openai:",), example="openai:MODEL@URL", make=_make, prompts=True)
"""``openai:MODEL@URL``; without the address OpenAI's own."""

# Anthropic's messages: a model, a prompt template, and the answer in the text blocks.


ANTHROPIC_DEFAULT = "https://api.anthropic.com"
ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
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
        key = key_name or ANTHROPIC_KEY
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
            "messages": chat_messages(with_labels(prompt, labels, columns), columns),
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
            f"{(base or ANTHROPIC_DEFAULT).rstrip('/')}/v1/messages",
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


def _anthropic_make(spec: ClientSpec) -> AnthropicClient:
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


ANTHROPIC = ClientKind(
    prefixes=("anthropic:",), example="anthropic:MODEL", make=_anthropic_make, prompts=True
)
"""``anthropic:MODEL``, or ``anthropic:MODEL@URL`` for another server."""

# What an API said of itself over a run: tokens, latency, and which model answered.


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens, time and names, over all resumes of a journal.

    Parameters
    ----------
    input_tokens, output_tokens
        In all, as the API counts them; None if it does not.
    latency, slowest
        The median and the longest time of an answered request, in seconds.
    models, fingerprints
        How many answers came from each, in the order in which they first appeared.
    cut
        Replies that were cut off because no more tokens were allowed; they count as unread.
    failures
        How many questions failed for each reason, the commonest first.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | None = None
    slowest: float | None = None
    models: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)


def usage_of(journal: Journal) -> Usage:
    """Add up what a journal says about its answers."""
    entries = journal.answers.values()
    facts = [one.facts for one in entries if one.code is not None]
    reasons = Counter(one.text for one in entries if one.code is None)

    def total(name: str) -> int | None:
        known = [one[name] for one in facts if name in one]
        return sum(known) if known else None

    times = [one["seconds"] for one in facts if "seconds" in one]
    return Usage(
        input_tokens=total("input_tokens"),
        output_tokens=total("output_tokens"),
        latency=round(median(times), 3) if times else None,
        slowest=round(max(times), 3) if times else None,
        models=dict(Counter(one["model"] for one in facts if "model" in one)),
        fingerprints=dict(Counter(one["fingerprint"] for one in facts if "fingerprint" in one)),
        cut=sum(one.cut for one in entries),
        failures=dict(reasons.most_common(3)),
    )


def usage_warnings(usage: Usage) -> tuple[str, ...]:
    """Say if the API named more than one model, cut replies off, or failed, and why.

    >>> usage_warnings(Usage(models={"m-05": 40, "m-08": 2}, cut=3, failures={"HTTP 400": 7}))
    ('the API changed its model during the run: it named m-05 (40 answers), m-08 (2 answers)', \
'3 replies were cut off at the token limit and count as unread: allow longer ones (--max-tokens), \
in a new journal', 'the commonest reason why calls failed (7 times): HTTP 400')
    """
    found = []
    if len(usage.models) > 1:
        named = ", ".join(f"{name} ({count(n)} answers)" for name, n in usage.models.items())
        found.append(f"the API changed its model during the run: it named {named}")
    if usage.cut:
        found.append(
            f"{count(usage.cut)} replies were cut off at the token limit and count as unread: allow"
            " longer ones (--max-tokens), in a new journal"
        )
    for reason, times in list(usage.failures.items())[:1]:
        often = "once" if times == 1 else f"{count(times)} times"
        found.append(f"the commonest reason why calls failed ({often}): {reason}")
    return tuple(found)


# What requests cost: per call and per token, known before (at most) and after (exactly).


MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class CallPrices:
    """CallPrices in one currency.

    Parameters
    ----------
    call
        Per request.
    input, output
        Per million tokens.
    currency
        As it is printed; blank if it does not matter.
    max_tokens
        Tokens that a reply has at most: what a hard limit on cost needs.

    Examples
    --------
    >>> prices = CallPrices(input=2.0, output=8.0, currency="USD", max_tokens=100)
    >>> prices.most(sent_bytes=500_000)  # a token is at least one byte
    1.0008
    >>> prices.exact(Reply(text="yes", input_tokens=1000, output_tokens=10), most=1.0)
    0.00208
    """

    call: float = 0.0
    input: float = 0.0
    output: float = 0.0
    currency: str = ""
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("call", "input", "output"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                flag = "price" if name == "call" else f"price_{name}"
                raise InputError(f"{flag} must be a positive number, got {value!r}")

    @property
    def known(self) -> bool:
        """Whether anything costs anything."""
        return bool(self.call or self.input or self.output)

    @property
    def bounded(self) -> bool:
        """Whether the cost of a request has a limit that is known before it is sent."""
        return not self.output or self.max_tokens is not None

    def most(self, sent_bytes: int) -> float:
        """Return what a request of so many bytes costs at most."""
        tokens = self.input * sent_bytes + self.output * (self.max_tokens or 0)
        return self.call + tokens / MILLION

    def likely(self, sent_bytes: int) -> float:
        """Return what it probably costs: four bytes per token, and half of the longest reply."""
        tokens = self.input * sent_bytes / 4 + self.output * (self.max_tokens or 200) / 2
        return self.call + tokens / MILLION

    def exact(self, reply: Reply, *, most: float) -> float:
        """Return what an answered request cost; *most* where the API does not count tokens."""
        if (self.input and reply.input_tokens is None) or (
            self.output and reply.output_tokens is None
        ):
            return most
        tokens = self.input * (reply.input_tokens or 0) + self.output * (reply.output_tokens or 0)
        return self.call + tokens / MILLION
