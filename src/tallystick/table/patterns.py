"""The value inside a tally: named columns, their labels, and the count of every pattern that
occurred; and the recipe by which rows became patterns.

Immutable, and a commutative monoid under :func:`merge` once the columns agree. All that a tally is
asked for is a pure function of this value; :class:`~tallystick.table.Tally` adds the engines that
make one and the streams that extend it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, MergeError, meant
from tallystick.table.cells import Label, check_vocabulary, identity, in_order, is_missing

# How a tally was made: the options of one call, kept so that later batches are counted in the same
# way.


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The options of :meth:`Tally.of <tallystick.table.Tally.of>`, checked once.

    Parameters
    ----------
    columns
        The columns to count, None for all of them.
    cut
        Edges by column: a number is replaced by the index of its bin.
    weight
        The column of weights, None where each row counts one.
    missing
        Tokens that count as missing, as they are spelt.
    coerce
        Whether spellings of one value (``"1"``, 1, True) are made one label instead of being
        refused.
    apart
        Columns with a vocabulary of their own; cut columns always have one.
    item
        The column of item ids, of which a sketch is kept beside the counts; None for no sketch.
    """

    columns: tuple[str, ...] | None = None
    cut: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    weight: str | None = None
    missing: frozenset[str] = frozenset()
    coerce: bool = False
    apart: frozenset[str] = frozenset()
    item: str | None = None

    @classmethod
    def of(
        cls,
        *,
        columns: Sequence[str] | None = None,
        cut: Mapping[str, Sequence[float]] | None = None,
        weight: str | None = None,
        missing: Sequence[Any] = (),
        coerce: bool = False,
        apart: Sequence[str] = (),
    ) -> Recipe:
        """Check the options as a caller gives them."""
        for option, value in (("columns", columns), ("missing", missing), ("apart", apart)):
            if isinstance(value, str):
                raise InputError(
                    f"{option} must be a sequence, got the str {value!r}: write"
                    f" {option}=[{value!r}]"
                )
        if columns is not None:
            columns = tuple(columns)
            if not columns or len({*columns, weight}) <= len(columns):
                raise InputError(
                    "columns must name different columns, and not the weight, got"
                    f" {list(columns)!r}"
                )
        edges = {name: _edges(name, values) for name, values in (cut or {}).items()}
        return cls(
            columns=columns,
            cut=edges,
            weight=weight,
            missing=frozenset(str(token).strip() for token in missing),
            coerce=coerce,
            apart=frozenset(apart) | frozenset(edges),
        )

    def select(self, available: Sequence[str]) -> tuple[str, ...]:
        """Return the columns to count among those *available*; an absent one is refused with its
        nearest name.
        """
        wanted = (
            self.columns
            if self.columns is not None
            else tuple(n for n in available if n != self.weight)
        )
        needed = [*wanted, *self.cut, *([self.weight] if self.weight is not None else [])]
        here = set(available)
        for name in needed:
            if name not in here:
                there = f"; there are {', '.join(map(repr, available))}"
                hint = meant(str(name), map(str, available), otherwise=there)
                raise InputError(f"there is no column {name!r}{hint}")
        for name in self.cut:
            if name not in wanted:
                raise InputError(f"cut names column {name!r}, which columns= leaves out")
        if not wanted:
            raise InputError("there is no column to count")
        return wanted

    def merged(self, other: Recipe) -> Recipe:
        """Return the recipe of a sum; recipes that give one value two meanings are refused."""
        if self == other:
            return self
        for option, a, b in (
            ("weight", self.weight is not None, other.weight is not None),
            ("cut", dict(self.cut), dict(other.cut)),
            ("missing", sorted(self.missing), sorted(other.missing)),
        ):
            if a != b:
                raise MergeError(
                    f"cannot merge tallies counted with {option}={a!r} and {option}={b!r}: count"
                    " both alike"
                )
        return Recipe(
            columns=self.columns if self.columns == other.columns else None,
            cut=self.cut,
            weight=self.weight,
            missing=self.missing,
            coerce=self.coerce or other.coerce,
            apart=self.apart | other.apart,
            item=self.item if self.item == other.item else None,
        )


def _edges(column: str, values: Sequence[float]) -> tuple[float, ...]:
    edges = tuple(float(value) for value in values)
    rising = all(a < b for a, b in pairwise(edges))
    if len(edges) < 2 or not rising or any(map(math.isnan, edges)):
        raise InputError(f"cut[{column!r}] must be at least two rising edges, got {list(values)!r}")
    return edges


# Where the counts of a tally lie: the patterns that occurred, packed and sorted.
#
# A *pattern* is a row of label codes, one a column. A key packs the codes of a pattern, so keys
# sort as patterns do, and a pattern is found by halving.


Codes: TypeAlias = NDArray[np.int32]
"""One row a pattern, one column a column: the index of the label."""
Counts: TypeAlias = NDArray[Any]
"""How often: int64, or float64 in a weighted tally."""

_LARGEST = np.iinfo(np.int64).max


def group(keys: NDArray[Any], counts: Counts) -> tuple[NDArray[Any], Counts]:
    """Return the distinct *keys* in order, with the sum of the *counts* of each; sums of zero are
    left out.
    """
    distinct, inverse = np.unique(keys, return_inverse=True)
    total = np.zeros(len(distinct), counts.dtype)
    np.add.at(total, inverse, counts)
    positive = total > 0
    return distinct[positive], total[positive]


def checked_total(counts: Counts) -> int | float:
    """Return the sum of *counts*; integers that leave 64 bits are refused, never wrapped.

    >>> checked_total(np.array([2**62, 2**62]))
    Traceback (most recent call last):
    tallystick.errors.InputError: the counts add up to 9223372036854775808, more than a 64-bit integer holds: ...
    """
    if counts.dtype.kind == "f":
        with np.errstate(over="ignore"):
            weight = float(counts.sum())
        if not math.isfinite(weight):
            raise InputError("the weights add up to more than a number holds: divide them all")
        return weight
    # the float sum is off by far less than a factor of 2
    if counts.sum(dtype=np.float64) < 2.0**62:
        return int(counts.sum())
    total: int = sum(counts.tolist())
    if total > _LARGEST:
        raise InputError(
            f"the counts add up to {total}, more than a 64-bit integer holds: keep the tallies"
            " apart"
        )
    return total


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Forbid writing: what a tally hands out is what it holds."""
    array.flags.writeable = False
    return array


def _bits(size: int) -> int:
    """Return how many bits the code of a column takes."""
    return max(1, (size - 1).bit_length())


def _fields(sizes: Sequence[int]) -> tuple[list[tuple[int, int]], int]:
    """Place each column in a word: (word, shift) by column, and how many words that takes.

    The first column takes the highest bits of the first word, so that words sort as patterns do.
    """
    places, word, left = [], 0, 64
    for size in sizes:
        bits = _bits(size)
        if bits > left:
            word, left = word + 1, 64
        left -= bits
        places.append((word, left))
    return places, word + 1


def pack(codes: Codes, sizes: Sequence[int]) -> NDArray[Any]:
    """Return one sortable key a pattern: a 64-bit word, or several as big-endian bytes (which NumPy
    sorts).
    """
    places, n_words = _fields(sizes)
    words = np.zeros((len(codes), n_words), np.uint64)
    for j, (word, shift) in enumerate(places):
        words[:, word] |= codes[:, j].astype(np.uint64) << np.uint64(shift)
    if n_words == 1:
        return words[:, 0]
    return np.ascontiguousarray(words.astype(">u8")).view(f"S{8 * n_words}")[:, 0]


def unpack(keys: NDArray[Any], sizes: Sequence[int]) -> Codes:
    """Return the patterns that :func:`pack` made these keys of."""
    places, n_words = _fields(sizes)
    words = (
        keys.astype(np.uint64)[:, None]
        if n_words == 1
        else keys[:, None].view(">u8").astype(np.uint64)
    )
    codes = np.empty((len(keys), len(sizes)), np.int32)
    for j, ((word, shift), size) in enumerate(zip(places, sizes, strict=True)):
        mask = np.uint64((1 << _bits(size)) - 1)
        codes[:, j] = (words[:, word] >> np.uint64(shift)) & mask
    return codes


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns that occurred, in order, with their counts.

    Parameters
    ----------
    labels
        The labels of each column in canonical order, by its name.
    keys
        The packed patterns, rising; each takes as many 64-bit words as its labels need.
    counts
        How often each occurred.
    """

    labels: Mapping[str, tuple[Label, ...]]
    keys: NDArray[Any]
    counts: Counts

    @classmethod
    def of(cls, labels: Mapping[str, tuple[Label, ...]], codes: Codes, counts: Counts) -> Patterns:
        """Bring rows in order, of which some may repeat; one that counts 0 is forgotten.

        >>> held = Patterns.of({"a": (0, 1)}, np.array([[1], [0], [1]], np.int32), np.array([2, 1, 3]))
        >>> held.codes.tolist(), held.counts.tolist()
        ([[0], [1]], [1, 5])
        """
        checked_total(counts)
        keys, counts = group(pack(codes, [len(column) for column in labels.values()]), counts)
        return cls(labels, keys, _frozen(counts))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.labels)

    @property
    def sizes(self) -> list[int]:
        """How many labels each column has."""
        return [len(column) for column in self.labels.values()]

    @cached_property
    def codes(self) -> Codes:
        """The occurring patterns."""
        return _frozen(unpack(self.keys, self.sizes))

    @cached_property
    def n(self) -> int | float:
        """The total."""
        return checked_total(self.counts)

    def marginal(self, names: Sequence[str]) -> Patterns:
        """Return the counts over fewer columns, or over the same ones in another order."""
        places = [self.names.index(name) for name in names]
        labels = {name: self.labels[name] for name in names}
        return Patterns.of(labels, self.codes[:, places], self.counts)

    def where(self, name: str, label: Label) -> Patterns:
        """Return the patterns that show *label* in column *name*; every label set stays as it
        is.
        """
        column = self.names.index(name)
        rows = self.codes[:, column] == _place(self.labels[name], label, column=name)
        return Patterns(self.labels, self.keys[rows], _frozen(self.counts[rows]))

    def find(
        self, names: Sequence[str], labels: Sequence[Sequence[Label]], codes: Codes
    ) -> NDArray[np.int64]:
        """Return the place of patterns that are written in other *labels*, -1 for one that never
        occurred.
        """
        if not len(self.keys):
            return np.full(len(codes), -1, np.int64)
        order = [list(names).index(name) for name in self.labels]
        places = [
            _places(labels[k], self.labels[name])
            for k, name in zip(order, self.labels, strict=True)
        ]
        own = _translate(codes[:, order], places)
        known = np.asarray((own >= 0).all(axis=1))
        wanted = pack(np.where(known[:, None], own, 0), self.sizes)
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(known & (self.keys[found] == wanted), found, -1)

    def same(self, other: Patterns) -> bool:
        """Say whether columns (in any order), labels and counts agree."""
        if set(self.labels) != set(other.labels):
            return False
        if self.names != other.names:
            other = other.marginal(self.names)
        return (
            all(_keys(self.labels[name]) == _keys(other.labels[name]) for name in self.labels)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.keys, other.keys)
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
    return Patterns.of(ordered, _translate(codes, places), counts)


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
    codes, counts = np.concatenate([a.codes, b.codes]), np.concatenate([a.counts, b.counts])
    return Patterns.of(a.labels, codes, counts)


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
    return (
        Patterns.of(union, _translate(a.codes, left), a.counts),
        Patterns.of(union, _translate(b.codes, right), b.counts),
    )


def _translate(codes: Codes, places: Sequence[NDArray[np.int32]]) -> Codes:
    """Replace every code by its new place, column by column."""
    out = np.empty(codes.shape, np.int32)
    for j, place in enumerate(places):
        out[:, j] = place[codes[:, j]]
    return out


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
