"""``--stop-early``: what a sequential comparison of a finished table would have needed, in a random
order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, seed_of
from tallystick.compare.board import Board
from tallystick.compare.result import NOT_TOLD, ModelRow
from tallystick.compare.sequential import Sequential, Stop
from tallystick.compare.settings import Settings
from tallystick.errors import InputError
from tallystick.results import Figure, Interval, Needed, Result, Unknown
from tallystick.stats.bounded_mean import bounded_mean_interval
from tallystick.stats.ranks import ranks

__all__ = ["StopPair", "StoppedResult", "stop_when_clear"]

STEPS = 200
"""Looks at which the picture is drawn; the test itself looks after every item."""


@dataclass(frozen=True, slots=True)
class StopPair:
    """Two models at the stop: an interval that holds whenever one stops, and the adjusted anytime
    p-value.
    """

    a: str
    b: str
    difference: float
    interval: Interval
    adjusted_p: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class StoppedResult(Result):
    """The answer at the item at which it became clear.

    Parameters
    ----------
    stopped_at
        Items that were looked at; all of them if it never became clear.
    available
        Items there are.
    best
        The model that is better than all others, or None.
    contenders
        Models not shown to be worse than another.
    models
        Every model at the stop, from best to worst as observed; the interval holds whenever one
        stops.
    pairs
        Every pair at the stop.
    tiers
        From best to worst; cut only where every model above beats every model below.
    detectable_difference
        Not known: a sequential comparison takes as many items as it needs.
    path
        Largest adjusted p-value of the leader's pairs, by item.
    """

    verb: ClassVar[str] = "compare"

    stopped_at: int
    available: int
    best: str | None
    contenders: tuple[str, ...]
    models: tuple[ModelRow, ...]
    pairs: tuple[StopPair, ...]
    tiers: tuple[tuple[str, ...], ...]
    detectable_difference: float | Unknown
    path: tuple[tuple[int, float], ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return the pairs."""
        return [
            {
                "a": row.a,
                "b": row.b,
                "difference": row.difference,
                "interval": row.interval,
                "adjusted_p": row.adjusted_p,
                "verdict": row.verdict,
            }
            for row in self.pairs
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return how the evidence grew."""
        return (
            Figure(
                kind="curve",
                title="Smallest anytime p-value so far, by items looked at",
                columns={"items": [step for step, _ in self.path], "p": [p for _, p in self.path]},
                roles={"x": "items", "y": "p"},
            ),
        )


def stop_when_clear(
    board: Board, *, settings: Settings | None = None, rng: Rng = 0
) -> StoppedResult:
    """Take the items of a board in random order and stop as soon as one model beats all others.

    Examples
    --------
    >>> scores = {"old": [1, 0, 0, 0] * 100, "new": [1, 1, 0, 1] * 100}
    >>> result = stop_when_clear(Board.of(scores))
    >>> result.best, result.stopped_at
    ('new', 17)
    """
    chosen = settings or Settings()
    if board.clusters is not None or board.weights is not None or board.answers is not None:
        raise InputError(
            "stopping early needs independent items with all their scores: leave out clusters and"
            " weights"
        )
    binary = bool(np.isin(board.scores, (0.0, 1.0)).all())
    if not binary and chosen.bounds is None:
        raise InputError("stopping early needs scores of 0 and 1, or bounds for them (--bounds)")
    bounds = None if binary else chosen.bounds
    if chosen.better == "lower":
        raise InputError(
            "stopping early takes scores of which higher is better: give a score of which more is"
            " better (for instance 1 - error), or leave out --stop-early"
        )
    race = Sequential(board.names, items=board.n, rng=rng, alpha=chosen.alpha, bounds=bounds)
    seen: list[int] = []
    path: list[tuple[int, float]] = []
    standing = race.standing()
    while not standing.decided and (batch := race.ask()):
        race.tell(batch, board.scores[batch])
        seen += batch
        standing = race.standing()
        if len(seen) % max(1, board.n // STEPS) == 0 or standing.decided:
            path.append((len(seen), min(standing.p_values.values())))
    pairs = _pairs(board, seen, standing, chosen)
    models, tiers = _models(board, seen, standing, chosen)
    contenders = tuple(name for name in board.names if name not in standing.beaten)
    undecided = f"after all {board.n:,} items: any of {', '.join(contenders[:5])} may be the best"
    verdict = (
        f"{standing.best} is better than {'all others' if len(board.names) > 2 else pairs[0].b}:"
        f" clear after {standing.items:,} of {board.n:,} items (anytime, family-wise error"
        f" {chosen.alpha:g})."
        if standing.decided
        else f"Not clear {undecided} (anytime, family-wise error {chosen.alpha:g})."
    )
    return StoppedResult(
        verdict=verdict,
        decision="decided" if standing.decided else "undecided",
        needed=None if standing.decided else Needed(None, "items"),
        n_items=standing.items,
        assumptions=(
            "items come in random order, drawn independently of the scores",
            (
                "who is better is decided by the e-process; the intervals are another, wider"
                " anytime method"
            ),
        ),
        seed=seed_of(rng),
        stopped_at=standing.items,
        available=board.n,
        best=standing.best,
        contenders=contenders,
        models=models,
        pairs=pairs,
        tiers=tiers,
        detectable_difference=Unknown(
            "a comparison that stops early takes as many items as the difference asks for"
        ),
        path=tuple(path),
    )


def _models(
    board: Board, seen: list[int], standing: Stop, settings: Settings
) -> tuple[tuple[ModelRow, ...], tuple[tuple[str, ...], ...]]:
    """Return each model's score so far with an interval that holds at any stop, and the tiers."""
    scores = board.scores[seen]
    order = np.argsort(-scores.mean(axis=0), kind="stable")
    first, second = np.triu_indices(len(board.names), 1)
    ahead = {pair for pair, p in standing.p_values.items() if p <= settings.alpha}
    names = board.names
    sign = [
        ((names[a], names[b]) in ahead) - ((names[b], names[a]) in ahead)
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    found = ranks(first, second, sign, order)
    low, high = settings.bounds or (0.0, 1.0)
    rows = []
    for j in order.tolist():
        own = scores[:, j]
        ends = bounded_mean_interval(
            len(own), own.sum(), (own**2).sum(), low=low, high=high, alpha=settings.alpha
        )
        rows.append(
            ModelRow(
                names[j],
                float(own.mean()),
                _anytime(ends, settings),
                (int(found.low[j]), int(found.high[j])),
            )
        )
    return tuple(rows), found.named(names)[1]


def _anytime(ends: Any, settings: Settings) -> Interval:
    return Interval(
        float(ends[0]),
        float(ends[1]),
        level=1 - settings.alpha,
        guarantee="anytime",
        method="bounded mean",
    )


def _pairs(
    board: Board, seen: list[int], standing: Stop, settings: Settings
) -> tuple[StopPair, ...]:
    scores = board.scores[seen]
    low, high = settings.bounds or (0.0, 1.0)
    width = high - low
    place = {
        board.names[j]: i
        for i, j in enumerate(np.argsort(-scores.mean(axis=0), kind="stable").tolist())
    }
    rows = []
    for (a, b), p in sorted(
        standing.p_values.items(), key=lambda one: tuple(sorted(place[name] for name in one[0]))
    ):
        gap = scores[:, board.place(a)] - scores[:, board.place(b)]
        ends = bounded_mean_interval(
            len(gap), gap.sum(), (gap**2).sum(), low=-width, high=width, alpha=settings.alpha
        )
        verdict = f"{a} is better" if p <= settings.alpha else NOT_TOLD
        rows.append(StopPair(a, b, float(gap.mean()), _anytime(ends, settings), p, verdict))
    return tuple(rows)
