"""Verbs that do more than read, answer and deliver: what the generic runner asks first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["SPECIAL", "special"]

SPECIAL: Mapping[str, str] = {"judge": "tallystick.cli.follow_judges:follow"}
"""Verb to a function that returns whether it has answered the call."""


def special(verb: str) -> Callable[[Call], bool] | None:
    """Return the verb's own way of running, or None."""
    if verb not in SPECIAL:
        return None
    module, _, name = SPECIAL[verb].partition(":")
    found: Callable[[Call], bool] = getattr(import_module(module), name)
    return found
