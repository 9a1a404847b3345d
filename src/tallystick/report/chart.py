"""Figure to chart: one small function a kind, by the roles of its columns alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import altair as alt

from tallystick.report.shorten import shorten, thin
from tallystick.report.theme import THEMES, Mode, Theme
from tallystick.results import Figure

__all__ = ["Chart", "chart"]

Chart: TypeAlias = alt.TopLevelMixin

_WIDTH = 620
_ENDS = (("outer_low", "outer_high", 0.14), ("low", "high", 0.3))


def chart(figure: Figure, *, mode: Mode = "light") -> Chart:
    """Draw *figure*; a leaderboard of thousands is drawn by its first rows, and the title says so.

    Examples
    --------
    >>> from tallystick.results import Figure
    >>> columns = {"model": ["a", "b"], "score": [0.7, 0.6], "lo": [0.6, 0.5], "hi": [0.8, 0.7]}
    >>> roles = {"name": "model", "x": "score", "low": "lo", "high": "hi"}
    >>> chart(Figure("forest", "Scores", columns, roles)).to_dict()["title"]["text"]
    'Scores'
    """
    theme = THEMES[mode]
    drawn, note = thin(figure)
    draw = {"forest": _forest, "bands": _lines, "rounds": _lines, "curve": _lines, "matrix": _matrix}[figure.kind]
    made = draw(drawn, theme)
    title = alt.TitleParams(text=shorten(figure.title, 110), subtitle=note or [], subtitleColor=theme.ink)
    finished: Chart = made.properties(title=title).configure(**theme.config())
    return finished


def _data(figure: Figure) -> dict[str, Any]:
    """Rows as inline data, each column under the name of its role: names from the data never reach a field path."""
    columns = {role: [_cell(value) for value in figure.columns[name]] for role, name in figure.roles.items()}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return {"values": [{"place": i, **row} for i, row in enumerate(rows)]}


def _cell(value: Any) -> Any:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value - value != 0:  # NaN and infinity are gaps
        return None
    return shorten(value) if isinstance(value, str) else value


def _title(figure: Figure, role: str) -> str:
    return shorten(figure.labels.get(role, figure.roles.get(role, "").replace("_", " ")))


def _colour(figure: Figure) -> dict[str, Any]:
    if "group" not in figure.roles:
        return {}
    return {"color": alt.Color("group:N", title=_title(figure, "group"), sort=None)}


def _forest(figure: Figure, theme: Theme) -> Any:
    """One row a name, its estimate a point, its interval a line; the order is the figure's."""
    n = len(next(iter(figure.columns.values()), ()))
    base = alt.Chart(_data(figure))
    names = alt.Y("name:N", sort=alt.SortField("place"), title=None)
    rows = figure.columns[figure.roles["name"]]
    several = {"yOffset": alt.YOffset("group:N")} if "group" in figure.roles and len(set(rows)) < len(rows) else {}
    layers: list[Any] = []
    if {"low", "high"} <= set(figure.roles):
        rule = base.mark_rule(strokeWidth=2, color=theme.series[0])
        x = alt.X("low:Q", title=_title(figure, "x"), scale=alt.Scale(zero=False))
        layers.append(rule.encode(x=x, x2="high:Q", y=names, **several, **_colour(figure)))
    point = base.mark_point(filled=True, size=55, opacity=1, color=theme.series[0])
    x = alt.X("x:Q", title=_title(figure, "x"), scale=alt.Scale(zero=False))
    marks = {"shape": alt.Shape("mark:N", title=_title(figure, "mark"))} if "mark" in figure.roles else {}
    layers.append(point.encode(x=x, y=names, **several, **_colour(figure), **marks))
    if "text" in figure.roles:
        words = base.mark_text(align="left", dx=8, dy=-8, fontSize=11, color=theme.ink)
        layers.append(words.encode(x="x:Q", y=names, text="text:N"))
    height = max(60, 20 * n)
    return alt.layer(*layers).properties(width=_WIDTH, height=height)


def _lines(figure: Figure, theme: Theme) -> Any:
    """Values along an axis, with a range or two around them."""
    base = alt.Chart(_data(figure))
    x_kind = "Q" if _numeric(figure, "x") else "O"
    scale_y = _scale(figure, ("y", "low", "high", "outer_low", "outer_high"))
    axis: dict[str, Any] = {"scale": _scale(figure, ("x",))} if x_kind == "Q" else {"sort": None}
    if figure.kind == "rounds" and x_kind == "Q":
        numbers = sorted({int(x) for x in figure.columns[figure.roles["x"]] if x is not None})
        axis["axis"] = alt.Axis(values=numbers[:: -(-len(numbers) // 30)], format="d")  # there is no round 1.5
    x = alt.X(f"x:{x_kind}", title=_title(figure, "x"), **axis)
    y_title = _title(figure, "y") or _title(figure, "low")
    layers: list[Any] = []
    for low, high, opacity in _ENDS:
        if {low, high} <= set(figure.roles):
            area = base.mark_area(opacity=opacity, color=theme.series[0])
            y = alt.Y(f"{low}:Q", title=y_title, scale=scale_y)
            layers.append(area.encode(x=x, y=y, y2=f"{high}:Q", **_colour(figure)))
            if low == "low":  # where ranges of several groups overlap, their edges tell them apart
                edge = base.mark_line(strokeWidth=1, color=theme.series[0])
                layers += [
                    edge.encode(x=x, y=alt.Y(f"{end}:Q", title=y_title), **_colour(figure)) for end in (low, high)
                ]
    if "y" in figure.roles:
        line = base.mark_line(
            point=figure.kind == "rounds" and len(figure.columns[figure.roles["x"]]) <= 200,
            strokeWidth=2,
            color=theme.series[0],
        )
        layers.append(line.encode(x=x, y=alt.Y("y:Q", title=y_title, scale=scale_y), **_colour(figure)))
    if "mark" in figure.roles:
        crosses = base.mark_point(shape="cross", filled=True, size=70, color=theme.ink)
        layers.append(crosses.encode(x=x, y=alt.Y("mark:Q", title=y_title, scale=scale_y)))
    return alt.layer(*layers).properties(width=_WIDTH, height=300)


def _matrix(figure: Figure, theme: Theme) -> Any:
    """Signed cells, zero in the middle of the colours; an interval is written below its number."""
    base = alt.Chart(_data(figure)).encode(
        x=alt.X("column:N", sort=None, title=_title(figure, "column"), axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("row:N", sort=None, title=_title(figure, "row")),
    )
    values = [v for v in figure.columns[figure.roles["value"]] if isinstance(v, int | float) and v == v]
    largest = max((abs(float(v)) for v in values), default=1.0) or 1.0
    scale = alt.Scale(domain=[-largest, 0, largest], range=[theme.low, theme.middle, theme.high])
    cells = base.mark_rect(stroke=theme.faint).encode(
        color=alt.Color("value:Q", scale=scale, title=_title(figure, "value"))
    )
    rows, columns = (len(set(map(str, figure.columns[figure.roles[role]]))) for role in ("row", "column"))
    layers: list[Any] = [cells]
    if rows * columns <= 150:
        strong = alt.datum.value * alt.datum.value > (0.6 * largest) ** 2
        colour = alt.condition(strong, alt.value("#ffffff"), alt.value(theme.ink))
        shown = "text:N" if "text" in figure.roles else alt.Text("value:Q", format="+.3~f")
        layers.append(base.mark_text(fontSize=10).encode(text=shown, color=colour))
    return alt.layer(*layers).properties(width=min(_WIDTH, 64 * columns), height=min(700, 34 * rows))


def _numeric(figure: Figure, role: str) -> bool:
    values = [v for v in figure.columns[figure.roles[role]] if v is not None]
    return all(isinstance(v, int | float) or hasattr(v, "__float__") for v in values)


def _scale(figure: Figure, roles: Sequence[str]) -> alt.Scale:
    """Logarithmic where positive numbers span two decades (sizes, prices), linear elsewhere."""
    present = [figure.columns[figure.roles[role]] for role in roles if role in figure.roles]
    values = [float(v) for column in present for v in column if v is not None]
    if values and min(values) > 0 and max(values) >= 100 * min(values):
        return alt.Scale(type="log")
    return alt.Scale(zero=False, nice=True)
