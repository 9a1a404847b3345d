r"""How much does a rollout resemble the bad sequence of Theorem 3.5: the score :math:`z_T`.

[SAH23]_, section B.2: where two models err together, does the majority err too,

.. math:: z_{s,t} = \frac{\mathcal D(E_s \cap E_t \cap E_m)}{\mathcal D(E_s \cap E_t)}, \qquad
          z_T = \text{mean over pairs } s \ne t.

The text leaves two cases open. A pair without common errors (0/0) says nothing and is left out of
the mean; without any other pair :math:`z_T` is unknown (NaN). A tie of the majority counts one
half. For three models and a binary majority :math:`z_3 = 1` always: two of three *are* the
majority.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.dynamic.population import Array, majority_share
from tallystick.errors import InputError
from tallystick.results import Interval

__all__ = ["Signals", "early_signals", "rank_persistence", "similarity"]


def similarity(
    errors: Array, *, weights: Array | None = None, majority: Array | None = None
) -> Array:
    """Return :math:`z_T` of each rollout.

    Parameters
    ----------
    errors
        Booleans of shape (..., models, items).
    weights
        The population's weights; equal ones if not given.
    majority
        Error share of the vote, (..., items), where it is not the binary majority of *errors* (a
        plurality, say).

    Examples
    --------
    >>> similarity(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)).item()
    1.0
    >>> similarity(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)).item()
    nan
    """
    wrong = np.asarray(errors).astype(np.float32)
    models, items = wrong.shape[-2:]
    if models < 2:
        raise InputError(f"z needs at least two models, got {models}")
    mass = np.full(items, 1 / items) if weights is None else np.asarray(weights, dtype=float)
    vote = (
        majority_share(wrong.sum(axis=-2), models)
        if majority is None
        else np.asarray(majority, dtype=float)
    )
    # Items that no two models get wrong are in no overlap: leaving them out saves most of the work
    # on good models.
    busy = (wrong.sum(axis=-2) >= 2).reshape(-1, items).any(axis=0)
    wrong, vote, mass = (
        wrong[..., busy],
        vote[..., busy].astype(np.float32),
        mass[busy].astype(np.float32),
    )
    both = (wrong * mass) @ np.swapaxes(wrong, -1, -2)
    all_three = (wrong * (mass * vote)[..., None, :]) @ np.swapaxes(wrong, -1, -2)
    upper = np.triu_indices(models, 1)
    both, all_three = both[..., *upper], all_three[..., *upper]
    known = both > 0
    ratio = np.divide(all_three, both, out=np.zeros_like(both), where=known)
    pairs = known.sum(axis=-1)
    mean = np.divide(ratio.sum(axis=-1), pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return np.asarray(np.where(np.isnan(mean), np.nan, np.clip(mean, 0, 1)), dtype=float)


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What an early round says about the final risk, over rollouts (Figure 5): Pearson correlations
    with intervals.
    """

    early: int
    final: int
    z_correlation: float | None
    z_interval: Interval | None
    risk_correlation: float | None
    risk_interval: Interval | None
    rollouts: int


def early_signals(
    errors: Array,
    risk: Array,
    *,
    early: int,
    weights: Array | None = None,
    majority: Array | None = None,
) -> Signals:
    """Correlate :math:`z` and majority risk at round *early* (counted from 1) with the final
    majority risk.

    [SAH23]_, section B.2 and Figure 5. A correlation is None where one side does not vary.

    Parameters
    ----------
    errors
        (rollouts, rounds, items).
    risk
        (rollouts, rounds), majority risk by round.
    majority
        Error share of the vote of the first *early* models, (rollouts, items), where *risk* is not
        that of the binary majority: a plurality of many labels, say.
    """
    rollouts, rounds = risk.shape
    if not 2 <= early < rounds:
        raise InputError(f"early must be a round from 2 to {rounds - 1}, got {early!r}")
    if rollouts < 4:
        raise InputError(f"a correlation over rollouts needs at least 4 of them, got {rollouts}")
    z = similarity(errors[:, :early], weights=weights, majority=majority)
    by_z, by_risk = _pearson(z, risk[:, -1]), _pearson(risk[:, early - 1], risk[:, -1])
    return Signals(
        early=early,
        final=rounds,
        z_correlation=by_z[0],
        z_interval=by_z[1],
        risk_correlation=by_risk[0],
        risk_interval=by_risk[1],
        rollouts=rollouts,
    )


def rank_persistence(risk: Array) -> Array:
    """Return the rank correlation of the rollouts' risk at each round with their final risk: do bad
    ones stay bad.

    NaN where all rollouts are alike.

    >>> rank_persistence(np.array([[0.3, 0.2], [0.4, 0.1], [0.5, 0.3]])).round(2).tolist()
    [0.5, 1.0]
    """
    ranks = np.column_stack([_ranks(column) for column in risk.T])
    centred = ranks - ranks.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    product = centred.T @ centred[:, -1]
    out = np.full(risk.shape[1], np.nan)
    return np.asarray(np.divide(product, scale * scale[-1], out=out, where=scale * scale[-1] > 0))


def _ranks(values: Array) -> Array:
    """Ranks from 1, ties sharing their mean."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def _pearson(x: Array, y: Array) -> tuple[float | None, Interval | None]:
    """Pearson's r with Fisher's interval."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None, None
    r = float(np.corrcoef(x, y)[0, 1])
    half = 1.959964 / np.sqrt(x.size - 3)
    low, high = np.tanh(np.arctanh(np.clip(r, -0.9999999, 0.9999999)) + np.array([-half, half]))
    return r, Interval(
        float(min(low, r)),
        float(max(high, r)),
        level=0.95,
        guarantee="approximate",
        method="fisher",
    )
