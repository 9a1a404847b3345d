"""Flips beyond the API's own randomness: some items are asked twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError

__all__ = ["NoiseFloor", "noise_floor"]


@dataclass(frozen=True, kw_only=True)
class NoiseFloor:
    """What asking twice showed.

    Parameters
    ----------
    items
        How many items were answered twice.
    both_new
        Both new answers equal, and different from the old one: a.
    one_odd
        The old answer equals one of the new ones and not the other: b + c.
    unstable
        The share of items whose two new answers differ.
    changed
        The share that really changed, about (a - (b + c)/2)/r; not below 0.
    p_value
        Of "nothing changed but chance": then each of the three answers is as likely as the others
        to be the odd one.
    """

    items: int
    both_new: int
    one_odd: int
    unstable: float
    changed: float
    p_value: float


def noise_floor(old: ArrayLike, first: ArrayLike, second: ArrayLike) -> NoiseFloor:
    r"""Tell real change from chance by the odd one out of three answers to the same items.

    If nothing changed, the old and the two new answers to an item are exchangeable. Where exactly
    two of the three agree, the odd one is the old one with probability 1/3, so a ~ Bin(a + b + c,
    1/3): an exact test (docs/theory/shift.md). It says nothing about an API whose randomness
    itself changed in a way that keeps this balance.

    Parameters
    ----------
    old, first, second
        Codes of the three answers to every item that was asked twice.

    Examples
    --------
    >>> floor = noise_floor([0] * 100, [1] * 20 + [0] * 80, [1] * 18 + [0] * 82)
    >>> floor.both_new, floor.one_odd, floor.changed
    (18, 2, 0.17)
    >>> floor.p_value < 1e-6
    True
    """
    o, a, b = (np.asarray(values) for values in (old, first, second))
    if o.ndim != 1 or o.shape != a.shape or o.shape != b.shape or not o.size:
        raise InputError(
            f"old, first and second must be equally long, got {o.shape}, {a.shape} and {b.shape}"
        )
    both = int(((a == b) & (a != o)).sum())
    odd = int(((a != b) & ((a == o) | (b == o))).sum())
    from scipy.stats import binom

    return NoiseFloor(
        items=int(o.size),
        both_new=both,
        one_odd=odd,
        unstable=float((a != b).mean()),
        changed=max(0.0, (both - odd / 2) / o.size),
        p_value=float(binom.sf(both - 1, both + odd, 1 / 3)) if both + odd else 1.0,
    )
