"""Do these judges err independently? A test that can say no, and never yes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError, NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.parts import Number
from tallystick.judge.verdict_grounds import SHARED_BIAS
from tallystick.judge.verdict_methods import independence_verdict
from tallystick.results import Figure, Result, Unknown
from tallystick.stats.latent import LatentOptions, agreement_z, fit, log_likelihood, trio_moments
from tallystick.stats.multiplicity import holm
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["IndependenceResult", "independence"]

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
    >>> from tallystick.judge.papers import Point, simulate
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
