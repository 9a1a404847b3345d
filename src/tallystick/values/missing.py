"""Which cells hold no answer: the rule in Python and the same rule in SQL.

Blank cells, NaN and None are missing, and so are the tokens that the user names. A token is
compared with the text of a cell, blanks around it left out. A token that is a number is compared by
value too: ``"-1"`` means the integer -1, the number -1.0 and the text of either. Tokens for
booleans match in upper and lower case.

`is_missing` is the Python rule, `without_missing` its SQL twin; tests/values/test_missing.py holds
the two equal on any text, number, boolean and token.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from functools import cache

from tallystick.values.label import Label
from tallystick.values.sql import Kind, double, identifier, literal

__all__ = [
    "NUMBER",
    "as_number",
    "is_missing",
    "is_nan",
    "null_if_missing",
    "numbers_among",
    "without_missing",
]

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
"""A plain decimal number; not ``nan``, ``inf`` or ``1_000``."""

# All that str.strip() takes off: SQL's trim knows only the space, so it is told the others.
_BLANKS = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

# Integers of an engine have at most 64 bits; a longer token can match none of them.
_LONGEST = 2**64


def is_missing(label: Label, tokens: frozenset[str] = frozenset()) -> bool:
    """Say whether *label* is blank, NaN or one of *tokens*.

    >>> [is_missing(label, frozenset({"-1"})) for label in (-1, -1.0, " -1", "-1.0", " ", "no")]
    [True, True, True, True, True, False]
    """
    if label is None:
        return True

    if isinstance(label, str):
        text = label.strip()
        return (
            not text
            or text in _words(tokens)
            or (
                bool(tokens)
                and bool(NUMBER.fullmatch(text))
                and float(text) in numbers_among(tokens)
            )
        )
    if isinstance(label, bool):
        return label in _booleans(tokens)
    if isinstance(label, int):
        return bool(tokens) and label in _integers(tokens)
    return math.isnan(label) or (
        bool(tokens) and (label in numbers_among(tokens) or label in _infinities(tokens))
    )


@cache
def numbers_among(tokens: frozenset[str]) -> tuple[float, ...]:
    """Return the tokens that are finite plain numbers, as floats.

    >>> numbers_among(frozenset({"-1", "NA", "inf"}))
    (-1.0,)
    """
    numbers = {float(token) for token in _words(tokens) if NUMBER.fullmatch(token)}
    return tuple(sorted(number for number in numbers if math.isfinite(number)))


@cache
def _words(tokens: frozenset[str]) -> frozenset[str]:
    return frozenset(token.strip() for token in tokens)


@cache
def _integers(tokens: frozenset[str]) -> tuple[int, ...]:
    """Return the tokens that are whole numbers, with all their digits."""
    found = (Decimal(token) for token in _words(tokens) if NUMBER.fullmatch(token))
    return tuple(
        sorted({int(n) for n in found if abs(n) < _LONGEST and n == n.to_integral_value()})
    )


@cache
def _booleans(tokens: frozenset[str]) -> frozenset[bool]:
    words = {token.lower() for token in _words(tokens)}
    return frozenset(value for value in (False, True) if str(value).lower() in words)


@cache
def _infinities(tokens: frozenset[str]) -> tuple[float, ...]:
    return tuple(
        sorted(float(t) for t in {w.lower() for w in _words(tokens)} if t in ("inf", "-inf"))
    )


def without_missing(column: str, kind: Kind, tokens: Collection[str]) -> str:
    """Return the SQL of *column* with every missing value as NULL.

    >>> without_missing("a", "integer", ["-1", "NA"])
    'case when "a" in (-1) then null else "a" end'
    >>> without_missing("a", "boolean", [])
    '"a"'
    """
    return null_if_missing(identifier(column), kind, tokens)


def null_if_missing(cell: str, kind: Kind, tokens: Collection[str]) -> str:
    """Return the SQL of *cell*, itself SQL, with every missing value as NULL.

    >>> null_if_missing("a", "float", ["-1"])
    "case when isnan(a + random()) or a in ('-1.0'::double) then null else a end"
    """
    named = frozenset(tokens)
    if kind == "text":
        return _text_or_null(cell, named)
    if kind == "boolean":
        tests = _among(cell, [str(value).lower() for value in sorted(_booleans(named))])
    elif kind == "float":
        numbers = (*numbers_among(named), *_infinities(named))
        tests = [is_nan(cell), *_among(cell, [double(number) for number in numbers])]
    else:
        tests = _among(cell, [str(number) for number in _integers(named)])
    return f"case when {' or '.join(tests)} then null else {cell} end" if tests else cell


def _text_or_null(cell: str, tokens: frozenset[str]) -> str:
    """Return the SQL of a text, NULL where it is missing.

    Cutting off every sort of blank costs more than all the rest of a scan. A text that begins (and,
    where it is compared with tokens, ends) with a visible ASCII character has none to cut off, and
    a CASE cuts only what is left.
    """
    words = sorted(_words(tokens) - {""})
    trimmed = f"trim({cell}, {literal(_BLANKS)})"
    rest = " or ".join(_text_tests(trimmed, ["", *words], tokens))
    as_it_is = cell
    solid = _visible(cell)
    if words:
        solid = f"{solid} and {_visible(f'right({cell}, 1)')}"
        as_it_is = (
            f"case when {' or '.join(_text_tests(cell, words, tokens))} then null else {cell} end"
        )
    return f"case when {solid} then {as_it_is} when {rest} then null else {cell} end"


def _visible(text: str) -> str:
    """Return the SQL that says whether a text begins with a visible ASCII character."""
    return f"{text} >= '!' and {text} < chr(127)"


def _text_tests(text: str, words: Sequence[str], tokens: frozenset[str]) -> list[str]:
    tests = _among(text, [literal(word) for word in words])

    if numbers := numbers_among(tokens):
        # Only what is written as a plain number is cast: DuckDB would also read 1_000 and 0x10.
        pattern = literal(NUMBER.pattern.replace(r"\d", "[0-9]"))
        values = ", ".join(double(number) for number in numbers)
        tests.append(
            f"(regexp_full_match({text}, {pattern}) and try_cast({text} as double) in ({values}))"
        )
    return tests


def _among(cell: str, values: Sequence[str]) -> list[str]:
    return [f"{cell} in ({', '.join(values)})"] if values else []


def as_number(cell: str, kind: Kind) -> str:
    """Return the SQL of *cell*, itself SQL, as a number; NULL where it is not one.

    DuckDB reads 1_000 as a thousand, which nobody writes into a table of scores but by mistake.

    >>> as_number("a", "float")
    'try_cast(a as double)'
    """
    number = f"try_cast({cell} as double)"
    return (
        f"case when contains({cell}, '_') then null else {number} end" if kind == "text" else number
    )


def is_nan(number: str) -> str:
    """Return the SQL that tells whether *number*, itself SQL, is NaN.

    The least and the greatest value that Parquet keeps of a column leave NaN out, and DuckDB
    concludes from them that ``isnan`` is false everywhere. It concludes nothing from a sum with a
    random number, which is NaN for NaN only.
    """
    return f"isnan({number} + random())"
