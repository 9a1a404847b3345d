r"""The latent-class model (Dawid-Skene): a class balance and one confusion matrix a judge.

An item has a class :math:`y` with probability :math:`\pi_y`; given the class the judges vote
independently,

.. math:: P(x) = \sum_y \pi_y \prod_{j:\,x_j \ne -1} C_{j y x_j}   \tag{L1}

and a missing vote says nothing about the class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent.votes import FloatArray, IntArray, OneHot, as_votes

__all__ = ["LatentModel", "expected_agreement", "log_likelihood", "posterior"]

TINY = 1e-300  # stands for 0 under a logarithm, so that 0 · log 0 = 0 in matrix products


@dataclass(frozen=True, eq=False)
class LatentModel:
    """A class balance and the judges' confusion matrices.

    Parameters
    ----------
    balance
        Probability of each class.
    confusion
        Judges x classes x votes; each row sums to 1. Votes beyond a judge's own alphabet have
        probability 0.
    n_votes
        The size of each judge's alphabet; by default the last axis of *confusion* for all.

    Examples
    --------
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> model.accuracy
    array([0.85, 0.85, 0.85])
    """

    balance: FloatArray
    confusion: FloatArray
    n_votes: IntArray

    def __init__(
        self, balance: npt.ArrayLike, confusion: npt.ArrayLike, n_votes: npt.ArrayLike | None = None
    ) -> None:
        pi = np.array(balance, dtype=np.float64)
        table = np.array(confusion, dtype=np.float64)
        if pi.ndim != 1 or table.ndim != 3 or table.shape[1] != pi.size:
            raise InputError(
                f"confusion must be judges x {pi.size} classes x votes, got shape {table.shape}"
            )
        sizes = np.array(
            np.broadcast_to(
                np.asarray(table.shape[2] if n_votes is None else n_votes), table.shape[:1]
            )
        )
        for name, rows in (("balance", pi[None, :]), ("confusion", table)):
            if not ((rows >= 0).all() and np.allclose(rows.sum(axis=-1), 1, atol=1e-9)):
                raise InputError(f"{name} must hold probabilities that sum to 1")
        if (table * (np.arange(table.shape[2]) >= sizes[:, None, None])).any():
            raise InputError(
                f"confusion gives probability to votes beyond n_votes = {sizes.tolist()}"
            )
        for name, value in (("balance", pi), ("confusion", table), ("n_votes", sizes)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.confusion.shape[0])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.balance.size

    @property
    def accuracy(self) -> FloatArray:
        r"""Probability that each judge is right on a new item, :math:`\sum_y \pi_y C_{jyy}`."""
        return np.asarray(
            np.einsum("y,jyy->j", self.balance, self.confusion[:, :, : self.n_classes])
        )

    def permuted(self, order: npt.ArrayLike) -> LatentModel:
        """Return the same model with class ``order[c]`` under the name c."""
        places = np.asarray(order)
        return LatentModel(self.balance[places], self.confusion[:, places], self.n_votes)


def pack(model: LatentModel) -> FloatArray:
    """Lay a model out as classes x (1 + all votes): the balance, then every judge's columns side by
    side.
    """
    keep = np.arange(model.confusion.shape[2]) < model.n_votes[:, None]
    return np.column_stack((model.balance, model.confusion.transpose(1, 0, 2)[:, keep]))


def unpack(table: FloatArray, n_votes: IntArray) -> LatentModel:
    """Undo `pack`."""
    return LatentModel(table[:, 0], spread(table[:, 1:], n_votes), n_votes)


def spread(columns: FloatArray, n_votes: IntArray) -> FloatArray:
    """Lay classes x (all votes) out as judges x classes x votes, with 0 beyond a judge's
    alphabet.
    """
    keep = np.arange(n_votes.max()) < n_votes[:, None]
    cube = np.zeros((columns.shape[0], *keep.shape))
    cube[:, keep] = columns
    return cube.transpose(1, 0, 2)


def class_scores(table: FloatArray, one_hot: OneHot) -> FloatArray:
    r"""Return :math:`\log(\pi_y \prod_j C_{jyx_j})`, classes x patterns, with 1e-300 for
    probability 0.
    """
    logs = np.log(np.maximum(table, TINY))
    scores = one_hot.score(logs[:, 1:])
    scores += logs[:, :1]
    return scores


def log_likelihood(model: LatentModel, codes: npt.ArrayLike) -> FloatArray:
    """Return the log probability (L1) of each pattern; ``-inf`` where the model rules it out.

    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> np.exp(log_likelihood(model, [[0, 0, 1], [0, -1, -1]])).round(4)
    array([0.0565, 0.55  ])
    """
    return _mixture(model, codes)[1]


def posterior(model: LatentModel, codes: npt.ArrayLike) -> FloatArray:
    r"""Return :math:`P(y \mid x)` for each pattern (patterns x classes), also for patterns never
    seen in a fit.

    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> posterior(model, [[0, 0, 1], [-1, -1, -1]]).round(3)
    array([[0.717, 0.283],
           [0.5  , 0.5  ]])
    """
    joint, total = _mixture(model, codes)
    ruled_out = np.isneginf(total)
    if ruled_out.any():
        raise NotIdentifiable(
            f"pattern {int(ruled_out.argmax())} has probability 0 under the model, so no class is"
            " likely: drop it, or fit with confusion_prior > 0"
        )
    return np.asarray(np.exp(joint - total).T)


def _mixture(model: LatentModel, codes: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return log joint (classes x patterns, exact -inf) and log marginal."""
    array = np.asarray(codes)
    if array.ndim != 2 or array.shape[1] != model.n_judges:
        raise InputError(
            f"codes must have one column for each of {model.n_judges} judges, got shape"
            f" {array.shape}"
        )
    one_hot = as_votes(
        array, np.ones(array.shape[0]), n_classes=model.n_classes, n_votes=model.n_votes
    ).one_hot
    table = pack(model)
    joint = class_scores(table, one_hot)
    impossible = one_hot.score((table[:, 1:] == 0).astype(np.float64)) + (table[:, :1] == 0)
    joint[impossible > 0] = -np.inf
    return joint, np.logaddexp.reduce(joint, axis=0)


def expected_agreement(model: LatentModel) -> FloatArray:
    r"""Return the judges x judges probability of equal votes, :math:`\sum_y \pi_y \sum_v C_{jyv}
    C_{kyv}`.

    The diagonal is 1. Both judges are taken to vote.

    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 2)
    >>> expected_agreement(model).round(2)
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """
    agreement: FloatArray = np.einsum(
        "y,jyv,kyv->jk", model.balance, model.confusion, model.confusion, optimize=True
    )
    np.fill_diagonal(agreement, 1.0)
    return agreement
