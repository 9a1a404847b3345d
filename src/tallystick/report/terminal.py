"""A result in the terminal: the verdict first, then a table; plain text where nobody looks."""

from __future__ import annotations

import sys
from textwrap import wrap
from typing import Protocol, TextIO

from tallystick.report.grid import Grid, grid
from tallystick.report.parts import Composed
from tallystick.results import Result, harmless, slice_lines

__all__ = ["show"]

MOST_ROWS = 40
PIPE_WIDTH = 100
"""Columns of text in a pipe or a file."""


class _Pen(Protocol):
    """Whatever can write a line and a table; signs in it that steer a terminal are spelled out."""

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
    most = MOST_ROWS if terminal else sys.maxsize
    if isinstance(result, Composed):
        _tell_parts(result, pen, most)
    else:
        _tell(result, pen, most)
    if result.slices:
        pen.say("By slice:")
        for line in slice_lines(result.slices):
            pen.say(f"  {line}")


def _tell_parts(result: Composed, pen: _Pen, most: int) -> None:
    pen.say(result.headline, "bold")
    for part in result.parts():
        pen.say(f"  {part.name.capitalize()}: {part.short}")
    for text in result.remarks:
        pen.say(f"Warning: {text}", "yellow")
    pen.say("")
    pen.say("Columns:", "bold")
    for text in result.grounds:
        pen.say(f"  {text}", "dim")
    for part in result.parts():
        pen.say("")
        pen.say(part.heading, "bold")
        if part.result is None:
            pen.say(f"Not answered: {part.short}")
        else:
            _tell(part.result, pen, most)


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
    sections = result.folds()
    rows, units = (sections[0].rows, sections[0].units) if sections else ((), {})
    table = grid(rows, units, most=most)
    if table.rows:
        pen.say("")
        pen.draw(table)
        if table.total > len(table.rows):
            pen.say(f"… the first {len(table.rows)} of {table.total:,} rows", "dim")
    pen.say("")
    if result.basis:
        _wrapped(pen, result.basis, "")
    else:
        promise = f"Intervals: {table.promise}. " if table.promise else ""
        _wrapped(pen, f"{promise}{result.rests_on()}".strip(), "")
    for text in result.warnings:
        _wrapped(pen, f"! {text}", "yellow", hanging="  ")
    # A result that says what it rests on in one line keeps the rest for the page.
    for line in () if result.basis else _own_words(result):
        pen.say(line)
    if result.basis:
        pen.say("Details: --html report.html · --items-out items.csv · --json", "dim")


def _wrapped(pen: _Pen, text: str, style: str, *, hanging: str = "") -> None:
    """Say one paragraph in lines that fit."""
    for line in wrap(text, min(pen.width, PIPE_WIDTH), subsequent_indent=hanging):
        pen.say(line, style)


def _own_words(result: Result) -> list[str]:
    """Return what a capability adds at the end of its summary, e.g. advice."""
    plain, own = Result.summary(result), result.summary()
    return own[len(plain) :].strip().splitlines() if own.startswith(plain) else []


class _Pipe:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def width(self) -> int:
        return PIPE_WIDTH

    def say(self, text: str, style: str = "") -> None:
        del style
        self._stream.write(f"{harmless(text)}\n")

    def draw(self, table: Grid) -> None:
        self._stream.write(f"{table.text()}\n")


class _Terminal:
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
