"""What a client is: something that answers one item at a time, and says what kind of failure a
failure was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tallystick.errors import InputError, TallystickError
from tallystick.results import Json


class ClientError(TallystickError):
    """The API cannot be asked, or not any more: the message says why. Everything answered so far is
    in the journal.
    """


class Fault(TallystickError):
    """One request failed.

    Parameters
    ----------
    message
        What happened; never holds a key.
    retry
        Whether to try again.
    billed
        Whether it may have been billed: the server did not clearly refuse it.
    wait
        Seconds that the server asked to wait.
    fatal
        Whether asking anything else is pointless (a refused key).
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool,
        billed: bool,
        wait: float | None = None,
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry, self.billed, self.wait, self.fatal = retry, billed, wait, fatal


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back for one item.

    Parameters
    ----------
    text
        The answer; None if the reply holds none.
    model, fingerprint
        What the API says answered, if it says so.
    input_tokens, output_tokens
        What it counted, if it says so.
    cut
        Whether it ended because no more tokens were allowed: what came is no answer.
    """

    text: str | None
    model: str | None = None
    fingerprint: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cut: bool = False


class Client(ABC):
    """Answer items. Opened once, closed once, asked concurrently.

    Attributes
    ----------
    prefix, example
        What its addresses begin with, and how one is written, for messages and ``--help``.
    prompts
        Whether it sends a prompt; otherwise it gets the row itself.
    """

    prefix: ClassVar[str] = ""
    example: ClassVar[str] = ""
    prompts: ClassVar[bool] = False

    @classmethod
    def of(cls, spec: ClientSpec) -> Client:
        """Make one from what the user says about an API."""
        raise NotImplementedError(f"{cls.__name__} has no address: pass the client itself")

    @property
    @abstractmethod
    def description(self) -> dict[str, Json]:
        """All that decides what is asked, without any key: a journal is not continued under another
        description.
        """

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must never be written anywhere."""
        return ()

    @property
    def recorded(self) -> bool:
        """Whether answers are read from a record, so that asking again gives the same one."""
        return False

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return what is sent about one item, without any key: a journal reuses an answer only if
        the same was asked.
        """
        return {name: None if cell is None else str(cell) for name, cell in row.items()}

    async def ask(self, row: Mapping[str, Any]) -> Reply:
        """Return the answer to one item with what the API says about it."""
        return Reply(text=await self.answer(row))

    @abstractmethod
    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the answer to one item, None if there is none in the reply; raise :class:`Fault`
        if it failed.
        """

    def ready(self) -> None:
        """Refuse what would make every request fail, before the first is written down."""
        return

    async def close(self) -> None:
        """Let go of what `ready` opened."""
        return

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


# What the user says about an API.


# How files of prompts and templates end: one word with such an ending is a file.
_ENDINGS = frozenset({".txt", ".md", ".json", ".jsonl", ".j2", ".jinja", ".prompt", ".tmpl"})


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
    prompt, system
        Prompt templates, or ``@FILE``; ``{labels}`` stands for the labels.
    request
        HTTP: the body, a JSON template. A chat model: more fields of it. As text, as ``@FILE``, or
        as the value itself.
    label_path
        Where the label stands in a JSON reply.
    headers
        Name to value; keys only as ``$NAME``.
    max_tokens
        None leaves it to the model.
    schema
        Whether to ask a chat model for one of the labels in a field ``answer``.
    timeout
        Seconds that one request may take.
    """

    target: str = ""
    columns: Sequence[str] = ()
    labels: Sequence[str] = ()
    prompt: str | None = None
    system: str | None = None
    request: str | Mapping[str, Any] | None = None
    label_path: str = "$.label"
    headers: Mapping[str, str] = field(default_factory=dict)
    max_tokens: int | None = None
    schema: bool = False
    timeout: float = 60.0


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
