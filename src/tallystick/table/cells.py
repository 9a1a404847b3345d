"""What one cell holds: a label, no answer, a spelling of another label, and the same in SQL."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, Literal, TypeAlias

from tallystick.errors import InputError

# What a label is, when two labels are the same, and in which order labels come.
#
# Python says ``1 == True == 1.0``. Here 1, ``"1"`` and True are three labels, but 1.0 is the label
# 1: pandas turns a column of integers with a gap into floats, and the same vote must not become
# another one because a neighbour is missing. Every table of labels is keyed by :func:`identity`.


Label: TypeAlias = bool | int | float | str | None
"""A decision as it was written; None is a missing one."""

MOST_LABELS = 10_000
"""A column with more distinct values than this looks like text, not like decisions."""

# Integers and floats are one type, number: 0.5 stands between 0 and 1.
_RANK: Mapping[type, int] = {bool: 0, int: 1, float: 1, str: 2, type(None): 3}

# A float of this size or more has no integer of 64 bits, which is what Arrow can hold.
_NO_INTEGER = 2.0**63


def whole(label: Label) -> Label:
    """Return *label*, with a whole float as its integer.

    >>> whole(1.0), whole(-0.0), whole(0.5), whole(True), whole("1.0")
    (1, 0, 0.5, True, '1.0')
    """
    if type(label) is float and label.is_integer() and abs(label) < _NO_INTEGER:
        return int(label)
    return label


def identity(label: Label) -> tuple[int, Label]:
    """Return the key under which a label is the same; keys sort by type, then by value.

    >>> identity(1) == identity(1.0), identity(1) == identity(True), identity(1) == identity("1")
    (True, False, False)
    """
    return (_RANK[type(label)], "" if label is None else label)


def in_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Return the distinct labels by type (boolean, number, text), then by value; missing is last.

    >>> in_order(["spam", None, 2, True, "ham", 1.0, 1, 0.5])
    (True, 0.5, 1, 2, 'ham', 'spam', None)
    """
    distinct = {identity(label): whole(label) for label in labels}
    return tuple(distinct[key] for key in sorted(distinct))


def plain(value: Any, *, column: str) -> Label:
    """Return *value* as a plain Python label.

    NaN and pandas' own missing values become None, a whole float its integer, a NumPy scalar its
    Python twin. Anything that cannot be a label raises `InputError` with the column.

    >>> plain(float("nan"), column="gpt") is None, plain(1.0, column="gpt")
    (True, 1)
    >>> plain(b"yes", column="gpt")
    Traceback (most recent call last):
    tallystick.errors.InputError: column 'gpt' holds a bytes (b'yes'): a label is a bool, an int, a float or a str ...
    """
    if hasattr(value, "item"):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value  # type: ignore[no-any-return]  # the line above has checked its type

    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            raise InputError(
                f"column {column!r} holds an infinite number: give finite labels, or cut the column"
            )
        return whole(float(value))
    if isinstance(value, str):  # a subclass, such as an Enum member that is a str
        return str(value)
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' own missing values
        return None
    raise not_labels(column, f"holds a {type(value).__name__} ({value!r})")


def not_labels(column: str, what: str) -> InputError:
    """Return the error for a column of something else than labels."""
    return InputError(
        f"column {column!r} {what}: a label is a bool, an int, a float or a str; cast the column,"
        " or leave it out with columns="
    )


def too_many(column: str, distinct: int, example: Sequence[Any] = ()) -> InputError:
    """Return the error for a column that looks like text."""
    shown = f" (such as {example[0]!r})" if len(example) else ""
    return InputError(
        f"column {column!r} has more than {MOST_LABELS:,} distinct values{shown}, {distinct:,} so"
        " far: it looks like text or an identifier; leave it out with columns=, or bin a number"
        f" with cut={{{column!r}: edges}}"
    )


# Which cells hold no answer: the rule in Python and the same rule in SQL.
#
# Blank cells, NaN and None are missing, and so are the tokens that the user names. A token is
# compared with the text of a cell, blanks around it left out. A token that is a number is compared
# by value too: ``"-1"`` means the integer -1, the number -1.0 and the text of either. Tokens for
# booleans match in upper and lower case.
#
# `is_missing` is the Python rule, `without_missing` its SQL twin; tests/values/test_missing.py
# holds the two equal on any text, number, boolean and token.


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


# One spelling of each label over all columns, or the call is refused.
#
# A judge that answers ``1`` and one that answers ``"1"`` never agree, and nothing in the result
# would show why. So labels that a reader would take for the same are refused when they meet in one
# call, unless the caller asks to coerce them.


LARGEST = 2**53
"""Beyond it, neighbouring whole numbers are one float: they cannot be told apart in JSON or in
NumPy."""

LocateRow: TypeAlias = Callable[[str, Label], object | None]
"""Where a label first stands in a column: its place for a message, or None."""

_WORDS = {"true": Decimal(1), "false": Decimal(0)}

# A text such as 1e9999 is a number without a float, and its digits would fill the memory.
_NO_FLOAT = Decimal("1e308")


def check_vocabulary(
    labels: Mapping[str, Sequence[Label]],
    *,
    coerce: bool = False,
    locate_row: LocateRow | None = None,
    counted: bool = False,
) -> dict[str, dict[Label, Label]]:
    """Hold all label columns of one call to one spelling of each label.

    Two labels are the same to a reader if they are the same number (``1``, ``"1"``, ``"01"``,
    ``True``, ``"true"``), or the same text but for case, surrounding or repeated blanks and Unicode
    composition (``"Yes"``, ``" yes"``). Each must have one type and one spelling over all columns.
    The float 1.0 is the label 1 (`tallystick.table.identity`), not another spelling of it.

    Parameters
    ----------
    labels
        The distinct labels of each column; None and NaN are missing and left out.
    coerce
        Return the renaming instead of refusing. See `spelling` for the spelling that is chosen.
    locate_row
        Where a label first stands in a column (`Table.row_of`), for the message.
    counted
        Whether the labels come from tallies that are added up: the message has another way out.

    Returns
    -------
    dict
        For each column, the new label of each label: the label itself unless *coerce*.

    Examples
    --------
    >>> check_vocabulary({"a": ["yes", "no"], "b": ["no"]})
    {'a': {'yes': 'yes', 'no': 'no'}, 'b': {'no': 'no'}}
    >>> check_vocabulary({"a": ["1"], "b": [1.0, 0.5]}, coerce=True)
    {'a': {'1': 1}, 'b': {1.0: 1, 0.5: 0.5}}
    >>> check_vocabulary({"a": ["1"], "b": [1]})
    Traceback (most recent call last):
    tallystick.errors.InputError: the label '1' (text, in column 'a') and the label 1 (integer, in column 'b') look ...
    """
    first: dict[Decimal | str, tuple[Label, str]] = {}
    renaming: dict[str, dict[Label, Label]] = {}
    for column, values in labels.items():
        # Blank text is left to the caller: here it is a label like any other.
        present = [v for v in values if isinstance(v, str) or not is_missing(v)]
        if len(present) > MOST_LABELS:
            raise InputError(
                f"column {column!r} has more than {MOST_LABELS:,} different values: it looks like"
                " text or item names, not labels; leave it out of the label columns, or name it as"
                " the item"
            )

        # An engine gives labels in any order: sorted, the same table gets the same message.
        for value in sorted(present, key=identity):
            _check_size(value, column, coerce, locate_row)
            other, where = first.setdefault(_meaning(value), (value, column))
            if not coerce and identity(other) != identity(value):
                raise InputError(
                    f"the label {_described(other, where, locate_row)} and the label"
                    f" {_described(value, column, locate_row)} look like one label spelled in two"
                    f" ways: write them alike, or {_way_out(value, counted)}"
                )
        renaming[column] = {v: spelling(v) if coerce else whole(v) for v in present}
    return renaming


def spelling(label: Label) -> Label:
    """Return the spelling that coercion gives to a label.

    It depends on nothing but the label, so shards of one table agree.

    Numbers, in digits or as text, become int where they are whole and float otherwise; booleans and
    the words true and false become 1 and 0; other text is stripped, its blanks are single, and its
    letters are lower case.

    >>> [spelling(label) for label in ("1.0", True, 2.50, " Very  Good ", None)]
    [1, 1, 2.5, 'very good', None]
    """
    if label is None:
        return None
    meaning = _meaning(label)
    if isinstance(meaning, str):
        return meaning
    if abs(meaning) > _NO_FLOAT:
        return label
    return int(meaning) if meaning == meaning.to_integral_value() else float(meaning)


def _meaning(label: Label) -> Decimal | str:
    if isinstance(label, str):
        text = " ".join(unicodedata.normalize("NFC", label).split()).casefold()
        if text in _WORDS:
            return _WORDS[text]
        return Decimal(text) if NUMBER.fullmatch(text) else text
    return Decimal(repr(label)) if isinstance(label, float) else Decimal(int(label or 0))


def _way_out(value: Label, counted: bool) -> str:
    """Return how both spellings are read as one; a sum of tallies has no option for it."""
    if counted:
        return (
            "count one of the tables again with coerce=True (tallystick tally --coerce), so that"
            f" both are {spelling(value)!r}"
        )
    return f"read both as {spelling(value)!r} with coerce=True (--coerce)"


def _check_size(value: Label, column: str, coerce: bool, locate_row: LocateRow | None) -> None:
    meaning = _meaning(value) if coerce or not isinstance(value, str) else None
    if isinstance(meaning, Decimal) and not abs(meaning) <= LARGEST:
        raise InputError(
            f"the label {_described(value, column, locate_row)} is infinite, or beyond 2^53, where"
            " whole numbers cannot be told apart: write such labels as text, or mark it as missing"
            f" with missing=[{str(value)!r}] (--missing={value})"
        )


def _described(value: Label, column: str, locate_row: LocateRow | None) -> str:
    kinds = {str: "text", bool: "boolean", int: "integer", float: "number"}
    place = locate_row(column, value) if locate_row is not None else None
    return (
        f"{value!r} ({kinds[type(value)]}, in column"
        f" {column!r}{f', {place}' if place is not None else ''})"
    )


# How names, text and numbers are written in SQL, and which kind of label an SQL type holds.


Kind: TypeAlias = Literal["text", "integer", "float", "boolean", "other"]
"""What a column holds; ``other`` cannot be labels."""

_KINDS: Mapping[str, Kind] = {
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "FLOAT": "float",
    "DOUBLE": "float",
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
}


def kind_of(sql_type: object) -> Kind:
    """Return which kind of label a column of this SQL type can hold.

    >>> kind_of("BIGINT"), kind_of("DATE")
    ('integer', 'other')
    """
    return _KINDS.get(str(sql_type), "other")


def identifier(name: str) -> str:
    """Return *name* quoted as an SQL identifier, whatever characters it holds.

    >>> identifier('the "best" one')
    '"the ""best"" one"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return *text* quoted as an SQL string.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def double(number: float) -> str:
    """Return *number* as an SQL double with every digit; infinity can be written too.

    A bare ``0.1`` would be a DECIMAL in SQL, which is rounded once more when it is compared.

    >>> double(0.1), double(float("inf"))
    ("'0.1'::double", "'inf'::double")
    """
    return f"'{float(number)!r}'::double"
