"""Simulated campaigns with known truth: four data sources, six learners, errors found in part.

A campaign trains a model, lets annotators find some of its errors in a fresh pool, mixes them in
with equal weight per round, and trains again. Whether two more rounds help is known, because the
whole population is. Sources and learners are of kinds that were not used when the forecast was
chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

START, POOL, POPULATION, MOST = 400, 1500, 6000, 250
Points = tuple[np.ndarray, np.ndarray]
Learner = Callable[
    [np.ndarray, np.ndarray, np.ndarray, np.random.Generator], Callable[..., np.ndarray]
]


@dataclass(frozen=True)
class Campaign:
    """The errors of every round on the population, and how it came about.

    Parameters
    ----------
    errors
        Rounds x items of the population.
    learner
        Name of the learner, or ``mixed`` if every round was built by another one.
    built_as
        Name of each round's learner.
    """

    source: str
    learner: str
    errors: np.ndarray
    built_as: tuple[str, ...]


def rings(rng: np.random.Generator) -> Callable[[int], Points]:
    """Two classes in three concentric rings, with two features that say nothing."""
    edges = np.cumsum(rng.uniform(0.7, 1.3, 2))

    def draw(size: int) -> Points:
        x = rng.standard_normal((size, 4)) * 1.2
        return x, np.searchsorted(edges, np.hypot(x[:, 0], x[:, 1])) % 2

    return draw


def formula(rng: np.random.Generator) -> Callable[[int], Points]:
    """Fourteen bits and a random formula of five clauses of three bits, one of them enough."""
    clauses = [(rng.choice(14, 3, replace=False), rng.integers(0, 2, 3)) for _ in range(5)]

    def draw(size: int) -> Points:
        x = rng.integers(0, 2, (size, 14))
        y = np.any([(x[:, bits] == wanted).all(axis=1) for bits, wanted in clauses], axis=0)
        return x + 0.1 * rng.standard_normal(x.shape), y.astype(int)

    return draw


def words(rng: np.random.Generator) -> Callable[[int], Points]:
    """Forty words, counted, in three topics that share most of their vocabulary."""
    rates = rng.gamma(0.6, 1.0, (3, 40)) * 0.35 + rng.gamma(0.6, 1.0, 40)

    def draw(size: int) -> Points:
        y = rng.integers(0, 3, size)
        return np.sqrt(rng.poisson(rates[y] * rng.gamma(3, 0.33, size)[:, None])), y

    return draw


def patches(rng: np.random.Generator) -> Callable[[int], Points]:
    """Twenty-four heaps of unequal size, each with a class of its own, one in four mislabelled."""
    centres, labels = rng.standard_normal((24, 8)) * 1.4, rng.integers(0, 3, 24)
    sizes, doubt = rng.dirichlet(np.full(24, 0.7)), rng.random(24) < 0.25

    def draw(size: int) -> Points:
        heap = rng.choice(24, size, p=sizes)
        y = labels[heap]
        y = np.where(doubt[heap] & (rng.random(size) < 0.15), rng.integers(0, 3, size), y)
        return centres[heap] + 0.8 * rng.standard_normal((size, 8)), y

    return draw


def estimator(make: Callable[[int], Any]) -> Learner:
    """Wrap a classifier of scikit-learn that honours sample weights."""

    def fit(
        x: np.ndarray, y: np.ndarray, weights: np.ndarray, rng: np.random.Generator
    ) -> Callable[..., np.ndarray]:
        model = make(int(rng.integers(2**31)))
        model.fit(x, y, sample_weight=weights * len(weights))
        predict: Callable[..., np.ndarray] = model.predict
        return predict

    return fit


def waves(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> Callable[..., np.ndarray]:
    """Weighted ridge regression on forty random cosines."""
    slopes, offsets = rng.standard_normal((x.shape[1], 40)) * 0.5, rng.uniform(0, 2 * np.pi, 40)
    classes = np.unique(y)

    def features(z: np.ndarray) -> np.ndarray:
        return np.hstack([np.cos(z @ slopes + offsets), z, np.ones((len(z), 1))])

    f = features(x)
    square = (f * weights[:, None]).T @ f + 1e-3 * np.eye(f.shape[1])
    beta = np.linalg.solve(square, (f * weights[:, None]).T @ (y[:, None] == classes))
    return lambda z: classes[np.argmax(features(z) @ beta, axis=1)]


def prototypes(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> Callable[..., np.ndarray]:
    """Nearest of six weighted prototypes per class, drawn from the data."""
    classes, held, owner = np.unique(y), [], []
    for label in classes:
        own = np.flatnonzero(y == label)
        p = weights[own] / weights[own].sum()
        held.append(x[rng.choice(own, min(6, int(np.count_nonzero(p))), replace=False, p=p)])
        owner += [label] * len(held[-1])
    points, names = np.vstack(held), np.array(owner)
    return lambda z: names[np.argmin(((z[:, None] - points) ** 2).sum(-1), axis=1)]


def learners() -> dict[str, Learner]:
    """Return the six learners by name."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import ExtraTreeClassifier

    return {
        "naive Bayes": estimator(lambda _: GaussianNB(var_smoothing=1e-3)),
        "extra tree": estimator(lambda s: ExtraTreeClassifier(max_depth=9, random_state=s)),
        "three trees": estimator(lambda s: ExtraTreesClassifier(3, max_depth=7, random_state=s)),
        "hinge": estimator(lambda s: SGDClassifier(max_iter=4, tol=None, random_state=s)),
        "waves": waves,
        "prototypes": prototypes,
    }


SOURCES = {f.__name__: f for f in (rings, formula, words, patches)}


def campaign(source: str, learner: str, *, rounds: int, rng: np.random.Generator) -> Campaign:
    """Run one campaign; the learner ``mixed`` takes another of the six in every round."""
    draw, all_of = SOURCES[source](rng), learners()
    x, y = draw(POPULATION)
    found = rng.uniform(0.5, 1.0)  # the share of errors in the pool that annotators find
    slips = rng.choice([0.0, 0.05])  # and how often they then mislabel one
    data, errors, names = [draw(START)], [], []
    for _ in range(rounds):
        name = str(rng.choice(list(all_of))) if learner == "mixed" else learner
        names.append(name)
        parts = [np.full(len(part[1]), 1 / len(part[1])) for part in data]
        weights = np.concatenate(parts) / len(parts)
        points = np.vstack([part[0] for part in data]), np.concatenate([part[1] for part in data])
        predict = all_of[name](*points, weights, rng)
        errors.append(predict(x) != y)

        pool_x, pool_y = draw(POOL)
        wrong = np.flatnonzero(predict(pool_x) != pool_y)
        wrong = wrong[rng.random(wrong.size) < found][:MOST]
        if wrong.size:
            labels = pool_y[wrong]
            mislabelled = rng.random(wrong.size) < slips
            labels = np.where(mislabelled, rng.permutation(labels), labels)
            data.append((pool_x[wrong], labels))
    return Campaign(source, learner, np.array(errors), tuple(names))
