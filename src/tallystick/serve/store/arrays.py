"""Arrays as PostgreSQL reads them: psycopg looks at every element, which costs more."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["bytes_array", "number_array", "text_array"]


def number_array(column: Collection[float]) -> str:
    """Write numbers.

    >>> number_array([1, 2]), number_array([])
    ('{1,2}', '{}')
    """
    return "{" + ",".join(map(repr, column)) + "}"


def text_array(column: Sequence[str | None]) -> str:
    r"""Write texts, each in quotes; None is null.

    >>> print(text_array(["a", 'b"', "c\\", None]))
    {"a","b\"","c\\",NULL}
    """
    return "{" + ",".join(map(_quoted, column)) + "}"


def _quoted(text: str | None) -> str:
    if text is None:
        return "NULL"
    if '"' in text or "\\" in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def bytes_array(column: Sequence[bytes | None]) -> str:
    r"""Write bytes as hexadecimal digits; None is null.

    >>> print(bytes_array([b"ab", None]))
    {"\\x6162",NULL}
    """
    return "{" + ",".join([_hexed(one) for one in column]) + "}"


def _hexed(one: bytes | None) -> str:
    return "NULL" if one is None else f'"\\\\x{one.hex()}"'
