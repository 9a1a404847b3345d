"""How names, text and numbers are written in SQL, and which kind of label an SQL type holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

__all__ = ["Kind", "double", "identifier", "kind_of", "literal"]

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
