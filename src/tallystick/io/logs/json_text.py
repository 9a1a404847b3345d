"""JSON of logs: whole documents or one object a line, with the place of what is broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tallystick.errors import FileError
from tallystick.io.sources import File
from tallystick.io.text import checked

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

__all__ = ["document", "each_line", "parsed"]


def each_line(file: File) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line that is not blank."""
    with checked(file) as text, text.path.open(encoding="utf-8-sig") as stream:
        for line, words in enumerate(stream, start=1):
            if not words.isspace():
                value = parsed(words, f"{file.name}, line {line}")
                if not isinstance(value, dict):
                    raise FileError(
                        f"{file.name}, line {line} is not an object: the log is damaged"
                    )
                yield line, value


def document(file: File) -> Any:
    """Return the one JSON document that a file holds."""
    with checked(file) as text:
        return parsed(text.path.read_text(encoding="utf-8-sig"), file.name)


def parsed(text: str | bytes, name: str) -> Any:
    """Return the value of JSON text, or refuse it by name."""
    try:
        value = json.loads(text)
        if _SURROGATE.search(text if isinstance(text, str) else text.decode("utf-8", "replace")):
            # Half of a pair is not text, and no table can hold it.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError) as error:
        raise FileError(f"{name} is not complete JSON ({error}): copy the log again") from error
