"""A figure on a page: what it shows, what its marks mean, and the drawing itself."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.report.chart import chart
from tallystick.results import Figure

__all__ = ["Picture", "picture"]


@dataclass(frozen=True)
class Picture:
    """One picture: its title, what its marks mean, and its markup, in which all text is escaped."""

    title: str
    notes: str
    words: str
    html: str


def picture(figure: Figure) -> Picture:
    """Draw *figure* for a page."""
    drawn = chart(figure)
    notes = ". ".join(note[:1].upper() + note[1:] for note in drawn.notes)
    return Picture(drawn.title, f"{notes}." if notes else "", drawn.words, drawn.html())
