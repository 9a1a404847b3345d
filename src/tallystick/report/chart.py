"""From a figure to a picture, through the registry of kinds, for a page, a notebook or a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, MissingExtra
from tallystick.report.kinds import kind_of
from tallystick.report.svg import Drawing, Mode, element, svg
from tallystick.results import Figure, Result, shorten

PAGE_WIDTH, PHONE_WIDTH = 900.0, 340.0
"""Widths at which a page draws a picture, so that its text is as large as the page's."""


@dataclass(frozen=True)
class Chart:
    """A figure that was drawn: its title, what its marks mean, and the marks.

    Parameters
    ----------
    title, notes
        What it shows, and what no axis and no label says.
    words
        All of it in words, for readers who cannot see it.
    drawing
        The marks.
    """

    title: str
    notes: tuple[str, ...]
    words: str
    drawing: Drawing

    @property
    def caption(self) -> str:
        """What its marks mean, in sentences."""
        notes = ". ".join(note[:1].upper() + note[1:] for note in self.notes)
        return f"{notes}." if notes else ""

    def html(self) -> str:
        """Return it for a page: drawn for a screen and for a phone, of which the page shows one."""
        drawn = (
            svg(self.drawing, title=self.words, width=width, look=look)
            for look, width in (("screen", PAGE_WIDTH), ("phone", PHONE_WIDTH))
        )
        return element("div", *drawn, class_="scroll chart", tabindex="0", role="group")

    def svg(self, *, mode: Mode = "light") -> str:
        """Return it as one SVG file."""
        return svg(self.drawing, title=self.title, notes=self.notes, mode=mode)


def chart(figure: Figure) -> Chart:
    """Draw *figure*; of a leaderboard of thousands the first rows, and the notes say so.

    Examples
    --------
    >>> from tallystick.results import Figure
    >>> columns = {"model": ["a", "b"], "score": [0.7, 0.6], "lo": [0.6, 0.5], "hi": [0.8, 0.7]}
    >>> roles = {"name": "model", "x": "score", "low": "lo", "high": "hi"}
    >>> chart(Figure("forest", "Scores", columns, roles)).words
    'Chart of estimates with intervals: Scores'
    """
    kind = kind_of(figure)
    drawn, note = kind.thin(figure)
    title = shorten(figure.title, 160)
    notes = tuple(text for text in (*kind.key(drawn), note) if text)
    words = f"{kind.words}: {'; '.join((title, *notes))}"
    return Chart(title, notes, words, kind.draw(drawn))


# ``tallystick.plot(result)``: a picture for a notebook, or a file.


@dataclass(frozen=True)
class Plot:
    """The picture of one figure; notebooks show it, ``save`` writes it."""

    figure: Figure
    mode: Mode = "light"

    def svg(self) -> str:
        """Return the picture as SVG text."""
        return chart(self.figure).svg(mode=self.mode)

    def save(self, path: str | Path) -> None:
        """Write the picture to *path*, in the format that its ending names."""
        from tallystick.table import atomic

        target = Path(path)
        ending = target.suffix.lower()
        if ending not in (".svg", ".png"):
            raise InputError(f"path must end in .svg or .png, got {str(path)!r}")
        content = self.svg().encode("utf-8") if ending == ".svg" else self._png_bytes()
        with atomic(target) as stream:
            stream.write(content)

    def _png_bytes(self) -> bytes:
        try:
            import resvg_py
        except ImportError as error:
            raise MissingExtra("a PNG picture", "png") from error

        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg(), zoom=2))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return {"image/svg+xml": self.svg(), "text/plain": self.figure.title}


def plot(result: Result, *, figure: int = 0, mode: Mode = "light") -> Plot:
    """Draw the most telling picture of *result* (or its *figure*-th one).

    Examples
    --------
    >>> from tallystick import compare
    >>> picture = plot(compare({"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50}))
    >>> picture.svg().startswith("<svg")
    True
    """
    figures = result.figures()
    if not -len(figures) <= figure < len(figures):
        raise InputError(f"figure {figure} is not there: this result has {len(figures)} pictures")
    return Plot(figures[figure], mode)
