"""How far columns say the same, beyond what their frequencies alone would give."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.data.detect.sample import Codes

__all__ = ["beyond_chance", "kappas", "plurality"]

Floats = npt.NDArray[np.float64]


def kappas(codes: Codes) -> Floats:
    r"""Return Cohen's kappa of every pair of columns, on the rows that both fill; NaN where nothing
    can be said.

    With :math:`f_i(l)` the frequency of label :math:`l` in column :math:`i` on those rows, chance
    is :math:`c = \sum_l f_i(l) f_j(l)` and kappa is :math:`(a - c) / (1 - c)` for agreement
    :math:`a`.

    Examples
    --------
    >>> kappas(np.array([[0, 0], [1, 1], [0, 0], [1, -1]], np.int32))[0, 1]
    np.float64(1.0)
    """
    filled = (codes >= 0).astype(np.float32)
    common = filled.T @ filled
    same, chance = np.zeros_like(common), np.zeros_like(common)
    for label in range(int(codes.max(initial=-1)) + 1):
        says = (codes == label).astype(np.float32)
        same += says.T @ says
        here = says.T @ filled
        chance += here * here.T
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement, chance = same / common, chance / (common * common)
        return np.asarray(
            np.where(1 - chance > 1e-6, (agreement - chance) / (1 - chance), np.nan), dtype=float
        )


def beyond_chance(truth: Codes, votes: Codes) -> tuple[Floats, Floats]:
    r"""Return how often each column says the truth, and by how many standard errors that is more
    than by chance.

    Chance is :math:`\sum_l F(l) f_j(l)` with the frequencies :math:`F` of the truth on *all* its
    rows: a voter that only ever says one label, and otherwise abstains, is better than chance if it
    speaks where that label is true.

    Examples
    --------
    >>> truth, vote = np.array([0, 0, 1, 1] * 10, np.int32), np.array([[0], [-1], [-1], [-1]] * 10, np.int32)
    >>> agreement, z = beyond_chance(truth, vote)
    >>> float(agreement[0]), round(float(z[0]), 2)
    (1.0, 3.16)
    """
    known = truth >= 0
    labels = int(max(truth.max(initial=-1), votes.max(initial=-1))) + 1
    base = np.bincount(truth[known], minlength=labels) / max(1, int(known.sum()))
    agreement, z = np.full(votes.shape[1], np.nan), np.zeros(votes.shape[1])
    for j in range(votes.shape[1]):
        both = known & (votes[:, j] >= 0)
        count = int(both.sum())
        if not count:
            continue
        agreement[j] = (votes[both, j] == truth[both]).mean()
        chance = float(np.bincount(votes[both, j], minlength=labels) / count @ base)
        error = np.sqrt(chance * (1 - chance) / count)
        z[j] = (agreement[j] - chance) / error if error > 0 else 0.0
    return agreement, z


def plurality(votes: Codes) -> Codes:
    """Return the label that most columns say in each row, -1 where there is no single one.

    >>> plurality(np.array([[0, 0, 1], [1, 1, 1], [0, 1, 2]], np.int32)).tolist()
    [0, 1, -1]
    """
    labels = max(1, int(votes.max(initial=-1)) + 1)
    tally = np.stack([(votes == label).sum(axis=1) for label in range(labels)], axis=1)
    best = tally.max(axis=1)
    clear = (best > 0) & ((tally == best[:, None]).sum(axis=1) == 1)
    return np.where(clear, tally.argmax(axis=1), -1).astype(np.int32)
