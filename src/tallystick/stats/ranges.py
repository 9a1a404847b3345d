"""The declared ranges of parameters: each check names the argument, the value and the range it has
to lie in.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

__all__ = ["at_least", "closed_unit", "open_unit", "positive", "whole"]


def open_unit(**values: npt.ArrayLike) -> None:
    """Refuse what is not strictly between 0 and 1.

    >>> open_unit(alpha=1.5)
    Traceback (most recent call last):
    tallystick.errors.InputError: alpha must be in (0, 1), got 1.5
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(bool(np.all((array > 0) & (array < 1))), name, value, "in (0, 1)")


def closed_unit(**values: npt.ArrayLike) -> None:
    """Refuse what is not a probability, 0 and 1 included.

    >>> closed_unit(rate=1.0)
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(bool(np.all((array >= 0) & (array <= 1))), name, value, "in [0, 1]")


def positive(**values: npt.ArrayLike) -> None:
    """Refuse what is not a finite number above 0.

    >>> positive(width=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: width must be above 0 and finite, got 0
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(bool(np.all((array > 0) & np.isfinite(array))), name, value, "above 0 and finite")


def at_least(least: float, **values: npt.ArrayLike) -> None:
    """Refuse what lies below *least*, and what is not finite.

    >>> at_least(0, items=3)
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(
            bool(np.all((array >= least) & np.isfinite(array))),
            name,
            value,
            f"at least {least:g} and finite",
        )


def whole(least: int, **values: npt.ArrayLike) -> None:
    """Refuse what is not a whole number of at least *least*.

    >>> whole(1, items=2.5)
    Traceback (most recent call last):
    tallystick.errors.InputError: items must be a whole number of at least 1, got 2.5
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        fits = np.isfinite(array) & (array >= least) & (array == np.floor(array))
        _require(bool(np.all(fits)), name, value, f"a whole number of at least {least}")


def _require(fits: bool, name: str, value: npt.ArrayLike, wanted: str) -> None:
    if not fits:
        raise InputError(f"{name} must be {wanted}, got {value!r}")
