r"""What does a raw log of attempts to fool models say? Dynabench exports, red-teaming logs.

One row per attempt: who tried, in which round, against which model, whether it was fooled, what
validators said, what it cost. The *validated model error rate* of a round is

.. math:: \mathrm{vMER} = \text{validated fooling attempts} / \text{attempts}  \tag{B1}

over *all* attempts, those that fooled nobody and those that were retracted included. Intervals
treat the annotator as the unit (:mod:`tallystick.dynamic.clustered_rate`). What such a log cannot
show, however long it is, stands in :data:`INVALID_BY_SELECTION`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = ["INVALID_BY_SELECTION", "Attempts"]

INVALID_BY_SELECTION: dict[str, str] = {
    "in-loop error": (
        "The error rate of the model in the loop on its own round is 100 % by design, because "
        "items were kept for fooling it. Neither that rate nor a comparison with other models on "
        "that round says how good the model is."
    ),
    "falling rate": (
        "A falling rate does not show that the model improved: annotators, pay, instructions and "
        "contexts changed too. Only the same annotators, with models assigned at random, show it."
    ),
    "population risk": (
        "The risk of a vote on collected items is not its risk in the population: the items were "
        "collected because they are hard."
    ),
    "harder round": (
        "Different annotators in two rounds cannot show that one round is harder than the other."
    ),
    "dropped attempts": (
        "After dropping retracted, flagged or unvalidated attempts, a rate is no longer one per "
        "attempt."
    ),
    "non-fooling accuracy": (
        "Attempts that did not fool the model do not show its accuracy, because nobody checked "
        "their labels."
    ),
    "first success": (
        "Where annotators stop at the first success, their tries are not alike, and a rate per "
        "attempt mixes easy and hard tries."
    ),
}
"""Conclusions that the way such logs are collected rules out, by a short name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Attempts:
    """A log of attempts, one entry per attempt in every array.

    Parameters
    ----------
    annotator, round
        Who tried, and in which round (numbers or dates that sort).
    fooled
        Whether the model in the loop gave a wrong answer, as the annotator saw it.
    model, item
        The model in the loop; the item's name.
    yes, no
        How many validators confirmed and denied the annotator's label. A flag is no vote.
    valid
        Instead of votes: whether the label was found valid (True, False, or None if unchecked).
    retracted
        Attempts that were taken back. They stay attempts and never count as fooling.
    cost, order
        What each attempt cost; when it was made (any numbers that sort).
    round_names
        What the rounds are called, by their place, where *round* holds places from 0.

    Examples
    --------
    >>> log = Attempts(
    ...     annotator=np.array(["ann", "ann", "bob"]), round=np.array([1, 1, 1]),
    ...     fooled=np.array([True, False, True]), yes=np.array([2, 0, 0]), no=np.array([1, 0, 0]),
    ... )
    >>> log.validated.tolist(), log.unchecked.tolist()
    ([True, False, False], [False, False, True])
    """

    annotator: Array
    round: Array
    fooled: Array
    model: Array | None = None
    item: Array | None = None
    yes: Array | None = None
    no: Array | None = None
    valid: Array | None = None
    retracted: Array | None = None
    cost: Array | None = None
    order: Array | None = None
    round_names: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        size = len(np.asarray(self.annotator))
        if not size:
            raise InputError("the log has no attempt")
        for name in self.__dataclass_fields__:
            given = getattr(self, name)
            if given is None or name == "round_names":
                continue
            values = np.asarray(given)
            if values.shape != (size,):
                raise InputError(f"{name} needs one entry per attempt, {size}, got {values.shape}")
            object.__setattr__(self, name, values)
        for name in ("fooled", "retracted"):
            given = getattr(self, name)
            if given is not None and not np.isin(given, (0, 1)).all():
                raise InputError(f"{name} must be True or False for every attempt")
            object.__setattr__(self, name, None if given is None else given.astype(bool))
        if (self.yes is None) != (self.no is None):
            raise InputError("yes and no go together: give both counts of votes, or neither")
        if self.yes is not None and self.valid is not None:
            raise InputError("give the validators' votes or the validity, not both")
        if (
            self.yes is not None
            and self.no is not None
            and (self.yes.min() < 0 or self.no.min() < 0)
        ):
            raise InputError("yes and no count votes, so they cannot be negative")
        if self.cost is not None:
            bad = np.flatnonzero(~(np.isfinite(self.cost.astype(float)) & (self.cost >= 0)))
            if bad.size:
                raise InputError(
                    f"cost of attempt {bad[0] + 1} is {self.cost[bad[0]]!r}: every attempt needs a "
                    "finite cost that is not negative, or leave the column out"
                )

    @property
    def size(self) -> int:
        """How many attempts there are."""
        return len(self.annotator)

    @property
    def rounds(self) -> tuple[Any, ...]:
        """The rounds in order."""
        return tuple(np.unique(self.round).tolist())

    def name_of(self, number: Any) -> Any:
        """Return what round *number* is called."""
        return number if self.round_names is None else self.round_names[int(number)]

    @property
    def checked(self) -> bool:
        """Whether anything in the log says which labels are valid."""
        return self.yes is not None or self.valid is not None

    @property
    def fooling(self) -> Array:
        """Attempts that fooled the model and were not retracted, whatever validators said."""
        return np.asarray(self.fooled if self.retracted is None else self.fooled & ~self.retracted)

    @property
    def validated(self) -> Array:
        """Fooling attempts that validators confirmed and nobody retracted (B1)."""
        return np.asarray(self.fooling & (self._verdict == 1))

    @property
    def unchecked(self) -> Array:
        """Fooling attempts that validators have not decided: no vote yet, or a tie."""
        return np.asarray(self.fooling & (self._verdict == 0))

    @property
    def success(self) -> Array:
        """What a rate counts: validated attempts, or fooling ones where nothing was checked."""
        return self.validated if self.checked else self.fooling

    def within(self, number: Any) -> Array:
        """Return which attempts belong to round *number*."""
        here = self.round == number
        if not np.any(here):
            raise InputError(f"the log has no round {number!r}: its rounds are {self.rounds}")
        return np.asarray(here)

    def per_annotator(self, here: Array, values: Array | None = None) -> Array:
        """Sum *values* over the attempts *here* of each annotator, or count them without values."""
        _, place = np.unique(self.annotator[here], return_inverse=True)
        return np.bincount(place, None if values is None else values[here].astype(float))

    @property
    def _verdict(self) -> Array:
        """1 valid, -1 invalid, 0 undecided."""
        if self.yes is not None and self.no is not None:
            return np.asarray(np.sign(self.yes.astype(int) - self.no.astype(int)))
        if self.valid is not None:
            known = {True: 1, False: -1}  # 1 and 0 are the same keys
            return np.array([known.get(value, 0) for value in self.valid.tolist()])
        return np.zeros(self.size, dtype=int)
