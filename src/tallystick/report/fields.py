"""What every kind of picture shares: rows as inline data, colours by group, the scale of an
axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from tallystick.report.theme import Theme
from tallystick.report.words import groups_of, numbers, plain_cell, title
from tallystick.results import Figure

__all__ = ["WIDTH", "X_AXIS", "colour", "data", "is_log", "scale"]

WIDTH = 620
"""Width of a picture in pixels."""

X_AXIS: Mapping[str, Any] = {"labelFlush": False, "tickCount": 8}
"""Few ticks, each with its number right below it."""

_LONG = 26
_DASHES = ([1, 0], [7, 3], [2, 2])


def data(figure: Figure, **more: Sequence[Any]) -> dict[str, Any]:
    """Rows as inline data, each column under the name of its role: names from the data never reach
    a field path.
    """
    columns = {
        role: [plain_cell(value) for value in figure.columns[name]]
        for role, name in figure.roles.items()
    }
    columns |= {name: list(values) for name, values in more.items()}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return {"values": [{"place": i, **row} for i, row in enumerate(rows)]}


def colour(figure: Figure, theme: Theme, *, dashed: bool = False) -> dict[str, Any]:
    """Colour by group; *dashed*, groups beyond the length of the palette differ by their dashes
    too.
    """
    groups = groups_of(figure)
    if len(groups) < 2:
        return {}
    legend: dict[str, Any] = {"symbolOpacity": 1, "title": title(figure, "group")}
    # long names stand below the picture, where there is room
    if max(map(len, groups), default=0) > _LONG:
        legend |= {"orient": "bottom", "columns": 2, "labelLimit": 320}
    scale: dict[str, Any] = (
        {"scale": alt.Scale(domain=groups)} if len(groups) > len(theme.series) else {}
    )
    told: dict[str, Any] = {
        "color": alt.Color("group:N", sort=None, legend=alt.Legend(**legend), **scale)
    }
    if dashed and scale:
        turns = [_DASHES[i // len(theme.series) % len(_DASHES)] for i in range(len(groups))]
        dashes = alt.Scale(domain=groups, range=turns)
        told["strokeDash"] = alt.StrokeDash(
            "group:N", sort=None, scale=dashes, legend=alt.Legend(**legend)
        )
    return told


def scale(figure: Figure, roles: Sequence[str]) -> alt.Scale:
    """Logarithmic where positive numbers span two decades unevenly (sizes, prices), linear
    elsewhere.
    """
    values = sorted(set(numbers(figure, roles)))
    if values and values[0] > 0 and values[-1] >= 100 * values[0] and not _even(values):
        return alt.Scale(type="log")
    return alt.Scale(zero=False, nice=True)


def is_log(found: alt.Scale) -> bool:
    """Return whether *found* is logarithmic."""
    return bool(found.to_dict().get("type") == "log")


def _even(values: Sequence[float]) -> bool:
    """Return whether sorted values are a count: most steps between them are equally long.

    >>> _even([1, 2, 3, 4, 200]), _even([1, 10, 100, 1000])
    (True, False)
    """
    steps = [round(b - a, 9) for a, b in pairwise(values)]
    return len(steps) > 2 and max(map(steps.count, set(steps))) > len(steps) / 2
