"""How numbers are written, for every sentence, table and page.

Rates are percentages with one decimal, in the estimate and in its interval. A difference of two
rates is in points and carries its sign. All of it is computed in decimal arithmetic on the number
as Python prints it, so that 0.8625 is the same number here and on paper.

Two typographic choices are made here once. A no-break space stands before the per cent sign, so
that "86.3 %" is never broken over two lines. A minus is U+2212, in the terminal as on pages, since
it is as wide as a plus and lines up with it; pass ``minus="-"`` for text that a program parses.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

from tallystick.errors import InputError
from tallystick.results.interval import Interval

__all__ = [
    "GAP",
    "MINUS",
    "about",
    "count",
    "number",
    "number_interval",
    "p_value",
    "percent",
    "percent_interval",
    "points",
    "points_interval",
    "shown_difference",
]

MINUS = "−"
"""U+2212, the minus sign of every text for a person."""

GAP = "–"
"""What stands for a number that is not known."""

_NO_BREAK = "\u00a0"
_TENTH = Decimal("0.1")
_SMALLEST_P = Decimal("0.0001")
_DIGITS = 4
"""Significant digits of a score without bounds."""
_WIDE = Context(prec=700, rounding=ROUND_HALF_EVEN)
"""Room for every digit of the largest float, so that no size of number is refused."""
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(share: float | None, *, minus: str = MINUS) -> str:
    r"""Return a share as a percentage with one decimal.

    Examples
    --------
    >>> percent(0.8634), percent(-0.0001), percent(None)
    ('86.3\xa0%', '0.0\xa0%', '–')
    """
    if share is None or math.isnan(share):
        return GAP
    return f"{_tenths(share, minus=minus)}{_NO_BREAK}%"


def percent_interval(share: float | None, interval: Interval, *, minus: str = MINUS) -> str:
    r"""Return a share and its interval, both in per cent.

    Examples
    --------
    >>> percent_interval(0.863, Interval(0.849, 0.876))
    '86.3\xa0% [84.9, 87.6]'
    """
    low, high = (_tenths(end, minus=minus) for end in interval)
    return f"{percent(share, minus=minus)} [{low}, {high}]"


def points(difference: float | None, *, sign: bool = True, minus: str = MINUS) -> str:
    """Return a difference of two shares in percentage points.

    Parameters
    ----------
    difference
        The difference as a share: 0.044 is 4.4 points.
    sign
        Write a plus before a gain. "falls by 4.4 points" needs none.
    minus
        The minus sign.

    Examples
    --------
    >>> points(0.044), points(-0.021), points(0.0)
    ('+4.4 points', '−2.1 points', '0.0 points')
    """
    if difference is None or math.isnan(difference):
        return GAP
    return f"{_tenths(difference, sign=sign, minus=minus)} points"


def points_interval(
    difference: float | None, interval: Interval, *, sign: bool = True, minus: str = MINUS
) -> str:
    """Return a difference of two shares and its interval, in percentage points.

    Examples
    --------
    >>> points_interval(0.004, Interval(-0.015, 0.023))
    '+0.4 points [−1.5, +2.3]'
    >>> points_interval(0.044, Interval(0.026, 0.062), sign=False)
    '4.4 points [2.6, 6.2]'
    """
    low, high = (_tenths(end, sign=sign, minus=minus) for end in interval)
    return f"{points(difference, sign=sign, minus=minus)} [{low}, {high}]"


def shown_difference(first: float, second: float, *, sign: bool = True, minus: str = MINUS) -> str:
    r"""Return *first* minus *second* in points, such that the three numbers agree as shown.

    Each share is rounded before they are subtracted. Rounding the difference instead can show
    "86.3 %", "81.9 %" and "+4.5 points", which a reader takes for an error.

    Examples
    --------
    >>> percent(0.86346), percent(0.81851), shown_difference(0.86346, 0.81851)
    ('86.3\xa0%', '81.9\xa0%', '+4.4 points')
    """
    return f"{_signed(_rounded(first) - _rounded(second), sign=sign, minus=minus)} points"


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


def about(n: float) -> str:
    """Return a forecast of a count with two significant digits: no forecast has more.

    >>> about(137), about(11_234), about(7), about(0.4)
    ('about 140', 'about 11,000', 'about 7', 'about 1')
    """
    whole = max(1, math.ceil(n))
    digits = len(str(whole))
    return f"about {round(whole, min(0, 2 - digits)):,}"


def number(value: float | None, *, sign: bool = False, minus: str = MINUS) -> str:
    """Return a score without bounds (a latency, a loss, a price) with four significant digits.

    Examples
    --------
    >>> number(813.2749), number(-0.0), number(12345.6), number(0.000012), number(3.0)
    ('813.3', '0', '12,346', '1.2 × 10⁻⁵', '3')
    """
    if value is None or math.isnan(value):
        return GAP
    if math.isinf(value):
        return _infinite(value, sign=sign, minus=minus)

    exact = Decimal(repr(float(value)))
    size = exact.adjusted()  # the power of ten of the first digit
    if exact and not -4 <= size < 15:
        digits = (exact / Decimal(10) ** size).quantize(Decimal("0.001"), context=_WIDE)
        power = str(size).translate(_SUPERSCRIPT)
        return f"{_trimmed(_signed(digits, sign=sign, minus=minus))} × 10{power}"
    shown = _to(exact, max(0, _DIGITS - 1 - size) if exact else 0)
    return _trimmed(_signed(shown, sign=sign, minus=minus))


def number_interval(
    value: float | None, interval: Interval, *, sign: bool = False, minus: str = MINUS
) -> str:
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
        low, high = (number(end, sign=sign, minus=minus) for end in interval)
        return f"{number(value, sign=sign, minus=minus)} [{low}, {high}]"

    shown = [
        GAP
        if x is None or math.isnan(x)
        else _signed(_to(Decimal(repr(float(x))), decimals), sign=sign, minus=minus)
        for x in (value, *interval)
    ]
    return f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _rounded(share: float) -> Decimal:
    """Return a share in per cent, rounded to the decimal that is shown."""
    return (100 * Decimal(repr(float(share)))).quantize(_TENTH, context=_WIDE)


def _tenths(share: float, *, sign: bool = False, minus: str = MINUS) -> str:
    if math.isinf(share):
        return _infinite(share, sign=sign, minus=minus)
    return _signed(_rounded(share), sign=sign, minus=minus)


def _infinite(value: float, *, sign: bool, minus: str) -> str:
    return f"{minus if value < 0 else '+' if sign else ''}∞"


def _to(exact: Decimal, decimals: int) -> Decimal:
    return exact.quantize(Decimal(1).scaleb(-decimals), context=_WIDE)


def _signed(shown: Decimal, *, sign: bool, minus: str) -> str:
    """Write a rounded number; zero has no sign, whatever it was before it was rounded."""
    before = minus if shown < 0 else "+" if sign and shown > 0 else ""
    return f"{before}{abs(shown):,f}"


def _trimmed(text: str) -> str:
    """Drop zeros at the end of a fraction: "3.000" is "3"."""
    return text.rstrip("0").rstrip(".") if "." in text else text
