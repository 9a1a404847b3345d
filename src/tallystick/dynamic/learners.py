r"""Learners at the level of populations: given a distribution, where does the next model err.

Each is a small frozen configuration. ``begin(population, rollouts, rng)`` starts that many careers
at once and returns a function that takes the distributions (one row a rollout) and the round, and
returns the error sets of the models built on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from tallystick.dynamic.population import TOLERANCE, Array, Population
from tallystick.errors import InputError

__all__ = [
    "Build",
    "Correlated",
    "Learner",
    "Perfect",
    "RandomErrors",
    "Scripted",
    "checked_epsilon",
]

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
    from tallystick.dynamic.kernels import fill

    errors = np.empty(weights.shape, dtype=bool)
    reach = np.full(len(weights), epsilon + TOLERANCE)
    fill(scores, np.ascontiguousarray(weights), clean, reach, luck, errors)
    return errors
