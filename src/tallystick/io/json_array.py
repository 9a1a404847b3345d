"""One JSON array, ``[{"item": …}, …]``: its entries one at a time, however large the file is.

A piece of the text is held at a time. An entry that the piece cuts off is read again with more
text, and the piece doubles, so that long entries cost no more than twice their length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

from tallystick.errors import FileError
from tallystick.io.text import MAX_LINE, CheckedText

__all__ = ["EXACT", "FAST", "entries"]

PIECE = 1 << 20
"""Characters that are read at a time."""
_SPACE = re.compile(r"[ \t\r\n]*")
_CUT = 16
"""An error this close to the end of a piece may be a word or an escape that was cut off."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {twice!r} occurs twice in one object")
    return value


def _constant(word: str) -> float | None:
    return None if word == "NaN" else float(word)


FAST = json.JSONDecoder(parse_constant=_constant)
"""Reads a value; NaN is missing, and of a key that occurs twice the last value wins."""
EXACT = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_pairs)
"""The same, but a key that occurs twice is refused."""


def entries(text: CheckedText) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each entry of the array in *text*."""
    with text.path.open(encoding="utf-8-sig") as stream:
        rest = _Rest(stream, text.name)
        rest.expect("[", "the file is not one JSON array")
        number = 0
        if rest.next() == "]":
            rest.skip()
        else:
            while True:
                number += 1
                yield number, rest.object(number)
                sign = rest.next()
                rest.skip()
                if sign == "]":
                    break
                if sign != ",":
                    raise FileError(_broken(text.name, number, sign))
        if extra := rest.next():
            raise FileError(
                f"{text.name} goes on after its array, with {extra!r}: keep one array in a file"
            )


def _broken(name: str, number: int, sign: str) -> str:
    if not sign:
        return f"{name} breaks off after entry {number:,}: copy or write it again"
    return f"{name}, entry {number} is followed by {sign!r}, where a comma or ] belongs: correct it"


class _Rest:
    """What is left of the text: a piece in memory, and the stream that it came from."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self.stream, self.name = stream, name
        self.piece, self.at = "", 0

    def next(self) -> str:
        """Return the next sign that is no space; nothing at the end."""
        while True:
            found = _SPACE.match(self.piece, self.at)
            self.at = found.end() if found is not None else self.at
            if self.at < len(self.piece):
                return self.piece[self.at]
            if not self._more(PIECE):
                return ""

    def skip(self) -> None:
        """Go past one sign."""
        self.at += 1

    def expect(self, sign: str, otherwise: str) -> None:
        """Go past this sign, or refuse the file."""
        if self.next() != sign:
            raise FileError(f"{self.name}: {otherwise}")
        self.skip()

    def object(self, number: int) -> dict[str, Any]:
        """Return the object that comes next, and go past it."""
        first = self.next()
        if first != "{":
            start = self.piece[self.at : self.at + 40]
            raise FileError(
                _broken(self.name, number - 1, "")
                if not first
                else f"{self.name}, entry {number} is {start!r}, not an object:"
                " write {'column': value, …}"
            )
        while True:
            try:
                value, end = FAST.raw_decode(self.piece, self.at)
                # perhaps a key twice, which a dict hides
                if self.piece.count(":", self.at, end) > len(value):
                    value, end = EXACT.raw_decode(self.piece, self.at)
            except json.JSONDecodeError as error:
                if self._cut(error) and self._more(max(PIECE, len(self.piece) - self.at)):
                    continue
                line = self.piece.count("\n", self.at, error.pos) + 1
                raise FileError(
                    f"{self.name}, entry {number} is not one JSON object ({error.msg} in line"
                    f" {line} of the entry): complete the entry or remove it"
                ) from error
            except (ValueError, RecursionError) as error:
                raise FileError(
                    f"{self.name}, entry {number} cannot be read ({error}): correct the entry or"
                    " remove it"
                ) from error
            self.at = end
            return dict(value)

    def _cut(self, error: json.JSONDecodeError) -> bool:
        """Say whether the end of the piece, and not the text, may be what is wrong."""
        near = error.pos >= len(self.piece) - _CUT
        return near or error.msg.startswith("Unterminated string")

    def _more(self, number: int) -> bool:
        """Drop what is read and append text; False at the end of the file."""
        if len(self.piece) - self.at > MAX_LINE:
            raise FileError(
                f"{self.name}: one entry is longer than {MAX_LINE >> 20} MB: this is not a table"
            )
        new = self.stream.read(number)
        self.piece, self.at = self.piece[self.at :] + new, 0
        return bool(new)
