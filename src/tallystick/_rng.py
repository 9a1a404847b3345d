"""The one door for randomness: a seed or a generator comes in, a generator goes out.

No function of Tallystick reads or changes NumPy's global state, and none accepts ``None``: what was
drawn can be drawn again.
"""

from __future__ import annotations

from numbers import Integral
from typing import TypeAlias

import numpy as np

from tallystick.errors import InputError

Rng: TypeAlias = int | np.random.Generator
"""What every random function takes as its keyword ``rng``: a seed, or a generator that the caller
owns."""


def as_rng(rng: Rng) -> np.random.Generator:
    """Return the generator itself, or the one that a seed names.

    >>> as_rng(7).integers(100) == as_rng(7).integers(100)
    np.True_
    >>> as_rng(None)
    Traceback (most recent call last):
    tallystick.errors.InputError: rng must be a non-negative int or a numpy Generator, got None
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, Integral) and not isinstance(rng, bool) and int(rng) >= 0:
        return np.random.default_rng(int(rng))
    raise InputError(f"rng must be a non-negative int or a numpy Generator, got {rng!r}")


def spawn(rng: Rng, n: int) -> list[np.random.Generator]:
    """Return *n* independent generators for parallel work, the same whatever runs first.

    >>> [g.integers(10) for g in spawn(1, 2)] == [g.integers(10) for g in spawn(1, 2)]
    True
    """
    return as_rng(rng).spawn(n)


def seed_of(rng: Rng) -> int | None:
    """Return the seed to write into a result: the int that was given, or None for a generator in
    mid-life.
    """
    return int(rng) if isinstance(rng, Integral) else None
