"""From a figure to a picture, through the registry of kinds: the one renderer of all charts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, MissingExtra
from tallystick.report.kinds import kind_of
from tallystick.report.svg import (
    WIDTH,
    ChartPart,
    Drawing,
    Mark,
    Mode,
    Panels,
    Tick,
    TintedTable,
    Track,
    Tracks,
    element,
    shorten,
    svg,
    words,
)
from tallystick.results import Figure, Result


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
    >>> from tallystick import compare
    >>> chart_svg(compare({"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50}))[:4]
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
        """Write the picture to *path*, in the format that its ending names: .svg or .png.

        PNG needs the small library resvg-py: ``pip install 'tallystick[png]'``.
        """
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
    return Plot(figure_of(result, figure=figure), mode)


# A drawing as HTML for a page: plots are tables, and text keeps its size at every width.
#
# Across, everything is placed in per cent of the track, so the same markup fits a phone and a wide
# screen. Lines with many points live in an inner SVG that is stretched; their strokes are not.


_STRETCH = 1000.0
"""Width of the inner SVG in its own units."""
_AXIS = 20.0


def markup(drawing: Drawing, *, caption: str) -> str:
    """Return *drawing* as HTML; *caption* says what it is to readers who cannot see it."""
    if isinstance(drawing, Tracks):
        return _tracks(drawing, caption)
    return _panels(drawing) if isinstance(drawing, Panels) else _cells(drawing, caption)


# -- rows with one axis


def _tracks(drawing: Tracks, caption: str) -> str:
    name, value, interval = drawing.heads
    head = element(
        "tr",
        element("th", _isolated(name), class_="name", scope="col"),
        element("td", class_="track"),
        _head(value, "n"),
        _head(interval, "ci"),
    )
    axis = element(
        "tr",
        element("td", class_="name"),
        element("td", _svg(_AXIS, *map(_across, drawing.ticks)), class_="track"),
        element("td", class_="n"),
        element("td", class_="ci"),
    )
    return element(
        "table",
        element("caption", caption, class_="hidden"),
        element("thead", head),
        element("tbody", *map(_track, drawing.tracks)),
        element("tfoot", axis, aria_hidden="true"),
        class_=f"plot {_room(drawing)}",
    )


def _room(drawing: Tracks) -> str:
    """Return how much room the names get, by the longest one."""
    longest = max((len(t.name) for t in drawing.tracks if not t.heading), default=0)
    return "short" if longest <= 11 else "middle" if longest <= 24 else "wide"


def _head(text: str, look: str) -> str:
    if not text:
        return element("td", class_=look)
    return element("th", _isolated(text), class_=look, scope="col")


def _track(track: Track) -> str:
    if track.heading:
        name = element("th", _isolated(track.name), scope="rowgroup", colspan="4", class_="part")
        return element("tr", name)
    note = element("span", _isolated(track.note), class_="desc") if track.note else words()
    name = element("th", _isolated(track.name), note, scope="row", class_="name")
    marks = _svg(track.height, *map(_mark, track.marks))
    value = element("b", track.value) if track.value else words()
    return element(
        "tr",
        name,
        element("td", marks, class_="track"),
        element("td", value, class_="n"),
        element("td", track.interval, class_="ci"),
    )


# -- small plots


def _panels(drawing: Panels) -> str:
    alone = len(drawing.panels) == 1
    panels = [_panel(panel, drawing) for panel in drawing.panels]
    across = element("p", _isolated(drawing.x_title), class_="axis") if drawing.x_title else ""
    grid = element("div", *panels, class_="panels alone" if alone else "panels")
    return words(grid, across) if across else grid


def _panel(panel: ChartPart, drawing: Panels) -> str:
    up = [
        element("text", tick.text, x="0", dx=-8, y=tick.place + 4, text_anchor="end")
        for tick in drawing.up
    ]
    across = [_across(tick, down=panel.height) for tick in drawing.across]
    drawn = _svg(panel.height + _AXIS + 4, *map(_mark, panel.marks), *up, *across)
    head = []
    if panel.title:
        value = element("span", panel.value, class_="n") if panel.value else words()
        head = [element("p", element("b", _isolated(panel.title)), value, class_="panelhead")]
    return element("div", *head, drawn, class_="panel")


# -- tinted cells


def _cells(drawing: TintedTable, caption: str) -> str:
    heads = [element("th", _isolated(name), scope="col", class_="n") for name in drawing.columns]
    corner = _isolated(f"{drawing.corner} \\ {drawing.across}")
    body = []
    for name, cells in drawing.rows:
        row = [element("th", _isolated(name), scope="row")]
        for cell in cells:
            if cell is None:
                row.append(element("td"))
                continue
            under = element("span", cell.under, class_="ci") if cell.under else words()
            row.append(
                element("td", cell.text, under, class_=f"n {_tint(cell.tint)}", title=cell.hover)
            )
        body.append(element("tr", *row))
    table = element(
        "table",
        element("caption", caption, class_="hidden"),
        element("thead", element("tr", element("th", corner, scope="col"), *heads)),
        element("tbody", *body),
        class_="cells",
    )
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _tint(tint: int) -> str:
    return f"{'cool' if tint > 0 else 'warm'} t{abs(tint)}" if tint else ""


# -- marks


def _isolated(text: str) -> str:
    """Keep a name from turning the direction of what stands beside it."""
    return element("bdi", text)


def _svg(height: float, *inside: str) -> str:
    return element("svg", *inside, height=height, aria_hidden="true")


def _across(tick: Tick, *, down: float = 0.0) -> str:
    look = "strong" if tick.strong else ""
    place = f"{100 * tick.place:.2f}%"
    return element("text", tick.text, x=place, y=down + 15, text_anchor="middle", class_=look)


def _mark(mark: Mark) -> str:
    hover = [element("title", mark.hover)] if mark.hover else []
    (x, y), *rest = mark.points
    at = f"{100 * x:.2f}%"
    if mark.shape == "circle":
        return element("circle", *hover, class_=mark.look, cx=at, cy=y, r=mark.radius)
    if mark.shape == "text":
        side = None if mark.anchor == "start" else mark.anchor
        shift = mark.shift or None
        return element("text", mark.text, class_=mark.look, x=at, y=y, dx=shift, text_anchor=side)
    if mark.shape == "line":
        x2, y2 = rest[0]
        end = f"{100 * x2:.2f}%"
        return element("line", *hover, class_=mark.look, x1=at, y1=y, x2=end, y2=y2)
    return _stretched(mark)


def _stretched(mark: Mark) -> str:
    """Return a line of many points, which knows no per cent, in an SVG that is stretched."""
    height = max(y for _, y in mark.points) or 1.0
    steps = " ".join(f"{_STRETCH * x:.1f},{y:.1f}" for x, y in mark.points)
    path = element(
        "path",
        d=f"M{steps}{'Z' if mark.shape == 'area' else ''}",
        class_=mark.look,
        vector_effect="non-scaling-stroke",
    )
    return element(
        "svg",
        path,
        viewBox=f"0 0 {_STRETCH:.0f} {height:.2f}",
        preserveAspectRatio="none",
        width="100%",
        height=height,
    )
