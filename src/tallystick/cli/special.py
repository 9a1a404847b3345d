"""Verbs that do more than read, answer and deliver: what the generic runner asks first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["INPUT_OPTIONS", "PREPARE", "SPECIAL", "prepared", "special"]

SPECIAL: Mapping[str, str] = {"judge": "tallystick.cli.follow_judges:follow"}
"""Verb to a function that returns whether it has answered the call."""

PREPARE: Mapping[str, str] = {
    "ask": "tallystick.cli.show_progress:with_progress",
    "shift": "tallystick.cli.show_progress:with_progress",
    "shift baseline": "tallystick.cli.show_progress:with_progress",
}
"""Verb to a function that adds what only a terminal needs, such as a progress bar, to the call."""

INPUT_OPTIONS: Mapping[str, str] = {"shift": "--data"}
"""Verb to an option that names the input besides the plain INPUT argument."""


def prepared(call: Call) -> Call:
    """Return the call with what its verb adds on a terminal."""
    if call.capability.verb not in PREPARE:
        return call
    module, _, name = PREPARE[call.capability.verb].partition(":")
    changed: Call = getattr(import_module(module), name)(call)
    return changed


def special(verb: str) -> Callable[[Call], bool] | None:
    """Return the verb's own way of running, or None."""
    if verb not in SPECIAL:
        return None
    module, _, name = SPECIAL[verb].partition(":")
    found: Callable[[Call], bool] = getattr(import_module(module), name)
    return found
