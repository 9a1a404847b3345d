"""Whether pairs vote together as often as conditional independence says: the test of copied votes.

Rules that seldom fire agree mostly by being silent, and there a copy does not show. It shows where
both vote.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, spawn
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.stats.latent_checks import UnreadableFit, agreement_z, degrees_of_freedom
from tallystick.stats.latent_fit import LatentFit, Replica, information
from tallystick.stats.latent_model import (
    FloatArray,
    Problem,
    Votes,
    climb,
    posterior,
    spread,
    unpack,
)

__all__ = ["GATE", "CoVotes", "WithExtras", "covote_misfit", "covote_rms", "with_extras"]

_LEAST_EXPECTED = 2.0
"""Cells with fewer expected rows are left out: their z is far from normal."""
_STEPS = 500
_REFITS = 19


@dataclass(frozen=True, eq=False, kw_only=True)
class CoVotes:
    """Two root mean squares of the votes, and the same of refits to the model's own draws.

    Parameters
    ----------
    agreement, covote
        RMS of the pairs' agreement (L3) and of their co-votes (L4); NaN where no pair counts.
    agreement_null, covote_null
        The same for refits.
    """

    agreement: float
    covote: float
    agreement_null: FloatArray
    covote_null: FloatArray

    @property
    def rejected(self) -> bool:
        """True if either RMS exceeds every refit; the level is at most 10 %.

        It proves that votes depend on one another given the class. False proves nothing.
        """
        pairs = ((self.agreement, self.agreement_null), (self.covote, self.covote_null))
        return any(
            np.isfinite(seen) and seen > float(np.nanmax(null, initial=-np.inf))
            for seen, null in pairs
        )


def covote_rms(fit: LatentFit) -> float:
    r"""Return the root mean square of z over all pairs and both cells; NaN if no cell counts.

    For each pair, O are the rows on which both vote alike (in the second cell: differently), n the
    rows that show both, and

    .. math:: E = n \sum_k b_k \sum_c M_{jck} M_{ick}, \qquad z = (O - E)/\sqrt E
              \quad\text{where } E \ge 2.   \tag{L4}

    Votes beyond the classes, such as an abstention that is a vote, are no vote here.
    """
    votes, classes = fit.votes, fit.model.n_classes
    weight = votes.counts[:, None]
    confusion = fit.model.confusion[:, :, :classes]
    there = (votes.codes >= 0).astype(np.float64)
    cast = ((votes.codes >= 0) & (votes.codes < classes)).astype(np.float64)
    alike = np.zeros((votes.n_judges, votes.n_judges))
    for c in range(classes):
        gave = (votes.codes == c).astype(np.float64)
        alike += gave.T @ (weight * gave)

    rows = there.T @ (weight * there)
    balance, speaks = fit.model.balance, confusion.sum(axis=2)
    e_alike = rows * np.einsum("y,jyv,kyv->jk", balance, confusion, confusion, optimize=True)
    e_both = rows * np.einsum("y,jy,ky->jk", balance, speaks, speaks, optimize=True)
    pair = np.triu_indices(votes.n_judges, 1)
    seen = np.concatenate([alike[pair], (cast.T @ (weight * cast) - alike)[pair]])
    expected = np.concatenate([e_alike[pair], (e_both - e_alike)[pair]])
    counts = expected >= _LEAST_EXPECTED
    if not counts.any():
        return float("nan")
    z = (seen[counts] - expected[counts]) / np.sqrt(expected[counts])  # (L4)
    return float(np.sqrt((z**2).mean()))


def covote_misfit(fit: LatentFit, *, n_refits: int = _REFITS, rng: Rng) -> CoVotes | None:
    """Test conditional independence by votes alone, with a null from parametric refits.

    Each refit starts at the posterior of the fitted model, so that it ends on the same branch.

    Parameters
    ----------
    fit
        The fitted model.
    n_refits
        Refits, at least 19.
    rng
        A stream of its own: a seed that also made the data would share its uniforms with it.

    Returns
    -------
    CoVotes
        None if nothing can be tested: the model is saturated (three binary judges who always
        vote), or no pair votes on enough rows.

    Examples
    --------
    >>> from tallystick.stats.latent_model import LatentModel
    >>> from tallystick.stats.latent_fit import fit, simulate
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 4)
    >>> codes, _ = simulate(model, 500, rng=1)
    >>> covote_misfit(fit(codes, [1] * 500, n_classes=2), rng=2).rejected
    False
    >>> codes[:, 1] = codes[:, 0]  # the second judge copies the first
    >>> covote_misfit(fit(codes, [1] * 500, n_classes=2), rng=2).rejected
    True
    """
    if n_refits < _REFITS:
        raise InputError(f"n_refits must be at least {_REFITS}, got {n_refits!r}")
    covote, agreement = covote_rms(fit), _agreement_rms(fit)
    if degrees_of_freedom(fit) <= 0 or not (np.isfinite(covote) or np.isfinite(agreement)):
        return None
    replica = Replica.of(fit)
    again = [_refit(fit, replica.draw(stream)) for stream in spawn(rng, n_refits)]
    return CoVotes(
        agreement=agreement,
        covote=covote,
        agreement_null=np.array([_agreement_rms(one) for one in again]),
        covote_null=np.array([covote_rms(one) for one in again]),
    )


def _agreement_rms(fit: LatentFit) -> float:
    z = agreement_z(fit)
    seen = z[np.isfinite(z)]
    return float(np.sqrt((seen**2).mean())) if seen.size else float("nan")


def _refit(fit: LatentFit, drawn: Votes) -> LatentFit:
    """Fit a replica from the posterior of the fitted model, on distinct patterns."""
    codes, place = np.unique(drawn.codes, axis=0, return_inverse=True)
    counts = np.bincount(place.reshape(-1), weights=drawn.counts).astype(np.float64)
    votes = Votes(codes, counts, drawn.n_votes, np.full(len(codes), -1))
    options = replace(fit.options, strict=False, max_iterations=_STEPS)
    problem = Problem.of(votes, fit.model.n_classes, options)
    run = climb(problem, problem.maximise(posterior(fit.model, codes).T), options)
    responsibility = run.expectation.responsibility
    return replace(
        fit,
        model=unpack(run.table, votes.n_votes),
        posterior=np.ascontiguousarray(responsibility.T),
        expected_counts=spread(problem.counts(responsibility)[:, 1:], votes.n_votes),
        log_likelihood=run.expectation.log_likelihood,
        objective=run.expectation.objective,
        iterations=run.iterations,
        converged=run.converged,
        votes=votes,
        options=options,
    )


# Votes that can never be true (tie, error, refusal): shares, accuracies, and a model interval.
#
# Truth is fitted over the K possible labels, votes over all V. An interval exists only under the
# model: outer-product information on logits, plus :math:`\mathrm{diag}(C) - C C'` per row for its
# pseudo-vote, delta method on
#
# .. math:: a_j = \sum_y \pi_y C_{jyy}   \tag{U11}
#
# on the logit scale. Votes that a judge never cast are left out, or the information is singular. On
# weak panels the interval fails (.62 for the strong judge among .9 .6 .6), so it is withheld unless
# the third best accuracy when answered is at least .7. Even then it holds only if the judges err
# independently: the worst panel that passed covered .86.


GATE = 0.7
"""The third best accuracy when answered must reach this, or no interval is given."""

_ASSUMPTION = "errors are independent given the label"


@dataclass(frozen=True, kw_only=True, eq=False)
class WithExtras:
    """Judges whose votes include some that are never true.

    Parameters
    ----------
    balance
        Shares of the labels that can be true.
    answered
        Share of each judge's votes that are possible labels.
    accuracy
        Share of all votes of a judge that are right, :math:`A^0_j`: extra votes count as not right.
    when_answered
        Share of its possible votes that are right; NaN for a judge without one.
    on_new_items
        (U11): the accuracy on new items, the centre of the interval.
    intervals
        One per judge, or why there is none.
    """

    balance: FloatArray
    answered: FloatArray
    accuracy: FloatArray
    when_answered: FloatArray
    on_new_items: FloatArray
    intervals: tuple[Interval | Unknown, ...]


def with_extras(fit: UnreadableFit, *, level: float = 0.95) -> WithExtras:
    """Return accuracies with extra votes and, where the panel is strong enough, model intervals.

    Works without extra votes too.

    Examples
    --------
    Three judges; vote 2 is a refusal.

    >>> from tallystick.stats.latent_checks import fit_unreadable
    >>> patterns = [[0, 0, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 2]]
    >>> fit = fit_unreadable(patterns, [40, 38, 9, 7, 4, 8, 5], n_labels=2, n_votes=3)
    >>> found = with_extras(fit)
    >>> found.answered.round(3)
    array([1.   , 1.   , 0.955])
    """
    if not 0 < level < 1:
        raise InputError(f"level must be in (0, 1), got {level!r}")
    table = fit.tables[fit.at(0.0)]
    votes = table.sum(axis=(1, 2))
    possible = table[:, :, : fit.n_labels].sum(axis=(1, 2))
    right = np.einsum("jyy->j", table[:, :, : fit.n_labels])
    when_answered = _ratio(right, possible)

    n_judges = len(votes)
    third = np.sort(when_answered[np.isfinite(when_answered)])[::-1][2:3]
    intervals: tuple[Interval | Unknown, ...]
    if not third.size or third[0] < GATE:
        weak = "none" if not third.size else f"{100 * float(third[0]):.1f} %"
        reason = (
            f"the third best judge is right on {weak} of what it answers, below "
            f"{100 * GATE:.0f} %: model intervals fail on such panels"
        )
        intervals = (Unknown(reason),) * n_judges
    else:
        intervals = _intervals(fit, level)
    return WithExtras(
        balance=fit.plain.balance,
        answered=_ratio(possible, votes),
        accuracy=fit.accuracy[fit.at(0.0)],
        when_answered=when_answered,
        on_new_items=fit.plain.model.accuracy,
        intervals=intervals,
    )


def _intervals(fit: UnreadableFit, level: float) -> tuple[Interval | Unknown, ...]:
    """Return the logit intervals of (U11); the prior of the fit is the pseudo-vote per row."""
    n_judges = fit.votes.n_judges
    try:
        low, high = information(fit.plain, kind="outer").accuracy_interval(level)
    except NotIdentifiable as error:
        return (Unknown(str(error)),) * n_judges
    out: list[Interval | Unknown] = []
    for j in range(n_judges):
        if np.isfinite(low[j]) and np.isfinite(high[j]):
            out.append(
                Interval(
                    low[j],
                    high[j],
                    level,
                    guarantee="under",
                    assumption=_ASSUMPTION,
                    method="logit",
                )
            )
        else:
            out.append(Unknown("an accuracy of this judge is on the edge or rests on no vote"))
    return tuple(out)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    unknown = np.full_like(part, np.nan)
    return np.asarray(np.divide(part, whole, out=unknown, where=whole > 0))
