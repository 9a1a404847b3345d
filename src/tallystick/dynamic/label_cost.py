r"""Adversarial labels against fresh random ones, at equal label cost.

A campaign with a real learner and finite samples: labels are bought either where the current model
fails (a path), or anywhere. Both predictors are votes of as many models, and both are judged on
fresh items that nobody looked at. The answer is the break-even price :math:`\kappa^*`: how many
uniform labels one validated adversarial item was worth. If yours costs more, buy uniform labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.curves import curves
from tallystick.dynamic.estimators import EstimatorTrainer, fresh_copy, refuse_weight_blind
from tallystick.dynamic.population import Array
from tallystick.errors import InputError
from tallystick.results import Unknown

__all__ = ["Campaign", "LabelCost", "label_cost"]


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """How labels are bought, and what they are compared with.

    Parameters
    ----------
    start, batch, rounds
        Uniform labels at the start, errors collected after each round but the last, models built.
    multiples
        The uniform control is run with so many times the labels that the path bought.
    test_share
        Share of the items kept for the test, drawn anew in each rollout.
    """

    start: int
    batch: int
    rounds: int
    multiples: Sequence[float] = (0.5, 1.0, 2.0, 4.0)
    test_share: float = 0.4

    def __post_init__(self) -> None:
        if not 0 < self.test_share < 1:
            raise InputError(f"test_share must be in (0, 1), got {self.test_share!r}")
        if min(self.start, self.batch) < 1 or self.rounds < 2:
            raise InputError(
                "start and batch must be at least 1 and rounds at least 2, got"
                f" {self.start!r}, {self.batch!r} and {self.rounds!r}"
            )
        if not self.multiples or min(self.multiples) <= 0:
            raise InputError(f"multiples must be positive, got {tuple(self.multiples)!r}")

    @property
    def sizes(self) -> list[int]:
        """Labels of each uniform control; the last one buys exactly as many as the path may."""
        most = self.batch * (self.rounds - 1)
        return [self.start + round(m * most) for m in (*self.multiples, 1.0)]


@dataclass(frozen=True, kw_only=True)
class LabelCost:
    """What adversarial labels were worth.

    Parameters
    ----------
    path_risk, flat_risk, fresh_risk
        Risk on fresh items of: the path's vote; as many models trained on the same labels without
        weights; as many models trained on as many uniform labels. Means over rollouts.
    path_error, flat_error, fresh_error
        Their standard errors.
    path_worth, flat_worth
        Break-even price of an adversarial label, in uniform labels: for the path, and for its data
        used flat.
    search
        Items that had to be looked at for each error found, by random search: the price if
        annotators only browse.
    adversarial_labels
        How many were bought, on average.
    fresh_curve
        Number of uniform labels and risk, the curve that the break-even prices are read from.
    """

    path_risk: float
    path_error: float
    flat_risk: float
    flat_error: float
    fresh_risk: float
    fresh_error: float
    path_worth: float | Unknown
    flat_worth: float | Unknown
    search: float
    adversarial_labels: float
    fresh_curve: tuple[tuple[int, float], ...]


def label_cost(
    estimator: Any,
    features: Any,
    labels: Array,
    *,
    campaign: Campaign,
    rollouts: int,
    rng: Rng,
    jobs: int = 1,
) -> LabelCost:
    """Compare a campaign of adversarial labels with uniform ones.

    Parameters
    ----------
    estimator
        A classifier that honours sample weights.
    campaign
        How many labels are bought and when, and the uniform controls.
    rollouts
        How many times the campaign is run, each time with another split into pool and test.
    jobs
        Processes for joblib.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> campaign = Campaign(start=30, batch=2, rounds=3)
    >>> cost = label_cost(GaussianNB(), X, y, campaign=campaign, rollouts=4, rng=0)
    >>> cost.search > 1
    True
    """
    from joblib import Parallel, delayed

    truth = np.asarray(labels)
    if rollouts < 1:
        raise InputError(f"rollouts must be at least 1, got {rollouts!r}")

    # Every uniform control must fit into the pool, or it could not buy its labels.
    sizes = campaign.sizes
    pool = truth.size - round(campaign.test_share * truth.size)
    if max(sizes) > pool:
        raise InputError(
            f"the largest uniform control needs {max(sizes)} labels, and the pool has {pool}: lower"
            " multiples"
        )

    generator = as_rng(rng)
    refuse_weight_blind(
        EstimatorTrainer(estimator, features, truth), truth, seed=int(generator.integers(2**31))
    )
    work = (
        delayed(_rollout)(estimator, features, truth, campaign, pool, each)
        for each in generator.spawn(rollouts)
    )
    rows = np.array(Parallel(n_jobs=jobs)(work))
    means = rows.mean(axis=0)
    errors = (
        rows.std(axis=0, ddof=1) / rollouts**0.5 if rollouts > 1 else np.full(means.size, np.nan)
    )

    # Columns: path risk, flat risk, labels bought, items looked at, then one per uniform control.
    bought, looked = means[2], means[3]
    order = np.argsort(sizes[:-1])
    curve = tuple((int(sizes[k]), float(means[4 + k])) for k in order)
    return LabelCost(
        path_risk=float(means[0]),
        path_error=float(errors[0]),
        flat_risk=float(means[1]),
        flat_error=float(errors[1]),
        fresh_risk=float(means[-1]),
        fresh_error=float(errors[-1]),
        path_worth=_worth(float(means[0]), curve, campaign.start, float(bought)),
        flat_worth=_worth(float(means[1]), curve, campaign.start, float(bought)),
        search=float(looked / bought) if bought else float("inf"),
        adversarial_labels=float(bought),
        fresh_curve=curve,
    )


def _worth(
    risk: float, curve: Sequence[tuple[int, float]], start: int, bought: float
) -> float | Unknown:
    """How many uniform labels reach this risk, for each adversarial one; unknown beyond the
    curve.
    """
    counts = np.array([n for n, _ in curve], dtype=float)
    falling = np.minimum.accumulate([value for _, value in curve])
    if risk > falling[0]:
        return Unknown(
            f"less than {(counts[0] - start) / bought:.2g}: even {counts[0]:.0f} uniform labels did"
            " better"
        )
    if risk < falling[-1]:
        return Unknown(
            f"more than {(counts[-1] - start) / bought:.2g}: {counts[-1]:.0f} uniform labels did"
            " worse"
        )
    return float((np.interp(-risk, -falling, counts) - start) / bought)


def _rollout(
    estimator: Any,
    features: Any,
    labels: Array,
    campaign: Campaign,
    pool_size: int,
    rng: np.random.Generator,
) -> list[float]:
    """One campaign and its controls: path risk, flat risk, labels bought, items looked at, risk at
    each size.
    """
    order = rng.permutation(labels.size)
    pool, test = order[:pool_size], order[pool_size:]

    def answers(chosen: Array, weights: Array, asked: Array) -> Array:
        model = fresh_copy(estimator, rng)
        model.fit(features[chosen], labels[chosen], sample_weight=weights * chosen.size)
        return np.asarray(model.predict(features[asked]))

    def ensemble_risk(chosen: Array) -> float:
        equal = np.full(chosen.size, 1 / chosen.size)
        calls = np.stack([answers(chosen, equal, test) for _ in range(campaign.rounds)])
        return float(curves(calls[None], labels[test], trained_on_path=False).risk[0, -1])

    # The campaign: each round trains on all parts, equally weighted, and buys errors of its model.
    parts, rest = [pool[: campaign.start]], pool[campaign.start :]
    looked, calls = 0, []
    for t in range(campaign.rounds):
        chosen = np.concatenate(parts)
        weights = np.concatenate(
            [np.full(part.size, 1 / (part.size * len(parts))) for part in parts]
        )
        said = answers(chosen, weights, np.concatenate([test, rest]))
        calls.append(said[: test.size])
        if t + 1 < campaign.rounds:
            wrong = np.flatnonzero(said[test.size :] != labels[rest])[: campaign.batch]
            looked += int(wrong[-1]) + 1 if wrong.size == campaign.batch else rest.size
            if wrong.size:
                parts.append(rest[wrong])
                rest = np.delete(rest, wrong)

    # Its vote on the test, and that of as many models on uniform labels.
    path = float(curves(np.stack(calls)[None], labels[test]).risk[0, -1])
    bought = sum(part.size for part in parts[1:])
    controls = [ensemble_risk(pool[:size]) for size in campaign.sizes]
    return [path, ensemble_risk(np.concatenate(parts)), float(bought), float(looked), *controls]
