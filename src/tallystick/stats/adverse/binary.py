r"""The mean of pass/fail labels, sharpened by judges: the stratified adverse likelihood.

Judges sort all N items into strata before any label is seen (:mod:`.strata`). In stratum h there
are :math:`N_h` items, :math:`k_h` labels and :math:`x_h` passes; :math:`W_h = N_h/N`,
:math:`\hat p_h = x_h/k_h`. A label on one of few items is worth more, so it counts as
:math:`k^*_h = k_h (N_h - 1)/(N_h - k_h)` labels (:math:`10^7` once the stratum is fully labelled).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.adverse._binomial_ends import lower_ends
from tallystick.stats.adverse.estimate import AdverseEstimate, AdverseEstimates
from tallystick.stats.adverse.inclusion import weighted_strata
from tallystick.stats.adverse.population import (
    Ends,
    Population,
    check_population,
    normal_bar,
    widen_for_new,
)
from tallystick.stats.adverse.stratum import effective_labels, fill_unlabelled
from tallystick.stats.intervals.array import Floats, Vector, as_counts

__all__ = ["adverse_share", "adverse_share_weighted", "adverse_shares", "raw_share_ends"]

PSEUDO = 0.35
"""The fraction of one more label, at the worst value, that each end sees."""
ALONE = 0.5
"""The same where one stratum holds everything: two ends share less than with several strata."""
METHOD = "stratified adverse likelihood"


def adverse_share(
    sizes: Vector,
    labelled: Vector,
    passes: Vector,
    *,
    population: Population = "these",
    alpha: float = 0.05,
) -> AdverseEstimate:
    r"""Estimate how many items pass, from few labels and the judges' strata.

    Each end is a likelihood-ratio bound that first sees a fraction of one more label at the worst
    value. For the lower end these are fails:

    .. math:: a_h = a \sqrt{W_h}, \qquad
              a = \max\left(.35, \; \frac{.5}{(\sum_h \sqrt{W_h})^2}\right), \qquad s_h = k^*_h \hat p_h, \quad n_h = k^*_h + a_h, \quad
              \ell(p) = \sum_h s_h \ln p_h + (n_h - s_h) \ln(1 - p_h), \quad
              \tilde p_h = s_h/n_h,   \tag{AL1}

    .. math:: L = \sum_h W_h p_h(\mu), \qquad p_h(\mu) = \frac{2 s_h}{\mu W_h + n_h +
              \sqrt{(\mu W_h + n_h)^2 - 4 \mu W_h s_h}}, \qquad
              2 (\ell(\tilde p) - \ell(p(\mu))) = z_{1-\alpha/2}^2.   \tag{AL2}

    The upper end is one minus the lower end of the fails. For *these* items both ends are rounded
    outwards to whole items and clipped to what logic allows, :math:`[x/N, (x + N - m)/N]`. For
    *new* items :math:`k^*_h = k_h`, nothing is rounded, and

    .. math:: L \leftarrow \hat p - \sqrt{(\hat p - L)^2 + z^2 B/N}, \qquad
              B = \sum_h W_h (\hat p_h - \hat p)^2,   \tag{AL3}

    with U alike, clipped to [0, 1]. The estimate is :math:`\hat p = \sum_h W_h \hat p_h`; a stratum
    without labels takes the size-weighted mean of the labelled ones. Approximate, whatever the
    judges' errors, if the labelled items were drawn at random.

    We deviate from methods/score.md in a: it has .35 throughout. With one stratum that left 4.9 %
    for the samples without a pass, and up to 3.6 % for the other end at the same rate, so that
    coverage fell to .912 at six labels. With .5 it is at least .928, by enumeration
    (``docs/benchmarks/score-enumeration.md``). The second term is below .35, and nothing changes,
    where the smaller of two strata holds at least 4.9 % of the items.

    Parameters
    ----------
    sizes, labelled, passes
        :math:`N_h, k_h, x_h` per stratum, whole numbers. Empty strata are skipped.
    population
        ``these`` items, or ``new`` items like them.
    alpha
        One minus the level.

    Returns
    -------
    AdverseEstimate
        With ``labels_only`` the same interval from one stratum.

    Examples
    --------
    Judges pass 80 of 108 outputs. People agree with 19 of 20 of these, and pass 3 of 10 others.

    >>> found = adverse_share([28, 80], [10, 20], [3, 19])
    >>> print(found, "worth", round(found.worth))
    0.7815 [0.657, 0.870] (95 %, approximate) worth 54
    >>> print(adverse_share([28, 80], [10, 20], [3, 19], population="new").interval)
    [0.628, 0.893] (95 %, approximate)
    """
    n, k, x = (
        np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in (sizes, labelled, passes)
    )
    if n.ndim != 1:
        raise InputError(
            f"sizes must be one row of strata, got shape {n.shape}: use adverse_shares"
        )
    return adverse_shares(n[None], k[None], x[None], population=population, alpha=alpha)[0]


def adverse_shares(
    sizes: Vector,
    labelled: Vector,
    passes: Vector,
    *,
    population: Population = "these",
    alpha: float = 0.05,
) -> AdverseEstimates:
    """Estimate many shares at once: :func:`adverse_share`, with one problem per row.

    Parameters
    ----------
    sizes, labelled, passes
        Rows of strata, all of one shape. A row with fewer strata is filled up with empty ones.
    population, alpha
        As in :func:`adverse_share`.

    Returns
    -------
    AdverseEstimates
        One entry per row. A row without labels has no estimate, and its interval is [0, 1].

    Examples
    --------
    >>> found = adverse_shares([[28, 80], [0, 108]], [[10, 20], [0, 30]], [[3, 19], [0, 22]])
    >>> found.interval.low.round(4).tolist(), found.interval.high.round(4).tolist()
    ([0.6574, 0.5741], [0.8704, 0.8611])
    """
    n, k, x = share_rows(sizes, labelled, passes)
    share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    alone = k.sum(axis=1), x.sum(axis=1)
    one = np.divide(alone[1], alone[0], out=np.zeros_like(alone[1]), where=alone[0] > 0)
    return _estimates(
        (n, k, x), (share, k), (one[:, None], alone[0][:, None]), population=population, alpha=alpha
    )


def adverse_share_weighted(
    sizes: Vector,
    passed: Vector,
    stratum: npt.ArrayLike,
    inclusion: Vector,
    *,
    population: Population = "these",
    alpha: float = 0.05,
) -> AdverseEstimate:
    r"""Estimate how many items pass when some were more likely to be labelled than others.

    As :func:`adverse_share`, with the pass rate and the size of :func:`weighted_strata` in each
    stratum: Kish's size where the inclusion probabilities vary at most 4:1, and the conservative
    size beyond.

    Parameters
    ----------
    sizes
        :math:`N_h` per stratum.
    passed, stratum, inclusion
        Per label: whether it passed (0 or 1), the position of its stratum in *sizes*, and the
        known probability with which it was chosen.
    population, alpha
        As in :func:`adverse_share`.

    Examples
    --------
    Outputs that the judges fail were labelled three times as often.

    >>> stratum = [0] * 12 + [1] * 8
    >>> chance = [0.3] * 12 + [0.1] * 8
    >>> passed = [0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0] + [1] * 8
    >>> print(adverse_share_weighted([40, 80], passed, stratum, chance))
    0.7500 [0.550, 0.833] (95 %, approximate)
    """
    n = np.atleast_1d(np.asarray(sizes, dtype=np.float64))
    if n.ndim != 1:
        raise InputError(f"sizes must be one row of strata, got shape {n.shape}")
    found = weighted_strata(passed, stratum, inclusion, strata=n.size)
    together = weighted_strata(passed, np.zeros_like(np.asarray(stratum)), inclusion, strata=1)
    counts = share_rows(n[None], found.labelled[None], found.passes[None])
    return _estimates(
        counts,
        (found.share[None], found.effective[None]),
        (together.share[None], together.effective[None]),
        population=population,
        alpha=alpha,
    )[0]


def pseudo_label(weights: Floats) -> Floats:
    """Return the factor a of (AL1) for each row of strata, from their weights.

    Examples
    --------
    >>> pseudo_label(np.array([[1.0, 0.0], [0.97, 0.03], [0.5, 0.5]])).round(3).tolist()
    [0.5, 0.373, 0.35]
    """
    return np.asarray(np.maximum(PSEUDO, ALONE / np.sqrt(weights).sum(axis=1) ** 2))


def raw_share_ends(
    sizes: Floats,
    effective: Floats,
    share: Floats,
    *,
    alpha: float | Floats = 0.05,
    pseudo: float | None = None,
) -> Ends:
    r"""Return both ends (AL2) as they come, neither rounded nor clipped: the kernel for simulation.

    Parameters
    ----------
    sizes, effective, share
        :math:`N_h, k^*_h, \hat p_h`, rows of strata. See :func:`effective_labels` for
        :math:`k^*_h`; a share without labels does not matter.
    alpha
        One minus the level, one for all rows or one per row.
    pseudo
        The factor a of (AL1); by default that of :func:`pseudo_label`.

    Examples
    --------
    >>> low, high = raw_share_ends(np.array([[108.0]]), np.array([[41.15]]), np.array([[22 / 30]]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.5782], [0.8535])
    """
    weights = sizes / sizes.sum(axis=1, keepdims=True)
    bar = normal_bar(alpha, len(weights))
    a = pseudo_label(weights) if pseudo is None else np.full(len(weights), pseudo)
    low = lower_ends(weights, effective, share, a, bar)
    return low, 1 - lower_ends(weights, effective, 1 - share, a, bar)


def share_ends(
    counts: tuple[Floats, Floats, Floats],
    share: Floats,
    effective: Floats,
    *,
    population: Population,
    alpha: float | Floats,
) -> tuple[Floats, Ends]:
    """Return the estimate and the finished ends of every row, each at its own level if need be.

    Parameters
    ----------
    counts
        :math:`N_h, k_h, x_h`, rows of strata.
    share, effective
        The pass rates and the labels they are worth.
    population, alpha
        As in :func:`adverse_share`; *alpha* may be one per row.
    """
    n, k, x = counts
    items = n.sum(axis=1)
    star = effective_labels(n, effective, k == n, population)
    filled = fill_unlabelled(n, share, k)
    estimate = (n * filled).sum(axis=1) / items
    raw = raw_share_ends(n, np.where(k > 0, star, 0.0), share, alpha=alpha)
    if population == "these":
        return _on_these(estimate, raw, items, k.sum(axis=1), x.sum(axis=1))
    between = np.nansum(n * (filled - estimate[:, None]) ** 2, axis=1) / items
    ends = widen_for_new(estimate, raw, between / items, alpha=alpha, bounds=(0, 1))
    return estimate, ends


def _estimates(
    counts: tuple[Floats, Floats, Floats],
    strata: tuple[Floats, Floats],
    alone: tuple[Floats, Floats],
    *,
    population: Population,
    alpha: float,
) -> AdverseEstimates:
    """Put the two intervals of every row together: with the strata, and with one stratum.

    *strata* and *alone* hold the pass rates and the labels they are worth.
    """
    check_population(population)
    merged = tuple(part.sum(axis=1, keepdims=True) for part in counts)
    sides = [
        share_ends(part, *rates, population=population, alpha=alpha)
        for part, rates in ((counts, strata), ((merged[0], merged[1], merged[2]), alone))
    ]
    (estimate, ends), (_, ends_alone) = sides
    return AdverseEstimates.of(
        estimate,
        ends,
        ends_alone,
        n_labels=merged[1][:, 0].astype(np.int64),
        alpha=alpha,
        method=METHOD,
    )


def _on_these(
    estimate: Floats, raw: Ends, items: Floats, labels: Floats, right: Floats
) -> tuple[Floats, Ends]:
    """Round outwards to whole items, then clip to what the labels leave possible."""
    # The upper end is rounded through the fails, so that passes and fails are exact mirrors.
    low = np.floor(items * raw[0]) / items
    high = (items - np.floor(items * (1 - raw[1]))) / items
    least, most = right / items, (right + items - labels) / items
    return np.clip(estimate, least, most), (np.clip(low, least, most), np.clip(high, least, most))


def share_rows(sizes: Vector, labelled: Vector, passes: Vector) -> tuple[Floats, Floats, Floats]:
    """Return the counts as rows of strata of one shape; refuse what cannot be counts."""
    x, k = as_counts(passes, labelled, names=("passes", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.ndim != 2 or x.shape != n.shape or not n.size:
        raise InputError(
            "sizes, labelled and passes must be rows of strata of one shape, "
            f"got shapes {np.shape(sizes)}, {np.shape(labelled)} and {np.shape(passes)}"
        )
    if (n.sum(axis=1) < 1).any():
        raise InputError("sizes: a row has no items at all: leave that row out")
    return n, k, x
