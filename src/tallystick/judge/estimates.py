"""Every label-free estimate that applies, side by side, each with its own doubt."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from tallystick._rng import Rng
from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.judge.agreement import agreement_accuracy, agreement_ends
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.branch import Branch, Known
from tallystick.judge.dawid_skene import overall_accuracy, overall_ends
from tallystick.judge.independent import both_points, trio_counts
from tallystick.judge.majority import majority_scores, majority_shares
from tallystick.judge.medians import Medians, medians
from tallystick.judge.parts import Estimate, Number, Solution
from tallystick.judge.refutation import Claim, Doubt
from tallystick.judge.spectral import interval_ends, rank_one, spectral_point
from tallystick.judge.verdict_grounds import INDEPENDENCE, MAJORITY, STREAM, UNREADABLE
from tallystick.results import Interval, Unknown
from tallystick.stats.intervals import wilson
from tallystick.stats.latent import Headline, LatentFit, TrioMoments, solve_moments, trio_moments

__all__ = ["BLEND", "by_headline", "by_likelihood", "closed_forms", "majorities"]

BLEND = "majority with and without oneself"


def by_likelihood(blind: Ballots, fitted: LatentFit, known: Known | None, rng: Rng) -> Claim:
    """Return what Dawid-Skene says."""
    estimate = Estimate(
        method="dawid-skene",
        assumption=INDEPENDENCE,
        accuracy=_named(blind, overall_accuracy(blind, fitted, known)),
        prevalence={key: float(fitted.balance[c]) for c, key in enumerate(blind.keys)},
    )
    return Claim(
        estimate=estimate,
        doubt=lambda alpha: overall_ends(blind, fitted, known=known, alpha=alpha, rng=rng),
    )


def by_headline(blind: Ballots, headline: Headline) -> Claim:
    """Return what Dawid-Skene with unreadable items says; its doubt is that of a share of votes."""
    estimate = Estimate(
        method="dawid-skene with unreadable items",
        assumption=UNREADABLE,
        accuracy=_named(blind, headline.accuracy),
        prevalence={key: float(headline.balance[c]) for c, key in enumerate(blind.keys)},
    )
    return Claim(estimate=estimate, doubt=partial(_of_share, headline.accuracy, blind.voted))


def closed_forms(
    ballots: Ballots, blind: Ballots, branch: Branch
) -> tuple[list[Claim], Mapping[str, int], tuple[Solution, ...]]:
    """Return the estimates that need two labels and three judges, how the trios ended, and both
    mirror points.
    """
    moments = trio_moments(blind.codes, blind.counts)
    trios = solve_moments(moments)
    counts = trio_counts(trios, blind)
    found = []
    solutions: tuple[Solution, ...] = ()
    middle = medians(trios, branch, ballots)
    if middle is not None:
        solutions = both_points(middle, ballots, branch)
        point = Estimate(
            method="independent",
            assumption=f"{INDEPENDENCE}; {branch.words}",
            accuracy=_named(blind, middle.overall),
            prevalence={blind.keys[0]: middle.balance, blind.keys[1]: 1 - middle.balance},
        )
        found.append(Claim(estimate=point, doubt=partial(_of_medians, middle, blind)))
    try:
        balance, accuracy = spectral_point(moments)
        point = Estimate(
            method="spectral",
            assumption=INDEPENDENCE,
            accuracy=_named(blind, accuracy @ [balance, 1 - balance]),
            prevalence={blind.keys[0]: balance, blind.keys[1]: 1 - balance},
        )
        found.append(Claim(estimate=point, doubt=partial(_of_spectral, moments, blind)))
    except (NotIdentifiable, ConvergenceError):
        pass  # it is one of several: its own function says why
    rates = agreement_accuracy(blind)
    if np.isfinite(rates).any():
        point = Estimate(method="agreement", assumption=STREAM, accuracy=_named(blind, rates))
        found.append(Claim(estimate=point, doubt=lambda alpha: agreement_ends(blind, alpha=alpha)))
    return found, counts, solutions


def majorities(blind: Ballots) -> list[Claim]:
    """Return majority vote, majority of the others, and their mean; nothing for fewer than three
    judges.
    """
    if len(blind.names) < 3:
        return []  # no majority worth the name
    shares = blind.counts @ majority_shares(blind)
    prevalence: dict[str, Number] = {
        key: float(shares[c] / shares.sum()) for c, key in enumerate(blind.keys)
    }
    rates: list[Floats] = []
    doubts: list[Doubt] = []
    for apart in (False, True):
        right, mass = majority_scores(blind, leave_one_out=apart)
        total = mass.sum(axis=1)
        rates.append(
            np.divide(right.sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0)
        )
        doubts.append(partial(_of_share, rates[-1], total))

    def blended(alpha: float) -> tuple[Floats, Floats]:
        """Return the mean of both ranges: at least as wide as the range of the mean."""
        (low, high), (lower, higher) = (doubt(alpha) for doubt in doubts)
        return (low + lower) / 2, (high + higher) / 2

    names = ("majority", "majority of the others", BLEND)
    return [
        Claim(
            estimate=Estimate(
                method=name,
                assumption=MAJORITY,
                accuracy=_named(blind, rate),
                prevalence=prevalence,
            ),
            doubt=doubt,
        )
        for name, rate, doubt in zip(
            names, (*rates, (rates[0] + rates[1]) / 2), (*doubts, blended), strict=True
        )
    ]


def _of_medians(middle: Medians, blind: Ballots, alpha: float) -> tuple[Floats, Floats]:
    low, high = middle.intervals(blind, alpha).overall.T
    return low, high


def _of_spectral(moments: TrioMoments, blind: Ballots, alpha: float) -> tuple[Floats, Floats]:
    _, _, overall = interval_ends(blind, moments, *rank_one(moments), alpha=alpha)
    ends = [
        (end.low, end.high) if isinstance(end, Interval) else (np.nan, np.nan) for end in overall
    ]
    low, high = np.array(ends).T
    return low, high


def _of_share(rate: Floats, total: Floats, alpha: float) -> tuple[Floats, Floats]:
    low, high = np.full((2, len(rate)), np.nan)
    seen = (total > 0) & np.isfinite(rate)
    ends = wilson(np.minimum(rate * total, total)[seen], total[seen], alpha=alpha)
    low[seen], high[seen] = ends.low, ends.high
    return low, high


def _named(blind: Ballots, values: Floats) -> dict[str, Number]:
    return {
        name: (
            float(values[j])
            if np.isfinite(values[j])
            else Unknown(f"nothing can be said of {name} this way")
        )
        for j, name in enumerate(blind.names)
    }
