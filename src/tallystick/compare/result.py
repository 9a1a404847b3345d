"""What ``compare`` answers: models with their ranks, pairs with their doubts, and what each
guarantee costs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import Figure, Interval, PatternTable, Result, Unknown

__all__ = ["CompareResult", "GuaranteeRow", "ItemLocator", "ModelRow", "PairRow"]

NOT_TOLD = "not told apart"
"""The verdict on a pair that stays open."""
MOST_DRAWN = 40
"""More models than this do not fit into one matrix that can be read."""
MOST_PAIRS = 20_000
"""Beyond this many pairs (200 models) only those are listed that a reader looks for."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model: its score, and between which ranks it lies."""

    name: str
    score: float | Unknown
    interval: Interval
    rank_interval: tuple[int, int]


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two models: how far apart, alone (*interval*, *p_value*) and among all pairs (*simultaneous*,
    *adjusted_p*).
    """

    a: str
    b: str
    difference: float | Unknown
    interval: Interval
    simultaneous: Interval
    a_only: int | Unknown
    b_only: int | Unknown
    p_value: float
    adjusted_p: float
    verdict: str


@dataclass(frozen=True, slots=True)
class GuaranteeRow:
    """What one guarantee costs: how many pairs, and how many neighbours on the board, it tells
    apart.
    """

    name: str
    guarantee: str
    pairs: int
    adjacent: int


@dataclass(frozen=True, slots=True, eq=False)
class ItemLocator:
    """Which item each row of the source shows; a :class:`~tallystick.results.Locator` by
    position.
    """

    rows: npt.NDArray[np.int64]

    def locate(self, data: Any) -> npt.NDArray[np.int64]:
        """Return the item of each row, -1 for rows that were not used; *data* must be the table
        that was compared.
        """
        length = len(next(iter(data.values()))) if isinstance(data, dict) else len(data)
        if length != len(self.rows):
            raise InputError(
                f"the table has {length} rows, but {len(self.rows)} were compared: give the same"
                " table"
            )
        return self.rows


@dataclass(frozen=True, kw_only=True)
class CompareResult(Result):
    """Which model is better, how surely; the verb ``compare``.

    Parameters
    ----------
    models
        From best to worst, as observed.
    pairs
        Every pair; *a* is the better one as observed. On a board of more than 200 models: the pairs
        of the leader, of neighbours, and among the first 40.
    contenders
        Models that may be the best.
    tiers
        From best to worst; cut only where every model above beats every model below. Within a tier
        the models are not fully separated.
    detectable_difference
        The smallest difference between two of these models that this many items show with
        probability .8.
    separable
        How many models, spread evenly between the best and the worst, could all be told apart at
        that difference.
    guarantees
        What each guarantee costs, the most cautious first.
    population
        To what the answer speaks: new items, new clusters, or new items of these clusters.
    """

    verb: ClassVar[str] = "compare"

    models: tuple[ModelRow, ...]
    pairs: tuple[PairRow, ...]
    contenders: tuple[str, ...]
    tiers: tuple[tuple[str, ...], ...]
    detectable_difference: float | Unknown
    separable: int | Unknown
    guarantees: tuple[GuaranteeRow, ...]
    population: str
    adjustment: str
    alpha: float
    learnt: PatternTable | None = field(default=None, repr=False, metadata={"private": True})

    def pair(self, a: str, b: str) -> PairRow:
        """Return the row of two models, in the order in which it is listed."""
        for row in self.pairs:
            if {row.a, row.b} == {a, b}:
                return row
        names = [row.name for row in self.models]
        if a in names and b in names and a != b:
            raise InputError(
                f"the pair {a!r} and {b!r} is not listed on a board of {len(names):,}: compare"
                " these alone"
            )
        raise InputError(f"there is no pair {a!r} and {b!r}: the models are {names[:12]}")

    def rows(self) -> list[dict[str, Any]]:
        """Return the board, best first."""
        tier = {name: i for i, names in enumerate(self.tiers, start=1) for name in names}
        return [
            {
                "model": row.name,
                "score": row.score,
                "interval": row.interval,
                "rank": "–".join(str(end) for end in dict.fromkeys(row.rank_interval)),
                "tier": tier[row.name],
            }
            for row in self.models
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the scores, the ranks, and who beats whom."""
        names = [row.name for row in self.models]
        tiers = [f"tier {row['tier']}" for row in self.rows()]
        scores = Figure(
            kind="forest",
            title=f"Scores on {self.n_items:,} items, {100 * (1 - self.alpha):g} % intervals",
            columns={
                "model": names,
                "score": [
                    None if isinstance(row.score, Unknown) else row.score for row in self.models
                ],
                "low": [row.interval.low for row in self.models],
                "high": [row.interval.high for row in self.models],
                "tier": tiers,
            },
            roles={"name": "model", "x": "score", "low": "low", "high": "high", "group": "tier"},
        )
        order = Figure(
            kind="forest",
            title="Ranks that the data allow, all at once",
            columns={
                "model": names,
                "rank": list(range(1, len(names) + 1)),
                "low": [row.rank_interval[0] for row in self.models],
                "high": [row.rank_interval[1] for row in self.models],
                "tier": tiers,
            },
            roles={"name": "model", "x": "rank", "low": "low", "high": "high", "group": "tier"},
        )
        return scores, order, self._matrix(names[:MOST_DRAWN])

    def _matrix(self, shown: list[str]) -> Figure:
        cells, drawn = [], set(shown)
        for row in self.pairs:
            if row.a in drawn and row.b in drawn:
                lead = None if isinstance(row.difference, Unknown) else row.difference
                told = "" if row.verdict == NOT_TOLD else "told apart"
                cells.append((row.a, row.b, lead, told))
                cells.append((row.b, row.a, None if lead is None else -lead, told))
        return Figure(
            kind="matrix",
            title="Differences between models (row minus column)",
            columns={
                "model": [cell[0] for cell in cells],
                "than": [cell[1] for cell in cells],
                "difference": [cell[2] for cell in cells],
                "told": [cell[3] for cell in cells],
            },
            roles={"row": "model", "column": "than", "value": "difference", "mark": "told"},
        )

    def patterns(self) -> PatternTable | None:
        """Return what was learnt of each item: how many models are right, and whether to label it
        next.
        """
        return self.learnt
