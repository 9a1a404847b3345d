"""What a figure says in words: names of axes and groups, and explanations of its marks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tallystick.report.shorten import shorten
from tallystick.results import Figure

__all__ = [
    "NAME",
    "group_words",
    "groups_of",
    "is_numeric",
    "mark_words",
    "numbers",
    "outer_words",
    "plain_cell",
    "title",
]

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
    return list(dict.fromkeys(shorten(str(name), NAME) for name in dict.fromkeys(cells)))


def outer_words(figure: Figure, *, thin: str, thick: str) -> list[str]:
    """Explain the outer range, drawn *thin*, and then also the inner one, drawn *thick*."""
    if "outer_low" not in figure.roles or not numbers(figure, ["outer_low", "outer_high"]):
        return []
    words = [f"{thin}: {_ends(figure, 'outer_low', 'outer_high')}"]
    if numbers(figure, ["low", "high"]):
        words.append(f"{thick}: {_ends(figure, 'low', 'high')}")
    return words


def group_words(figure: Figure) -> list[str]:
    """Name a group that is alone, since it has no legend."""
    groups = groups_of(figure)
    return [f"{title(figure, 'group')}: {groups[0]}"] if len(groups) == 1 else []


def mark_words(figure: Figure) -> list[str]:
    """Explain marks that are numbers, which are drawn as rings."""
    rings = "mark" in figure.roles and is_numeric(figure, "mark")
    shown = rings and bool(numbers(figure, ["mark"]))
    return [f"ring: {title(figure, 'mark')}"] if shown else []


def _ends(figure: Figure, low: str, high: str) -> str:
    """Name a range by its two ends, unless one label names it."""
    if low in figure.labels:
        return shorten(figure.labels[low])
    first, last = title(figure, low), title(figure, high)
    stem = first.removesuffix("low").strip()
    return (stem or "interval") if last == f"{stem} high".strip() else f"{first} to {last}"
