"""Whether pairs vote together as often as conditional independence says: the test of copied votes.

Rules that seldom fire agree mostly by being silent, and there a copy does not show. It shows where
both vote.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, spawn
from tallystick.errors import InputError
from tallystick.stats.latent_checks import agreement_z, degrees_of_freedom
from tallystick.stats.latent_fit import LatentFit, Replica
from tallystick.stats.latent_model import (
    FloatArray,
    Problem,
    Votes,
    climb,
    posterior,
    spread,
    unpack,
)

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
