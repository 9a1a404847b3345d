"""A result in the terminal: what was read, the verdict, a table; plain text where nobody looks."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from io import StringIO
from textwrap import wrap
from typing import Protocol, TextIO

from tallystick.report.grid import Grid, grid
from tallystick.results import Result, harmless, slice_lines

MOST_ROWS = 40
MOST_BELOW = 15
"""Rows of a second table: the page has the others."""
PIPE_WIDTH = 100
"""Columns of text in a pipe or a file."""

_ON_THE_LINE = "Details: --html report.html · --items-out items.csv · --json"
_IN_PYTHON = "Details: .to_html(path) · .to_pandas() · .to_dict() · .plot()"


class _Pen(Protocol):
    """Whatever can write a line and a table; signs in it that steer a terminal are spelled out."""

    way_on: str
    """Where to read on, as the last line."""

    @property
    def width(self) -> int: ...

    def say(self, text: str, style: str = "") -> None: ...

    def draw(self, table: Grid) -> None: ...


def show(result: Result, *, stream: TextIO | None = None) -> None:
    """Print *result*: with colour in a terminal (unless NO_COLOR is set), as plain lines in a pipe.

    Both print the same text. A pipe gets every row, a terminal the first ones.
    """
    target = stream if stream is not None else sys.stdout
    terminal = target.isatty()
    pen: _Pen = _Terminal(target) if terminal else _Pipe(target)
    for line in result.read_line():
        _wrapped(pen, line, "dim", hanging="  ")
    _write(result, pen, MOST_ROWS if terminal else sys.maxsize)


def text_of(result: Result) -> str:
    """Return *result* as ``print`` shows it: what a terminal shows, for somebody in Python."""
    stream = StringIO()
    _write(result, _Pipe(stream, way_on=_IN_PYTHON), MOST_ROWS)
    return stream.getvalue().rstrip("\n")


def _write(result: Result, pen: _Pen, most: int) -> None:
    if result.result_parts():
        _tell_parts(result, pen, most)
    else:
        _tell(result, pen, most)
    if result.slices:
        pen.say("By slice:")
        for line in slice_lines(result.slices):
            pen.say(f"  {line}")


def _tell_parts(result: Result, pen: _Pen, most: int) -> None:
    parts = result.result_parts()
    pen.say(result.verdict, "bold")
    for part in parts:
        pen.say(f"  {part.name.capitalize()}: {part.short}")
    for text in remarks(result):
        pen.say(f"! {text}", "yellow")
    for part in parts:
        pen.say("")
        pen.say(part.heading, "bold")
        if part.result is None:
            pen.say(f"Not answered: {part.short}")
        else:
            _tell(part.result, pen, most)


def remarks(result: Result) -> tuple[str, ...]:
    """Return the warnings of a result that belong to none of its parts."""
    told = {
        f"{part.name}: {text}"
        for part in result.result_parts()
        if part.result is not None
        for text in part.result.warnings
    }
    return tuple(text for text in result.warnings if text not in told)


def _tell(result: Result, pen: _Pen, most: int) -> None:
    """Say one result: answer, doubt, next step, table, what it rests on, warnings, where to go."""
    own = result.terminal(pen.width)
    if own is not None:
        for text, style in own:
            pen.say(text, style)
        return
    opening = result.opening
    for text, style in (
        (opening.answer, "bold"),
        (opening.contrast, ""),
        (opening.open, "yellow"),
        (opening.next, ""),
    ):
        _wrapped(pen, text, style, hanging="      " if text == opening.next else "")
    if opening.next and result.label_command:
        pen.say(f"      {result.label_command}")
    promise = ""
    for place, section in enumerate(result.folds()):
        if place and not section.at_once:
            continue
        table = grid(section.rows, section.units, most=min(most, MOST_BELOW) if place else most)
        promise = promise or table.promise
        if table.rows:
            pen.say("")
            pen.draw(table)
            if table.total > len(table.rows):
                pen.say(f"… the first {len(table.rows)} of {table.total:,} rows", "dim")
    pen.say("")
    if result.basis:
        _wrapped(pen, result.basis, "")
    else:
        promise = f"Intervals: {promise}. " if promise else ""
        _wrapped(pen, f"{promise}{result.rests_on()}".strip(), "")
    for text in result.warnings:
        _wrapped(pen, f"! {text}", "yellow", hanging="  ")
    # A result that says what it rests on in one line keeps the rest for the page.
    for line in () if result.basis else result.details():
        pen.say(line)
    if result.basis and pen.way_on:
        pen.say(pen.way_on, "dim")


def _wrapped(pen: _Pen, text: str, style: str, *, hanging: str = "") -> None:
    """Say one paragraph in lines that fit."""
    for line in wrap(text, min(pen.width, PIPE_WIDTH), subsequent_indent=hanging):
        pen.say(line, style)


class _Pipe:
    def __init__(self, stream: TextIO, *, way_on: str = _ON_THE_LINE) -> None:
        self._stream, self.way_on = stream, way_on

    @property
    def width(self) -> int:
        return PIPE_WIDTH

    def say(self, text: str, style: str = "") -> None:
        del style
        self._stream.write(f"{harmless(text)}\n")

    def draw(self, table: Grid) -> None:
        self._stream.write(f"{table.text()}\n")


class _Terminal:
    way_on = _ON_THE_LINE

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console

        self._console = Console(file=stream, highlight=False)

    @property
    def width(self) -> int:
        return self._console.width

    def say(self, text: str, style: str = "") -> None:
        self._console.print(harmless(text), style=style or None, markup=False)

    def draw(self, table: Grid) -> None:
        from rich.table import Table
        from rich.text import Text

        drawn = Table(box=None, header_style="dim", pad_edge=False)
        wide = _width(table) > self._console.width
        for name, right in zip(table.names, table.numeric, strict=True):
            # heads break before any number does
            head = Text("\n".join(name.split()) if wide else name)
            drawn.add_column(head, overflow="fold", justify="right" if right else "left")
        for row in table.rows:
            drawn.add_row(*(Text(str(cell)) for cell in row))
        self._console.print(drawn)


def _width(table: Grid) -> int:
    """Return how wide a table is if nothing is broken."""
    return (
        sum(
            2 + max(len(str(cell)) for cell in cells)
            for cells in zip(table.names, *table.rows, strict=True)
        )
        - 2
    )


# What the words of an answer mean: one list for ``explain``, for pages and for the documentation.


@cache
def glossary() -> Mapping[str, str]:
    """Return every word that is explained, with its sentence.

    >>> glossary()["flip"]
    'An item whose answer from the new version of an API differs from the old answer.'
    """
    from importlib.resources import files  # with the first word that is explained

    text = (files("tallystick.report") / "words.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\*\*(.+?)\*\*: (.+)$", text, re.MULTILINE))


ON_PAGES = (
    *("interval", "settled", "corrected", "exact", "approximate", "anytime", "tier", "points"),
    *("threshold", "label model", "prevalence", "alarm", "stratum"),
)
"""Words that a page explains where it uses them, in this order."""


def terms_in(text: str) -> dict[str, str]:
    """Return the terms that occur in *text*, with their meaning.

    >>> list(terms_in("86.3% [84.9, 87.6], an exact interval"))
    ['interval', 'exact']
    """
    low = text.lower()
    return {term: glossary()[term] for term in ON_PAGES if term in low}
