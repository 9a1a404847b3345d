r"""How much do models fail together: a random-effects probit on error histories, and a test of
whether it fits.

Model t errs on item i with probability :math:`\Phi(\lambda b_i + \kappa_t - \gamma' o_{it})`, where
:math:`b_i \sim N(0,1)` is the item's difficulty, shared by all models, and :math:`o_{it} =
\log(d\,\mathcal D_t(i))` how much the item was up-weighted when model t was trained (known from the
earlier errors, so the likelihood of a history is a product over rounds given :math:`b_i`). In the
terms of :class:`tallystick.dynamic.Correlated`: :math:`\rho = \lambda^2/(1+\lambda^2)` and
:math:`\gamma = \gamma'\sqrt{1-\rho}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.curves import path_weights
from tallystick.dynamic.population import Array
from tallystick.errors import ConvergenceError, InputError, NotIdentifiable
from tallystick.results import Interval

__all__ = ["ProbitFit", "fit_correlation"]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_STARTS = (0.3, 1.0, 2.0)
"""Of lambda. At zero the likelihood is stationary whatever the data, so no start is there, and one
is not enough."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbitFit:
    r"""The fitted correlation of errors.

    Parameters
    ----------
    rho, interval
        Shared difficulty and its profile-likelihood interval.
    gamma
        Protection by up-weighting; None where the log is no path, so that nothing was up-weighted.
    thresholds
        :math:`-\kappa_t \sqrt{1-\rho}`, one a model.
    all_wrong, all_wrong_predicted
        Share of items that every model gets wrong: observed, fitted, and what it would be
        (*all_wrong_independent*) if errors were independent.
    fit_p
        p-value of the goodness of fit, by simulation: the number of wrong models an item, observed
        against fitted. Small: the model does not describe these errors, and envelopes built on it
        are not to be trusted.
    """

    rho: float
    interval: Interval
    gamma: float | None
    thresholds: tuple[float, ...]
    all_wrong: float
    all_wrong_predicted: float
    all_wrong_independent: float
    fit_p: float
    n_items: int

    @property
    def fits(self) -> bool:
        """Whether the fit survives its own test at 1 %."""
        return self.fit_p >= 0.01

    def difficulty(self, errors: Array, *, rollouts: int, rng: Rng, on_path: bool = False) -> Array:
        """Draw each item's difficulty from its posterior given its history: (rollouts, items)."""
        posterior, whose = self._posterior(errors, on_path)
        draws = as_rng(rng).random((rollouts, whose.size))
        places = np.empty(draws.shape, dtype=np.int64)
        alike = np.split(np.argsort(whose, kind="stable"), np.cumsum(np.bincount(whose))[:-1])
        for items, cells in zip(alike, np.cumsum(posterior, axis=1), strict=True):
            places[:, items] = np.searchsorted(cells, draws[:, items])
        return np.asarray(_NODES[places.clip(0, _NODES.size - 1)])

    def mean_difficulty(self, errors: Array, *, on_path: bool = False) -> Array:
        """Return the posterior mean of each item's difficulty :math:`b_i` given its history; 0 is
        the average item.

        >>> generator = np.random.default_rng(0)
        >>> shared, own = generator.standard_normal(500), generator.standard_normal((4, 500))
        >>> errors = 0.8 * shared + 0.6 * own > 0.5
        >>> means = fit_correlation(errors).mean_difficulty(errors)
        >>> bool(means[errors.all(axis=0)].min() > 1), bool(means[~errors.any(axis=0)].max() < 0)
        (True, True)
        """
        posterior, whose = self._posterior(errors, on_path)
        return np.asarray((posterior @ _NODES)[whose])

    def _posterior(self, errors: Array, on_path: bool) -> tuple[Array, Array]:
        """Return the probability of each node of difficulty given a history, (histories, nodes),
        and whose it is.
        """
        from scipy.special import log_ndtr

        wrong = _histories(errors)
        patterns, first, inverse = np.unique(
            wrong.T, axis=0, return_index=True, return_inverse=True
        )
        offsets = _offsets(wrong).T[first] if on_path else None
        slope = (self.rho / (1 - self.rho)) ** 0.5
        own = (1 - self.rho) ** 0.5
        parameters = np.concatenate(
            [[slope], -np.array(self.thresholds) / own, [(self.gamma or 0.0) / own]]
        )
        # In logs: a history of a thousand models has a likelihood that no float can hold.
        logs = log_ndtr(_linear(parameters, patterns, offsets)).sum(axis=2).T + np.log(_WEIGHTS)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        return posterior / posterior.sum(axis=1, keepdims=True), inverse.reshape(-1)


def fit_correlation(
    errors: Array,
    *,
    on_path: bool = False,
    level: float = 0.95,
    simulations: int = 199,
    rng: Rng = 0,
) -> ProbitFit:
    r"""Fit the shared difficulty of errors.

    Parameters
    ----------
    errors
        Booleans, (models, items).
    on_path
        Whether model t was trained on a path's uniform mixture of the earlier errors; then gamma is
        fitted, too.
    simulations
        Data sets drawn for the goodness of fit.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> shared, own = generator.standard_normal(3000), generator.standard_normal((5, 3000))
    >>> fit = fit_correlation(0.6**0.5 * shared + 0.4**0.5 * own > 0.5)
    >>> 0.6 in fit.interval, fit.fits
    (True, True)
    """
    wrong = _histories(errors)
    models, items = wrong.shape
    rates = wrong.mean(axis=1)
    flat = np.flatnonzero((rates == 0) | (rates == 1))
    if flat.size:
        raise NotIdentifiable(
            f"model {flat[0] + 1} of {models} is {'never' if rates[flat[0]] == 0 else 'always'}"
            " wrong, so it says nothing on correlation: leave it out"
        )
    offsets = _offsets(wrong) if on_path else None
    patterns, extra, counts = _compressed(wrong, offsets)
    best, value = _maximum(patterns, extra, counts, rates)
    slope = abs(float(best[0]))
    rho = slope**2 / (1 + slope**2)
    own = (1 - rho) ** 0.5
    fit_p, simulated = _fit_test(best, wrong, on_path, simulations, as_rng(rng))
    exact = float(_joint(best, np.ones((1, models), dtype=bool), None).sum())
    return ProbitFit(
        rho=rho,
        interval=_profile(patterns, extra, counts, best, value, level),
        gamma=float(best[-1]) * own if on_path else None,
        thresholds=tuple(float(-k) * own for k in best[1 : 1 + models]),
        all_wrong=float(wrong.all(axis=0).mean()),
        all_wrong_predicted=simulated if on_path else exact,
        all_wrong_independent=float(rates.prod()),
        fit_p=fit_p,
        n_items=items,
    )


def _histories(errors: Array) -> Array:
    wrong = np.asarray(errors, dtype=bool)
    if wrong.ndim != 2 or wrong.shape[0] < 2 or wrong.shape[1] < 10:
        raise InputError(
            "errors need the shape (models, items) with 2 models and 10 items or more, got"
            f" {wrong.shape}"
        )
    return wrong


def _offsets(wrong: Array) -> Array:
    return np.asarray(np.log(wrong.shape[1] * path_weights(wrong)[:-1]))


def _compressed(wrong: Array, offsets: Array | None) -> tuple[Array, Array | None, Array]:
    """Items with the same history have the same weights as well, so one row stands for all of
    them.
    """
    patterns, first, counts = np.unique(wrong.T, axis=0, return_index=True, return_counts=True)
    return patterns, None if offsets is None else offsets.T[first], counts.astype(float)


def _linear(parameters: Array, patterns: Array, offsets: Array | None) -> Array:
    """Return the probit's argument, (nodes, patterns, models), so signed that Phi gives the chance
    of what was seen.
    """
    index = parameters[1 : 1 + patterns.shape[1]]
    fixed = (
        np.broadcast_to(index, patterns.shape)
        if offsets is None
        else index - parameters[-1] * offsets
    )
    return np.asarray(
        np.where(patterns, 1.0, -1.0) * (parameters[0] * _NODES[:, None, None] + fixed)
    )


def _joint(parameters: Array, patterns: Array, offsets: Array | None) -> Array:
    """Probability of each pattern at each node of difficulty, times the node's weight: (patterns,
    nodes).
    """
    from scipy.special import log_ndtr

    logs = log_ndtr(_linear(parameters, patterns, offsets)).sum(axis=2)
    return np.asarray((np.exp(logs) * _WEIGHTS[:, None]).T)


def _objective(
    free: Array, patterns: Array, offsets: Array | None, counts: Array, fixed: float | None
) -> tuple[float, Array]:
    """Negative log-likelihood and its gradient."""
    from scipy.special import log_ndtr

    parameters = free if fixed is None else np.concatenate([[fixed], free])
    a = _linear(parameters, patterns, offsets)
    logs = log_ndtr(a)
    joint = np.exp(logs.sum(axis=2)) * _WEIGHTS[:, None]
    marginal = np.maximum(joint.sum(axis=0), 1e-300)
    # d log Phi(a) / d linear
    slope = np.where(patterns, 1.0, -1.0) * np.exp(-0.5 * a * a - logs) / np.sqrt(2 * np.pi)
    weighted = slope * (joint / marginal * counts)[:, :, None]
    by_model = weighted.sum(axis=0)
    parts = [np.array([weighted.sum(axis=(1, 2)) @ _NODES]), by_model.sum(axis=0)]
    if offsets is not None:
        parts.append(np.array([-(by_model * offsets).sum()]))
    gradient = np.concatenate(parts)
    return -float(counts @ np.log(marginal)), -(gradient if fixed is None else gradient[1:])


def _maximum(
    patterns: Array, offsets: Array | None, counts: Array, rates: Array
) -> tuple[Array, float]:
    """Maximise the likelihood, from several starts."""
    from scipy.optimize import minimize
    from scipy.special import ndtri

    tail = np.zeros(0 if offsets is None else 1)
    best: tuple[Array, float] | None = None
    for slope in _STARTS:
        first = np.concatenate([[slope], ndtri(rates) * (1 + slope**2) ** 0.5, tail])
        found = minimize(
            _objective, first, args=(patterns, offsets, counts, None), jac=True, method="L-BFGS-B"
        )
        if np.isfinite(found.fun) and (best is None or -found.fun > best[1]):
            best = found.x, -float(found.fun)
    if best is None:
        raise ConvergenceError(
            "the probit likelihood has no finite maximum: check the error histories"
        )
    return best


def _profile(
    patterns: Array, offsets: Array | None, counts: Array, best: Array, value: float, level: float
) -> Interval:
    """Where the profile likelihood of rho has dropped by half a chi-square quantile."""
    from scipy.optimize import brentq, minimize
    from scipy.special import chdtri

    drop = float(chdtri(1, 1 - level)) / 2  # scipy.stats would take longer to load than this to run
    rho = best[0] ** 2 / (1 + best[0] ** 2)

    def excess(at: float) -> float:
        # The maximum itself, rescaled to keep the error rates: a start from nowhere can end below
        # it.
        first = best[1:] * ((1 - rho) / (1 - at)) ** 0.5
        lost = minimize(
            _objective,
            first,
            args=(patterns, offsets, counts, (at / (1 - at)) ** 0.5),
            jac=True,
            method="L-BFGS-B",
        )
        return value + float(lost.fun) - drop

    low = float(brentq(excess, 0.0, rho, xtol=1e-4)) if rho > 1e-4 and excess(0.0) > 0 else 0.0
    high = (
        float(brentq(excess, rho, 0.999, xtol=1e-4)) if rho < 0.999 and excess(0.999) > 0 else 1.0
    )
    assumption = "one normal difficulty an item, shared by all models"
    return Interval(
        min(low, rho),
        max(high, rho),
        level=level,
        guarantee="under",
        assumption=assumption,
        method="profile",
    )


def _fit_test(
    parameters: Array, wrong: Array, on_path: bool, simulations: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Hold the numbers of wrong models an item against data drawn from the fit: p-value, and the
    share all wrong.
    """
    models, items = wrong.shape
    observed = np.bincount(wrong.sum(axis=0), minlength=models + 1)
    drawn = np.empty((simulations, models + 1))
    for k in range(simulations):
        fake = _replayed(parameters, rng.standard_normal((items,)), models, on_path, rng)
        drawn[k] = np.bincount(fake.sum(axis=0), minlength=models + 1)
    mean = np.maximum(drawn.mean(axis=0), 0.5)
    distance = ((drawn - mean) ** 2 / mean).sum(axis=1)
    far = (distance >= ((observed - mean) ** 2 / mean).sum()).sum()
    return float((1 + far) / (1 + simulations)), float(drawn[:, -1].mean() / items)


def _replayed(
    parameters: Array, difficulty: Array, models: int, on_path: bool, rng: np.random.Generator
) -> Array:
    """Draw error histories; on a path each round's errors change the weights of the next."""
    from scipy.special import ndtr

    items = difficulty.size
    total = np.full(items, 1 / items)
    rows = []
    for t in range(models):
        protection = parameters[-1] * np.log(items * total / total.sum()) if on_path else 0.0
        row = rng.random(items) < ndtr(parameters[0] * difficulty + parameters[1 + t] - protection)
        rows.append(row)
        if row.any():
            total = total + row / row.sum()
    return np.array(rows)
