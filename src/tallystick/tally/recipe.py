"""How a tally was made: the options of one call, kept so that later batches are counted in the same
way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from tallystick.errors import InputError, MergeError

__all__ = ["Recipe"]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The options of :meth:`Tally.of <tallystick.tally.Tally.of>`, checked once.

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
