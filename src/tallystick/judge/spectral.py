"""The spectral baseline: votes covary like a matrix of rank one."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.medians import logit_ends
from tallystick.judge.parts import JudgeScore, LabelScore, Range, Share
from tallystick.judge.result import JudgeResult
from tallystick.judge.spectral_ends import spectral_errors
from tallystick.judge.verdict_grounds import INDEPENDENCE, SHARED_BIAS
from tallystick.judge.verdict_methods import of_baseline
from tallystick.results import Interval, Unknown
from tallystick.stats.latent import TrioMoments, trio_moments
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["interval_ends", "rank_one", "spectral", "spectral_point"]

_ROUNDS = 10_000


def spectral(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    alpha: float = 0.05,
) -> JudgeResult:
    r"""Grade binary judges by the leading eigenvector of their covariances.

    Off the diagonal the covariance of votes is :math:`v v^\top` with :math:`v_i = \sqrt{P_\alpha
    P_\beta}\,\delta_i` [CE23]_, Eq 56; the diagonal is filled in until it agrees. Third moments
    then give the prevalence by least squares, :math:`T_{ijk} = \tau\, v_i v_j v_k` with :math:`\tau
    = (P_\alpha - P_\beta)/\sqrt{P_\alpha P_\beta}`, and so the accuracies. This is the method that
    the text compares itself with (supplement 7); the same assumption as ``independent``, all trios
    used at once. Intervals are the delta method's on the logit scale, for complete votes; their
    coverage under the assumption is measured in docs/coverage/judge-baselines.md.

    Examples
    --------
    >>> from tallystick.judge.papers import Point, simulate
    >>> accuracy = {"w": ("9/10", "4/5"), "x": ("3/4", "3/4"), "y": ("2/3", "4/5"), "z": ("1/2", "4/5")}
    >>> result = spectral(simulate(Point(prevalence="1/4", accuracy=accuracy)).tally, truth="truth")
    >>> [round(part.estimate, 6) for part in result.judges[0].per_label.values()]
    [0.9, 0.8]
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).answered.blind
    ballots.require_binary("spectral")
    if len(ballots.names) < 3:
        raise NotIdentifiable(
            f"spectral needs three judges, got {len(ballots.names)}: add judges or label some items"
        )
    moments = trio_moments(ballots.codes, ballots.counts)
    v, tau = rank_one(moments)
    balance, accuracy = _point(moments, v, tau)
    overall = accuracy @ [balance, 1 - balance]
    of_balance, of_accuracy, of_overall = interval_ends(ballots, moments, v, tau, alpha=alpha)
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=float(overall[j]),
            interval=of_overall[j],
            per_label={
                key: LabelScore(estimate=float(accuracy[j, c]), interval=of_accuracy[j][c])
                for c, key in enumerate(ballots.keys)
            },
            votes=float(ballots.voted[j]),
        )
        for j, name in enumerate(ballots.names)
    )
    flipped = (
        of_balance
        if isinstance(of_balance, Unknown)
        else _under(1 - of_balance.high, 1 - of_balance.low, alpha)
    )
    return JudgeResult(
        verdict=of_baseline(
            scores, "errors were independent", "Nothing here tests that (spectral)."
        ),
        decision="undecided",
        n_items=round(ballots.n),
        assumptions=(INDEPENDENCE, "judges are better than chance taken together"),
        warnings=(
            SHARED_BIAS,
            *((f"no intervals: {of_balance}",) if isinstance(of_balance, Unknown) else ()),
        ),
        method="spectral",
        judges=scores,
        prevalence={
            ballots.keys[0]: Share(estimate=balance, interval=of_balance),
            ballots.keys[1]: Share(estimate=1 - balance, interval=flipped),
        },
    )


def spectral_point(moments: TrioMoments) -> tuple[float, Floats]:
    """Return the prevalence of the first label and accuracies (judges x 2), moved into [0, 1]."""
    return _point(moments, *rank_one(moments))


def rank_one(moments: TrioMoments) -> tuple[Floats, float]:
    """Return v and the τ of third moments."""
    v = _vector(moments.covariance)
    i, j, k = (np.array(index) for index in zip(*_triples(v.size), strict=True))
    t, product = moments.third[i, j, k], v[i] * v[j] * v[k]
    seen = np.isfinite(t)
    scale = float((product[seen] ** 2).sum())
    if scale <= 0:
        raise NotIdentifiable(
            "the judges' votes do not covary: nothing can be learnt from them without labels"
        )
    tau = float((t[seen] * product[seen]).sum()) / scale
    # Third moments far above the second ones put every item into one class (balance 0 or 1).
    if not 0 < _balance(tau) < 1:
        raise NotIdentifiable(
            "the votes put every item into one class, so that nothing can be said about the other:"
            " add items or judges, or label some items"
        )
    return v, tau


def _balance(tau: float) -> float:
    return float((1 + tau / np.sqrt(4 + tau**2)) / 2)


def _point(moments: TrioMoments, v: Floats, tau: float) -> tuple[float, Floats]:
    balance = _balance(tau)
    delta = v / np.sqrt(balance * (1 - balance))
    f = moments.mean
    accuracy = np.stack(((1 - f) + (1 - balance) * delta, f + balance * delta), axis=1)
    return balance, np.clip(accuracy, 0.0, 1.0)


def interval_ends(
    ballots: Ballots, moments: TrioMoments, v: Floats, tau: float, *, alpha: float
) -> tuple[Range, list[list[Range]], list[Range]]:
    """Return intervals of the prevalence, by judge and label, and by judge; or the reason why there
    are none.
    """
    balance, accuracy = _point(moments, v, tau)
    overall = accuracy @ [balance, 1 - balance]
    if not ballots.complete:
        none = Unknown(
            "some votes are missing, which this interval does not allow for; dawid_skene's does"
        )
        return none, [[none, none] for _ in v], [none for _ in v]
    z = NormalDist().inv_cdf(1 - alpha / 2)
    try:
        errors = spectral_errors(ballots, moments, v, tau)
    except np.linalg.LinAlgError:
        none = Unknown("a judge decides nothing here, so that the estimates have no slope; drop it")
        return none, [[none, none] for _ in v], [none for _ in v]

    def interval(value: float, error: float) -> Range:
        low, high = logit_ends(value, error, z).tolist()
        return (
            _under(low, high, alpha)
            if np.isfinite([low, high]).all()
            else Unknown("the estimate is on the edge")
        )

    return (
        interval(balance, errors[0]),
        [[interval(accuracy[j, c], errors[1][j, c]) for c in range(2)] for j in range(v.size)],
        [interval(overall[j], errors[2][j]) for j in range(v.size)],
    )


def _under(low: float, high: float, alpha: float) -> Interval:
    return Interval(
        low,
        high,
        level=1 - alpha,
        guarantee="under",
        assumption=INDEPENDENCE,
        method="delta method",
    )


def _vector(covariance: Floats) -> Floats:
    """Return v with v v' closest to the covariance off its diagonal, on the side of
    better-than-chance judges.
    """
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
    raise ConvergenceError(
        "the spectral diagonal did not settle: a judge dominates; use independent or dawid_skene"
    )


def _triples(n: int) -> list[tuple[int, int, int]]:
    import itertools

    return list(itertools.combinations(range(n), 3))
