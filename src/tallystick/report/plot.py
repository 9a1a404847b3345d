"""``tallystick.plot(result)``: a picture for a notebook, or a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.errors import InputError, MissingExtra
from tallystick.report.chart import chart, figure_of
from tallystick.report.theme import Mode
from tallystick.results import Figure, Result

__all__ = ["Plot", "plot"]


@dataclass(frozen=True)
class Plot:
    """The picture of one figure; notebooks show it, ``save`` writes it."""

    figure: Figure
    mode: Mode = "light"

    def svg(self) -> str:
        """Return the picture as SVG text."""
        return chart(self.figure).svg(mode=self.mode)

    def save(self, path: str | Path) -> None:
        """Write the picture to *path*, in the format that its ending names: .svg, .html (a page of
        its own) or .png.

        PNG needs the small library resvg-py: ``pip install 'tallystick[png]'``.
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
        try:
            import resvg_py
        except ImportError as error:
            raise MissingExtra("a PNG picture", "png") from error

        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg(), zoom=2))

    def _html_bytes(self) -> bytes:
        from tallystick.report.page import picture_page

        return picture_page(self.figure).encode("utf-8")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return {"image/svg+xml": self.svg(), "text/plain": self.figure.title}


def plot(result: Result, *, figure: int = 0, mode: Mode = "light") -> Plot:
    """Draw the most telling picture of *result* (or its *figure*-th one).

    Examples
    --------
    >>> from tallystick.tally import Tally, describe
    >>> picture = plot(describe(Tally.of({"a": [0, 1, 1], "b": [0, 1, 0]})))
    >>> picture.svg().startswith("<svg")
    True
    """
    return Plot(figure_of(result, figure=figure), mode)
