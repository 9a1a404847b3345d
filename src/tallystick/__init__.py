"""Tallystick: how good your models, judges and APIs are when labels are scarce, and how sure that
is.

Names load on first use, so ``import tallystick`` costs nothing:

>>> import tallystick as ts
>>> ts.Interval(0.6, 0.7, guarantee="exact").width < 0.11
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.errors import TallystickError
    from tallystick.report import plot
    from tallystick.results import Figure, Interval, Needed, Result, Unknown
    from tallystick.table import Data, Moments, Reading, Roles, Tally, attach, read

__all__ = [
    "Data",
    "Figure",
    "Interval",
    "Moments",
    "Needed",
    "Reading",
    "Result",
    "Roles",
    "Tally",
    "TallystickError",
    "Unknown",
    "__version__",
    "attach",
    "plot",
    "read",
]

__version__ = "0.1.0"

_HOME = {
    "Data": "table",
    "Figure": "results",
    "Interval": "results",
    "Moments": "table",
    "Needed": "results",
    "Reading": "table",
    "Result": "results",
    "Roles": "table",
    "Tally": "table",
    "TallystickError": "errors",
    "Unknown": "results",
    "attach": "table",
    "plot": "report",
    "read": "table",
}
"""Public name to the room that holds it."""

_VERBS = frozenset(
    {"ask", "audit", "bound", "compare", "dynamic", "judge", "label", "look", "score", "shift"}
)
_ROOMS = frozenset(
    {
        "clients",
        "errors",
        "integrations",
        "papers",
        "report",
        "results",
        "sampling",
        "serve",
        "stats",
        "table",
        "verbs",
    }
)
"""Rooms that open on first use."""


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.{_HOME[name]}"), name)
    if name in _VERBS:
        return import_module(f"tallystick.verbs.{name}")
    if name in _ROOMS:
        return import_module(f"tallystick.{name}")
    raise AttributeError(f"module 'tallystick' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, *_VERBS})
