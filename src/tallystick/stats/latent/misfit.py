"""Whether pairs of judges agree as often as conditional independence says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent.bootstrap import refits
from tallystick.stats.latent.fit import LatentFit
from tallystick.stats.latent.model import expected_agreement
from tallystick.stats.latent.votes import FloatArray, Votes

__all__ = ["Misfit", "agreement_z", "misfit"]


@dataclass(frozen=True, eq=False)
class Misfit:
    """The misfit of pairwise agreement against what it would be if the model were true.

    Parameters
    ----------
    rms
        Root mean square of the pairs' z.
    null
        The same for refits to data drawn from the fitted model.
    z
        Judges x judges; NaN where a pair shares too few items.
    n_pairs
        Pairs that count.
    n_unconverged
        Refits that stopped at ``max_iterations``; they are kept, and should be none.
    """

    rms: float
    null: FloatArray
    z: FloatArray
    n_pairs: int
    n_unconverged: int

    @property
    def ratio(self) -> float:
        """RMS over its null mean."""
        return self.rms / float(self.null.mean())

    @property
    def p_value(self) -> float:
        """Share of null draws, the data among them, that misfit at least as much."""
        return (1 + int((self.null >= self.rms).sum())) / (1 + self.null.size)

    @property
    def refuted(self) -> bool:
        """True if the RMS is above every null draw and above 1.7 times their mean.

        It proves that judges err together given the class. False proves nothing: a bias that all
        judges share leaves no trace in their agreement.
        """
        return self.rms > float(self.null.max()) and self.ratio > 1.7


def misfit(fit: LatentFit, *, n_refits: int = 19, min_common: int = 10, rng: Rng) -> Misfit:
    r"""Measure how far pairwise agreement is from the model's, with a null from parametric refits.

    For a pair with :math:`n \ge` *min_common* common items, observed agreement :math:`o` and model
    agreement :math:`e`,

    .. math:: z = (o - e) \big/ \sqrt{e(1-e)/n}   \tag{L3}

    The fit has seen the same votes, so the z of a true model are smaller than standard normal ones;
    hence the refits.

    Raises
    ------
    NotIdentifiable
        The model is saturated (three binary judges): it fits any votes, so nothing can be tested.

    Examples
    --------
    >>> from tallystick.stats.latent import LatentModel, fit, simulate
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 4)
    >>> codes, _ = simulate(model, 500, rng=1)
    >>> misfit(fit(codes, [1] * 500, n_classes=2), rng=2).refuted
    False
    >>> codes[:, 1] = codes[:, 0]  # the second judge copies the first
    >>> misfit(fit(codes, [1] * 500, n_classes=2), rng=2).refuted
    True
    """
    if n_refits < 19:
        raise InputError(f"n_refits must be at least 19, got {n_refits!r}")
    if degrees_of_freedom(fit) <= 0:
        raise NotIdentifiable(
            "the model has as many parameters as the votes have free frequencies and fits anything:"
            " add a judge"
        )
    z = agreement_z(fit, min_common=min_common)
    again = refits(fit, n_refits, rng)
    null = np.array([_rms(agreement_z(one, min_common=min_common)) for one in again])
    return Misfit(
        _rms(z), null, z, int(np.isfinite(z).sum()) // 2, sum(not one.converged for one in again)
    )


def agreement_z(fit: LatentFit, *, min_common: int = 10) -> FloatArray:
    """Return (L3) for every pair of judges; NaN on the diagonal and where it is not defined.

    Pairs with fewer than *min_common* common items are left out, and pairs whose agreement the
    model calls certain.
    """
    agree, common = _observed(fit.votes)
    e = expected_agreement(fit.model)
    variance = e * (1 - e)
    counts = (common >= min_common) & (variance > 1e-12)
    np.fill_diagonal(counts, False)
    z = np.full_like(e, np.nan)
    z[counts] = (agree[counts] / common[counts] - e[counts]) / np.sqrt(
        variance[counts] / common[counts]
    )
    return z


def degrees_of_freedom(fit: LatentFit) -> float:
    """Return free frequencies, summed over the sets of judges seen together, less free
    parameters.
    """
    votes, options = fit.votes, fit.options
    n_classes = fit.model.n_classes
    # a known truth is one more vote
    seen = np.column_stack((votes.codes, votes.truth))[votes.weights > 0] >= 0
    sizes = np.append(votes.n_votes, n_classes).astype(np.float64)
    cells = np.where(np.unique(seen, axis=0), sizes, 1.0).prod(axis=1)
    free = [int(v) - 1 for j, v in enumerate(votes.n_votes) if j not in options.confusion]
    return (
        float((cells - 1).sum())
        - n_classes * sum(free)
        - (n_classes - 1) * (options.balance is None)
    )


def _rms(z: FloatArray) -> float:
    seen = z[np.isfinite(z)]
    if not seen.size:
        raise NotIdentifiable(
            "no pair of judges shares enough items: lower min_common or collect more common votes"
        )
    return float(np.sqrt((seen**2).mean()))


def _observed(votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Return items on which each pair agrees, and items on which both vote."""
    weight = votes.counts[:, None]
    voted = (votes.codes >= 0).astype(np.float64)
    agree = np.zeros((votes.n_judges, votes.n_judges))
    for v in range(int(votes.n_votes.max())):
        gave = (votes.codes == v).astype(np.float64)
        agree += gave.T @ (weight * gave)
    return agree, voted.T @ (weight * voted)
