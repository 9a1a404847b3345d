r"""Systems that people graded on the same items: all pairs tested at once, or bounded exactly.

**One point estimate.** The difference that is shown is the difference of the two scores that are
shown. (AL11) is centred at the difference of mean adjusted labels, which is another estimate of the
same number from the same labels. Its interval is moved by the distance of the two.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tallystick._rng import as_rng
from tallystick.results import Interval
from tallystick.score.board import SystemBoard, adjusted_labels
from tallystick.score.question import ScoreQuestion
from tallystick.score.system_pair import SystemPair, agreeing, inverted, score_of
from tallystick.score.systems import System, population_of
from tallystick.stats.adverse import certified_difference, compare_systems, mean_outlook
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
    u = adjusted_labels(board.truth[m], board.values[m], board.values, board.counts)
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
        outlook = mean_outlook(u[:, a] - u[:, b], board.n, bounds=(-1.0, 1.0))
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
                variance=outlook.variance,
                common=int(m.sum()),
                items=board.n,
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
    u = adjusted_labels(board.truth[m], board.values[m], board.values, board.counts)

    def interval_of(a: int, b: int, alpha: float) -> Interval:
        difference = (board.truth[m][:, a] - board.truth[m][:, b])[order]
        consensus = (board.values[m][:, a] - board.values[m][:, b])[order]
        return certified_difference(
            difference,
            consensus,
            board.every(board.values[:, a] - board.values[:, b]),
            population=population_of(question),
            anytime=question.anytime,
            alpha=alpha,
        )

    raw = []
    for a in range(k):
        for b in range(a + 1, k):
            p = inverted(partial(interval_of, a, b))
            raw.append((a, b, p, interval_of(a, b, question.alpha / count)))
    adjusted = holm([p for *_, p, _ in raw])
    pairs = []
    for (a, b, p, interval), step in zip(raw, adjusted, strict=True):
        first, second = board.systems[a], board.systems[b]
        difference = score_of(systems[first]) - score_of(systems[second])
        ends = replace(
            interval, low=min(interval.low, difference), high=max(interval.high, difference)
        )
        outlook = mean_outlook(u[:, a] - u[:, b], board.n, bounds=(-1.0, 1.0))
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=ends,
                p_value=p,
                adjusted_p=float(step),
                variance=outlook.variance,
                common=int(m.sum()),
                items=board.n,
            )
        )
    return pairs
