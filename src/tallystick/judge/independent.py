"""Three or more judges graded without a single label, if their errors are independent."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np

from tallystick.errors import NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats, Ranges
from tallystick.judge.branch import Branch, Known, mirrored
from tallystick.judge.given_range import held_to_range, unpicked
from tallystick.judge.medians import Medians, medians
from tallystick.judge.parts import Alarm, JudgeScore, LabelScore, Number, Range, Share, Solution
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict_grounds import INDEPENDENCE, SHARED_BIAS
from tallystick.judge.verdict_methods import failed_trios, of_baseline, trios_contradict
from tallystick.results import Interval, Unknown
from tallystick.stats.latent import Trios, solve_trios
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = [
    "both_points",
    "independent",
    "integer_square",
    "solve",
    "trio_alarms",
    "trio_counts",
]

_MODES = ("sensible", "blind judge", "no variety", "complex", "negative product", "outside")
_MOST_ROOTS = 20


def independent(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    prevalence: Ranges | None = None,
    known: Known | None = None,
    alpha: float = 0.05,
) -> JudgeResult:
    r"""Grade three or more binary judges without labels, exactly if their errors are independent.

    For a trio with :math:`X_i = 1` if judge i votes β, moments f, covariances :math:`D_{ij} =
    f_{ij} - f_i f_j` and third central moment T,

    .. math:: P_\alpha = \tfrac12 (1 + s\,T/S), \quad S^2 = 4 D_{12} D_{13} D_{23} + T^2, \quad
              \delta_k = s\,S/D_{ij}, \quad P_{k\alpha} = f_{k\alpha} + P_\beta \delta_k, \quad
              P_{k\beta} = f_{k\beta} + P_\alpha \delta_k   \tag{J1}

    with s = ±1: two mirror points, and the branch says which is reported. [CE23]_, Theorem 2, with
    the sign of Table 1 corrected (``docs/theory/judge.md#j1``); nothing is divided by T, so
    balanced labels are no special case. With more than three judges every trio is solved and each
    number is the median over the trios that are sensible; overall accuracy puts these medians
    together. Intervals are the delta method's, on the logit scale, by the middle trios.

    Parameters
    ----------
    votes, judges, labels
        The tally; which columns judge; labels that nobody voted for.
    truth
        A column of true labels, partly blank; it picks the branch and nothing else.
    prevalence
        Label to a range; picks the branch.
    known
        Judge to label to known accuracy; picks the branch.
    alpha
        One minus the level.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges, or not one trio is sensible: the message says how each failed.

    Examples
    --------
    >>> from tallystick.judge.papers import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"x": ("9/10", "4/5"), "y": ("3/4", "3/4"), "z": ("2/3", "4/5")})
    >>> result = independent(simulate(point).tally, judges=["x", "y", "z"])
    >>> [round(score.accuracy, 9) for score in result.judges], round(result.prevalence["a"].estimate, 9)
    ([0.85, 0.75, 0.733333333], 0.5)
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).answered
    branch = (
        Branch.of(ballots, prevalence=prevalence, known=known)
        if len(ballots.classes) == 2
        else Branch()
    )
    blind = ballots.blind
    trios = solve(blind)
    counts = trio_counts(trios, blind)
    found = medians(trios, branch, ballots)
    if found is None:
        failures = ", ".join(
            f"{number} {mode}" for mode, number in counts.items() if number and mode != "trios"
        )
        raise NotIdentifiable(
            f"no trio of judges has a sensible solution ({failures}), which proves that their"
            " errors depend on one another or that items are too few: use dawid_skene, add judges,"
            " or label some items"
        )
    ends = found.intervals(blind, alpha)
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=_number(found.overall[j], name),
            interval=_interval(ends.overall[j], alpha, name),
            per_label={
                key: LabelScore(
                    estimate=_number(found.accuracy[j, c], name),
                    interval=_interval(ends.accuracy[j, c], alpha, name),
                )
                for c, key in enumerate(ballots.keys)
            },
            votes=float(blind.voted[j]),
        )
        for j, name in enumerate(ballots.names)
    )
    share = _interval(ends.balance, alpha, "prevalence")
    flipped = share if isinstance(share, Unknown) else _under(1 - share.high, 1 - share.low, alpha)
    failed = sum(number for mode, number in counts.items() if mode in _MODES[1:])
    solutions = both_points(found, ballots, branch)
    result = JudgeResult(
        verdict=of_baseline(
            scores, "errors were independent", trios_contradict(failed, len(trios.status))
        ),
        decision="undecided",
        n_items=round(blind.n),
        assumptions=(INDEPENDENCE, branch.words),
        warnings=(SHARED_BIAS,),
        method="independent",
        judges=scores,
        prevalence={
            ballots.keys[0]: Share(estimate=found.balance, interval=share),
            ballots.keys[1]: Share(estimate=1 - found.balance, interval=flipped),
        },
        solutions=solutions,
        alarms=(*trio_alarms(counts), *unpicked(solutions, branch, ballots)),
        trios=counts,
    )
    return held_to_range(result, ballots, prevalence)


def solve(ballots: Ballots) -> Trios:
    """Solve every trio of binary judges, or say what is possible instead."""
    ballots.require_binary("independent")
    if len(ballots.names) < 3:
        raise NotIdentifiable(
            f"{len(ballots.names)} judge(s) without labels have infinitely many explanations: add"
            " judges up to three, label some items, or ask logical for what holds anyway"
        )
    return solve_trios(ballots.codes, ballots.counts)


def trio_counts(trios: Trios, ballots: Ballots) -> dict[str, int]:
    """Return how many trios ended in which way, unresolved square roots included where they could
    be tested.
    """
    counts = {
        "trios": len(trios.status),
        **{mode: int((trios.status == mode).sum()) for mode in _MODES},
    }
    whole = bool((ballots.counts == np.floor(ballots.counts)).all())
    if ballots.complete and whole and len(ballots.names) <= _MOST_ROOTS:
        counts["unresolved root"] = _unresolved(trios, ballots)
    return counts


def trio_alarms(counts: dict[str, int]) -> tuple[Alarm, ...]:
    """Say what failed trios prove."""
    failed = sum(counts.get(mode, 0) for mode in _MODES[1:])
    if not failed:
        return ()
    modes = {mode: counts.get(mode, 0) for mode in _MODES[1:]}
    return (failed_trios(failed, counts["trios"], modes),)


def _unresolved(trios: Trios, ballots: Ballots) -> int:
    """Count trios whose square root is irrational (J2): proof, without false alarms, of dependent
    errors.
    """
    one = (ballots.codes == 1).astype(np.float64)
    n = int(ballots.n)
    weighted = one * ballots.counts[:, None]
    single = weighted.sum(axis=0).astype(np.int64).tolist()
    pair = (weighted.T @ one).astype(np.int64).tolist()
    triple = [
        ((weighted * one[:, [i]]).T @ one).astype(np.int64).tolist() for i in range(one.shape[1])
    ]
    found = 0
    for i, j, k in trios.judges.tolist():
        sums: dict[tuple[int, ...], int] = {
            (0,): single[i],
            (1,): single[j],
            (2,): single[k],
            (0, 1): pair[i][j],
            (0, 2): pair[i][k],
            (1, 2): pair[j][k],
            (0, 1, 2): triple[i][j][k],
        }
        square, _ = integer_square(n, sums)
        found += square < 0 or isqrt(square) ** 2 != square
    return found


def integer_square(n: int, sums: dict[tuple[int, ...], int]) -> tuple[int, int]:
    """Return the whole numbers n⁶S² and n³T of (J2), from the counts of votes 1 by every group of
    judges.
    """
    i, j, k = sums[0,], sums[1,], sums[2,]
    ij, ik, jk, ijk = sums[0, 1], sums[0, 2], sums[1, 2], sums[0, 1, 2]
    third = n * n * ijk - n * (i * jk + j * ik + k * ij) + 2 * i * j * k
    return 4 * (n * ij - i * j) * (n * ik - i * k) * (n * jk - j * k) + third**2, third


def both_points(found: Medians, ballots: Ballots, branch: Branch) -> tuple[Solution, Solution]:
    """Return the point on the branch and its mirror point."""
    other_balance, other = mirrored(np.array(found.balance), found.accuracy)
    points = (
        (found.balance, found.accuracy, branch.name),
        (float(other_balance), other, "the mirror point"),
    )
    both = []
    for chosen, (balance, accuracy, name) in enumerate(points):
        both.append(
            Solution(
                prevalence={ballots.keys[0]: float(balance), ballots.keys[1]: 1 - float(balance)},
                accuracy={
                    judge: {
                        key: _number(float(accuracy[j, c]), judge)
                        for c, key in enumerate(ballots.keys)
                    }
                    for j, judge in enumerate(ballots.names)
                },
                chosen=chosen == 0,
                branch=name,
            )
        )
    return both[0], both[1]


def _number(value: float, name: str) -> Number:
    return float(value) if np.isfinite(value) else Unknown(f"no sensible trio contains {name}")


def _interval(ends: Floats, alpha: float, name: str) -> Range:
    if not np.isfinite(ends).all():
        return Unknown(f"the estimate of {name} lies on the edge, or no sensible trio contains it")
    return _under(float(ends[0]), float(ends[1]), alpha)


def _under(low: float, high: float, alpha: float) -> Interval:
    return Interval(
        low,
        high,
        level=1 - alpha,
        guarantee="under",
        assumption=INDEPENDENCE,
        method="trio delta method",
    )
