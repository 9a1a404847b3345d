r"""Many tests at once: p-values adjusted so that one line can be drawn through all of them.

Reject what has an adjusted value of at most α. *Family-wise*: the probability of any false
rejection is at most α. *False discovery rate*: the expected share of false ones among the rejected
is.

==========================  ==================  =====================================
function                    controls            needs
==========================  ==================  =====================================
:func:`bonferroni`          family-wise         nothing
:func:`holm`                family-wise         nothing; never worse than Bonferroni
:func:`hochberg`            family-wise         independence or positive dependence
:func:`benjamini_hochberg`  false discovery     independence or positive dependence
==========================  ==================  =====================================

Bonferroni's is the union bound of [DD]_, section 3.5. For all pairs of a leaderboard
:func:`~tallystick.stats.maxt.pairwise_max_t` is sharper than all of these, because it knows how the
pairs depend.

Errata to the text: ``docs/theory/differences.md#errata``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.stats.ranges import closed_unit

__all__ = ["benjamini_hochberg", "bonferroni", "hochberg", "holm"]

Floats = npt.NDArray[np.float64]


def bonferroni(p: npt.ArrayLike) -> Floats:
    r"""Multiply each p-value by their number: :math:`\min(1, m\,p_i)`.

    >>> bonferroni([0.01, 0.02, 0.03, 0.4]).tolist()
    [0.04, 0.08, 0.12, 1.0]
    """
    values = _p_values(p)
    return np.asarray(np.minimum(1.0, values * values.size))


def holm(p: npt.ArrayLike) -> Floats:
    r"""Step down: the i-th smallest is multiplied by the number still standing, and none falls
    below an earlier one.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\bigl(1, (m - j + 1)\, p_{(j)}\bigr)

    >>> holm([0.01, 0.02, 0.03, 0.4]).tolist()
    [0.04, 0.06, 0.06, 0.4]
    """
    values = _p_values(p)
    order = np.argsort(values, axis=None, kind="stable")
    standing = np.arange(values.size, 0, -1)
    return _put_back(np.maximum.accumulate(standing * values.ravel()[order]), order, values.shape)


def hochberg(p: npt.ArrayLike) -> Floats:
    r"""Step up with Holm's factors: :math:`\tilde p_{(i)} = \min_{j \ge i} (m - j + 1)\, p_{(j)}`.

    >>> hochberg([0.01, 0.02, 0.03, 0.04]).tolist()
    [0.04, 0.04, 0.04, 0.04]
    """
    values = _p_values(p)
    return _step_up(values, np.arange(values.size, 0, -1))


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    r"""Control the false discovery rate: :math:`\tilde p_{(i)} = \min_{j \ge i} m\, p_{(j)}/j`.

    >>> benjamini_hochberg([0.01, 0.02, 0.04, 0.4]).round(6).tolist()
    [0.04, 0.04, 0.053333, 0.4]
    """
    values = _p_values(p)
    return _step_up(values, values.size / np.arange(1, values.size + 1))


def _step_up(values: Floats, factors: npt.NDArray[np.int_] | Floats) -> Floats:
    order = np.argsort(values, axis=None, kind="stable")
    scaled = factors * values.ravel()[order]
    return _put_back(np.minimum.accumulate(scaled[::-1])[::-1], order, values.shape)


def _put_back(ordered: Floats, order: npt.NDArray[np.intp], shape: tuple[int, ...]) -> Floats:
    out = np.empty(ordered.size)
    out[order] = np.minimum(1.0, ordered)
    return out.reshape(shape)


def _p_values(p: npt.ArrayLike) -> Floats:
    closed_unit(p=p)
    return np.asarray(p, dtype=float)
