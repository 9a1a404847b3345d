r"""What would more models in the vote bring? A forecast for a panel of models on the same items.

Let M models be tried on n items, :math:`k_i` of them wrong on item i, and :math:`f_w` the share of
items with :math:`k_i = w`. For models of the same source (exchangeable ones), going from an odd to
an even count brings exactly nothing on average, so the forecast is for the next *odd* count: one
more model if M is even, two more if M is odd.

Whatever the new models are, only items at the edge of the vote can change sides. With
:math:`m = (M+1)/2` for odd M, and :math:`h = M/2` for even M,

.. math:: -f_{m-1} \le \text{gain} \le f_m, \qquad\text{or}\qquad |\text{gain}| \le f_h/2.  \tag{P1}

How many of them change is estimated twice: by a beta-binomial law of the items' error rates, and
by a free mixture fitted with EM. The range spans both estimates, widened by how much the risk moves
when models are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp, sqrt
from typing import Literal, TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Interval, Unknown

PanelDecision: TypeAlias = Literal["worth it", "not worth it", "cannot tell"]

_GRID = np.array([0.0005, *(k / 100 for k in range(1, 100)), 0.9995])
"""The error rates on which the free mixture of (P3) puts its weights."""

_STEPS = 300
_LOG_LIMIT = 9.0
_LEVEL = 0.9
_FEWEST = 3
_SOURCE = "the new models come from the same source as the old ones"


@dataclass(frozen=True, kw_only=True)
class PanelForecast:
    """What one or two more models would change, and whether that pays.

    Parameters
    ----------
    models, items
        M and n.
    more
        How many models would join: 1 if M is even, 2 if it is odd.
    risk
        Share of items that the majority gets wrong today; a tie counts one half.
    certain
        The gain lies in here whatever the new models are (P1).
    gain, interval
        Expected fall of the risk and its 90 % range; unknown below three models.
    beta_binomial, mixture
        The two estimates of the gain, (P2) and (P3).
    shape
        a and b of the beta law of the items' error rates.
    refuted
        The free mixture fits so much better that the beta law is refuted (P4): then the estimate
        is the mixture's.
    spread
        How much the risk moves when as many models are left out as would join (P5).
    pays
        The gain that pays for the new models, as the user stated it.
    decision
        ``worth it``, ``not worth it`` or ``cannot tell``.
    """

    models: int
    items: int
    more: int
    risk: float
    certain: tuple[float, float]
    gain: float | Unknown
    interval: Interval | Unknown
    beta_binomial: float | Unknown
    mixture: float | Unknown
    shape: tuple[float, float] | Unknown
    refuted: bool | Unknown
    spread: float | Unknown
    pays: float
    decision: PanelDecision


def forecast_panel(errors: Array, *, pays: float = 0.0) -> PanelForecast:
    r"""Forecast the gain on the same items when further models of the same kind join the vote.

    With (a, b) the beta-binomial fit, :math:`S = a + b + M`, and E the posterior of an item's error
    rate p (q = 1 - p) under the mixture, the gain of two more models to an odd panel is

    .. math::
        \mathrm{BB} = \frac{f_m (b+m-1)(b+m) - f_{m-1} (a+m-1)(a+m)}{S(S+1)}  \tag{P2} \\
        \mathrm{EM} = f_m \mathrm E[q^2 \mid k=m] - f_{m-1} \mathrm E[p^2 \mid k=m-1]  \tag{P3}

    and of one more model to an even one :math:`f_h (b-a)/(2S)` and
    :math:`\tfrac12 f_h \mathrm E[q-p \mid k=h]`. The beta law is refuted if

    .. math:: 2n \sum_w f_w \ln(\mathrm{EM}_w/\mathrm{BB}_w) > \chi^2_{.95}(\max(M-2, 1)). \tag{P4}

    With s the spread over left-out pairs (odd M) or single models (even M), the 90 % range is

    .. math:: [\min(\mathrm{BB}, \mathrm{EM}) - Qs,\; \max(\mathrm{BB}, \mathrm{EM}) + Qs],
              \qquad Q = t_{.95}(M-1)\sqrt{1 + 2/M}  \tag{P5}

    cut to (P1). It always spans both estimates: relying on the mixture alone when the beta law is
    refuted was too sure where many items move as one block. Coverage was measured on simulated and
    real panels (``docs/theory/dynamic.md``); it is lost if the new models are better or worse than
    the old ones, and then only the certain bounds hold.

    Parameters
    ----------
    errors
        Booleans of shape (models, items): True where a model is wrong.
    pays
        The gain from which on the new models are worth their price.

    Examples
    --------
    >>> seen = {"000": 60, "100": 6, "010": 5, "001": 9, "110": 4, "101": 3, "011": 3, "111": 10}
    >>> rows = [[int(digit) for digit in word] for word in seen for _ in range(seen[word])]
    >>> found = forecast_panel(np.array(rows, dtype=bool).T)
    >>> [round(end, 4) for end in found.interval], found.certain
    ([-0.0579, 0.0687], (-0.2, 0.1))
    >>> found.decision
    'cannot tell'
    """
    wrong = _checked(errors, pays)
    models, items = wrong.shape
    counts = np.bincount(wrong.sum(axis=0), minlength=models + 1)
    share = counts / items
    certain = _certain(share, models)
    risk = float(majority_risk(wrong.sum(axis=0), models))

    if models < _FEWEST:
        # With two models the range held .83 to .90 instead of .9, so only the bounds are given.
        reason = Unknown(f"a forecast needs at least {_FEWEST} models, got {models}")
        return PanelForecast(
            models=models,
            items=items,
            more=2 - (models + 1) % 2,
            risk=risk,
            certain=certain,
            gain=reason,
            interval=reason,
            beta_binomial=reason,
            mixture=reason,
            shape=reason,
            refuted=reason,
            spread=reason,
            pays=pays,
            decision=_decide(certain, certain, pays),
        )

    # Two laws of the items' error rates, fitted to the number of wrong models per item.
    a, b = _beta_fit(counts)
    weights, mixed = _mixture_fit(share)
    by_beta, by_mixture = _beta_gain(share, a, b), _mixture_gain(share, weights)
    refuted = _refuted(counts, mixed, _beta_binomial(models, a, b))

    # (P5): the range spans both estimates and is widened by what leaving models out does.
    spread = _spread(wrong)
    reach = _quantile(models) * spread
    low, high = min(by_beta, by_mixture) - reach, max(by_beta, by_mixture) + reach
    interval = Interval(
        min(max(low, certain[0]), certain[1]),
        max(min(high, certain[1]), certain[0]),
        level=_LEVEL,
        guarantee="under",
        assumption=_SOURCE,
        method="beta-binomial and mixture",
    )
    return PanelForecast(
        models=models,
        items=items,
        more=2 - (models + 1) % 2,
        risk=risk,
        certain=certain,
        gain=by_mixture if refuted else by_beta,
        interval=interval,
        beta_binomial=by_beta,
        mixture=by_mixture,
        shape=(a, b),
        refuted=refuted,
        spread=spread,
        pays=pays,
        decision=_decide(interval, certain, pays),
    )


def majority_risk(wrong: Array, models: int) -> float:
    """Return the share of items with more than half of *models* wrong, plus half of the ties.

    >>> majority_risk(np.array([0, 1, 2, 2]), 2)
    0.625
    """
    doubled = 2 * np.asarray(wrong)
    return float(np.mean((doubled > models) + 0.5 * (doubled == models)))


def _checked(errors: Array, pays: float) -> Array:
    wrong = np.asarray(errors)
    if wrong.ndim != 2 or not wrong.size:
        raise InputError(f"errors need the shape (models, items), neither 0, got {wrong.shape}")
    if wrong.dtype != bool:
        if not np.isin(wrong, (0, 1)).all():
            raise InputError(
                f"errors must be True or False, got {wrong.dtype}: compare answers with the truth"
            )
        wrong = wrong.astype(bool)
    if not (np.isfinite(pays) and -1 <= pays <= 1):
        raise InputError(f"pays, a change of risk, must be in [-1, 1], got {pays!r}")
    return wrong


def _certain(share: Array, models: int) -> tuple[float, float]:
    """Return (P1): the gain that no choice of new models can leave."""
    m = (models + 1) // 2
    low, high = (share[m - 1], share[m]) if models % 2 else (share[m] / 2, share[m] / 2)
    return 0.0 - float(low), float(high)


def _decide(
    likely: Interval | tuple[float, float], certain: tuple[float, float], pays: float
) -> PanelDecision:
    low, high = likely
    if low > pays:
        return "worth it"
    # No new model at all can bring more than the certain upper end.
    return "not worth it" if high < pays or certain[1] <= pays else "cannot tell"


def _quantile(models: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(models - 1, 0.95)) * sqrt(1 + 2 / models)


def _spread(wrong: Array) -> float:
    """Return s: how the majority risk changes when as many models leave as would join (P5)."""
    models = len(wrong)
    total = wrong.sum(axis=0)
    now = majority_risk(total, models)
    left_out = combinations(range(models), 2) if models % 2 else ((i,) for i in range(models))
    moves = [
        majority_risk(total - wrong[list(some)].sum(axis=0), models - len(some)) - now
        for some in left_out
    ]
    return float(np.std(moves, ddof=1))


def _beta_fit(counts: Array) -> tuple[float, float]:
    """Return the beta-binomial maximum of the likelihood, ln a and ln b cut to [-9, 9].

    Clones, models without errors and too even counts have no maximum: the likelihood then rises
    towards the edge of the box, where the forecast gain no longer moves.
    """
    models = len(counts) - 1
    share = counts / counts.sum()

    # The mean is known from the start; of three concentrations the best begins the climb.
    mean = float(share @ np.arange(models + 1)) / models
    mean = min(max(mean, 1e-3), 1 - 1e-3)
    starts = [np.log([mean * size, (1 - mean) * size]) for size in (0.5, 3.0, 50.0)]
    point = max(starts, key=lambda start: _beta_climb(share, start)[0])
    value, slope, bend = _beta_climb(share, point)

    # Newton's steps, damped until the likelihood rises; a coordinate that pushes against its limit
    # stays there.
    damping = 1e-3
    for _ in range(300):
        free = ~((np.abs(point) >= _LOG_LIMIT) & (slope * point > 0))
        if not free.any() or np.abs(slope[free]).max() < 1e-13 or damping > 1e12:
            break
        size = np.abs(np.diag(bend)[free]) + 1e-12
        hill = -bend[np.ix_(free, free)] + damping * np.diag(size)
        step = np.linalg.solve(hill, slope[free])
        there = point.copy()
        there[free] = np.clip(point[free] + np.clip(step, -3, 3), -_LOG_LIMIT, _LOG_LIMIT)
        if np.abs(there - point).max() < 1e-10:
            break
        ahead = _beta_climb(share, there)
        if ahead[0] >= value:
            point, (value, slope, bend), damping = there, ahead, damping / 10
        else:
            damping *= 10
    return exp(point[0]), exp(point[1])


def _beta_climb(share: Array, point: Array) -> tuple[float, Array, Array]:
    """Return the mean log-likelihood at (ln a, ln b), its slope and its second derivatives."""
    from scipy.special import betaln, psi, zeta

    models = len(share) - 1
    wrong = np.arange(models + 1)
    (a, b) = np.exp(point)
    value = float(share @ (betaln(a + wrong, b + models - wrong) - betaln(a, b)))

    # Derivatives in a and b: psi and, for the second ones, Hurwitz's zeta(2, x) = psi'(x).
    both = psi(a + b) - psi(a + b + models)
    by_a = share @ psi(a + wrong) - psi(a) + both
    by_b = share @ psi(b + models - wrong) - psi(b) + both
    cross = zeta(2, a + b) - zeta(2, a + b + models)
    by_aa = share @ zeta(2, a + wrong) - zeta(2, a) + cross
    by_bb = share @ zeta(2, b + models - wrong) - zeta(2, b) + cross

    # The same in ln a and ln b, where the box is.
    slope = np.array([a * by_a, b * by_b])
    bend = np.array([[a * a * by_aa, a * b * cross], [a * b * cross, b * b * by_bb]])
    return value, slope, bend + np.diag(slope)


def _beta_binomial(models: int, a: float, b: float) -> Array:
    """Return the probability of each number of wrong models under the beta law."""
    from scipy.special import betaln, gammaln

    wrong = np.arange(models + 1)
    ways = gammaln(models + 1) - gammaln(wrong + 1) - gammaln(models - wrong + 1)
    return np.asarray(np.exp(ways + betaln(a + wrong, b + models - wrong) - betaln(a, b)))


def _beta_gain(share: Array, a: float, b: float) -> float:
    """Return (P2)."""
    models = len(share) - 1
    size, m = a + b + models, (models + 1) // 2
    if models % 2 == 0:
        return float(share[m] * (b - a) / (2 * size))
    repaired = share[m] * (b + m - 1) * (b + m)
    broken = share[m - 1] * (a + m - 1) * (a + m)
    return float((repaired - broken) / (size * (size + 1)))


def _mixture_fit(share: Array) -> tuple[Array, Array]:
    """Return the weights on the grid after 300 EM steps from equal ones, and the fitted shares."""
    from scipy.special import gammaln

    models = len(share) - 1
    wrong = np.arange(models + 1)[:, None]
    ways = gammaln(models + 1) - gammaln(wrong + 1) - gammaln(models - wrong + 1)
    law = np.exp(ways + wrong * np.log(_GRID) + (models - wrong) * np.log1p(-_GRID))

    weights = np.full(_GRID.size, 1 / _GRID.size)
    for _ in range(_STEPS):
        fitted = law @ weights
        # Counts that never occurred have no say, however unlikely the mixture finds them.
        seen = np.divide(share, fitted, out=np.zeros_like(fitted), where=share > 0)
        weights = weights * (seen @ law)
    return weights, np.asarray(law @ weights)


def _mixture_gain(share: Array, weights: Array) -> float:
    """Return (P3)."""
    models, p = len(share) - 1, _GRID
    q, m = 1 - p, (models + 1) // 2

    def expected(values: Array, wrong: int) -> float:
        posterior = weights * p**wrong * q ** (models - wrong)
        return float(posterior @ values / posterior.sum())

    if models % 2 == 0:
        return float(share[m] / 2 * expected(q - p, m))
    return float(share[m] * expected(q**2, m) - share[m - 1] * expected(p**2, m - 1))


def _refuted(counts: Array, mixed: Array, beta: Array) -> bool:
    """Return (P4): whether the mixture describes the counts so much better than the beta law."""
    from scipy.special import chdtri

    seen = counts > 0
    gap = 2 * float(counts[seen] @ np.log(mixed[seen] / beta[seen]))
    return gap > float(chdtri(max(len(counts) - 3, 1), 0.05))


# Who is wrong together, and on which items: where a vote of these models cannot help.
#
# A vote repairs an error only if the others get the item right. For each pair of models the share
# of items that both get wrong is held against the share if their errors were independent,
#
# .. math:: \hat p_{ij} = \frac1n \sum_x 1\{i, j \text{ wrong on } x\}
#           \qquad\text{beside}\qquad \hat p_i \hat p_j.  \tag{W1}
#
# Some excess is normal: hard items are hard for everyone. A pair far above the other pairs adds
# little to a vote.


@dataclass(frozen=True, kw_only=True)
class PairErrors:
    """How often two models are wrong on the same item.

    Parameters
    ----------
    both, interval
        Share of items that both get wrong, with its exact interval.
    independent
        The share if their errors were independent (W1).
    excess
        *both* minus *independent*.
    """

    first: str
    second: str
    both: float
    interval: Interval
    independent: float
    excess: float


@dataclass(frozen=True, kw_only=True)
class WrongTogether:
    """Pairs and items that decide what a vote of these models can do.

    Parameters
    ----------
    pairs
        All pairs, the largest excess first.
    everyone, everyone_interval
        Share of items that all models get wrong.
    hopeless
        Those items.
    repairable
        Items on which the majority is wrong by the narrowest margin (for an even panel: tied), so
        that one or two more models could repair them.
    fragile
        Items on which it is right by the narrowest margin, so that they could break.
    """

    pairs: tuple[PairErrors, ...]
    everyone: float
    everyone_interval: Interval
    hopeless: tuple[str, ...]
    repairable: tuple[str, ...]
    fragile: tuple[str, ...]


def wrong_together(
    errors: Array,
    *,
    models: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    alpha: float = 0.05,
) -> WrongTogether:
    """List the pairs of models that fail together, and the items on which a vote hangs.

    Parameters
    ----------
    errors
        Booleans of shape (models, items): True where a model is wrong.
    models, items
        Their names; numbered from 1 if not given.
    alpha
        One minus the level of the intervals.

    Examples
    --------
    >>> errors = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 0]], dtype=bool)
    >>> found = wrong_together(errors, models=["a", "b", "c"])
    >>> found.pairs[0].first, found.pairs[0].second, round(found.pairs[0].excess, 2)
    ('a', 'b', 0.16)
    >>> found.hopeless, found.repairable, found.fragile
    (('1',), ('2',), ('3', '4'))
    """
    from tallystick.stats.intervals import clopper_pearson

    wrong = np.asarray(errors, dtype=bool)
    if wrong.ndim != 2 or len(wrong) < 2 or not wrong.shape[1]:
        raise InputError(
            f"errors need the shape (models, items) with two models or more, got {wrong.shape}"
        )
    count, size = wrong.shape
    names = _named(models, count, "models")
    labels = _named(items, size, "items")

    pairs = []
    for i, j in combinations(range(count), 2):
        both = int((wrong[i] & wrong[j]).sum())
        alone = float(wrong[i].mean() * wrong[j].mean())  # (W1)
        pairs.append(
            PairErrors(
                first=names[i],
                second=names[j],
                both=both / size,
                interval=clopper_pearson(both, size, alpha=alpha),
                independent=alone,
                excess=both / size - alone,
            )
        )

    total = wrong.sum(axis=0)
    middle = (count + 1) // 2
    everyone = total == count
    # An even panel's edge is the tie, which one more model turns either way.
    tied = count % 2 == 0
    return WrongTogether(
        pairs=tuple(sorted(pairs, key=lambda pair: -pair.excess)),
        everyone=float(everyone.mean()),
        everyone_interval=clopper_pearson(int(everyone.sum()), size, alpha=alpha),
        hopeless=_where(labels, everyone),
        repairable=_where(labels, total == middle),
        fragile=_where(labels, total == (middle if tied else middle - 1)),
    )


def _named(given: Sequence[str] | None, size: int, what: str) -> tuple[str, ...]:
    if given is None:
        return tuple(str(k + 1) for k in range(size))
    if len(given) != size:
        raise InputError(f"{what}: {size} names are needed, got {len(given)}")
    return tuple(str(name) for name in given)


def _where(labels: tuple[str, ...], mask: Array) -> tuple[str, ...]:
    return tuple(labels[k] for k in np.flatnonzero(mask))
