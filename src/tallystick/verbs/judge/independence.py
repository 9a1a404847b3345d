"""Do these judges err independently? A test that can say no, and never yes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import ConvergenceError, InputError, NotIdentifiable
from tallystick.results import Figure, Interval, Result, Unknown
from tallystick.stats.latent_checks import agreement_z
from tallystick.stats.latent_fit import fit
from tallystick.stats.latent_model import LatentOptions, log_likelihood
from tallystick.stats.latent_triplet import TrioMoments, trio_moments
from tallystick.stats.maxt import holm
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.verbs.judge.ballots import (
    Ballots,
    Floats,
    JudgeScore,
    LabelScore,
    Number,
    Range,
    Share,
)
from tallystick.verbs.judge.independent import logit_ends
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.verdict import INDEPENDENCE, SHARED_BIAS
from tallystick.verbs.judge.verdict_methods import independence_verdict, of_baseline

_QUICK = LatentOptions(tolerance=1e-6, strict=False)


@dataclass(frozen=True, kw_only=True)
class IndependenceResult(Result):
    """Whether the votes refute independent errors.

    Parameters
    ----------
    rejected
        Whether they do, over all quartets tested, with the family-wise error alpha.
    quartets
        One mapping a quartet: judges, G², degrees of freedom, p-value, adjusted p-value.
    n_rejected
        Quartets that reject on their own at alpha.
    pair
        The two judges whose votes move together most beyond what their quality explains.
    pair_correlation
        Their estimated error correlation given the label.
    effective_judges
        How many independent judges these are worth.
    """

    verb: ClassVar[str] = "judge"

    rejected: bool
    quartets: tuple[dict[str, Any], ...]
    n_rejected: int
    pair: tuple[str, str]
    pair_correlation: Number
    effective_judges: Number

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a quartet, the worst first."""
        return [{**row, "judges": ", ".join(row["judges"])} for row in self.quartets]

    def figures(self) -> tuple[Figure, ...]:
        """Return the adjusted p-values of the worst quartets."""
        shown = self.quartets[:20]
        return (
            Figure(
                kind="forest",
                title="Quartets that fit independence least",
                columns={
                    "quartet": [", ".join(row["judges"]) for row in shown],
                    "p": [row["p_value"] for row in shown],
                },
                roles={"name": "quartet", "x": "p"},
                labels={"x": "p-value"},
            ),
        )


def independence(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    alpha: float = 0.05,
    most: int = 100,
    least_items: int = 50,
    rng: Rng = 0,
) -> IndependenceResult:
    r"""Test independent errors on quartets of judges.

    Four judges are over-identified: with L labels the :math:`L^4 - 1` pattern shares have
    :math:`(L - 1) + 4 L (L - 1)` parameters, and

    .. math:: G^2 = 2 \sum_p O_p \log (O_p / E_p)   \tag{J10}

    is about chi-squared on the difference (6 for two labels) if errors are independent given the
    label. Quartets are combined by Holm's rule. For two labels the pair at fault comes from
    tetrads: without extra correlation :math:`D_{ij} = D_{ik} D_{jl} / D_{kl}`, and what is left
    over, scaled by the variances that remain within labels, estimates the pair's error correlation
    :math:`\rho_{ij}`; :math:`J^2 / \sum_{ij} \max(0, \rho_{ij})` judges would be as good as these
    J.

    A rejection proves that some judges err together. A pass proves nothing: a bias that all judges
    share is absorbed into what is taken for the truth.

    Parameters
    ----------
    votes, judges, truth, labels
        The tally; which columns judge; a column to leave aside; labels that nobody voted for.
    alpha
        Family-wise error.
    most
        At most this many quartets, drawn at random if there are more.
    least_items
        Quartets with fewer common items are passed over.
    rng
        For the draw of quartets.

    Examples
    --------
    >>> from tallystick.verbs.judge.papers import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("4/5", "3/4") for name in "wxyz"})
    >>> independence(simulate(point).tally, truth="truth").rejected
    False
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).answered.blind
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    if len(ballots.names) < 4:
        raise NotIdentifiable(
            f"{len(ballots.names)} judges can be explained by independent errors whatever they"
            " vote: a test needs four"
        )
    rows = _quartets(ballots, most, least_items, as_rng(rng))
    if not rows:
        raise NotIdentifiable(
            f"no quartet of judges shares {least_items} items: lower least_items or collect more"
            " votes"
        )
    p_values = np.array([row["p_value"] for row in rows])
    for row, adjusted in zip(rows, holm(p_values).tolist(), strict=True):
        row["adjusted_p"] = adjusted
    rows.sort(key=lambda row: float(row["p_value"]))
    rejected = rows[0]["adjusted_p"] < alpha
    n_rejected = int((p_values < alpha).sum())
    pair, correlation, effective = _blame(ballots)
    return IndependenceResult(
        verdict=independence_verdict(
            rejected=rejected,
            against=n_rejected,
            quartets=len(rows),
            pair=pair,
            judges=len(ballots.names),
            worth=effective,
        ),
        decision="decided" if rejected else "undecided",
        n_items=round(ballots.n),
        assumptions=(
            "items are independent draws",
            "a vote is not missing because it would be right or wrong",
        ),
        warnings=(SHARED_BIAS,),
        seed=seed_of(rng),
        rejected=rejected,
        quartets=tuple(rows),
        n_rejected=n_rejected,
        pair=pair,
        pair_correlation=correlation,
        effective_judges=effective,
    )


def _quartets(
    ballots: Ballots, most: int, least_items: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    from scipy.special import chdtrc

    n, n_classes = len(ballots.names), len(ballots.classes)
    total = n * (n - 1) * (n - 2) * (n - 3) // 24
    if total <= most:
        chosen = list(itertools.combinations(range(n), 4))
    else:
        chosen = sorted(
            {tuple(sorted(rng.choice(n, 4, replace=False).tolist())) for _ in range(most)}
        )
    freedom = n_classes**4 - 1 - (n_classes - 1) - 4 * n_classes * (n_classes - 1)
    rows: list[dict[str, Any]] = []
    for four in chosen:
        codes = ballots.codes[:, four]
        there = (codes >= 0).all(axis=1)
        patterns, member = np.unique(codes[there], axis=0, return_inverse=True)
        counts = np.bincount(member.ravel(), weights=ballots.counts[there])
        if counts.sum() < least_items:
            continue
        try:
            fitted = fit(patterns, counts, n_classes=n_classes, options=_QUICK)
        except NotIdentifiable:
            continue  # a judge that never varies here: nothing can be tested
        expected = counts.sum() * np.exp(log_likelihood(fitted.model, patterns))
        g2 = max(0.0, 2 * float((counts * np.log(counts / expected)).sum()))
        rows.append(
            {
                "judges": tuple(ballots.names[j] for j in four),
                "items": int(counts.sum()),
                "g2": g2,
                "freedom": freedom,
                "p_value": float(chdtrc(freedom, g2)),
            }
        )
    return rows


def _blame(ballots: Ballots) -> tuple[tuple[str, str], Number, Number]:
    """Return the pair that moves together most, its error correlation, and the effective number of
    judges.
    """
    n = len(ballots.names)
    if len(ballots.classes) > 2:
        z = np.nan_to_num(
            agreement_z(
                fit(ballots.codes, ballots.counts, n_classes=len(ballots.classes), options=_QUICK)
            )
        )
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(z)), z.shape))
        why = Unknown("error correlations are estimated for two labels only")
        return (ballots.names[min(i, j)], ballots.names[max(i, j)]), why, why
    rho = error_correlation(ballots)
    off = np.where(np.eye(n, dtype=bool), -np.inf, np.nan_to_num(rho, nan=-np.inf))
    i, j = (int(k) for k in np.unravel_index(int(off.argmax()), off.shape))
    effective = n * n / np.clip(np.nan_to_num(rho), 0, 1).sum()
    pair = (ballots.names[min(i, j)], ballots.names[max(i, j)])
    return (
        pair,
        float(off[i, j]) if np.isfinite(off[i, j]) else Unknown("no tetrad can be solved"),
        float(effective),
    )


def error_correlation(ballots: Ballots) -> Floats:
    """Return the estimated error correlation of every pair given the label, from tetrads; 1 on the
    diagonal.
    """
    moments = trio_moments(ballots.codes, ballots.counts)
    mean, d = moments.mean, moments.covariance
    n = mean.size
    between, expected = np.full(n, np.nan), np.full((n, n), np.nan)
    with np.errstate(all="ignore"):
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            ratio = d[i, rest][:, None] * d[i, rest][None, :] / d[np.ix_(rest, rest)]
            between[i] = np.nanmedian(ratio[np.triu_indices(n - 1, 1)])
            for j in range(i + 1, n):
                others = np.delete(np.arange(n), [i, j])
                tetrad = d[i, others][:, None] * d[j, others][None, :] / d[np.ix_(others, others)]
                tetrad[np.eye(n - 2, dtype=bool)] = np.nan
                expected[i, j] = expected[j, i] = np.nanmedian(tetrad)
        within = np.maximum(mean * (1 - mean) - np.clip(between, 0, mean * (1 - mean)), 1e-6)
        rho = np.clip((d - expected) / np.sqrt(np.outer(within, within)), -1, 1)
    np.fill_diagonal(rho, 1.0)
    return np.asarray(rho)


# The spectral baseline: votes covary like a matrix of rank one.


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
    coverage under the assumption is measured in docs/benchmarks/judge.md.

    Examples
    --------
    >>> from tallystick.verbs.judge.papers import Point, simulate
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


# How far sampling moves the spectral estimates: their delta-method intervals.


def spectral_errors(
    ballots: Ballots, moments: TrioMoments, v: Floats, tau: float
) -> tuple[float, Floats, Floats]:
    r"""Return standard errors of the prevalence, of accuracies by label (judges x 2) and overall,
    for complete votes.

    An item with votes x moves :math:`D_{ij}` by :math:`(z_i z_j - D_{ij})/n` and :math:`T_{ijk}` by
    :math:`(z_i z_j z_k - T_{ijk} - z_i D_{jk} - z_j D_{ik} - z_k D_{ij})/n`, with :math:`z = x -
    f`. The vector v is where :math:`F_i = \sum_{j \ne i} (D_{ij} - v_i v_j) v_j` vanishes, so it
    moves by :math:`-(\partial F/\partial v)^{-1}\, \mathrm dF`; the rest is the chain rule. Sums
    over trios are elementary symmetric polynomials, so the cost is patterns x judges.
    """
    n, f = float(ballots.counts.sum()), moments.mean
    d = np.where(np.eye(len(f), dtype=bool), 0.0, moments.covariance)
    z = (ballots.codes == 1) - f
    w, pull = z * v, d @ v
    moved = z * (w.sum(axis=1, keepdims=True) - w) - pull  # n times what dD adds to F
    slope = d - 2 * np.outer(v, v)
    np.fill_diagonal(slope, v**2 - (v**2).sum())
    dv = -np.linalg.solve(slope, moved.T).T
    third = np.nan_to_num(moments.third)  # i < j < k, 0 elsewhere
    of_v = (
        np.einsum("ijk,j,k->i", third, v, v)
        + np.einsum("ijk,i,k->j", third, v, v)
        + np.einsum("ijk,i,j->k", third, v, v)
    )
    size, product = _third(v**2), float(of_v @ v) / 3
    rest = float(v @ pull) / 2 - v * pull  # sums over pairs of the other judges of v_j v_k D_jk
    dt = _third(w) - product - w @ rest
    squares = (v**2).sum() - v**2
    others = (squares**2 - ((v**4).sum() - v**4)) / 2
    dtau = (dt + dv @ of_v - tau * (dv @ (2 * v * others))) / size
    balance = (1 + tau / np.sqrt(4 + tau**2)) / 2
    db = (2 * dtau / (4 + tau**2) ** 1.5)[:, None]
    q = balance * (1 - balance)
    delta = v / np.sqrt(q)
    ddelta = dv / np.sqrt(q) - delta * (1 - 2 * balance) / (2 * q) * db
    first = -z - db * delta + (1 - balance) * ddelta
    second = z + db * delta + balance * ddelta
    both = np.stack(((1 - f) + (1 - balance) * delta, f + balance * delta))
    overall = db * (both[0] - both[1]) + balance * first + (1 - balance) * second

    def error(influence: Floats) -> Floats:
        return np.asarray(np.sqrt(ballots.counts @ influence**2) / n)

    return float(error(db)[0]), np.stack((error(first), error(second)), axis=1), error(overall)


def _third(w: Floats) -> Floats:
    """Return the sum over trios of products, along the last axis."""
    one, two, three = (np.sum(w**power, axis=-1) for power in (1, 2, 3))
    return np.asarray((one**3 - 3 * one * two + 2 * three) / 6)
