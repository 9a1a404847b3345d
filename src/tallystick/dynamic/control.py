"""Controls at the same price: what as many models achieve that never see an adversarial item."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.learners import Learner
from tallystick.dynamic.population import Array, Population, majority_share
from tallystick.errors import InputError

__all__ = ["Control", "control_risk"]

Control: TypeAlias = Literal["static", "fresh"]


def control_risk(
    population: Population,
    learner: Learner,
    *,
    kind: Control = "static",
    rounds: int,
    rollouts: int,
    rng: Rng,
) -> Array:
    r"""Return the majority risk, (rollouts, rounds), of models that are trained without adversarial
    data.

    ``static``: every model is trained on :math:`\mathcal D_0`, an ensemble at the price of as many
    trainings. ``fresh``: each round mixes in random data from :math:`\mathcal D` where the path
    mixes in errors, so that as many labels are bought; the same as ``static`` where :math:`\mathcal
    D_0 = \mathcal D`. [SAH23]_ has no control.

    Examples
    --------
    >>> from tallystick.dynamic.learners import Correlated
    >>> from tallystick.dynamic.rollouts import roll_path
    >>> people, learner = Population.uniform(400), Correlated(0.1, rho=0.6)
    >>> static = control_risk(people, learner, rounds=9, rollouts=50, rng=0).mean(axis=0)
    >>> path = roll_path(people, learner, rounds=9, rollouts=50, rng=0).risk.mean(axis=0)
    >>> bool(path[8] < static[8] < static[0] + 1e-9)
    True
    """
    if rounds < 1 or rollouts < 1:
        raise InputError(f"rounds and rollouts must be at least 1, got {rounds!r} and {rollouts!r}")
    if kind not in ("static", "fresh"):
        raise InputError(f"kind must be 'static' or 'fresh', got {kind!r}")
    build = learner.begin(population, rollouts, as_rng(rng))
    clean = np.where(population.coin, 0.0, population.weights)
    clean = clean / clean.sum()
    wrong = np.zeros((rollouts, population.size))
    out = np.empty((rollouts, rounds))
    for t in range(rounds):
        share = 1 / (t + 1) if kind == "fresh" else 1.0
        now = share * population.start + (1 - share) * population.weights
        wrong += build(np.ascontiguousarray(np.broadcast_to(now, wrong.shape)), t)
        out[:, t] = majority_share(wrong, t + 1) @ clean
    return out
