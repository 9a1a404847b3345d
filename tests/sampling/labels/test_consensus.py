from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sampling.votes import consensus, patterns_of


@given(
    rows=st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=60),
)
def test_patterns_give_the_votes_back(rows):
    votes = np.array(rows)
    found = patterns_of(votes, n_classes=3)
    assert (found.codes[found.place] == votes).all()
    assert found.counts.sum() == len(rows)
    assert np.unique(found.codes, axis=0).shape == found.codes.shape


def test_the_consensus_of_good_judges_is_the_truth():
    rng = np.random.default_rng(1)
    truth = (rng.random(500) < 0.4).astype(int)
    votes = np.where(rng.random((500, 7)) < 0.85, truth[:, None], 1 - truth[:, None])
    patterns = patterns_of(votes, n_classes=2)
    found = consensus(patterns)
    assert found.method == "dawid-skene"
    assert ((found.score > found.middle)[patterns.place] == truth).mean() > 0.97
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(len(patterns.codes)))


def test_judges_of_whom_none_votes_leave_every_class_as_likely():
    found = consensus(patterns_of([[-1, -1]], n_classes=4))
    assert found.posterior.tolist() == [[0.25] * 4]
