"""What exists to reproduce and sharpen the source, [SAH23]_: bounds and constructions.

Theory and proofs: ``docs/theory/dynamic-sharp.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.verbs.dynamic.design import Design, Mixing, hierarchical, mixture_table, path
from tallystick.verbs.dynamic.population import TOLERANCE, Array, Population, collect
from tallystick.verbs.dynamic.rollouts import Learner, Rollouts, Scripted, checked_epsilon, roll

# Error sets that anyone can check: what a benchmark of such models can come to.
#
# A certificate holds a population, a design and one error set per model. ``check()`` confirms
# that an
# :math:`\epsilon`-approximate learner could have behaved so; ``risk_by_round()`` shows what it
# costs.
# The bad sequences of [SAH23]_ are built in ``tallystick.verbs.dynamic.papers``.


@dataclass(frozen=True, eq=False)
class Certificate:
    """A population, a design and error sets that are consistent with it, and what they prove.

    Parameters
    ----------
    theorem
        Where it comes from.
    errors
        One row of booleans per trained model.
    bound
        The risk that the delivered vote cannot go below, whatever its weights.
    """

    theorem: str
    population: Population
    design: Design
    errors: Array
    epsilon: float
    bound: float

    def check(self) -> Consistency:
        """Check it by Eq (19)."""
        return check(self.design, self.errors, self.population, epsilon=self.epsilon)

    def learner(self) -> Scripted:
        """Return the learner that plays this certificate."""
        return Scripted(self.errors, self.epsilon)

    def risk_by_round(self) -> tuple[float, ...]:
        """Risk of the majority of all models so far."""
        return tuple(float(risk) for risk in self._played().risk[0])

    def output_risk(self) -> float:
        """Risk of the vote that the design delivers."""
        return float(self._played().output_risk[0])

    def _played(self) -> Rollouts:
        return roll(self.population, self.design, self.learner(), rollouts=1, rng=0)

    @property
    def intervals(self) -> int:
        """The most intervals of the line that an error set consists of, with the items in order."""
        padded = np.pad(self.errors.astype(np.int8), ((0, 0), (1, 0)))
        return int((np.diff(padded, axis=1) == 1).sum(axis=1).max())


# Could these error sets have come out of this benchmark? A checker for Eq (16) and Eq (19) of
# [SAH23]_.


@dataclass(frozen=True)
class Consistency:
    """Whether every model keeps its promise.

    Parameters
    ----------
    consistent
        Whether all rounds do.
    violated_round
        The first round that does not, counted from 1; None if all do.
    violated_step
        The name of its model in the design.
    risks
        Each model's risk on the distribution that it was trained on, to be held against *epsilon*.
    """

    consistent: bool
    violated_round: int | None
    violated_step: str | None
    risks: tuple[float, ...]
    epsilon: float

    def __str__(self) -> str:
        if self.violated_round is None:
            return (
                f"consistent: every model has risk at most {self.epsilon:g} on its own distribution"
            )
        risk = self.risks[self.violated_round - 1]
        where = f"round {self.violated_round} ({self.violated_step})"
        return f"{where} has risk {risk:.4g} > {self.epsilon:g} on its distribution"


def check(design: Design, errors: Array, population: Population, *, epsilon: float) -> Consistency:
    r"""Accept or reject a sequence of error sets, and name the round that gives it away.

    A sequence is consistent with an :math:`\epsilon`-approximate risk minimiser if and only if, in
    every round,

    .. math:: w_{t,0} \mathcal D_0(\mathcal K_t) + \sum_{t' < t} \overline w_{t,t'}
              \frac{\mathcal D(\mathcal K_t \cap \mathcal K_{t'})}{\mathcal D(\mathcal K_{t'})} \le \epsilon

    ([SAH23]_, Eq 19; Eq 16 is its first round). The left side is the risk of :math:`h_t` on
    :math:`\mathcal D_t`, so any design is checked in the same way.

    Parameters
    ----------
    design
        Any design.
    errors
        One row of booleans a trained model, in the order of ``design.trained``.
    population
        The distributions :math:`\mathcal D` and :math:`\mathcal D_0`.
    epsilon
        The promise, in (0, 1/2].

    Examples
    --------
    >>> from tallystick.verbs.dynamic.design import path
    >>> same = np.array([[1, 0, 0, 0]] * 2, dtype=bool)
    >>> print(check(path(2), same, Population.uniform(4), epsilon=0.25))
    round 2 (h2) has risk 0.625 > 0.25 on its distribution
    """
    checked_epsilon(epsilon)
    script = np.asarray(errors, dtype=bool)
    if script.shape != (design.rounds, population.size):
        raise InputError(
            f"errors need the shape ({design.rounds}, {population.size}), got {script.shape}"
        )
    played = roll(population, design, Scripted(script), rollouts=1, rng=0)
    risks = played.epsilon[0]
    over = np.flatnonzero(risks > epsilon + TOLERANCE)
    first = int(over[0]) if over.size else None
    return Consistency(
        consistent=first is None,
        violated_round=None if first is None else first + 1,
        violated_step=None if first is None else design.trained[first],
        risks=tuple(float(risk) for risk in risks),
        epsilon=epsilon,
    )


# Benchmarks that stall: the constructions of Theorems 3.5, 4.2 and C.2 of [SAH23]_.


def path_certificate(
    epsilon: float,
    *,
    rounds: int,
    mixture: Sequence[Sequence[float]] | float | None = None,
    majority: Sequence[float] | None = None,
    initial: Array | None = None,
    slope: float = 0.0,
) -> Certificate:
    r"""Build the path benchmark that stalls at :math:`\epsilon^2/8`, whatever its weights.

    [SAH23]_, Theorem 3.5. On :math:`d = 8/\epsilon^2` items in ascending order of :math:`\mathcal
    D_0`, the first :math:`2/\epsilon` models err on one common item and on disjoint sets besides;
    each later model repeats the one that weighs least in its mixture (Eq 26).

    Parameters
    ----------
    epsilon
        With :math:`1/\epsilon` whole and :math:`\epsilon \le 1/2`.
    rounds, mixture, majority
        As in :func:`tallystick.verbs.dynamic.path`.
    initial
        Any :math:`\mathcal D_0` on the :math:`8/\epsilon^2` items.
    slope
        Theorem C.2: the items lie on a line and :math:`\mathcal D(x)` rises along it by this share
        from its mean to its end, so that unions of two intervals are a rich enough class. The bound
        is then :math:`(1 -
        |slope|)\,\epsilon^2/8`, which tends to that of Theorem 3.5. :math:`\mathcal D_0` has to rise where
        :math:`\mathcal D` does.

    Examples
    --------
    >>> stall = path_certificate(1 / 4, rounds=60)
    >>> stall.check().consistent, stall.bound == (1 / 4) ** 2 / 8, stall.risk_by_round()[-1] == stall.bound
    (True, True, True)
    """
    n1 = _inverse(epsilon)
    size, each = 8 * n1 * n1, 2 * n1  # d and k' for k = 1
    population, rank = _line(size, initial, slope)
    distinct = np.zeros((2 * n1, size), dtype=bool)
    distinct[:, 0] = True
    for t in range(2 * n1):
        distinct[t, 1 + t * (each - 1) : 1 + (t + 1) * (each - 1)] = True
    table = mixture_table(rounds, mixture)
    played = list(range(min(rounds, 2 * n1)))
    for t in range(len(played), rounds):
        load = np.bincount(played, weights=table[t][1:], minlength=2 * n1)  # (25)
        played.append(int(np.argmin(load)))  # (26)
    return Certificate(
        theorem="Theorem 3.5" if not slope else "Theorem C.2",
        population=population,
        design=path(rounds, mixture=mixture, majority=majority),
        errors=distinct[np.array(played)][:, rank],
        epsilon=epsilon,
        bound=float(population.weights[rank == 0][0]),
    )


def hierarchical_certificate(
    epsilon: float,
    *,
    mixing: Mixing = "nested",
    design: Design | None = None,
    initial: Array | None = None,
    slope: float = 0.0,
) -> Certificate:
    r"""Build the hierarchy of depth 2 and width 3 that stalls at :math:`\epsilon^3/2`, whatever its
    weights.

    [SAH23]_, Theorem 4.2, on :math:`d = 2/\epsilon^3` items; with a *slope*, Theorem C.3 (unions of
    three intervals). For the condition on :math:`\epsilon` the text prints :math:`\epsilon \ge
    1/2`; it has to be :math:`\le` (ERRATA).

    Parameters
    ----------
    epsilon, initial, slope
        As in :func:`path_certificate`.
    mixing
        Which built-in hierarchy.
    design
        Instead of a built-in one: any design that trains nine models in three votes of three, with
        weights of its own. The text allows any votes; its construction needs votes in which any two
        models outvote the third, because one with more than half of them would make its own error
        set that of the vote. ``check()`` rejects such a design.

    Examples
    --------
    >>> stall = hierarchical_certificate(1 / 5)
    >>> stall.check().consistent, stall.population.size, round(stall.output_risk() / (1 / 5) ** 3, 12)
    (True, 250, 0.5)
    """
    n1 = _inverse(epsilon)
    n2, size = n1 * n1, 2 * n1**3
    graph = hierarchical(depth=2, width=3, mixing=mixing) if design is None else design
    if graph.rounds != 9:
        raise InputError(
            f"Theorem 4.2 is about nine models, and design {graph.name!r} trains {graph.rounds}"
        )
    population, rank = _line(size, initial, slope)
    one, first, second, third = (0, 1), (0, n1), (n1, 2 * n1 - 1), (2 * n1 - 1, 3 * n1 - 2)
    sets = [
        [(0, n2)],
        [first, (n2, 2 * n2 - n1)],
        [first, (2 * n2 - n1, 3 * n2 - 2 * n1)],
        [one, (n1, n2 + n1 - 1)],
        [one, second, (n2 + n1 - 1, 2 * n2 - 1)],
        [one, second, (2 * n2 - 1, 3 * n2 - n1 - 1)],
        [one, (2 * n1 - 1, n2 + 2 * n1 - 2)],
        [one, third, (n2 + 2 * n1 - 2, 2 * n2 + n1 - 2)],
        [one, third, (2 * n2 + n1 - 2, 3 * n2 - 2)],
    ]
    errors = np.zeros((9, size), dtype=bool)
    for t, spans in enumerate(sets):
        for low, high in spans:
            errors[t, low:high] = True
    return Certificate(
        theorem="Theorem 4.2" if not slope else "Theorem C.3",
        population=population,
        design=graph,
        errors=errors[:, rank],
        epsilon=epsilon,
        bound=float(population.weights[rank == 0][0]),
    )


def _inverse(epsilon: float) -> int:
    checked_epsilon(epsilon)
    whole = round(1 / epsilon)
    if abs(1 / epsilon - whole) > 1e-9:
        below = 1 / int(np.ceil(1 / epsilon))
        raise InputError(
            f"1/epsilon must be whole, got epsilon {epsilon!r}: use {below:.6g}, which is a"
            " fortiori valid"
        )
    return whole


def _line(size: int, initial: Array | None, slope: float) -> tuple[Population, Array]:
    """Return the population and each item's place in ascending order of the initial
    distribution.
    """
    if not -1 < slope < 1:
        raise InputError(f"slope must be in (-1, 1), got {slope!r}")
    weights = np.full(size, 1 / size)
    if slope:
        weights = weights * (1 + slope * np.linspace(-1, 1, size))
    population = Population(weights / weights.sum() if slope else weights, initial=initial)
    order = np.argsort(population.start, kind="stable")
    if slope and np.any(np.diff(population.weights[order]) < 0):
        raise InputError(
            "with a slope, initial has to rise wherever the population's weights do (Theorem C.2)"
        )
    rank = np.empty(size, dtype=np.int64)
    rank[order] = np.arange(size)
    return population, rank


# Updating the model itself instead of the benchmark: appendix A of [SAH23]_.
#
# The model is a real-valued function; only its margins :math:`m(x) = h(x) f(x)` matter, so a
# rollout
# is one row of margins. It starts at zero everywhere, where the zero-one risk is one half.


@dataclass(frozen=True, eq=False)
class Updates:
    """Zero-one risk and surrogate risk, one row a rollout, one column an update, the first one
    before any.
    """

    risk: Array
    surrogate: Array

    @property
    def rises(self) -> Array:
        """How often the surrogate rose from one update to the next, one number a rollout."""
        return np.asarray((np.diff(self.surrogate, axis=1) > 1e-12).sum(axis=1))

    @property
    def zero_from(self) -> Array:
        """After how many updates the zero-one risk is zero and stays so; -1 if it does not."""
        wrong = self.risk > 0
        last = wrong.shape[1] - 1 - np.argmax(wrong[:, ::-1], axis=1)
        return np.where(wrong[:, -1], -1, np.where(wrong.any(axis=1), last + 1, 0))


def hinge_slope(population: Population, margins: Array, errors: Array) -> Array:
    r"""How fast does the hinge risk change along a model, from given margins.

    .. math:: \langle g, \overline h \rangle = -\sum_{x:\, h f < 1} \mathcal D(x)\, \overline h(x) f(x)
              = -\Pr(E_h)\,\bigl(1 - 2 R_{\overline{\mathcal D}_h}(\overline h)\bigr)

    [SAH23]_, Lemma A.1 and Eq (63): at most :math:`-(1-2\epsilon)\Pr(E_h)` for a model with risk at
    most :math:`\epsilon` on the margin errors :math:`E_h`, which is negative as long as there are
    any.

    Parameters
    ----------
    margins
        :math:`h(x) f(x)`, (..., items).
    errors
        Where the model errs, of the same shape.

    Examples
    --------
    >>> hinge_slope(Population.uniform(4), np.array([0.0, 0.5, 0.9, 2.0]), np.array([True, False, False, True])).item()
    -0.25
    """
    moves = np.where(margins < 1, np.where(errors, -1.0, 1.0), 0.0)
    return np.asarray(-np.einsum("i,...i->...", population.weights, moves))


def hinge_updates(
    population: Population,
    learner: Learner,
    *,
    updates: int,
    rollouts: int,
    rng: Rng,
    rate: float = 1.0,
) -> Updates:
    r"""Follow the hinge loss, one model built on the margin errors at a time.

    .. math:: h \leftarrow h + \eta\, R^{hinge}(h)\, \overline h, \qquad \overline h = \mathcal A(\mathcal D|_{h f < 1})

    [SAH23]_, Lemma A.1: :math:`\overline h` is a descent direction (:func:`hinge_slope`). That is a
    statement about infinitesimal steps. With any fixed :math:`\eta` the hinge risk can rise
    (ERRATA): an item that :math:`\overline h` gets wrong loses margin, also one that was no margin
    error. :attr:`Updates.rises` counts it. In Eq (62) the mass of margin errors stands where the
    text has :math:`R^{hinge}`.

    >>> from tallystick.verbs.dynamic.rollouts import RandomErrors
    >>> fast = hinge_updates(Population.uniform(200), RandomErrors(0.4), updates=30, rollouts=4, rng=0, rate=2.0)
    >>> bool(fast.rises.min() > 0)
    True
    """
    if not 0 < rate < np.inf:
        raise InputError(f"rate must be positive and finite, got {rate!r}")
    _check(population, updates, rollouts)
    generator = as_rng(rng)
    build = learner.begin(population, rollouts, generator)
    margins = np.zeros((rollouts, population.size))
    weights = np.broadcast_to(population.weights, margins.shape)
    risks, losses = [_zero_one(margins, weights)], [_hinge(margins, weights)]
    for t in range(updates):
        short = margins < 1
        # nothing is short of its margin: the loss is zero and so is the step
        short[~short.any(axis=1)] = True
        built = build(collect(weights, short), t)
        margins += rate * losses[-1][:, None] * np.where(built, -1.0, 1.0)
        risks.append(_zero_one(margins, weights))
        losses.append(_hinge(margins, weights))
    return Updates(np.column_stack(risks), np.column_stack(losses))


def exponential_updates(
    population: Population, learner: Learner, *, updates: int, rollouts: int, rng: Rng
) -> Updates:
    r"""Follow the exponential loss, as AdaBoost does.

    .. math:: h \leftarrow h + \eta\,\tilde h, \qquad \eta = \tfrac12 \log(1/R - 1)

    [SAH23]_, Lemma A.2 and Eq (71): :math:`\tilde h` is built on :math:`\mathcal D_h \propto
    \mathcal D e^{-hf}` and :math:`R` is its risk there. Then :math:`R_{\mathcal D}(h_t) \le
    \exp(-(1-2\epsilon)^2 t/2)` (:func:`tallystick.verbs.dynamic.exponential_bound`). A model without
    error on :math:`\mathcal D_h` (:math:`\eta = \infty`) is the true classifier, and takes over.

    >>> from tallystick.verbs.dynamic.rollouts import RandomErrors
    >>> boosted = exponential_updates(Population.uniform(500), RandomErrors(0.1), updates=24, rollouts=5, rng=0)
    >>> float(boosted.risk[:, -1].max()), int(boosted.rises.max())
    (0.0, 0)
    """
    _check(population, updates, rollouts)
    generator = as_rng(rng)
    build = learner.begin(population, rollouts, generator)
    margins = np.zeros((rollouts, population.size))
    weights = np.broadcast_to(population.weights, margins.shape)
    done = np.zeros(rollouts, dtype=bool)
    risks, losses = [_zero_one(margins, weights)], [np.ones(rollouts)]
    for t in range(updates):
        # the same distribution, no overflow
        shifted = weights * np.exp(margins.min(axis=1, keepdims=True) - margins)
        now = shifted / shifted.sum(axis=1, keepdims=True)
        built = build(now, t)
        wrong = np.einsum("bi,bi->b", now, built)
        done |= wrong <= 0
        step = 0.5 * np.log(1 / np.where(wrong > 0, wrong, 0.5) - 1)  # (71)
        margins += step[:, None] * np.where(built, -1.0, 1.0)
        risks.append(np.where(done, 0.0, _zero_one(margins, weights)))
        losses.append(np.where(done, 0.0, np.einsum("bi,bi->b", weights, np.exp(-margins))))
    return Updates(np.column_stack(risks), np.column_stack(losses))


def _check(population: Population, updates: int, rollouts: int) -> None:
    if updates < 1 or rollouts < 1:
        raise InputError(
            f"updates and rollouts must be at least 1, got {updates!r} and {rollouts!r}"
        )
    if population.noise:
        raise InputError("appendix A needs a true classifier: a population without random labels")


def _zero_one(margins: Array, weights: Array) -> Array:
    return np.asarray(np.einsum("bi,bi->b", weights, 0.5 * (1 - np.sign(margins))))


def _hinge(margins: Array, weights: Array) -> Array:
    return np.asarray(np.einsum("bi,bi->b", weights, np.maximum(1 - margins, 0)))
