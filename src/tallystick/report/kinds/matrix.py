"""A signed heat map: zero in the middle of the colours, the interval below its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tallystick.report.fields import WIDTH, data
from tallystick.report.kinds.kind import Kind
from tallystick.report.shorten import shorten
from tallystick.report.theme import Theme, readable_on
from tallystick.report.words import NAME, group_words, outer_words, title
from tallystick.results import Figure

__all__ = ["KIND", "MOST_SIDE", "matrix"]

MOST_SIDE = 30
"""How many rows and columns of a matrix are drawn."""

_MOST_WRITTEN = 150
_PALE = 0.35


def matrix(figure: Figure, theme: Theme) -> Any:
    """Draw *figure*; columns with the names of the rows are in the order of the rows."""
    rows, columns = (
        list(dict.fromkeys(map(str, figure.columns[figure.roles[role]])))
        for role in ("row", "column")
    )
    order = rows if set(rows) == set(columns) else columns
    values = [_number(value) for value in figure.columns[figure.roles["value"]]]
    largest = max((abs(value) for value in values if value is not None), default=1.0) or 1.0
    strong = _strengths(figure)
    inks = [
        readable_on(theme.cell((value or 0.0) / largest, opacity))
        for value, opacity in zip(values, strong, strict=True)
    ]
    spans = _intervals(figure)
    base = alt.Chart(data(figure, ink=inks, strength=strong, span=spans)).encode(
        x=alt.X(
            "column:N",
            sort=_places(order, columns),
            title=title(figure, "column"),
            axis=alt.Axis(labelAngle=-35),
        ),
        y=alt.Y("row:N", sort=None, title=title(figure, "row")),
    )
    domain = alt.Scale(
        domain=[-largest, 0, largest],
        range=[theme.low, theme.middle, theme.high],
        interpolate="rgb",
    )
    cells = base.mark_rect(stroke=theme.faint).encode(
        color=alt.Color("value:Q", scale=domain, title=title(figure, "value")),
        fillOpacity=alt.FillOpacity("strength:Q", scale=None, legend=None),
    )
    layers: list[Any] = [cells]
    written = len(rows) * len(columns) <= _MOST_WRITTEN
    if written:
        shown = "text:N" if "text" in figure.roles else alt.Text("value:Q", format="+.3~f")
        ink = alt.Color("ink:N", scale=None)
        layers.append(
            base.mark_text(fontSize=11, dy=-6 if any(spans) else 0).encode(text=shown, color=ink)
        )
        if any(spans):
            layers.append(base.mark_text(fontSize=9, dy=8).encode(text="span:N", color=ink))
    wide, high = (96, 40) if written and any(spans) else (64, 34)
    return (
        alt.layer(*layers)
        .resolve_scale(color="independent")
        .properties(width=min(WIDTH, wide * len(columns)), height=min(700, high * len(rows)))
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value - value == 0 else None


def _places(order: Sequence[str], columns: Sequence[str]) -> Any:
    """Return the order of the columns by their shortened names, or the data's own."""
    return [shorten(name, NAME) for name in order] if list(order) != list(columns) else None


def _strengths(figure: Figure) -> list[float]:
    """Return how strongly each cell is coloured: a mark that says nothing makes it pale."""
    n = len(figure.columns[figure.roles["value"]])
    if "mark" not in figure.roles:
        return [1.0] * n
    return [1.0 if mark else _PALE for mark in figure.columns[figure.roles["mark"]]]


def _intervals(figure: Figure) -> list[str]:
    """Return each interval as text, in per cent where the numbers are."""
    n = len(figure.columns[figure.roles["value"]])
    if not {"low", "high"} <= set(figure.roles):
        return [""] * n
    texts = figure.columns[figure.roles["text"]] if "text" in figure.roles else [""] * n
    factor, decimals = (100, 2) if any(str(text).endswith("%") for text in texts) else (1, 3)
    ends = (map(_number, figure.columns[figure.roles[role]]) for role in ("low", "high"))
    return [
        (
            ""
            if low is None or high is None
            else f"[{factor * low:.{decimals}f}, {factor * high:.{decimals}f}]"
        )
        for low, high in zip(*ends, strict=True)
    ]


def _key(figure: Figure) -> list[str]:
    words = [*outer_words(figure, thin="pale band", thick="band"), *group_words(figure)]
    if "mark" in figure.roles:
        marks = {str(value or "") for value in figure.columns[figure.roles["mark"]]}
        words += [f"pale: not {shorten(max(marks))}"] if len(marks) == 2 and "" in marks else []
    return words


def _thin(figure: Figure) -> tuple[Figure, str]:
    """Keep the corner of the first rows and columns."""
    sides = [figure.columns[figure.roles[role]] for role in ("row", "column")]
    rows, columns = (list(dict.fromkeys(side)) for side in sides)
    if max(len(rows), len(columns)) <= MOST_SIDE:
        return figure, ""

    shown = set(rows[:MOST_SIDE]), set(columns[:MOST_SIDE])
    kept = [
        i
        for i, (row, column) in enumerate(zip(*sides, strict=True))
        if row in shown[0] and column in shown[1]
    ]
    note = f"the first {MOST_SIDE} of {len(rows):,} rows and {len(columns):,} columns are drawn"
    return figure.rows(kept), note


KIND = Kind(
    name="matrix",
    words="Heat map of signed numbers",
    draw=matrix,
    key=_key,
    thin=_thin,
)
