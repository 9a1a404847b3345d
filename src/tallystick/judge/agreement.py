"""Error rates from agreement rates: a baseline that takes one independence for another."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from tallystick.errors import NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.medians import logit_ends
from tallystick.judge.parts import JudgeScore
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict_grounds import CONFUSED, STREAM
from tallystick.judge.verdict_methods import of_baseline
from tallystick.results import Interval, Unknown
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["agreement", "agreement_accuracy", "agreement_ends", "agreement_gap"]


def agreement(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    alpha: float = 0.05,
) -> JudgeResult:
    r"""Estimate each judge's accuracy from how often pairs of judges agree.

    If errors were independent over the whole stream, agreement rates would satisfy
    :math:`2 a_{ij} - 1 = (1 - 2 e_i)(1 - 2 e_j)`, so that for a trio

    .. math:: 1 - 2 e_i = \sqrt{(2a_{ij} - 1)(2a_{ik} - 1)/(2a_{jk} - 1)}   \tag{J6}

    [CE23]_, Eqs 61-81, of Platanios' equations (with the factors of Eq 81 corrected). Judges that
    are independent *given the label* do not satisfy it: see `agreement_gap`. The median over trios
    is reported, with the delta method's interval by its middle trios, which holds only under that
    assumption: it fails even where judges are independent given the label
    (docs/coverage/judge-baselines.md).

    Examples
    --------
    >>> from tallystick.judge.papers import Point, simulate
    >>> even = Point(prevalence="1/2", accuracy={name: ("4/5", "4/5") for name in "xyz"})
    >>> [round(score.accuracy, 6) for score in agreement(simulate(even).tally, truth="truth").judges]
    [0.8, 0.8, 0.8]
    >>> uneven = Point(prevalence="1/2", accuracy={name: ("1", "3/5") for name in "xyz"})
    >>> [round(score.accuracy, 3) for score in agreement(simulate(uneven).tally, truth="truth").judges]
    [0.861, 0.861, 0.861]
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).answered.blind
    ballots.require_binary("agreement")
    found = agreement_accuracy(ballots)
    if not np.isfinite(found).any():
        raise NotIdentifiable(
            "no trio of judges has agreement rates that this method can solve: use dawid_skene"
        )
    missing = Unknown("no trio with this judge has agreement rates that can be solved")
    low, high = agreement_ends(ballots, alpha=alpha)
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=float(found[j]) if np.isfinite(found[j]) else missing,
            interval=(
                Interval(
                    float(low[j]),
                    float(high[j]),
                    level=1 - alpha,
                    guarantee="under",
                    assumption=STREAM,
                    method="delta method",
                )
                if np.isfinite(low[j])
                else Unknown("the estimate is on the edge, or there is none")
            ),
            votes=float(ballots.voted[j]),
        )
        for j, name in enumerate(ballots.names)
    )
    return JudgeResult(
        verdict=of_baseline(
            scores,
            "errors were independent over the whole stream",
            "Judges that are independent given the label break that.",
        ),
        decision="undecided",
        n_items=round(ballots.n),
        assumptions=(STREAM, "judges are better than chance"),
        warnings=(CONFUSED,),
        method="agreement",
        judges=scores,
    )


def agreement_accuracy(ballots: Ballots) -> Floats:
    """Return (J6) as accuracies, the median over trios; NaN where no trio can be solved."""
    rate, _ = _rates(ballots)
    return np.array(
        [
            min(float(np.mean([half for half, _, _ in _middle(rate, i)] or [np.nan])), 1.0)
            for i in _each(rate)
        ]
    )


def agreement_ends(ballots: Ballots, *, alpha: float) -> tuple[Floats, Floats]:
    """Return delta-method ends of (J6), by the middle trios of each median; NaN where there are
    none.
    """
    rate, together = _rates(ballots)
    z = NormalDist().inv_cdf(1 - alpha / 2)
    codes = ballots.codes

    def moved(i: int, j: int) -> Floats:
        """Return how one item of each pattern moves the logarithm of the rate of i and j."""
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        step = np.where(codes[:, i] == codes[:, j], 1.0, -1.0) - rate[i, j]
        return np.asarray(np.where(both, step, 0.0) / (together[i, j] * rate[i, j]))

    ends = []
    for i in _each(rate):
        middle = _middle(rate, i)
        if not middle:
            ends.append(np.full(2, np.nan))
            continue
        with np.errstate(all="ignore"):  # a rate of 0 has no slope: no interval
            parts = [
                (2 * half - 1) / 4 * (moved(i, j) + moved(i, k) - moved(j, k))
                for half, j, k in middle
            ]
            error = float(np.sqrt(ballots.counts @ np.mean(parts, axis=0) ** 2))
        ends.append(logit_ends(float(np.mean([half for half, _, _ in middle])), error, z))
    low, high = np.array(ends).T
    return low, high


def _rates(ballots: Ballots) -> tuple[Floats, Floats]:
    """Return 2 a - 1 of every pair, and the items on which both vote."""
    codes, weight = ballots.codes, ballots.counts[:, None]
    n = len(ballots.names)
    if n < 3:
        raise NotIdentifiable(
            f"agreement needs three judges, got {n}: add judges or label some items"
        )
    voted = (codes >= 0).astype(float)
    together = voted.T @ (weight * voted)
    first, second = ((codes == c).astype(float) for c in (0, 1))
    same = first.T @ (weight * first) + second.T @ (weight * second)
    with np.errstate(invalid="ignore"):
        return 2 * same / together - 1, together


def _each(rate: Floats) -> range:
    return range(len(rate))


def _middle(rate: Floats, i: int) -> list[tuple[float, int, int]]:
    """Return the accuracy of judge i and the other two judges, for both middle trios of its median;
    none if none.
    """
    others = np.delete(_each(rate), i)
    a, b = np.triu_indices(len(others), 1)
    j, k = others[a], others[b]
    with np.errstate(all="ignore"):
        square = rate[i, j] * rate[i, k] / rate[j, k]
    good = np.flatnonzero(np.isfinite(square) & (square >= 0))
    if not good.size:
        return []
    order = good[np.argsort(square[good], kind="stable")]
    ends = order[[(len(order) - 1) // 2, len(order) // 2]]
    return [((1 + float(np.sqrt(square[t]))) / 2, int(j[t]), int(k[t])) for t in ends.tolist()]


def agreement_gap(
    prevalence: float, first: tuple[float, float], second: tuple[float, float]
) -> float:
    r"""Return :math:`e_{ij} - e_i e_j` of two judges that are independent given the label.

    .. math:: e_{ij} - e_i e_j = P_\alpha P_\beta (e_{i\alpha} - e_{i\beta})(e_{j\alpha} - e_{j\beta})   \tag{J7}

    It is zero only if a judge errs equally often on both labels: Eq 79 is no identity. Accuracies
    are given on α, β.

    >>> round(agreement_gap(0.5, (1.0, 0.6), (1.0, 0.6)), 3)
    0.04
    """
    return prevalence * (1 - prevalence) * (first[1] - first[0]) * (second[1] - second[0])
