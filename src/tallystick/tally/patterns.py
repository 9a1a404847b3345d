"""The value inside a tally: named columns, their labels, and the count of every pattern that
occurred.

Immutable, and a commutative monoid under :func:`merge` once the columns agree. All that a tally is
asked for is a pure function of this value; :class:`~tallystick.tally.Tally` adds the engines that
make one and the streams that extend it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, MergeError
from tallystick.tally.recipe import Recipe
from tallystick.tally.store import Codes, Counts, Store, checked_total, store
from tallystick.values.label import Label, identity, in_order
from tallystick.values.missing import is_missing
from tallystick.values.spelling import check_vocabulary

__all__ = ["Patterns", "merge", "settle"]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Names, labels in canonical order by name, and the store of counts."""

    labels: Mapping[str, tuple[Label, ...]]
    store: Store

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.labels)

    @cached_property
    def n(self) -> int | float:
        """The total."""
        return checked_total(self.store.counts)

    def marginal(self, names: Sequence[str]) -> Patterns:
        """Return the counts over fewer columns, or over the same ones in another order."""
        places = [self.names.index(name) for name in names]
        return _patterns(
            {name: self.labels[name] for name in names},
            self.store.codes[:, places],
            self.store.counts,
        )

    def where(self, name: str, label: Label) -> Patterns:
        """Return the patterns that show *label* in column *name*; every label set stays as it
        is.
        """
        column = self.names.index(name)
        code = _place(self.labels[name], label, column=name)
        codes = self.store.codes
        rows = codes[:, column] == code
        return _patterns(self.labels, codes[rows], self.store.counts[rows])

    def find(
        self, names: Sequence[str], labels: Sequence[Sequence[Label]], codes: Codes
    ) -> NDArray[np.int64]:
        """Return the place of patterns that are written in other *labels*, -1 for one that never
        occurred.
        """
        order = [list(names).index(name) for name in self.labels]
        places = [
            _places(labels[k], self.labels[name])
            for k, name in zip(order, self.labels, strict=True)
        ]
        return self.store.find(_translate(codes[:, order], places))

    def same(self, other: Patterns) -> bool:
        """Say whether columns (in any order), labels and counts agree."""
        if set(self.labels) != set(other.labels):
            return False
        if self.names != other.names:
            other = other.marginal(self.names)
        return (
            all(_keys(self.labels[name]) == _keys(other.labels[name]) for name in self.labels)
            and np.array_equal(self.store.counts, other.store.counts)
            and np.array_equal(self.store.codes, other.store.codes)
        )


def settle(
    names: Sequence[str],
    labels: Sequence[Sequence[Label]],
    codes: Codes,
    counts: Counts,
    recipe: Recipe,
) -> Patterns:
    """Bring what an engine counted into canonical form: missing tokens, one vocabulary, one order,
    no repeats.
    """
    cleaned = {
        name: [None if is_missing(label, recipe.missing) else label for label in column]
        for name, column in zip(names, labels, strict=True)
    }
    spelt = one_vocabulary(cleaned, recipe)
    ordered = {name: in_order(column) for name, column in spelt.items()}
    places = [_places(spelt[name], ordered[name]) for name in names]
    return _patterns(ordered, _translate(codes, places), counts)


def merge(a: Patterns, b: Patterns, recipe: Recipe) -> Patterns:
    """Return the sum: columns by name, label sets by union."""
    if set(a.labels) != set(b.labels):
        raise MergeError(
            f"cannot merge a tally of {a.names} with one of {b.names}: the columns must be the same"
        )
    if a.names != b.names:
        b = b.marginal(a.names)
    if not all(_keys(a.labels[name]) == _keys(b.labels[name]) for name in a.labels):
        a, b = _on_common_labels(a, b, recipe)
    a_codes, a_counts, b_codes, b_counts = (
        a.store.codes,
        a.store.counts,
        b.store.codes,
        b.store.counts,
    )
    return _patterns(
        a.labels, np.concatenate([a_codes, b_codes]), np.concatenate([a_counts, b_counts])
    )


def one_vocabulary(
    labels: Mapping[str, Sequence[Label]], recipe: Recipe, *, counted: bool = False
) -> Mapping[str, Sequence[Label]]:
    """Refuse (or, if asked to coerce, rename) one value in two spellings, over all columns that are
    not apart. What was *counted* already has another way out.
    """
    shared = {name: column for name, column in labels.items() if name not in recipe.apart}
    renamed = check_vocabulary(shared, coerce=recipe.coerce, counted=counted)
    if not recipe.coerce:
        return labels
    return {
        name: [renamed[name].get(label, label) for label in column] if name in renamed else column
        for name, column in labels.items()
    }


def _on_common_labels(a: Patterns, b: Patterns, recipe: Recipe) -> tuple[Patterns, Patterns]:
    """Write both sides in the union of their labels, after the check that it is one vocabulary."""
    both = {name: (*a.labels[name], *b.labels[name]) for name in a.labels}
    spelt = one_vocabulary(both, recipe, counted=True)
    union = {name: in_order(column) for name, column in spelt.items()}
    places = {name: _places(column, union[name]) for name, column in spelt.items()}
    left = [places[name][: len(a.labels[name])] for name in a.labels]
    right = [places[name][len(a.labels[name]) :] for name in a.labels]
    return _recoded(union, a.store, left), _recoded(union, b.store, right)


def _recoded(
    labels: Mapping[str, tuple[Label, ...]], held: Store, places: Sequence[NDArray[np.int32]]
) -> Patterns:
    return _patterns(labels, _translate(held.codes, places), held.counts)


def _translate(codes: Codes, places: Sequence[NDArray[np.int32]]) -> Codes:
    """Replace every code by its new place, column by column."""
    out = np.empty(codes.shape, np.int32)
    for j, place in enumerate(places):
        out[:, j] = place[codes[:, j]]
    return out


def _patterns(labels: Mapping[str, tuple[Label, ...]], codes: Codes, counts: Counts) -> Patterns:
    return Patterns(labels, store(codes, counts, [len(column) for column in labels.values()]))


def _places(labels: Sequence[Label], among: Sequence[Label]) -> NDArray[np.int32]:
    """Return where each label stands *among* others, -1 where it does not."""
    place = {identity(label): i for i, label in enumerate(among)}
    return np.array([place.get(identity(label), -1) for label in labels], np.int32)


def _keys(labels: Sequence[Label]) -> list[tuple[int, Label]]:
    return [identity(label) for label in labels]


def _place(labels: Sequence[Label], label: Label, *, column: str) -> int:
    """Return the code of *label*; one that the column does not have is refused with those that it
    has.
    """
    place = int(_places([label], labels)[0])
    if place < 0:
        shown = ", ".join(map(repr, labels[:12])) + (", …" if len(labels) > 12 else "")
        raise InputError(f"column {column!r} has no label {label!r}: it has {shown}")
    return place
