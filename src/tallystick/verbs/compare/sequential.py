"""Stop as soon as it is clear: models compared on a stream of items, looked at after every one.

For each pair an e-process runs along: for right/wrong scores the one of discordant signs
(:mod:`tallystick.stats.signs`), for scores in bounds the one of moments
(:mod:`tallystick.stats.bets`). By Ville's inequality one over the largest value ever
reached is a p-value at any stopping time, and Holm holds the family-wise error over pairs. Items
must come in random order; :meth:`Sequential.ask` sees to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError
from tallystick.results import Figure, Interval, Needed, Result, Unknown
from tallystick.stats.bets import average_log_e, bounded_mean_interval, bounded_mean_log_e, e_holm
from tallystick.stats.exact_tails import open_unit, whole
from tallystick.stats.signs import ranks, sign_log_e
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.question import CompareQuestion
from tallystick.verbs.compare.result import NOT_TOLD, ModelRow


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a sequential comparison stands.

    Parameters
    ----------
    items
        Items seen.
    decided
        Whether one model is shown to be better than all others.
    best
        That model; None while undecided.
    beaten
        Models that are shown to be worse than another one.
    p_values
        Adjusted p-value of each pair (better model first, as observed), valid at any stopping time.
    """

    items: int
    decided: bool
    best: str | None
    beaten: tuple[str, ...]
    p_values: Mapping[tuple[str, str], float]


class Sequential:
    """Compare models item by item and stop when it is clear; the caller owns the loop.

    Parameters
    ----------
    models
        Their names.
    items
        How many items there are.
    rng
        Seed of the order in which they are asked.
    alpha
        The probability of ever calling any pair wrongly.
    bounds
        Between what scores lie if they are not 0 or 1; None for right/wrong.

    Examples
    --------
    >>> scores = as_rng(1).random((2000, 2)) < [0.6, 0.8]
    >>> race = Sequential(["old", "new"], items=2000, rng=0)
    >>> while not race.standing().decided and (batch := race.ask(10)):
    ...     race.tell(batch, scores[batch])
    >>> race.standing().best, race.standing().items
    ('new', 110)
    """

    def __init__(
        self,
        models: Sequence[str],
        *,
        items: int,
        rng: Rng,
        alpha: float = 0.05,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        whole(1, items=items)
        open_unit(alpha=alpha)
        if len(models) < 2 or len(set(models)) != len(models):
            raise InputError(f"models must be at least two different names, got {list(models)}")
        if bounds is not None and not bounds[0] < bounds[1]:
            raise InputError(f"bounds must be two numbers, the lower first, got {bounds!r}")
        self.models = tuple(models)
        self.alpha = alpha
        self.bounds = bounds
        self._order = as_rng(rng).permutation(items)
        self._asked = 0
        self._open: set[int] = set()
        self._first, self._second = np.triu_indices(len(models), 1)
        pairs = self._first.size
        self._n = 0
        # wins of each side, or sums of D and of D²
        self._ahead, self._behind = np.zeros(pairs), np.zeros(pairs)
        self._peak = np.zeros(pairs)

    def ask(self, count: int = 1) -> list[int]:
        """Return the positions of the next items to score, in random order; none once all were
        asked.
        """
        whole(1, count=count)
        batch = [int(i) for i in self._order[self._asked : self._asked + count]]
        self._asked += len(batch)
        self._open.update(batch)
        return batch

    def tell(self, items: Sequence[int], scores: npt.ArrayLike) -> None:
        """Take the scores of *items* (items x models); the evidence is updated after every single
        one.

        Answers may come in any order among what is open, as long as that order does not depend on
        the scores.
        """
        x = np.asarray(scores, dtype=float)
        if x.shape != (len(items), len(self.models)):
            raise InputError(
                f"scores must be {len(items)} items x {len(self.models)} models, got shape"
                f" {x.shape}"
            )
        unasked = [i for i in items if i not in self._open]
        if unasked or len(set(items)) != len(items):
            raise InputError(
                f"item {unasked[0] if unasked else 'twice in one batch'} was not asked about, or"
                " has two answers"
            )
        low, high = self.bounds or (0.0, 1.0)
        fits = np.isin(x, (0.0, 1.0)) if self.bounds is None else (x >= low) & (x <= high)
        if not fits.all():
            wanted = (
                "0 or 1 (or declare bounds)" if self.bounds is None else f"in [{low:g}, {high:g}]"
            )
            raise InputError(f"scores must be {wanted}, got {x[~fits].flat[0]!r}")
        self._open.difference_update(items)
        difference = x[:, self._first] - x[:, self._second]
        count = self._n + np.arange(1, len(x) + 1)[:, None]
        if self.bounds is None:
            ahead = self._ahead + np.cumsum(difference > 0, axis=0)
            behind = self._behind + np.cumsum(difference < 0, axis=0)
            evidence = sign_log_e(ahead, behind)
        else:
            ahead = self._ahead + np.cumsum(difference, axis=0)
            behind = self._behind + np.cumsum(difference**2, axis=0)
            width = high - low
            sides = bounded_mean_log_e(count, ahead, behind, low=-width, high=width)
            evidence = average_log_e(np.stack(sides, axis=-1))
        if len(x):
            self._n, self._ahead, self._behind = self._n + len(x), ahead[-1], behind[-1]
            self._peak = np.maximum(self._peak, evidence.max(axis=0))

    def standing(self) -> Stop:
        """Say what is decided by now; it stays decided."""
        adjusted = e_holm(self._peak)
        lead = self._ahead - (self._behind if self.bounds is None else 0.0)
        told = adjusted <= self.alpha
        worse = np.where(lead > 0, self._second, self._first)[told]
        beaten = sorted(set(worse.tolist()))
        left = [j for j in range(len(self.models)) if j not in beaten]
        pairs = {}
        for i, (a, b) in enumerate(zip(self._first.tolist(), self._second.tolist(), strict=True)):
            better, other = (a, b) if lead[i] >= 0 else (b, a)
            pairs[self.models[better], self.models[other]] = float(adjusted[i])
        decided = len(left) == 1
        return Stop(
            self._n,
            decided,
            self.models[left[0]] if decided else None,
            tuple(self.models[j] for j in beaten),
            pairs,
        )


# ``--stop-early``: what a sequential comparison of a finished table would have needed, in a random
# order.


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


def stop_when_clear(board: Board, question: CompareQuestion | None = None) -> StoppedResult:
    """Take the items of a board in random order and stop as soon as one model beats all others.

    Examples
    --------
    >>> scores = {"old": [1, 0, 0, 0] * 100, "new": [1, 1, 0, 1] * 100}
    >>> result = stop_when_clear(Board.of(scores))
    >>> result.best, result.stopped_at
    ('new', 17)
    """
    asked = question or CompareQuestion()
    binary = _check(board, asked)
    bounds = None if binary else asked.bounds
    race = Sequential(board.names, items=board.n, rng=asked.seed, alpha=asked.alpha, bounds=bounds)
    seen: list[int] = []
    path: list[tuple[int, float]] = []
    standing = race.standing()
    while not standing.decided and (batch := race.ask()):
        race.tell(batch, board.scores[batch])
        seen += batch
        standing = race.standing()
        if len(seen) % max(1, board.n // STEPS) == 0 or standing.decided:
            path.append((len(seen), min(standing.p_values.values())))

    at = _AtTheStop(board.names, board.scores[seen], bounds or (0.0, 1.0), asked.alpha)
    contenders = tuple(name for name in board.names if name not in standing.beaten)
    undecided = f"after all {board.n:,} items: any of {', '.join(contenders[:5])} may be the best"
    better = {pair for pair, p in standing.p_values.items() if p <= asked.alpha}
    rest = "all others" if len(board.names) > 2 else next(iter(standing.beaten), "")
    verdict = (
        f"{standing.best} is better than {rest}:"
        f" clear after {standing.items:,} of {board.n:,} items (anytime, family-wise error"
        f" {asked.alpha:g})."
        if standing.decided
        else f"Not clear {undecided} (anytime, family-wise error {asked.alpha:g})."
    )
    models, tiers = at.models(better)
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
        seed=seed_of(asked.seed),
        stopped_at=standing.items,
        available=board.n,
        best=standing.best,
        contenders=contenders,
        models=models,
        pairs=at.pairs(standing.p_values),
        tiers=tiers,
        detectable_difference=Unknown(
            "a comparison that stops early takes as many items as the difference asks for"
        ),
        path=tuple(path),
    )


def _check(board: Board, question: CompareQuestion) -> bool:
    """Refuse what cannot be stopped early; say whether scores are right or wrong."""
    if not board.independent or board.answers is not None:
        raise InputError(
            "stopping early needs independent items with all their scores: leave out clusters and"
            " weights"
        )
    binary = bool(np.isin(board.scores, (0.0, 1.0)).all())
    if not binary and question.bounds is None:
        raise InputError("stopping early needs scores of 0 and 1, or bounds for them (--bounds)")
    if question.better == "lower":
        raise InputError(
            "stopping early takes scores of which higher is better: give a score of which more is"
            " better (for instance 1 - error), or leave out --stop-early"
        )
    return binary


@dataclass(frozen=True, eq=False)
class _AtTheStop:
    """The scores that were looked at, and intervals that hold whenever one stops."""

    names: tuple[str, ...]
    scores: npt.NDArray[np.float64]
    bounds: tuple[float, float]
    alpha: float

    @property
    def order(self) -> list[int]:
        """The models from best to worst as observed."""
        order: list[int] = np.argsort(-self.scores.mean(axis=0), kind="stable").tolist()
        return order

    def models(
        self, better: set[tuple[str, str]]
    ) -> tuple[tuple[ModelRow, ...], tuple[tuple[str, ...], ...]]:
        """Return each model's score so far, and the tiers."""
        names = self.names
        first, second = np.triu_indices(len(names), 1)
        sign = [
            ((names[a], names[b]) in better) - ((names[b], names[a]) in better)
            for a, b in zip(first.tolist(), second.tolist(), strict=True)
        ]
        found = ranks(first, second, sign, self.order)
        low, high = self.bounds
        rows = []
        for j in self.order:
            own = self.scores[:, j]
            places = (int(found.low[j]), int(found.high[j]))
            ends = self._interval(own, low, high)
            rows.append(ModelRow(names[j], float(own.mean()), ends, places))
        return tuple(rows), found.named(names)[1]

    def pairs(self, p_values: Mapping[tuple[str, str], float]) -> tuple[StopPair, ...]:
        """Return every pair, those of the best models first."""
        width = self.bounds[1] - self.bounds[0]
        place = {self.names[j]: i for i, j in enumerate(self.order)}
        rows = []
        for (a, b), p in sorted(
            p_values.items(), key=lambda one: tuple(sorted(place[name] for name in one[0]))
        ):
            gap = self.scores[:, self.names.index(a)] - self.scores[:, self.names.index(b)]
            verdict = f"{a} is better" if p <= self.alpha else NOT_TOLD
            ends = self._interval(gap, -width, width)
            rows.append(StopPair(a, b, float(gap.mean()), ends, p, verdict))
        return tuple(rows)

    def _interval(self, values: npt.NDArray[np.float64], low: float, high: float) -> Interval:
        ends = bounded_mean_interval(
            len(values), values.sum(), (values**2).sum(), low=low, high=high, alpha=self.alpha
        )
        return Interval(
            float(ends[0]),
            float(ends[1]),
            level=1 - self.alpha,
            guarantee="anytime",
            method="bounded mean",
        )
