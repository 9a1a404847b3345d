r"""Quasi-Newton steps for the ridges on which EM crawls.

Where the votes say little (coins, near-copies), the objective is almost flat along some direction
and EM, even accelerated, takes thousands of steps there. In softmax coordinates the gradient costs
no more than one EM step: with expected counts and pseudo-counts :math:`N_{jyv}` and their row sums
:math:`N_{jy\cdot}`,

.. math:: \partial\,\text{objective} / \partial \eta_{jyv} = N_{jyv} - N_{jy\cdot}\,C_{jyv}   \tag{L7}

and likewise for the class balance. L-BFGS remembers the curvature along the ridge and crosses it in
some fifty steps. It never ends below its start. EM goes on from there and decides what has
converged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tallystick.stats.latent.votes import FloatArray

if TYPE_CHECKING:
    from tallystick.stats.latent.em import Problem

__all__ = ["cross_ridge"]

_MEMORY = 20
"""Past steps from which the curvature is made."""

_EXPONENTS = (-690.0, 300.0)
"""Logs beyond these would be 0 or infinite once exponentiated."""


def cross_ridge(
    problem: Problem, table: FloatArray, *, tolerance: float, most: int
) -> tuple[FloatArray, int]:
    """Return a table with no lower objective than *table*, and how many E steps it took.

    Parameters
    ----------
    problem
        The votes, as EM sees them.
    table
        Classes x (1 + all votes): where to start.
    tolerance
        Of EM, in probabilities. The gradient per item must fall to a hundredth of it.
    most
        E steps allowed.

    Examples
    --------
    Votes of three coins; EM alone takes hundreds of steps:

    >>> import itertools
    >>> from tallystick.stats.latent import LatentOptions, fit
    >>> codes = list(itertools.product([0, 1], repeat=3))
    >>> counts = [509, 493, 515, 499, 489, 497, 493, 505]
    >>> fit(codes, counts, n_classes=2, options=LatentOptions(confusion_prior=1)).iterations < 250
    True
    """
    from scipy.optimize import minimize

    scale = max(float(problem.weights.sum()), 1.0)
    seen = 0

    def probabilities(eta: FloatArray) -> FloatArray:
        return problem.normalise(np.exp(np.clip(eta.reshape(table.shape), *_EXPONENTS)))

    def loss(eta: FloatArray) -> tuple[float, FloatArray]:
        nonlocal seen
        seen += 1
        here = probabilities(eta)
        found = problem.expect(here)
        counts = problem.counts(found.responsibility) + problem.prior
        slope = np.empty_like(counts)
        slope[:, 0] = counts[:, 0] - counts[:, 0].sum() * here[:, 0]  # (L7)
        slope[:, 1:] = counts[:, 1:] - problem.one_hot.total(counts[:, 1:]) * here[:, 1:]
        slope[problem.known] = 0.0
        return -found.objective / scale, -slope.ravel() / scale

    start = np.log(np.maximum(table, np.exp(_EXPONENTS[0])))
    found = minimize(
        loss,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxcor": _MEMORY,
            "maxfun": most,
            "maxiter": most,
            "ftol": 0.0,
            "gtol": 0.01 * tolerance,
        },
    )
    return probabilities(found.x), seen
