"""Moments: how many, how much, and how much together; the sums that comparisons of scores rest
on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, MergeError
from tallystick.table.cells import Label, identity, in_order


class Moments:
    r"""The sums of scores: counts, means and cross-products, merged in any order like a tally.

    Over the rows :math:`i` in which *every* score is present,

    .. math:: n, \qquad S_j = \sum_i x_{ij}, \qquad C_{jk} = \sum_i x_{ij} x_{ik},

    and, with ``by``, also :math:`n_g` and :math:`S_{gj}` for each group :math:`g`. A row that lacks
    a score is not used and is counted in ``dropped``: cross-products over changing sets of rows
    need not be those of any data at all.

    Whole scores (right or wrong, points) are added exactly while every sum of squares is below
    :math:`2^{53}`; then merging is exact too. Otherwise sums of products are kept about the mean
    and merged as such (the parallel axes identity, see ``sums.merge``), which loses nothing to
    large means. ``exact`` says which of the two it is.

    Examples
    --------
    >>> scores = Moments.of({"a": [1, 0, 1, 1], "b": [1, 0, 0, None], "doc": ["x", "x", "y", "y"]}, by="doc")
    >>> scores.n, scores.dropped, scores.groups
    (3, 1, ('x', 'y'))
    >>> scores.sums, scores.group_sums.tolist()
    (array([2., 1.]), [[1.0, 1.0], [1.0, 0.0]])
    >>> scores.products.tolist()
    [[2.0, 1.0], [1.0, 1.0]]
    """

    __hash__ = None  # type: ignore[assignment]  # update() changes it

    def __init__(self) -> None:
        self._recipe: Recipe | None = None
        self._by: str | None = None
        self._held: Sums | None = None

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        by: str | None = None,
        weight: str | None = None,
        missing: Sequence[Any] = (),
    ) -> Moments:
        """Add up *data*, of any kind that :meth:`Tally.of <tallystick.table.Tally.of>` takes.

        Parameters
        ----------
        data
            Columns of numbers or of booleans (right = 1).
        columns
            The scores; every column except *by* and *weight* by default.
        by
            A column of groups, such as the document that a question is about; a missing group is a
            group of its own.
        weight
            A column of weights, finite and not negative.
        missing
            Numbers and tokens that count as missing, besides None, NaN and blank text.
        """
        recipe = Recipe.of(
            columns=columns, cut=None, weight=weight, missing=missing, coerce=False, apart=()
        )
        if by is not None and (by == weight or by in (columns or ())):
            raise InputError(f"by={by!r} cannot be a score or the weight too")
        made = cls()
        made._add(data, recipe, by)
        return made

    @classmethod
    def of_patterns(
        cls, scores: NDArray[np.float64], counts: NDArray[Any], names: Sequence[str]
    ) -> Moments:
        """Return the moments of rows that were counted as patterns.

        Parameters
        ----------
        scores
            Patterns x scores, whole numbers.
        counts
            How often each pattern occurred.
        names
            The scores.

        Examples
        --------
        >>> patterns = np.array([[1.0, 0.0], [1.0, 1.0]])
        >>> Moments.of_patterns(patterns, np.array([3, 1]), ["a", "b"]).products.tolist()
        [[4.0, 1.0], [1.0, 1.0]]
        """
        x, n = np.asarray(scores, dtype=np.float64), np.asarray(counts, dtype=np.float64)
        if x.ndim != 2 or x.shape != (n.size, len(names)) or not (x == np.floor(x)).all():
            raise InputError(
                f"scores must be {n.size} patterns x {len(names)} whole scores, got shape {x.shape}"
            )
        made = cls()
        made._held = sums_of(tuple(names), x, weights=n, weighted=False)
        made._recipe = Recipe.of(
            columns=tuple(names), cut=None, weight=None, missing=(), coerce=False, apart=()
        )
        return made

    def _add(self, data: Any, recipe: Recipe, by: str | None) -> None:
        from tallystick.table.engine_frames import add_up

        fresh = add_up(data, recipe, by)
        self._held = fresh if self._held is None else merge(self._held, fresh)
        self._recipe, self._by = replace(recipe, columns=self._held.names), by

    def update(self, batch: Any) -> None:
        """Add one more batch, in place, read as what is there was read."""
        self._add(batch, self._recipe if self._recipe is not None else Recipe(), self._by)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        if self._held is None or other._held is None:
            return (other if self._held is None else self)._copy()
        total = self._copy()
        total._held = merge(self._held, other._held)
        return total

    def __radd__(self, other: object) -> Moments:
        # sum(…) starts from 0
        return self._copy() if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        if self._held is None or other._held is None:
            return self._held is other._held
        return self._held.same(other._held)

    def _copy(self) -> Moments:
        made = Moments()
        made._recipe, made._by, made._held = self._recipe, self._by, self._held
        return made

    @property
    def _sums(self) -> Sums:
        if self._held is None:
            raise InputError("these moments are empty and have no columns: add something first")
        return self._held

    @property
    def names(self) -> tuple[str, ...]:
        """The scores."""
        return () if self._held is None else self._held.names

    @property
    def n(self) -> int | float:
        """How many rows have all scores; their weight if weighted."""
        return 0 if self._held is None else self._held.n

    @property
    def dropped(self) -> int:
        """How many rows were not used because a score is missing."""
        return 0 if self._held is None else self._held.dropped

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self._held is not None and self._held.weighted

    @property
    def exact(self) -> bool:
        """Whether every sum is a whole number known exactly."""
        return self._held is None or self._held.exact

    @property
    def groups(self) -> tuple[Label, ...]:
        """The groups of ``by``, in canonical order; empty without ``by``."""
        return () if self._held is None else self._held.groups

    @property
    def group_counts(self) -> NDArray[np.float64]:
        """The number (or weight) of rows of each group; one entry for all rows without ``by``."""
        return self._sums.counts.copy()

    @property
    def group_sums(self) -> NDArray[np.float64]:
        """The sum of each score in each group, one row a group."""
        return self._sums.sums.copy()

    @property
    def sums(self) -> NDArray[np.float64]:
        """The sum of each score."""
        return self._sums.total

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean of each score; without any row it is refused."""
        if not self.n:
            raise InputError(
                f"no row has all of the scores {self.names}: there is no mean ({self.dropped}"
                " dropped)"
            )
        return self._sums.total / self.n

    @property
    def products(self) -> NDArray[np.float64]:
        """The cross-products :math:`C_{jk}`, over all groups."""
        return self._sums.raw_products()

    @property
    def centred(self) -> NDArray[np.float64]:
        """The cross-products about the means, over all groups."""
        return self._sums.centred_products()

    def save(self, path: str | Path) -> None:
        """Write the moments to *path* (Arrow IPC with a format version), whole or not at all."""
        from tallystick.table.tally_files import save_moments

        save_moments(self._sums, self._recipe or Recipe(), self._by, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Moments:
        """Read saved moments; a damaged, foreign or newer file is refused by name."""
        from tallystick.table.tally_files import load_moments

        made = cls()
        made._held, made._recipe, made._by = load_moments(Path(path))
        return made

    def __repr__(self) -> str:
        if self._held is None:
            return "<Moments: empty>"
        groups = f" in {len(self.groups):,} groups" if self.groups else ""
        unit = "weight" if self.weighted else "n"
        return (
            f"<Moments of {len(self.names)} scores{groups}: {unit} = {self.n:,}, {self.dropped:,}"
            " dropped>"
        )


# The value inside Moments: sums by group and cross-products, exact where they can be.


EXACT = 2.0**53
"""Whole numbers up to this are floats without rounding, in whatever order they are added."""

_Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Sums:
    """Counts and sums by group; cross-products over all rows, raw where *exact*, about the mean
    otherwise.

    Without groups ``groups`` is empty, and ``counts`` and ``sums`` have one row.
    """

    names: tuple[str, ...]
    groups: tuple[Label, ...]
    grouped: bool
    weighted: bool
    exact: bool
    counts: _Array
    sums: _Array
    products: _Array
    dropped: int

    @property
    def n(self) -> int | float:
        """Rows, or their weight."""
        n = float(self.counts.sum())
        return n if self.weighted else int(n)

    @property
    def total(self) -> _Array:
        """The sum of each score over all groups."""
        out: _Array = self.sums.sum(axis=0)
        return out

    def centred_products(self) -> _Array:
        """Return the cross-products about the means.

        From exact sums: ``(n C - S S') / n`` in whole numbers of any size, rounded once.
        """
        if not self.exact:
            return self.products.copy()
        if not self.n:
            return np.zeros_like(self.products)
        n, total = int(self.n), np.array([int(value) for value in self.total], object)
        whole = np.array([int(value) for value in self.products.ravel()], object).reshape(
            self.products.shape
        )
        return ((n * whole - np.outer(total, total)) / n).astype(np.float64)

    def raw_products(self) -> _Array:
        """Return the cross-products about zero."""
        if self.exact or not self.n:
            return self.products.copy()
        return self.products + np.outer(self.total, self.total) / self.n

    def reordered(self, names: tuple[str, ...]) -> Sums:
        """Return the same sums with the scores in another order."""
        order = [self.names.index(name) for name in names]
        return replace(
            self,
            names=names,
            sums=self.sums[:, order],
            products=self.products[np.ix_(order, order)],
        )

    def same(self, other: Sums) -> bool:
        """Say whether everything agrees, to the last bit."""
        if set(self.names) != set(other.names):
            return False
        other = other.reordered(self.names)
        keys = [[identity(group) for group in side.groups] for side in (self, other)]
        return (
            keys[0] == keys[1]
            and (self.grouped, self.weighted, self.exact, self.dropped)
            == (other.grouped, other.weighted, other.exact, other.dropped)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.sums, other.sums)
            and np.array_equal(self.products, other.products)
        )


def sums_of(
    names: tuple[str, ...],
    scores: _Array,
    *,
    groups: Sequence[Label] | None = None,
    codes: NDArray[np.int64] | None = None,
    weights: _Array | None = None,
    weighted: bool = True,
) -> Sums:
    """Add up a matrix of scores (one row a row, NaN where missing); *codes* says which of *groups*
    a row belongs to. Weights that are not *weighted* say how many rows each stands for.
    """
    complete = ~np.isnan(scores).any(axis=1)
    rows = np.ones(len(scores)) if weights is None or weighted else weights
    dropped = int(rows.sum() - rows[complete].sum())
    x = scores if complete.all() else scores[complete]
    w = None if weights is None else weights[complete]
    where = np.zeros(len(x), np.int64) if codes is None else codes[complete]
    size = 1 if groups is None else len(groups)
    counts = np.bincount(where, w, minlength=size).astype(np.float64)
    weighed = x if w is None else x * w[:, None]
    if groups is None:
        sums = weighed.sum(axis=0, keepdims=True)
    else:
        sums = np.stack(
            [np.bincount(where, weighed[:, j], minlength=size) for j in range(x.shape[1])], axis=1
        )
    squares = (weighed * x).sum(axis=0)
    whole = w is None or not weighted
    exact = whole and bool((x == np.floor(x)).all()) and bool((squares < EXACT).all())
    if exact:
        products = weighed.T @ x
    else:
        n = counts.sum()
        centred = x - (weighed.sum(axis=0) / n if n else 0.0)
        products = centred.T @ (centred if w is None else centred * w[:, None])
    held = Sums(
        names=names,
        groups=() if groups is None else tuple(groups),
        grouped=groups is not None,
        weighted=weights is not None and weighted,
        exact=exact,
        counts=counts,
        sums=sums,
        products=products,
        dropped=dropped,
    )
    return held if groups is None else regrouped(held, in_order(groups))


def merge(a: Sums, b: Sums) -> Sums:
    r"""Return the sums over the rows of both.

    About the common mean, with :math:`d = \bar x_b - \bar x_a`,

    .. math:: M = M_a + M_b + \frac{n_a n_b}{n_a + n_b}\, d d^\top .
    """
    if set(a.names) != set(b.names):
        raise MergeError(
            f"cannot merge moments of {a.names} with those of {b.names}: the scores must be the"
            " same"
        )
    for what, x, y in (("by", a.grouped, b.grouped), ("weight", a.weighted, b.weighted)):
        if x != y:
            raise MergeError(f"cannot merge moments with {what}= and without: add both up alike")
    b = b.reordered(a.names)
    groups = in_order((*a.groups, *b.groups))
    # By identity: Python would find the groups True and 1 equal.
    if a.grouped and not _keys(a) == _keys(b) == [*map(identity, groups)]:
        a, b = regrouped(a, groups), regrouped(b, groups)
    products = a.products + b.products
    exact = a.exact and b.exact and bool((np.diag(products) < EXACT).all())
    if not exact:
        products = a.centred_products() + b.centred_products()
        if a.n and b.n:
            d = b.total / b.n - a.total / a.n
            products += np.outer(d, d) * (a.n * b.n / (a.n + b.n))
    return replace(
        a,
        exact=exact,
        counts=a.counts + b.counts,
        sums=a.sums + b.sums,
        products=products,
        dropped=a.dropped + b.dropped,
    )


def regrouped(held: Sums, groups: tuple[Label, ...]) -> Sums:
    """Return the sums by group in a longer or differently ordered list of groups."""
    place = {identity(group): i for i, group in enumerate(groups)}
    rows = np.array([place[identity(group)] for group in held.groups], np.int64)
    counts, sums = np.zeros(len(groups)), np.zeros((len(groups), len(held.names)))
    np.add.at(counts, rows, held.counts)
    np.add.at(sums, rows, held.sums)
    return replace(held, groups=groups, counts=counts, sums=sums)


def _keys(held: Sums) -> list[tuple[int, Label]]:
    return [identity(group) for group in held.groups]


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
        columns: Sequence[str] | None,
        cut: Mapping[str, Sequence[float]] | None,
        weight: str | None,
        missing: Sequence[Any],
        coerce: bool,
        apart: Sequence[str],
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
            if not columns:
                raise InputError("columns must name at least one column, got none")
            twice = sorted({name for name in columns if columns.count(name) > 1})
            if twice:
                raise InputError(f"columns names {', '.join(map(repr, twice))} more than once")
            if weight in columns:
                raise InputError(f"{weight!r} cannot be a column and the weight")
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
                near = get_close_matches(str(name), [str(n) for n in available], n=1)
                hint = (
                    f": did you mean {near[0]!r}?"
                    if near
                    else f"; there are {', '.join(map(repr, available))}"
                )
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
