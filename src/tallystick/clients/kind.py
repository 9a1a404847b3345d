"""One kind of client: the word that its addresses begin with, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tallystick.clients.client import Client
from tallystick.errors import InputError

__all__ = ["ChatOptions", "ClientKind", "ClientSpec", "parse_headers", "text_or_file"]


_ENDINGS = frozenset({".txt", ".md", ".json", ".jsonl", ".j2", ".jinja", ".prompt", ".tmpl"})
"""How files of prompts and templates end: one word with such an ending is a file."""


@dataclass(frozen=True, kw_only=True)
class ClientSpec:
    """What the user says about an API. Each kind of client takes what it needs.

    Parameters
    ----------
    target
        The address without the prefix of its kind; for HTTP the whole address.
    columns
        The columns that the data has: templates may name them.
    labels
        The labels that an answer can be.
    prompt
        A prompt template, or ``@FILE``.
    request
        A JSON template: as text, as ``@FILE``, or as the value itself.
    label_path
        Where the label stands in a JSON reply.
    headers
        Name to value; keys only as ``$NAME``.
    key_name
        The environment variable that holds the key; None for the usual one of its kind.
    timeout
        Seconds that one request may take.
    chat
        How to ask a chat model.
    """

    target: str
    columns: Sequence[str]
    labels: Sequence[str] = ()
    prompt: str | None = None
    request: str | Mapping[str, Any] | None = None
    label_path: str = "$.label"
    headers: Mapping[str, str] = field(default_factory=dict)
    key_name: str | None = None
    timeout: float = 60.0
    chat: ChatOptions = field(default_factory=lambda: ChatOptions())


@dataclass(frozen=True, kw_only=True)
class ChatOptions:
    """How to ask a chat model, besides the prompt.

    Parameters
    ----------
    system
        A system prompt, or ``@FILE``.
    temperature
        None leaves it to the model: some refuse any other than their own.
    max_tokens
        The longest reply; None leaves it to the model.
    json_mode
        Whether to ask for JSON.
    extra
        More fields of the request body, as JSON text, ``@FILE`` or a mapping.
    examples
        A file of examples that are shown first: one JSON object per line, with the columns of the
        prompt and ``answer``.
    """

    system: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    json_mode: bool = False
    extra: str | Mapping[str, Any] | None = None
    examples: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ClientKind:
    """One kind of client.

    Parameters
    ----------
    prefixes
        What the address begins with, such as ``openai:``.
    example
        How the address is written, for messages and ``--help``.
    make
        From a specification to a client.
    keeps_prefix
        Whether the prefix is part of the target, as ``https:`` is.
    prompts
        Whether it sends a prompt; otherwise it gets the row itself.
    """

    prefixes: tuple[str, ...]
    example: str
    make: Callable[[ClientSpec], Client]
    keeps_prefix: bool = False
    prompts: bool = False


def text_or_file(option: str) -> str:
    """Return an option's own text, or the content of the file that ``@FILE`` names.

    >>> text_or_file("Is it positive? {review}")
    'Is it positive? {review}'
    """
    # A prompt is a sentence; one word that names a file is the file, with or without the @.
    plain = not option.startswith("@")
    if plain and (len(option) > 255 or any(c in option for c in " {}\n")):
        return option
    path = Path(option.removeprefix("@"))
    if plain and not path.is_file():
        if path.suffix.lower() in _ENDINGS:
            raise InputError(f"the file {option} does not exist: name another, or write the text")
        return option
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def parse_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return headers from lines such as ``Name: value``.

    >>> parse_headers(["Authorization: Bearer $KEY"])
    {'Authorization': 'Bearer $KEY'}
    """
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not (name.strip() and colon):
            # The line itself is not shown: it may hold a key.
            raise InputError("header (--header) must be 'Name: value', with keys as $NAME")
        headers[name.strip()] = value.strip()
    return headers
