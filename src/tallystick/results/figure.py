"""A picture as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tallystick.errors import InputError
from tallystick.results.units import Unit

__all__ = ["Figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture as data: everything that report/ needs in order to draw it.

    Parameters
    ----------
    kind
        The name of a chart kind in ``tallystick.report.kinds``, where the kinds are registered:
        ``forest`` (estimates with intervals, one row per name), ``bands`` (a range along an axis),
        and so on. A kind that nobody registered is refused when it is drawn.
    title
        One line that says what the picture shows.
    columns
        Tidy columns of equal length; None marks a gap.
    roles
        What each column is for, role to column name, for example ``{"x": "threshold", "low":
        "lower", "high": "upper"}``. Roles in use: x, y, low, high, name, group, value, row, column,
        mark, outer_low, outer_high, text, settled (a false one is drawn open).
    labels
        Axis titles by role, where the column's name does not explain itself.
    unit
        What its numbers measure: a ``share`` is drawn in per cent, ``points`` around zero.
    """

    kind: str
    title: str
    columns: Mapping[str, Sequence[Any]]
    roles: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    unit: Unit = "number"

    def __post_init__(self) -> None:
        if not self.kind.isidentifier():
            raise InputError(f"kind must be the name of a chart kind, got {self.kind!r}")

        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"the columns of a figure have equal lengths, got {lengths}")

        for role, name in self.roles.items():
            if name not in self.columns:
                raise InputError(
                    f"role {role!r} names column {name!r}, which is not one of"
                    f" {sorted(self.columns)}"
                )

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def rows(self, places: Sequence[int]) -> Figure:
        """Return the same figure with only the rows at *places*.

        >>> Figure("curve", "c", {"x": [1, 2, 3]}, {"x": "x"}).rows([0, 2]).columns
        {'x': [1, 3]}
        """
        kept = {name: [values[i] for i in places] for name, values in self.columns.items()}
        return replace(self, columns=kept)
