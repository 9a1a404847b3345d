"""A scorer for scikit-learn: choose a classifier by what weak labels can promise about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from tallystick.errors import InputError


def bound_scorer(
    weak: Callable[[Any], Any],
    *,
    metric: str = "accuracy",
    end: Literal["low", "middle", "high"] = "low",
    missing: object = -1,
    **options: Any,
) -> Callable[[Any, Any, Any], float]:
    """Return a scorer for ``GridSearchCV`` and ``cross_val_score`` that needs no true label.

    Parameters
    ----------
    weak
        From the rows of X to their weak labels, items x sources; *missing* for no vote.
    metric
        As ``tallystick bound --metric``.
    end
        Which end of the range counts. The lower one is what can be promised.
    missing
        The value of a source that abstains.
    options
        More options of `tallystick.verbs.bound.evaluate`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 400)
    >>> X = np.c_[truth + rng.normal(0, 0.3, 400), rng.random((400, 3)) < 0.85]
    >>> votes = lambda X: np.where(X[:, 1:] > 0, X[:, :1] > 0.5, X[:, :1] <= 0.5).astype(int)
    >>> scorer = bound_scorer(votes)
    >>> 0.3 < scorer(LogisticRegression().fit(X, truth), X, None) <= 1
    True
    """
    if end not in ("low", "middle", "high"):
        raise InputError(f"end must be low, middle or high, got {end!r}")

    def scorer(estimator: Any, X: Any, y: Any = None) -> float:
        from tallystick.verbs import bound

        votes = np.asarray(weak(X))
        if votes.ndim != 2 or len(votes) != len(X):
            raise InputError(
                f"weak must return one row of votes per row of X ({len(X)}), got {votes.shape}"
            )
        table: dict[str, Any] = {"prediction": np.asarray(estimator.predict(X)).tolist()}
        sources = [f"weak_{j + 1}" for j in range(votes.shape[1])]
        for name, column in zip(sources, votes.T, strict=True):
            table[name] = [None if vote == missing else vote for vote in column.tolist()]
        result = bound.evaluate(
            table, prediction="prediction", weak=sources, metrics=(metric,), **options
        )
        # The first row is the range under the first label model, or the interval from labels.
        low, high = float(result.rows()[0]["low"]), float(result.rows()[0]["high"])
        ends = {"low": low, "high": high, "middle": (low + high) / 2}
        return ends[end]

    return scorer
