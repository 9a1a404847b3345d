"""Error rates from agreement rates: a baseline that takes one independence for another."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tallystick.errors import NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.result import JudgeResult, JudgeScore
from tallystick.results import Unknown
from tallystick.tally import Tally
from tallystick.tally.labels import Label

__all__ = ["agreement", "agreement_accuracy", "agreement_gap"]

STREAM = "errors are independent over the whole stream, e_ij = e_i e_j, whatever the label"


def agreement(
    votes: Tally, *, judges: Sequence[str] | None = None, truth: str | None = None, labels: Sequence[Label] = ()
) -> JudgeResult:
    r"""Estimate each judge's accuracy from how often pairs of judges agree.

    If errors were independent over the whole stream, agreement rates would satisfy
    :math:`2 a_{ij} - 1 = (1 - 2 e_i)(1 - 2 e_j)`, so that for a trio

    .. math:: 1 - 2 e_i = \sqrt{(2a_{ij} - 1)(2a_{ik} - 1)/(2a_{jk} - 1)}   \tag{J6}

    [CE23]_, Eqs 61-81, of Platanios' equations (with the factors of Eq 81 corrected). Judges that are independent
    *given the label* do not satisfy it: see `agreement_gap`. The median over trios is reported; no interval, since the
    assumption fails even where judges are independent.

    Examples
    --------
    >>> from tallystick.judge import Point, simulate
    >>> even = Point(prevalence="1/2", accuracy={name: ("4/5", "4/5") for name in "xyz"})
    >>> [round(score.accuracy, 6) for score in agreement(simulate(even).tally, truth="truth").judges]
    [0.8, 0.8, 0.8]
    >>> uneven = Point(prevalence="1/2", accuracy={name: ("1", "3/5") for name in "xyz"})
    >>> [round(score.accuracy, 3) for score in agreement(simulate(uneven).tally, truth="truth").judges]
    [0.861, 0.861, 0.861]
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).blind
    ballots.require_binary("agreement")
    found = agreement_accuracy(ballots)
    if not np.isfinite(found).any():
        raise NotIdentifiable("no trio of judges has agreement rates that this method can solve: use dawid_skene")
    missing = Unknown("no trio with this judge has agreement rates that can be solved")
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=float(found[j]) if np.isfinite(found[j]) else missing,
            interval=Unknown("the method has no valid interval: its assumption fails even for independent judges"),
            votes=float(ballots.voted[j]),
        )
        for j, name in enumerate(ballots.names)
    )
    j = int(np.nanargmax(found))
    return JudgeResult(
        verdict=f"If errors were independent over the whole stream, {ballots.names[j]} would be right most often, on "
        f"{100 * found[j]:.1f} %; label-wise independent judges break that.",
        decision="undecided",
        n_items=round(ballots.n),
        assumptions=(STREAM, "judges are better than chance"),
        warnings=("agreement rates confuse independence of errors with independence given the label",),
        method="agreement",
        judges=scores,
    )


def agreement_accuracy(ballots: Ballots) -> Floats:
    """Return (J6) as accuracies, the median over trios; NaN where no trio can be solved."""
    codes, weight = ballots.codes, ballots.counts[:, None]
    n = len(ballots.names)
    if n < 3:
        raise NotIdentifiable(f"agreement needs three judges, got {n}: add judges or label some items")
    voted = (codes >= 0).astype(float)
    together = voted.T @ (weight * voted)
    first, second = ((codes == c).astype(float) for c in (0, 1))
    same = first.T @ (weight * first) + second.T @ (weight * second)
    with np.errstate(all="ignore"):
        r = 2 * same / together - 1
        judges = np.array(list(itertools.combinations(range(n), 3)))
        solved: list[list[float]] = [[] for _ in range(n)]
        for a, b, c in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
            i, j, k = judges[:, a], judges[:, b], judges[:, c]
            square = r[i, j] * r[i, k] / r[j, k]
            good = np.isfinite(square) & (square >= 0)
            for judge, value in zip(i[good].tolist(), np.sqrt(square[good]).tolist(), strict=True):
                solved[judge].append((1 + value) / 2)
    return np.array([min(float(np.median(values)), 1.0) if values else np.nan for values in solved])


def agreement_gap(prevalence: float, first: tuple[float, float], second: tuple[float, float]) -> float:
    r"""Return :math:`e_{ij} - e_i e_j` of two judges that are independent given the label.

    .. math:: e_{ij} - e_i e_j = P_\alpha P_\beta (e_{i\alpha} - e_{i\beta})(e_{j\alpha} - e_{j\beta})   \tag{J7}

    It is zero only if a judge errs equally often on both labels: Eq 79 is no identity. Accuracies are given on α, β.

    >>> round(agreement_gap(0.5, (1.0, 0.6), (1.0, 0.6)), 3)
    0.04
    """
    return prevalence * (1 - prevalence) * (first[1] - first[0]) * (second[1] - second[0])
