"""How far sampling moves the spectral estimates: their delta-method intervals."""

from __future__ import annotations

import numpy as np

from tallystick.judge.ballots import Ballots, Floats
from tallystick.stats.latent import TrioMoments

__all__ = ["spectral_errors"]


def spectral_errors(
    ballots: Ballots, moments: TrioMoments, v: Floats, tau: float
) -> tuple[float, Floats, Floats]:
    r"""Return standard errors of the prevalence, of accuracies by label (judges x 2) and overall,
    for complete votes.

    An item with votes x moves :math:`D_{ij}` by :math:`(z_i z_j - D_{ij})/n` and :math:`T_{ijk}` by
    :math:`(z_i z_j z_k - T_{ijk} - z_i D_{jk} - z_j D_{ik} - z_k D_{ij})/n`, with :math:`z = x -
    f`. The vector v is where :math:`F_i = \sum_{j \ne i} (D_{ij} - v_i v_j) v_j` vanishes, so it
    moves by :math:`-(\partial F/\partial v)^{-1}\, \mathrm dF`; the rest is the chain rule. Sums
    over trios are elementary symmetric polynomials, so the cost is patterns x judges.
    """
    n, f = float(ballots.counts.sum()), moments.mean
    d = np.where(np.eye(len(f), dtype=bool), 0.0, moments.covariance)
    z = (ballots.codes == 1) - f
    w, pull = z * v, d @ v
    moved = z * (w.sum(axis=1, keepdims=True) - w) - pull  # n times what dD adds to F
    slope = d - 2 * np.outer(v, v)
    np.fill_diagonal(slope, v**2 - (v**2).sum())
    dv = -np.linalg.solve(slope, moved.T).T
    third = np.nan_to_num(moments.third)  # i < j < k, 0 elsewhere
    of_v = (
        np.einsum("ijk,j,k->i", third, v, v)
        + np.einsum("ijk,i,k->j", third, v, v)
        + np.einsum("ijk,i,j->k", third, v, v)
    )
    size, product = _third(v**2), float(of_v @ v) / 3
    rest = float(v @ pull) / 2 - v * pull  # sums over pairs of the other judges of v_j v_k D_jk
    dt = _third(w) - product - w @ rest
    squares = (v**2).sum() - v**2
    others = (squares**2 - ((v**4).sum() - v**4)) / 2
    dtau = (dt + dv @ of_v - tau * (dv @ (2 * v * others))) / size
    balance = (1 + tau / np.sqrt(4 + tau**2)) / 2
    db = (2 * dtau / (4 + tau**2) ** 1.5)[:, None]
    q = balance * (1 - balance)
    delta = v / np.sqrt(q)
    ddelta = dv / np.sqrt(q) - delta * (1 - 2 * balance) / (2 * q) * db
    first = -z - db * delta + (1 - balance) * ddelta
    second = z + db * delta + balance * ddelta
    both = np.stack(((1 - f) + (1 - balance) * delta, f + balance * delta))
    overall = db * (both[0] - both[1]) + balance * first + (1 - balance) * second

    def error(influence: Floats) -> Floats:
        return np.asarray(np.sqrt(ballots.counts @ influence**2) / n)

    return float(error(db)[0]), np.stack((error(first), error(second)), axis=1), error(overall)


def _third(w: Floats) -> Floats:
    """Return the sum over trios of products, along the last axis."""
    one, two, three = (np.sum(w**power, axis=-1) for power in (1, 2, 3))
    return np.asarray((one**3 - 3 * one * two + 2 * three) / 6)
