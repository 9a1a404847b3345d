"""The log of a real dynamic benchmark: items, the rounds they were collected in, and who got them
right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array, majority_share

LogKind: TypeAlias = Literal["panel", "path"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundPart:
    """The items of one round that the same models answered.

    Parameters
    ----------
    round
        What the round is called.
    where
        Which items of the log these are.
    models
        The models that answered all of them.
    errors
        (models, items), complete.
    left_out
        Items of the round that some of these models did not answer.
    """

    round: Any
    where: Array
    models: tuple[str, ...]
    errors: Array
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundLog:
    """A log in one of two shapes.

    ``panel``: each item was collected in one round, and several models were tried on it (ANLI).
    ``path``: the same items were tried in every round, each time on that round's model.

    Parameters
    ----------
    items
        One name per item.
    rounds, round_names
        Panel: the place of each item's round among *round_names*. Path: all zeros, and the names of
        the rounds in the order of *models*.
    models
        Panel: the models. Path: one per round.
    errors
        (models, items); False where a model did not answer.
    answered
        (models, items), None if every model answered every item.
    predictions, labels
        What the models said, and what is true, where the log has it.
    validators
        One cell of labels per item.
    cost
        What each item cost.
    held_out
        Path: whether its items are a random set that no round trained on or collected from.
    built_as
        Path: what the log calls the model of each round, without the round.
    """

    kind: LogKind
    items: tuple[str, ...]
    rounds: Array
    round_names: tuple[Any, ...]
    models: tuple[str, ...]
    errors: Array
    answered: Array | None = None
    predictions: Array | None = None
    labels: Array | None = None
    validators: tuple[str | None, ...] | None = None
    cost: Array | None = None
    held_out: bool = False
    built_as: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.models) < 2:
            raise InputError(f"a log needs at least two models, got {list(self.models)}")

    def select(self, models: Sequence[str]) -> RoundLog:
        """Return the log with these models only."""
        if self.kind == "path":
            raise InputError("the models of a path are its rounds: none can be left out")
        place = {name: k for k, name in enumerate(self.models)}
        missing = [name for name in models if name not in place]
        if missing:
            raise InputError(f"no model {missing[0]!r} in the log; there are {list(self.models)}")
        index = [place[name] for name in models]
        return replace(
            self,
            models=tuple(models),
            errors=self.errors[index],
            answered=None if self.answered is None else self.answered[index],
            predictions=None if self.predictions is None else self.predictions[index],
        )

    def parts(self) -> list[RoundPart]:
        """Return what can be voted on in each round; a path is one part, named by its last round.

        Where models did not answer every item, the models with the most answers and the items that
        all of them answered are taken, as many answers as can be had together.
        """
        if self.kind == "path":
            where = np.ones(len(self.items), dtype=bool)
            last = self.round_names[-1]
            return [RoundPart(round=last, where=where, models=self.models, errors=self.errors)]
        found = []
        for place, name in enumerate(self.round_names):
            where = self.rounds == place
            if where.any():
                found.append(self._part(name, where))
        return found

    def _part(self, name: Any, where: Array) -> RoundPart:
        if self.answered is None:
            errors = self.errors[:, where]
            return RoundPart(round=name, where=where, models=self.models, errors=errors)
        chosen, full = _complete(self.answered[:, where])
        here = where.copy()
        here[where] = full
        return RoundPart(
            round=name,
            where=here,
            models=tuple(self.models[k] for k in chosen),
            errors=self.errors[chosen][:, here],
            left_out=int(where.sum() - here.sum()),
        )

    def vote(self, rounds: int | None = None) -> Array:
        """Where the vote of the first *rounds* models errs (all of them by default): 1 if more than
        half of those who answered are wrong, 1/2 for a tie.
        """
        wrong = self.errors[:rounds].sum(axis=0)
        if self.answered is None:
            return np.asarray(majority_share(wrong, len(self.errors[:rounds])))
        count = self.answered[:rounds].sum(axis=0)
        return np.where(2 * wrong > count, 1.0, np.where(2 * wrong == count, 0.5, 0.0))


def _complete(answered: Array) -> tuple[list[int], Array]:
    """Choose models and items such that each of these models answered each of these items."""
    order = np.argsort(-answered.sum(axis=1), kind="stable").tolist()
    best: tuple[int, int] = (0, 1)
    for many in range(2, len(order) + 1):
        full = int(answered[order[:many]].all(axis=0).sum())
        best = max(best, (many * full, many))
    chosen = sorted(order[: best[1]])
    return chosen, np.asarray(answered[chosen].all(axis=0))


# The shape of a long log: which row holds which model and item, and whether it is a path.


@dataclass(frozen=True, eq=False)
class LongGrid:
    """Where the row of each model (or round of a path) and item stands.

    Parameters
    ----------
    items, heads
        The items, and the models of a panel or the places of a path's rounds.
    cells
        (heads, items): the row, -1 where there is none.
    on_path
        Whether the heads are rounds.
    dropped
        Path: items that were left out because they were not tried in every round.
    """

    items: tuple[str, ...]
    heads: tuple[Any, ...]
    cells: Array
    on_path: bool
    dropped: int = 0

    def of_item(self, values: Array, name: str) -> Array:
        """Return the value of each item, which must be the same in all of its rows."""
        first = np.array([column[column >= 0][0] for column in self.cells.T])
        steady = values[first]
        cells = np.where(self.cells >= 0, values[self.cells], steady)
        differs = np.flatnonzero((cells != steady).any(axis=0))
        if differs.size:
            k = int(differs[0])
            other = next(cell for cell in cells[:, k] if cell != steady[k])
            raise InputError(
                f"item {self.items[k]!r} has the {name} {steady[k].item()!r} in one row and"
                f" {other.item()!r} in another: an item has one"
            )
        return np.asarray(steady)


def arrange(
    names: Sequence[str], when: Sequence[int], whose: Sequence[str], *, path: bool | None = None
) -> LongGrid:
    """Put the rows of a long log into a grid of models, or rounds, by items.

    A log is a path if every item was tried exactly once in every round, and a panel if every item
    belongs to one round. A panel may have gaps.

    Parameters
    ----------
    names, when, whose
        The item, the place of the round and the model of each row.
    path
        True reads the rows as a path, whatever they look like: items that were not tried in every
        round are left out.

    Examples
    --------
    >>> grid = arrange(["x", "y", "x", "y"], [0, 0, 1, 1], ["h", "h", "i", "i"])
    >>> grid.on_path, grid.heads, grid.cells.tolist()
    (True, (0, 1), [[0, 1], [2, 3]])
    >>> arrange(["x", "x", "y"], [0, 0, 0], ["h", "i", "h"]).cells.tolist()
    [[0, 2], [1, -1]]
    """
    count = len(set(when))
    tried = Counter(zip(names, when, strict=True))
    rounds_of = Counter(name for name, _ in tried)
    once = len(tried) == len(names)
    steady = once and count > 1 and all(many == count for many in rounds_of.values())
    if path or steady:
        return _path_grid(names, when, tried, rounds_of, count)

    home: dict[str, int] = {}
    for name, number in zip(names, when, strict=True):
        if home.setdefault(name, number) != number:
            raise InputError(
                f"item {name!r} was tried in more than one round, but not every item in every"
                " round, so the log is neither a panel nor a path. If some items are a fixed"
                " held-out set, mark them in a column (--held-out COLUMN)"
            )
    heads = tuple(dict.fromkeys(whose))
    items = tuple(dict.fromkeys(names))
    return LongGrid(items, heads, _grid(names, whose, items, heads, whose), on_path=False)


def _path_grid(
    names: Sequence[str],
    when: Sequence[int],
    tried: Counter[tuple[str, int]],
    rounds_of: Counter[str],
    count: int,
) -> LongGrid:
    twice = next((pair for pair, many in tried.items() if many > 1), None)
    if twice is not None:
        raise InputError(
            f"item {twice[0]!r} has two rows in one round: a path has one model per round"
        )
    items = tuple(name for name in dict.fromkeys(names) if rounds_of[name] == count)
    if not items:
        raise InputError(
            "no held-out item was tried in every round: rounds can only be compared on items that"
            " all of them were tried on"
        )
    kept = set(items)
    heads = tuple(sorted(set(when)))
    rows = [k for k, name in enumerate(names) if name in kept]
    cells = _grid(names, when, items, heads, when, rows)
    return LongGrid(items, heads, cells, on_path=True, dropped=len(rounds_of) - len(items))


def _grid(
    names: Sequence[str],
    which: Sequence[Any],
    items: Sequence[str],
    heads: Sequence[Any],
    shown: Sequence[Any],
    rows: Sequence[int] | None = None,
) -> Array:
    at, head_at = {n: k for k, n in enumerate(items)}, {h: k for k, h in enumerate(heads)}
    cells = np.full((len(heads), len(items)), -1, dtype=np.int64)
    for k in range(len(names)) if rows is None else rows:
        where = head_at[which[k]], at[names[k]]
        if cells[where] >= 0:
            raise InputError(f"item {names[k]!r} has two rows for model {shown[k]!r}: keep one")
        cells[where] = k
    return cells
