"""Real learners: any classifier that honours sample weights."""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = ["EstimatorTrainer", "Trainer", "refuse_weight_blind"]


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
