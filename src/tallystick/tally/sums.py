"""The value inside Moments: sums by group and cross-products, exact where they can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import MergeError
from tallystick.values.label import Label, identity, in_order

__all__ = ["EXACT", "Sums", "merge", "regrouped", "sums_of"]

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
) -> Sums:
    """Add up a matrix of scores (one row a row, NaN where missing); *codes* says which of *groups*
    a row belongs to.
    """
    complete = ~np.isnan(scores).any(axis=1)
    dropped = int(len(scores) - complete.sum())
    x = scores if not dropped else scores[complete]
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
    squares = (x**2).sum(axis=0)
    exact = w is None and bool((x == np.floor(x)).all()) and bool((squares < EXACT).all())
    if exact:
        products = x.T @ x
    else:
        n = counts.sum()
        centred = x - (weighed.sum(axis=0) / n if n else 0.0)
        products = centred.T @ (centred if w is None else centred * w[:, None])
    held = Sums(
        names=names,
        groups=() if groups is None else tuple(groups),
        grouped=groups is not None,
        weighted=weights is not None,
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
