"""What a client is, and what it is made from: templates, paths to the answer, keys by name.

A client answers one item at a time, and says what kind of failure a failure was.
"""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    recorded
        Whether answers are read from a record, so that asking again gives the same one.
    """

    recorded: ClassVar[bool] = False

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

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return what is sent about one item, without any key: a journal reuses an answer only if
        the same was asked.
        """
        return {name: None if cell is None else str(cell) for name, cell in row.items()}

    async def ask(self, row: Mapping[str, Any]) -> Reply:
        """Return the answer to one item with what the API says about it."""
        return Reply(text=await self.answer(row))

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the answer to one item, None if there is none in the reply; raise :class:`Fault`
        if it failed. A client writes this, or `ask`.
        """
        raise NotImplementedError

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
    if plain and not path.is_file() and path.suffix.lower() not in _ENDINGS:
        return option
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


# Requests from templates, keys from the environment, answers by path.


_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\d+|-1)\]|\['([^']+)'\]|\[\"([^\"]+)\"\]")


def fields(template: Json) -> set[str]:
    """Return the columns that a template names in braces; ``{{`` and ``}}`` are literal braces.

    Examples
    --------
    >>> fields({"text": "{review}", "n": 3, "form": "{{label}}"})
    {'review'}
    """
    return {name for _, text in texts_of(template) for name in _FIELD.findall(text) if name}


def texts_of(body: Json, field: str = "body") -> Iterator[tuple[str, str]]:
    """Yield every text of a JSON value with the name of its field; a name is a text, too."""
    if isinstance(body, str):
        yield field, body
    elif isinstance(body, list):
        for value in body:
            yield from texts_of(value, field)
    elif isinstance(body, Mapping):
        for name, value in body.items():
            yield name, name
            yield from texts_of(value, name)


def fill(template: str, row: Mapping[str, Any]) -> str:
    """Put the values of *row* for ``{column}``; text in a value is never read as a template
    again.

    Examples
    --------
    >>> fill('Answer as {{"label": …}}. {text}', {"text": "{hi}"})
    'Answer as {"label": …}. {hi}'
    """

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]  # {{ or }}
        return "" if row[match[1]] is None else str(row[match[1]])

    return _FIELD.sub(value, template)


def fill_json(template: Json, row: Mapping[str, Any]) -> Json:
    """Fill every text of a JSON template. The template is parsed before, so no value can change its
    structure.

    Examples
    --------
    >>> fill_json({"text": "{review}"}, {"review": 'say "hi", {you}'})
    {'text': 'say "hi", {you}'}
    """
    if isinstance(template, str):
        return fill(template, row)
    if isinstance(template, Mapping):
        return {fill(key, row): fill_json(value, row) for key, value in template.items()}
    return [fill_json(value, row) for value in template] if isinstance(template, list) else template


def check_fields(template: Json, columns: Sequence[str], what: str) -> None:
    """Refuse a template that names a column that is not there."""
    for name in sorted(fields(template)):
        if name not in columns:
            raise InputError(
                f"{what} names {{{name}}}, which is not a column of the data"
                f" ({', '.join(columns[:8])}); write {{{{ and }}}} for braces that are text,"
                " and --labels where no labels are known for {labels}"
            )


def request_of(given: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the request that the user gives, as text, as a file or as the value itself."""
    if not isinstance(given, str):
        return dict(given or {})

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is refused")

    try:
        return {**json.loads(text_or_file(given), parse_constant=refuse)}
    except (ValueError, TypeError) as error:
        raise InputError(
            f'the request (--request) must be a JSON object such as {{"top_p": 0.9}}: {error}'
        ) from error


def parse_path(path: str) -> tuple[str | int, ...]:
    """Return the steps of a JSONPath of names and positions, e.g. ``$.choices[0].text``.

    Examples
    --------
    >>> parse_path("$.choices[0]['a b']")
    ('choices', 0, 'a b')
    """
    steps: list[str | int] = []
    at = 1
    while path.startswith("$") and at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            break
        steps.append(int(match[2]) if match[2] else next(part for part in match.groups() if part))
        at = match.end()
    if not path.startswith("$") or at != len(path):
        raise InputError(
            f"a label path reads like $.result[0].label (names and positions only), got {path!r}"
        )
    return tuple(steps)


# What :func:`look_up` returns where a path leads nowhere; None is a JSON null.
MISSING = object()


def look_up(value: Any, steps: Sequence[str | int]) -> Any:
    """Follow *steps* into parsed JSON, and tell null (None) from a field that is not there.

    Examples
    --------
    >>> look_up({"a": None}, ("a",)) is None, look_up({}, ("a",)) is MISSING
    (True, True)
    """
    for step in steps:
        if isinstance(value, Mapping):
            there = step in value
        else:
            there = isinstance(value, list) and isinstance(step, int)
            there = there and -len(value) <= int(step) < len(value)
        if not there:
            return MISSING
        value = value[step]
    return value


class Secret:
    """Text with ``$NAME`` for keys: shown as it is written, sent with the values of the
    environment.

    A key that is not exported is asked for when it is first needed: a journal that holds every
    answer is read without one.

    Examples
    --------
    >>> import os
    >>> os.environ["DEMO_KEY"] = "s3cret"
    >>> header = Secret("Bearer $DEMO_KEY", "header Authorization")
    >>> header.sent, header.shown, header.values
    ('Bearer s3cret', 'Bearer $DEMO_KEY', ('s3cret',))
    """

    def __init__(self, text: str, what: str) -> None:
        self.shown, self._what = text, what

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the environment that it names, as far as they are set."""
        found = (os.environ.get(name) for name in _VARIABLE.findall(self.shown))
        return tuple(value for value in found if value)

    @property
    def sent(self) -> str:
        """The text with those values; refuse one that is not set."""
        for name in _VARIABLE.findall(self.shown):
            if not os.environ.get(name):
                raise InputError(
                    f"{self._what} needs the environment variable {name}, which is not set: export"
                    f" {name}=…"
                )
        return _VARIABLE.sub(lambda match: os.environ[match[1]], self.shown)

    def __repr__(self) -> str:
        return f"Secret({self.shown!r})"
