"""Chat APIs of providers: how a call is written, what its reply holds, what it costs."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from statistics import median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tallystick.clients.client import ClientSpec, Reply, text_or_file
from tallystick.clients.http import HttpClient, request_of
from tallystick.clients.journal import Journal
from tallystick.clients.template import check_fields, fields
from tallystick.errors import InputError
from tallystick.results import count

# Chat models: a prompt with columns filled in, and the answer in the text. The addresses of all
# providers have one form: PROVIDER:MODEL@https://HOST/v1, and without the address the provider's
# own.


class OpenAIClient(HttpClient):
    """Ask a chat model through an OpenAI-compatible address, ``openai:MODEL@URL``.

    Parameters of the address, such as Azure's ``?api-version=…``, are kept. The key is that of
    OPENAI_API_KEY; a server that wants none (a local one) is asked without, and a header that holds
    a key replaces it.
    """

    prefix, example, prompts = "openai:", "openai:MODEL@URL", True

    @classmethod
    def of(cls, spec: ClientSpec) -> OpenAIClient:
        """Make one; the temperature is not set unless you set it: some models refuse it."""
        model, base = _model_at(cls.prefix, spec.target)
        messages, system = _messages(spec, cls.prefix), _system_of(spec)
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        body: dict[str, Any] = {"model": model, "messages": messages, **_length(spec)}
        if spec.schema:
            form = {"name": "answer", "strict": True, "schema": _schema(spec.labels)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        own = replace(
            spec,
            label_path="$.choices[0].message.content",
            headers=_keyed(spec, ("Authorization", "api-key"), "Bearer $OPENAI_API_KEY", base),
        )
        url = _endpoint(base or "https://api.openai.com/v1", "chat/completions")
        return cls(url, own, request=body | request_of(spec))


# Tokens of an Anthropic reply if nothing is said: the API wants a number.
LONGEST = 1024


class AnthropicClient(HttpClient):
    """Ask through Anthropic's messages; the answer is the text of all text blocks, or of a tool."""

    prefix, example, prompts = "anthropic:", "anthropic:MODEL@URL", True

    @classmethod
    def of(cls, spec: ClientSpec) -> AnthropicClient:
        """Make one, as for an OpenAI-compatible chat."""
        model, base = _model_at(cls.prefix, spec.target)
        body: dict[str, Any] = {"model": model, "max_tokens": LONGEST, **_length(spec)}
        body["messages"], system = _messages(spec, cls.prefix), _system_of(spec)
        if system is not None:
            body["system"] = system
        if spec.schema:
            body["tools"] = [{"name": "answer", "input_schema": _schema(spec.labels)}]
            body["tool_choice"] = {"type": "tool", "name": "answer"}
        keyed = _keyed(spec, ("x-api-key", "Authorization"), "$ANTHROPIC_API_KEY", base)
        own = replace(
            spec, label_path="$.content", headers={"anthropic-version": "2023-06-01", **keyed}
        )
        url = _endpoint(base or "https://api.anthropic.com", "messages", version="v1")
        return cls(url, own, request=body | request_of(spec))

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


def _model_at(prefix: str, target: str) -> tuple[str, str]:
    """Split an address into the model and where it is."""
    model, _, base = target.partition("@")
    if not model:
        raise InputError(f"api (--api) must be {prefix}MODEL or {prefix}MODEL@URL, got {target!r}")
    return model, base


def _keyed(spec: ClientSpec, names: tuple[str, str], key: str, base: str) -> dict[str, str]:
    """Return the headers with the key by name; the provider itself always wants one."""
    own = dict(spec.headers)
    given = {name.lower() for name in own} & {name.lower() for name in names}
    if not given and (not base or os.environ.get(key.partition("$")[2])):
        own[names[0]] = key
    return own


def _length(spec: ClientSpec) -> dict[str, Any]:
    """Return the fields that are sent only where they are given."""
    given = {"temperature": spec.temperature, "max_tokens": spec.max_tokens}
    return {name: value for name, value in given.items() if value is not None}


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


def _messages(spec: ClientSpec, prefix: str) -> list[Any]:
    """Return the messages as a template."""
    if spec.prompt is None:
        raise InputError(
            f"{prefix} needs a prompt, such as prompt='Is this review positive? {{review}} Answer"
            " one of {labels}.' (--prompt)"
        )
    text = with_labels(text_or_file(spec.prompt), spec.labels, spec.columns)
    check_fields(text, spec.columns, "the prompt")
    return [{"role": "user", "content": text}]


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
    listed = ", ".join(labels).replace("{", "{{").replace("}", "}}")
    return _LABELS.sub(lambda match: listed if match[0] == "{labels}" else match[0], prompt)


_LABELS = re.compile(r"\{\{|\}\}|\{labels\}")


def _system_of(spec: ClientSpec) -> str | None:
    """Return the system prompt, checked; None if there is none."""
    if spec.system is None:
        return None
    text = text_or_file(spec.system)
    check_fields(text, spec.columns, "the system prompt")
    return text


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
    """Prices in one currency.

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
        for value in (self.call, self.input, self.output):
            if not isfinite(value) or value < 0:
                raise InputError(f"price must be a positive number, got {value!r}")

    @classmethod
    def of(cls, text: str | float, *, max_tokens: int | None = None) -> CallPrices:
        """Read ``--price``: a number per request, or two per million tokens in and out.

        >>> CallPrices.of("2.5,10 USD").output, CallPrices.of(0.002).call
        (10.0, 0.002)
        """
        numbers, _, currency = str(text).strip().partition(" ")
        try:
            given = [float(part) for part in numbers.split(",")]
        except ValueError:
            given = []
        if len(given) == 1:
            return cls(call=given[0], currency=currency.strip(), max_tokens=max_tokens)
        if len(given) == 2:
            per_token = {"input": given[0], "output": given[1]}
            return cls(**per_token, currency=currency.strip(), max_tokens=max_tokens)
        raise InputError(
            "price (--price) is a number per request, or IN,OUT per million tokens, with the"
            f" currency after a blank, e.g. '2.5,10 USD'; got {text!r}"
        )

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
        sent, received = reply.input_tokens, reply.output_tokens
        if (self.input and sent is None) or (self.output and received is None):
            return most
        return self.call + (self.input * (sent or 0) + self.output * (received or 0)) / MILLION
