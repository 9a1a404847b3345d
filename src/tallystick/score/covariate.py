r"""How a judge's error depends on something, such as the length of the output.

With human grades y, the error of a judge is regressed on the covariate x, in standard deviations,

.. math:: g_i - y_i = a + b x_i + e_i,   \tag{SC4}

by least squares with the HC3 errors of MacKinnon and White, which need neither equal nor normal
spread, and Student's quantile. How much of the raw lead of one system over another the slope
accounts for is :math:`b (\bar x_A - \bar x_B)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tallystick.results import Interval, Unknown
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.result import CovariateRow
from tallystick.score.units import Units

__all__ = ["covariate_rows", "slope"]

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
