"""What a benchmark needs to be known, because its tables were made so that it is."""

from __future__ import annotations

from typing import TypeVar

from tallystick.results import Unknown

Value = TypeVar("Value")


def known(value: Value | Unknown | None) -> Value:
    """Return *value*; raise where there is none, with the reason that is given for it."""
    if value is None or isinstance(value, Unknown):
        raise ValueError(str(value))
    return value
