"""Weighted finite populations and the operations of a dynamic benchmark upon them.

Of the four operations of [SAH23]_, section 2, three are plain arithmetic and live here: data
collection, model combination and data combination. The fourth, model building, is what a learner
does (:mod:`tallystick.dynamic.learners`).

A model is known by its *error share* at every item: 0 right, 1 wrong, 1/2 where its label is a coin
toss (a tie of a vote, or an item whose own label is random). Arrays may carry leading axes
(rollouts); the last axis is always the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

__all__ = ["Array", "Population", "checked_weights", "collect", "mix", "risk", "vote"]

Array: TypeAlias = npt.NDArray[Any]

TOLERANCE = 1e-9
"""How far weights may be from one, and a risk from its limit, before it counts: above rounding,
below any item."""


@dataclass(frozen=True, eq=False)
class Population:
    r"""All instances of interest, with the weight of each: the distribution :math:`\mathcal D` of
    [SAH23]_.

    Parameters
    ----------
    weights
        :math:`\mathcal D`, one weight an item, summing to one.
    initial
        :math:`\mathcal D_0`, where the benchmark starts; :math:`\mathcal D` itself if not given.
        Its support must lie in that of :math:`\mathcal D`.
    noisy
        Items whose label is a fair coin at every look (:math:`\mathcal X^\delta`, section 3.1).
        Every model is wrong on half of such an item's mass. A label drawn once and kept is not
        noise in this sense: Theorem 3.6 fails for it (ERRATA).

    Examples
    --------
    >>> people = Population(np.array([0.5, 0.25, 0.25]), noisy=np.array([False, False, True]))
    >>> people.size, people.noise
    (3, 0.25)
    >>> Population(np.array([0.5, 0.4]))
    Traceback (most recent call last):
    tallystick.errors.InputError: weights must sum to one, got a sum of 0.9: divide them by it
    """

    weights: Array
    initial: Array | None = None
    noisy: Array | None = None

    def __post_init__(self) -> None:
        weights = checked_weights(self.weights, "weights")
        initial = weights if self.initial is None else checked_weights(self.initial, "initial")
        noisy = (
            np.zeros(weights.shape, dtype=bool)
            if self.noisy is None
            else np.array(self.noisy, dtype=bool)
        )
        if initial.shape != weights.shape or noisy.shape != weights.shape:
            raise InputError(
                "weights, initial and noisy need one entry an item, "
                f"got {weights.size}, {initial.size} and {noisy.size}"
            )
        outside = np.flatnonzero((initial > 0) & (weights == 0))
        if outside.size:
            raise InputError(
                f"initial puts weight on item {outside[0]}, which has none in weights: drop it or"
                " give it weight"
            )
        for name, value in (("weights", weights), ("initial", initial), ("noisy", noisy)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def uniform(cls, size: int, *, noise: float = 0.0) -> Population:
        """Return *size* items of equal weight, the last share *noise* of them with random
        labels.
        """
        if size < 1:
            raise InputError(f"size must be at least 1, got {size!r}")
        if not 0 <= noise < 1:
            raise InputError(f"noise must be in [0, 1), got {noise!r}")
        return cls(np.full(size, 1 / size), noisy=np.arange(size) >= size - round(noise * size))

    @property
    def size(self) -> int:
        """How many items there are."""
        return int(self.weights.size)

    @property
    def start(self) -> Array:
        r"""The initial distribution :math:`\mathcal D_0`, given or not."""
        return self.weights if self.initial is None else self.initial

    @property
    def coin(self) -> Array:
        """True where the label is random, given or not."""
        return np.zeros(self.size, dtype=bool) if self.noisy is None else self.noisy

    @property
    def noise(self) -> float:
        r"""The share :math:`\delta` of the population whose labels are random."""
        return float(self.weights[self.coin].sum())


def risk(weights: Array, errors: Array) -> Array:
    r"""How much of a distribution does a model get wrong: :math:`R_{\mathcal P}(h) = \Pr_{\mathcal
    P}(E_h)`.

    >>> risk(np.array([0.5, 0.3, 0.2]), np.array([0, 1, 0.5])).item()
    0.4
    """
    return np.asarray(np.einsum("...i,...i->...", weights, np.asarray(errors, dtype=float)))


def collect(weights: Array, errors: Array) -> Array:
    r"""Collect data: the distribution of a model's failures, :math:`\overline{\mathcal D} =
    \mathcal D|_{h(x) \ne y}`.

    [SAH23]_, section 2; in vectors Eq (14), whose factor has to read :math:`1/(2\mathcal D(\mathcal
    K_t))` (ERRATA).

    >>> collect(np.array([0.5, 0.3, 0.2]), np.array([0, 1, 1])).tolist()
    [0.0, 0.6, 0.4]
    >>> collect(np.array([0.5, 0.5]), np.array([0, 0]))
    Traceback (most recent call last):
    tallystick.errors.InputError: the error set is empty, so there is nothing to collect: this model ends the benchmark
    """
    mass = risk(weights, errors)
    if np.any(mass <= 0):
        raise InputError(
            "the error set is empty, so there is nothing to collect: this model ends the benchmark"
        )
    return np.asarray(weights * errors / mass[..., None])


def mix(distributions: Sequence[Array], weights: Sequence[float] | Array) -> Array:
    """Combine data: the mixture of *distributions* in the proportions *weights* (Eq 15).

    >>> mix([np.array([1.0, 0.0]), np.array([0.0, 1.0])], [0.25, 0.75]).tolist()
    [0.25, 0.75]
    """
    shares = checked_weights(weights, "mixture weights")
    if len(distributions) != shares.size:
        raise InputError(
            f"{len(distributions)} distributions need as many mixture weights, got {shares.size}"
        )
    total = shares[0] * np.asarray(distributions[0], dtype=float)
    for share, distribution in zip(shares[1:], distributions[1:], strict=True):
        total = total + share * distribution
    return np.asarray(total)


def vote(errors: Sequence[Array], weights: Sequence[float] | Array | None = None) -> Array:
    r"""Combine models: where is the weighted majority of these models wrong.

    A tie is broken by a coin, so it counts one half. ([SAH23]_ counts a tie as an error in
    Proposition 3.2 and leaves it open elsewhere.) A model whose own error share is 1/2 casts half a
    vote.

    >>> vote([np.array([1, 1, 0]), np.array([1, 0, 0])]).tolist()
    [1.0, 0.5, 0.0]
    """
    if not len(errors):
        raise InputError("a vote needs at least one model, got none")
    ballots = np.ones(len(errors)) if weights is None else np.asarray(weights, dtype=float)
    if ballots.shape != (len(errors),) or not np.all(ballots >= 0) or not ballots.sum() > 0:
        raise InputError(
            f"a vote of {len(errors)} models needs as many weights, none negative and not all zero,"
            f" got {weights!r}"
        )
    wrong = sum(
        ballot * np.asarray(error, dtype=float)
        for ballot, error in zip(ballots, errors, strict=True)
    )
    return majority_share(np.asarray(wrong), float(ballots.sum()))


def majority_share(wrong: Array, total: float) -> Array:
    """Return 1 where more than half of *total* votes are wrong, 1/2 where it is exactly half, else
    0.
    """
    margin = wrong / total - 0.5
    return np.asarray(np.where(np.abs(margin) < TOLERANCE, 0.5, margin > 0))


def checked_weights(weights: Sequence[float] | Array, name: str) -> Array:
    """Return *weights* as floats that are not negative and sum to one, or say which of them does
    not fit.
    """
    values = np.array(weights, dtype=float)
    if values.ndim != 1 or not values.size:
        raise InputError(
            f"{name} must be a non-empty list of numbers, got an array of shape {values.shape}"
        )
    bad = np.flatnonzero(~(values >= 0) | ~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{name} must be finite and not negative, got {values[bad[0]]} at position {bad[0]}"
        )
    total = float(values.sum())
    if abs(total - 1) > TOLERANCE:
        raise InputError(f"{name} must sum to one, got a sum of {total:.10g}: divide them by it")
    return values
