"""The log of a real dynamic benchmark: items, the rounds they were collected in, and who got them
right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from tallystick.dynamic.curves import plurality
from tallystick.dynamic.population import Array, vote
from tallystick.errors import InputError

__all__ = ["MOST_ITEMS", "TOO_MANY", "LogKind", "RoundLog"]

MOST_ITEMS = 500_000
"""Weights that stand for more items are refused: each of these is analysed, in some five minutes
and gigabytes.
"""

TOO_MANY = (
    f"every item is analysed, and no more than {MOST_ITEMS:,} can be; if these are sampling"
    " weights, they cannot be used here"
)

LogKind: TypeAlias = Literal["panel", "path"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundLog:
    """A log in one of two shapes.

    ``panel``: each item was collected in one round, and the same models were tried on all of them
    (ANLI). ``path``: the same items were tried in every round, each time on that round's model (a
    simulated or a re-evaluated benchmark).

    Parameters
    ----------
    items
        One name per item.
    rounds
        Panel: the round of each item. Path: all ones.
    models
        Panel: the models. Path: one per round.
    errors
        (models, items).
    predictions, labels
        What the models said, and what is true, where the log has it.
    validators
        One cell of labels per item.
    cost
        What each item cost.
    weight
        How many items, seen alike, each one stands for; None where each stands for itself. These
        are not sampling weights: :func:`analyse` counts an item of weight w as w items, each at its
        cost.
    """

    kind: LogKind
    items: tuple[str, ...]
    rounds: Array
    models: tuple[str, ...]
    errors: Array
    predictions: Array | None = None
    labels: Array | None = None
    validators: tuple[str | None, ...] | None = None
    cost: Array | None = None
    weight: Array | None = None

    def __post_init__(self) -> None:
        if len(self.models) < 2:
            raise InputError(f"a log needs at least two models, got {list(self.models)}")
        if self.weight is not None:
            _check_total(self.weight)
        if self.kind == "panel":
            _check_rounds(np.unique(self.rounds).tolist())

    @property
    def round_numbers(self) -> tuple[int, ...]:
        """The rounds that there are."""
        if self.kind == "path":
            return tuple(range(1, len(self.models) + 1))
        return tuple(int(r) for r in np.unique(self.rounds))

    def select(self, models: Sequence[str]) -> RoundLog:
        """Return the log with these models only."""
        if self.kind == "path":
            raise InputError("the models of a path are its rounds: none can be left out")
        place = {name: k for k, name in enumerate(self.models)}
        missing = [name for name in models if name not in place]
        if missing:
            raise InputError(f"no model {missing[0]!r} in the log; there are {list(self.models)}")
        index = [place[name] for name in models]
        calls = None if self.predictions is None else self.predictions[index]
        return replace(self, models=tuple(models), errors=self.errors[index], predictions=calls)

    def repeated(self) -> RoundLog:
        """Return the log in which each item stands as often as its weight says, under its own name.

        >>> errors = np.array([[False, True], [True, False]])
        >>> log = RoundLog(
        ...     kind="panel", items=("x", "y"), rounds=np.array([1, 2]), models=("m", "n"),
        ...     errors=errors, weight=np.array([2, 1]),
        ... )
        >>> log.repeated().items, log.repeated().errors.tolist()
        (('x', 'x', 'y'), [[False, False, True], [True, True, False]])
        """
        if self.weight is None:
            return self
        again = np.repeat(np.arange(len(self.items)), self.weight)
        return replace(
            self,
            items=tuple(self.items[k] for k in again),
            rounds=self.rounds[again],
            errors=self.errors[:, again],
            predictions=None if self.predictions is None else self.predictions[:, again],
            labels=None if self.labels is None else self.labels[again],
            validators=(
                None if self.validators is None else tuple(self.validators[k] for k in again)
            ),
            cost=None if self.cost is None else self.cost[again],
            weight=None,
        )

    def parts(self) -> list[tuple[Array, int]]:
        """Return which items belong to each round, and its number; a path is one part, its last
        round.
        """
        if self.kind == "path":
            return [(np.ones(len(self.items), dtype=bool), len(self.models))]
        return [(self.rounds == number, number) for number in self.round_numbers]

    def vote(self, models: slice = slice(None), items: Array | slice = slice(None)) -> Array:
        """Where the vote errs: the plurality of answers where the log has them, else the majority
        of right and wrong.

        A tie counts for its share of wrong answers.
        """
        if self.predictions is not None and self.labels is not None:
            return plurality(self.predictions[models, items], self.labels[items])
        return vote(list(self.errors[models, items]))


def _check_total(weights: Array) -> None:
    """Refuse weights that stand for no item, or for more than can be analysed."""
    total = int(weights.sum())
    if not total:
        raise InputError(f"the weights of all {weights.size} items are 0: weigh at least one item")
    if total > MOST_ITEMS:
        raise InputError(f"the weights sum to {total:,} items: {TOO_MANY}")


def _check_rounds(numbers: Sequence[int]) -> None:
    if len(numbers) < 2:
        raise InputError(
            f"a log of one round (round {numbers[0]}) shows no dynamics: two rounds are needed"
        )
    for before, after in pairwise(numbers):
        if after != before + 1:
            raise InputError(
                f"round {before + 1} is missing from the log: it goes from round {before} to round"
                f" {after}"
            )
