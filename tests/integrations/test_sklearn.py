"""Choosing a classifier by bounds, inside scikit-learn's own search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.integrations.sklearn import bound_scorer


def drawn(n: int = 600) -> tuple[Any, Any]:
    """A feature that tells the truth, and in the other columns four weak labels."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, n)
    votes = np.where(rng.random((n, 4)) < 0.85, truth[:, None], 1 - truth[:, None])
    votes[rng.random((n, 4)) < 0.2] = -1
    return np.c_[truth + rng.normal(0, 0.2, n), votes], truth


def weak(X: Any) -> Any:
    return X[:, 1:].astype(int)


def test_grid_search_prefers_the_better_classifier_without_any_truth() -> None:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    X, truth = drawn()
    majority = (weak(X) == 1).sum(axis=1) >= (weak(X) == 0).sum(axis=1)
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 3], "class_weight": [{0: 1, 1: 1}, {0: 1e-6, 1: 1.0}]},
        scoring=bound_scorer(weak),
        cv=2,
    ).fit(X, majority.astype(int))
    assert search.best_params_["class_weight"] == {0: 1, 1: 1}
    assert (search.best_estimator_.predict(X) == truth).mean() > 0.9


def test_the_ends_are_ordered_and_a_wrong_one_is_refused() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X, truth = drawn()
    tree = DecisionTreeClassifier(max_depth=2).fit(X, truth)
    low, middle, high = (
        bound_scorer(weak, end=end)(tree, X, None) for end in ("low", "middle", "high")
    )
    assert low < middle < high
    with pytest.raises(InputError, match="low, middle or high"):
        bound_scorer(weak, end="best")  # type: ignore[arg-type]


def test_votes_of_another_length_are_refused() -> None:
    from sklearn.dummy import DummyClassifier

    X, truth = drawn(50)
    model = DummyClassifier().fit(X, truth)
    with pytest.raises(InputError, match="one row of votes per row"):
        bound_scorer(lambda X: weak(X)[:10])(model, X, None)
