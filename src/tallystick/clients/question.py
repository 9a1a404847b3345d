"""What can be said about an API, whatever it is asked for: how to ask, read, limit and pay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

from tallystick.clients.client import Client, Reply, request_of
from tallystick.clients.local import KINDS
from tallystick.clients.reading import READINGS, AnswerReading
from tallystick.errors import InputError
from tallystick.table import Question, option

LONGEST_REPLY = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Fields of a request that limit a reply."""

API = f"Whom to ask: {', '.join(kind.example for kind in KINDS)}."


@dataclass(frozen=True, kw_only=True)
class ClientQuestion(Question):
    """What is said about an API, whatever it is asked for.

    In Python *api* may be a `Client`, *request* JSON and *header* a mapping. The wait before
    a retry is doubled and jittered each time; a Retry-After of the server counts instead, unless it
    asks for more than ten minutes: then the call has failed.
    """

    api: str | Client | None = option(None, API)
    prompt: str | None = option(
        None, "Prompt with {column} and {labels}, or a file that holds it; {{ and }} are braces."
    )
    system_prompt: str | None = option(None, "System prompt, or a file that holds it.")
    answer: str | None = option(
        None, f"How answers are read: {', '.join(READINGS)} (schema asks a chat model for JSON)."
    )
    request: str | Mapping[str, Any] | None = option(
        None,
        'Request body as JSON, or a file: \'{"text": "{review}"}\'; of chat more fields, such as'
        " '{\"max_tokens\": 50}'.",
    )
    header: tuple[str, ...] | Mapping[str, str] = option(
        (), "'Name: value' of an HTTP header, keys as $NAME; repeat."
    )
    concurrency: int = option(8, "Most requests at a time.", low=1, hidden=True)
    timeout: float = option(60.0, "Most seconds for one request.", hidden=True)
    attempts: int = option(5, "How often an item is tried.", low=1, hidden=True)
    wait: float = option(0.5, "Seconds before the first retry.", hidden=True)
    breaker: int = option(10, "Failed items in a row that end a run.", low=1, hidden=True)
    price: str | float = option(
        "0", "Price of a request, or IN,OUT per million tokens: '2.5,10 USD'."
    )
    max_cost: float | None = option(
        None, "Most money to spend, retries included. This is a hard limit."
    )
    journal: Path | None = option(
        None,
        "File that keeps every answer, so that the same command resumes a run that was stopped.",
        metavar="FILE",
        writes=True,
    )
    yes: bool = option(False, "Do not ask for confirmation before spending.")
    progress: Callable[[], AbstractContextManager[Any]] | None = option(
        None, "Opens what is told how the run goes (`Progress`), for the run only.", hidden=True
    )
    confirm: Callable[[str], None] | None = option(
        None, "Is told what a run costs before it begins; raises to stop it.", hidden=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.answer_reading, self.prices  # refused now
        for name in ("timeout", "wait", "max_cost"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value > 0):
                raise InputError(f"{name} must be a positive number, got {value!r}")
        if self.max_cost is not None and not (self.prices.known and self.prices.bounded):
            raise InputError(
                "max_cost is a hard limit: it needs a price (price=…), and with a price of tokens"
                " the longest reply in tokens (--request '{\"max_tokens\": 50}')"
            )

    @property
    def answer_reading(self) -> AnswerReading:
        """How answers are read."""
        return AnswerReading(self.answer or READINGS[0])

    @cached_property
    def prices(self) -> CallPrices:
        """What a request costs."""
        sent = request_of(self.request)
        longest = next((sent[name] for name in LONGEST_REPLY if name in sent), None)
        return CallPrices.of(self.price, max_tokens=longest)

    @property
    def headers(self) -> dict[str, str]:
        """Name to value of the headers, keys as $NAME.

        >>> ClientQuestion(header=("Authorization: Bearer $KEY",)).headers
        {'Authorization': 'Bearer $KEY'}
        """
        given = self.header
        if isinstance(given, Mapping):
            return dict(given)
        pairs = [tuple(part.strip() for part in line.partition(":")) for line in given]
        if not all(name and colon for name, colon, _ in pairs):
            # The line itself is not shown: it may hold a key.
            raise InputError("header (--header) must be 'Name: value', with keys as $NAME")
        return {name: value for name, _, value in pairs}


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
        names = {1: ("call",), 2: ("input", "output")}.get(len(given), ())
        if names and all(isfinite(value) and value >= 0 for value in given):
            prices = dict(zip(names, given, strict=True))
            return cls(**prices, currency=currency.strip(), max_tokens=max_tokens)
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
