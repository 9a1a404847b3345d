"""Many benchmarks at once: rollouts of a design over a population, as arrays.

A rollout without errors in some round has nothing to collect there; that component is left out of
its later mixtures and the other weights are scaled up. Risks are taken on the part of the
population whose labels are not random.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng, spawn
from tallystick.errors import InputError
from tallystick.verbs.dynamic.design import (
    IDEAL,
    INITIAL,
    Collection,
    Design,
    as_path,
    gather,
    mixture_table,
)
from tallystick.verbs.dynamic.population import TOLERANCE, Array, Population, mix, vote

_CELLS = 64_000
"""Rollouts x items that are worked on together: small enough to stay in a processor's cache."""


@dataclass(frozen=True, eq=False)
class Rollouts:
    r"""What happened, one row a rollout and one column a round.

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
        Risk on :math:`\mathcal D` of the model that the design delivers, one number a rollout.
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


@dataclass(frozen=True, kw_only=True)
class PathWeights:
    """How a path weighs what it collected, and how its models vote.

    Parameters
    ----------
    mixture
        Weights of the parts of each round's data, as in
        :func:`~tallystick.verbs.dynamic.design.path`;
        None: equal.
    majority
        Weight of each model in the vote; None: equal.
    """

    mixture: Sequence[Sequence[float]] | float | None = None
    majority: Sequence[float] | None = None

    def ballots(self, rounds: int) -> Array:
        """Return the weight of each of the models in the vote."""
        if self.majority is None:
            return np.ones(rounds)
        ballots = np.asarray(self.majority, dtype=float)
        if ballots.shape != (rounds,) or not np.all(ballots >= 0) or not ballots[0] > 0:
            raise InputError(
                f"majority needs {rounds} weights, none negative and the first one positive, got"
                f" {self.majority!r}"
            )
        return ballots


EQUAL = PathWeights()
"""All parts of the data and all models count the same: the path of [SAH23]_."""


def roll_path(
    population: Population,
    learner: Learner,
    *,
    rounds: int,
    rollouts: int,
    rng: Rng,
    weights: PathWeights = EQUAL,
    collection: Collection = IDEAL,
    keep_errors: bool = False,
) -> Rollouts:
    """Run the path of section 3 of [SAH23]_ many times.

    >>> from tallystick.verbs.dynamic.rollouts import RandomErrors
    >>> many = roll_path(Population.uniform(400), RandomErrors(0.1), rounds=3, rollouts=200, rng=1)
    >>> many.risk.mean(axis=0).round(3).tolist()
    [0.1, 0.102, 0.027]
    """
    table = mixture_table(rounds, weights.mixture)
    ballots = weights.ballots(rounds)
    from tallystick.verbs.dynamic.population import add_errors, count_votes

    # Where all collected parts weigh the same, their running sum is all that has to be remembered.
    equal = all(np.ptp(row[1:]) < TOLERANCE for row in table[2:])
    clean = _clean(population)

    def chunk(size: int, generator: np.random.Generator) -> _Columns:
        out = _Columns.empty(size, rounds, population.size if keep_errors else 0)
        build = learner.begin(population, size, generator)
        # D_0 first, then what each round collected: kept apart only where their weights differ.
        parts = np.zeros((size, 0 if equal else rounds, population.size))
        parts[:, :1] = population.start
        held = np.ones((size, rounds))
        total, count = np.zeros((size, population.size)), np.zeros(size)
        wrong, numbers = np.zeros(total.shape), np.zeros((size, 3))
        data = np.ascontiguousarray(np.broadcast_to(population.start, total.shape))
        for t in range(rounds):
            errors = build(data, t)
            count_votes(
                errors,
                ballots[t],
                0.5 * ballots[: t + 1].sum(),
                TOLERANCE,
                clean,
                data,
                wrong,
                numbers,
            )
            out.record(t, numbers, data, population, errors)
            if t + 1 == rounds:
                break
            row = table[t + 1]
            if equal and collection == IDEAL:
                add_errors(errors, population.coin, population.weights, total, count)
            else:
                shares = np.where(population.coin, 0.5, errors)
                found, empty = gather(population.weights, shares, collection, generator)
                total += found
                count += ~empty
            if equal:
                share = np.divide(
                    row[1], row[0] + row[1] * count, out=np.zeros(size), where=count > 0
                )
                data = share[:, None] * total
                data += (1 - share * count)[:, None] * population.start
            else:
                parts[:, t + 1] = found
                held[:, t + 1] = ~empty
                shares = row * held[:, : t + 2]
                # nothing that has weight was collected: the data stay D_0
                shares[shares.sum(axis=1) == 0, 0] = 1
                data = np.matmul(_scaled(shares)[:, None], parts[:, : t + 2])[:, 0]
        out.output_risk[:] = out.risk[:, -1]
        return out

    return _in_chunks(population, rollouts, rng, chunk, keep_errors)


def roll_design(
    population: Population,
    design: Design,
    learner: Learner,
    *,
    rollouts: int,
    rng: Rng,
    collection: Collection = IDEAL,
    keep_errors: bool = False,
) -> Rollouts:
    """Run any design many times, step by step. ``risk`` is that of the plain majority of all models
    trained so far.

    >>> from tallystick.verbs.dynamic.design import hierarchical
    >>> from tallystick.verbs.dynamic.rollouts import RandomErrors
    >>> many = roll_design(Population.uniform(400), hierarchical(), RandomErrors(0.1), rollouts=50, rng=1)
    >>> many.rounds, bool(many.output_risk.mean() < many.risk[:, 2].mean())
    (9, True)
    """
    clean = _clean(population)

    def chunk(size: int, generator: np.random.Generator) -> _Columns:
        out = _Columns.empty(size, design.rounds, population.size if keep_errors else 0)
        build = learner.begin(population, size, generator)
        data = {INITIAL: np.broadcast_to(population.start, (size, population.size))}
        models: dict[str, Array] = {}
        for name in design.order:
            step = design.steps[name]
            if step.operation == "train":
                t, weights = len(out.seen), data[step.inputs[0]]
                if not np.all(weights.sum(axis=1) > 0):
                    raise InputError(
                        f"design {design.name!r}, step {name!r}: the error set that it trains on is"
                        " empty, since a model made no error: mix it with 'initial'"
                    )
                models[name] = build(weights, t).astype(float)
                out.seen.append(models[name])
                excess = np.einsum("bi,bi->b", weights, models[name])
                numbers = np.column_stack([vote(out.seen) @ clean, models[name] @ clean, excess])
                out.record(t, numbers, weights, population, models[name])
            elif step.operation == "vote":
                models[name] = vote([models[source] for source in step.inputs], step.shares)
            elif step.operation == "collect":
                shares = np.where(population.coin, 0.5, models[step.inputs[0]])
                data[name] = gather(population.weights, shares, collection, generator)[0]
            else:
                data[name] = _scaled(mix([data[source] for source in step.inputs], step.shares))
        out.output_risk[:] = models[design.output] @ clean
        return out

    return _in_chunks(population, rollouts, rng, chunk, keep_errors)


def roll(
    population: Population,
    design: Design,
    learner: Learner,
    *,
    rollouts: int,
    rng: Rng,
    collection: Collection = IDEAL,
    keep_errors: bool = False,
) -> Rollouts:
    """Run any design many times: a path in shape by :func:`roll_path`, any other one step by
    step.
    """
    shape = as_path(design)
    if shape is None:
        return roll_design(
            population,
            design,
            learner,
            rollouts=rollouts,
            rng=rng,
            collection=collection,
            keep_errors=keep_errors,
        )
    table, votes = shape
    return roll_path(
        population,
        learner,
        rounds=design.rounds,
        rollouts=rollouts,
        rng=rng,
        weights=PathWeights(mixture=[row.tolist() for row in table], majority=votes.tolist()),
        collection=collection,
        keep_errors=keep_errors,
    )


@dataclass(frozen=True, eq=False)
class _Columns:
    """The numbers of one chunk of rollouts, filled round by round."""

    risk: Array
    model_risk: Array
    epsilon: Array
    noise_share: Array
    output_risk: Array
    errors: Array
    seen: list[Array]

    @classmethod
    def empty(cls, size: int, rounds: int, items: int) -> _Columns:
        a, b, c, d = np.zeros((4, size, rounds))
        return cls(a, b, c, d, np.zeros(size), np.zeros((size, rounds, items), dtype=bool), [])

    def record(
        self, t: int, numbers: Array, weights: Array, population: Population, errors: Array
    ) -> None:
        self.risk[:, t], self.model_risk[:, t], self.epsilon[:, t] = numbers.T
        self.noise_share[:, t] = weights @ population.coin if population.noise else 0.0
        if self.errors.shape[2]:
            self.errors[:, t] = errors


def _in_chunks(
    population: Population,
    rollouts: int,
    rng: Rng,
    chunk: Callable[[int, np.random.Generator], _Columns],
    keep_errors: bool,
) -> Rollouts:
    if rollouts < 1:
        raise InputError(f"rollouts must be at least 1, got {rollouts!r}")
    size = max(1, min(rollouts, _CELLS // population.size))
    sizes = [min(size, rollouts - start) for start in range(0, rollouts, size)]
    parts = [
        chunk(n, generator)
        for n, generator in zip(sizes, spawn(as_rng(rng), len(sizes)), strict=True)
    ]

    def joined(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    return Rollouts(
        population=population,
        risk=joined("risk"),
        model_risk=joined("model_risk"),
        epsilon=joined("epsilon"),
        noise_share=joined("noise_share"),
        output_risk=joined("output_risk"),
        errors=joined("errors") if keep_errors else None,
    )


def _clean(population: Population) -> Array:
    """Return the weights of the items whose labels are not random, scaled to one; to the last bit
    if all are such.
    """
    if not population.noise:
        return population.weights
    kept = np.where(population.coin, 0.0, population.weights)
    return np.asarray(kept / kept.sum())


def _scaled(rows: Array) -> Array:
    """Scale each row to one; a row of zeros, the mixture of empty error sets, stays."""
    total = rows.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(rows, total, out=np.zeros_like(rows), where=total > 0))


# Learners at the level of populations: given a distribution, where does the next model err.
#
# Each is a small frozen configuration. ``begin(population, rollouts, rng)`` starts that many
# careers
# at once and returns a function that takes the distributions (one row a rollout) and the round,
# and
# returns the error sets of the models built on them.


Build: TypeAlias = Callable[[Array, int], Array]
"""(distributions of shape (rollouts, items), round from 0) to error sets of the same shape,
boolean."""


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
        The excess risk, in (0, 1/2]; a sequence gives one a round (the last one stays), for a model
        that changes.
    """

    epsilon: float | Sequence[float]

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)

    def begin(self, population: Population, rollouts: int, rng: np.random.Generator) -> Build:
        """Start *rollouts* independent careers on *population*."""
        clean = ~population.coin

        def build(weights: Array, round_: int) -> Array:
            scores = rng.random(weights.shape, dtype=np.float32)
            return _fill(
                scores, weights, _at(self.epsilon, round_), clean, np.full(len(weights), np.inf)
            )

        return build


@dataclass(frozen=True)
class Correlated:
    r"""A learner whose models fail together.

    .. math:: s_{it} = \sqrt\rho\, b_i + \sqrt{1-\rho}\, g_{it} - \gamma \log(d\, \mathcal D_t(i))

    The items of highest score are wrong, until their mass in :math:`\mathcal D_t` reaches
    :math:`\epsilon_t`; the item on the boundary is drawn, so that the mass is right on average.
    :math:`b_i` is difficulty, shared by all models of a rollout, and :math:`\rho` its weight;
    :math:`\gamma` is how much up-weighting protects an item. ``Correlated(epsilon)`` alone is
    :class:`RandomErrors`, but for the boundary.

    Parameters
    ----------
    epsilon
        The excess risk, in (0, 1/2], or one a round.
    rho
        Share of difficulty that models have in common, in [0, 1].
    gamma
        Protection by weight, not negative.
    """

    epsilon: float | Sequence[float]
    rho: float = 0.0
    gamma: float = 0.0

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        if not 0 <= self.rho <= 1:
            raise InputError(f"rho must be in [0, 1], got {self.rho!r}")
        if not 0 <= self.gamma < np.inf:
            raise InputError(f"gamma must be finite and not negative, got {self.gamma!r}")

    def begin(self, population: Population, rollouts: int, rng: np.random.Generator) -> Build:
        """Start *rollouts* independent careers on *population*."""
        shape, clean = (rollouts, population.size), ~population.coin
        shared = rng.standard_normal(shape, dtype=np.float32)
        shared *= np.float32(self.rho**0.5)
        own = np.float32((1 - self.rho) ** 0.5)

        def build(weights: Array, round_: int) -> Array:
            scores = rng.standard_normal(weights.shape, dtype=np.float32)
            scores *= own
            scores += shared
            if self.gamma:
                # an item without weight is not protected at all: score +inf
                with np.errstate(divide="ignore"):
                    scores -= np.float32(self.gamma) * np.log(
                        (population.size * weights).astype(np.float32)
                    )
            reach = _at(self.epsilon, round_)
            return _fill(scores, weights, reach, clean, rng.random(len(weights)))

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


def checked_epsilon(epsilon: float | Sequence[float]) -> None:
    """Refuse an excess risk outside (0, 1/2]: at 1/2 and beyond a model knows nothing."""
    for value in (epsilon,) if isinstance(epsilon, int | float) else epsilon:
        if not 0 < value <= 0.5:
            raise InputError(f"epsilon must be in (0, 1/2], got {value!r}")
    if not isinstance(epsilon, int | float) and not len(epsilon):
        raise InputError("epsilon needs at least one value, got none")


def _at(epsilon: float | Sequence[float], round_: int) -> float:
    if isinstance(epsilon, int | float):
        return float(epsilon)
    return float(epsilon[min(round_, len(epsilon) - 1)])


def _fill(scores: Array, weights: Array, epsilon: float, clean: Array, luck: Array) -> Array:
    """Take the items of highest score until their mass reaches *epsilon*; see ``kernels.fill``."""
    from tallystick.verbs.dynamic.population import fill

    errors = np.empty(weights.shape, dtype=bool)
    reach = np.full(len(weights), epsilon + TOLERANCE)
    fill(scores, np.ascontiguousarray(weights), clean, reach, luck, errors)
    return errors


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


# Random labels take a dynamic benchmark over: section 3.1 and Theorem 3.6 of [SAH23]_.


def noise_path(delta: float, ambiguous: Sequence[float]) -> tuple[float, ...]:
    r"""Which share of each round's data has random labels, given the share among the errors that
    each round collects.

    .. math:: \delta_{t+1} = \frac{(t+1)\,\delta_t + \nu_t}{t+2}

    for uniform mixing from :math:`\delta_0 = \delta`; an identity.

    >>> [round(share, 3) for share in noise_path(0.2, [1, 1])]
    [0.2, 0.6, 0.733]
    """
    shares = [_share(delta, "delta")]
    for t, found in enumerate(ambiguous):
        shares.append(((t + 1) * shares[-1] + _share(found, "ambiguous")) / (t + 2))
    return tuple(shares)


def noise_bound(epsilon: float, delta: float, rounds: int) -> tuple[float, ...]:
    r"""How much of the data is noise at the least, round by round from :math:`\delta_0 = \delta`.

    .. math:: \delta_{t+1} \ge \frac{t+1}{t+2}\,\delta_t + \frac1{t+2} \cdot \frac1{1 + 2(t+1)\,\epsilon/\delta}

    [SAH23]_, Theorem 3.6 and Eq (34), sharpened: :math:`\mathcal D_0` keeps the weight
    :math:`1/(t+1)` in :math:`\mathcal D_t`, so the clean risk obeys :math:`(1-\delta) R_{\mathcal
    D^{\bar\delta}}(h_t) \le (t+1)\epsilon` and the factor :math:`(1-\delta)/(1-\delta_t)` of the
    text falls away (ERRATA). Uniform mixing, :math:`\mathcal D_0 = \mathcal D`, labels that are
    random at every look.

    >>> [round(share, 3) for share in noise_bound(0.05, 0.2, 3)]
    [0.2, 0.433, 0.456]
    """
    checked_epsilon(epsilon)
    if not 0 < delta < 1:
        raise InputError(f"delta must be in (0, 1), got {delta!r}")
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    found = [1 / (1 + 2 * (t + 1) * epsilon / delta) for t in range(rounds - 1)]
    return noise_path(delta, found)


def _share(value: float, name: str) -> float:
    if not 0 <= value <= 1:
        raise InputError(f"{name} must be in [0, 1], got {value!r}")
    return float(value)
