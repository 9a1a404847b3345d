"""``--stop-early``: take the items in random order and stop as soon as one model beats all others.

For each pair an e-process runs along: for right/wrong scores the one of discordant signs
(:mod:`tallystick.stats.signs`), for scores in bounds the one of moments
(:mod:`tallystick.stats.bets`). By Ville's inequality one over the largest value ever reached is a
p-value at any stopping time, and Holm holds the family-wise error over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallystick._rng import as_rng, seed_of
from tallystick.errors import InputError
from tallystick.results import Needed, Unknown
from tallystick.results.numbers import count
from tallystick.stats.bets import (
    average_log_e,
    bounded_mean_interval,
    bounded_mean_log_e,
    e_holm,
    p_from_log_e,
)
from tallystick.stats.intervals import Bounds, Intervals
from tallystick.stats.pairs import PairTable, pair_table
from tallystick.stats.signs import sign_log_e
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.question import CompareQuestion
from tallystick.verbs.compare.result import CompareResult
from tallystick.verbs.compare.verdict import Findings, assemble

Floats = npt.NDArray[np.float64]

NOT_EARLY = (
    "--stop-early takes independent items (no clusters, no weights) with all their scores: 0 and 1,"
    " or in declared --bounds, and higher is better (1 - error instead of error)"
)


@dataclass(eq=False)
class RaceEvidence:
    """What the items so far say of every pair: counts or sums of the differences, and the largest
    log E that was ever reached.

    Examples
    --------
    >>> race = RaceEvidence(pairs=1)
    >>> for gap in [1.0] * 9:
    ...     race.look(np.array([gap]))
    >>> race.adjusted_p.round(3).tolist(), race.ahead.tolist()
    ([0.02], [9.0])
    """

    pairs: int
    bounds: Bounds | None = None
    items: int = 0

    def __post_init__(self) -> None:
        self.ahead, self.behind, self.peak = np.zeros((3, self.pairs))

    def look(self, gaps: Floats) -> None:
        """Take the differences of all pairs on one more item."""
        self.items += 1
        if self.bounds is None:
            self.ahead = self.ahead + (gaps > 0)
            self.behind = self.behind + (gaps < 0)
            evidence = sign_log_e(self.ahead, self.behind)
        else:
            self.ahead = self.ahead + gaps
            self.behind = self.behind + gaps**2
            width = self.bounds[1] - self.bounds[0]
            sides = bounded_mean_log_e(self.items, self.ahead, self.behind, low=-width, high=width)
            evidence = average_log_e(np.stack(sides, axis=-1))
        self.peak = np.maximum(self.peak, evidence)

    @property
    def lead(self) -> Floats:
        """Who is ahead in each pair."""
        return self.ahead - (self.behind if self.bounds is None else 0.0)

    @property
    def adjusted_p(self) -> Floats:
        """The p-values among all pairs, valid at any stopping time."""
        return np.asarray(e_holm(self.peak))


def stop_when_clear(board: Board, question: CompareQuestion | None = None) -> CompareResult:
    """Take the items of a board in random order and stop as soon as one model beats all others.

    Examples
    --------
    >>> scores = {"old": [1, 0, 0, 0] * 100, "new": [1, 1, 0, 1] * 100}
    >>> result = stop_when_clear(Board.of(scores))
    >>> result.contenders, result.n_items
    (('new',), 17)
    """
    asked = question or CompareQuestion()
    bounds = None if _check(board, asked) else asked.bounds
    order = as_rng(asked.seed).permutation(board.n)
    first, second = np.triu_indices(len(board.names), 1)
    race = RaceEvidence(first.size, bounds)
    for item in order.tolist():
        race.look(board.scores[item, first] - board.scores[item, second])
        worse = np.where(race.lead > 0, second, first)[race.adjusted_p <= asked.alpha]
        if np.unique(worse).size == len(board.names) - 1:
            break

    return _answer(board, order[: race.items], race, asked)


def _answer(
    board: Board, seen: npt.NDArray[np.int64], race: RaceEvidence, question: CompareQuestion
) -> CompareResult:
    """Return the answer from the items that were looked at."""
    x, alpha = board.scores[seen], question.alpha
    within = replace(question, bounds=race.bounds or (0.0, 1.0))
    low, high = within.bounds or (0.0, 1.0)
    result = assemble(
        Findings(
            names=board.names,
            table=_table(x, race, high - low, alpha),
            scores=_ends(x, low, high, alpha),
            means=x.mean(axis=0),
            n=len(x),
            question=within,
            assumptions=[
                "items come in random order, drawn independently of the scores",
                "who is better is decided by the e-process; the intervals are another, wider"
                " anytime method",
            ],
            seed=seed_of(question.seed),
            detectable=Unknown(
                "a comparison that stops early takes as many items as the difference asks for"
            ),
        )
    )
    clear = "Clear" if result.decision == "decided" else "Not clear"
    said = (
        f"{clear} after {count(len(x))} of {count(board.n)} items (anytime, family-wise error"
        f" {alpha:g})."
    )
    lines = replace(result.opening, contrast=said, next="")
    return replace(
        result,
        available=board.n,
        verdict=lines.verdict,
        sentences=lines,
        needed=None if result.decision == "decided" else Needed(None, "items"),
    )


def _table(x: Floats, race: RaceEvidence, width: float, alpha: float) -> PairTable:
    """Return all pairs at the stop."""
    first, second = np.triu_indices(x.shape[1], 1)
    gaps = x[:, first] - x[:, second]
    own, joint = (_ends(gaps, -width, width, level) for level in (alpha, alpha / first.size))
    table = pair_table(
        (first, second),
        gaps.mean(axis=0),
        (own, replace(joint, level=1 - alpha)),
        p_from_log_e(race.peak),
        ("", race.adjusted_p),
        counts=(race.ahead, race.behind) if race.bounds is None else None,
        spread=gaps.std(axis=0),
    )
    return replace(table, adjustment="anytime, Holm")


def _ends(x: Floats, low: float, high: float, alpha: float) -> Intervals:
    """Return intervals of means that hold whenever one stops."""
    squares = (x**2).sum(axis=0)
    ends = bounded_mean_interval(len(x), x.sum(axis=0), squares, low=low, high=high, alpha=alpha)
    return Intervals(*ends, level=1 - alpha, guarantee="anytime", method="bounded mean")


def _check(board: Board, question: CompareQuestion) -> bool:
    """Refuse what cannot be stopped early; say whether scores are right or wrong."""
    if not board.independent or board.answers is not None:
        raise InputError(NOT_EARLY)
    binary = bool(np.isin(board.scores, (0.0, 1.0)).all())
    if question.better == "lower" or (not binary and question.bounds is None):
        raise InputError(NOT_EARLY)
    return binary
