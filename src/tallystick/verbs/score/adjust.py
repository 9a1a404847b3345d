"""What corrects the plain mean: a covariate, a target mix, a consensus, and how labels were
drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.intervals import Intervals
from tallystick.stats.maxt import holm
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Graded, Ints
from tallystick.verbs.score.result import CovariateRow
from tallystick.verbs.score.systems import (
    Fitted,
    Places,
    System,
    SystemPair,
    agreeing,
    estimate_systems,
    fitted,
    inverted,
)

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
    outputs: Graded, covariates: Mapping[str, Floats], units: Units, alpha: float
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


def _explained(outputs: Graded, x: Floats, value: float) -> dict[str, float]:
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
# One fit has a mean for every system and slice. They are put together with the shares w of the
# target mix, and the ends follow MOVER,
#
# .. math:: L = \hat\theta - \sqrt{\sum_s w_s^2 (\hat\theta_s - L_s)^2}, \qquad
#           \hat\theta = \sum_s w_s \hat\theta_s,   \tag{SC3}
#
# with U alike, and differences alike. G. Zou and A. Donner, *Construction of confidence limits
# about effect measures*, Statistics in Medicine 27 (2008). A weighted mean of the outputs is
# shorter, and covers .82 where one label speaks for half of the target.


NO_FORECAST = "nothing is forecast for a target mix"
MIX = "target mix, MOVER"


@dataclass(frozen=True, eq=False)
class _Mixed:
    """The fit of systems x slices; *shares* are those of the slices in the target mix."""

    fit: Fitted
    shares: Floats
    graded: Ints

    @classmethod
    def of(cls, outputs: Graded, question: ScoreQuestion) -> _Mixed | None:
        """Fit the systems that people graded in every slice that counts; None if there is none."""
        mix = question.mix() or {}
        shares = np.array([mix[name] for name in outputs.slices])
        used = np.flatnonzero(shares > 0)
        assert outputs.slice is not None
        labelled = np.zeros((len(outputs.systems), len(shares)))
        np.add.at(labelled, (outputs.system, outputs.slice), outputs.counts * outputs.known)
        graded = np.flatnonzero((labelled[:, used] > 0).min(axis=1))
        if not graded.size:
            return None
        held = outputs.part(np.isin(outputs.system, graded) & np.isin(outputs.slice, used))
        cell = np.searchsorted(graded, held.system) * used.size
        cell = cell + np.searchsorted(used, np.asarray(held.slice))
        named = tuple(str(one) for one in range(graded.size * used.size))
        found = fitted(replace(held, systems=named, system=cell), question)
        return None if found is None else cls(found, shares[used], graded)

    def mean(self, estimate: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Put slices together (SC3); the last axis holds the slices of each mean in turn."""
        cut = (-1, self.shares.size)
        value = estimate.reshape(cut) @ self.shares
        down, up = (
            np.sqrt(np.maximum(0.0, part).reshape(cut) ** 2 @ self.shares**2)
            for part in (estimate - low, high - estimate)
        )
        return value, value - down, value + up

    def cells(self, systems: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of the slices of some systems in the fit."""
        k = self.shares.size
        return np.asarray((systems[:, None] * k + np.arange(k)).ravel())


def mixed(outputs: Graded, question: ScoreQuestion) -> tuple[list[System], list[SystemPair]]:
    """Estimate systems and pairs under the target mix."""
    systems = estimate_systems(outputs, question, None)
    found = _Mixed.of(outputs, question)
    if found is None:
        return systems, []
    few = found.fit.few
    means = few.means(alpha=question.alpha)
    value, low, high = found.mean(means.estimate, means.interval.low, means.interval.high)
    plain = found.mean(means.estimate, means.labels_only.low, means.labels_only.high)
    ends = Intervals(
        np.maximum(low, 0.0), np.minimum(high, 1.0), level=1 - question.alpha, method=MIX
    )
    for k, s in enumerate(found.graded):
        ratio = (plain[2] - plain[1])[k] / ends[k].width if ends[k].width > 0 else 1.0
        systems[s] = replace(
            systems[s],
            score=float(value[k]),
            interval=ends[k],
            worth=float(systems[s].n_labels * ratio**2),
            needed=Unknown(NO_FORECAST),
        )
    return systems, _mixed_pairs(found, value, question)


def _mixed_pairs(found: _Mixed, value: Floats, question: ScoreQuestion) -> list[SystemPair]:
    """Compare the systems slice by slice; Holm's rule adjusts for the number of pairs."""
    first, second = np.triu_indices(found.graded.size, 1)
    if not first.size:
        return []
    a, b, k = found.cells(first), found.cells(second), found.shares.size
    estimate = found.fit.few.means().estimate
    ends_at = found.fit.few.difference_levels(a, b)

    def at(rows: Places, alpha: Floats) -> tuple[Floats, Floats]:
        level = np.full(first.size, 0.5)
        level[rows] = alpha
        _, low, high = found.mean(estimate[a] - estimate[b], *ends_at(np.repeat(level, k)))
        return low[rows], high[rows]

    def holds(rows: Places, alpha: Floats) -> NDArray[np.bool_]:
        low, high = at(rows, alpha)
        return (low <= 0) & (high >= 0)

    p_values = inverted(holds, first.size)
    low, high = at(np.arange(first.size), np.full(first.size, question.alpha / first.size))
    common = found.fit.in_common()[0][a, b].reshape(-1, k).sum(axis=1)
    pairs = []
    for i, (p, step) in enumerate(zip(p_values, holm(p_values).tolist(), strict=True)):
        gap = float(value[first[i]] - value[second[i]])
        ends = float(max(-1.0, low[i])), float(min(1.0, high[i]))
        interval = Interval(*ends, 1 - question.alpha, "approximate", None, MIX)
        pairs.append(
            SystemPair(
                first=int(found.graded[first[i]]),
                second=int(found.graded[second[i]]),
                difference=gap,
                interval=agreeing(interval, gap, gap, step, question.alpha),
                p_value=p,
                adjusted_p=step,
                needed=Unknown(NO_FORECAST),
                common=int(common[i]),
            )
        )
    return pairs


def with_mix(outputs: Graded, mix: Mapping[str, float], column: str) -> Graded:
    """Return the outputs with what each counts in the target mix; refuse a mix that does not fit.

    A system without an output in a slice that has a share counts nothing.
    """
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
    if outputs.slice is None or (outputs.slice < 0).any():
        raise InputError(
            f"column {column!r} is blank in some rows, so they belong to no slice of target_mix:"
            " name their slice, or remove them"
        )
    shares = np.array([mix[name] for name in outputs.slices])
    place = outputs.system * len(shares) + outputs.slice
    sizes = np.bincount(place, outputs.counts, len(outputs.systems) * len(shares))
    sizes = sizes.reshape(-1, len(shares))
    whole = np.min(sizes[:, shares > 0], axis=1, keepdims=True) > 0
    share = np.where(whole, shares, 0.0)
    weight = np.divide(share, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    weight *= sizes.sum(axis=1)[:, None]
    return replace(outputs, weight=weight.ravel()[place])


# Whether the human grades can speak for all outputs: which outputs were chosen for grading.


def check_draw(outputs: Graded, draw: str) -> None:
    """Refuse a table that lacks human grades although all outputs are said to have one."""
    blank = outputs.n - outputs.n_labels
    if draw == "all" and blank:
        raise InputError(
            f"label_draw all says that every output has a human grade, and {blank:,} of"
            f" {outputs.n:,} have none: fill them in, or say how they were chosen"
            " (--label-draw random or unknown)"
        )
