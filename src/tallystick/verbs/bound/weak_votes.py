"""From a tally to the arrays of a bound: which weak votes, which prediction, which labels, how
often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.papers.frechet_bounds import Summary, coarser, summary
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import adverse_share
from tallystick.stats.latent_checks import majority_of_others
from tallystick.stats.latent_model import as_votes
from tallystick.table import Data, Label, Tally
from tallystick.table.cells import identity, in_order
from tallystick.verbs.bound.forward import FloatArray, IntArray

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


# A table of the weak labels: how often each votes, overlaps, conflicts, and is right.


@dataclass(frozen=True, kw_only=True)
class WeakLabel:
    """One weak label (labelling function).

    Parameters
    ----------
    name
        The column.
    polarity
        The classes that it votes for.
    coverage
        Share of the rows on which it votes.
    overlap, conflict
        Share of the rows on which it and another weak label vote, and vote differently.
    estimated_accuracy
        Share of its votes that the majority of the other weak labels confirms. Weak labels that
        err together confirm one another.
    checked_accuracy, checked_interval
        Share of its votes that are right, from labelled rows alone.
    labels
        Labelled rows on which it votes.
    """

    name: str
    polarity: tuple[str, ...]
    coverage: float
    overlap: float
    conflict: float
    estimated_accuracy: float | Unknown
    checked_accuracy: float | Unknown
    checked_interval: Interval | Unknown
    labels: int


def weak_summary(table: WeakTable, *, alpha: float = 0.05) -> tuple[WeakLabel, ...]:
    """Describe every weak label of a table.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> from tallystick.verbs.bound.weak_votes import weak_table
    >>> rows = {"a": [0, 1, None, 1], "b": [0, 0, 1, None], "c": [0, 0, 1, 1], "h": [0, 1, 1, 1]}
    >>> first = weak_summary(weak_table(Tally.of(rows), weak=["a", "b", "c"], prediction="h"))[0]
    >>> first.coverage, first.overlap, first.conflict, first.polarity
    (0.75, 0.75, 0.25, ('0', '1'))
    """
    votes, weight, size = table.votes, table.weight, len(table.classes)
    cast = votes >= 0
    confirmed = majority_of_others(as_votes(votes, weight, n_classes=size), size).accuracy
    by_class = np.stack([(votes == c).sum(axis=1) for c in range(size)], axis=1)
    gold = table.gold_labels
    found = []
    for j, name in enumerate(table.weak):
        mine = cast[:, j]
        others = cast.sum(axis=1) - mine
        same = by_class[np.arange(len(votes)), np.maximum(votes[:, j], 0)] - 1
        checked, interval, labels = _checked(table, j, gold, alpha)
        estimated = float(confirmed[j])
        found.append(
            WeakLabel(
                name=name,
                polarity=tuple(
                    str(label)
                    for c, label in enumerate(table.classes)
                    if weight[votes[:, j] == c].sum() > 0
                ),
                coverage=float(weight @ mine / table.n),
                overlap=float(weight @ (mine & (others > 0)) / table.n),
                conflict=float(weight @ (mine & (others > same)) / table.n),
                estimated_accuracy=(
                    Unknown("no other weak label votes on its rows")
                    if np.isnan(estimated)
                    else estimated
                ),
                checked_accuracy=checked,
                checked_interval=interval,
                labels=labels,
            )
        )
    return tuple(found)


def _checked(
    table: WeakTable, j: int, gold: np.ndarray | None, alpha: float
) -> tuple[float | Unknown, Interval | Unknown, int]:
    """Return how often weak label j is right on labelled rows, with its interval."""
    mine = np.flatnonzero(table.votes[:, j] >= 0)
    labelled = 0 if gold is None else int(gold[mine].sum())
    if gold is None or labelled == 0:
        reason = Unknown("no labels" if gold is None else "no labelled row has a vote of it")
        return reason, reason, 0
    right = int(gold[mine, table.votes[mine, j]].sum())
    rows = int(table.weight[mine].sum())
    found = adverse_share([rows], [labelled], [right], alpha=alpha)
    return found.estimate, found.interval, labelled


# Which pattern of votes each row of the data shows: for questions that counts cannot answer.


def row_patterns(data: Data, table: WeakTable) -> IntArray:
    """Return the pattern of *table* that each row shows, in the order of the rows."""
    votes = class_codes(data, table.weak, table.classes)
    place = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(table.votes))}
    distinct, at = np.unique(votes, axis=0, return_inverse=True)
    found = np.array([place[row.tobytes()] for row in np.ascontiguousarray(distinct)])
    return np.asarray(found[at.reshape(-1)], dtype=np.int64)


def class_codes(data: Data, columns: tuple[str, ...], classes: tuple[Label, ...]) -> IntArray:
    """Return labels as indices of *classes*, row by row, -1 for no answer."""
    coded = data.labels(*columns)
    index = {identity(label): c for c, label in enumerate(classes)}
    words = {str(label): c for c, label in enumerate(classes)}
    places = [index.get(identity(x), words.get(str(x), ABSTAINED)) for x in coded.labels]
    return np.asarray(np.array([*places, ABSTAINED], dtype=np.int64)[coded.codes])


# What is asked of a bound.


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundTarget:
    """Which metrics, how surely, and which claim is to be proved.

    Parameters
    ----------
    metrics
        accuracy, precision, recall, f1, macro-precision, macro-recall, macro-f1, micro-f1 or risk.
    positive
        The class that precision, recall and F1 are of; two classes may do without, the last one is
        meant.
    cost
        For risk: cost[h, y] of predicting class h where y is true, classes in their canonical
        order.
    delta
        By how much total variation, on average over the rows, P(Y | Z) may be wrong.
    at_least
        The claim that the leading metric, which is then not risk, is at least this much.
    alpha
        One minus the confidence of each bound.
    """

    metrics: tuple[str, ...] = ("accuracy",)
    positive: Label = None
    cost: npt.ArrayLike | None = None
    delta: float = 0.0
    at_least: float | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not self.metrics:
            raise InputError("metrics must name at least one metric")
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha!r}")
        if not 0 <= self.delta <= 1:
            raise InputError(f"delta must be in [0, 1], got {self.delta!r}")
        if self.at_least is not None and self.metrics[0] == "risk":
            raise InputError(
                f"at_least ({self.at_least:g}) is a claim about a metric for which more is"
                " better, not about risk: name another metric first, or leave the claim out and"
                " read the bounds of the risk"
            )
        if ("risk" in self.metrics) != (self.cost is not None):
            raise InputError(
                "risk needs a cost matrix, and a cost matrix is for risk: give both, or neither"
            )

    def summaries(self, table: WeakTable) -> list[Summary]:
        """Return the metrics other than risk, checked against the classes."""
        positive: int | None = None
        if self.positive is not None:
            positive = table.class_of(self.positive, role="positive")
        elif len(table.classes) == 2:
            positive = 1
        return [summary(name, positive) for name in self.metrics if name != "risk"]

    def cost_matrix(self, classes: int) -> npt.NDArray[np.float64]:
        """Return the cost matrix, checked."""
        held = np.asarray(self.cost, dtype=np.float64)
        if held.shape != (classes, classes) or not np.isfinite(held).all():
            raise InputError(
                f"cost must be a finite matrix {classes} x {classes} (prediction, truth), got"
                f" {held.shape}"
            )
        return held
