"""From a table to a board: answers held against the truth, replicates averaged, what is missing
said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tallystick.compare.board import Board
from tallystick.errors import InputError
from tallystick.io import (
    Roles,
    check_numbers,
    check_vocabulary,
    identifier,
    label_sets,
    reading,
    select,
)
from tallystick.io.logs import Loss
from tallystick.io.shapes import ITEM_NAMES
from tallystick.values.label import MOST_LABELS

if TYPE_CHECKING:
    import pyarrow as pa

    from tallystick.io import Label, Table

__all__ = ["read_board"]

Floats = npt.NDArray[np.float64]

BLOCK = 500
"""Columns that are read at once."""


def read_board(table: Table, roles: Roles, *, bounds: tuple[float, float] | None = None) -> Board:
    """Return the board of *table*; cells that are no scores are refused with their place.

    Parameters
    ----------
    table, roles
        What was scanned, and which column is what; ``others`` may name an ``item`` and a
        ``cluster``.
    bounds
        Between what scores must lie; the first one outside is refused by row.
    """
    item, cluster = roles.others.get("item", roles.item), roles.others.get("cluster")
    if item is None:
        _refuse_hidden_replicates(table, roles)
    answers = truth = None
    shared: list[str] = []
    if roles.truth is None:
        scores = _numbers(table, roles, bounds)
        answered = ~np.isnan(scores)
        hidden = np.zeros(len(scores), bool)
    else:
        answers, gold, words = _codes(table, roles)
        hidden = gold < 0
        answered = answers >= 0
        scores = np.where(hidden[:, None], np.nan, (answers == gold[:, None]).astype(float))
        truth = [words[code] for code in gold.tolist()]
        shared = _vocabularies(table, roles, answers, gold, words)
    used = np.asarray(answered.all(axis=1))
    if not used.any():
        raise InputError(
            f"{table.source}: no item has an answer of every model: compare models on the same"
            " items"
        )
    losses = [str(note) for note in table.notes if isinstance(note, Loss)]
    notes = [*losses, *shared, *_silent(roles.labels, answered, used)]
    # A token that means "no answer" may well be the name of an item or of a cluster.
    beside = dict(
        _columns(
            table,
            replace(roles, missing=()),
            [name for name in (item, cluster) if name is not None],
        )
    )
    items = None if item is None else beside[item].to_pylist()
    groups = None if cluster is None else beside[cluster].to_pylist()
    weights = None if roles.weight is None else _weights(table, roles.weight)
    if cluster is not None:
        _refuse_blank_clusters(table, cluster, groups or (), used)
    first, places, replicated = _first_rows(items, used)
    if replicated:
        if hidden[used].any():
            raise InputError(
                f"{table.source}: items repeat and some true labels are blank: average or remove"
                " the replicates first"
            )
        scores, answers = _averaged(scores, places, used, len(first)), None
        _alike(items, groups, places, first, "is in cluster {} and in {}: give it one")
        _alike(
            items,
            weights,
            places,
            first,
            "has the weights {} and {}: give its replicates one weight",
        )
        notes.append(
            f"{int(used.sum())} rows are replicates of {len(first)} items and were averaged within"
            " each item"
        )
    else:
        scores, answers = scores[first], None if answers is None else answers[first]
    return Board(
        names=roles.labels,
        scores=scores,
        items=None if items is None else tuple(items[i] for i in first),
        clusters=None if groups is None else tuple(groups[i] for i in first),
        weights=None if weights is None else weights[first],
        answers=answers if hidden[first].any() else None,
        truth=None if truth is None else _one_truth(truth, places, len(first)),
        rows=places,
        notes=tuple(notes),
    )


def _refuse_hidden_replicates(table: Table, roles: Roles) -> None:
    """Refuse a column that is named like the items but repeats: its rows would be counted as
    independent items.
    """
    named = {*roles.labels, roles.truth, roles.weight, roles.by, *roles.others.values()}
    for column in table.columns:
        if (
            column.strip().lower() in ITEM_NAMES
            and column not in named
            and column not in table.left_out
        ):
            raise InputError(
                f"{table.source}: column {column!r} is named like the items but repeats: name it"
                f" (--item {column}) to average the replicates of each item, or rename it if its"
                " rows are items of their own"
            )


def _columns(table: Table, roles: Roles, names: Sequence[str]) -> Iterator[tuple[str, pa.Array]]:
    """Yield columns, missing values as null; a block at a time, since thousands do not fit the
    engine's memory.
    """
    for start in range(0, len(names), BLOCK):
        block = tuple(names[start : start + BLOCK])
        with reading(table.source):
            found = select(table, Roles(labels=block, missing=roles.missing)).to_arrow_table()
        yield from ((name, found[name].combine_chunks()) for name in block)


def _numbers(table: Table, roles: Roles, bounds: tuple[float, float] | None) -> Floats:
    low, high = bounds or (None, None)
    scores: list[Floats] = []
    words: list[str] = []
    for name, column in _columns(table, roles, roles.labels):
        values = _floats(column, low, high)
        if values is not None:
            scores.append(values)
        # refused with its place; or written with spaces, which the engine reads
        elif _any_number(table, name):
            check_numbers(table, name, missing=roles.missing, low=low, high=high)
            cell = select(table, Roles(labels=(name,), missing=roles.missing))
            scores.append(
                cell.project(f"cast({identifier(name)} as double)").to_arrow_table()[0].to_numpy()
            )
        else:
            words.append(name)
    if words:
        shown = ", ".join(repr(name) for name in words[:5]) + (" …" if len(words) > 5 else "")
        raise InputError(
            f"{table.source}: {shown} {'holds' if len(words) == 1 else 'hold'} words and not one"
            " score: say what it is (--item, --cluster, --by), name the columns of the models"
            " (compare --models, plan --columns), or name the true answers (--truth) if these are"
            " answers"
        )
    return np.stack(scores, axis=1)


def _any_number(table: Table, name: str) -> bool:
    cell = identifier(name)
    return bool(
        table.query(f"select 1 from rows where try_cast({cell} as double) is not null limit 1")
    )


def _floats(column: pa.Array, low: float | None, high: float | None) -> Floats | None:
    """Return a column as numbers, NaN where it is missing; None unless all others are finite and
    within bounds.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    inside = (values >= (-np.inf if low is None else low)) & (
        values <= (np.inf if high is None else high)
    )
    fine = np.count_nonzero(inside & np.isfinite(values)) == len(values) - column.null_count
    return np.asarray(values, dtype=float) if fine else None


def _codes(
    table: Table, roles: Roles
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], tuple[Label, ...]]:
    """Return one code a label over all columns, -1 for missing: of the answers, of the truth; and
    the labels.
    """
    assert roles.truth is not None
    names = [*roles.labels, roles.truth]
    encoded = {name: column.dictionary_encode() for name, column in _columns(table, roles, names)}
    words = {name: column.dictionary.to_pylist() for name, column in encoded.items()}
    for name in names:
        if len(words[name]) > MOST_LABELS:
            label_sets(table, roles, [name])  # refuses it
    sets = {name: tuple(sorted(found)) for name, found in words.items()}
    renaming = check_vocabulary(sets, coerce=roles.coerce, locate_row=table.row_of)
    codes: dict[Label, int] = {}
    columns = []
    for name in names:
        new = np.array(
            [codes.setdefault(renaming[name][word], len(codes)) for word in words[name]] + [-1],
            np.int32,
        )
        columns.append(new[encoded[name].indices.fill_null(-1).to_numpy(zero_copy_only=False)])
    out = np.stack(columns, axis=1)
    if (out[:, -1] < 0).all():
        raise InputError(
            f"{table.source}: the truth {roles.truth!r} is blank everywhere: label a few items"
            " first"
        )
    return out[:, :-1], out[:, -1], (*codes, None)  # None is at -1


def _silent(
    models: Sequence[str], answered: npt.NDArray[np.bool_], used: npt.NDArray[np.bool_]
) -> list[str]:
    lost = int((~used).sum())
    if not lost:
        return []
    worst = int(np.argmin(answered.sum(axis=0)))
    return [
        f"{lost} of {len(used)} items are left out because a model has no score there"
        f" ({models[worst]!r} lacks {int((~answered[:, worst]).sum())}); if no answer means wrong,"
        " write it as such"
    ]


def _weights(table: Table, name: str) -> Floats:
    weights = np.asarray(
        select(table, Roles(labels=(), weight=name)).to_arrow_table()[0].to_numpy(), dtype=float
    )
    if not (weights > 0).any():
        raise InputError("all weights are 0: weigh at least one item")
    return weights


def _first_rows(
    items: Sequence[Label] | None, used: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], bool]:
    """Return the first row of each item, the item of each row (-1 if not used), and whether items
    repeat.
    """
    places = np.full(len(used), -1, np.int64)
    rows = np.flatnonzero(used)
    if items is None:
        places[rows] = np.arange(len(rows))
        return rows, places, False
    seen: dict[Label, int] = {}
    first: list[int] = []
    for row in rows.tolist():
        if items[row] is None:
            raise InputError(f"row {row + 1}: the item is blank; name every item or remove the row")
        if items[row] not in seen:
            seen[items[row]] = len(first)
            first.append(row)
        places[row] = seen[items[row]]
    return np.array(first, np.int64), places, len(first) < len(rows)


def _averaged(
    scores: Floats, places: npt.NDArray[np.int64], used: npt.NDArray[np.bool_], n: int
) -> Floats:
    counts = np.bincount(places[used], minlength=n)
    sums = [np.bincount(places[used], scores[used, j], minlength=n) for j in range(scores.shape[1])]
    return np.stack(sums, axis=1) / counts[:, None]


def _alike(
    items: Sequence[Label] | None,
    values: Sequence[Label] | Floats | None,
    places: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    words: str,
) -> None:
    """Refuse an item whose replicates have two *values*."""
    if items is None or values is None:
        return
    held = list(values)
    for row, place in enumerate(places.tolist()):
        if place >= 0 and held[row] != held[first[place]]:
            shown = (
                repr(one) if isinstance(one, str) else f"{one}"
                for one in (held[first[place]], held[row])
            )
            raise InputError(f"item {items[row]!r} {words.format(*shown)}")


def _refuse_blank_clusters(
    table: Table, column: str, groups: Sequence[Label], used: npt.NDArray[np.bool_]
) -> None:
    """Refuse a blank cluster: items of which nobody said where they belong are no cluster of their
    own.
    """
    for row, group in enumerate(groups):
        if group is None and used[row]:
            raise InputError(
                f"{table.source}, row {row + 1}: the cluster {column!r} is blank; name every"
                " cluster or remove the row"
            )


def _one_truth(truth: Sequence[Label], places: npt.NDArray[np.int64], n: int) -> tuple[Label, ...]:
    """Return the true label of each item; None where it is blank, or where replicates have
    several.
    """
    if np.count_nonzero(places >= 0) == n:
        return tuple(
            label for label, place in zip(truth, places.tolist(), strict=True) if place >= 0
        )
    found: list[set[Label]] = [set() for _ in range(n)]
    for row, place in enumerate(places.tolist()):
        if place >= 0:
            found[place].add(truth[row])
    return tuple(next(iter(labels)) if len(labels) == 1 else None for labels in found)


def _vocabularies(
    table: Table,
    roles: Roles,
    answers: npt.NDArray[np.int32],
    gold: npt.NDArray[np.int32],
    words: Sequence[Label],
) -> list[str]:
    """Name the models that give none of the true labels; refuse it if no model gives any, though
    all are known.
    """
    true, *given = (
        set(np.flatnonzero(np.bincount(column[column >= 0])).tolist())
        for column in (gold, *answers.T)
    )
    apart = [j for j, codes in enumerate(given) if codes and not codes & true]

    def listed(codes: set[int]) -> str:
        shown = [repr(words[code]) for code in sorted(codes)]
        return ", ".join(shown[:5]) + (" …" if len(shown) > 5 else "")

    held = f"the truth {roles.truth!r} holds {listed(true)}"
    if len(apart) == len(given) and (gold >= 0).all():
        raise InputError(
            f"{table.source}: {held} and the models answer {listed(set().union(*given))}: no label"
            " is shared, so no answer can be right; write them alike"
        )
    return [
        f"{roles.labels[j]!r} answers {listed(given[j])} and {held}: no label is shared, so it is"
        " never right; if they mean the same, write them alike"
        for j in apart[:5]
    ]
