"""Requests from templates, keys from the environment, labels by path."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.errors import InputError
from tallystick.results import Json

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
    if isinstance(template, str):
        return {name for name in _FIELD.findall(template) if name}
    if isinstance(template, Mapping):
        return {name for part in (*template.keys(), *template.values()) for name in fields(part)}
    return (
        {name for part in template for name in fields(part)}
        if isinstance(template, list)
        else set()
    )


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
                f" ({', '.join(columns[:8])}); write {{{{ and }}}} for braces that are text"
            )


def parse_json(text: str, what: str) -> Json:
    """Return *text* as JSON or say where it is not."""

    def refuse(name: str) -> None:
        raise InputError(f"{what} holds {name}, which is not JSON: write it as a text or as null")

    try:
        value: Json = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(f"{what} is not JSON: {error}") from error
    return value


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
