"""Three or more judges graded without a single label, if their errors are independent."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from statistics import NormalDist

import numpy as np

from tallystick.errors import NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats, Ints, Ranges
from tallystick.judge.branch import Branch, Known, mirrored, turn
from tallystick.judge.exact import integer_square
from tallystick.judge.result import Alarm, JudgeResult, JudgeScore, LabelScore, Number, Range, Share, Solution
from tallystick.results import Interval, Unknown
from tallystick.stats.latent import Trios, solve_trios, trio_point
from tallystick.tally import Tally
from tallystick.tally.labels import Label

__all__ = ["INDEPENDENCE", "Medians", "independent", "medians", "trio_counts"]

INDEPENDENCE = "judges err independently given the true label"
SHARED_BIAS = "a bias that all judges share leaves no trace in their votes: no label-free method can see it"
_MODES = ("sensible", "blind judge", "no variety", "complex", "negative product", "outside")
_STEP = 1e-30
_MOST_ROOTS = 20


def independent(
    votes: Tally,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    prevalence: Ranges | None = None,
    known: Known | None = None,
    alpha: float = 0.05,
) -> JudgeResult:
    r"""Grade three or more binary judges without labels, exactly if their errors are independent.

    For a trio with :math:`X_i = 1` if judge i votes β, moments f, covariances :math:`D_{ij} = f_{ij} - f_i f_j` and
    third central moment T,

    .. math:: P_\alpha = \tfrac12 (1 + s\,T/S), \quad S^2 = 4 D_{12} D_{13} D_{23} + T^2, \quad
              \delta_k = s\,S/D_{ij}, \quad P_{k\alpha} = f_{k\alpha} + P_\beta \delta_k, \quad
              P_{k\beta} = f_{k\beta} + P_\alpha \delta_k   \tag{J1}

    with s = ±1: two mirror points, and the branch says which is reported. [CE23]_, Theorem 2, with the sign of Table 1
    corrected (``docs/theory/judge.md#j1``); nothing is divided by T, so balanced labels are no special case. With more
    than three judges every trio is solved and each number is the lower median over the trios that are sensible, a value
    that one trio attains; its interval is that trio's delta-method interval on the logit scale.

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
    >>> from tallystick.judge import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"x": ("9/10", "4/5"), "y": ("3/4", "3/4"), "z": ("2/3", "4/5")})
    >>> result = independent(simulate(point).tally, judges=["x", "y", "z"])
    >>> [round(score.accuracy, 9) for score in result.judges], round(result.prevalence["a"].estimate, 9)
    ([0.85, 0.75, 0.733333333], 0.5)
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels)
    branch = Branch.of(ballots, prevalence=prevalence, known=known) if len(ballots.classes) == 2 else Branch()
    blind = ballots.blind
    trios = solve(blind)
    counts = trio_counts(trios, blind)
    found = medians(trios, branch, ballots)
    if found is None:
        failures = ", ".join(f"{number} {mode}" for mode, number in counts.items() if number and mode != "trios")
        raise NotIdentifiable(
            f"no trio of judges has a sensible solution ({failures}), which proves that their errors depend on one "
            "another or that items are too few: use dawid_skene, add judges, or label some items"
        )
    ends = found.intervals(blind, alpha)
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=_number(found.overall[j], name),
            interval=_interval(ends.overall[j], alpha, name),
            per_label={
                key: LabelScore(
                    estimate=_number(found.accuracy[j, c], name), interval=_interval(ends.accuracy[j, c], alpha, name)
                )
                for c, key in enumerate(ballots.keys)
            },
            votes=float(blind.voted[j]),
        )
        for j, name in enumerate(ballots.names)
    )
    share = _interval(ends.balance, alpha, "prevalence")
    flipped = share if isinstance(share, Unknown) else _under(1 - share.high, 1 - share.low, alpha)
    best = max(scores, key=lambda score: score.accuracy if isinstance(score.accuracy, float) else -1.0)
    failed = sum(number for mode, number in counts.items() if mode in _MODES[1:])
    return JudgeResult(
        verdict=f"If errors were independent, {best.name} would be right most often, on {_percent(best)}; "
        f"{failed:,} of {len(trios.status):,} trios contradict that, and a shared bias would not show.",
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
        solutions=_solutions(found, ballots, branch),
        alarms=trio_alarms(counts),
        trios=counts,
    )


def solve(ballots: Ballots) -> Trios:
    """Solve every trio of binary judges, or say what is possible instead."""
    ballots.require_binary("independent")
    if len(ballots.names) < 3:
        raise NotIdentifiable(
            f"{len(ballots.names)} judge(s) without labels have infinitely many explanations: add judges up to three, "
            "label some items, or ask logical for what holds anyway"
        )
    return solve_trios(ballots.codes, ballots.counts)


def trio_counts(trios: Trios, ballots: Ballots) -> dict[str, int]:
    """Return how many trios ended in which way, unresolved square roots included where they could be tested."""
    counts = {"trios": len(trios.status), **{mode: int((trios.status == mode).sum()) for mode in _MODES}}
    whole = bool((ballots.counts == np.floor(ballots.counts)).all())
    if ballots.complete and whole and len(ballots.names) <= _MOST_ROOTS:
        counts["unresolved root"] = _unresolved(trios, ballots)
    return counts


def trio_alarms(counts: dict[str, int]) -> tuple[Alarm, ...]:
    """Say what failed trios prove."""
    failed = sum(counts.get(mode, 0) for mode in _MODES[1:])
    if not failed:
        return ()
    told = ", ".join(f"{counts[mode]} {mode}" for mode in _MODES[1:] if counts.get(mode))
    return (
        Alarm(
            name="failed trios",
            proves=f"{failed} of {counts['trios']} trios ({told}) cannot be sample-independent judges",
            does_not_prove="that sensible trios are independent: in real data they were as correlated as the others",
        ),
    )


@dataclass(frozen=True, eq=False)
class Ends:
    """Interval ends (…, 2), NaN where there are none."""

    balance: Floats
    accuracy: Floats
    overall: Floats


@dataclass(frozen=True, eq=False)
class Medians:
    """Lower medians over sensible trios, and the trio that attains each.

    Parameters
    ----------
    balance, accuracy, overall
        Prevalence of the first label; judges x 2; judges. NaN for a judge in no sensible trio.
    trios, sign
        All trios, and the branch of each as the sign s of (J1).
    at_balance, at_accuracy, at_overall
        Index of the trio that attains each median, -1 for none.
    """

    balance: float
    accuracy: Floats
    overall: Floats
    trios: Trios
    sign: Floats
    at_balance: int
    at_accuracy: Ints
    at_overall: Ints

    def intervals(self, ballots: Ballots, alpha: float) -> Ends:
        """Return delta-method ends on the logit scale, from the trio that attains each median."""
        z = NormalDist().inv_cdf(1 - alpha / 2)
        n = len(ballots.names)
        wanted = {self.at_balance, *self.at_accuracy.ravel().tolist(), *self.at_overall.tolist()} - {-1}
        errors = {t: _errors(self.trios, t, float(self.sign[t]), ballots) for t in wanted}
        balance = _logit_ends(self.balance, errors[self.at_balance][0], z)
        accuracy, overall = np.full((n, 2, 2), np.nan), np.full((n, 2), np.nan)
        for j in range(n):
            for c in range(2):
                t = int(self.at_accuracy[j, c])
                if t >= 0:
                    place = int(np.flatnonzero(self.trios.judges[t] == j)[0])
                    accuracy[j, c] = _logit_ends(self.accuracy[j, c], errors[t][1 + 2 * place + c], z)
            t = int(self.at_overall[j])
            if t >= 0:
                place = int(np.flatnonzero(self.trios.judges[t] == j)[0])
                overall[j] = _logit_ends(self.overall[j], errors[t][7 + place], z)
        return Ends(balance, accuracy, overall)


def medians(trios: Trios, branch: Branch, ballots: Ballots) -> Medians | None:
    """Return lower medians over the sensible trios on the branch; None if there is none."""
    use = np.flatnonzero(trios.status == "sensible")
    if not use.size:
        return None
    balance, accuracy = turn(trios, branch, ballots)
    with np.errstate(all="ignore"):  # trios without a point are not used
        sign = np.where((accuracy.sum(axis=(1, 2)) - 3) * (1 / trios.covariance).sum(axis=1) > 0, 1.0, -1.0)
    weight = np.stack((balance, 1 - balance), axis=1)
    overall = (accuracy * weight[:, None, :]).sum(axis=2)
    n = len(ballots.names)
    at_accuracy, at_overall = np.full((n, 2), -1), np.full(n, -1)
    for j in range(n):
        mine, place = np.nonzero(trios.judges[use] == j)
        if not mine.size:
            continue
        for c in range(2):
            at_accuracy[j, c] = use[mine[_middle(accuracy[use[mine], place, c])]]
        at_overall[j] = use[mine[_middle(overall[use[mine], place])]]
    at_balance = int(use[_middle(balance[use])])
    picked_accuracy, picked_overall = np.full((n, 2), np.nan), np.full(n, np.nan)
    for j in np.flatnonzero(at_overall >= 0).tolist():
        for c, t in enumerate(at_accuracy[j].tolist()):
            picked_accuracy[j, c] = accuracy[t, trios.judges[t] == j, c][0]
        picked_overall[j] = overall[at_overall[j], trios.judges[at_overall[j]] == j][0]
    return Medians(
        float(np.clip(balance[at_balance], 0, 1)),
        np.clip(picked_accuracy, 0, 1),
        np.clip(picked_overall, 0, 1),
        trios,
        sign,
        at_balance,
        at_accuracy,
        at_overall,
    )


def _middle(values: Floats) -> int:
    return int(np.argsort(values, kind="stable")[(len(values) - 1) // 2])


def _errors(trios: Trios, t: int, sign: float, ballots: Ballots) -> Floats:
    """Return standard errors of prevalence, six accuracies and three overall accuracies of one trio.

    The ten numbers are algebraic in seven raw moments; a complex step differentiates them exactly.
    """
    three = ballots.codes[:, trios.judges[t]]
    there = (three >= 0).all(axis=1)
    chance = np.bincount(three[there] @ [4, 2, 1], weights=ballots.counts[there], minlength=8)
    n = chance.sum()
    chance = chance / n
    groups = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    cells = np.array(list(itertools.product((0, 1), repeat=3)))
    shows = np.stack([cells[:, list(group)].all(axis=1) for group in groups], axis=1).astype(float)
    raw = chance @ shows
    stepped = raw + 1j * _STEP * np.eye(7)
    mean, d = stepped[:, :3], stepped[:, [5, 4, 3]] - stepped[:, [1, 0, 0]] * stepped[:, [2, 2, 1]]
    third = stepped[:, 6] - mean.prod(axis=1) - (mean * d).sum(axis=1)
    with np.errstate(all="ignore"):
        balance, accuracy = trio_point(mean, d, third, np.full(7, sign))
        weight = np.stack((balance, 1 - balance), axis=1)
        overall = (accuracy * weight[:, None, :]).sum(axis=2)
        ten = np.concatenate((balance[:, None], accuracy.reshape(7, 6), overall), axis=1)
        gradient = np.imag(ten) / _STEP
        centred = shows - raw
        covariance = centred.T @ (chance[:, None] * centred) / n
        return np.asarray(np.sqrt(np.einsum("mk,ml,lk->k", gradient, covariance, gradient)))


def _logit_ends(p: float, error: float, z: float) -> Floats:
    if not (0 < p < 1 and np.isfinite(error)):
        return np.full(2, np.nan)
    half = z * error / (p * (1 - p))
    centre = np.log(p / (1 - p))
    return np.asarray(1 / (1 + np.exp(-np.clip([centre - half, centre + half], -700, 700))))


def _unresolved(trios: Trios, ballots: Ballots) -> int:
    """Count trios whose square root is irrational (J2): proof, without false alarms, of dependent errors."""
    one = (ballots.codes == 1).astype(np.float64)
    n = int(ballots.n)
    weighted = one * ballots.counts[:, None]
    single = weighted.sum(axis=0).astype(np.int64).tolist()
    pair = (weighted.T @ one).astype(np.int64).tolist()
    triple = [((weighted * one[:, [i]]).T @ one).astype(np.int64).tolist() for i in range(one.shape[1])]
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


def _solutions(found: Medians, ballots: Ballots, branch: Branch) -> tuple[Solution, Solution]:
    other_balance, other = mirrored(np.array(found.balance), found.accuracy)
    points = ((found.balance, found.accuracy, branch.name), (float(other_balance), other, "the mirror point"))
    both = []
    for chosen, (balance, accuracy, name) in enumerate(points):
        both.append(
            Solution(
                prevalence={ballots.keys[0]: float(balance), ballots.keys[1]: 1 - float(balance)},
                accuracy={
                    judge: {key: _number(float(accuracy[j, c]), judge) for c, key in enumerate(ballots.keys)}
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
    return Interval(low, high, level=1 - alpha, guarantee="under", assumption=INDEPENDENCE, method="trio delta method")


def _percent(score: JudgeScore) -> str:
    return f"{score.accuracy:.1%}".replace("%", " %") if isinstance(score.accuracy, float) else "an unknown share"
