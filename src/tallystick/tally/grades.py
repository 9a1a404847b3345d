"""Labels that are numbers: they are counted as names, and the answer says so."""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.values.label import Label

__all__ = ["unordered"]


def unordered(labels: Iterable[Label]) -> str | None:
    """Return what has to be assumed of *labels* that could be grades: three or more whole numbers;
    else None.

    Examples
    --------
    >>> unordered([1, 2, 3, 4, 5, None])
    'labels 1 to 5 are names with no order: as grades, a vote next to the right one still counts as wrong'
    >>> unordered([0, 1])
    """
    shown = {label for label in labels if label is not None}
    numbers = [int(label) for label in shown if str(label).removeprefix("-").isdecimal()]
    if len(numbers) < 3 or len(numbers) < len(shown):
        return None
    return (
        f"labels {min(numbers)} to {max(numbers)} are names with no order: as grades, a vote next"
        " to the right one still counts as wrong"
    )
