"""What a figure says in words: names of axes and groups, and a key to marks that neither
explains.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tallystick.report.shorten import shorten
from tallystick.results import Figure

__all__ = ["NAME", "groups_of", "is_numeric", "key", "numbers", "plain_cell", "title"]

NAME = 72
"""The most signs of a name in a picture."""


def plain_cell(value: Any) -> Any:
    """Return a cell as JSON has it: gaps as None, text on one harmless line."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value - value != 0:  # NaN and infinity are gaps
        return None
    return shorten(value, NAME) if isinstance(value, str) else value


def title(figure: Figure, role: str) -> str:
    """Return what the axis of *role* is called."""
    return shorten(figure.labels.get(role, figure.roles.get(role, "").replace("_", " ")))


def numbers(figure: Figure, roles: Iterable[str]) -> list[float]:
    """Return the finite numbers in the columns of *roles*."""
    cells = [
        plain_cell(v)
        for role in roles
        if role in figure.roles
        for v in figure.columns[figure.roles[role]]
    ]
    return [
        float(value)
        for value in cells
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


def is_numeric(figure: Figure, role: str) -> bool:
    """Return whether the column of *role* holds numbers and gaps only."""
    cells = [plain_cell(value) for value in figure.columns[figure.roles[role]]]
    return all(isinstance(cell, int | float) for cell in cells if cell is not None)


def groups_of(figure: Figure) -> list[str]:
    """Return the names of the groups, in the order of the data."""
    cells = figure.columns[figure.roles["group"]] if "group" in figure.roles else ()
    return [shorten(str(name), NAME) for name in dict.fromkeys(cells)]


def key(figure: Figure) -> str:
    """Say in words what the marks mean that no axis and no legend names; part of the title, so also
    read aloud.

    >>> columns = {"n": ["a"], "s": [1.0], "lo": [0.5], "hi": [2.0], "independent": [0.7]}
    >>> key(Figure("forest", "f", columns, {"name": "n", "x": "s", "low": "lo", "high": "hi", "mark": "independent"}))
    'cross: independent'
    """
    words = []
    if "outer_low" in figure.roles and numbers(figure, ["outer_low", "outer_high"]):
        thin = "thin line" if figure.kind == "forest" else "pale band"
        words.append(f"{thin}: {_ends(figure, 'outer_low', 'outer_high')}")
        if numbers(figure, ["low", "high"]):
            thick = "thick line" if figure.kind == "forest" else "band"
            words.append(f"{thick}: {_ends(figure, 'low', 'high')}")
    if (
        figure.kind in ("bands", "rounds")
        and {"y", "low"} <= set(figure.roles)
        and "y" not in figure.labels
    ):
        words.append(f"line: {title(figure, 'y')}")
    if len(groups_of(figure)) == 1:
        words.append(f"{title(figure, 'group')}: {groups_of(figure)[0]}")
    if (
        "mark" in figure.roles
        and figure.kind != "matrix"
        and is_numeric(figure, "mark")
        and numbers(figure, ["mark"])
    ):
        words.append(f"cross: {title(figure, 'mark')}")
    if "mark" in figure.roles and figure.kind == "matrix":
        marks = {str(value or "") for value in figure.columns[figure.roles["mark"]]}
        words += [f"pale: not {shorten(max(marks))}"] if len(marks) == 2 and "" in marks else []
    if figure.kind == "forest" and "value" in figure.roles and "x" not in figure.roles:
        words.append(f"point: {title(figure, 'value')}")
    return "; ".join(words)


def _ends(figure: Figure, low: str, high: str) -> str:
    """Name a range by its two ends, unless one label names it."""
    if low in figure.labels:
        return shorten(figure.labels[low])
    first, last = title(figure, low), title(figure, high)
    stem = first.removesuffix("low").strip()
    return (stem or "interval") if last == f"{stem} high".strip() else f"{first} to {last}"
