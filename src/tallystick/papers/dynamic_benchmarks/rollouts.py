r"""Many benchmarks at once: learners, rollouts of any design, the score z_T, and gradient updates.

[SAH23]_, sections 5 and B.2 and appendix A. A rollout without errors in some round has nothing to
collect there; that component is left out of its later mixtures and the other weights are scaled up.
Risks are taken on the part of the population whose labels are not random.

A learner is a small frozen configuration. ``begin(population, rollouts, rng)`` starts that many
careers at once and returns a function that takes the distributions (one row per rollout) and the
round, and returns the error sets of the models built on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng, spawn
from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import (
    INITIAL,
    TOLERANCE,
    Array,
    Design,
    Population,
    as_path,
    checked_epsilon,
    collect,
    majority_share,
    mix,
    risk,
    vote,
)
from tallystick.results import Interval

Build: TypeAlias = Callable[[Array, int], Array]
"""(distributions of shape (rollouts, items), round from 0) to error sets of the same shape,
boolean."""

Annotators: TypeAlias = Callable[[Array, Array, np.random.Generator], Array]
"""(population weights, error shares of each rollout's model) to what is collected, one distribution
per rollout; a row of zeros where nothing was found."""

Loss: TypeAlias = Literal["hinge", "exponential"]

_CELLS = 64_000
"""Rollouts x items that are worked on together: small enough to stay in a processor's cache."""

_BINS = 256


class Learner(Protocol):
    """Whatever can build models: an approximate risk minimiser, or something that behaves like
    one.
    """

    def begin(self, population: Population, rollouts: int, rng: np.random.Generator) -> Build:
        """Start *rollouts* independent careers on *population*."""
        ...


@dataclass(frozen=True)
class Perfect:
    r"""The perfect risk minimiser of Lemma 3.1: never wrong where :math:`\mathcal D_t` has weight.

    Where it has none the learner knows nothing and errs with probability *outside* (1: the worst
    perfect learner).
    """

    outside: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.outside <= 1:
            raise InputError(f"outside, a probability, must be in [0, 1], got {self.outside!r}")

    def begin(self, population: Population, rollouts: int, rng: np.random.Generator) -> Build:
        """Start *rollouts* independent careers on *population*."""

        def build(weights: Array, _round: int) -> Array:
            unseen = (weights <= 0) & ~population.coin
            return np.asarray(unseen & (rng.random(unseen.shape) < self.outside))

        return build


@dataclass(frozen=True)
class RandomErrors:
    r"""An approximate risk minimiser that errs at random, on as many items as its promise allows.

    It keeps its promise :math:`R_{\mathcal D_t}(h_t) \le \epsilon` in every round and rollout.

    Parameters
    ----------
    epsilon
        The excess risk, in (0, 1/2]; a sequence gives one per round (the last one stays), for a
        model that changes.
    """

    epsilon: float | Sequence[float]

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)

    def begin(self, population: Population, rollouts: int, rng: np.random.Generator) -> Build:
        """Start *rollouts* independent careers on *population*."""
        clean, never = ~population.coin, np.full(rollouts, np.inf)

        def build(weights: Array, round_: int) -> Array:
            scores = rng.random(weights.shape, dtype=np.float32)
            return fill(scores, weights, clean, epsilon_at(self.epsilon, round_), never)

        return build


@dataclass(frozen=True, eq=False)
class Scripted:
    """A learner that plays given error sets, round by round: those of a certificate, or of a real
    log.

    *epsilon* is the excess risk that they keep to, if one is known.
    """

    errors: Array
    epsilon: float | None = None

    def begin(self, population: Population, rollouts: int, rng: np.random.Generator) -> Build:
        """Start *rollouts* identical careers on *population*."""
        script = np.asarray(self.errors, dtype=bool)
        if script.ndim != 2 or script.shape[1] != population.size:
            raise InputError(
                f"scripted errors need the shape (rounds, {population.size}), got {script.shape}"
            )

        def build(weights: Array, round_: int) -> Array:
            if round_ >= len(script):
                raise InputError(
                    f"the script has {len(script)} rounds, and round {round_ + 1} was asked for"
                )
            return np.broadcast_to(script[round_], weights.shape)

        return build


def epsilon_at(epsilon: float | Sequence[float], round_: int) -> float:
    """Return the excess risk that a learner promises in a round, from 0: its last one stays."""
    if isinstance(epsilon, int | float):
        return float(epsilon)
    return float(epsilon[min(round_, len(epsilon) - 1)])


def fill(scores: Array, weights: Array, clean: Array, epsilon: float, luck: Array) -> Array:
    """Return the clean items of highest score, as many as have mass *epsilon*, in each row.

    The item on the boundary is taken if *luck* (uniform, one per row) falls below the part of it
    that still fits; luck above one never takes it. A histogram of scores finds the boundary, so
    only the few items beside it are sorted.

    >>> scores, weights = np.array([[0.1, 0.9, 0.5, 0.7]]), np.full((1, 4), 0.25)
    >>> fill(scores, weights, np.ones(4, bool), 0.5, np.array([2.0])).tolist()
    [[False, True, False, True]]
    """
    errors = np.zeros(scores.shape, dtype=bool)
    if clean.all():
        errors[:] = _filled(scores, weights, epsilon + TOLERANCE, luck)
    elif clean.any():
        part = scores[:, clean], weights[:, clean]
        errors[:, clean] = _filled(*part, epsilon + TOLERANCE, luck)
    return errors


def _filled(score: Array, weight: Array, reach: float, luck: Array) -> Array:
    rows = np.arange(len(score))

    # Bins from the highest score downwards. What is infinite lies in the first or the last one.
    finite = np.isfinite(score)
    high = score.max(axis=1, keepdims=True, where=finite, initial=-1e30)
    low = score.min(axis=1, keepdims=True, where=finite, initial=1e30)
    scale = (_BINS - 1) / np.maximum(high - low, 1e-30)
    place = np.clip((high - score) * scale, 0, _BINS - 1).astype(np.intp)

    # The first bin that does not fit as a whole is the boundary.
    place += rows[:, None] * _BINS
    mass = np.bincount(place.ravel(), weight.ravel(), rows.size * _BINS)
    reached = np.cumsum(mass.reshape(rows.size, _BINS), axis=1)
    edge = (reached <= reach).sum(axis=1)
    before = np.where(edge > 0, reached[rows, edge - 1], 0.0)
    bounds = (edge + rows * _BINS)[:, None]
    taken = np.asarray(place < bounds)

    # Its items in order of their scores, one row per rollout, filled up with what never fits.
    row, column = np.nonzero(place == bounds)
    order = np.lexsort((-score[row, column], row))
    row, column = row[order], column[order]
    count = np.bincount(row, minlength=rows.size)
    position = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    beside = np.zeros((rows.size, count.max(initial=0) + 1))
    beside[:, 0] = before
    beside[row, position + 1] = weight[row, column]
    together = np.cumsum(beside, axis=1)

    # The first that does not fit is left to luck, and nothing after it is taken.
    fits = together[row, position + 1] <= reach
    last = np.full(rows.size, row.size)
    np.minimum.at(last, row[~fits], position[~fits])
    with np.errstate(invalid="ignore"):  # luck that never comes, on an item without weight
        lucky = luck[row] * weight[row, column] < reach - together[row, position]
    taken[row, column] = (position < last[row]) | ((position == last[row]) & lucky)
    return taken


@dataclass(frozen=True, eq=False)
class Rollouts:
    r"""What happened, one row per rollout and one column per round.

    Parameters
    ----------
    risk
        Risk on :math:`\mathcal D` of the majority of all models so far: with the votes of the
        design on a path, with equal ones on any other design.
    model_risk
        Risk on :math:`\mathcal D` of the round's own model.
    epsilon
        Excess risk of the round's model on the distribution it was trained on, :math:`\epsilon_t`.
    noise_share
        :math:`\delta_t`, the share of that distribution whose labels are random.
    output_risk
        Risk on :math:`\mathcal D` of the model that the design delivers, one number per rollout.
    errors
        Error sets, (rollouts, rounds, items), if they were kept.
    """

    population: Population
    risk: Array
    model_risk: Array
    epsilon: Array
    noise_share: Array
    output_risk: Array
    errors: Array | None = None

    @property
    def error_sets(self) -> Array:
        """The error sets, or a word on how to keep them."""
        if self.errors is None:
            raise InputError("these rollouts did not keep their error sets: pass keep_errors=True")
        return self.errors

    @property
    def rounds(self) -> int:
        """How many models each rollout trained."""
        return int(self.risk.shape[1])


def all_errors(weights: Array, errors: Array, rng: np.random.Generator) -> Array:
    """Collect as the annotators of the paper do: the whole error distribution of each model."""
    return _scaled(weights * errors, 0.0)


def roll(
    population: Population,
    design: Design,
    learner: Learner,
    *,
    rollouts: int,
    rng: Rng,
    annotators: Annotators = all_errors,
    keep_errors: bool = False,
) -> Rollouts:
    """Run any design many times with any learner, step by step.

    >>> from tallystick.papers.dynamic_benchmarks.designs import hierarchical, path
    >>> people, learner = Population.uniform(400), RandomErrors(0.1)
    >>> many = roll(people, path(3), learner, rollouts=200, rng=1)
    >>> many.risk.mean(axis=0).round(3).tolist()
    [0.1, 0.102, 0.027]
    >>> float(roll(people, hierarchical(), learner, rollouts=200, rng=1).output_risk.mean().round(3))
    0.002
    """
    if rollouts < 1:
        raise InputError(f"rollouts must be at least 1, got {rollouts!r}")
    if not design.ballots[0] > 0:
        raise InputError(
            f"majority needs {design.rounds} weights, none negative and the first one positive, got"
            f" {design.ballots.tolist()!r}"
        )
    most = max(1, _CELLS // population.size)
    sizes = [min(most, rollouts - start) for start in range(0, rollouts, most)]
    parts = []
    for size, generator in zip(sizes, spawn(as_rng(rng), len(sizes)), strict=True):
        build = learner.begin(population, size, generator)
        parts.append(_chunk(population, design, build, annotators, size, generator, keep_errors))
    done = Rollouts(population, *(np.concatenate(one) for one in zip(*parts, strict=True)))
    return done if keep_errors else replace(done, errors=None)


def control_risk(
    population: Population, learner: Learner, *, rounds: int, rollouts: int, rng: Rng
) -> Array:
    """Return the majority risk, (rollouts, rounds), of as many models trained on the plain data.

    An ensemble at the price of as many trainings, which [SAH23]_ does not have.
    """
    build = learner.begin(population, rollouts, as_rng(rng))
    clean = np.where(population.coin, 0.0, population.weights)
    clean = clean / clean.sum()
    wrong, out = np.zeros((rollouts, population.size)), np.empty((rollouts, rounds))
    start = np.ascontiguousarray(np.broadcast_to(population.start, wrong.shape))
    for t in range(rounds):
        wrong += build(start, t)
        out[:, t] = majority_share(wrong, t + 1) @ clean
    return out


def _chunk(
    population: Population,
    design: Design,
    build: Build,
    annotators: Annotators,
    size: int,
    rng: np.random.Generator,
    keep_errors: bool,
) -> tuple[Array, ...]:
    """Run the steps of a design for *size* rollouts; return the columns of :class:`Rollouts`."""
    shape = (size, population.size)
    clean = np.where(population.coin, 0.0, population.weights)
    clean = clean / clean.sum() if population.noise else clean
    data = {INITIAL: np.ascontiguousarray(np.broadcast_to(population.start, shape))}
    last_use = {source: name for name in design.order for source in design.steps[name].inputs}
    models: dict[str, Array] = {}
    wrong, ballots = np.zeros(shape), design.ballots
    numbers = np.zeros((4, size, design.rounds))
    errors = np.zeros((size, design.rounds, population.size if keep_errors else 0), dtype=bool)
    summed: tuple[tuple[str, ...], Array | float] = ((), 0.0)
    on_path = as_path(design) is not None

    t = 0
    for name in design.order:
        step = design.steps[name]
        if step.operation == "train":
            now = data[step.inputs[0]]
            if not np.all(now.sum(axis=1) > 0):
                raise InputError(
                    f"design {design.name!r}, step {name!r}: the error set that it trains on is"
                    " empty, since a model made no error: mix it with 'initial'"
                )
            models[name] = built = build(now, t)
            failed = built.astype(float)
            wrong += ballots[t] * failed
            total = ballots[: t + 1].sum()
            if on_path:  # a tie is above one of two bars: half the work of a share per item
                over, tied = wrong > total / 2 + TOLERANCE, wrong >= total / 2 - TOLERANCE
                numbers[0, :, t] = (over.astype(float) @ clean + tied.astype(float) @ clean) / 2
            else:
                numbers[0, :, t] = majority_share(wrong, total) @ clean
            numbers[1, :, t], numbers[2, :, t] = failed @ clean, risk(now, failed)
            numbers[3, :, t] = now @ population.coin if population.noise else 0.0
            if keep_errors:
                errors[:, t] = built
            t += 1
        elif step.operation == "vote":
            models[name] = vote([models[source] for source in step.inputs], step.shares)
        elif step.operation == "collect":
            shares = np.where(population.coin, 0.5, models[step.inputs[0]])
            data[name] = annotators(population.weights, shares, rng)
        else:
            rest = step.inputs[1:]
            if rest and np.ptp(step.shares[1:]) < TOLERANCE:
                # Equal parts: what a path collected before is summed already.
                fresh = rest[-1:] if rest[:-1] == summed[0] else rest
                parts = sum((data[source] for source in fresh), summed[1] if fresh != rest else 0.0)
                summed = rest, parts
                mixed = step.shares[0] * data[step.inputs[0]] + step.shares[1] * parts
            else:
                mixed = mix([data[source] for source in step.inputs], step.shares)
            # On a path, where nothing that has weight was collected, the data stay D_0.
            data[name] = _scaled(mixed, population.start if on_path else 0.0)
        for source in step.inputs:
            if last_use[source] == name:
                data.pop(source, None)
    return *numbers, models[design.output] @ clean, errors


def _scaled(rows: Array, otherwise: Array | float) -> Array:
    """Scale each row to one; a row of zeros, where nothing was found, becomes *otherwise*."""
    total = rows.sum(axis=1, keepdims=True)
    if np.all(total > 0):
        return np.asarray(rows / total)
    out = np.broadcast_to(otherwise, rows.shape).astype(float)
    return np.asarray(np.divide(rows, total, out=out, where=total > 0))


def similarity(
    errors: Array, *, weights: Array | None = None, majority: Array | None = None
) -> Array:
    r"""How much does a rollout resemble the bad sequence of Theorem 3.5: the score :math:`z_T`.

    [SAH23]_, section B.2: where two models err together, does the majority err too,

    .. math:: z_{s,t} = \frac{\mathcal D(E_s \cap E_t \cap E_m)}{\mathcal D(E_s \cap E_t)}, \qquad
              z_T = \text{mean over pairs } s \ne t.

    The text leaves two cases open (ERRATA). A pair without common errors (0/0) says nothing and is
    left out of the mean; without any other pair :math:`z_T` is unknown (NaN). A tie of the majority
    counts one half. For three models and a binary majority :math:`z_3 = 1` always: two of three
    *are* the majority.

    Parameters
    ----------
    errors
        Booleans of shape (..., models, items).
    weights
        The population's weights; equal ones if not given.
    majority
        Error share of the vote, (..., items), where it is not the binary majority of *errors* (a
        plurality, say).

    Examples
    --------
    >>> similarity(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)).item()
    1.0
    >>> similarity(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)).item()
    nan
    """
    wrong = np.asarray(errors).astype(np.float32)
    models, items = wrong.shape[-2:]
    if models < 2:
        raise InputError(f"z needs at least two models, got {models}")
    mass = np.full(items, 1 / items) if weights is None else np.asarray(weights, dtype=float)
    voted = majority_share(wrong.sum(axis=-2), models) if majority is None else np.asarray(majority)

    # Items that no two models get wrong are in no overlap: leaving them out saves most of the work
    # on good models.
    busy = (wrong.sum(axis=-2) >= 2).reshape(-1, items).any(axis=0)
    wrong, mass = wrong[..., busy], mass[busy].astype(np.float32)
    voted = voted[..., busy].astype(np.float32)

    upper = (..., *np.triu_indices(models, 1))
    both = ((wrong * mass) @ np.swapaxes(wrong, -1, -2))[upper]
    all_three = ((wrong * (mass * voted)[..., None, :]) @ np.swapaxes(wrong, -1, -2))[upper]
    known = both > 0
    ratio = np.divide(all_three, both, out=np.zeros_like(both), where=known)
    pairs = known.sum(axis=-1)
    mean = np.divide(ratio.sum(axis=-1), pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return np.asarray(np.clip(mean, 0, 1), dtype=float)  # NaN stays


# What an early round says about the end, over rollouts: Figure 5 of [SAH23]_.


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What an early round says about the final risk, over rollouts (Figure 5): Pearson correlations
    with intervals.
    """

    early: int
    final: int
    z_correlation: float | None
    z_interval: Interval | None
    risk_correlation: float | None
    risk_interval: Interval | None
    rollouts: int


def early_signals(
    errors: Array,
    risk: Array,
    *,
    early: int,
    weights: Array | None = None,
    majority: Array | None = None,
) -> Signals:
    """Correlate :math:`z` and majority risk at round *early* (counted from 1) with the final
    majority risk.

    [SAH23]_, section B.2 and Figure 5. A correlation is None where one side does not vary.

    Parameters
    ----------
    errors
        (rollouts, rounds, items).
    risk
        (rollouts, rounds), majority risk by round.
    majority
        Error share of the vote of the first *early* models, (rollouts, items), where *risk* is not
        that of the binary majority: a plurality of many labels, say.
    """
    rollouts, rounds = risk.shape
    if not 2 <= early < rounds:
        raise InputError(f"early must be a round from 2 to {rounds - 1}, got {early!r}")
    if rollouts < 4:
        raise InputError(f"a correlation over rollouts needs at least 4 of them, got {rollouts}")
    z = similarity(errors[:, :early], weights=weights, majority=majority)
    by_z, by_risk = _pearson(z, risk[:, -1]), _pearson(risk[:, early - 1], risk[:, -1])
    return Signals(
        early=early,
        final=rounds,
        z_correlation=by_z[0],
        z_interval=by_z[1],
        risk_correlation=by_risk[0],
        risk_interval=by_risk[1],
        rollouts=rollouts,
    )


def _pearson(x: Array, y: Array) -> tuple[float | None, Interval | None]:
    """Pearson's r with Fisher's interval."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None, None
    r = float(np.corrcoef(x, y)[0, 1])
    half = 1.959964 / np.sqrt(x.size - 3)
    low, high = np.tanh(np.arctanh(np.clip(r, -0.9999999, 0.9999999)) + np.array([-half, half]))
    return r, Interval(
        float(min(low, r)),
        float(max(high, r)),
        level=0.95,
        guarantee="approximate",
        method="fisher",
    )


# Updating the model itself instead of the benchmark: appendix A of [SAH23]_. The model is a
# real-valued function; only its margins m(x) = h(x) f(x) matter, so a rollout is one row of them.
# It starts at zero everywhere, where the zero-one risk is one half.


@dataclass(frozen=True, eq=False)
class Updates:
    """Zero-one risk and surrogate risk, one row per rollout, one column per update, the first one
    before any.
    """

    risk: Array
    surrogate: Array

    @property
    def rises(self) -> Array:
        """How often the surrogate rose from one update to the next, one number per rollout."""
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

    [SAH23]_, Lemma A.1 and Eqs (61) to (63): at most :math:`-(1-2\epsilon)\Pr(E_h)` for a model
    with risk at most :math:`\epsilon` on the margin errors :math:`E_h`, which is negative as long
    as there are any. In Eq (62) :math:`\Pr(E_h)` is right and ":math:`= R^{hinge}`" is not
    (ERRATA).

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
    return -risk(population.weights, moves)  # (62), (63)


def gradient_updates(
    population: Population,
    learner: Learner,
    *,
    loss: Loss,
    updates: int,
    rollouts: int,
    rng: Rng,
    rate: float = 1.0,
) -> Updates:
    r"""Follow the gradient of a surrogate of the risk, one model at a time.

    ``hinge``, [SAH23]_, Lemma A.1: a model built on the margin errors is a descent direction
    (:func:`hinge_slope`).

    .. math:: h \leftarrow h + \eta\, R^{hinge}(h)\, \overline h, \qquad \overline h = \mathcal A(\mathcal D|_{h f < 1})

    That is a statement about infinitesimal steps. With any fixed *rate* :math:`\eta` the hinge risk
    can rise (ERRATA): an item that :math:`\overline h` gets wrong loses margin, also one that was no
    margin error. :attr:`Updates.rises` counts it.

    ``exponential``, Lemma A.2, as AdaBoost does: the model is built on :math:`\mathcal D_h \propto
    \mathcal D e^{-hf}` and :math:`R` is its risk there.

    .. math:: h \leftarrow h + \eta\,\tilde h, \qquad \eta = \tfrac12 \log(1/R - 1)  \tag{71}

    Eqs (69) and (70) mean :math:`R^{\exp}`, and the derivative has the other sign (ERRATA). Then
    :math:`R_{\mathcal D}(h_t) \le \exp(-(1-2\epsilon)^2 t/2)`
    (:func:`tallystick.papers.dynamic_benchmarks.exponential_bound`). A model without error on
    :math:`\mathcal D_h` (:math:`\eta = \infty`) is the true classifier, and takes over.

    >>> people = Population.uniform(200)
    >>> fast = gradient_updates(people, RandomErrors(0.4), loss="hinge", updates=30, rollouts=4, rng=0, rate=2.0)
    >>> boosted = gradient_updates(people, RandomErrors(0.1), loss="exponential", updates=24, rollouts=5, rng=0)
    >>> bool(fast.rises.min() > 0), float(boosted.risk[:, -1].max()), int(boosted.rises.max())
    (True, 0.0, 0)
    """
    if updates < 1 or rollouts < 1 or not 0 < rate < np.inf:
        raise InputError(
            "updates and rollouts must be at least 1 and rate positive and finite, got"
            f" {updates!r}, {rollouts!r} and {rate!r}"
        )
    if population.noise:
        raise InputError("appendix A needs a true classifier: a population without random labels")
    build = learner.begin(population, rollouts, as_rng(rng))
    weights, margins = population.weights, np.zeros((rollouts, population.size))
    risks, losses = [np.full(rollouts, 0.5)], [np.ones(rollouts)]
    for t in range(updates):
        if loss == "hinge":
            short = margins < 1
            # nothing is short of its margin: the loss is zero and so is the step
            short[~short.any(axis=1)] = True
            built = build(collect(weights, short), t)
            size = rate * losses[-1]
        else:
            # the same distribution, no overflow
            now = _scaled(weights * np.exp(margins.min(axis=1, keepdims=True) - margins), 0.0)
            built = build(now, t)
            wrong = risk(now, built)
            # A margin of a million has no exponential loss that a float can hold.
            size = np.full(rollouts, 1e6)
            size[wrong > 0] = 0.5 * np.log(1 / wrong[wrong > 0] - 1)  # (71)
        # An item without weight gains margin, so that it never has the smallest one.
        margins += size[:, None] * np.where(built & (weights > 0), -1.0, 1.0)
        risks.append(risk(weights, 0.5 * (1 - np.sign(margins))))
        left = np.maximum(1 - margins, 0) if loss == "hinge" else np.exp(-margins)  # (7), (8)
        losses.append(risk(weights, left))
    return Updates(np.column_stack(risks), np.column_stack(losses))
