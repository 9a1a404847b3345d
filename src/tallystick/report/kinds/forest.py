"""A forest: one row per name, its estimate a point, its interval a line."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallystick.report.fields import WIDTH, X_AXIS, colour, data
from tallystick.report.kinds.kind import Kind
from tallystick.report.theme import Theme
from tallystick.report.words import (
    group_words,
    groups_of,
    is_numeric,
    mark_words,
    numbers,
    outer_words,
    title,
)
from tallystick.results import Figure

__all__ = ["KIND", "MOST_NAMES", "forest"]

MOST_NAMES = 60
"""How many rows of a forest are drawn."""

_ROW = 22
_OFFSET = 11


def forest(figure: Figure, theme: Theme) -> Any:
    """Draw *figure*; the order of the rows is the figure's."""
    base = alt.Chart(data(figure))
    names = figure.columns[figure.roles["name"]]
    groups = len(groups_of(figure)) or 1
    several = groups > 1 and len(set(names)) < len(names)
    place: dict[str, Any] = {"y": alt.Y("name:N", sort=alt.SortField("place"), title=None)}
    if several:
        place["yOffset"] = alt.YOffset("group:N", sort=None)
    shared = {**place, **colour(figure, theme)}
    point = "x" if "x" in figure.roles else "value"
    axis = _axis(figure, point)
    layers: list[Any] = []
    outer = {"outer_low", "outer_high"} <= set(figure.roles)
    for low, high, width in (("outer_low", "outer_high", 1.5), ("low", "high", 5 if outer else 2)):
        if {low, high} <= set(figure.roles):
            line = base.mark_rule(strokeWidth=width, color=theme.series[0])
            layers.append(line.encode(x=_x(low, axis), x2=f"{high}:Q", **shared))
    if point in figure.roles:
        dot = base.mark_point(
            filled=True, size=80 if outer else 55, opacity=1, color=theme.series[0]
        )
        if outer:  # a rim sets it off from the thick line
            dot = dot.mark_point(
                filled=True,
                size=80,
                opacity=1,
                color=theme.series[0],
                stroke=theme.paper,
                strokeWidth=1.5,
            )
        more = (
            {"shape": alt.Shape("mark:N", title=title(figure, "mark"))}
            if _names_marks(figure)
            else {}
        )
        layers.append(dot.encode(x=_x(point, axis), **shared, **more))
    if "mark" in figure.roles and not _names_marks(figure):
        cross = base.mark_point(shape="cross", filled=True, size=70, color=theme.ink, opacity=1)
        layers.append(cross.encode(x=_x("mark", axis), **place))
    if "text" in figure.roles:
        words = base.mark_text(align="left", dx=8, dy=-8, fontSize=11, color=theme.ink)
        layers.append(words.encode(x=f"{point}:Q", text="text:N", **place))
    rows = len(set(names))
    height = rows * (_OFFSET * groups + 8) if several else rows * _ROW
    return alt.layer(*layers).properties(width=WIDTH, height=max(60, height))


def _x(role: str, axis: dict[str, Any]) -> alt.X:
    return alt.X(f"{role}:Q", **axis)


def _axis(figure: Figure, point: str) -> dict[str, Any]:
    values = numbers(figure, (point, "low", "high", "outer_low", "outer_high"))
    counts = bool(values) and all(value == int(value) for value in values)
    # there is no rank 1.5
    steps: dict[str, Any] = {"tickMinStep": 1, "format": ",d"} if counts else {}
    plain = "outer_low" not in figure.roles  # bounds have no one estimate that could name the axis
    words = title(figure, "x") or (title(figure, "value") if plain else "")
    # rank 1 is not on the edge
    padding: dict[str, Any] = {"padding": 12, "nice": False} if counts else {}
    return {
        "title": words or None,
        "scale": alt.Scale(zero=False, **padding),
        "axis": alt.Axis(**X_AXIS, **steps),
    }


def _names_marks(figure: Figure) -> bool:
    """Whether the marks are words, drawn as shapes; numbers are drawn as crosses."""
    return "mark" in figure.roles and not is_numeric(figure, "mark")


def _key(figure: Figure) -> list[str]:
    words = outer_words(figure, thin="thin line", thick="thick line")
    words += [*group_words(figure), *mark_words(figure)]
    if "value" in figure.roles and "x" not in figure.roles:
        words.append(f"point: {title(figure, 'value')}")
    return words


def _thin(figure: Figure) -> tuple[Figure, str]:
    n = figure.size
    if n <= MOST_NAMES:
        return figure, ""
    return figure.rows(range(MOST_NAMES)), f"the first {MOST_NAMES} of {n:,} are drawn"


KIND = Kind(
    name="forest",
    words="Chart of estimates with intervals",
    draw=forest,
    key=_key,
    thin=_thin,
)
