r"""E-values: evidence that may be averaged, looked at any time, and combined over many questions.

An e-value is a non-negative statistic with mean at most 1 under the null hypothesis; an e-process
keeps that at every stopping time, so by Ville's inequality :math:`P(\sup_t E_t \ge 1/α) \le α`. The
processes themselves live in :mod:`~tallystick.stats.signs` (paired wins),
:mod:`~tallystick.stats.bounded_mean` (means from moments) and :mod:`~tallystick.stats.rate` (a
share of a finite population); here is what is done with many of them.

All functions take *logarithms* of e-values: an e-value of a few thousand items overflows a float.

===========================
============================================================================ function
use ===========================
============================================================================ :func:`average_log_e`
one answer to one question from several e-processes, under any dependence :func:`p_from_log_e`
the p-value 1/E; at the running maximum it holds at any stopping time :func:`e_holm`
family-wise error over questions, on the running maxima, at any stopping time
:func:`e_benjamini_hochberg` false discovery rate, on the *current* e-values, under any dependence
===========================
============================================================================
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.binomial import Floats
from tallystick.stats.multiplicity import benjamini_hochberg, holm

__all__ = ["average_log_e", "e_benjamini_hochberg", "e_holm", "p_from_log_e"]


def average_log_e(
    log_e: npt.ArrayLike, *, weights: npt.ArrayLike | None = None, axis: int = -1
) -> Floats:
    r"""Return the log of the weighted mean of e-values, itself an e-value under any dependence
    between them.

    Weights must be non-negative, sum to 1 and be fixed beforehand; the default is equal ones.

    >>> round(float(np.exp(average_log_e(np.log([3.0, 1.0])))), 6)
    2.0
    """
    values = np.moveaxis(np.atleast_1d(_logs(log_e)), axis, -1)
    k = values.shape[-1]
    shares = np.full(k, 1 / k) if weights is None else np.asarray(weights, dtype=float)
    if shares.shape != (k,) or not np.all(shares >= 0) or not np.isclose(shares.sum(), 1):
        raise InputError(f"weights must be {k} non-negative numbers that sum to 1, got {weights!r}")
    used = shares > 0
    return np.asarray(np.logaddexp.reduce(values[..., used] + np.log(shares[used]), axis=-1))


def p_from_log_e(log_e: npt.ArrayLike) -> Floats:
    """Return the p-value of an e-value, 1/E and at most 1.

    >>> round(float(p_from_log_e(np.log(20.0))), 6)
    0.05
    """
    return np.exp(-np.maximum(_logs(log_e), 0.0))


def e_holm(peak_log_e: npt.ArrayLike) -> Floats:
    """Return Holm-adjusted p-values from the largest log E that each question has reached.

    Whatever has an adjusted value of at most alpha may be called decided, at any time and for good:
    the probability that any call is false is at most alpha.

    >>> e_holm(np.log([100.0, 10.0])).round(6).tolist()
    [0.02, 0.1]
    """
    return holm(p_from_log_e(peak_log_e))


def e_benjamini_hochberg(log_e: npt.ArrayLike) -> Floats:
    r"""Return adjusted values whose rejection at α is the e-BH procedure.

    e-BH rejects the :math:`\hat k` largest e-values, :math:`\hat k = \max\{k : k\,e_{[k]} \ge
    K/α\}` with :math:`e_{[k]}` the k-th largest of K: the procedure of Benjamini and Hochberg on
    1/E. Unlike that on p-values it holds the false discovery rate under any dependence, but only
    for e-values at one common stopping time: the current ones, not their maxima.

    >>> e_benjamini_hochberg(np.log([100.0, 40.0, 2.0])).round(6).tolist()
    [0.03, 0.0375, 0.5]
    """
    return benjamini_hochberg(p_from_log_e(log_e))


def _logs(log_e: npt.ArrayLike) -> Floats:
    values = np.asarray(log_e, dtype=float)
    if values.size == 0 or np.any(np.isnan(values)):
        raise InputError(f"log_e must hold at least one number and no NaN, got {log_e!r}")
    return values
