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
    from tallystick.data import Data, Roles, read
    from tallystick.errors import TallystickError
    from tallystick.report import plot
    from tallystick.results import Figure, Interval, Needed, Result, Unknown
    from tallystick.tally import Moments, Tally, attach

__version__ = "0.1.0"

__all__ = [
    "Data",
    "Figure",
    "Interval",
    "Moments",
    "Needed",
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

_HOME = {
    "Data": "data",
    "Figure": "results",
    "Interval": "results",
    "Moments": "tally",
    "Needed": "results",
    "Result": "results",
    "Roles": "data",
    "Tally": "tally",
    "TallystickError": "errors",
    "Unknown": "results",
    "attach": "tally",
    "plot": "report",
    "read": "data",
}
"""Public name to the room that holds it."""

_CAPABILITIES = frozenset(
    {"ask", "audit", "bound", "compare", "dynamic", "judge", "score", "shift"}
)
_ROOMS = _CAPABILITIES | {
    "clients",
    "data",
    "errors",
    "io",
    "integrations",
    "label",
    "report",
    "results",
    "sampling",
    "serve",
    "stats",
    "tally",
    "values",
}
"""Rooms that open on first use."""


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.{_HOME[name]}"), name)
    if name in _ROOMS:
        return import_module(f"tallystick.{name}")
    raise AttributeError(f"module 'tallystick' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
