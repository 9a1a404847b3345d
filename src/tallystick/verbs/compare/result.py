"""What ``compare`` answers: models with their ranks, and pairs with their doubts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import (
    SCHEMA,
    Claims,
    Figure,
    Interval,
    PatternTable,
    Result,
    Section,
    Unit,
    Unknown,
    count,
    plural,
)
from tallystick.stats.adverse_binary import Population
from tallystick.verbs.compare.question import Better

Estimand: TypeAlias = Literal["mean", "cluster mean", "ratio", "signs", "pass@k", "pass^k"]
"""What is compared: means over items, means of cluster means, typical ratios, how often one is
larger, or pass rates of several runs per item."""

NOT_TOLD = "not settled"

INDEPENDENT = "{} are independent draws from the population that the answer is about"
EACH_ONCE = "each of the {} counts once"
"""The verdict on a pair that stays open."""
MOST_READ = 40
"""Of a very large board all pairs among this many models are listed."""
_LEVELS = {"ratio": "geometric mean", "signs": "median"}
"""What is listed for each model where that is not its mean score."""
MOST_PAIRS = 20_000
"""Beyond this many pairs (200 models) only those are listed that a reader looks for."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model: its score, and between which ranks it lies.

    *item_score* is the mean over all items where every cluster counts once; None elsewhere.
    """

    name: str
    score: float | Unknown
    interval: Interval
    rank_interval: tuple[int, int]
    item_score: float | None = None


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two models: how far apart, alone (*interval*, *p_value*) and among all pairs (*simultaneous*,
    *adjusted_p*).

    *a* is the better one as observed, and *difference* is the score of *a* minus that of *b*: it is
    negative where a lower score is better. *a_only* and *b_only* are items on which only one of
    them is right, or, for unbounded scores compared by signs, on which it is better. *holds_below*
    is for new clusters: the verdict holds unless one more cluster favours *b* by this much or more.
    *ratio* is the typical ratio a/b, where that is compared. *signs*, for few rows: on how many *a*
    is better, on how many *b*, and the exact sign test of that.
    """

    a: str
    b: str
    difference: float | Unknown
    interval: Interval | Unknown
    simultaneous: Interval | Unknown
    a_only: int | Unknown
    b_only: int | Unknown
    p_value: float
    adjusted_p: float
    verdict: str
    holds_below: float | None = None
    ratio: float | None = None
    ratio_interval: Interval | None = None
    signs: tuple[int, int, float] | None = None


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
    population, sample
        To what the answer speaks: these, or new ones; items, clusters or weighted items.
    metric
        What the scores are called; None if nobody said.
    better
        Whether a higher or a lower score is better.
    estimand
        What is compared.
    unit
        ``share`` for rates, which are written in per cent and points; ``number`` for other scores.
    pairs_told, pairs_total
        How many pairs are settled, of how many; also where not all of them are listed.
    clusters
        How many clusters there are; 0 where items are the sample.
    left_out, whatever
        Items that count nowhere because a model gave no answer there; between what the difference
        of the two best would lie on all items, whatever the missing answers are.
    n_labels
        Items with a true label, where some have none; else None.
    available
        Items there are, where items were taken one by one until it was clear (*n_items*).
    """

    verb: ClassVar[str] = "compare"
    schema: ClassVar[int] = SCHEMA + 2

    models: tuple[ModelRow, ...]
    pairs: tuple[PairRow, ...]
    contenders: tuple[str, ...]
    tiers: tuple[tuple[str, ...], ...]
    detectable_difference: float | Unknown
    population: Population
    adjustment: str
    alpha: float
    sample: str = "items"
    metric: str | None = None
    better: Better = "higher"
    estimand: Estimand = "mean"
    unit: Literal["share", "number"] = "share"
    pairs_told: int = 0
    pairs_total: int = 0
    clusters: int = 0
    left_out: int = 0
    whatever: tuple[float, float] | None = None
    n_labels: int | None = None
    available: int | None = None
    learnt: PatternTable | None = field(default=None, repr=False, metadata={"private": True})

    def pair(self, a: str, b: str) -> PairRow:
        """Return the row of two models, in the order in which it is listed."""
        for row in self.pairs:
            if {row.a, row.b} == {a, b}:
                return row
        names = [row.name for row in self.models]
        raise InputError(
            f"the pair {a!r} and {b!r} is not listed: the models are {names[:12]}. Of a very large"
            " board, compare the two alone"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the board, best first."""
        tier = {name: i for i, names in enumerate(self.tiers, start=1) for name in names}
        return [
            {
                "model": row.name,
                "score": row.score,
                "interval": row.interval,
                "rank": "–".join(map(str, dict.fromkeys(row.rank_interval))),
                "tier": tier.get(row.name),
            }
            | ({} if row.item_score is None else {"item_score": row.item_score})
            for row in self.models
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return {"score": self.unit, "item_score": self.unit}

    @property
    def claims(self) -> Claims:
        """Which models are shown to be better than which: the pairs that are settled."""
        told = {(row.a, row.b) for row in self.pairs if row.verdict != NOT_TOLD}
        names = tuple(row.name for row in self.models)
        if len(self.contenders) == 1:
            # Not every pair of a very large board is listed; a sole contender has beaten all others
            best = self.contenders[0]
            told |= {(best, name) for name in names if name != best}
        return Claims(names, told, what="model")

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: the board and all pairs."""
        points: Unit = "points" if self.unit == "share" else "number"
        tiers, level = len(self.tiers), _LEVELS.get(self.estimand, "score")
        board = Section(
            title="Models",
            line=f"{len(self.models):,} models in {count(tiers)} {plural('tier', tiers)}.",
            rows=[
                {level if name == "score" else name: cell for name, cell in row.items()}
                for row in self.rows()
            ],
            units={**self.units(), level: self.unit},
        )
        pairs = Section(
            title="Pairs",
            line=f"{self.pairs_told:,} of {self.pairs_total:,} pairs are settled.",
            rows=[_pair(row) for row in self.pairs],
            units={"difference": points, "adjusted p": "p"},
            figures=self.figures()[1:],
            at_once=True,
        )
        return (board, pairs) if self.pairs else (board,)

    def figures(self) -> tuple[Figure, ...]:
        """Return the scores, and how far the first model is from the others."""
        names = [row.name for row in self.models]
        scores = Figure.forest(
            "Scores",
            {
                "model": names,
                "score": [row.score for row in self.models],
                "tier": [f"tier {row['tier']}" for row in self.rows()],
            },
            [row.interval for row in self.models],
            unit=self.unit,
            labels={"low": f"{100 * (1 - self.alpha):g}% interval"},
            group="tier",
        )
        first = names[0]
        rows = [r for r in self.pairs if r.a == first and isinstance(r.simultaneous, Interval)]
        if not rows:
            return (scores,)
        share = self.unit == "share"
        differences = Figure.forest(
            f"Differences from {first}" + (", in points" if share else ""),
            {
                "pair": [f"{row.a} − {row.b}" for row in rows],
                "difference": [row.difference for row in rows],
                "settled": [row.verdict != NOT_TOLD for row in rows],
            },
            [row.simultaneous for row in rows],  # the interval of the verdict and of the table
            unit="points" if share else "number",
            settled="settled",
        )
        return scores, differences

    def patterns(self) -> PatternTable | None:
        """Return what was learnt of each item: how many models are right, and whether to label it
        next.
        """
        return self.learnt


def _pair(row: PairRow) -> dict[str, Any]:
    return {
        "pair": f"{row.a} − {row.b}",
        "difference": row.difference,
        "interval": row.simultaneous,
        "ratio": row.ratio,
        "ratio interval": row.ratio_interval,
        "adjusted p": row.adjusted_p,
        "settled": row.verdict != NOT_TOLD,
        "only first": row.a_only,
        "only second": row.b_only,
    }
