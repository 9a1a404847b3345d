"""Moments: how many, how much, and how much together; the sums that comparisons of scores rest
on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import FormatError, InputError, MergeError
from tallystick.table.cells import Label, identity, in_order, is_missing
from tallystick.table.counting import as_cells, check_lengths, numbers_of
from tallystick.table.engines import fetched, held, names_of
from tallystick.table.patterns import Recipe
from tallystick.table.sources import damaged

Floats: TypeAlias = NDArray[np.float64]

EXACT = 2.0**53
"""Whole numbers up to this are floats without rounding, in whatever order they are added."""

_BATCH = 1 << 16
_MOST_GROUPS = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Moments:
    r"""The sums of scores: counts, means and cross-products, merged in any order like a tally.

    Over the rows :math:`i` in which *every* score is present,

    .. math:: n, \qquad S_j = \sum_i x_{ij}, \qquad C_{jk} = \sum_i x_{ij} x_{ik},

    and, with ``by``, also :math:`n_g` and :math:`S_{gj}` for each group :math:`g`. A row that lacks
    a score is not used and is counted in ``dropped``: cross-products over changing sets of rows
    need not be those of any data at all. ``Moments()`` is the empty sum.

    Whole scores are added exactly while every sum of squares is below :math:`2^{53}`. Otherwise
    products are kept about the mean (see `Moments.__add__`).

    Parameters
    ----------
    names
        The scores.
    groups
        The groups of ``by`` in canonical order.
    exact
        Whether every sum is a whole number known exactly.
    group_counts, group_sums
        The rows of each group, and the sum of each score in it; one group without ``by``.
    crossed
        The cross-products over all rows, about zero if *exact*, else about the means.
    dropped
        Rows that were not used because a score is missing.
    weighted
        Whether rows had weights, as in files of earlier versions.

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

    __hash__ = None  # type: ignore[assignment]  # equal sums may be written in two orders

    names: tuple[str, ...] = ()
    groups: tuple[Label, ...] = ()
    exact: bool = True
    group_counts: Floats = field(default_factory=lambda: np.zeros(1))
    group_sums: Floats = field(default_factory=lambda: np.zeros((1, 0)))
    crossed: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    dropped: int = 0
    weighted: bool = False

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        by: str | None = None,
        missing: Sequence[Any] = (),
    ) -> Moments:
        """Add up *data*, of any kind that :meth:`Tally.of <tallystick.table.Tally.of>` takes.

        Parameters
        ----------
        data
            Columns of numbers or of booleans (right = 1).
        columns
            The scores; every column except *by* by default.
        by
            A column of groups, such as the document that a question is about; a missing group is a
            group of its own.
        missing
            Numbers and tokens that count as missing, besides None, NaN and blank text.
        """
        recipe = Recipe.of(columns=columns, missing=missing)
        if by is not None and by in (columns or ()):
            raise InputError(f"by={by!r} cannot be a score too")
        with held(data) as rows:
            available = names_of(rows)
            names = recipe.select([name for name in available if name != by])
            wanted = [*names, *([] if by is None else Recipe(columns=(by,)).select(available))]
            return cls._of_columns(fetched(rows, wanted), names, by, recipe.missing)

    @classmethod
    def of_patterns(cls, scores: Floats, counts: NDArray[Any], names: Sequence[str]) -> Moments:
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
        return _added(tuple(names), x, n)

    @classmethod
    def _of_columns(
        cls,
        columns: Mapping[str, Any],
        names: tuple[str, ...],
        by: str | None,
        missing: frozenset[str],
    ) -> Moments:
        """Add up columns in memory."""
        scores = [numbers_of(name, columns[name], "score", missing) for name in names]
        groups: tuple[Label, ...] | None = None
        codes = np.zeros(len(scores[0]), np.int64)
        if by is not None:
            written, codes = as_cells(by, columns[by], most=_MOST_GROUPS).coded(_MOST_GROUPS)
            shown, codes = np.unique(codes, return_inverse=True)
            labels = (written[code] for code in shown.tolist())
            groups = tuple(None if is_missing(label, missing) else label for label in labels)
        check_lengths(dict(zip([*names, str(by)], map(len, [*scores, codes]), strict=True)))
        for name, score in zip(names, scores, strict=True):
            if np.isinf(score).any():
                raise InputError(
                    f"score {name!r} holds an infinite number: mark it as missing, or correct it"
                )
        total = _added(names, np.zeros((0, len(names))), np.zeros(0), groups)
        for start in range(0, len(codes), _BATCH):
            part = slice(start, start + _BATCH)
            x = np.stack([score[part] for score in scores], axis=1)
            total += _added(names, x, np.ones(len(x)), groups, codes[part])
        return total

    def __add__(self, other: Moments) -> Moments:
        r"""Return the sums over the rows of both.

        About the common mean, with :math:`d = \bar x_b - \bar x_a`,

        .. math:: M = M_a + M_b + \frac{n_a n_b}{n_a + n_b}\, d d^\top .
        """
        if not isinstance(other, Moments):
            return NotImplemented
        if not (self.names and other.names):
            return self if self.names else other
        if set(self.names) != set(other.names) or self.grouped != other.grouped:
            raise MergeError(
                f"cannot merge moments of {self.names} with those of {other.names}: the scores must"
                " be the same, and both with by= or both without"
            )
        a, b = self, other._reordered(self.names)
        if a.grouped:
            groups = in_order((*a.groups, *b.groups))
            a, b = a._regrouped(groups), b._regrouped(groups)
        crossed = a.crossed + b.crossed
        exact = a.exact and b.exact and bool((np.diag(crossed) < EXACT).all())
        if not exact:
            crossed = a.centred + b.centred
            if a.n and b.n:
                d = b.sums / b.n - a.sums / a.n
                crossed += np.outer(d, d) * (a.n * b.n / (a.n + b.n))
        return replace(
            a,
            exact=exact,
            group_counts=a.group_counts + b.group_counts,
            group_sums=a.group_sums + b.group_sums,
            crossed=crossed,
            dropped=a.dropped + b.dropped,
        )

    def __radd__(self, other: object) -> Moments:
        # sum(…) starts from 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        if set(self.names) != set(other.names):
            return False
        other = other._reordered(self.names)
        arrays = ("group_counts", "group_sums", "crossed")
        return (
            [*map(identity, self.groups)] == [*map(identity, other.groups)]
            and (self.grouped, self.exact, self.dropped, self.weighted)
            == (other.grouped, other.exact, other.dropped, other.weighted)
            and all(np.array_equal(getattr(self, x), getattr(other, x)) for x in arrays)
        )

    @property
    def grouped(self) -> bool:
        """Whether there are groups."""
        return len(self.group_counts) == len(self.groups)

    @property
    def n(self) -> int | float:
        """How many rows have all scores."""
        n = float(self.group_counts.sum())
        return n if self.weighted else int(n)

    @property
    def sums(self) -> Floats:
        """The sum of each score."""
        total: Floats = self.group_sums.sum(axis=0)
        return total

    @property
    def means(self) -> Floats:
        """The mean of each score; without any row it is refused."""
        if not self.n:
            raise InputError(
                f"no row has all of the scores {self.names}: there is no mean ({self.dropped}"
                " dropped)"
            )
        return self.sums / self.n

    @property
    def products(self) -> Floats:
        """The cross-products :math:`C_{jk}`, over all groups."""
        if self.exact or not self.n:
            return self.crossed.copy()
        return self.crossed + np.outer(self.sums, self.sums) / self.n

    @property
    def centred(self) -> Floats:
        """The cross-products about the means, over all groups.

        From exact sums: ``(n C - S S') / n`` in whole numbers of any size, rounded once.
        """
        if not (self.exact and self.n):
            return self.crossed.copy()
        n, total = int(self.n), np.array([int(value) for value in self.sums], object)
        whole = np.array([int(value) for value in self.crossed.ravel()], object)
        square = whole.reshape(self.crossed.shape)
        return ((n * square - np.outer(total, total)) / n).astype(np.float64)

    def _reordered(self, names: tuple[str, ...]) -> Moments:
        """Return the same sums with the scores in another order."""
        order = [self.names.index(name) for name in names]
        crossed = self.crossed[np.ix_(order, order)]
        return replace(self, names=names, group_sums=self.group_sums[:, order], crossed=crossed)

    def _regrouped(self, groups: tuple[Label, ...]) -> Moments:
        """Return the sums by group in a longer or differently ordered list of groups."""
        # By identity: Python would find the groups True and 1 equal.
        place = {identity(group): i for i, group in enumerate(groups)}
        rows = np.array([place[identity(group)] for group in self.groups], np.int64)
        counts, sums = np.zeros(len(groups)), np.zeros((len(groups), len(self.names)))
        np.add.at(counts, rows, self.group_counts)
        np.add.at(sums, rows, self.group_sums)
        return replace(self, groups=groups, group_counts=counts, group_sums=sums)

    def save(self, path: str | Path) -> None:
        """Write the moments to *path* (Arrow IPC with a format version), whole or not at all."""
        import pyarrow as pa

        from tallystick.table.tally_files import write_table

        columns = {f"c{j}": pa.array(self.group_sums[:, j]) for j in range(len(self.names))}
        columns["count"] = pa.array(self.group_counts)
        head = {
            "names": list(self.names),
            "groups": list(self.groups),
            "products": [value.hex() for value in self.crossed.ravel().tolist()],
            **{name: getattr(self, name) for name in ("grouped", "weighted", "exact", "dropped")},
        }
        write_table(Path(path), "moments", pa.table(columns), head)

    @classmethod
    def load(cls, path: str | Path) -> Moments:
        """Read saved moments; a damaged, foreign or newer file is refused by name."""
        from tallystick.table.engine import as_numpy
        from tallystick.table.tally_files import label_in, read_table

        table, head = read_table(Path(path), "moments")
        try:
            k = len(head["names"])
            sums = [as_numpy(table[name]) for name in ("count", *(f"c{j}" for j in range(k)))]
            made = cls(
                names=tuple(map(str, head["names"])),
                groups=tuple(map(label_in, head["groups"])),
                exact=bool(head["exact"]),
                dropped=int(head["dropped"]),
                weighted=bool(head["weighted"]),
                group_counts=sums[0],
                group_sums=np.stack(sums[1:], axis=1),
                crossed=np.array([float.fromhex(x) for x in head["products"]]).reshape(k, k),
            )
            groups = len(made.groups) if head["grouped"] else 1
            if any(one.dtype.kind != "f" or len(one) != groups for one in sums):
                raise InputError("its sums do not fit its groups")
            # Files of earlier versions hold whole floats, and integers before all fractions.
            return made._regrouped(in_order(made.groups)) if head["grouped"] else made
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(path, "file of moments", error, FormatError) from error

    def __repr__(self) -> str:
        if not self.names:
            return "<Moments: empty>"
        groups = f" in {len(self.groups):,} groups" if self.groups else ""
        return (
            f"<Moments of {len(self.names)} scores{groups}: n = {self.n:,}, {self.dropped:,}"
            " dropped>"
        )


def _added(
    names: tuple[str, ...],
    scores: Floats,
    rows: Floats,
    groups: tuple[Label, ...] | None = None,
    codes: NDArray[np.int64] | None = None,
) -> Moments:
    """Add up scores, NaN where missing; *rows* are counts, *codes* are places in *groups*."""
    complete = ~np.isnan(scores).any(axis=1)
    x, w = scores[complete], rows[complete]
    where = np.zeros(len(x), np.int64) if codes is None else codes[complete]
    size = 1 if groups is None else len(groups)
    weighed = x * w[:, None]
    sums = [np.bincount(where, weighed[:, j], minlength=size) for j in range(x.shape[1])]

    exact = bool((x == np.floor(x)).all() and ((weighed * x).sum(axis=0) < EXACT).all())
    if exact:
        crossed = weighed.T @ x
    else:
        centred = x - weighed.sum(axis=0) / w.sum()
        crossed = centred.T @ (centred * w[:, None])
    made = Moments(
        names=names,
        groups=() if groups is None else groups,
        exact=exact,
        group_counts=np.bincount(where, w, minlength=size).astype(np.float64),
        group_sums=np.stack(sums, axis=1),
        crossed=crossed,
        dropped=int(rows.sum() - w.sum()),
    )
    return made if groups is None else made._regrouped(in_order(groups))
