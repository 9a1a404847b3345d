"""What counts as missing, and the relation in which it is NULL.

Blank cells, NaN, None and "" are missing, and so are the tokens that the user names. A token is
compared with what is written, one that is a number by its value too: "-1" means the integer -1, the
number -1.0 and the text of either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.io.engine import identifier, literal

if TYPE_CHECKING:
    from tallystick.io.table import Kind

__all__ = ["NUMBER", "as_number", "is_nan", "without_missing"]

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
"""A plain decimal number; not ``nan``, ``inf`` or ``1_000``."""


def as_number(cell: str, kind: Kind) -> str:
    """Return the SQL of *cell*, itself SQL, as a number; NULL where it is none.

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


def without_missing(column: str, kind: Kind, tokens: Sequence[str]) -> str:
    r"""Return the SQL of *column* with every missing value as NULL.

    >>> without_missing("a", "integer", ["-1", "NA"])
    'case when "a" in (-1) then null else "a" end'
    >>> without_missing("a", "text", ["NA"])
    'case when trim("a", chr(9) || chr(10) || chr(13) || \' \') in (\'\', \'NA\') then null else "a" end'
    >>> without_missing("a", "boolean", [])
    '"a"'
    """
    name = identifier(column)
    numbers = [token for token in tokens if NUMBER.fullmatch(token)]
    if kind == "text":
        words = ", ".join(literal(word) for word in ["", *(token.strip() for token in tokens)])
        text = f"trim({name}, chr(9) || chr(10) || chr(13) || ' ')"
        test = f"{text} in ({words})"
        if numbers:
            spelled = literal(NUMBER.pattern.replace(r"\d", "[0-9]"))
            test += (
                f" or (regexp_full_match({text}, {spelled}) and try_cast({text} as double) in"
                f" ({', '.join(numbers)}))"
            )
        return f"case when {test} then null else {name} end"
    if kind == "boolean":
        bools = [token.lower() for token in tokens if token.lower() in ("true", "false")]
        return (
            f"case when {name} in ({', '.join(bools)}) then null else {name} end" if bools else name
        )
    if kind == "float":
        numbers += [
            f"'{token.lower()}'::double" for token in tokens if token.lower() in ("inf", "-inf")
        ]
        tests = [is_nan(name), *([f"{name} in ({', '.join(numbers)})"] if numbers else [])]
        return f"case when {' or '.join(tests)} then null else {name} end"
    return (
        f"case when {name} in ({', '.join(numbers)}) then null else {name} end" if numbers else name
    )
