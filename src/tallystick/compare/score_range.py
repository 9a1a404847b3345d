"""Which range the scores of a board have: declared, known, or taken from what they look like."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.compare.board import Board
from tallystick.compare.pairing import Bounds
from tallystick.compare.settings import Settings
from tallystick.errors import InputError

__all__ = ["LEAST_SHARE", "are_shares", "check_bounds", "check_size", "score_range", "unit_of"]

Floats = npt.NDArray[np.float64]

LEAST_SHARE = 0.05
"""Scores of which none reaches this are taken for small numbers, not for shares."""


def are_shares(scores: Floats, settings: Settings) -> bool:
    """Say whether undeclared scores are shares: they reach 0 or 1 and never leave that range.

    A measurement such as a latency in seconds is not one, whatever its values; nor are scores that
    stay below .05, which percentages would round away.
    """
    low, high = scores.min(), scores.max()
    if settings.better == "lower" or low < 0 or high > 1:
        return False
    return bool((low == 0 and high >= LEAST_SHARE) or high == 1)


def score_range(scores: Floats, settings: Settings, *, binary: bool = False) -> Bounds | None:
    """Return the range that scores have: as declared, or from 0 to 1 for right and wrong and for
    shares; None if nothing says it.

    Parameters
    ----------
    scores
        Items x models; NaN is left out.
    settings
        The declared bounds, and which way is better.
    binary
        Whether the scores are known to be means of right and wrong.
    """
    if settings.bounds is not None:
        return settings.bounds
    seen = scores[~np.isnan(scores)]
    known = binary or settings.passes is not None or bool(np.isin(seen, (0.0, 1.0)).all())
    return (0.0, 1.0) if known or are_shares(seen, settings) else None


def unit_of(bounds: Bounds | None) -> Literal["share", "number"]:
    """Return how scores are written: as percentages, or as plain numbers."""
    return "share" if bounds == (0.0, 1.0) else "number"


def check_bounds(board: Board, bounds: Bounds | None) -> None:
    """Refuse a score outside the declared range, by its item."""
    if bounds is None:
        return
    outside = (board.scores < bounds[0]) | (board.scores > bounds[1])
    if outside.any():
        row, column = (int(i[0]) for i in np.nonzero(outside))
        item = f"item {board.items[row]!r}" if board.items is not None else f"row {row + 1}"
        raise InputError(
            f"{item}: the score {board.scores[row, column]:g} of {board.names[column]!r} is outside"
            f" the bounds [{bounds[0]:g}, {bounds[1]:g}]: widen the bounds or correct the score"
        )


def check_size(names: tuple[str, ...], n: int) -> None:
    """Refuse fewer than two models or two items."""
    if len(names) < 2:
        raise InputError(
            f"compare needs at least two models, got {list(names)}: name another column or file"
        )
    if n < 2:
        raise InputError(f"compare needs at least two items that all models answered, got {n}")
