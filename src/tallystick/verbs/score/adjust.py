"""What corrects the plain mean: a covariate, a target mix, a consensus, and how labels were
drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import AdverseEstimate
from tallystick.stats.adverse_ratios import LevelEnds, Levels
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Outputs
from tallystick.verbs.score.result import CovariateRow
from tallystick.verbs.score.systems import System, estimate_systems, judge_only, score_levels

# How a judge's error depends on something, such as the length of the output.
#
# With human grades y, the error of a judge is regressed on the covariate x, in standard
# deviations,
#
# .. math:: g_i - y_i = a + b x_i + e_i,   \tag{SC4}
#
# by least squares with the HC3 errors of MacKinnon and White, which need neither equal nor normal
# spread, and Student's quantile. How much of the raw lead of one system over another the slope
# accounts for is :math:`b (\bar x_A - \bar x_B)`.


FEWEST = 10
"""Outputs that a judge and people graded, from which a slope is fitted."""


def covariate_rows(
    outputs: Outputs, covariates: Mapping[str, Floats], units: Units, alpha: float
) -> tuple[CovariateRow, ...]:
    """Return the slope of every judge's error on every covariate, overall and per system."""
    found = []
    for name, raw in covariates.items():
        spread = float(np.nanstd(raw))
        x = (raw - np.nanmean(raw)) / spread if spread > 0 else np.full(len(raw), np.nan)
        for j, judge in enumerate(outputs.judges):
            error = outputs.grades[:, j] - outputs.truth
            overall = _row(name, judge, None, x, error, units, alpha)
            if not isinstance(overall.slope, Unknown):
                lead = _explained(outputs, x, overall.slope)
                overall = replace(overall, explained=lead)
            found.append(overall)
            if len(outputs.systems) > 1:
                found += [
                    _row(name, judge, system, x[held], error[held], units, alpha)
                    for s, system in enumerate(outputs.systems)
                    for held in [outputs.of(s)]
                    if (np.isfinite(x) & np.isfinite(error) & held).sum() >= FEWEST
                ]
    return tuple(found)


def _row(
    covariate: str,
    judge: str,
    system: str | None,
    x: Floats,
    error: Floats,
    units: Units,
    alpha: float,
) -> CovariateRow:
    used = np.isfinite(x) & np.isfinite(error)
    n = int(used.sum())
    if n < FEWEST or np.ptp(x[used]) == 0:
        reason = Unknown(
            f"{n} outputs have a human grade, one of {judge} and {covariate}: at least {FEWEST}"
            " with different values are needed"
        )
        return CovariateRow(
            covariate=covariate,
            judge=judge,
            system=system,
            slope=reason,
            interval=reason,
            p_value=reason,
            n_labels=n,
        )
    value, interval, p = slope(x[used], error[used], alpha=alpha)
    return CovariateRow(
        covariate=covariate,
        judge=judge,
        system=system,
        slope=units.size(value),
        interval=units.sizes(interval),
        p_value=p,
        n_labels=n,
    )


def slope(x: Floats, y: Floats, *, alpha: float = 0.05) -> tuple[float, Interval, float]:
    """Fit (SC4): return the slope, its interval and its p-value.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 40)
    >>> value, interval, p = slope(x, 0.3 * x + 0.1 * np.sin(20 * x))
    >>> round(value, 2), interval.low < 0.3 < interval.high, p < 1e-6
    (0.3, True, True)
    """
    from scipy.special import stdtr, stdtrit

    n = len(x)
    off = x - x.mean()
    scatter = float(off @ off)
    value = float(off @ (y - y.mean())) / scatter
    residual = y - y.mean() - value * off
    leverage = 1 / n + off**2 / scatter
    # HC3: residuals are blown up by their leverage, so that one far point cannot hide its doubt.
    blown = residual / np.maximum(1 - leverage, 1e-6)
    # One pseudo-residual of the size of rounding keeps a perfect fit from being called certain.
    error = float(np.sqrt((off**2 @ blown**2 + scatter / n * 0.25 / n) / scatter**2))
    freedom = n - 2
    half = float(stdtrit(freedom, 1 - alpha / 2)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error))
    interval = Interval(value - half, value + half, 1 - alpha, "approximate", None, "HC3")
    return value, interval, min(1.0, p)


def _explained(outputs: Outputs, x: Floats, value: float) -> dict[str, float]:
    """Return b times the difference of mean covariates, for every pair of systems."""
    means = []
    for s in range(len(outputs.systems)):
        held = outputs.of(s) & np.isfinite(x)
        means.append(
            float(np.average(x[held], weights=outputs.counts[held])) if held.any() else 0.0
        )
    names = outputs.systems
    return {
        f"{names[a]} - {names[b]}": value * (means[a] - means[b])
        for a in range(len(names))
        for b in range(a + 1, min(len(names), a + 20))
    }


# Another mix of slices than the table has, such as the traffic of production.
#
# Each slice is estimated on its own, and the estimates are put together with the shares w of the
# target mix. The ends follow MOVER,
#
# .. math:: L = \hat\theta - \sqrt{\sum_s w_s^2 (\hat\theta_s - L_s)^2}, \qquad
#           \hat\theta = \sum_s w_s \hat\theta_s,   \tag{SC3}
#
# with U alike. G. Zou and A. Donner, *Construction of confidence limits about effect measures*,
# Statistics in Medicine 27 (2008). Derived from intervals whose coverage is measured; not measured
# itself.


def check_mix(outputs: Outputs, mix: Mapping[str, float], column: str) -> Floats:
    """Return the share of each slice of the table; refuse a mix that does not fit it."""
    absent = [name for name, share in mix.items() if share > 0 and name not in outputs.slices]
    if absent:
        raise InputError(
            f"target_mix gives a share to {absent[0]!r}, and {column!r} never says that: it says"
            f" {', '.join(outputs.slices[:8])}"
        )
    silent = [name for name in outputs.slices if name not in mix]
    if silent:
        raise InputError(
            f"target_mix gives no share to {silent[0]!r} of {column!r}: write 0 if it does not"
            " occur in the target"
        )
    if outputs.slice is not None and (outputs.slice < 0).any():
        raise InputError(
            f"column {column!r} is blank in some rows, so they belong to no slice of target_mix:"
            " name their slice, or remove them"
        )
    return np.array([mix[name] for name in outputs.slices])


def mixed_systems(
    outputs: Outputs, values: Floats, question: ScoreQuestion, shares: Floats, alpha: float
) -> list[System]:
    """Estimate every system under the target mix (SC3)."""
    parts = []
    for h, share in enumerate(shares):
        inside = np.asarray(outputs.slice == h)
        if share > 0:
            held = outputs.part(inside)
            parts.append((share, estimate_systems(held, values[inside], question, alpha=alpha)))
    found = []
    for s, name in enumerate(outputs.systems):
        rows = [(share, systems[s]) for share, systems in parts]
        inside = outputs.of(s)
        found.append(
            System(
                name=name,
                found=_together([(share, one.found) for share, one in rows], alpha),
                outlook=None,
                n=round(float(outputs.counts[inside].sum())),
                n_labels=round(float(outputs.counts[inside & outputs.known].sum())),
            )
        )
    return found


def mixed_levels(
    outputs: Outputs, values: Floats, question: ScoreQuestion, shares: Floats
) -> list[Levels | None]:
    """Return every system's score under the target mix (SC3) as a function of the level."""
    parts = []
    for h, share in enumerate(shares):
        inside = np.asarray(outputs.slice == h)
        if share > 0:
            parts.append((share, score_levels(outputs.part(inside), values[inside], question)))

    def of(s: int) -> Levels | None:
        held = [(share, one) for share, levels in parts if (one := levels[s]) is not None]
        if len(held) < len(parts):
            return None

        def at(alpha: Floats) -> LevelEnds:
            found = [(share, one(alpha)) for share, one in held]
            zero = np.zeros(alpha.size)
            centre = sum((share * value for share, (value, _, _) in found), zero)
            down = sum(((w * np.maximum(0.0, v - low)) ** 2 for w, (v, low, _) in found), zero)
            up = sum(((w * np.maximum(0.0, high - v)) ** 2 for w, (v, _, high) in found), zero)
            low, high = centre - np.sqrt(down), centre + np.sqrt(up)  # (SC3)
            return centre, np.maximum(0.0, low), np.minimum(1.0, high)

        return at

    return [of(s) for s in range(len(outputs.systems))]


def _together(
    parts: list[tuple[float, AdverseEstimate | None]], alpha: float
) -> AdverseEstimate | None:
    """Add estimates up with their shares; None if a slice with a share has no labels."""
    held = [(share, one) for share, one in parts if one is not None]
    if len(held) < len(parts):
        return None
    values = [one.estimate for _, one in held if not isinstance(one.estimate, Unknown)]
    if len(values) < len(held):
        return None
    centre = float(sum(share * value for (share, _), value in zip(held, values, strict=True)))

    def ends(intervals: list[Interval]) -> Interval:
        down = up = 0.0
        for (share, _), value, interval in zip(held, values, intervals, strict=True):
            down += (share * max(0.0, value - interval.low)) ** 2  # (SC3)
            up += (share * max(0.0, interval.high - value)) ** 2
        low, high = max(0.0, centre - down**0.5), min(1.0, centre + up**0.5)
        return Interval(low, high, 1 - alpha, "approximate", None, "target mix, MOVER")

    interval = ends([one.interval for _, one in held])
    plain = ends([one.labels_only for _, one in held])
    labels = sum(one.n_labels for _, one in held)
    ratio = plain.width / interval.width if interval.width > 0 else 1.0
    return AdverseEstimate(
        estimate=centre,
        interval=interval,
        labels_only=plain,
        n_labels=labels,
        worth=labels * ratio**2,
    )


def mixed_judges(outputs: Outputs, shares: Floats) -> Floats:
    """Return each system's judge-only mean under the target mix."""
    total = np.zeros(len(outputs.systems))
    for h, share in enumerate(shares):
        if share > 0:
            total += share * judge_only(outputs.part(np.asarray(outputs.slice == h)))
    return total


# Whether the human grades can speak for all outputs: which outputs were chosen for grading.


def split_outputs(outputs: Outputs) -> Floats:
    """Return 1 for entries on which the judges disagree, 0 for the others."""
    low, high = np.full(len(outputs.counts), np.inf), np.full(len(outputs.counts), -np.inf)
    for j in range(len(outputs.judges)):
        low = np.fmin(low, outputs.grades[:, j])
        high = np.fmax(high, outputs.grades[:, j])
    return np.where(high > low, 1.0, 0.0)


def check_draw(outputs: Outputs, draw: str) -> None:
    """Refuse a table that lacks human grades although all outputs are said to have one."""
    blank = outputs.n - outputs.n_labels
    if draw == "all" and blank:
        raise InputError(
            f"label_draw all says that every output has a human grade, and {blank:,} of"
            f" {outputs.n:,} have none: fill them in, or say how they were chosen"
            " (--label-draw random or unknown)"
        )
