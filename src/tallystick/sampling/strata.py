"""Finite strata: which item belongs where, and which strata may learn from one another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError

__all__ = ["IntArray", "Strata", "codes", "merge_small"]

IntArray = NDArray[np.intp]


def codes(values: ArrayLike, name: str) -> IntArray:
    """Return *values* as a flat array of non-negative codes, or say what is wrong with the argument
    *name*.
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be a flat array of integer codes, got shape {array.shape} of"
            f" {array.dtype}"
        )
    if array.size and array.min() < 0:
        raise InputError(
            f"{name} must not be negative, got {array.min()} at position {int(array.argmin())}"
        )
    return array.astype(np.intp)


@dataclass(frozen=True, eq=False)
class Strata:
    """A partition of items 0 … M - 1 into strata 0 … S - 1, none of them empty.

    Parameters
    ----------
    of
        The stratum of every item.
    family
        For every stratum, the group of strata whose rates resemble its own; None puts all into one.

    Examples
    --------
    >>> strata = Strata([0, 0, 1, 0])
    >>> strata.sizes, strata.shares
    (array([3, 1]), array([0.75, 0.25]))
    """

    of: IntArray
    family: IntArray | None = None

    def __post_init__(self) -> None:
        of = codes(self.of, "of")
        if not of.size:
            raise InputError("strata need at least one item")
        sizes = np.bincount(of)
        if not sizes.all():
            raise InputError(
                f"stratum {int(sizes.argmin())} has no item: number the strata 0 … S - 1 without"
                " gaps"
            )
        family = (
            np.zeros(len(sizes), np.intp) if self.family is None else codes(self.family, "family")
        )
        if len(family) != len(sizes):
            raise InputError(
                f"family must name one family per stratum, got {len(family)} for {len(sizes)}"
                " strata"
            )
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "family", family)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def n_items(self) -> int:
        """How many items there are, M."""
        return len(self.of)

    @cached_property
    def sizes(self) -> IntArray:
        """How many items each stratum has, N_k."""
        return np.bincount(self.of)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The part of all items in each stratum, p_k."""
        return self.sizes / self.n_items

    @cached_property
    def families(self) -> IntArray:
        """The family of each stratum (never None)."""
        return np.zeros(len(self), np.intp) if self.family is None else self.family

    def regroup(self, into: ArrayLike) -> Strata:
        """Return the strata with stratum k renamed ``into[k]``; a merged one takes the family of
        its largest part.
        """
        target = np.unique(codes(into, "into"), return_inverse=True)[1]
        if len(target) != len(self):
            raise InputError(
                f"into must name a target for each of the {len(self)} strata, got {len(target)}"
            )
        family = np.zeros(target.max() + 1, np.intp)
        by_size = np.argsort(self.sizes, kind="stable")  # the largest part writes last
        family[target[by_size]] = self.families[by_size]
        return Strata(target[self.of], family)


def merge_small(strata: Strata, *, least: int) -> Strata:
    """Return strata of at least *least* items each: the smallest joins the next smallest until none
    is too small.

    It joins inside its family where the family has another stratum, else the smallest of all.

    Examples
    --------
    >>> merge_small(Strata([0] * 30 + [1] * 4 + [2] * 3), least=5).sizes
    array([30,  7])
    """
    if least < 1:
        raise InputError(f"least must be at least 1, got {least!r}")
    while len(strata) > 1 and strata.sizes.min() < least:
        smallest = int(strata.sizes.argmin())
        other = np.arange(len(strata)) != smallest
        kin = np.flatnonzero(other & (strata.families == strata.families[smallest]))
        hosts = kin if kin.size else np.flatnonzero(other)
        into = np.arange(len(strata))
        into[smallest] = hosts[strata.sizes[hosts].argmin()]
        strata = strata.regroup(into)
    return strata
