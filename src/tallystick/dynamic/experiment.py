"""Path benchmarks with real learners: section 5 of [SAH23]_, with the control that it lacks.

1. A base model is trained on everything; the items that it gets right are the population, which is
   thereby realisable.
2. Rollouts: train on the weighted items, mix in the errors, train again.
3. Control at the same price, for a population experiment buys no labels: as many models trained on
   the plain data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.curves import Curves, curves
from tallystick.dynamic.estimators import EstimatorTrainer, Trainer, refuse_weight_blind
from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = ["Execution", "Experiment", "learner_rollouts", "run_experiment"]


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Where rollouts run, and who is told. No number depends on it.

    Parameters
    ----------
    jobs
        Processes for joblib. Inside ``joblib.parallel_config(backend="dask")`` (or ``"ray"``) the
        rollouts leave this machine, and come back with the same numbers.
    progress
        Called with the number of finished rollouts: after each of them, or for all of them at the
        end where the backend hands everything over together (Ray's does).
    """

    jobs: int = 1
    progress: Callable[[int], None] | None = None


HERE = Execution()
"""In this process, telling nobody."""


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
    execution: Execution = HERE,
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
    execution
        Processes, and a function that is told of progress.

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
        execution=execution,
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
    execution: Execution = HERE,
) -> tuple[Array, Array | None]:
    """Run path rollouts of any :class:`Trainer`; return its predictions and those of the static
    control.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    if rounds < 1 or rollouts < 1:
        raise InputError(f"rounds and rollouts must be at least 1, got {rounds!r} and {rollouts!r}")
    truth = np.asarray(labels)
    generator = as_rng(rng)
    refuse_weight_blind(trainer, truth, seed=int(generator.integers(2**31)))
    work = (
        delayed(_rollout)(trainer, truth, rounds, static, each)
        for each in generator.spawn(rollouts)
    )
    one_by_one = get_active_backend()[0].supports_return_generator
    pairs = []
    for pair in Parallel(n_jobs=execution.jobs, return_as="generator" if one_by_one else "list")(
        work
    ):
        pairs.append(pair)
        if execution.progress is not None:
            execution.progress(len(pairs))
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
