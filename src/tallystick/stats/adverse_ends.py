"""How far an interval must reach: each end sees part of one more label at the worst value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tallystick.stats.bets import crossing
from tallystick.stats.intervals import Floats

# Lower ends of the stratified adverse likelihood, many rows at once.
#
# Only the lower end is written. The upper end is one minus the lower end of the fails.


LOWEST, HIGHEST = -10.0, 25.0
"""Where ln μ is looked for."""


def lower_ends(
    weights: Floats, sizes: Floats, shares: Floats, pseudo: Floats, bar: Floats
) -> Floats:
    r"""Return L of (AL2) for every row of strata.

    The statistic D is a rising function of :math:`t = \ln \mu`. Since :math:`s_h - n_h p_h =
    \mu W_h p_h (1 - p_h)`, its slope is

    .. math:: \frac{dD}{dt} = 2 \mu^2 \sum_h \frac{W_h^2 p_h (1 - p_h)}
              {\sqrt{(\mu W_h + n_h)^2 - 4 \mu W_h s_h}}.

    Parameters
    ----------
    weights, sizes, shares
        W, the effective labels k* and the pass rates p̂, rows x strata.
    pseudo, bar
        Per row the factor a of (AL1), and the z² that the statistic has to reach.
    """
    # Where nothing passed, p̃ = p(μ) = 0 and nothing is lost.
    seen = np.where(weights > 0.0, sizes * shares, 0.0)
    size = sizes + pseudo[:, None] * np.sqrt(weights)  # (AL1): a_h more fails
    size = np.where(seen > 0.0, size, 1.0)
    missed = size - seen
    passed, failed = np.where(seen > 0.0, seen / size, 1.0), missed / size
    log_bar = np.log(bar)

    def rates(t: Floats) -> tuple[Floats, Floats, Floats]:
        tilt = np.exp(t)[:, None] * weights
        # (tilt + n)² - 4 tilt s, written as a sum of squares so that it cannot turn negative.
        root = np.sqrt((tilt - size) ** 2 + 4.0 * tilt * missed)
        return 2.0 * seen / (tilt + size + root), tilt, root

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        p, tilt, root = rates(t)
        lost = seen * np.log(passed / np.where(seen > 0.0, p, 1.0))
        lost += missed * np.log(failed / (1.0 - p))
        drop = 2.0 * lost.sum(axis=1)
        slope = 2.0 * (tilt**2 * p * (1.0 - p) / root).sum(axis=1)
        return np.log(drop) - log_bar, slope / drop

    # For small μ the statistic is μ² Σ W² p̃ (1 - p̃)/n.
    first = (weights**2 * seen * missed / size**3).sum(axis=1)
    with np.errstate(divide="ignore"):
        start = 0.5 * (log_bar - np.log(first))
    p, _, _ = rates(crossing(statistic, start, LOWEST, HIGHEST))
    return np.asarray((weights * p).sum(axis=1))


# Lower ends of the adverse empirical likelihood, many rows at once.
#
# Only the lower end is written, for distances d >= 0 from the least value that a label could
# have.
# The upper end takes distances from the greatest value.


EMPIRICAL_ENDS_LOWEST, EMPIRICAL_ENDS_HIGHEST = -14.0, 30.0
"""Where ln γ is looked for."""


def least_means(distances: Floats, weights: Floats, pseudo: float, bar: Floats) -> Floats:
    r"""Return the least mean distance that each row of labels leaves open (AL6).

    The statistic D is a rising function of :math:`\ln \gamma`. With
    :math:`q_i = 1/(1 + \gamma d_i)` its slope is

    .. math:: 2 \gamma \Bigl(\sum_i w_i d_i q_i - \frac ns \sum_i w_i d_i q_i^2\Bigr).

    Parameters
    ----------
    distances, weights
        d and w, rows x labels.
    pseudo
        The fraction a of one more label, at distance 0.
    bar
        Per row the z² that the statistic has to reach.
    """
    far = distances.max(axis=1) > 0.0
    if not far.all():  # labels at distance 0 only: so is the least mean
        ends = np.zeros(len(distances))
        if far.any():
            ends[far] = least_means(distances[far], weights[far], pseudo, bar[far])
        return ends

    size = pseudo + weights.sum(axis=1)
    log_bar = np.log(bar)

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        gamma = np.exp(t)
        tilt = 1.0 + gamma[:, None] * distances
        part = weights / tilt
        kept = pseudo + part.sum(axis=1)
        drop = 2.0 * (size * np.log(kept / size) + (weights * np.log(tilt)).sum(axis=1))
        part *= distances
        slope = part.sum(axis=1) - size / kept * (part / tilt).sum(axis=1)
        return np.log(drop) - log_bar, 2.0 * gamma * slope / drop

    # For small γ the statistic is γ² n times the variance of the distances.
    mean = (weights * distances).sum(axis=1) / size
    spread = (weights * distances**2).sum(axis=1) / size - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.nan_to_num(0.5 * (log_bar - np.log(size * spread)))
    gamma = np.exp(crossing(statistic, start, EMPIRICAL_ENDS_LOWEST, EMPIRICAL_ENDS_HIGHEST))

    q = weights / (1.0 + gamma[:, None] * distances)
    return np.asarray((q * distances).sum(axis=1) / (pseudo + q.sum(axis=1)))


# Ends of a ratio of two sums over cells: recall and F1.


RATIO_ENDS_LOWEST, RATIO_ENDS_HIGHEST = -10.0, 25.0
"""Where ln |μ| is looked for."""


def rates(tilt: Floats, seen: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return the root p in [0, 1] of tilt p² - (n + tilt) p + s = 0, and the root of its
    discriminant; *tilt* is μω, of either sign.
    """
    slope = size + tilt
    # slope² - 4 tilt s, written so that it cannot turn negative when s is at most n.
    square = np.where(
        tilt >= 0.0, (tilt - size) ** 2 + 4.0 * tilt * (size - seen), slope**2 - 4.0 * tilt * seen
    )
    root = np.sqrt(square)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(slope >= 0.0, 2.0 * seen / (slope + root), (slope - root) / (2.0 * tilt))
    return np.nan_to_num(p), root


def ratio_end(
    weight: Floats,
    factor: Floats,
    seen: Floats,
    size: Floats,
    constant: float,
    bar: float,
    upper: bool,
) -> float:
    r"""Return the ratio θ, on one side of its estimate, at which the statistic (AL15) is the bar.

    The statistic D falls towards the estimate, with slope
    :math:`dD/dθ = -2 μ (\sum_s W_s p_s + C)`: the multiplier μ is what the constraint costs.
    """
    top = float((weight * factor * seen / size).sum())
    below = constant + float((weight * seen / size).sum())
    if below <= 0.0:  # no label of the class, not even an adverse one: nothing is refuted
        return 1.0 if upper else 0.0
    sign, missed, last = (-1.0 if upper else 1.0), size - seen, [0.0]

    def lost(theta: float) -> tuple[float, float]:
        """Return 2(ℓ(p̃) - ℓ(p(μ))) at the ratio θ, and how fast it changes."""
        omega = weight * (factor - theta)

        # μ solves Σ ω p(μ) = θ C. At μ = 0 the sum is on the far side of θ C.
        def excess(t: Floats) -> tuple[Floats, Floats]:
            tilt = sign * np.exp(t) * omega
            p, root = rates(tilt, seen, size)
            slope = (sign * omega * tilt * p * (1.0 - p) / root).sum()
            return np.array([sign * (theta * constant - (omega * p).sum())]), np.array([slope])

        last[0] = float(crossing(excess, np.array(last), RATIO_ENDS_LOWEST, RATIO_ENDS_HIGHEST)[0])
        mu = sign * np.exp(last[0])
        p, _ = rates(mu * omega, seen, size)
        # A rate of 0 or 1 with labels against it has likelihood 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(seen > 0.0, seen * np.log(seen / size / p), 0.0)
            parts += np.where(missed > 0.0, missed * np.log(missed / size / (1.0 - p)), 0.0)
        return 2.0 * float(parts.sum()), -2.0 * mu * (float((weight * p).sum()) + constant)

    # Far from the estimate the statistic is large; between there and the estimate it crosses.
    inside, outside = top / below, 1.0 if upper else 0.0

    def rising(at: Floats) -> tuple[Floats, Floats]:
        width = outside - inside
        statistic, slope = lost(inside + float(at[0]) * width)
        root = np.sqrt(max(statistic, 0.0))  # nearly a straight line
        return np.array([root - np.sqrt(bar)]), np.array([slope * width / (2.0 * root)])

    if inside == outside:
        return outside
    at = crossing(rising, np.array([0.5]), 0.0, 1.0)
    return inside + float(at[0]) * (outside - inside)


# The lower end of one mean of the stratified adverse empirical likelihood.
#
# Only the lower end is written, for distances d >= 0 from the least value that a label could
# have.
# The upper end takes distances from the greatest value.


STRATIFIED_ENDS_LOWEST, STRATIFIED_ENDS_HIGHEST = -12.0, 30.0
"""Where ln μ is looked for."""
STEPS, CLOSE = 100, 1e-14
"""The most steps of Newton for ν, and the relative step at which it has arrived."""


def least_stratified_mean(
    distance: Floats,
    start: NDArray[np.int64],
    share: Floats,
    each: Floats,
    pseudo: float,
    bar: float,
) -> float:
    r"""Return the least mean distance that the labels of the strata leave open (AL19).

    The statistic D is a rising function of :math:`t = \ln \mu`. With :math:`τ_h = μ W_h`, the mean
    distance :math:`m_h = \sum_i p_{hi} d_{hi}` and sums of :math:`p_{hi}^2 / w_h`,

    .. math:: \frac{dD}{dt} = 2 \sum_h τ_h \Bigl(m_h - \frac{\sum_i d_{hi} p_{hi}^2/w_h}
              {a_h/ν_h^2 + \sum_i p_{hi}^2/w_h}\Bigr).

    Parameters
    ----------
    distance, start
        The labels stratum by stratum, those of stratum h between *start* h and h + 1.
    share, each
        W, and the weight of a label, per stratum.
    pseudo
        The fraction a of (AL19).
    bar
        The z² that the statistic has to reach.
    """
    # Without labels the whole stratum may lie at the least value: it adds nothing.
    used = np.flatnonzero((np.diff(start) > 0) & (share > 0.0))
    if not used.size:
        return 0.0

    # Equal labels are one entry with their number: most grades and differences take few values.
    values = [np.unique(distance[start[h] : start[h + 1]], return_counts=True) for h in used]
    d = np.concatenate([value for value, _ in values])
    lengths = np.array([value.size for value, _ in values])
    weight = np.concatenate([count for _, count in values]) * np.repeat(each[used], lengths)
    at = np.concatenate(([0], np.cumsum(lengths)[:-1]))

    def total(part: Floats) -> Floats:
        """Add up the labels of each stratum."""
        return np.add.reduceat(part, at)

    share, added = share[used], pseudo * np.sqrt(share[used])
    size = added + total(weight)
    middle = total(weight * d) / size

    def bottom(tilt: Floats) -> tuple[Floats, Floats]:
        """Return ν of every stratum, and ν + τ d of every label.

        The mass falls in ν and is convex, so Newton's steps from a point on its left approach ν
        from there and never pass it.
        """
        nu = np.maximum(added, size - tilt * middle)
        lifted = np.repeat(tilt, lengths) * d
        for _ in range(STEPS):
            under = np.repeat(nu, lengths) + lifted
            part = weight / under
            step = (added / nu + total(part) - 1.0) / (added / nu**2 + total(part / under))
            nu = nu + step
            if (np.abs(step) <= CLOSE * nu).all():
                break
        return nu, np.repeat(nu, lengths) + lifted

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        tilt = np.exp(t) * share
        nu, under = bottom(tilt)
        part = weight / under
        lost = added * np.log(nu / size) + total(weight * np.log(under / np.repeat(size, lengths)))
        drop = 2.0 * lost.sum()
        part_d = part * d / under
        slope = tilt * (total(part * d) - total(part_d) / (added / nu**2 + total(part / under)))
        return np.array([np.log(drop) - np.log(bar)]), np.array([2.0 * slope.sum() / drop])

    # For small μ the statistic is μ² times the variance of the mean of labels.
    spread = np.maximum(total(weight * d**2) / size - middle**2, 0.0)
    with np.errstate(divide="ignore"):
        guess = 0.5 * (np.log(bar) - np.log((share**2 * spread / size).sum()))
    found = crossing(
        statistic, np.array([np.nan_to_num(guess)]), STRATIFIED_ENDS_LOWEST, STRATIFIED_ENDS_HIGHEST
    )
    _, under = bottom(np.exp(found) * share)
    return float((share * total(weight * d / under)).sum())
