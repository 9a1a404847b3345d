"""The votes behind a bound: patterns of weak labels by prediction, a small view of the panel.

Nothing computed from it depends on the order of columns or on the names of classes: weak labels
stand in the order of their names, classes in the order of how often they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.few_labels import FewLabels
from tallystick.stats.latent_headline import majority_of_others
from tallystick.stats.latent_model import as_votes
from tallystick.table import Data, Label, Tally
from tallystick.table.cells import identity
from tallystick.table.panel import Panel
from tallystick.verbs.bound.forward import FloatArray, IntArray

ABSTAINED = -1
_LEAST_LABELS = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakVotes:
    """Weak votes, predictions and true labels of the same rows.

    Parameters
    ----------
    panel
        Its voters are the weak labels that vote, then the predictions.
    asked, weak, predictions
        All weak labels as they were named; those that vote at all; the classifiers.
    order
        The classes of the panel, those given most often first.
    votes, place
        Patterns x weak labels, codes in this order, -1 for an abstention; the pattern of each
        entry of the panel.
    """

    panel: Panel
    asked: tuple[str, ...]
    weak: tuple[str, ...]
    predictions: tuple[str, ...]
    order: IntArray
    votes: IntArray
    place: IntArray

    @classmethod
    def of(
        cls,
        tally: Tally,
        *,
        weak: Sequence[str],
        predictions: Sequence[str],
        truth: str | None = None,
        classes: Sequence[Label] = (),
    ) -> WeakVotes:
        """Read counts.

        Parameters
        ----------
        tally
            Counts over the columns named here.
        weak, predictions, truth
            Weak labels, which may abstain; predictions, which may not; true labels, if any.
        classes
            The labels that can be true; by default all that occur.

        Examples
        --------
        >>> rows = Tally.of({"a": [0, 0, 1, None], "b": [0, 1, 1, 1], "h": [0, 1, 1, 1]})
        >>> votes = WeakVotes.of(rows, weak=["a", "b"], predictions=["h"])
        >>> votes.classes, votes.counts(0).tolist()
        ((1, 0), [[1, 0], [1, 0], [1, 0], [0, 1]])
        """
        _refuse_odd_columns(tally, [*weak, *predictions, *([truth] if truth else [])])
        speaking = sorted(name for name in weak if _speaks(tally, name))
        if not speaking:
            raise InputError(
                f"every weak label abstains on every row ({', '.join(weak)}): they say nothing"
            )
        columns = (*speaking, *predictions)
        panel = Panel.of(tally, voters=columns, truth=truth, labels=classes)
        strange = [x for x in panel.classes if classes and x not in classes]
        if strange:
            holder = next(n for n in (*columns, truth or "") if strange[0] in tally.labels[n])
            raise no_class(holder, strange[0], classes or ())
        _refuse_blanks(panel, predictions, truth)
        given = panel.vote_counts.sum(axis=0)
        order = np.lexsort((np.arange(len(given)), -given))
        rank = np.append(np.argsort(order), ABSTAINED)
        patterns, place = np.unique(
            rank[panel.codes[:, : len(speaking)]], axis=0, return_inverse=True
        )
        return cls(
            panel=panel,
            asked=tuple(weak),
            weak=tuple(speaking),
            predictions=tuple(predictions),
            order=order,
            votes=patterns.astype(np.int64),
            place=np.asarray(place, dtype=np.int64).reshape(-1),
        )

    @property
    def n(self) -> int:
        """Rows."""
        return round(self.panel.n)

    @property
    def labels(self) -> int:
        """Rows whose true label is known."""
        return self.panel.n_labels

    @cached_property
    def classes(self) -> tuple[Label, ...]:
        """The classes, those given most often first."""
        return tuple(self.panel.classes[c] for c in self.order.tolist())

    @cached_property
    def rank(self) -> IntArray:
        """From a class of the panel to its place here; -1 stays -1."""
        return np.append(np.argsort(self.order), ABSTAINED)

    @cached_property
    def weight(self) -> FloatArray:
        """Rows of each pattern."""
        held = np.bincount(self.place, weights=self.panel.counts, minlength=len(self.votes))
        return np.asarray(held, dtype=np.float64)

    @cached_property
    def truth(self) -> IntArray:
        """The true class of each entry, -1 where it is not known."""
        return np.asarray(self.rank[self.panel.truth])

    def predicted(self, k: int) -> IntArray:
        """Return what classifier *k* says of each entry."""
        return np.asarray(self.rank[self.panel.codes[:, len(self.weak) + k]])

    def counts(self, k: int) -> IntArray:
        """Return rows by (pattern, prediction of classifier *k*)."""
        return self.counted(self.place, self.predicted(k))

    def gold(self) -> IntArray:
        """Return labelled rows by (pattern, class)."""
        return self.counted(self.place, self.truth)

    def counted(self, *codes: IntArray) -> IntArray:
        """Return rows by these codes of the entries, the first of which may be patterns; entries
        with a code of -1 are left out.
        """
        size = len(self.classes)
        first = len(self.votes) if codes[0] is self.place else size
        out = np.zeros((first, *[size] * (len(codes) - 1)), dtype=np.int64)
        here = np.min(codes, axis=0) >= 0
        rows = np.rint(self.panel.counts[here]).astype(np.int64)
        np.add.at(out, tuple(code[here] for code in codes), rows)
        return out

    def class_of(self, label: Label, *, role: str) -> int:
        """Return the place of a class; an unknown one is refused with those there are."""
        for i, known in enumerate(self.classes):
            if identity(known) == identity(label) or str(known) == str(label):
                return i
        raise no_class(role, label, self.panel.classes)

    def rows(self, data: Data) -> IntArray:
        """Return the pattern that each row of *data* shows."""
        codes = class_codes(data, self.weak, self.classes)
        place = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(self.votes))}
        distinct, at = np.unique(codes, axis=0, return_inverse=True)
        found = np.array([place[row.tobytes()] for row in np.ascontiguousarray(distinct)])
        return np.asarray(found[at.reshape(-1)], dtype=np.int64)


def no_class(where: str, label: Label, classes: Sequence[Label]) -> InputError:
    """Refuse a label that is no class: name the option or the column that has it."""
    return InputError(f"{where}: {label!r} is none of the classes {', '.join(map(repr, classes))}")


def class_codes(data: Data, columns: Sequence[str], classes: Sequence[Label]) -> IntArray:
    """Return labels as places in *classes*, row by row, -1 for no answer."""
    coded = data.labels(*columns)
    index = {identity(label): c for c, label in enumerate(classes)}
    words = {str(label): c for c, label in enumerate(classes)}
    places = [index.get(identity(x), words.get(str(x), ABSTAINED)) for x in coded.labels]
    return np.asarray(np.array([*places, ABSTAINED], dtype=np.int64)[coded.codes])


def at_thresholds(
    tally: Tally, score: str, classes: Sequence[Label]
) -> tuple[Tally, dict[str, float]]:
    """Turn a score that was cut into bins into one column of predictions per threshold.

    *classes* are the negative and the positive one. The names of the columns come with their
    thresholds.
    """
    edges = [float(edge) for edge in tally.cut.get(score, ())][1:-1]
    if not edges:
        raise InputError(
            f"column {score!r} was not cut into bins: count it with cut={{{score!r}: thresholds}}"
        )
    blank = np.array([b is None for b in tally.column(score)])
    _refuse_blank(score, float(tally.counts[blank].sum()))
    bins = [int(b) for b in tally.column(score) if b is not None]
    named = {f"{score} >= {edge:g}": edge for edge in edges}
    columns: dict[str, list[Label]] = {
        name: list(tally.column(name)) for name in tally.names if name != score
    }
    for t, name in enumerate(named):
        columns[name] = [classes[int(b > t)] for b in bins]
    return Tally.from_patterns(columns, np.asarray(tally.counts).tolist()), named


def _speaks(tally: Tally, name: str) -> bool:
    seen = np.unique(tally.codes[tally.counts > 0, tally.names.index(name)]).tolist()
    return any(tally.labels[name][code] is not None for code in seen)


def _refuse_odd_columns(tally: Tally, columns: list[str]) -> None:
    """Refuse counts and columns that make no table of weak votes."""
    if (tally.counts != np.rint(tally.counts)).any():
        raise InputError(
            "this tally holds weights that are not whole numbers, and a bound counts rows: count"
            " the rows without weights"
        )
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise InputError(
            f"column {twice[0]!r} has two roles: name different columns for the weak labels, the"
            " prediction and the truth"
        )


def _refuse_blank(column: str, rows: float) -> None:
    if rows:
        raise InputError(f"column {column!r} is blank on {rows:.0f} rows: fill them, or drop them")


def _refuse_blanks(panel: Panel, predictions: Sequence[str], truth: str | None) -> None:
    """Refuse predictions that are blank somewhere, and a truth that says next to nothing."""
    for name in predictions:
        _refuse_blank(name, panel.counts[panel.codes[:, panel.names.index(name)] < 0].sum())
    if truth is None:
        return
    if panel.n_labels < _LEAST_LABELS:
        raise InputError(
            f"the column of truth {truth!r} has {panel.n_labels} labels, which say nothing: label"
            " more rows, 30 or more to be of use, or leave it out"
        )


# A table of the weak labels: how often each votes, overlaps, conflicts, agrees, and is right.


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
    agreement
        Share of its votes that the majority of the other weak labels confirms. It is no accuracy:
        weak labels that err together confirm one another. A rule that votes for one class only has
        none.
    checked_accuracy, checked_interval
        Share of its votes that are right, from labels: the accuracy that ``judge`` gives the same
        column, and for a rule of one class its precision.
    labels
        Labelled rows on which it votes.
    """

    name: str
    polarity: tuple[str, ...]
    coverage: float
    overlap: float
    conflict: float
    agreement: float | Unknown
    checked_accuracy: float | Unknown
    checked_interval: Interval | Unknown
    labels: int


def weak_summary(
    votes: WeakVotes, found: FewLabels | None, *, alpha: float = 0.05
) -> tuple[WeakLabel, ...]:
    """Describe every weak label; *found* has the accuracies of those that vote, first.

    Examples
    --------
    >>> rows = {"a": [0, 1, None, 1], "b": [0, 0, 1, None], "c": [0, 0, 1, 1], "h": [0, 1, 1, 1]}
    >>> votes = WeakVotes.of(Tally.of(rows), weak=["a", "b", "c"], predictions=["h"])
    >>> first = weak_summary(votes, None)[0]
    >>> first.coverage, first.overlap, first.conflict, first.polarity
    (0.75, 0.75, 0.25, ('0', '1'))
    """
    codes, weight, size = votes.votes, votes.weight, len(votes.classes)
    cast = codes >= 0
    confirmed = majority_of_others(as_votes(codes, weight, n_classes=size), size).accuracy
    by_class = np.stack([(codes == c).sum(axis=1) for c in range(size)], axis=1)
    out = []
    for name in votes.asked:
        here = name in votes.weak
        j = votes.weak.index(name) if here else 0
        mine = cast[:, j] & here
        others = cast.sum(axis=1) - mine
        same = by_class[np.arange(len(codes)), np.maximum(codes[:, j], 0)] - 1
        given = [str(x) for c, x in enumerate(votes.classes) if (mine & (codes[:, j] == c)).any()]
        checked, interval, labels = _checked(found if here else None, j, alpha)
        out.append(
            WeakLabel(
                name=name,
                polarity=tuple(str(x) for x in votes.panel.classes if str(x) in given),
                coverage=float(weight @ mine / votes.n),
                overlap=float(weight @ (mine & (others > 0)) / votes.n),
                conflict=float(weight @ (mine & (others > same)) / votes.n),
                agreement=_agreement(float(confirmed[j]), len(given)),
                checked_accuracy=checked,
                checked_interval=interval,
                labels=labels,
            )
        )
    return tuple(out)


def _checked(
    found: FewLabels | None, j: int, alpha: float
) -> tuple[float | Unknown, Interval | Unknown, int]:
    """Return how often weak label j is right by labels, with its interval."""
    labels = 0 if found is None else round(float(found.labels[j]))
    if found is None or not labels:
        reason = Unknown("no labels" if found is None else "no labelled row has a vote of it")
        return reason, reason, 0
    means = found.means(alpha=alpha)
    return float(means.estimate[j]), means.interval[j], labels


def _agreement(confirmed: float, classes: int) -> float | Unknown:
    if classes < 2:
        return Unknown("it votes for one class at most: agreement would count that class")
    if np.isnan(confirmed):
        return Unknown("no other weak label votes on its rows")
    return confirmed
