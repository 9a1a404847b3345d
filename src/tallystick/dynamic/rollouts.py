r"""Many benchmarks at once: rollouts of a design over a population, as arrays.

A rollout without errors in some round has nothing to collect there; that component is left out of
its later mixtures and the other weights are scaled up. Risks are taken on the part of the
population whose labels are not random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng, as_rng, spawn
from tallystick.dynamic.collection import IDEAL, Collection, gather
from tallystick.dynamic.design import INITIAL, Design, as_path, mixture_table
from tallystick.dynamic.learners import Learner
from tallystick.dynamic.population import TOLERANCE, Array, Population, mix, vote
from tallystick.errors import InputError

__all__ = ["PathWeights", "Rollouts", "roll", "roll_design", "roll_path"]

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
        Weights of the parts of each round's data, as in :func:`~tallystick.dynamic.design.path`;
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

    >>> from tallystick.dynamic.learners import RandomErrors
    >>> many = roll_path(Population.uniform(400), RandomErrors(0.1), rounds=3, rollouts=200, rng=1)
    >>> many.risk.mean(axis=0).round(3).tolist()
    [0.1, 0.102, 0.027]
    """
    table = mixture_table(rounds, weights.mixture)
    ballots = weights.ballots(rounds)
    from tallystick.dynamic.kernels import add_errors, count_votes

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

    >>> from tallystick.dynamic.design import hierarchical
    >>> from tallystick.dynamic.learners import RandomErrors
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
