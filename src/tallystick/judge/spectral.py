"""The spectral baseline: votes covary like a matrix of rank one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.independent import INDEPENDENCE, SHARED_BIAS
from tallystick.judge.result import JudgeResult, JudgeScore, LabelScore, Share
from tallystick.results import Unknown
from tallystick.stats.latent import TrioMoments, trio_moments
from tallystick.tally import Tally
from tallystick.tally.labels import Label

__all__ = ["spectral", "spectral_point"]

_ROUNDS = 10_000


def spectral(
    votes: Tally, *, judges: Sequence[str] | None = None, truth: str | None = None, labels: Sequence[Label] = ()
) -> JudgeResult:
    r"""Grade binary judges by the leading eigenvector of their covariances.

    Off the diagonal the covariance of votes is :math:`v v^\top` with :math:`v_i = \sqrt{P_\alpha P_\beta}\,\delta_i`
    [CE23]_, Eq 56; the diagonal is filled in until it agrees. Third moments then give the prevalence by least squares,
    :math:`T_{ijk} = \tau\, v_i v_j v_k` with :math:`\tau = (P_\alpha - P_\beta)/\sqrt{P_\alpha P_\beta}`, and so the
    accuracies. This is the method that the text compares itself with (supplement 7); the same assumption as
    ``independent``, all trios used at once. No interval: use ``dawid_skene``.

    Examples
    --------
    >>> from tallystick.judge import Point, simulate
    >>> accuracy = {"w": ("9/10", "4/5"), "x": ("3/4", "3/4"), "y": ("2/3", "4/5"), "z": ("1/2", "4/5")}
    >>> result = spectral(simulate(Point(prevalence="1/4", accuracy=accuracy)).tally, truth="truth")
    >>> [round(part.estimate, 6) for part in result.judges[0].per_label.values()]
    [0.9, 0.8]
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).blind
    ballots.require_binary("spectral")
    if len(ballots.names) < 3:
        raise NotIdentifiable(f"spectral needs three judges, got {len(ballots.names)}: add judges or label some items")
    balance, accuracy = spectral_point(trio_moments(ballots.codes, ballots.counts))
    none = Unknown("the spectral method has no interval here: dawid_skene has one under the same assumption")
    overall = accuracy @ [balance, 1 - balance]
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=float(overall[j]),
            interval=none,
            per_label={
                key: LabelScore(estimate=float(accuracy[j, c]), interval=none) for c, key in enumerate(ballots.keys)
            },
            votes=float(ballots.voted[j]),
        )
        for j, name in enumerate(ballots.names)
    )
    best = int(overall.argmax())
    return JudgeResult(
        verdict=f"If errors were independent, {ballots.names[best]} would be right most often, on "
        f"{100 * overall[best]:.1f} % (spectral); nothing here tests that.",
        decision="undecided",
        n_items=round(ballots.n),
        assumptions=(INDEPENDENCE, "judges are better than chance taken together"),
        warnings=(SHARED_BIAS,),
        method="spectral",
        judges=scores,
        prevalence={
            ballots.keys[0]: Share(estimate=balance, interval=none),
            ballots.keys[1]: Share(estimate=1 - balance, interval=none),
        },
    )


def spectral_point(moments: TrioMoments) -> tuple[float, Floats]:
    """Return the prevalence of the first label and accuracies (judges x 2), moved into [0, 1]."""
    v = _rank_one(moments.covariance)
    n = v.size
    i, j, k = (np.array(index) for index in zip(*_triples(n), strict=True))
    t, product = moments.third[i, j, k], v[i] * v[j] * v[k]
    seen = np.isfinite(t)
    scale = float((product[seen] ** 2).sum())
    if scale <= 0:
        raise NotIdentifiable("the judges' votes do not covary: nothing can be learnt from them without labels")
    tau = float((t[seen] * product[seen]).sum()) / scale
    balance = (1 + tau / np.sqrt(4 + tau**2)) / 2
    delta = v / np.sqrt(balance * (1 - balance))
    f = moments.mean
    accuracy = np.stack(((1 - f) + (1 - balance) * delta, f + balance * delta), axis=1)
    return float(balance), np.clip(accuracy, 0.0, 1.0)


def _rank_one(covariance: Floats) -> Floats:
    """Return v with v v' closest to the covariance off its diagonal, on the side of better-than-chance judges."""
    matrix = np.where(np.isfinite(covariance), covariance, 0.0)
    np.fill_diagonal(matrix, 0.0)
    diagonal = np.abs(matrix).max(axis=1)
    for _ in range(_ROUNDS):
        np.fill_diagonal(matrix, diagonal)
        values, vectors = np.linalg.eigh(matrix)
        v = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
        if np.abs(v**2 - diagonal).max() <= 1e-13:
            return np.asarray(v if v.sum() >= 0 else -v)
        diagonal = v**2
    raise ConvergenceError("the spectral diagonal did not settle: a judge dominates; use independent or dawid_skene")


def _triples(n: int) -> list[tuple[int, int, int]]:
    import itertools

    return list(itertools.combinations(range(n), 3))
