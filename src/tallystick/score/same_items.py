r"""Systems that people graded on the same items: all pairs tested at once, or bounded exactly.

**One point estimate.** The difference that is shown is the difference of the two scores that are
shown. (AL11) is centred at the difference of mean adjusted labels, which is another estimate of the
same number from the same labels. Its interval is moved by the distance of the two.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.score.board import SystemBoard, adjusted_labels, pair_outlook
from tallystick.score.outputs import Floats
from tallystick.score.question import ScoreQuestion
from tallystick.score.system_pair import Places, SystemPair, agreeing, inverted, score_of
from tallystick.score.systems import System, population_of
from tallystick.stats.adverse import (
    CertifiedRows,
    certified_difference,
    compare_systems,
)
from tallystick.stats.intervals import betting
from tallystick.stats.multiplicity import holm

__all__ = ["certified", "simultaneous"]


def simultaneous(
    board: SystemBoard, systems: list[System], question: ScoreQuestion
) -> list[SystemPair]:
    """Compare systems that were graded on the same items."""
    m = board.shared
    found = compare_systems(
        board.truth[m],
        board.values[m],
        board.values,
        counts=board.counts,
        rng=as_rng(question.seed),
        population=population_of(question),
        alpha=question.alpha,
    )
    graded, new = board.truth[m], population_of(question) == "new"
    u = adjusted_labels(graded, board.values[m], board.values, board.counts)
    pairs = []
    for i, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
        first, second = board.systems[a], board.systems[b]
        difference = score_of(systems[first]) - score_of(systems[second])
        shift = difference - float(found.difference[i])
        interval = found.interval[i]
        moved = replace(
            interval,
            low=max(-1.0, min(difference, interval.low + shift)),
            high=min(1.0, max(difference, interval.high + shift)),
        )
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=agreeing(
                    moved,
                    difference,
                    float(found.difference[i]),
                    found.adjusted_p[i],
                    question.alpha,
                ),
                p_value=float(found.p_value[i]),
                adjusted_p=float(found.adjusted_p[i]),
                outlook=pair_outlook(u[:, [a, b]], graded[:, [a, b]], board.n, new=new),
                common=int(m.sum()),
            )
        )
    return pairs


def certified(
    board: SystemBoard, systems: list[System], question: ScoreQuestion
) -> list[SystemPair]:
    """Bound every difference exactly, at a level that all pairs share (Bonferroni)."""
    m = board.shared
    k = len(board.systems)
    count = k * (k - 1) // 2
    order = as_rng(question.seed).permutation(int(m.sum()))
    graded, new = board.truth[m], population_of(question) == "new"
    u = adjusted_labels(graded, board.values[m], board.values, board.counts)

    places = [(a, b) for a in range(k) for b in range(a + 1, k)]
    first, second = np.array(places).T
    truth, values = board.truth[m][order], board.values[m][order]
    labels, judged = (
        (truth[:, first] - truth[:, second]).T,
        (values[:, first] - values[:, second]).T,
    )
    every = [board.every(board.values[:, a] - board.values[:, b]) for a, b in places]
    population, anytime = population_of(question), question.anytime
    if population == "new":
        ends_at = partial(_of_new, labels, anytime=anytime)
    else:
        held = CertifiedRows.of(labels, judged, every, bounds=(-1.0, 1.0), anytime=anytime)
        ends_at = partial(_of_these, held)
    kind = certified_difference(
        labels[0], judged[0], every[0], population=population, anytime=anytime
    )

    def holds(some: Places, alpha: Floats) -> NDArray[np.bool_]:
        low, high = ends_at(some, alpha)
        return (low <= 0) & (high >= 0)

    p_values = inverted(holds, count)
    found = ends_at(np.arange(count), np.full(count, question.alpha / count))
    level = 1 - question.alpha / count
    raw = [
        (a, b, p, replace(kind, low=float(low), high=float(high), level=level))
        for (a, b), p, low, high in zip(places, p_values, *found, strict=True)
    ]
    adjusted = holm([p for *_, p, _ in raw])
    pairs = []
    for (a, b, p, interval), step in zip(raw, adjusted, strict=True):
        first, second = board.systems[a], board.systems[b]
        difference = score_of(systems[first]) - score_of(systems[second])
        ends = replace(
            interval, low=min(interval.low, difference), high=max(interval.high, difference)
        )
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=ends,
                p_value=p,
                adjusted_p=float(step),
                outlook=pair_outlook(u[:, [a, b]], graded[:, [a, b]], board.n, new=new),
                common=int(m.sum()),
            )
        )
    return pairs


def _of_these(rows: CertifiedRows, some: Places, alpha: Floats) -> tuple[Floats, Floats]:
    return rows.take(some).ends(alpha)


def _of_new(labels: Floats, some: Places, alpha: Floats, *, anytime: bool) -> tuple[Floats, Floats]:
    found = [
        betting(labels[row], alpha=float(level), bounds=(-1.0, 1.0), anytime=anytime)[0]
        for row, level in zip(some, alpha, strict=True)
    ]
    return np.array([one.low for one in found]), np.array([one.high for one in found])
