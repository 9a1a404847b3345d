"""Bands, rounds and curves: values along an axis, with a range or two around them."""

from __future__ import annotations

from typing import Any

import altair as alt

from tallystick.report.fields import WIDTH, X_AXIS, colour, data, is_log, scale
from tallystick.report.theme import Theme
from tallystick.report.words import is_numeric, numbers, title
from tallystick.results import Figure

__all__ = ["lines"]

_VALUES = ("y", "low", "high", "outer_low", "outer_high", "mark")


def lines(figure: Figure, theme: Theme) -> Any:
    """Draw *figure*: pale outer band, band with its edges, line, crosses."""
    base = alt.Chart(data(figure))
    x = _x(figure)
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
        line = base.mark_line(
            point=figure.kind == "rounds" and few, strokeWidth=2, color=theme.series[0]
        )
        layers.append(line.encode(x=x, y=y("y"), **colour(figure, theme, dashed=True)))
    if "mark" in figure.roles:
        cross = base.mark_point(shape="cross", filled=True, size=70, color=theme.ink, opacity=1)
        layers.append(cross.encode(x=x, y=y("mark"), **grouped))
    return alt.layer(*layers).properties(width=WIDTH, height=300)


def _x(figure: Figure) -> alt.X:
    words = title(figure, "x")
    if not is_numeric(figure, "x"):
        return alt.X("x:O", title=words, sort=None)
    axis: dict[str, Any] = dict(X_AXIS)
    if figure.kind == "rounds":
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
    columns = {name: [values[i] for i in kept] for name, values in figure.columns.items()}
    return data(Figure(figure.kind, figure.title, columns, figure.roles, figure.labels))
