"""What the columns of models have in common: labels with the truth, items with one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results.numbers import count
from tallystick.table import Data, Label, Table, identity
from tallystick.table.cells import in_order
from tallystick.table.engine import how_items_differ

# Models that give none of the true labels: they are never right, most often by their spelling.


_MOST_NAMED = 5
_MOST_LISTED = 5


def no_shared_label(
    truth: str, true: Iterable[Label], given: Mapping[str, Iterable[Label]]
) -> list[str]:
    """Warn of each model that gives none of the true labels.

    Whoever holds the answers, as rows or as counts, knows which labels each column holds, so both
    ways of reading ask here.

    Parameters
    ----------
    truth, true
        The column of the truth and its labels; None (blank) is no label.
    given
        The labels that each model gives.

    Examples
    --------
    >>> [note] = no_shared_label("gold", ["yes", "no"], {"x": ["si", None], "y": ["no"]})
    >>> note.partition(". ")[0]
    "'x' answers 'si' and the truth 'gold' holds 'no', 'yes': no label is shared, so it is never right"
    """
    known = {identity(label): label for label in true if label is not None}
    found = []
    for name, labels in given.items():
        said = {identity(label): label for label in labels if label is not None}
        if said and not said.keys() & known.keys():
            found.append(
                f"{name!r} answers {_listed(said.values())} and the truth {truth!r} holds"
                f" {_listed(known.values())}: no label is shared, so it is never right. If they"
                " mean the same, write them alike"
            )
    return found[:_MOST_NAMED]


def _listed(labels: Iterable[Label]) -> str:
    shown = [repr(label) for label in in_order(labels)]
    return ", ".join(shown[:_MOST_LISTED]) + (" …" if len(shown) > _MOST_LISTED else "")


# Models are compared on items that all of them answered: which models leave too few of those.


Bools = npt.NDArray[np.bool_]
Counted: TypeAlias = npt.NDArray[np.float64] | None

_MOST = 5
_SUMMARIES = frozenset(
    {"mean", "average", "avg", "median", "total", "sum", "overall", "all", "macro", "micro", "std"}
)
"""What people call the row that sums up the others."""
_WORTH = 2.0
"""A model is named if the others have at least this many times the items in common."""


def largest_in_common(answered: Bools) -> tuple[tuple[int, ...], int]:
    """Return models that have items in common, and how many: the rarest are left out one by one.

    Parameters
    ----------
    answered
        Items x models: whether there is an answer.

    Examples
    --------
    >>> answered = np.array([[1, 1, 0]] * 5 + [[1, 0, 0]] * 4 + [[0, 0, 1]], dtype=bool)
    >>> largest_in_common(answered)
    ((0, 1), 5)
    """
    left = list(range(answered.shape[1]))
    while len(left) >= 2:
        common = int(answered[:, left].all(axis=1).sum())
        if common:
            return tuple(left), common
        left.remove(min(left, key=lambda j: int(answered[:, j].sum())))
    return (), 0


def no_item_in_common(names: Sequence[str], answered: Bools) -> str:
    """Say how many items each model answered, and which of them can be compared.

    >>> no_item_in_common(["A", "B", "C"], np.array([[1, 1, 0]] * 5 + [[0, 0, 1]], dtype=bool))
    'no item has an answer of every model: A answered 5, B 5, C 1. Compare those that share items: --models A,B (5 items)'
    """
    many = answered.sum(axis=0)
    order = np.argsort(-many, kind="stable")
    shown = [*order[:_MOST], *order[_MOST:][-1:]]
    each = ", ".join(
        f"{names[j]} {'answered ' if not k else ''}{count(int(many[j]))}"
        for k, j in enumerate(shown)
    )
    head = f"no item has an answer of every model: {each}"
    left, common = largest_in_common(answered)
    if not left:
        return f"{head}. Compare models on the same items"
    chosen = ",".join(names[j] for j in left)
    return f"{head}. Compare those that share items: --models {chosen} ({count(common)} items)"


def who_costs_items(names: Sequence[str], answered: Bools, counts: Counted = None) -> str:
    """Name the one model without which at least twice as many items would be left; "" if none.

    With *counts*, each row of *answered* stands for that many items.

    >>> who_costs_items(["A", "B", "C"], np.array([[1, 1, 0]] * 5 + [[1, 1, 1]], dtype=bool))
    'without C 6 items are left, not 1: --models A,B'
    """
    if len(names) < 3:
        return ""
    each = np.ones(len(answered)) if counts is None else counts
    common = int(each[answered.all(axis=1)].sum())
    without = {
        j: int(each[np.delete(answered, j, axis=1).all(axis=1)].sum()) for j in range(len(names))
    }
    worst = max(without, key=lambda j: without[j])
    if without[worst] < _WORTH * max(common, 1):
        return ""
    rest = ",".join(name for j, name in enumerate(names) if j != worst)
    more = count(without[worst])
    return f"without {names[worst]} {more} items are left, not {count(common)}: --models {rest}"


def refuse_files_apart(data: Data) -> None:
    """Refuse several files without a common item that leave one column of scores.

    Files of the same items are runs; files without a common item are parts of one table. Two files
    whose items are only written differently look like parts.
    """
    held = data.held
    if len(data.roles.models) != 1 or data.roles.item is None or not isinstance(held, Table):
        return
    if len(held.parts) < 2:
        return
    items = list(data.cells(data.roles.item)[data.roles.item])
    first, second = held.parts[0], held.parts[1]
    differ = how_items_differ(
        items[: first.rows],
        items[first.rows : first.rows + second.rows],
        here=first.name,
        there=second.name,
    )
    raise InputError(
        f"the {len(held.parts)} files have no item in common, so they are the parts of one table"
        f" with one column of scores, {data.roles.models[0]!r}. If each file is a run of the same"
        f" items, the items must be called alike: they are {differ}"
    )


def summary_rows(items: Sequence[Label], scores: npt.NDArray[np.float64]) -> list[str]:
    """Warn of an item that is called like a summary, or that holds the means of the others.

    Parameters
    ----------
    items, scores
        The items and their scores, items x models.

    Examples
    --------
    >>> summary_rows(["1", "2", "mean"], np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.0]]))
    ["item 'mean' holds the means of all other items and counts as one more item: remove that row"]
    """
    named = [i for i, item in enumerate(items) if str(item).strip().casefold() in _SUMMARIES]
    # Items may be called like that everywhere: "sum" and "count" are tasks too.
    if not named or len(named) > 3 or len(items) < 3:
        return []
    rest = np.delete(scores, named, axis=0)
    found = []
    for i in named:
        means = np.allclose(scores[i], np.nanmean(rest, axis=0), rtol=5e-3, atol=1e-9)
        what = "holds the means of all other items" if means else "is called like a summary"
        found.append(
            f"item {str(items[i])!r} {what} and counts as one more item: remove that row"
            + ("" if means else " if it sums up the others")
        )
    return found
