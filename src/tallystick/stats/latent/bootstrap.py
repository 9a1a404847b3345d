"""Parametric bootstrap: refit the model to data that it has drawn itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, spawn
from tallystick.errors import InputError
from tallystick.stats.latent.fit import LatentFit, fit_votes
from tallystick.stats.latent.simulate import Replica
from tallystick.stats.latent.votes import FloatArray

__all__ = ["LatentBootstrap", "bootstrap", "refits"]


@dataclass(frozen=True, eq=False)
class LatentBootstrap:
    """Estimates from replicas of the data, replicas along the first axis.

    Parameters
    ----------
    balance, confusion, accuracy
        Of every refit; accuracy is the share of the judge's own votes that are right, as in
        `LatentFit.accuracy`.
    n_unconverged
        Refits that stopped at ``max_iterations``; they are kept, and should be none.
    """

    balance: FloatArray
    confusion: FloatArray
    accuracy: FloatArray
    n_unconverged: int

    def percentile(self, values: FloatArray, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return the percentile interval of any of these arrays: lower ends, upper ends."""
        if not 0 < level < 1:
            raise InputError(f"level must be in (0, 1), got {level!r}")
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


def refits(fit: LatentFit, n: int, rng: Rng) -> list[LatentFit]:
    """Return *n* fits to replicas of the data, each with its own spawned generator and the options
    of *fit*.
    """
    replica = Replica.of(fit)
    options = replace(fit.options, strict=False)
    out = []
    for generator in spawn(rng, n):
        out.append(fit_votes(replica.draw(generator), fit.model.n_classes, options, generator))
    return out


def bootstrap(fit: LatentFit, *, n_replicates: int = 200, rng: Rng) -> LatentBootstrap:
    """Return what the estimates would have been, had the model been true and the data drawn anew.

    Replicas keep the gaps and the labelled items of the data; each is refitted from the majority
    start. Valid under conditional independence only. Their coverage is measured in
    docs/coverage/latent-bootstrap.md.

    Examples
    --------
    >>> from tallystick.stats.latent import LatentModel, fit, simulate
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 4)
    >>> codes, _ = simulate(model, 500, rng=1)
    >>> sample = bootstrap(fit(codes, [1] * 500, n_classes=2), n_replicates=20, rng=2)
    >>> low, high = sample.percentile(sample.accuracy)
    >>> bool((low < 0.85).all() and (high > 0.85).all())
    True
    """
    if n_replicates < 2:
        raise InputError(f"n_replicates must be at least 2, got {n_replicates!r}")
    again = refits(fit, n_replicates, rng)
    return LatentBootstrap(
        np.stack([one.balance for one in again]),
        np.stack([one.confusion for one in again]),
        np.stack([one.accuracy for one in again]),
        sum(not one.converged for one in again),
    )
