"""How numbers are written, for every sentence, table and page.

Rates are percentages with one decimal, in the estimate and in its interval. A difference of two
rates is in points and carries its sign. All of it is computed in decimal arithmetic on the number
as Python prints it, so that 0.8625 is the same number here and on paper.

One typographic choice is made here once. A minus is U+2212, in the terminal as on pages, since
it is as wide as a plus and lines up with it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Literal, TypeAlias

from tallystick.errors import InputError
from tallystick.results.interval import Interval, Json, clean, to_json

MINUS = "−"
"""U+2212, the minus sign of every text for a person."""

GAP = "–"
"""What stands for a number that is not known."""

_TENTH = Decimal("0.1")
_SMALLEST_P = Decimal("0.0001")
_DIGITS = 4
"""Significant digits of a score without bounds."""
_WIDE = Context(prec=700, rounding=ROUND_HALF_EVEN)
"""Room for every digit of the largest float, so that no size of number is refused."""
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: float | None) -> str:
    r"""Return a share as a percentage with one decimal.

    Examples
    --------
    >>> percent(0.8634), percent(-0.0001), percent(None)
    ('86.3%', '0.0%', '–')
    """
    if share is None or math.isnan(share):
        return GAP
    return f"{_tenths(share)}%"


def percent_interval(share: float | None, interval: Interval) -> str:
    r"""Return a share and its interval, both in per cent.

    Examples
    --------
    >>> percent_interval(0.863, Interval(0.849, 0.876))
    '86.3% [84.9, 87.6]'
    """
    low, high = (_tenths(end) for end in interval)
    return f"{percent(share)} [{low}, {high}]"


def points(difference: float | None, *, sign: bool = True) -> str:
    """Return a difference of two shares in percentage points.

    Parameters
    ----------
    difference
        The difference as a share: 0.044 is 4.4 points.
    sign
        Write a plus before a gain. "falls by 4.4 points" needs none.

    Examples
    --------
    >>> points(0.044), points(-0.021), points(0.0)
    ('+4.4 points', '−2.1 points', '0.0 points')
    """
    if difference is None or math.isnan(difference):
        return GAP
    return f"{_tenths(difference, sign=sign)} points"


def points_interval(difference: float | None, interval: Interval, *, sign: bool = True) -> str:
    """Return a difference of two shares and its interval, in percentage points.

    Examples
    --------
    >>> points_interval(0.004, Interval(-0.015, 0.023))
    '+0.4 points [−1.5, +2.3]'
    >>> points_interval(0.044, Interval(0.026, 0.062), sign=False)
    '4.4 points [2.6, 6.2]'
    """
    low, high = (_tenths(end, sign=sign) for end in interval)
    return f"{points(difference, sign=sign)} [{low}, {high}]"


def p_value(p: float, *, alpha: float = 0.05) -> str:
    """Return a p-value with two significant digits, and with at most four decimals.

    More digits appear only where two of them would put *p* on the other side of *alpha*, or on it.

    Examples
    --------
    >>> p_value(0.0342), p_value(2.2e-18), p_value(0.42), p_value(0.0497), p_value(1.0)
    ('p = 0.034', 'p < 0.0001', 'p = 0.42', 'p = 0.0497', 'p = 1')
    """
    if not 0 <= p <= 1:  # also catches NaN
        raise InputError(f"p must be in [0, 1], got {p!r}")
    exact, level = Decimal(repr(float(p))), Decimal(repr(float(alpha)))
    if exact < _SMALLEST_P:
        return f"p < {_SMALLEST_P}"
    if exact == 1:
        return "p = 1"

    # Two significant digits, unless that rounds p across the level it is compared with.
    decimals = min(4, 1 - exact.adjusted())
    shown = _to(exact, decimals)
    while (shown <= level) != (exact <= level) or (shown == level and exact != level):
        decimals += 1
        shown = _to(exact, decimals)
    return "p > 0.99" if shown >= 1 else f"p = {shown}"


def count(n: int) -> str:
    """Return a whole number with commas between its thousands.

    >>> count(2400)
    '2,400'
    """
    return f"{n:,}"


def number(value: float | None, *, sign: bool = False) -> str:
    """Return a score without bounds (a latency, a loss, a price) with four significant digits.

    Examples
    --------
    >>> number(813.2749), number(-0.0), number(12345.6), number(0.000012), number(3.0)
    ('813.3', '0', '12,346', '1.2 × 10⁻⁵', '3')
    """
    if value is None or math.isnan(value):
        return GAP
    if math.isinf(value):
        return _infinite(value, sign=sign)

    exact = Decimal(repr(float(value)))
    size = exact.adjusted()  # the power of ten of the first digit
    if exact and not -4 <= size < 15:
        digits = (exact / Decimal(10) ** size).quantize(Decimal("0.001"), context=_WIDE)
        power = str(size).translate(_SUPERSCRIPT)
        return f"{_trimmed(_signed(digits, sign=sign))} × 10{power}"
    shown = _to(exact, max(0, _DIGITS - 1 - size) if exact else 0)
    return _trimmed(_signed(shown, sign=sign))


def number_interval(value: float | None, interval: Interval, *, sign: bool = False) -> str:
    """Return a score without bounds and its interval, all with the same number of decimals.

    The decimals show two significant digits of the interval's width. More would be noise.

    Examples
    --------
    >>> number_interval(813.27, Interval(790.1, 836.4)), number_interval(0.5, Interval(0.42, 0.58))
    ('813 [790, 836]', '0.50 [0.42, 0.58]')
    """
    decimals = None
    if 0 < interval.width < math.inf:  # in decimal: 0.9 - 0.8 is 0.1, not 0.09999999999999998
        width = Decimal(repr(interval.high)) - Decimal(repr(interval.low))
        decimals = max(0, 1 - width.adjusted())
    if decimals is None or decimals > 6:  # a fixed point would print mostly zeros
        low, high = (number(end, sign=sign) for end in interval)
        return f"{number(value, sign=sign)} [{low}, {high}]"

    shown = [
        GAP
        if x is None or math.isnan(x)
        else _signed(_to(Decimal(repr(float(x))), decimals), sign=sign)
        for x in (value, *interval)
    ]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _rounded(share: float) -> Decimal:
    """Return a share in per cent, rounded to the decimal that is shown."""
    return (100 * Decimal(repr(float(share)))).quantize(_TENTH, context=_WIDE)


def _tenths(share: float, *, sign: bool = False) -> str:
    if math.isinf(share):
        return _infinite(share, sign=sign)
    return _signed(_rounded(share), sign=sign)


def _infinite(value: float, *, sign: bool) -> str:
    return f"{MINUS if value < 0 else '+' if sign else ''}∞"


def _to(exact: Decimal, decimals: int) -> Decimal:
    return exact.quantize(Decimal(1).scaleb(-decimals), context=_WIDE)


def _signed(shown: Decimal, *, sign: bool) -> str:
    """Write a rounded number; zero has no sign, whatever it was before it was rounded."""
    before = MINUS if shown < 0 else "+" if sign and shown > 0 else ""
    return f"{before}{abs(shown):,f}"


def _trimmed(text: str) -> str:
    """Drop zeros at the end of a fraction: "3.000" is "3"."""
    return text.rstrip("0").rstrip(".") if "." in text else text


# Rows as text that a terminal, a page or a paper can show safely.


_SPACES = "\u00a0\u202f\u2009"  # harmless, although Python does not call them printable


def harmless(text: str) -> str:
    r"""Return *text* on one line, with control characters and direction marks written out.

    >>> harmless("red \x1b[31m\nnext \u202e")
    'red \\x1b[31m\\nnext \\u202e'
    """
    return "".join(
        sign if sign.isprintable() or sign in _SPACES else repr(sign)[1:-1] for sign in text
    )


def shorten(text: str, most: int = 48) -> str:
    r"""Return *text* on one line of at most *most* characters, without direction marks.

    >>> shorten("a" * 60, 5)
    'aaaa…'
    >>> shorten("evil\u202etxt\nnext")
    'eviltxt next'
    """
    plain = "".join(
        sign for sign in text[: 4 * most] if unicodedata.category(sign) not in ("Cf", "Cs", "Co")
    )
    line = " ".join(
        "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in plain).split()
    )
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1] + "…"


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


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text, the head first, in columns that line up.

    >>> aligned([["round", "wrong"], ["1", "20.0%"]])
    ['round  wrong', '1      20.0%']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


# What a number measures, and so how it is written.


Unit: TypeAlias = Literal["share", "points", "count", "p", "number"]
"""A share of something, a difference of two shares, a count, a p-value, or any other number."""


def value_text(value: float | None, unit: Unit = "number") -> str:
    r"""Return *value* as a table shows it; a difference of shares goes without the word "points".

    >>> value_text(0.863, "share"), value_text(-0.021, "points"), value_text(2400, "count")
    ('86.3%', '−2.1', '2,400')
    >>> value_text(0.00003, "p"), value_text(None, "share"), value_text(3.14159)
    ('< 0.0001', '–', '3.142')
    """
    if value is None or math.isnan(value):
        return GAP
    if unit == "share":
        return percent(value)
    if unit == "points":
        return points(value).removesuffix(" points")
    if unit == "p":
        return p_value(value).removeprefix("p ").removeprefix("= ")
    if unit == "count" and float(value).is_integer():
        return count(int(value))
    return number(value)


def interval_text(interval: Interval, unit: Unit = "number") -> str:
    """Return the two ends of *interval* as a table shows them, beside their estimate.

    >>> interval_text(Interval(0.849, 0.876), "share"), interval_text(Interval(-0.01, 0.02), "points")
    ('[84.9, 87.6]', '[−1.0, +2.0]')
    """
    if unit == "share":
        whole = percent_interval(None, interval)
    elif unit == "points":
        whole = points_interval(None, interval).replace(" points", "")
    else:
        whole = number_interval(None, interval)
    return whole[whole.index("[") :]


def estimate_texts(
    value: float | None, interval: Interval | None, unit: Unit = "number"
) -> tuple[str, str]:
    """Return an estimate and its interval as every table and chart shows them.

    A number gets as many decimals as its interval deserves, so that one result is written alike in
    its verdict, its table and its chart.

    >>> estimate_texts(4.0881, Interval(3.871, 4.272)), estimate_texts(4.0881, None)
    (('4.09', '[3.87, 4.27]'), ('4.088', ''))
    """
    if interval is None:
        return value_text(value, unit), ""
    if unit != "number":
        return value_text(value, unit), interval_text(interval, unit)
    text, _, ends = number_interval(value, interval).partition(" [")
    return text, f"[{ends}"


# Small words: lists of names, small numbers, plurals, ranges.


_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def names_of(names: Sequence[str], *, most: int = 4) -> str:
    """List some names, and how many others there are.

    >>> names_of(["a", "b"]), names_of(list("abcde"), most=3), names_of(list("abcd"), most=3)
    ('a and b', 'a, b, c and 2 others', 'a, b, c and d')
    """
    # "and 1 others" is longer than the name itself.
    shown = list(names if len(names) == most + 1 else names[:most])
    if len(names) > len(shown):
        shown.append(f"{len(names) - most} others")
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def number_word(n: int) -> str:
    """Write a small number as a word.

    >>> number_word(3), number_word(1200)
    ('three', '1,200')
    """
    return _WORDS[n] if n < len(_WORDS) else count(n)


def plural(unit: str, n: int) -> str:
    """Return a unit for a number of it.

    >>> plural("item", 1), plural("item", 2)
    ('item', 'items')
    """
    return unit if n == 1 else f"{unit}s"


# What a result says first, line by line.


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """A verdict in the order in which it is told: in a terminal, on a page, in an e-mail.

    Parameters
    ----------
    answer
        The answer with its number and its doubt.
    contrast
        What a reader would otherwise believe, or the second most important fact.
    open
        What is not settled, beginning with "Not settled:".
    next
        What to do, beginning with "Next:".
    """

    answer: str
    contrast: str = ""
    open: str = ""
    next: str = ""

    @property
    def verdict(self) -> str:
        """All but the next step, as one paragraph."""
        return " ".join(part for part in (self.answer, self.contrast, self.open) if part)
