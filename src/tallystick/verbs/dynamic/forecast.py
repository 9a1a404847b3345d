r"""What would more models in the vote bring, or two more rounds? A forecast with its honest range.

**Panel.** Let M models be tried on n items, :math:`k_i` of them wrong on item i, and :math:`f_w`
the share of items with :math:`k_i = w`. For models of the same source (exchangeable ones), going
from an odd to an even count brings exactly nothing on average, so the forecast is for the next
*odd* count: one more model if M is even, two more if M is odd.

Whatever the new models are, only items at the edge of the vote can change sides. With
:math:`m = (M+1)/2` for odd M, and :math:`h = M/2` for even M,

.. math:: -f_{m-1} \le \text{gain} \le f_m, \qquad\text{or}\qquad |\text{gain}| \le f_h/2.  \tag{P1}

How many of them change is estimated twice: by a beta-binomial law of the items' error rates, and by
a free mixture fitted with EM. The range spans both estimates, widened by how much the risk moves
when models are left out.

**Path.** The models are those of the rounds, on one held-out random set that no round trained on or
collected from. The last two rounds show how items at the edge of the vote move: of the :math:`n_w`
items that were wrong by one vote before them, u were repaired by both; of the :math:`n_r` that were
right by one vote, d were broken by both.

The vote of both errs where more than half of the models do; a tie counts one half. The forecast
decides little: on real learners "does it help at all" could be decided in 3 to 9% of the cases,
and at most 10% of what was decided was wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, sqrt
from typing import Literal, TypeAlias

import numpy as np

from tallystick.papers.dynamic_benchmarks.designs import Array, majority_share
from tallystick.results import Interval, Unknown, names_of, points
from tallystick.verbs.dynamic.attempts import student

Verdict: TypeAlias = Literal["worth it", "not worth it", "go on", "stop", "cannot tell"]

_GRID = np.array([0.0005, *(k / 100 for k in range(1, 100)), 0.9995])
"""The error rates on which the free mixture of (P3) puts its weights."""

_STEPS = 300
_LOG_LIMIT = 9.0
_LEVEL = 0.9
_Z = 1.6448536269514722
_FEWEST = 3
FEWEST_ITEMS = 400
"""The smallest held-out set on which the decisions of paths were measured."""

_SOURCE = "the new models come from the same source as the old ones"
_ONE_LEARNER = "the next two rounds retrain the same learner as the rounds so far"
_ANY_TEAM = "the next two rounds come from the same mixture of teams or model families"


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A fall of the vote's risk: the estimate and its 90% range."""

    estimate: float | Unknown
    interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What further models, or two more rounds, would change in the vote, and whether that pays.

    Parameters
    ----------
    decision, reason
        Panel: ``worth it``, ``not worth it``; path: ``go on``, ``stop``; or ``cannot tell``, with
        the reason where it is not plain from the range.
    gain
        By how much the risk of the vote would fall; unknown below three models.
    certain
        On these items the gain lies in here whatever the new models are (P1).
    pays
        The gain that pays, as the user stated it.
    more
        How many models or rounds would join: 1 if there is an even number of them, else 2.
    teams
        Path: why the rounds count as built by different teams, which gives a wider range.
    beta_binomial, mixture, shape, refuted, spread
        The two estimates (P2) and (P3), a and b of the beta law, whether the mixture refutes it
        (P4), and how the risk moves when as many models are left out as would join (P5).
    step, variance, panel
        Path: the estimate from how the edge moved in the last two rounds (Q1), its variance, and
        the one that takes the rounds for a panel.
    """

    decision: Verdict
    gain: Gain
    certain: tuple[float, float]
    pays: float
    more: int
    reason: str | None = None
    teams: str | None = None
    beta_binomial: float | None = None
    mixture: float | None = None
    shape: tuple[float, float] | None = None
    refuted: bool | None = None
    spread: float | None = None
    step: float | None = None
    variance: float | None = None
    panel: float | None = None


def forecast_panel(errors: Array, *, pays: float = 0.0) -> Forecast:
    r"""Forecast the gain on the same items when further models of the same kind join the vote.

    With (a, b) the beta-binomial fit, :math:`S = a + b + M`, and E the posterior of an item's error
    rate p (q = 1 - p) under the mixture, the gain of two more models to an odd panel is

    .. math::
        \mathrm{BB} = \frac{f_m (b+m-1)(b+m) - f_{m-1} (a+m-1)(a+m)}{S(S+1)}  \tag{P2} \\
        \mathrm{EM} = f_m \mathrm E[q^2 \mid k=m] - f_{m-1} \mathrm E[p^2 \mid k=m-1]  \tag{P3}

    and of one more model to an even one :math:`f_h (b-a)/(2S)` and
    :math:`\tfrac12 f_h \mathrm E[q-p \mid k=h]`. The beta law is refuted if

    .. math:: 2n \sum_w f_w \ln(\mathrm{EM}_w/\mathrm{BB}_w) > \chi^2_{.95}(\max(M-2, 1)). \tag{P4}

    With s the spread over left-out pairs (odd M) or single models (even M), the 90% range is

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
    >>> [round(end, 4) for end in found.gain.interval], found.certain
    ([-0.0579, 0.0687], (-0.2, 0.1))
    >>> found.decision
    'cannot tell'
    """
    models, items = errors.shape
    counts = np.bincount(errors.sum(axis=0), minlength=models + 1)
    share = counts / items
    certain = _certain(share, models)
    why = f"a forecast needs at least {_FEWEST} models, got {models}"
    known = Forecast(
        decision=_worth(certain, certain, pays),
        gain=Gain(estimate=Unknown(why), interval=Unknown(why)),
        certain=certain,
        pays=pays,
        more=1 + models % 2,
        reason=why,
    )
    if models < _FEWEST:
        # With two models the range held .83 to .90 instead of .9, so only the bounds are given.
        return known

    # Two laws of the items' error rates, fitted to the number of wrong models per item.
    a, b = _beta_fit(counts)
    weights, mixed = _mixture_fit(share)
    by_beta, by_mixture = _beta_gain(share, a, b), _mixture_gain(share, weights)
    refuted = _refuted(counts, mixed, _beta_binomial(models, a, b))

    # (P5): the range spans both estimates and is widened by what leaving models out does.
    spread = _spread(errors)
    reach = student(models - 1, 0.1) * sqrt(1 + 2 / models) * spread
    low, high = min(by_beta, by_mixture) - reach, max(by_beta, by_mixture) + reach
    interval = Interval(
        min(max(low, certain[0]), certain[1]),
        max(min(high, certain[1]), certain[0]),
        level=_LEVEL,
        guarantee="under",
        assumption=_SOURCE,
        method="beta-binomial and mixture",
    )
    return replace(
        known,
        gain=Gain(estimate=by_mixture if refuted else by_beta, interval=interval),
        reason=None,
        beta_binomial=by_beta,
        mixture=by_mixture,
        shape=(a, b),
        refuted=refuted,
        spread=spread,
        decision=_worth(interval, certain, pays),
    )


def forecast_path(errors: Array, *, pays: float = 0.0, teams: str | None = None) -> Forecast:
    r"""Forecast the gain in the population from two more rounds.

    With :math:`\hat u = (u+\frac12)/(n_w+1)`, :math:`\hat d = (d+\frac12)/(n_r+1)`, and the
    estimate eb and spread s of :func:`forecast_panel`,

    .. math::
        \text{step} = f_m \hat u - f_{m-1} \hat d  \tag{Q1} \\
        v = \frac{f_m^2\, \hat u(1-\hat u)}{n_w+1} + \frac{f_{m-1}^2\, \hat d(1-\hat d)}{n_r+1}
            + \frac{f_m \hat u^2 + f_{m-1} \hat d^2}{n}  \tag{Q2} \\
        [\min(\text{step}, eb) - 1.645\,e,\; \min(\max(\text{step}, eb) + 1.645\,e,\;
            f_m + 1.645\sqrt{f_m/n})], \quad e = \sqrt{v + s^2/4}.  \tag{Q3}

    That holds for one learner that is retrained. Rounds of different teams or model families point
    in different directions: then :math:`e = \sqrt{v + s^2}` and :math:`t_{.95}(t-1)` replaces
    1.645 (at 1.7 to 2.6 times the width, usually "cannot tell").

    "Go on" is said for *pays* = 0 only: at .01 the few such decisions were wrong in up to all
    cases. "Stop" is said if the high end is below *pays*. Neither is said on fewer than 400 items,
    the smallest set on which it was measured.

    Parameters
    ----------
    errors
        Booleans of shape (rounds, items), one row per round in order, on the held-out set.
    pays
        The gain that two more rounds must bring to pay; 0 asks whether they help at all.
    teams
        Why the rounds count as built by different teams or model families, if they do.

    Examples
    --------
    >>> seen = {"000": 60, "100": 6, "010": 5, "001": 9, "110": 4, "101": 3, "011": 3, "111": 10}
    >>> rows = [[int(digit) for digit in word] for word in seen for _ in range(seen[word])]
    >>> found = forecast_path(np.array(rows, dtype=bool).T)
    >>> round(found.step, 4), [round(end, 4) for end in found.gain.interval]
    (0.0181, [-0.0258, 0.0436])
    >>> found.decision, found.reason
    ('cannot tell', 'the held-out set has 100 items, and at least 400 are needed')
    """
    # Even counts were not measured: ties make their last round nearly worthless anyway.
    wrong = errors[: len(errors) - (1 - len(errors) % 2)]
    rounds, items = wrong.shape
    panel = replace(forecast_panel(wrong, pays=pays), decision="cannot tell", teams=teams)
    guess, spread = panel.gain.estimate, panel.spread
    if isinstance(guess, Unknown) or spread is None:
        why = f"a forecast needs at least {_FEWEST} rounds, got {len(errors)}"
        return replace(panel, gain=Gain(estimate=Unknown(why), interval=Unknown(why)), reason=why)

    step, variance, edge = _step(wrong)
    share, quantile = (0.25, _Z) if teams is None else (1.0, student(rounds - 1, 0.1))
    reach = quantile * sqrt(variance + share * spread**2)
    low = min(step, guess) - reach
    # No new round repairs more than the items at the edge, up to the sampling error of that share.
    high = min(max(step, guess) + reach, edge + _Z * sqrt(edge / items))  # (Q3)
    interval = Interval(
        min(low, high),
        high,
        level=_LEVEL,
        guarantee="under",
        assumption=_ONE_LEARNER if teams is None else _ANY_TEAM,
        method="last step and panel",
    )
    decision, reason = _go_on(interval, pays, items)
    return replace(
        panel,
        gain=Gain(estimate=(interval.low + interval.high) / 2, interval=interval),
        step=step,
        variance=variance,
        panel=guess,
        decision=decision,
        reason=reason,
    )


def _step(wrong: Array) -> tuple[float, float, float]:
    """Return (Q1), (Q2) and the share of items that are wrong by one vote."""
    rounds, items = wrong.shape
    m = (rounds + 1) // 2
    total = wrong.sum(axis=0)
    share = np.bincount(total, minlength=rounds + 1) / items
    earlier, later = wrong[:-2].sum(axis=0), wrong[-2:].sum(axis=0)

    # Before the last two rounds an item was wrong by one vote at (t-1)/2, right by one at (t-3)/2.
    just_wrong, just_right = earlier == m - 1, earlier == m - 2
    n_wrong, n_right = int(just_wrong.sum()), int(just_right.sum())
    up = ((just_wrong & (later == 0)).sum() + 0.5) / (n_wrong + 1)
    down = ((just_right & (later == 2)).sum() + 0.5) / (n_right + 1)

    high, low = share[m], share[m - 1]
    step = high * up - low * down  # (Q1)
    variance = (
        high**2 * up * (1 - up) / (n_wrong + 1)
        + low**2 * down * (1 - down) / (n_right + 1)
        + (high * up**2 + low * down**2) / items
    )  # (Q2)
    return float(step), float(variance), float(high)


def _go_on(interval: Interval, pays: float, items: int) -> tuple[Verdict, str | None]:
    if items < FEWEST_ITEMS:
        short = f"the held-out set has {items} items, and at least {FEWEST_ITEMS} are needed"
        return "cannot tell", short
    if interval.high < pays:
        return "stop", None
    if interval.low <= pays:
        return "cannot tell", None
    often = "the range is above the gain that pays, but such ranges often failed"
    return ("cannot tell", often) if pays else ("go on", None)


def majority_risk(wrong: Array, models: int) -> float:
    """Return the share of items with more than half of *models* wrong, plus half of the ties.

    >>> majority_risk(np.array([0, 1, 2, 2]), 2)
    0.625
    """
    return float(majority_share(wrong, models).mean())


def _certain(share: Array, models: int) -> tuple[float, float]:
    """Return (P1): the gain that no choice of new models can leave."""
    m = (models + 1) // 2
    low, high = (share[m - 1], share[m]) if models % 2 else (share[m] / 2, share[m] / 2)
    return 0.0 - float(low), float(high)


def _worth(
    likely: Interval | tuple[float, float], certain: tuple[float, float], pays: float
) -> Verdict:
    low, high = likely
    if low > pays:
        return "worth it"
    # No new model at all can bring more than the certain upper end.
    return "not worth it" if high < pays or certain[1] <= pays else "cannot tell"


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
    from scipy.optimize import minimize

    models = len(counts) - 1
    share = counts / counts.sum()

    # The mean is known from the start; of three concentrations the best begins the climb.
    mean = float(share @ np.arange(models + 1)) / models
    mean = min(max(mean, 1e-3), 1 - 1e-3)
    starts = [np.log([mean * size, (1 - mean) * size]) for size in (0.5, 3.0, 50.0)]
    found = minimize(
        _beta_climb,
        min(starts, key=lambda start: _beta_climb(start, share)[0]),
        args=(share,),
        jac=True,
        bounds=[(-_LOG_LIMIT, _LOG_LIMIT)] * 2,
        options={"ftol": 1e-16, "gtol": 1e-11},
    )
    return exp(found.x[0]), exp(found.x[1])


def _beta_climb(point: Array, share: Array) -> tuple[float, Array]:
    """Return minus the mean log-likelihood at (ln a, ln b), and its slope there."""
    from scipy.special import betaln, psi

    models = len(share) - 1
    wrong = np.arange(models + 1)
    (a, b) = np.exp(point)
    value = float(share @ (betaln(a + wrong, b + models - wrong) - betaln(a, b)))
    both = psi(a + b) - psi(a + b + models)
    by_a = share @ psi(a + wrong) - psi(a) + both
    by_b = share @ psi(b + models - wrong) - psi(b) + both
    return -value, -np.array([a * by_a, b * by_b])


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


# Whether the rounds of a path were built by one learner or by different teams.
#
# The narrow range of :func:`forecast_path` holds for one
# learner that is retrained. Two signs speak against that: the models of the rounds have different
# names, or they differ in their own error rates more than models of one learner do.
#
# The second sign was chosen on 280 simulated campaigns of one learner and 500 of mixed teams, of
# kinds that the published score does not use (``docs/benchmarks/dynamic.md``): 96% of the
# decisions on mixed teams show it, and 54% of those on one learner, most of which cannot be told
# anyway. What no log shows is a mixture whose models happen to be equally good: three such rounds
# look like three rounds of one learner, and there the advice to go on was wrong in 5 of 21 cases.


FAR_APART = 0.04
"""Standard deviation of the rounds' own error rates above which they count as different teams.

Wrong advice on mixed teams under one name, at .03 / .04 / .06 / never: 2.4 / 4.4 / 8.4 / 8.3% of
what was decided; decisions kept on one learner: 69 / 80 / 90 / 100%. At .04 no more than 5% are
wrong on 400 and on 1000 held-out items. That is half of what is allowed.
"""

_NUMBERED = re.compile(r"(?:(?<![a-z])(?:round|version|iteration|step|rev|run|r|v|t))?[\W_]*\d+")


def other_builders(names: Sequence[str], errors: Array) -> str | None:
    """Say why the rounds seem to be built by different teams; None where nothing speaks for it.

    Parameters
    ----------
    names
        What the log calls the model of each round. Numbers of rounds and versions do not count.
    errors
        (rounds, items), on the held-out set.

    Examples
    --------
    >>> import numpy as np
    >>> alike = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
    >>> other_builders(["bert-r1", "bert-r2", "bert-r3"], alike)
    >>> other_builders(["bert-r1", "roberta-r2", "roberta-r3"], alike)
    'the rounds have models of different names (bert and roberta)'
    >>> other_builders(["m", "m", "m"], np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))
    "the rounds' models differ by 38.2 points (standard deviation) in their own error rate"
    """
    stems = list(dict.fromkeys(_stem(name) for name in names))
    if len(stems) > 1:
        return f"the rounds have models of different names ({names_of(stems)})"
    apart = float(errors.mean(axis=1).std(ddof=1)) if len(errors) > 1 else 0.0
    if apart > FAR_APART:
        return (
            f"the rounds' models differ by {points(apart, sign=False)} (standard deviation) in"
            " their own error rate"
        )
    return None


def _stem(name: str) -> str:
    """Return a name without numbers of rounds and versions.

    >>> [_stem(name) for name in ("bert-r1", "Model v2.1", "m2", "round 3", "t5-base r4", "7")]
    ['bert', 'model', 'm', '', 'base', '']
    """
    return _NUMBERED.sub("", name.lower()).strip(" -_.:/()")
