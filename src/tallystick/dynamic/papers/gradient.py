r"""Updating the model itself instead of the benchmark: appendix A of [SAH23]_.

The model is a real-valued function; only its margins :math:`m(x) = h(x) f(x)` matter, so a rollout
is one row of margins. It starts at zero everywhere, where the zero-one risk is one half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.learners import Learner
from tallystick.dynamic.population import Array, Population, collect
from tallystick.errors import InputError

__all__ = ["Updates", "exponential_updates", "hinge_slope", "hinge_updates"]


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

    >>> from tallystick.dynamic.learners import RandomErrors
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
    \exp(-(1-2\epsilon)^2 t/2)` (:func:`tallystick.dynamic.exponential_bound`). A model without
    error on :math:`\mathcal D_h` (:math:`\eta = \infty`) is the true classifier, and takes over.

    >>> from tallystick.dynamic.learners import RandomErrors
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
