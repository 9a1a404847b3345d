"""The log of a real dynamic benchmark, checked: items, the rounds they were collected in, and who
got them right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.dynamic.cells import (
    check_total,
    correct_of,
    floats_of,
    one_an_item,
    round_of,
    texts_of,
    weights_of,
)
from tallystick.dynamic.curves import plurality
from tallystick.dynamic.population import Array, vote
from tallystick.dynamic.spelling import one_spelling, spelled_votes
from tallystick.errors import InputError

__all__ = ["LogKind", "RoundLog"]

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
        One name an item.
    rounds
        Panel: the round of each item. Path: all ones.
    models
        Panel: the models. Path: one a round.
    errors
        (models, items).
    predictions, labels
        What the models said, and what is true, where the log has it.
    validators
        One cell of labels an item.
    cost
        What each item cost.
    weight
        How many items, seen alike, each one stands for; None where each stands for itself. They are
        no sampling weights: :func:`analyse` counts an item of weight w as w items, each at its
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
            check_total(self.weight)
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

        >>> log = RoundLog.from_wide(
        ...     {"round": [1, 2], "gold": ["a", "b"], "m": ["a", "a"], "n": ["b", "b"], "w": [2, 1]},
        ...     round="round", truth="gold", models=["m", "n"], weight="w",
        ... )
        >>> log.repeated().items, log.repeated().errors.tolist()
        (('1', '1', '2'), [[False, False, True], [True, True, False]])
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

    @classmethod
    def from_wide(
        cls,
        columns: Mapping[str, Sequence[Any]],
        *,
        round: str,
        truth: str,
        models: Sequence[str],
        item: str | None = None,
        validators: str | None = None,
        cost: str | None = None,
        weight: str | None = None,
        coerce: bool = False,
    ) -> RoundLog:
        """Read a panel with one row an item and one column of predictions a model.

        A label that is spelled in two ways is refused; with *coerce* both spellings are read as
        one.

        >>> table = {"round": [1, 1, 2], "gold": ["a", "b", "a"], "m1": ["a", "a", "b"], "m2": ["a", "b", "b"]}
        >>> RoundLog.from_wide(table, round="round", truth="gold", models=["m1", "m2"]).errors.sum(axis=1).tolist()
        [2, 1]
        """
        for name in (
            round,
            truth,
            *models,
            *(c for c in (item, validators, cost, weight) if c is not None),
        ):
            if name not in columns:
                raise InputError(f"no column {name!r} in the log; there are {sorted(columns)}")
        for name in (truth, *models):
            texts_of(columns[name], name)
        spelled = one_spelling({name: columns[name] for name in (truth, *models)}, coerce=coerce)
        labels, calls = spelled[truth], np.array([spelled[name] for name in models])
        for name, said in zip(models, calls, strict=True):
            if not np.isin(said, labels).any():  # it would count as a model that is always wrong
                raise InputError(
                    f"column {name!r} never gives one of the true labels (its first value is"
                    f" {str(said[0])!r}): it is no model; name the models (--models), or that"
                    " column as what the validators said (--validators)"
                )
        said_of = None
        if validators is not None:
            cells = [None if v is None else str(v) for v in columns[validators]]
            said_of = spelled_votes(
                cells, columns[truth], name=validators, truth=truth, coerce=coerce
            )
        return cls(
            kind="panel",
            items=(
                tuple(str(v) for v in columns[item])
                if item
                else tuple(str(k + 1) for k in range(labels.size))
            ),
            rounds=np.array([round_of(v, round, k) for k, v in enumerate(columns[round])]),
            models=tuple(models),
            errors=calls != labels,
            predictions=calls,
            labels=labels,
            validators=said_of,
            cost=floats_of(columns[cost], cost) if cost else None,
            weight=weights_of(columns[weight], weight) if weight else None,
        )

    @classmethod
    def from_long(
        cls,
        *,
        item: Sequence[Any],
        round: Sequence[Any],
        model: Sequence[Any],
        correct: Sequence[Any],
        prediction: Sequence[Any] | None = None,
        truth: Sequence[Any] | None = None,
        validators: Sequence[Any] | None = None,
        cost: Sequence[Any] | None = None,
        weight: Sequence[Any] | None = None,
        coerce: bool = False,
    ) -> RoundLog:
        """Read one row an item and model, and find out which of the two shapes it has.

        The weight of an item is the same in all of its rows. *coerce* as in :meth:`from_wide`.

        >>> path = RoundLog.from_long(
        ...     item=["x", "y"] * 2, round=[1, 1, 2, 2], model=["h1", "h1", "h2", "h2"], correct=[1, 0, 0, 1]
        ... )
        >>> path.kind, path.errors.tolist()
        ('path', [[False, True], [True, False]])
        """
        names = texts_of(item, "item", why="name every item, or remove the row")
        when = [round_of(v, "round", k) for k, v in enumerate(round)]
        whose = texts_of(model, "model", why="name every model, or remove the row")
        wrong = [not correct_of(v, k) for k, v in enumerate(correct)]
        if len({len(names), len(when), len(whose), len(wrong)}) != 1:
            raise InputError("item, round, model and correct need equal lengths")
        if not names:
            raise InputError("the log is empty")
        _check_rounds(sorted(set(when)))
        on_path = _is_path(names, when)
        if on_path and min(when) > 1:
            raise InputError(
                f"the path begins in round {min(when)}: what its model was trained on is not in the"
                " log, so give all rounds from the first on (or number these from 1, if they are"
                " the first)"
            )
        rows = list(dict.fromkeys(names))
        heads: list[Any] = sorted(set(when)) if on_path else list(dict.fromkeys(whose))
        at, head_at = {n: k for k, n in enumerate(rows)}, {h: k for k, h in enumerate(heads)}
        cells = np.full((len(heads), len(rows)), -1, dtype=np.int64)
        for k, name in enumerate(names):
            where = head_at[when[k] if on_path else whose[k]], at[name]
            if cells[where] >= 0:
                raise InputError(
                    f"item {name!r} has two rows for model {whose[k]!r}, the second one at row"
                    f" {k + 1}"
                )
            cells[where] = k
        if not on_path:
            _check_panel(cells, heads, rows, names, when)
        first = cells[0]
        home = np.array(when)[first]
        said = {"truth": truth, "prediction": prediction}
        spelled = {
            name: np.array(texts_of(values, name))
            for name, values in said.items()
            if values is not None
        }
        if truth is not None and prediction is not None:
            spelled = one_spelling({"truth": truth, "prediction": prediction}, coerce=coerce)
            _check_correct(spelled["truth"], spelled["prediction"], wrong)
        told = None
        if validators is not None:
            said_of = np.array(["" if value is None else str(value) for value in validators])
            told = tuple(
                cell or None
                for cell in one_an_item(said_of, cells, rows, "validators' labels").tolist()
            )
            if truth is not None:
                told = spelled_votes(told, truth, name="validators", truth="truth", coerce=coerce)
        titles = [str(whose[int(row[0])]) for row in cells] if on_path else heads
        return cls(
            kind="path" if on_path else "panel",
            items=tuple(rows),
            rounds=np.ones(len(rows), dtype=int) if on_path else home,
            models=(
                tuple(f"{t} (round {r})" for t, r in zip(titles, heads, strict=True))
                if on_path
                else tuple(titles)
            ),
            errors=np.array(wrong)[cells],
            predictions=spelled["prediction"][cells] if prediction is not None else None,
            labels=(
                one_an_item(spelled["truth"], cells, rows, "true label")
                if truth is not None
                else None
            ),
            validators=told,
            cost=(
                one_an_item(floats_of(cost, "cost"), cells, rows, "cost")
                if cost is not None
                else None
            ),
            weight=(
                one_an_item(weights_of(weight, "weight"), cells, rows, "weight")
                if weight is not None
                else None
            ),
        )


def _is_path(names: Sequence[str], when: Sequence[int]) -> bool:
    """Whether every item was tried once in every round."""
    return len(set(zip(names, when, strict=True))) == len(names) == len(set(names)) * len(set(when))


def _check_panel(
    cells: Array,
    models: Sequence[Any],
    rows: Sequence[str],
    names: Sequence[str],
    when: Sequence[int],
) -> None:
    home: dict[str, int] = {}
    for name, number in zip(names, when, strict=True):
        if home.setdefault(name, number) != number:
            raise InputError(
                f"item {name!r} belongs to round {home[name]} and to round {number}: an item has"
                " one round"
            )
    rounds = np.array([home[name] for name in rows])
    for number in np.unique(rounds):
        absent = np.flatnonzero((cells[:, rounds == number] < 0).all(axis=1))
        if absent.size:
            raise InputError(
                f"models differ between rounds: {str(models[absent[0]])!r} was not tried in round"
                f" {number}; choose the models that were tried in all rounds"
            )
    gaps = np.argwhere(cells < 0)
    if gaps.size:
        raise InputError(f"item {rows[gaps[0][1]]!r} has no row for model {models[gaps[0][0]]!r}")


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


def _check_correct(truth: Array, prediction: Array, wrong: Sequence[bool]) -> None:
    """Refuse a row that is called right though its answer is not the true label, or wrong though it
    is.
    """
    against = np.flatnonzero((truth != prediction) != np.asarray(wrong))
    if against.size:
        row = int(against[0])
        raise InputError(
            f"row {row + 1}: the answer {str(prediction[row])!r} to a true {str(truth[row])!r} is"
            f" called {'wrong' if wrong[row] else 'right'} (so in {against.size} of the rows):"
            " correct them, or leave out the predictions"
        )
