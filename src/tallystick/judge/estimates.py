"""Every label-free estimate that applies, side by side, and what labels say of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.judge.agreement import STREAM, agreement_accuracy
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.branch import Branch, Known
from tallystick.judge.dawid_skene import overall_accuracy
from tallystick.judge.independent import INDEPENDENCE, both_points, trio_counts
from tallystick.judge.majority import MAJORITY, majority_scores, majority_shares
from tallystick.judge.medians import medians
from tallystick.judge.result import Alarm, Estimate, Number, Solution
from tallystick.judge.spectral import spectral_point
from tallystick.results import Unknown
from tallystick.stats.intervals import clopper_pearson
from tallystick.stats.latent import LatentFit, solve_moments, trio_moments

__all__ = ["BLEND", "by_likelihood", "closed_forms", "majorities", "plain", "tested_by_labels"]

BLEND = "majority with and without oneself"


def by_likelihood(blind: Ballots, fitted: LatentFit, known: Known | None) -> Estimate:
    """Return what Dawid-Skene says."""
    return Estimate(
        method="dawid-skene",
        assumption=INDEPENDENCE,
        accuracy=_named(blind, overall_accuracy(blind, fitted, known)),
        prevalence={key: float(fitted.balance[c]) for c, key in enumerate(blind.keys)},
    )


def closed_forms(
    ballots: Ballots, blind: Ballots, branch: Branch
) -> tuple[list[Estimate], Mapping[str, int], tuple[Solution, ...]]:
    """Return the estimates that need two labels and three judges, how the trios ended, and both mirror points."""
    moments = trio_moments(blind.codes, blind.counts)
    trios = solve_moments(moments)
    counts = trio_counts(trios, blind)
    found = []
    solutions: tuple[Solution, ...] = ()
    middle = medians(trios, branch, ballots)
    if middle is not None:
        solutions = both_points(middle, ballots, branch)
        found.append(
            Estimate(
                method="independent",
                assumption=f"{INDEPENDENCE}; {branch.words}",
                accuracy=_named(blind, middle.overall),
                prevalence={blind.keys[0]: middle.balance, blind.keys[1]: 1 - middle.balance},
            )
        )
    try:
        balance, accuracy = spectral_point(moments)
        found.append(
            Estimate(
                method="spectral",
                assumption=INDEPENDENCE,
                accuracy=_named(blind, accuracy @ [balance, 1 - balance]),
                prevalence={blind.keys[0]: balance, blind.keys[1]: 1 - balance},
            )
        )
    except (NotIdentifiable, ConvergenceError):
        pass  # it is one of several: its own function says why
    rates = agreement_accuracy(blind)
    if np.isfinite(rates).any():
        found.append(Estimate(method="agreement", assumption=STREAM, accuracy=_named(blind, rates)))
    return found, counts, solutions


def majorities(blind: Ballots) -> list[Estimate]:
    """Return majority vote, majority of the others, and their mean; nothing for fewer than three judges."""
    shares = blind.counts @ majority_shares(blind)
    prevalence: dict[str, Number] = {key: float(shares[c] / shares.sum()) for c, key in enumerate(blind.keys)}
    rates = []
    for apart in (False, True):
        right, mass = majority_scores(blind, leave_one_out=apart)
        total = mass.sum(axis=1)
        rates.append(np.divide(right.sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0))
    if len(blind.names) < 3:
        return []  # no majority worth the name
    names = ("majority", "majority of the others", BLEND)
    return [
        Estimate(method=name, assumption=MAJORITY, accuracy=_named(blind, rate), prevalence=prevalence)
        for name, rate in zip(names, (*rates, (rates[0] + rates[1]) / 2), strict=True)
    ]


def tested_by_labels(found: Sequence[Estimate], ballots: Ballots, alpha: float) -> tuple[list[Estimate], list[Alarm]]:
    """Test every label-free estimate by exact intervals for items like these, simultaneous over judges.

    Not by intervals for these very items: with all of them labelled those would reject whatever is not exactly right.
    """
    known = (ballots.truth >= 0)[:, None]
    voted = ballots.codes >= 0
    labelled = ballots.counts @ (voted & known)
    right = ballots.counts @ (voted & known & (ballots.codes == ballots.truth[:, None]))
    use = np.flatnonzero(labelled > 0)
    if not use.size:
        return list(found), []
    ends = clopper_pearson(right[use], labelled[use], alpha=alpha / len(use))
    tested = []
    n_labels = int(ballots.counts[ballots.truth >= 0].sum())
    alarms = []
    for estimate in found:
        values = np.array([plain(estimate.accuracy[ballots.names[j]]) for j in use])
        outside = (values < ends.low - 1e-9) | (values > ends.high + 1e-9)
        if not outside.any():
            tested.append(replace(estimate, rejected=False, why=f"{n_labels} labels do not contradict it"))
            continue
        worst = int(np.flatnonzero(outside)[np.argmax(np.abs(values - (ends.low + ends.high) / 2)[outside])])
        name = ballots.names[int(use[worst])]
        why = (
            f"it gives {name} {values[worst]:.3f}, and {n_labels} labels allow [{ends.low[worst]:.3f}, "
            f"{ends.high[worst]:.3f}]"
        )
        tested.append(replace(estimate, rejected=True, why=why))
        alarms.append(
            Alarm(
                name=f"{estimate.method} is rejected",
                proves=f"{estimate.method} is wrong here: {why}",
                does_not_prove="that an estimate which was not rejected is right: few labels reject little",
            )
        )
    return tested, alarms


def _named(blind: Ballots, values: Floats) -> dict[str, Number]:
    return {
        name: float(values[j]) if np.isfinite(values[j]) else Unknown(f"nothing can be said of {name} this way")
        for j, name in enumerate(blind.names)
    }


def plain(value: Number, otherwise: float = float("nan")) -> float:
    """Return a number, or *otherwise* where it is unknown."""
    return value if isinstance(value, float) else otherwise
