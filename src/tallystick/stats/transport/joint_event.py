"""How often two events can happen together, if only their probabilities given z are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tallystick.stats.transport.ends import Bounds, in_order, one_segment
from tallystick.stats.transport.marginals import as_laws, as_probabilities, as_same_shape

__all__ = ["class_joint", "joint_event"]


def joint_event(q: ArrayLike, p: ArrayLike) -> Bounds:
    r"""Bound P(A and B | z) by the probabilities of A and of B.

    .. math:: \max(0, q + p - 1) \;\le\; P(A \cap B \mid z) \;\le\; \min(q, p)

    The bounds of Fréchet; with A = {h = 1} and B = {Y = 1} the numerator of precision, recall and
    F1 in [MP23]_, (3.1). The labels of the potentials are (not B, B).

    Parameters
    ----------
    q, p
        P(A | z) and P(B | z), one number a pattern.

    Examples
    --------
    >>> bounds = joint_event([0.75, 0.25], [0.5, 0.5])
    >>> bounds.lower.value, bounds.upper.value
    (array([0.25, 0.  ]), array([0.5 , 0.25]))
    """
    q, p = as_probabilities(q, name="q"), as_probabilities(p, name="p")
    as_same_shape(q, p)
    nothing = np.zeros_like(p)
    low, high = np.maximum(q + p - 1, 0), np.minimum(q, p)
    on = np.where(low > 0, 1.0, 0.0)
    return in_order(
        one_segment("lower", low, np.column_stack([on, nothing]), low),
        one_segment(
            "upper",
            high,
            np.column_stack([nothing, -np.where(q > p, 1.0, 0.0)]),
            np.maximum(q - p, 0),
        ),
    )


def class_joint(q: ArrayLike, p: ArrayLike) -> tuple[Bounds, ...]:
    """Bound P(h = c, Y = c | z) for every class c, from P(h | z) and P(Y | z) of shape (patterns,
    labels).

    One coupling attains all the upper ends at once, and another one all the lower ends, so the ends
    of the classes add up to those of :func:`~tallystick.stats.transport.agreement`.

    >>> [bounds.upper.mean() for bounds in class_joint([[0.5, 0.25, 0.25]], [[0.25, 0.25, 0.5]])]
    [0.25, 0.25, 0.25]
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_shape(q, p)
    return tuple(joint_event(q[:, c], p[:, c]) for c in range(p.shape[1]))
