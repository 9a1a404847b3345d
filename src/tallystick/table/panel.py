"""Decisions as arrays: every cell is coded once, and each distinct row stands once with its count.

It is made from counts, so a file, a frame of another engine, a saved tally and a stream give the
same panel; where rows are at hand it also says which entry each of them shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.table.cells import Label, identity, in_order
from tallystick.table.patterns import pack
from tallystick.table.tally import Tally
from tallystick.table.weights import numbers_in
from tallystick.table.words import number_of

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_MANY_LABELS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Entries:
    """What panels of votes and of grades share: entries that stand for counted items."""

    truth: NDArray[Any]
    counts: Floats
    weight: Floats | None = None
    rows: NDArray[np.integer] | None = None

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which entries have a true label: -1 and NaN are none."""
        return np.asarray(self.truth >= 0)

    @property
    def n_labels(self) -> int:
        """How many items have a true label."""
        return round(float(self.counts[self.known].sum()))

    def part(self, chosen: NDArray[Any]) -> Self:
        """Return the chosen entries: a mask, or places that may repeat."""
        held = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "rows"}
        cut = {name: of[chosen] for name, of in held.items() if isinstance(of, np.ndarray)}
        return replace(self, rows=None, **cut)


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel(Entries):
    """Votes as counted entries: ``codes[i, j]`` is the label that voter j gave in entry i, -1 for
    none.

    Parameters
    ----------
    names
        The voters: judges, models, weak labels, a prediction.
    labels
        What the codes stand for: first the classes in order, then votes that can never be true.
    n_classes
        How many of *labels* can be true.
    codes, truth, counts
        Entries x voters; the true label of each entry, -1 where it is not known; items per entry.
    votes, place
        The tally of the voters alone, and the row of it that each entry shows.
    rows
        The entry of each row of the table; None where only counts are at hand.
    weight
        The sampling weight of the items of each entry, with mean 1 over all items; None if all
        weigh alike. Counts stay numbers of items, whatever they weigh.

    Examples
    --------
    >>> votes = Tally.of({"a": [0, 1, 1], "b": [0, 1, None], "gold": [0, None, 1]})
    >>> panel = Panel.of(votes, truth="gold")
    >>> panel.names, panel.classes, panel.truth.tolist()
    (('a', 'b'), (0, 1), [0, -1, 1])
    """

    names: tuple[str, ...]
    labels: tuple[Label, ...]
    n_classes: int
    codes: Ints
    truth: Ints
    votes: Tally
    place: Ints

    @classmethod
    def of(
        cls,
        votes: Tally | Panel,
        *,
        voters: Sequence[str] | None = None,
        truth: str | None = None,
        labels: Sequence[Label] = (),
        never_true: Sequence[Label] = (),
        weight: str | None = None,
    ) -> Panel:
        """Read counts; a panel is returned as it is.

        Parameters
        ----------
        votes
            The tally, or a panel that was read before: then nothing else may be given.
        voters, truth
            Which columns vote (all but the truth by default); which one holds true labels, if any.
        labels
            Labels that are possible although nobody voted for them.
        never_true
            Votes that can never be the truth.
        weight
            The column of sampling weights, if any.
        """
        if isinstance(votes, Panel):
            return votes
        names = _voters(votes, voters, truth, weight)
        said = (*names, *([truth] if truth is not None else []))
        asked = votes.marginal((*said, *([weight] if weight is not None else [])))
        kept = asked.counts > 0
        _refuse_silence(asked, names, kept)
        words, n_classes = _vocabulary([asked.labels[name] for name in said], labels, never_true)
        _refuse_scores(words[:n_classes], int(asked.n))

        table = _coded(asked, words, said)[kept]
        codes = table[:, : len(names)]
        if truth is None and weight is None:
            known, alone, place = np.full(len(table), -1), asked, np.flatnonzero(kept)
        else:
            known = np.full(len(table), -1) if truth is None else table[:, -1]
            alone = asked.marginal(names)
            _refuse_strangers(truth, words, known, codes)
            place = _places(codes, alone, words)
        return cls(
            names=names,
            labels=words,
            n_classes=n_classes,
            codes=codes,
            truth=known,
            counts=asked.counts[kept].astype(np.float64),
            votes=alone,
            place=place,
            weight=None if weight is None else _weights(asked, weight, kept),
        )

    @property
    def n(self) -> float:
        """Number of items."""
        return float(self.counts.sum())

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels that can be true."""
        return self.labels[: self.n_classes]

    @property
    def extras(self) -> tuple[Label, ...]:
        """Votes that can never be true."""
        return self.labels[self.n_classes :]

    @property
    def keys(self) -> tuple[str, ...]:
        """The classes as JSON keys."""
        return tuple(str(label) for label in self.classes)

    @property
    def complete(self) -> bool:
        """Whether every voter votes on every item."""
        return bool((self.codes >= 0).all())

    @cached_property
    def blind(self) -> Panel:
        """The same votes without any truth, equal entries merged.

        What votes alone say is shares, so entries count here by what they weigh; the sum stays the
        number of items.
        """
        if not self.known.any() and self.weight is None:
            return self
        counts = np.zeros(self.votes.patterns)
        heavy = self.counts if self.weight is None else self.counts * self.weight
        np.add.at(counts, self.place, heavy)
        first = np.full(self.votes.patterns, -1)
        first[self.place[::-1]] = np.arange(len(self.place))[::-1]
        seen = first >= 0
        return replace(
            self,
            codes=self.codes[first[seen]],
            truth=np.full(int(seen.sum()), -1),
            counts=counts[seen],
            place=np.flatnonzero(seen),
            weight=None,
            rows=None if self.rows is None else (np.cumsum(seen) - 1)[self.place[self.rows]],
        )

    @cached_property
    def answered(self) -> Panel:
        """The same votes with those that are never true left out."""
        if not self.extras:
            return self
        codes = np.where(self.codes < self.n_classes, self.codes, -1)
        return replace(self, codes=codes, labels=self.classes)

    @cached_property
    def voted(self) -> Floats:
        """How many items each voter voted on."""
        entry, voter = np.nonzero(self.codes >= 0)
        return np.bincount(voter, self.counts[entry], len(self.names)).astype(np.float64)

    @cached_property
    def answered_share(self) -> Floats:
        """Share of each voter's votes that are possible labels; 1 for all where every vote is."""
        return np.asarray(self.answered.voted / np.maximum(self.voted, 1e-300), dtype=np.float64)

    @cached_property
    def vote_counts(self) -> Floats:
        """Voters x classes: how often each voter gave each label."""
        entry, voter = np.nonzero(self.answered.codes >= 0)
        cell = voter * self.n_classes + self.answered.codes[entry, voter]
        counted = np.bincount(cell, self.counts[entry], len(self.names) * self.n_classes)
        return counted.reshape(-1, self.n_classes).astype(np.float64)

    def weighed(self, rows: NDArray[np.integer], weights: Floats) -> Panel:
        """Return the panel with the weight of each row of the table, given the entry of each.

        >>> panel = Panel.of(Tally.of({"a": [0, 1, 1]})).weighed(np.array([0, 1, 1]), np.ones(3))
        >>> panel.counts.tolist(), panel.weight
        ([1.0, 2.0], None)
        """
        kinds, kind = np.unique(weights, return_inverse=True)
        keys, place, counts = np.unique(
            rows * len(kinds) + kind, return_inverse=True, return_counts=True
        )
        entry, found = keys // len(kinds), kinds[keys % len(kinds)]
        return replace(
            self,
            codes=self.codes[entry],
            truth=self.truth[entry],
            counts=counts.astype(np.float64),
            place=self.place[entry],
            rows=place,
            weight=_mean_one(found, counts),
        )

    def only(self, names: Sequence[str]) -> Panel:
        """Return the panel of these voters; entries stay apart.

        >>> panel = Panel.of(Tally.of({"a": [0, 1, 1], "b": [0, 1, 0]}))
        >>> panel.only(["b"]).codes[:, 0].tolist()
        [0, 0, 1]
        """
        columns = [self.names.index(name) for name in names]
        alone = self.votes.marginal(names)
        return replace(
            self,
            names=tuple(names),
            codes=self.codes[:, columns],
            votes=alone,
            place=_places(self.codes[:, columns], alone, self.labels),
        )

    def require_binary(self, method: str) -> None:
        """Refuse more than two labels by name."""
        if self.n_classes > 2:
            raise InputError(
                f"{method} is for two labels, got {list(self.classes)}: use dawid_skene, majority"
                " or logical, or merge labels"
            )

    def require_items(self, method: str) -> None:
        """Refuse weights where items are counted."""
        if self.weight is not None or (self.counts != np.floor(self.counts)).any():
            raise InputError(
                f"{method} counts items, and these votes are weighted: count them without weights"
            )


def _voters(
    votes: Tally, voters: Sequence[str] | None, truth: str | None, weight: str | None
) -> tuple[str, ...]:
    """Return the columns that vote; refuse none, and a truth that votes."""
    every = votes.names if voters is None else voters
    names = tuple(name for name in every if voters is not None or name not in (truth, weight))
    if not votes.n or not names or truth in names:
        raise InputError(
            f"judges: {', '.join(map(repr, names)) or 'none'} on {votes.n:,} items, with the truth"
            f" {truth!r}: name at least one judge besides the truth, and count at least one item"
        )
    return names


def _refuse_silence(asked: Tally, names: Sequence[str], kept: NDArray[np.bool_]) -> None:
    """Refuse voters that cast no vote on any item."""

    def speaks(name: str) -> bool:
        blank = [code for code, one in enumerate(asked.labels[name]) if one is None]
        return not np.isin(asked.codes[kept, asked.names.index(name)], blank).all()

    silent = [name for name in names if not speaks(name)]
    if len(silent) == len(names):
        raise InputError(
            f"no judge has a vote: every cell of {', '.join(map(repr, names[:6]))} is blank or"
            " says no answer; name other columns (judges=, --judges)"
        )
    if silent:
        few = "judge" if len(silent) == 1 else "judges"
        left = ",".join(name for name in names if name not in silent)
        raise InputError(
            f"{few} {', '.join(map(repr, silent))} {'has' if few == 'judge' else 'have'} no vote"
            f" at all: drop the column, or name the others (--judges {left})"
        )


def _vocabulary(
    columns: Sequence[Sequence[Label]], labels: Sequence[Label], never_true: Sequence[Label]
) -> tuple[tuple[Label, ...], int]:
    """Return every label, those that can be true first, and how many these are."""
    never = {identity(label) for label in never_true}
    every = in_order(
        label for column in (*columns, tuple(labels)) for label in column if label is not None
    )
    classes = _by_value(tuple(label for label in every if identity(label) not in never))
    extras = tuple(label for label in every if identity(label) in never)
    if len(classes) >= 2:
        return (*classes, *extras), len(classes)
    if extras:
        raise InputError(
            f"labels: of {', '.join(map(repr, every[:8]))} only"
            f" {', '.join(map(repr, classes)) or 'none'} can be true: name every label that"
            " can be (labels=, --labels)"
        )
    raise NotIdentifiable(
        f"every vote is {classes[0]!r}, so all that can be said is that the judges never"
        " disagree: name the other labels (labels=, --labels), or give some truth"
    )


def _by_value(classes: tuple[Label, ...]) -> tuple[Label, ...]:
    """Return classes that are all numbers by their value: as text, 10 comes before 2."""
    try:
        return tuple(sorted(classes, key=lambda label: float(str(label))))
    except ValueError:
        return classes


def _refuse_scores(classes: tuple[Label, ...], items: int) -> None:
    """Refuse what looks like scores or free text: more labels than judges could agree on."""
    if len(classes) <= _MANY_LABELS:
        return
    numbers = [number_of(label) for label in classes]
    fractions = any(one is not None and not one.is_integer() for one in numbers)
    if fractions or len(classes) > items / 2:
        raise InputError(
            f"votes: {len(classes):,} different labels on {items:,} items, such as {classes[0]!r}"
            f" and {classes[1]!r}, look like scores or free text, not labels: cut them into classes"
            " first, or compare scores (compare)"
        )


def _refuse_strangers(
    truth: str | None, words: tuple[Label, ...], known: Ints, codes: Ints
) -> None:
    """Refuse true labels that no judge ever gives: they are written differently."""
    true, given = (np.unique(column[column >= 0]).tolist() for column in (known, codes))
    if len(true) > 1 and len(given) > 1 and not set(true) & set(given):
        here, there = (", ".join(repr(words[c]) for c in found[:4]) for found in (true, given))
        raise InputError(
            f"truth {truth!r} says {here}, and the judges only ever say {there}: no label is"
            " shared, so nobody could be right; write both alike"
        )


def _weights(asked: Tally, weight: str, kept: NDArray[np.bool_]) -> Floats | None:
    """Return the weight of each entry, with mean 1 over all items; None if all are alike."""
    numbers = numbers_in(asked, weight)
    found = np.array([numbers[label] for label in asked.column(weight)])[kept]
    counts = asked.counts[kept]
    return _mean_one(found, counts)


def _mean_one(weights: Floats, counts: NDArray[np.integer | np.floating]) -> Floats | None:
    """Return weights with mean 1 over all items; None if all are alike."""
    if np.ptp(weights) == 0:
        return None
    return np.asarray(weights * (counts.sum() / (counts @ weights)), dtype=np.float64)


def _coded(tally: Tally, words: Sequence[Label], names: Sequence[str]) -> Ints:
    """Return patterns x columns as codes into *words*, -1 for no vote."""
    code = {identity(label): i for i, label in enumerate(words)}
    return np.column_stack(
        [
            np.array(
                [-1 if label is None else code[identity(label)] for label in tally.labels[name]]
            )[tally.codes[:, j]]
            for j, name in enumerate(names)
        ]
    )


def _places(codes: Ints, alone: Tally, words: tuple[Label, ...]) -> Ints:
    """Return the row of the tally of voters that shows each entry."""
    # One sortable key per entry: looking labels up one by one takes a second per million votes.
    sizes = [len(words) + 1] * len(alone.names)
    own = _coded(alone, words, alone.names)
    keys, wanted = (pack((part + 1).astype(np.int32), sizes) for part in (own, codes))
    order = np.argsort(keys)
    return np.asarray(order[np.searchsorted(keys[order], wanted)], dtype=np.int64)
