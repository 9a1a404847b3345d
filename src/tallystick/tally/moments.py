"""Moments: how many, how much, and how much together; the sums that comparisons of scores rest
on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.tally.recipe import Recipe
from tallystick.tally.sums import EXACT, Sums, merge
from tallystick.values.label import Label

__all__ = ["Moments"]


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
        """Add up *data*, of any kind that :meth:`Tally.of <tallystick.tally.Tally.of>` takes.

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
        weighted = n[:, None] * x
        products = weighted.T @ x
        made = cls()
        made._held = Sums(
            names=tuple(names),
            groups=(),
            grouped=False,
            weighted=False,
            exact=bool(n.sum() < EXACT and np.abs(products).max(initial=0.0) < EXACT),
            counts=np.array([n.sum()]),
            sums=weighted.sum(axis=0)[None, :],
            products=products,
            dropped=0,
        )
        made._recipe = Recipe.of(
            columns=tuple(names), cut=None, weight=None, missing=(), coerce=False, apart=()
        )
        return made

    def _add(self, data: Any, recipe: Recipe, by: str | None) -> None:
        from tallystick.tally.engines.scores import add_up

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
        from tallystick.tally.save import save_moments

        save_moments(self._sums, self._recipe or Recipe(), self._by, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Moments:
        """Read saved moments; a damaged, foreign or newer file is refused by name."""
        from tallystick.tally.save import load_moments

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
