"""What bands, rounds and curves share: values along an axis, with a range or two around them."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallystick.report.fields import WIDTH, X_AXIS, colour, data, is_log, scale
from tallystick.report.theme import Theme
from tallystick.report.words import group_words, is_numeric, mark_words, numbers, outer_words, title
from tallystick.results import Figure

__all__ = ["MOST_POINTS", "lines", "lines_key", "thin_lines"]

MOST_POINTS = 2000
"""How many points of a line are drawn."""

_VALUES = ("y", "low", "high", "outer_low", "outer_high", "mark")


def lines(figure: Figure, theme: Theme, *, whole: bool = False) -> Any:
    """Draw *figure*: pale outer band, band with its edges, line, crosses.

    Parameters
    ----------
    figure, theme
        What to draw, and in which colours.
    whole
        Whether x counts something, so that it has whole ticks and every value has its point.
    """
    base = alt.Chart(data(figure))
    x = _x(figure, whole=whole)
    y_title = _y_title(figure)
    y_scale = scale(figure, _VALUES)
    ticks: dict[str, Any] = {"tickCount": 4} if is_log(y_scale) else {}  # decades only

    def y(role: str) -> alt.Y:
        return alt.Y(f"{role}:Q", title=y_title, scale=y_scale, axis=alt.Axis(**ticks))

    grouped = colour(figure, theme)
    layers: list[Any] = []
    if {"outer_low", "outer_high"} <= set(figure.roles) and numbers(figure, ["outer_low"]):
        one = _one_outer_band(figure)
        outer = alt.Chart(_first_group(figure)) if one and grouped else base
        area = outer.mark_area(
            opacity=0.13, color=theme.ink if one and grouped else theme.series[0]
        )
        layers.append(
            area.encode(x=x, y=y("outer_low"), y2="outer_high:Q", **({} if one else grouped))
        )
    if {"low", "high"} <= set(figure.roles) and numbers(figure, ["low"]):
        layers.append(
            base.mark_area(opacity=0.3, color=theme.series[0]).encode(
                x=x, y=y("low"), y2="high:Q", **grouped
            )
        )
        # where ranges overlap, edges tell them apart
        edge = base.mark_line(strokeWidth=1, color=theme.series[0])
        layers += [edge.encode(x=x, y=y(end), **grouped) for end in ("low", "high")]
    if "y" in figure.roles:
        few = len(figure.columns[figure.roles["x"]]) <= 200
        line = base.mark_line(point=whole and few, strokeWidth=2, color=theme.series[0])
        layers.append(line.encode(x=x, y=y("y"), **colour(figure, theme, dashed=True)))
    if "mark" in figure.roles:
        cross = base.mark_point(shape="cross", filled=True, size=70, color=theme.ink, opacity=1)
        layers.append(cross.encode(x=x, y=y("mark"), **grouped))
    return alt.layer(*layers).properties(width=WIDTH, height=300)


def _x(figure: Figure, *, whole: bool) -> alt.X:
    words = title(figure, "x")
    if not is_numeric(figure, "x"):
        return alt.X("x:O", title=words, sort=None)
    axis: dict[str, Any] = dict(X_AXIS)
    if whole:
        values = sorted({int(x) for x in numbers(figure, ["x"])})
        # there is no round 1.5
        axis |= {"values": values[:: -(-len(values) // 30) or 1], "format": "d"}
    x_scale = scale(figure, ("x",))
    if is_log(x_scale):
        axis["tickCount"] = 4
    return alt.X("x:Q", title=words, scale=x_scale, axis=alt.Axis(**axis))


def _y_title(figure: Figure) -> str:
    """Name what is drawn; a line inside a band names only itself, and stands in the key."""
    if "y" in figure.labels or "low" not in figure.roles:
        return title(figure, "y")
    return f"{title(figure, 'low')} to {title(figure, 'high')}"


def _one_outer_band(figure: Figure) -> bool:
    """Whether the outer band is the same for every group, so that it is drawn once."""
    ends = (figure.columns[figure.roles[role]] for role in ("x", "outer_low", "outer_high"))
    bands: dict[Any, set[Any]] = {}
    for x, low, high in zip(*ends, strict=True):
        bands.setdefault(x, set()).add((low, high))
    return all(len(seen) == 1 for seen in bands.values())


def _first_group(figure: Figure) -> dict[str, Any]:
    groups = figure.columns[figure.roles["group"]] if "group" in figure.roles else []
    kept = [i for i, group in enumerate(groups) if group == groups[0]]
    return data(figure.rows(kept))


def lines_key(figure: Figure, *, line: bool = False) -> list[str]:
    """Explain bands, groups and crosses; with *line*, also the line inside a band."""
    words = outer_words(figure, thin="pale band", thick="band")
    if line and {"y", "low"} <= set(figure.roles) and "y" not in figure.labels:
        words.append(f"line: {title(figure, 'y')}")
    return [*words, *group_words(figure), *mark_words(figure)]


def thin_lines(figure: Figure) -> tuple[Figure, str]:
    """Keep one point in every so many."""
    n = figure.size
    step = max(1, -(-n // MOST_POINTS))
    if step == 1:
        return figure, ""
    return figure.rows(range(0, n, step)), f"one in {step:,} of {n:,} points is drawn"
