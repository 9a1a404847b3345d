"""From a figure to a picture, through the registry of kinds: the one renderer of all charts."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.errors import InputError
from tallystick.report.drawing import Drawing
from tallystick.report.kinds import kind_of
from tallystick.report.markup import markup
from tallystick.report.shorten import shorten
from tallystick.report.svg import WIDTH, svg
from tallystick.report.theme import Mode
from tallystick.results import Figure, Result

__all__ = ["Chart", "chart", "chart_svg", "figure_of"]


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

    def html(self) -> str:
        """Return it for a page, where it takes the width that there is."""
        return markup(self.drawing, caption=self.words)

    def svg(self, *, mode: Mode = "light", width: float = WIDTH) -> str:
        """Return it as one SVG file."""
        return svg(self.drawing, title=self.title, notes=self.notes, mode=mode, width=width)


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


def chart_svg(
    result: Result,
    *,
    figure: int = 0,
    kind: str | None = None,
    mode: Mode = "auto",
    width: float = WIDTH,
) -> str:
    """Return a picture of *result* as SVG text, for a page, a file or an HTTP answer.

    Parameters
    ----------
    result
        Any result that has pictures.
    figure
        Which one, the most telling first; with *kind* which one of that kind.
    kind
        ``forest``, ``bands``, ``matrix``, ``rounds`` or ``curve``; None for any.
    mode
        ``light``, ``dark``, or ``auto``, which follows the reader's system.
    width
        In pixels.

    Examples
    --------
    >>> from tallystick.tally import Tally, describe
    >>> chart_svg(describe(Tally.of({"a": [0, 1, 1], "b": [0, 1, 0]})))[:4]
    '<svg'
    """
    return chart(figure_of(result, figure=figure, kind=kind)).svg(mode=mode, width=width)


def figure_of(result: Result, *, figure: int = 0, kind: str | None = None) -> Figure:
    """Return one figure of *result*; a number that it does not have is refused."""
    figures = [one for one in result.figures() if kind is None or one.kind == kind]
    if not figures:
        what = f"no picture of the kind {kind!r}" if kind is not None else "no picture"
        raise InputError(f"a {result.verb or type(result).__name__} result has {what}")
    if not -len(figures) <= figure < len(figures):
        raise InputError(
            f"figure must be below {len(figures)}, the number of pictures of this result, got"
            f" {figure}"
        )
    return figures[figure]
