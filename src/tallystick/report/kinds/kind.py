"""What the report has to know of one kind of chart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tallystick.report.drawing import Drawing
from tallystick.results import Figure

__all__ = ["Kind"]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of chart.

    Parameters
    ----------
    name
        What a Figure calls it.
    words
        What it is, for readers who cannot see it.
    draw
        Turns a figure into marks, which pages and files then write in their own way.
    key
        Explains in words the marks that no axis and no label names.
    thin
        Returns the part of a figure that is drawn, and a sentence if that is not all of it.
    """

    name: str
    words: str
    draw: Callable[[Figure], Drawing]
    key: Callable[[Figure], list[str]]
    thin: Callable[[Figure], tuple[Figure, str]]
