"""The value inside a tally: labels and the count of every pattern, and how rows became patterns.

Immutable, and a commutative monoid under `Patterns.merged` once the columns agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, MergeError, meant
from tallystick.table.cells import Label, check_vocabulary, identity, in_order, is_missing

# How a tally was made: kept so that later batches are counted in the same way.


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
                raise not_a_list(option, value)
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
        """Return the columns to count among those *available*; refuse an absent one."""
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
        left = next((name for name in self.cut if name not in wanted), None)
        if left is not None or not wanted:
            named = "" if left is None else f": columns= leaves out {left!r}, which cut names"
            raise InputError(f"there is no column to count{named}")
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
        return replace(
            self,
            columns=self.columns if self.columns == other.columns else None,
            coerce=self.coerce or other.coerce,
            apart=self.apart | other.apart,
            item=self.item if self.item == other.item else None,
        )


def not_a_list(option: str, value: str) -> InputError:
    """Return the error for one text where several are wanted."""
    return InputError(
        f"{option} must be a sequence, got the str {value!r}: write {option}=[{value!r}]"
    )


def _edges(column: str, values: Sequence[float]) -> tuple[float, ...]:
    edges = tuple(float(value) for value in values)
    rising = all(a < b for a, b in pairwise(edges))
    if len(edges) < 2 or not rising or any(map(math.isnan, edges)):
        raise InputError(f"cut[{column!r}] must be at least two rising edges, got {list(values)!r}")
    return edges


# Where the counts of a tally lie: the patterns that occurred, in order.
#
# A *pattern* is a row of label codes, one for each column. A key packs the codes of a pattern, so
# keys sort as patterns do, and a pattern is found by halving.


Codes: TypeAlias = NDArray[np.int32]
"""One row per pattern, one column per column: the index of the label."""
Counts: TypeAlias = NDArray[Any]
"""How often: int64, or float64 in a weighted tally."""

_LARGEST = np.iinfo(np.int64).max


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
    total = int(counts.sum())
    if counts.sum(dtype=np.float64) >= 2.0**62 and (total := sum(counts.tolist())) > _LARGEST:
        raise InputError(
            f"the counts add up to {total}, more than a 64-bit integer holds: keep the tallies"
            " apart"
        )
    return total


def pack(codes: Codes, sizes: Sequence[int]) -> NDArray[Any]:
    """Return one sortable key per pattern: a 64-bit word, or several as big-endian bytes (which
    NumPy sorts). The first column takes the highest bits of the first word.
    """
    words, left = [np.zeros(len(codes), np.uint64)], 64
    for j, size in enumerate(sizes):
        bits = max(1, (size - 1).bit_length())
        if bits > left:
            words.append(np.zeros(len(codes), np.uint64))
            left = 64
        left -= bits
        words[-1] |= codes[:, j].astype(np.uint64) << np.uint64(left)
    if len(words) == 1:
        return words[0]
    return np.stack(words, axis=1).astype(">u8").view(f"S{8 * len(words)}")[:, 0]


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns and their counts: as an engine brings them, where some may repeat, or in order.

    Parameters
    ----------
    labels
        The labels of each column, by its name.
    codes
        The patterns, as places in the labels.
    counts
        How often each occurred.
    """

    labels: Mapping[str, Sequence[Label]]
    codes: Codes
    counts: Counts

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.labels)

    @cached_property
    def keys(self) -> NDArray[Any]:
        """The packed patterns."""
        return pack(self.codes, [len(column) for column in self.labels.values()])

    def in_order(self) -> Patterns:
        """Return each pattern once, in rising order; one that counts 0 is forgotten.

        >>> held = Patterns({"a": (0, 1)}, np.array([[1], [0], [1]], np.int32), np.array([2, 1, 3]))
        >>> held.in_order().codes.tolist(), held.in_order().counts.tolist()
        ([[0], [1]], [1, 5])
        """
        checked_total(self.counts)
        distinct, place = np.unique(self.keys, return_inverse=True)
        total, row = np.zeros(len(distinct), self.counts.dtype), np.zeros(len(distinct), np.int64)
        np.add.at(total, place, self.counts)
        row[place] = np.arange(len(place))  # any row that shows the pattern
        held = total > 0
        codes, counts = self.codes[row[held]], total[held]
        codes.flags.writeable = counts.flags.writeable = False  # a tally hands out what it holds
        return Patterns(self.labels, codes, counts)

    def marginal(self, names: Sequence[str]) -> Patterns:
        """Return the counts over fewer columns, or over the same ones in another order."""
        places = [self.names.index(name) for name in names]
        labels = {name: self.labels[name] for name in names}
        return Patterns(labels, self.codes[:, places], self.counts).in_order()

    def where(self, name: str, label: Label) -> Patterns:
        """Return the patterns that show *label* in column *name*; label sets stay."""
        labels = self.labels[name]
        [place] = _places([label], labels).tolist()
        if place < 0:
            shown = ", ".join(map(repr, labels[:12])) + (", …" if len(labels) > 12 else "")
            raise InputError(f"column {name!r} has no label {label!r}: it has {shown}")
        rows = self.codes[:, self.names.index(name)] == place
        return Patterns(self.labels, self.codes[rows], self.counts[rows])

    def find(self, labels: Sequence[Sequence[Label]], codes: Codes) -> NDArray[np.int64]:
        """Return the place of patterns written in other *labels*, -1 if it never occurred."""
        if not len(self.keys):
            return np.full(len(codes), -1, np.int64)
        sizes = [len(column) for column in self.labels.values()]
        own = _translate(
            codes, [_places(*two) for two in zip(labels, self.labels.values(), strict=True)]
        )
        known = np.asarray((own >= 0).all(axis=1))
        wanted = pack(np.where(known[:, None], own, 0), sizes)
        found = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(known & (self.keys[found] == wanted), found, -1)

    def same(self, other: Patterns) -> bool:
        """Say whether columns (in any order), labels and counts agree."""
        if set(self.labels) != set(other.labels):
            return False
        other = other if self.names == other.names else other.marginal(self.names)
        return (
            self.same_labels(other)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.codes, other.codes)
        )

    def same_labels(self, other: Patterns) -> bool:
        """Say whether the label sets agree: 1 and True are two labels."""
        both = (
            [*map(identity, x)]
            for name in self.names
            for x in (self.labels[name], other.labels[name])
        )
        return all(mine == its for mine, its in zip(both, both, strict=True))

    def settled(self, recipe: Recipe) -> Patterns:
        """Bring what an engine counted into canonical form."""
        cleaned = {
            name: [None if is_missing(label, recipe.missing) else label for label in column]
            for name, column in self.labels.items()
        }
        return self._respelt(cleaned, recipe)

    def merged(self, other: Patterns, recipe: Recipe) -> Patterns:
        """Return the sum: columns by name, label sets by union."""
        if set(self.labels) != set(other.labels):
            raise MergeError(
                f"cannot merge a tally of {self.names} with one of {other.names}: the columns must"
                " be the same"
            )
        other = other if self.names == other.names else other.marginal(self.names)
        labels, codes = self.labels, other.codes
        same = self.same_labels(other)
        if not same:
            # The labels of the other follow the own; the check that it is one vocabulary sees both.
            labels = {name: (*own, *other.labels[name]) for name, own in self.labels.items()}
            codes = codes + np.array([len(own) for own in self.labels.values()], np.int32)
        both = Patterns(
            labels,
            np.concatenate([self.codes, codes]),
            np.concatenate([self.counts, other.counts]),
        )
        return both.in_order() if same else both._respelt(labels, recipe, counted=True)

    def _respelt(
        self, labels: Mapping[str, Sequence[Label]], recipe: Recipe, *, counted: bool = False
    ) -> Patterns:
        """Refuse or rename one value in two spellings, and bring labels into order."""
        shared = {name: column for name, column in labels.items() if name not in recipe.apart}
        renamed = check_vocabulary(shared, coerce=recipe.coerce, counted=counted)
        if recipe.coerce:
            labels = {
                name: [renamed.get(name, {}).get(label, label) for label in column]
                for name, column in labels.items()
            }
        ordered = {name: in_order(column) for name, column in labels.items()}
        places = [_places(column, ordered[name]) for name, column in labels.items()]
        return Patterns(ordered, _translate(self.codes, places), self.counts).in_order()


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
