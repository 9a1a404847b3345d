"""From a tally to the arrays of a bound: which weak votes, which prediction, which labels, how
often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.errors import InputError
from tallystick.tally import Label, Tally
from tallystick.values.label import identity, in_order

__all__ = ["WeakTable", "coarser", "refuse_silence_as_class", "weak_table"]

ABSTAINED = -1
_SILENT = "-1"
_LEAST_LABELS = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakTable:
    """Counts of (weak votes, atom), an atom being a prediction, a pair of predictions or a bin of a
    score.

    Parameters
    ----------
    classes
        The labels that Y can take.
    weak
        The columns of weak votes.
    votes
        (patterns, weak columns), index of the class, -1 where the column abstains.
    counts
        (patterns, atoms), rows.
    gold
        (patterns, atoms, classes), those rows whose true label is known; None without a column of
        truth.
    place, atom
        The pattern and the atom of each pattern of the tally.
    """

    classes: tuple[Label, ...]
    weak: tuple[str, ...]
    votes: IntArray
    counts: IntArray
    gold: IntArray | None
    place: IntArray
    atom: IntArray

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.counts.sum())

    @cached_property
    def weight(self) -> FloatArray:
        """Rows of each pattern."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64)

    def counted(self, parts: IntArray) -> IntArray:
        """Count blocks of the tally's patterns, (blocks, patterns of the tally), as (blocks,
        patterns, atoms).
        """
        size = self.counts.size
        cell = self.place * self.counts.shape[1] + self.atom
        rows = [np.bincount(cell, weights=part, minlength=size) for part in parts]
        return np.rint(rows).astype(np.int64).reshape(len(parts), *self.counts.shape)

    @property
    def gold_labels(self) -> IntArray | None:
        """Labelled rows by (pattern, class)."""
        return None if self.gold is None else np.asarray(self.gold.sum(axis=1))

    @property
    def singletons(self) -> float:
        """Share of the rows whose pattern occurs once: where it is large, the plug-in collapses."""
        return float((self.weight == 1).sum() / self.n)

    def class_of(self, label: Label, *, role: str) -> int:
        """Return the index of a class; an unknown one is refused with those there are."""
        for i, known in enumerate(self.classes):
            if identity(known) == identity(label) or str(known) == str(label):
                return i
        raise InputError(
            f"{role} {label!r} is not a class: the classes are {', '.join(map(repr, self.classes))}"
        )

    def only(self, weak: Sequence[str]) -> WeakTable:
        """Return the table with fewer weak columns, patterns that have become equal merged: a
        coarser z.
        """
        places = [self.weak.index(name) for name in weak]
        votes, place = coarser(self.votes, places)
        return replace(
            self,
            weak=tuple(weak),
            votes=votes,
            counts=_added(self.counts, place, len(votes)),
            gold=None if self.gold is None else _added(self.gold, place, len(votes)),
            place=place[self.place],
        )

    def extended(self, votes: IntArray) -> tuple[WeakTable, IntArray]:
        """Add patterns of no rows for those of *votes* that are lacking; return also where each of
        *votes* is.
        """
        place = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(self.votes))}
        found = np.empty(len(votes), dtype=np.int64)
        new: list[IntArray] = []
        for i, row in enumerate(np.ascontiguousarray(votes)):
            found[i] = place.setdefault(row.tobytes(), len(place))
            if found[i] == len(self.votes) + len(new):
                new.append(row)
        if not new:
            return self, found
        more = ((0, len(new)), (0, 0))
        return (
            replace(
                self,
                votes=np.vstack([self.votes, *new]),
                counts=np.pad(self.counts, more),
                gold=None if self.gold is None else np.pad(self.gold, (*more, (0, 0))),
            ),
            found,
        )


def coarser(votes: IntArray, places: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the patterns that are left of *votes* in these columns, and which of them each pattern
    becomes.
    """
    if not len(places):
        return np.zeros((1, 0), dtype=np.int64), np.zeros(len(votes), dtype=np.int64)
    left, place = np.unique(votes[:, list(places)], axis=0, return_inverse=True)
    return left, np.asarray(place, dtype=np.int64).reshape(-1)


def weak_table(
    tally: Tally,
    *,
    weak: Sequence[str],
    prediction: str | Sequence[str] | None = None,
    score: str | None = None,
    truth: str | None = None,
    classes: Sequence[Label] | None = None,
) -> WeakTable:
    """Read a tally as evidence for a bound.

    Parameters
    ----------
    tally
        Counts over the weak columns and the others named here.
    weak
        Columns of weak votes; a missing vote is an abstention.
    prediction
        The column of predictions; several make one atom of all of them, in row-major order of the
        classes.
    score
        A column that was cut into bins; its atoms are the bins.
    truth
        A column of true labels, blank where unknown.
    classes
        The labels that Y can take; by default all labels of all these columns.

    Examples
    --------
    >>> votes = Tally.of({"a": [0, 0, 1, None], "b": [0, 1, 1, 1], "h": [0, 1, 1, 1]})
    >>> table = weak_table(votes, weak=["a", "b"], prediction="h")
    >>> table.classes, table.counts.tolist()
    ((0, 1), [[0, 1], [1, 0], [0, 1], [0, 1]])
    """
    if (tally.counts != np.rint(tally.counts)).any():
        raise InputError(
            "this tally holds weights that are not whole numbers, and a bound counts rows: count"
            " the rows without weights"
        )
    if tally.n == 0:
        raise InputError("the tally is empty: there is nothing to bound")
    if not weak:
        raise InputError("weak must name at least one column of weak votes")
    predictions = [prediction] if isinstance(prediction, str) else list(prediction or ())
    columns = [*weak, *predictions, *([truth] if truth else [])]
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(
            f"column {twice[0]!r} has two roles: name different columns for the weak labels, the"
            " prediction and the truth"
        )
    for name in (*columns, *([score] if score else [])):
        if name not in tally.names:
            raise InputError(f"the tally has no column {name!r}: it has {', '.join(tally.names)}")
    known = in_order(label for name in columns for label in tally.labels[name] if label is not None)
    if classes is None:
        refuse_silence_as_class(tally, weak, [*predictions, *([truth] if truth else [])])
    chosen = tuple(classes) if classes is not None else known
    if len(chosen) < 2:
        raise InputError(
            f"only the class {chosen[0]!r} occurs in {', '.join(columns)}: name all"
            " of them (classes=, --classes)"
            if chosen
            else f"every weak label abstains on every row ({', '.join(weak)}): they say nothing"
        )
    code = {name: _coded(tally, name, chosen) for name in columns}
    votes = np.column_stack([code[name] for name in weak])
    if (votes == ABSTAINED).all():
        raise InputError(
            f"every weak label abstains on every row ({', '.join(weak)}): they say nothing"
        )
    atom, atoms = _atoms(tally, predictions, score, code, len(chosen))
    patterns, place = coarser(votes, range(len(weak)))
    size = len(patterns)
    counts = np.bincount(place * atoms + atom, weights=tally.counts, minlength=size * atoms)
    gold = None
    if truth is not None:
        seen = code[truth] >= 0
        if not seen.any():
            raise InputError(f"the column of truth {truth!r} is blank on every row: leave it out")
        if tally.counts[seen].sum() < _LEAST_LABELS:
            raise InputError(
                f"the column of truth {truth!r} has 1 label, which says nothing: label more rows,"
                " 30 or more to be of use, or leave it out"
            )
        cell = (place[seen] * atoms + atom[seen]) * len(chosen) + code[truth][seen]
        held = np.bincount(cell, weights=tally.counts[seen], minlength=size * atoms * len(chosen))
        gold = np.rint(held).astype(np.int64).reshape(size, atoms, len(chosen))
    return WeakTable(
        classes=chosen,
        weak=tuple(weak),
        votes=patterns,
        counts=np.rint(counts).astype(np.int64).reshape(size, atoms),
        gold=gold,
        place=place,
        atom=atom,
    )


def refuse_silence_as_class(tally: Tally, weak: Sequence[str], others: Sequence[str]) -> None:
    """Refuse -1 as a third class that weak labels alone show: in most files of weak labels it is an
    abstention.

    >>> refuse_silence_as_class(Tally.of({"a": [0, 1, -1], "h": [0, 1, 1]}), ["a"], ["h"])
    Traceback (most recent call last):
    tallystick.errors.InputError: column 'a' votes -1, which no prediction or truth shows: ...
    """
    elsewhere = {str(label) for name in others for label in tally.labels[name]}
    by_column = {
        name: {str(label) for label in tally.labels[name] if label is not None} for name in weak
    }
    besides = set().union(elsewhere, *by_column.values()) - {_SILENT, "None"}
    silent = [name for name, votes in by_column.items() if _SILENT in votes]
    if silent and _SILENT not in elsewhere and len(besides) >= 2:
        raise InputError(
            f"column {silent[0]!r} votes {_SILENT}, which no prediction or truth shows: if it means"
            f" no vote, count it as missing (--missing={_SILENT}); if it is a class, give it"
            " another name"
        )


def _coded(tally: Tally, name: str, classes: Sequence[Label]) -> IntArray:
    """Return the class of each pattern of the tally in one column, -1 where it is missing."""
    place = {identity(label): i for i, label in enumerate(classes)}
    labels = tally.labels[name]
    foreign = [label for label in labels if label is not None and identity(label) not in place]
    if foreign:
        raise InputError(
            f"column {name!r} holds {foreign[0]!r}, which is none of the classes {list(classes)!r}"
        )
    codes = np.array(
        [ABSTAINED if label is None else place[identity(label)] for label in labels], dtype=np.int64
    )
    return codes[tally.codes[:, tally.names.index(name)]]


def _atoms(
    tally: Tally,
    predictions: Sequence[str],
    score: str | None,
    code: dict[str, IntArray],
    classes: int,
) -> tuple[IntArray, int]:
    if score is not None:
        if score not in tally.cut:
            raise InputError(
                f"column {score!r} was not cut into bins: count it with cut={{{score!r}:"
                " thresholds}"
            )
        bins = tally.labels[score]
        if None in bins:
            raise InputError(
                f"column {score!r} is blank or NaN on some rows: give every row a score, or drop"
                " the row"
            )
        place = np.array([int(b) for b in bins if b is not None], dtype=np.int64)
        return place[tally.codes[:, tally.names.index(score)]], len(tally.cut[score]) - 1
    atom = np.zeros(tally.patterns, dtype=np.int64)
    for name in predictions:
        if (code[name] < 0).any():
            rows = int(tally.counts[code[name] < 0].sum())
            raise InputError(
                f"column {name!r} is blank on {rows} rows: predict every row, or drop those"
            )
        atom = atom * classes + code[name]
    return atom, int(classes ** len(predictions))


def _added(table: IntArray, place: IntArray, size: int) -> IntArray:
    out = np.zeros((size, *table.shape[1:]), dtype=table.dtype)
    np.add.at(out, place, table)
    return out
