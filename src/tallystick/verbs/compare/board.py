"""A board: models in columns, items in rows, one score each; what a leaderboard is counted from and
saved as.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.table import Label, Moments
from tallystick.table.engine import how_items_differ

Floats = npt.NDArray[np.float64]
Drawn = Literal["random", "disagreements", "any"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Board:
    """The scores of several models on the same items.

    Parameters
    ----------
    names
        The models.
    scores
        Items x models. NaN only where the true label is not known yet, and then along the whole
        row.
    items
        The name of each item, by which a further model is aligned; None if they have none.
    clusters
        What each item belongs to (a document, a scenario); None without clusters.
    weights
        The weight of each item; None if all count alike.
    answers, gold
        Codes of the answers, items x models, and of the true labels, below 0 where they are blank;
        None unless some are.
    drawn
        How the true labels were chosen, if not all are there: at ``random`` among all items, at
        random among the ``disagreements`` of two models, or nobody knows (``any``).
    truth
        The true label of each item, None where it is blank; by it two boards are seen to rest on
        the same labels.
    rows
        Which item each row of the source belongs to, -1 for a row that is not used.
    right, runs
        Items x models: how often an item was run, and how often it was right. *right* is None
        where scores are not 0 or 1, both where every item was run once.
    prices
        What a new item and one more run of an item cost; None if nobody said.
    notes
        What was left out or averaged, for the reader.
    left_out
        Items that are left out because a model gave no answer there.
    whole
        The board with those items, NaN where a model gave no answer; None where nothing is left
        out, or where what is left out cannot be put beside the rest.

    Examples
    --------
    >>> board = Board.of({"id": ["q1", "q2", "q3"], "old": [1, 0, 0], "new": [1, 1, 0]}, item="id")
    >>> board.names, board.scores.mean(axis=0).round(3).tolist()
    (('old', 'new'), [0.333, 0.667])
    >>> board.add("newer", {"q3": 1, "q1": 1, "q2": 1}).names
    ('old', 'new', 'newer')
    """

    names: tuple[str, ...]
    scores: Floats
    items: tuple[Label, ...] | None = None
    clusters: tuple[Label, ...] | None = None
    weights: Floats | None = None
    answers: npt.NDArray[np.int32] | None = None
    gold: npt.NDArray[np.int32] | None = None
    drawn: Drawn = "random"
    truth: tuple[Label, ...] | None = None
    rows: npt.NDArray[np.int64] | None = None
    right: Floats | None = None
    runs: Floats | None = None
    prices: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    left_out: int = 0
    whole: Board | None = None

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise InputError(f"two models are called {twice!r}: give each its own name")
        if self.scores.ndim != 2 or self.scores.shape[1] != len(self.names):
            raise InputError(
                f"scores must be items x {len(self.names)} models, got shape {self.scores.shape}"
            )
        if np.isinf(self.scores).any():
            raise InputError("scores must be finite: mark what could not be scored as missing")
        if self.items is not None and len(set(self.items)) != len(self.items):
            raise InputError(
                "items must have different names: average the replicates of an item first"
            )
        if self.clusters is not None and None in self.clusters:
            raise InputError(
                f"item {self.clusters.index(None) + 1}: the cluster is blank; name every cluster or"
                " remove the item"
            )

    @classmethod
    def of(cls, data: Any, **options: Any) -> Board:
        """Read a board from a file, several files, an evaluation log, a relation, an Arrow table or
        a mapping.

        Parameters
        ----------
        data
            One row per item. Rows that repeat an *item* are replicates (epochs, seeds) and are
            averaged.
        **options
            Roles and options of reading: *models* (globs allowed; by default every column that is
            not named otherwise), *truth* (true answers, blank where not known: a model scores 1
            where it gives that answer; without it the columns of the models hold scores), *item*,
            *cluster*, *weight*, *replicate*, *missing* and *coerce*.
        """
        from tallystick.table import Door, read
        from tallystick.verbs.compare.reading import read_board

        with read(data, Door(verb="compare", want="models", repeats=True), **options) as found:
            return read_board(found)

    @property
    def n(self) -> int:
        """How many items there are, labelled or not."""
        return len(self.scores)

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which items have scores."""
        return np.asarray(~np.isnan(self.scores).any(axis=1))

    def moments(self) -> Moments:
        """Count the board: sums and products of scores, by cluster if there are any."""
        columns: dict[str, Any] = {name: self.scores[:, j] for j, name in enumerate(self.names)}
        by, weight = _fresh("cluster", self.names), _fresh("weight", self.names)
        if self.clusters is not None:
            columns[by] = np.array([str(label) for label in self.clusters], dtype=object)
        if self.weights is not None:
            columns[weight] = self.weights
        return Moments.of(
            columns,
            columns=self.names,
            by=by if self.clusters is not None else None,
            weight=weight if self.weights is not None else None,
        )

    def of_models(self, names: Sequence[str]) -> Board:
        """Return the board of these models only."""
        places = [self.place(name) for name in names]
        own = {
            field: held[:, places]
            for field in ("answers", "right", "runs")
            if (held := getattr(self, field)) is not None
        }
        whole = None if self.whole is None else self.whole.of_models(names)
        return replace(self, names=tuple(names), scores=self.scores[:, places], whole=whole, **own)

    def place(self, name: str) -> int:
        """Return the position of a model, or refuse its name."""
        if name not in self.names:
            raise InputError(
                f"there is no model {name!r}: the models are {', '.join(self.names[:12])}"
            )
        return self.names.index(name)

    def add(self, name: str, scores: Mapping[Any, float]) -> Board:
        """Return the board with one more model, aligned by the names of the items; items that it
        lacks are dropped.
        """
        column = np.array(list(scores.values()), dtype=float)[:, None]
        return self.beside(Board(names=(name,), scores=column, items=tuple(scores)))

    def beside(self, other: Board) -> Board:
        """Return the models of both boards, on the items that both have."""
        if self.items is None or other.items is None:
            raise InputError(
                "boards are put side by side by item: name the column of items in both (--item)"
            )
        places = {item: i for i, item in enumerate(other.items)}
        mine = [i for i, item in enumerate(self.items) if item in places]
        if not mine:
            differ = how_items_differ(self.items, other.items, here="one", there="the other")
            raise InputError(f"no common item: the items are {differ}")
        theirs = [places[self.items[i]] for i in mine]
        truth = self._common_truth(other, mine, theirs)
        notes = [*self.notes, *other.notes]
        lost = (self.n - len(mine), other.n - len(mine))
        if any(lost):
            notes.append(
                f"{len(mine)} common items are used; {lost[0]} and {lost[1]} items had no partner"
            )
        return Board(
            names=(*self.names, *other.names),
            scores=np.hstack([self.scores[mine], other.scores[theirs]]),
            items=tuple(self.items[i] for i in mine),
            clusters=None if self.clusters is None else tuple(self.clusters[i] for i in mine),
            weights=None if self.weights is None else self.weights[mine],
            truth=truth,
            notes=tuple(notes),
            left_out=self.left_out + other.left_out + sum(lost),
            whole=self._whole_beside(other),
        )

    def _whole_beside(self, other: Board) -> Board | None:
        """Return all items of both boards; None where some would lack a cluster, a weight or a
        name.
        """
        parts = [board.whole or board for board in (self, other)]
        bare = all(
            part.clusters is None and part.weights is None and part.items is not None
            for part in parts
        )
        if not bare:
            return None
        places: dict[Label, int] = {}
        for part in parts:
            for item in part.items or ():
                places.setdefault(item, len(places))
        columns = []
        for part in parts:
            scores = np.full((len(places), len(part.names)), np.nan)
            scores[[places[item] for item in part.items or ()]] = part.scores
            columns.append(scores)
        return Board(
            names=(*self.names, *other.names), scores=np.hstack(columns), items=tuple(places)
        )

    def _common_truth(
        self, other: Board, mine: Sequence[int], theirs: Sequence[int]
    ) -> tuple[Label, ...] | None:
        """Return the true labels of the common items; refuse them where they are blank or
        contradict each other.
        """
        for board in (self, other):
            if board.answers is not None:
                raise InputError(
                    f"{int((~board.known).sum())} of {board.n} items of"
                    f" {', '.join(board.names[:5])} have no true label: such models are compared"
                    " from one table that holds the answers of all (or label all items)"
                )
        here = None if self.truth is None else tuple(self.truth[i] for i in mine)
        there = None if other.truth is None else tuple(other.truth[j] for j in theirs)
        if here is None or there is None:
            return here or there
        for i, one, another in zip(mine, here, there, strict=True):
            if one is not None and another is not None and str(one) != str(another):
                item = repr(self.items[i]) if self.items is not None else i + 1
                raise InputError(
                    f"item {item} is truly {one!r} beside {self.names[0]!r} and {another!r} beside"
                    f" {other.names[0]!r}: correct one of the two tables"
                )
        return here


def _fresh(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
