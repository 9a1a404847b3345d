"""Weights with which any learner that takes sample_weight trains on the noise-aware loss."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.bound.blocks import FloatArray
from tallystick.bound.label_models import LabelModel
from tallystick.errors import InputError

__all__ = ["noise_aware_weights"]


def noise_aware_weights(label_model: LabelModel, votes: npt.ArrayLike) -> FloatArray:
    r"""Return P(Y = y | votes) for every row: n x classes.

    The noise-aware loss :math:`\sum_i \sum_y P(y \mid z_i)\,\ell(h(x_i), y)` is a weighted loss on
    the rows repeated once a class: repeat X, give repetition y the label y, and use
    ``weights.T.ravel()`` as ``sample_weight``. Rows of which the label model knows nothing weigh
    nothing.

    Parameters
    ----------
    label_model
        Any of :mod:`tallystick.bound.label_models`.
    votes
        n x weak columns, index of the class or -1 for an abstention.

    Examples
    --------
    >>> from tallystick.bound.weak_votes import weak_table
    >>> from tallystick.bound.label_models import majority
    >>> from tallystick.tally import Tally
    >>> table = weak_table(Tally.of({"a": [0, 1], "b": [1, 1], "h": [0, 1]}), weak=["a", "b"], prediction="h")
    >>> noise_aware_weights(majority(table), [[1, 1], [0, -1]]).round(2).tolist()
    [[0.17, 0.83], [0.75, 0.25]]
    """
    held = np.asarray(votes)
    if held.ndim != 2 or held.shape[1] != len(label_model.weak) or held.dtype.kind not in "iu":
        raise InputError(
            f"votes must be integers of shape (rows, {len(label_model.weak)}), got {held.dtype}"
            f" {held.shape}"
        )
    patterns, place = np.unique(held.astype(np.int64), axis=0, return_inverse=True)
    return np.nan_to_num(np.asarray(label_model.predict(patterns), dtype=np.float64), nan=0.0)[
        place.reshape(-1)
    ]
