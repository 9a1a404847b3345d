"""The messages of a chat request: examples first, then the prompt, with columns filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tallystick.clients.kind import ChatOptions, ClientSpec, text_or_file
from tallystick.clients.template import check_fields, fields, fill, parse_json
from tallystick.errors import InputError
from tallystick.results import Json

__all__ = ["chat_messages", "extra_fields", "prompt_of", "system_of", "with_labels"]


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


def chat_messages(prompt: str, chat: ChatOptions, columns: Sequence[str]) -> list[Json]:
    """Return the messages as a template: examples as earlier turns, then the prompt.

    Parameters
    ----------
    prompt
        With ``{column}``; ``{{`` and ``}}`` are braces.
    chat
        Names the file of examples.
    columns
        Columns that the data has.
    """
    check_fields(prompt, columns, "the prompt")
    messages: list[Json] = []
    for row in _examples(chat.examples):
        given = {name: row.get(name) for name in columns}
        messages.append({"role": "user", "content": _literal(fill(prompt, {**given, **row}))})
        messages.append({"role": "assistant", "content": _literal(str(row["answer"]))})
    messages.append({"role": "user", "content": prompt})
    return messages


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


def _examples(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the examples {path} cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"line {number} of {path} is not JSON: {error}") from error
        if not isinstance(row, Mapping) or "answer" not in row:
            raise InputError(
                f"line {number} of {path} must be an object with the columns of the prompt and"
                ' "answer"'
            )
        found.append(dict(row))
    return found
