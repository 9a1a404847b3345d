r"""Many benchmarks at once: learners, rollouts of any design, and section 5 with real classifiers.

[SAH23]_, section 5. A rollout without errors in some round has nothing to
collect there; that component is left out of its later mixtures and the other weights are scaled up.
Risks are taken on the part of the population whose labels are not random.

A learner is a small frozen configuration. ``begin(population, rollouts, rng)`` starts that many
careers at once and returns a function that takes the distributions (one row per rollout) and the
round, and returns the error sets of the models built on them.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

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
    majority_share,
    mix,
    risk,
    vote,
)

Build: TypeAlias = Callable[[Array, int], Array]
"""(distributions of shape (rollouts, items), round from 0) to error sets of the same shape,
boolean."""

Annotators: TypeAlias = Callable[[Array, Array, np.random.Generator], Array]
"""(population weights, error shares of each rollout's model) to what is collected, one distribution
per rollout; a row of zeros where nothing was found."""

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
    return scaled(weights * errors, 0.0)


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
            data[name] = scaled(mixed, population.start if on_path else 0.0)
        for source in step.inputs:
            if last_use[source] == name:
                data.pop(source, None)
    return *numbers, models[design.output] @ clean, errors


def scaled(rows: Array, otherwise: Array | float) -> Array:
    """Scale each row to one; a row of zeros, where nothing was found, becomes *otherwise*."""
    total = rows.sum(axis=1, keepdims=True)
    if np.all(total > 0):
        return np.asarray(rows / total)
    out = np.broadcast_to(otherwise, rows.shape).astype(float)
    return np.asarray(np.divide(rows, total, out=out, where=total > 0))


# Section 5 with real learners, and the control that it lacks: a base model is trained on
# everything, and the items that it gets right are the population, which is thereby realisable.
# Rollouts train on the weighted items, mix in the errors, and train again; the control trains as
# many models on the plain data.


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the learner did on the path and, at the same number of trainings, without it.

    Parameters
    ----------
    labels
        True labels of the population.
    kept
        Which of the given items are the population: those that the base model gets right.
    predictions, static_predictions
        (rollouts, rounds, items); *static_predictions* are of models trained on the plain data, and
        None without that control.
    """

    labels: Array
    kept: Array
    predictions: Array
    static_predictions: Array | None

    @property
    def path(self) -> Curves:
        """Curves of the path."""
        return curves(self.predictions, self.labels)

    @property
    def static(self) -> Curves | None:
        """Curves of the static ensemble."""
        if self.static_predictions is None:
            return None
        return curves(self.static_predictions, self.labels, trained_on_path=False)


def run_experiment(
    estimator: Any,
    features: Any,
    labels: Array,
    *,
    rounds: int,
    rollouts: int,
    rng: Rng,
    static: bool = True,
) -> Experiment:
    """Run base model, realisable subset, rollouts and static control, all with one kind of
    classifier.

    Parameters
    ----------
    estimator
        A classifier in the manner of scikit-learn that honours ``sample_weight``; refused if it
        does not.
    features, labels
        All items.
    rounds, rollouts
        Models a rollout, and how many rollouts.
    static
        Whether to run the static control as well.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=1, max_features=1)
    >>> result = run_experiment(tree, X, y, rounds=3, rollouts=2, rng=0)
    >>> result.predictions.shape[:2], result.path.risk.shape
    ((2, 3), (2, 3))
    """
    truth = np.asarray(labels)
    generator = as_rng(rng)
    base = EstimatorTrainer(estimator, features, truth)
    equal = np.full(truth.size, 1 / truth.size)
    kept = base(equal, generator) == truth
    if np.unique(truth[kept]).size < 2:
        raise InputError(
            f"the base model gets only {int(kept.sum())} of {truth.size} items right, of fewer than"
            " two labels: choose a learner that can learn this"
        )
    trainer = EstimatorTrainer(estimator, features[kept], truth[kept])
    played = learner_rollouts(
        trainer,
        truth[kept],
        rounds=rounds,
        rollouts=rollouts,
        rng=generator,
        static=static,
    )
    return Experiment(
        labels=truth[kept], kept=kept, predictions=played[0], static_predictions=played[1]
    )


def learner_rollouts(
    trainer: Trainer,
    labels: Array,
    *,
    rounds: int,
    rollouts: int,
    rng: Rng,
    static: bool = True,
) -> tuple[Array, Array | None]:
    """Run path rollouts of any :class:`Trainer`; return its predictions and those of the static
    control.
    """
    if rounds < 1 or rollouts < 1:
        raise InputError(f"rounds and rollouts must be at least 1, got {rounds!r} and {rollouts!r}")
    truth = np.asarray(labels)
    generator = as_rng(rng)
    refuse_weight_blind(trainer, truth, seed=int(generator.integers(2**31)))
    pairs = [_rollout(trainer, truth, rounds, static, each) for each in generator.spawn(rollouts)]
    controls = np.stack([control for _, control in pairs]) if static else None
    return np.stack([path for path, _ in pairs]), controls


def _rollout(
    trainer: Trainer, labels: Array, rounds: int, static: bool, rng: np.random.Generator
) -> tuple[Array, Array]:
    """One rollout and its control, each from its own stream, so that either is the same without the
    other.
    """
    on_path, on_plain = rng.spawn(2)
    equal = np.full(labels.size, 1 / labels.size)
    total = equal.copy()
    calls, plain = [], []
    for _ in range(rounds):
        calls.append(trainer(total / total.sum(), on_path))
        wrong = calls[-1] != labels
        if wrong.any():
            total += wrong / wrong.sum()
        if static:
            plain.append(trainer(equal, on_plain))
    return np.stack(calls), (
        np.stack(plain) if static else np.empty((0, labels.size), dtype=labels.dtype)
    )


# Real learners: any classifier that honours sample weights.


class Trainer(Protocol):
    """All that an experiment asks of a learner: train on weighted items, then label every item."""

    def __call__(self, weights: Array, rng: np.random.Generator) -> Array:
        """Train on the items with these weights (they sum to one); return the predicted label of
        every item.
        """
        ...


@dataclass(frozen=True, eq=False)
class EstimatorTrainer:
    """A classifier in the manner of scikit-learn, on given features: copied, seeded and fitted anew
    in each call.

    Parameters
    ----------
    estimator
        Anything with ``fit(X, y, sample_weight=...)`` and ``predict(X)``. Every parameter called
        ``random_state`` is set from the call's generator.
    features, labels
        The items.

    Examples
    --------
    >>> class Blind:
    ...     def fit(self, X, y):
    ...         return self
    >>> EstimatorTrainer(Blind(), np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    Traceback (most recent call last):
    tallystick.errors.InputError: Blind.fit takes no sample_weight, so it cannot follow a dynamic benchmark: ...
    """

    estimator: Any
    features: Any
    labels: Array

    def __post_init__(self) -> None:
        parameters = inspect.signature(self.estimator.fit).parameters
        if "sample_weight" not in parameters and not any(
            p.kind is p.VAR_KEYWORD for p in parameters.values()
        ):
            raise InputError(
                f"{type(self.estimator).__name__}.fit takes no sample_weight, so it cannot follow a"
                " dynamic benchmark: choose a learner that does, or write a Trainer that resamples"
                " by weight"
            )

    def __call__(self, weights: Array, rng: np.random.Generator) -> Array:
        """Fit a fresh copy on the weighted items and predict them all."""
        model = fresh_copy(self.estimator, rng)
        # Mean one, as estimators expect: their regularisation is scaled for it.
        model.fit(self.features, self.labels, sample_weight=weights * len(self.labels))
        return np.asarray(model.predict(self.features))


def fresh_copy(estimator: Any, rng: np.random.Generator) -> Any:
    """Copy an unfitted estimator; every parameter called ``random_state``, its parts' too, is set
    from *rng*.
    """
    model = copy.deepcopy(estimator)
    if hasattr(model, "get_params"):
        seeds = {
            name: int(rng.integers(2**31 - 1))
            for name in sorted(model.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        if seeds:
            model.set_params(**seeds)
    return model


def refuse_weight_blind(trainer: Trainer, labels: Array, *, seed: int) -> None:
    """Refuse a learner that accepts weights and ignores them.

    A classifier with known features is asked a question that only weights can answer: the same
    features stand twice, under two labels, and nearly all weight lies on the one or on the other.
    Of a trainer that is a black box we only see its answers: it is trained with nearly all weight
    on each label in turn, and refused if it makes the same mistakes every time.

    >>> refuse_weight_blind(lambda weights, rng: np.array([0, 0]), np.array([0, 1]), seed=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: the learner ignores sample weights: ...
    """
    classes, counts = np.unique(labels, return_counts=True)
    if classes.size < 2:
        raise InputError(f"labels need at least two classes, got {classes.tolist()}")
    if isinstance(trainer, EstimatorTrainer):
        some = np.sort(np.random.default_rng(seed).permutation(len(labels))[:100])
        asked = np.concatenate([some, some])
        truth = np.repeat(classes[:2], some.size)
        trainer = EstimatorTrainer(trainer.estimator, trainer.features[asked], truth)
        heavy = [truth == label for label in classes[:2]]
    else:
        truth = labels
        heavy = [labels == label for label in classes[np.argsort(-counts, kind="stable")[:5]]]
    answers = []
    for where in heavy:
        weights = np.where(where, 1.0, 1e-6)
        answers.append(trainer(weights / weights.sum(), np.random.default_rng(seed)))
    if all(np.array_equal(answers[0], answer) for answer in answers[1:]) and np.any(
        answers[0] != truth
    ):
        raise InputError(
            "the learner ignores sample weights: it makes the same mistakes whichever label has"
            " nearly all the weight; a dynamic benchmark would have no effect on it"
        )


# From predictions to curves: majority risk, plurality risk and excess risk by round, whoever made
# the predictions.
#
# Digits trees, a GPU's neural networks and a real log all end here: an array of predictions of
# shape (rollouts, rounds, items).


@dataclass(frozen=True, eq=False)
class Curves:
    """Rollouts in rows, rounds in columns, on equally weighted items.

    Parameters
    ----------
    risk
        Of the plurality vote of all models so far; ties are split by chance. With two labels it is
        the majority.
    binary_risk
        Of the binary majority, which knows only right from wrong: at least half of the models wrong
        (a tie counts 1/2).
    model_risk
        Of the round's own model.
    epsilon
        Of the round's own model, on the uniform mixture that it was trained on.
    """

    risk: Array
    binary_risk: Array
    model_risk: Array
    epsilon: Array


def curves(predictions: Array, labels: Array, *, trained_on_path: bool = True) -> Curves:
    """Follow the votes through the rounds.

    Parameters
    ----------
    predictions
        (rollouts, rounds, items), any labels.
    labels
        The true label of each item.
    trained_on_path
        Whether round t was trained on the uniform mixture of a path (else on the plain data, as a
        static control is).

    Examples
    --------
    >>> calls = np.array([[[0, 1, 2], [0, 1, 1], [0, 0, 1]]])
    >>> curves(calls, np.array([0, 1, 2])).risk.round(3).tolist()
    [[0.0, 0.167, 0.333]]
    """
    calls = np.asarray(predictions)
    truth = np.asarray(labels)
    if calls.ndim != 3 or calls.shape[2] != truth.size:
        raise InputError(
            f"predictions need the shape (rollouts, rounds, {truth.size}), got {calls.shape}"
        )
    errors = calls != truth
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    place, own = np.searchsorted(classes, calls), np.searchsorted(classes, truth)
    rollouts, rounds, items = calls.shape
    risk, binary, excess = (np.empty((rollouts, rounds)) for _ in range(3))
    for b in range(rollouts):
        votes = np.zeros((items, classes.size), dtype=np.int32)
        wrong = np.zeros(items)
        total = np.full(items, 1 / items)
        for t in range(rounds):
            votes[np.arange(items), place[b, t]] += 1
            top = votes == votes.max(axis=1, keepdims=True)
            risk[b, t] = np.mean(1 - top[np.arange(items), own] / top.sum(axis=1))
            wrong += errors[b, t]
            binary[b, t] = majority_share(wrong, t + 1).mean()
            excess[b, t] = (
                total / total.sum() if trained_on_path else np.full(items, 1 / items)
            ) @ errors[b, t]
            if errors[b, t].any():
                total = total + errors[b, t] / errors[b, t].sum()
    return Curves(risk=risk, binary_risk=binary, model_risk=errors.mean(axis=2), epsilon=excess)


def plurality(predictions: Array, labels: Array) -> Array:
    """Return where the plurality vote of these models is wrong: (..., items), ties split by chance.

    Parameters
    ----------
    predictions
        (..., models, items), any labels.
    labels
        The true label of each item.

    Examples
    --------
    >>> plurality(np.array([[0, 1, 2], [0, 1, 1], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.0, 1.0]
    >>> plurality(np.array([[0, 1, 2], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.5, 0.5]
    """
    calls, truth = np.asarray(predictions), np.asarray(labels)
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    votes = np.stack([(calls == label).sum(axis=-2) for label in classes], axis=-1)
    top = votes == votes.max(axis=-1, keepdims=True)
    return np.asarray(1 - (top & (truth[:, None] == classes)).any(axis=-1) / top.sum(axis=-1))
