"""Path benchmarks with real learners: section 5 of [SAH23]_, with the control that it lacks.

1. A base model is trained on everything; the items that it gets right are the population, which is
   thereby realisable.
2. Rollouts: train on the weighted items, mix in the errors, train again.
3. Control at the same price, for a population experiment buys no labels: as many models trained on
   the plain data.
"""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array, majority_share


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
    jobs: int = 1,
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
    jobs
        Processes for joblib. Inside ``joblib.parallel_config(backend="dask")`` (or ``"ray"``) the
        rollouts leave this machine, and come back with the same numbers.

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
        jobs=jobs,
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
    jobs: int = 1,
) -> tuple[Array, Array | None]:
    """Run path rollouts of any :class:`Trainer`; return its predictions and those of the static
    control.
    """
    from joblib import Parallel, delayed

    if rounds < 1 or rollouts < 1:
        raise InputError(f"rounds and rollouts must be at least 1, got {rounds!r} and {rollouts!r}")
    truth = np.asarray(labels)
    generator = as_rng(rng)
    refuse_weight_blind(trainer, truth, seed=int(generator.integers(2**31)))
    work = (
        delayed(_rollout)(trainer, truth, rounds, static, each)
        for each in generator.spawn(rollouts)
    )
    pairs = list(Parallel(n_jobs=jobs)(work))
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
