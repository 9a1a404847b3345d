"""Rows as text that a terminal, a page or a paper can show safely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.results.interval import Interval
from tallystick.results.json import Json, clean, to_json

__all__ = ["aligned", "cell", "flat", "harmless", "text_table"]

_SPACES = "\u00a0\u202f\u2009"  # harmless, although Python does not call them printable


def harmless(text: str) -> str:
    r"""Return *text* on one line, with control characters and direction marks written out.

    >>> harmless("red \x1b[31m\nnext \u202e")
    'red \\x1b[31m\\nnext \\u202e'
    """
    return "".join(
        sign if sign.isprintable() or sign in _SPACES else repr(sign)[1:-1] for sign in text
    )


def flat(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """Return rows of plain cells that all have the same names.

    An interval becomes two columns, and anything nested becomes JSON text.

    >>> flat([{"a": Interval(0, 1)}, {"b": [1, 2]}])
    [{'a_low': 0.0, 'a_high': 1.0, 'b': None}, {'a_low': None, 'a_high': None, 'b': '[1, 2]'}]
    """
    intervals = {name for row in rows for name, item in row.items() if isinstance(item, Interval)}

    out: list[dict[str, Json]] = []
    for row in rows:
        cells: dict[str, Json] = {}
        for name, item in row.items():
            if name in intervals:
                # Another row may have no interval in this column: both of its ends are gaps.
                low, high = item if isinstance(item, Interval) else (None, None)
                cells[f"{name}_low"] = clean(low, name, {})
                cells[f"{name}_high"] = clean(high, name, {})
            else:
                value = clean(item, name, {})
                cells[name] = to_json(value) if isinstance(value, dict | list) else value
        out.append(cells)

    names = dict.fromkeys(name for row in out for name in row)
    return [{name: row.get(name) for name in names} for row in out]


def cell(value: Json) -> str:
    """Return one plain cell as text; a gap is a dash.

    >>> cell(None), cell(0.123456), cell(2400), cell(True)
    ('–', '0.1235', '2,400', 'True')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def text_table(rows: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return flat *rows* as lines of text, a heading first, columns lined up."""
    names = list(rows[0])
    cells = [names, *([cell(row[name]) for name in names] for row in rows)]
    lines = [[harmless(text) for text in line] for line in cells]
    widths = [max(len(line[j]) for line in lines) for j in range(len(names))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text, the head first, in columns that line up.

    >>> aligned([["round", "wrong"], ["1", "20.0 %"]])
    ['round  wrong', '1      20.0 %']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
