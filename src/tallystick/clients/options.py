"""The options that every verb shares which calls an API: how to ask, how to read, what to spend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.clients.caller import Wire
from tallystick.clients.kind import ChatOptions, ClientSpec, parse_headers
from tallystick.clients.reading import READINGS, Reading
from tallystick.data import Question, option

__all__ = ["ClientQuestion"]

_KEYED = "'Name: value' of an HTTP header, keys as $NAME; repeat."


@dataclass(frozen=True, kw_only=True)
class ClientQuestion(Question):
    """What is said about an API, whatever it is asked for.

    In Python *request* and *extra* may be JSON values and *header* a mapping; the command line
    gives all of them as text.
    """

    prompt: str | None = option(
        None,
        "Prompt, or a file that holds it. {column} is replaced by the value of that column; write"
        " {{ and }} for braces.",
    )
    system_prompt: str | None = option(None, "System prompt, or a file that holds it.")
    answer: str | None = option(None, f"How answers are read: {', '.join(READINGS)}.")
    temperature: float | None = option(
        None, "Temperature of the model. Not sent by default, because some models refuse it.", low=0
    )
    max_tokens: int | None = option(None, "Most tokens in a reply.", low=1)
    json_mode: bool = option(False, "Ask the chat model to reply in JSON.")
    extra: str | Mapping[str, Any] | None = option(
        None, "More fields for the request body: JSON, or a file that holds it."
    )
    examples: Path | None = option(
        None,
        "File of examples to put into the prompt: one JSON object per line, with the columns and"
        " an answer.",
        metavar="FILE",
    )
    request: str | Mapping[str, Any] | None = option(
        None, 'HTTP: request body as JSON, or a file that holds it: \'{"text": "{review}"}\'.'
    )
    label_path: str = option(
        "$.label", "HTTP: where the answer stands in the reply, as a JSONPath."
    )
    header: tuple[str, ...] | Mapping[str, str] = option((), _KEYED)
    key_name: str | None = option(None, "Environment variable that holds the API key.")
    concurrency: int = option(8, "Most requests at a time.", low=1)
    timeout: float = option(60.0, "Most seconds for one request.")
    attempts: int = option(5, "Most tries per item.", low=1)
    rate: float | None = option(None, "Most requests per second.")
    price: float = option(0.0, "Price of one request.")
    price_input: float = option(0.0, "Price of a million tokens sent.")
    price_output: float = option(0.0, "Price of a million tokens received.")
    currency: str = option("", "Currency of the prices, e.g. USD.")
    max_cost: float | None = option(
        None, "Most money to spend, retries included. This is a hard limit."
    )
    journal: Path | None = option(
        None,
        "File that keeps every answer, so that the same command resumes a run that was stopped.",
        metavar="FILE",
        writes=True,
    )
    durable: bool = option(
        False, "Write each answer through to the disk at once (slower, survives a power cut)."
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
        for name in ("journal", "examples"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, Path(getattr(self, name)))
        if self.answer is not None:
            Reading(self.answer)

    def wire(self) -> Wire:
        """Return how the API may be treated."""
        return Wire(
            concurrency=self.concurrency,
            timeout=self.timeout,
            attempts=self.attempts,
            rate=self.rate,
            price=self.price,
            price_input=self.price_input,
            price_output=self.price_output,
            currency=self.currency,
            max_tokens=self.max_tokens,
            max_cost=self.max_cost,
        )

    def client_spec(self, columns: tuple[str, ...], labels: tuple[str, ...]) -> ClientSpec:
        """Return what a client is made from, besides its address."""
        header = self.header
        return ClientSpec(
            target="",
            columns=columns,
            labels=labels,
            prompt=self.prompt,
            request=self.request,
            label_path=self.label_path,
            headers=dict(header) if isinstance(header, Mapping) else parse_headers(header),
            key_name=self.key_name,
            timeout=self.timeout,
            chat=ChatOptions(
                system=self.system_prompt,
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                json_mode=self.json_mode,
                extra=self.extra,
                examples=self.examples,
            ),
        )
