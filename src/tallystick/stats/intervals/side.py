"""Where the allowed error goes: to both ends, or all of it to one."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tallystick.errors import InputError

__all__ = ["Side", "split_alpha"]

Side: TypeAlias = Literal["two", "lower", "upper"]
"""``two``: both ends, half of alpha each. ``lower``: a lower bound only, with all of alpha.
``upper``: likewise."""

_SHARES = {"two": (0.5, 0.5), "lower": (1.0, 0.0), "upper": (0.0, 1.0)}


def split_alpha(alpha: float, side: Side) -> tuple[float, float]:
    """Return the error allowed at the lower and at the upper end; 0 means that this end says
    nothing.

    >>> split_alpha(0.05, "two"), split_alpha(0.05, "lower")
    ((0.025, 0.025), (0.05, 0.0))
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    if side not in _SHARES:
        raise InputError(f"side must be one of {tuple(_SHARES)}, got {side!r}")
    low, high = _SHARES[side]
    return alpha * low, alpha * high
