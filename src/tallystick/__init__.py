"""Tallystick: how good your models, judges and APIs are when labels are scarce, and how sure that
is.

The verbs are functions, and names load on first use, so ``import tallystick`` costs nothing:

>>> import tallystick as ts
>>> votes = {"gpt": ["yes", "no", "no"] * 40, "llama": ["yes", "no", "yes"] * 40}
>>> gold = ["yes", "no", "no", "no", "no", "no"] * 20
>>> result = ts.judge({**votes, "gold": gold}, judges=["gpt", "llama"])
>>> result.reading.truth
'gold'

The signatures of the verbs, for editors and type checkers, are in ``__init__.pyi``; ``python -m
docs.signatures`` writes it from the declarations that the command line is made of.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Moments": "table",
    "Tally": "table",
    "TallystickError": "errors",
    "attach": "table",
    "read": "table",
}
"""Public name to the room that holds it."""

_VERBS = (
    *("score", "compare", "plan", "judge", "bound", "shift", "ask", "dynamic", "label", "look"),
    "audit",
)
"""Verbs, as functions."""

_ROOMS = (
    *("clients", "errors", "integrations", "papers", "registry", "report", "results", "sampling"),
    *("serve", "stats", "table", "verbs"),
)
"""Rooms that open on first use."""

__all__ = [
    "Moments",
    "Tally",
    "TallystickError",
    "__version__",
    "ask",
    "attach",
    "audit",
    "bound",
    "compare",
    "dynamic",
    "judge",
    "label",
    "look",
    "plan",
    "read",
    "score",
    "shift",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"tallystick.{_HOME[name]}"), name)
    if name in _VERBS:
        from tallystick.registry import function

        found = globals()[name] = function(name)
        return found
    if name in _ROOMS:
        return import_module(f"tallystick.{name}")
    from tallystick.errors import no_attribute

    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
