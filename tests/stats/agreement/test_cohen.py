"""Cohen's kappa, plain and weighted."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tallystick.results import Unknown
from tallystick.stats.agreement import cohen_kappa


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weights", ["nominal", "linear", "quadratic"])
def test_it_equals_scikit_learn_on_random_tables(seed, weights):
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(2, 7))
    codes = rng.integers(0, labels, (int(rng.integers(5, 200)), 2))
    known = cohen_kappa_score(
        *codes.T, labels=range(labels), weights=None if weights == "nominal" else weights
    )
    found = cohen_kappa(codes, n_labels=labels, weights=weights)
    assert found.estimate == pytest.approx(known, abs=1e-12)


def test_raters_without_a_common_item_have_no_kappa():
    found = cohen_kappa([[0, -1], [-1, 1]])
    assert isinstance(found.estimate, Unknown)
    assert isinstance(found.interval, Unknown)
