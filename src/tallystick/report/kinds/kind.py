"""What the report has to know of one kind of chart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.results import Figure

if TYPE_CHECKING:
    from tallystick.report.theme import Theme

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
        Draws a figure in a theme, as an Altair chart.
    key
        Explains in words the marks that no axis and no legend names.
    thin
        Returns the part of a figure that is drawn, and a sentence if that is not all of it.
    """

    name: str
    words: str
    draw: Callable[[Figure, Theme], Any]
    key: Callable[[Figure], list[str]]
    thin: Callable[[Figure], tuple[Figure, str]]
