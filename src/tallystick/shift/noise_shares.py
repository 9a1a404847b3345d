"""Which noise share λ each number of an assessment gets, from the flips that were asked again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.sampling import FAILED
from tallystick.shift.beyond_noise import chance_p_value
from tallystick.shift.counts import Counts
from tallystick.shift.items import Items
from tallystick.shift.noise_rules import CHANCE_REFUTED
from tallystick.shift.noise_share import Repeats, noise_share

__all__ = ["AnswersAre", "NoiseShares", "accuracy_noise_share", "noise_shares", "repeats_of"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

AnswersAre: TypeAlias = Literal["random", "recorded", "deterministic"]
"""``random``: another call may give another answer. ``recorded``: the same, but nobody can ask
again. ``deterministic``: the same call always gives the same answer."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseShares:
    """λ of every number: 0 for a deterministic API, 1 where nothing was asked again.

    Parameters
    ----------
    accuracy, flips
        Over flips between right and wrong, and over all flips.
    entries
        Of each counted cell of the matrix, for a statement about that cell.
    joint
        Of each cell, for a statement about all cells at once.
    """

    accuracy: float
    flips: float
    entries: FloatArray
    joint: FloatArray

    @classmethod
    def constant(cls, share: float, cells: int) -> NoiseShares:
        """Return the same λ everywhere."""
        each = np.full(cells, share)
        return cls(accuracy=share, flips=share, entries=each, joint=each)


def noise_shares(
    counts: Counts, repeats: Repeats | None, answers_are: AnswersAre, *, labelled: bool
) -> NoiseShares:
    """Return λ of every number.

    Parameters
    ----------
    counts
        The counted cells.
    repeats
        Flips that were asked again; None or empty if there are none.
    answers_are
        What is known of the API.
    labelled
        Whether there are true labels, so that flips between right and wrong can be told.
    """
    cells = len(counts.true)
    if answers_are == "deterministic":
        return NoiseShares.constant(0.0, cells)
    if repeats is None or not len(repeats):
        return NoiseShares.constant(1.0, cells)
    flips = repeats.flips()
    share = float(noise_share(flips.repeats, flips.unconfirmed))
    return NoiseShares(
        accuracy=accuracy_noise_share(repeats) if labelled else share,
        flips=share,
        entries=repeats.entry_shares(counts.true, counts.answer),
        joint=repeats.entry_shares(counts.true, counts.answer, joint=True),
    )


def accuracy_noise_share(repeats: Repeats) -> float:
    """Return λ of the accuracy: (N1), but 1 until the repeats refute that chance explains all.

    If nothing changed, repeats of flips between right and wrong confirm and revert equally often
    (:func:`~tallystick.shift.beyond_noise.chance_p_value`).

    Parameters
    ----------
    repeats
        Flips that were asked again, with true labels.

    Examples
    --------
    >>> def confirmed(number: int) -> Repeats:  # of 12 right answers that became wrong
    ...     second = [1] * number + [0] * (12 - number)
    ...     return Repeats(old=[0] * 12, first=[1] * 12, second=second, weight=[1.0] * 12,
    ...                    truth=[0] * 12)
    >>> [round(accuracy_noise_share(confirmed(number)), 4) for number in (8, 9, 10, 12)]
    [1.0, 1.0, 0.4939, 0.1303]
    """
    moved = repeats.correctness()
    if float(chance_p_value(*moved.decided)) > CHANCE_REFUTED:
        return 1.0
    return float(noise_share(moved.repeats, moved.unconfirmed))


def repeats_of(
    items: Items,
    first: dict[int, int],
    second: tuple[IntArray, IntArray],
    weight: FloatArray,
) -> Repeats | None:
    """Return the repeated flips with their weights.

    Parameters
    ----------
    items
        With old answers.
    first
        The first new answer by item.
    second
        The items that were asked again, and what they answered; failed repeats are left out.
    weight
        p/n(blind) of the stratum of every item.
    """
    again, codes = second
    if items.old is None or not len(again):
        return None
    known = np.array([first.get(int(item), FAILED) for item in again], np.intp)
    keep = (codes != FAILED) & (known != FAILED) & (known != items.old[again])
    again, codes, known = again[keep], codes[keep], known[keep]
    return Repeats(
        old=items.old[again],
        first=known,
        second=codes,
        weight=weight[again],
        truth=items.truth[again],
    )
