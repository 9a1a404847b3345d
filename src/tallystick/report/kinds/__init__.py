"""The kinds of chart: one file per kind, and one line here for each.

To add a kind, write ``report/kinds/NAME.py`` with a `Kind` named ``KIND``, and add its module to
`MODULES`. A `tallystick.results.Figure` of that kind can then be drawn, saved and put on a page.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tallystick.errors import InputError
from tallystick.report.kinds.kind import Kind
from tallystick.results import Figure

__all__ = ["MODULES", "Kind", "chart_kinds", "kind_of"]

MODULES: tuple[str, ...] = (
    "tallystick.report.kinds.forest",
    "tallystick.report.kinds.bands",
    "tallystick.report.kinds.matrix",
    "tallystick.report.kinds.rounds",
    "tallystick.report.kinds.curve",
)
"""Where the kinds are."""


def chart_kinds() -> dict[str, Kind]:
    """Return every kind by its name."""
    return _load(MODULES)


@cache
def _load(modules: tuple[str, ...]) -> dict[str, Kind]:
    kinds: list[Kind] = [import_module(name).KIND for name in modules]
    return {kind.name: kind for kind in kinds}


def kind_of(figure: Figure) -> Kind:
    """Return how *figure* is drawn.

    >>> kind_of(Figure("forest", "f", {}, {})).words
    'Chart of estimates with intervals'
    >>> kind_of(Figure("pie", "p", {}, {}))
    Traceback (most recent call last):
    tallystick.errors.InputError: 'pie' is not a kind of chart: choose one of forest, bands, matrix, rounds, curve
    """
    kinds = chart_kinds()
    if figure.kind not in kinds:
        raise InputError(
            f"{figure.kind!r} is not a kind of chart: choose one of {', '.join(kinds)}"
        )
    return kinds[figure.kind]
