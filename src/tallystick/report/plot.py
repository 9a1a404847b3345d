"""``tallystick.plot(result)``: a picture for a notebook, or a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError
from tallystick.report.theme import Mode
from tallystick.results import Figure, Result

if TYPE_CHECKING:
    from tallystick.report.chart import Chart

__all__ = ["Plot", "plot"]


@dataclass(frozen=True)
class Plot:
    """The picture of one figure; notebooks show it, ``save`` writes it."""

    figure: Figure
    mode: Mode = "light"

    @property
    def chart(self) -> Chart:
        """The Altair chart, for those who want to go on from here."""
        from tallystick.report.chart import chart

        return chart(self.figure, mode=self.mode)

    def svg(self) -> str:
        """Return the picture as SVG text, made without a browser."""
        import vl_convert

        return _renumbered(str(vl_convert.vegalite_to_svg(self.chart.to_json())))

    def save(self, path: str | Path) -> None:
        """Write the picture to *path*, in the format that its ending names: .svg, .png or .html (a
        page of its own).
        """
        from tallystick.io import atomic

        target = Path(path)
        writers = {".svg": self._svg_bytes, ".png": self._png_bytes, ".html": self._html_bytes}
        if target.suffix.lower() not in writers:
            raise InputError(f"path must end in .svg, .png or .html, got {str(path)!r}")
        content = writers[target.suffix.lower()]()
        with atomic(target) as stream:
            stream.write(content)

    def _svg_bytes(self) -> bytes:
        return self.svg().encode("utf-8")

    def _png_bytes(self) -> bytes:
        import vl_convert

        return bytes(vl_convert.vegalite_to_png(self.chart.to_json(), scale=2))

    def _html_bytes(self) -> bytes:
        from tallystick.report.page import picture_page

        return picture_page(self.figure).encode("utf-8")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return {"image/svg+xml": self.svg(), "text/plain": self.figure.title}


def _renumbered(svg: str) -> str:
    """Return *svg* with gradients and clips numbered from 0, since the renderer counts on over a
    process.

    >>> _renumbered('<g id="clip17"/><g clip-path="url(#clip17)"/>')
    '<g id="clip0"/><g clip-path="url(#clip0)"/>'
    """
    order: dict[str, str] = {}
    return re.sub(
        r"\b(clip|gradient_)(\d+)", lambda m: order.setdefault(m[0], f"{m[1]}{len(order)}"), svg
    )


def plot(result: Result, *, figure: int = 0, mode: Mode = "light") -> Plot:
    """Draw the most telling picture of *result* (or its *figure*-th one).

    Examples
    --------
    >>> from tallystick.tally import Tally, describe
    >>> picture = plot(describe(Tally.of({"a": [0, 1, 1], "b": [0, 1, 0]})))
    >>> picture.svg().startswith("<svg")
    True
    """
    figures = result.figures()
    if not figures:
        raise InputError(f"a {result.verb or type(result).__name__} result has no picture")
    if not -len(figures) <= figure < len(figures):
        raise InputError(
            f"figure must be below {len(figures)}, the number of pictures of this result, got"
            f" {figure}"
        )
    return Plot(figures[figure], mode)
