"""A result in the terminal: what was read, the verdict, a table; plain text where nobody looks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO

from tallystick.report.grid import Grid, grid
from tallystick.results import Figure, Result, harmless

if TYPE_CHECKING:
    from tallystick.report.svg import Tick, Track

MOST_ROWS = 40
MOST_BELOW = 15
"""Rows of a second table: the page has the others."""
PIPE_WIDTH = 100
"""Columns of text in a pipe or a file."""

_ON_THE_LINE = "Details: --html report.html · --items-out items.csv · --json"
_IN_PYTHON = "Details: .to_html(path) · .to_pandas() · .to_dict() · .plot()"
_STYLES = {"bold": "1", "dim": "2", "yellow": "33"}


@dataclass(frozen=True)
class _Pen:
    """Writes lines and tables; signs in them that steer a terminal are spelled out.

    Parameters
    ----------
    stream, width
        Where to, and how many columns there are.
    way_on
        Where to read on, as the last line.
    colour
        Whether styles are shown.
    """

    stream: TextIO
    width: int = PIPE_WIDTH
    way_on: str = _ON_THE_LINE
    colour: bool = False

    def say(self, text: str, style: str = "") -> None:
        line = harmless(text)
        if self.colour and style:
            line = f"\x1b[{_STYLES[style]}m{line}\x1b[0m"
        self.stream.write(f"{line}\n")

    def draw(self, table: Grid, figures: Sequence[Figure] = ()) -> None:
        lines = table.lines(self.width) if self.stream.isatty() else table.lines()
        lines = pictured(lines, table, figures, self.width)
        self.stream.write("\n".join([*lines, ""]))


def _pen_of(stream: TextIO) -> _Pen:
    """Return the pen for a pipe, or for a terminal, with colour unless NO_COLOR is set."""
    if not stream.isatty():
        return _Pen(stream)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    old_windows = os.name == "nt" and "WT_SESSION" not in os.environ
    columns = get_terminal_size().columns
    return _Pen(stream, width=columns, colour=not plain and not old_windows)


def show(result: Result, *, stream: TextIO | None = None) -> None:
    """Print *result*: with colour in a terminal (unless NO_COLOR is set), plain in a pipe."""
    target = stream if stream is not None else sys.stdout
    pen, terminal = _pen_of(target), target.isatty()
    for line in result.read_line():
        _wrapped(pen, line, "dim", hanging="  ")
    _write(result, pen, MOST_ROWS if terminal else sys.maxsize)


def text_of(result: Result) -> str:
    """Return *result* as ``print`` shows it."""
    stream = StringIO()
    _write(result, _Pen(stream, way_on=_IN_PYTHON), MOST_ROWS)
    return stream.getvalue().rstrip("\n")


def _write(result: Result, pen: _Pen, most: int) -> None:
    if result.result_parts():
        _tell_parts(result, pen, most)
    else:
        _tell(result, pen, most)
    if result.slices:
        pen.say("By slice:")
        for part in result.slices:
            pen.say(f"  {part}")


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
            pen.draw(table, section.figures or (() if place else result.figures()[:1]))
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


# A table with a picture: the forest of a page, one character high.

PICTURED = 80
"""Below this many columns the picture is left out, and the numbers stay."""
_NARROWEST, _WIDEST = 20, 50
"""A picture with fewer columns than this shows nothing."""
_SIGNS = {"ring": "○", "ring off": "○", "dot": "●", "dot open": "◐"}
_ORDER = {look: place for place, look in enumerate(("zero", "bar", *_SIGNS))}
"""What is drawn later stands on top."""


def pictured(
    lines: list[str], table: Grid, figures: Sequence[Figure], width: int = PIPE_WIDTH
) -> list[str]:
    """Return the lines of a table, each with its interval drawn beside it where there is room."""
    names = [row[0].text for row in table.rows]
    room = min(_WIDEST, width - max(map(len, lines)) - 3)
    forests = [figure for figure in figures[:1] if figure.kind == "forest"]
    if not forests or width < PICTURED or room < _NARROWEST or len(lines) != len(names) + 1:
        return lines
    from tallystick.report.kinds import forest  # an answer without a picture does without it

    drawn = forest(forests[0])
    tracks = {track.name: track for track in drawn.tracks}
    if len(tracks) < len(drawn.tracks) or not {*names} <= {*tracks}:
        return lines
    ring = forests[0].roles.get("mark")
    key = f"○ {forests[0].labels.get('mark', ring)}" if ring else ""
    beside = [key, *(_track(tracks[name], room) for name in names), _scale(drawn.ticks, room)]
    text = max(map(len, lines))
    both = zip([*lines, ""], beside, strict=True)
    return [f"{line:<{text}}   {one}".rstrip() for line, one in both]


def _track(track: Track, room: int) -> str:
    """Draw one row in *room* characters."""
    signs = [" "] * room
    for mark in sorted(track.marks, key=lambda mark: _ORDER.get(mark.look, -1)):
        places = [round(share * (room - 1)) for share, _ in mark.points]
        if mark.look == "zero":
            signs[places[0]] = "│"
        elif mark.look == "bar":
            for place in range(places[0], places[1] + 1):
                signs[place] = "┿" if signs[place] == "│" else "━"
        elif mark.look in _SIGNS:
            signs[places[0]] = _SIGNS[mark.look]
    return "".join(signs)


def _scale(ticks: Sequence[Tick], room: int) -> str:
    """Return the numbers of an axis as text below the picture, those that have room."""
    signs = [" "] * room
    ends = (ticks[0], ticks[-1], *ticks[1:-1])
    for tick in ends:
        start = round(tick.place * (room - 1)) - len(tick.text) // 2
        start = min(max(0, start), room - len(tick.text))
        if not "".join(signs[max(0, start - 2) : start + len(tick.text) + 2]).strip():
            signs[start : start + len(tick.text)] = tick.text
    return "".join(signs)


def _wrapped(pen: _Pen, text: str, style: str, *, hanging: str = "") -> None:
    """Say one paragraph in lines that fit."""
    for line in wrap(text, min(pen.width, PIPE_WIDTH), subsequent_indent=hanging):
        pen.say(line, style)


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
