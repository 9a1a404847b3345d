"""Which range the scores of a board have: declared, known, or taken from what they look like."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tallystick.compare.board import Board
from tallystick.compare.pairing import Bounds
from tallystick.compare.settings import Settings
from tallystick.errors import InputError

__all__ = ["LEAST_SHARE", "are_shares", "check_bounds", "check_size", "known_bounds", "unit_of"]


LEAST_SHARE = 0.05
"""Scores of which none reaches this are taken for small numbers, not for shares."""


def are_shares(board: Board, settings: Settings) -> bool:
    """Say whether undeclared scores are shares: they reach 0 or 1 and never leave that range.

    A measurement such as a latency in seconds is not one, whatever its values; nor are scores that
    stay below .05, which percentages would round away.
    """
    x = board.scores
    if settings.better == "lower" or x.min() < 0 or x.max() > 1:
        return False
    return bool((x.min() == 0 and x.max() >= LEAST_SHARE) or x.max() == 1)


def known_bounds(board: Board) -> Bounds | None:
    """Return (0, 1) for right/wrong scores, also where runs of an item were averaged."""
    if board.right is not None or bool(np.isin(board.scores, (0.0, 1.0)).all()):
        return (0.0, 1.0)
    return None


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
