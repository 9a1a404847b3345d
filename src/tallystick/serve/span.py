"""Which rows a question is about: a window of time or of rows, and slices."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tallystick.serve.problem import Fix, HttpProblem

__all__ = ["Span", "span_of"]

_LENGTH = re.compile(r"(\d{1,5})([hd])")
_LAST = re.compile(r"last:(\d{1,9})")
_WAYS = "write 24h, 7d, last:5000, or 2026-07-01T00:00Z..2026-07-02T00:00Z (whole hours)"


@dataclass(frozen=True, kw_only=True)
class Span:
    """Rows of a stream.

    Parameters
    ----------
    low, high
        Buckets (hours since 1970), both included; None for no end.
    last
        The last rows only.
    slices
        (column, value) that a row must have; of several values of one column any will do.
    labels
        Which labels count: ``drawn``, ``even`` or ``all`` (see `tallystick.serve.queue.chances`);
        '' for what suits the verb.
    """

    low: int | None = None
    high: int | None = None
    last: int | None = None
    slices: tuple[tuple[str, str], ...] = ()
    labels: str = ""

    def condition(self, alias: str = "") -> tuple[str, list[Any]]:
        """Return what follows ``where stream = ?``, for tables with a bucket."""
        dot = f"{alias}." if alias else ""
        sql: str = ""
        values: list[Any] = []
        if self.low is not None:
            sql, values = sql + f" and {dot}bucket >= ?", [*values, self.low]
        if self.high is not None:
            sql, values = sql + f" and {dot}bucket <= ?", [*values, self.high]
        return sql, values

    def covers(self, bucket: int) -> bool:
        """Say whether an hour is inside."""
        low, high = self.low, self.high
        return (low is None or bucket >= low) and (high is None or bucket <= high)

    def holds(self, body: dict[str, str]) -> bool:
        """Say whether a row of these slices is meant."""
        wanted: dict[str, set[str]] = {}
        for name, value in self.slices:
            wanted.setdefault(name, set()).add(value)
        return all(body.get(name) in values for name, values in wanted.items())


def span_of(window: str, slices: Sequence[str], *, now: float, labels: str = "") -> Span:
    """Read ``window=``, ``slice=`` and ``labels=``.

    >>> span_of("2h", ["lang:en"], now=36_000.0)
    Span(low=9, high=None, last=None, slices=(('lang', 'en'),), labels='')
    """
    if labels not in ("", "drawn", "even", "all"):
        raise HttpProblem(
            422, f"labels={labels[:40]!r} cannot be read", [Fix(way_out="use drawn, even or all")]
        )
    wanted = []
    for text in slices:
        name, colon, value = text.partition(":")
        if not (colon and name and value):
            raise HttpProblem(
                422, f"slice={text[:80]!r} cannot be read", [Fix(way_out="write slice=lang:en")]
            )
        wanted.append((name, value))
    held: dict[str, int] = {}
    if length := _LENGTH.fullmatch(window):
        hours = int(length[1]) * (24 if length[2] == "d" else 1)
        if not hours:
            raise _wrong(window)
        # The last n hours, the one that runs included: a window is a union of buckets.
        held["low"] = math.floor(now / 3600) - hours + 1
    elif last := _LAST.fullmatch(window):
        if not int(last[1]):
            raise _wrong(window)
        held["last"] = int(last[1])
    elif ".." in window:
        low, _, high = window.partition("..")
        if low:
            held["low"] = _hour(low, window)
        if high:
            held["high"] = _hour(high, window) - 1
        if low and high and held["high"] < held["low"]:
            raise HttpProblem(
                422,
                f"window={window[:80]!r} ends before it begins",
                [Fix(column="window", way_out=f"write {high}..{low}")],
            )
    elif window:
        raise _wrong(window)
    return Span(slices=tuple(sorted(wanted)), labels=labels, **held)


def _hour(text: str, window: str) -> int:
    try:
        when = datetime.fromisoformat(text.strip().replace(" ", "+"))
        seconds = (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise _wrong(window) from error
    if seconds % 3600:
        raise _wrong(window)
    return int(seconds // 3600)


def _wrong(window: str) -> HttpProblem:
    return HttpProblem(422, f"window={window[:80]!r} cannot be read", [Fix(way_out=_WAYS)])
