"""Replicas of the data."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.latent_checks import Replica, simulate
from tallystick.stats.latent_model import fit


@pytest.fixture(scope="module")
def gappy(binary):
    codes, _ = simulate(binary, 400, rng=7)
    codes[:150, 3] = -1
    codes[150:160, 0] = -1
    return fit(codes, np.ones(400), n_classes=2)


def test_a_replica_has_the_same_gaps(gappy) -> None:
    drawn = Replica.of(gappy).draw(1)
    assert drawn.n_items == 400
    for gaps in ([], [3], [0]):
        mark = np.ones(4, dtype=bool)
        mark[gaps] = False
        there, here = (
            v.counts[((v.codes >= 0) == mark).all(axis=1)].sum() for v in (drawn, gappy.votes)
        )
        assert there == here


def test_replicas_have_the_frequencies_of_the_model(binary, frequencies) -> None:
    codes, chance = frequencies(binary)
    counts = np.round(100_000 * chance)
    replica = Replica.of(fit(codes, counts, n_classes=2))
    drawn = replica.draw(3)
    assert len(replica.grids) == 1  # sixteen patterns are drawn at once
    for pattern, count in zip(drawn.codes, drawn.counts, strict=True):
        p = chance[(codes == pattern).all(axis=1)][0]
        assert abs(count - 100_000 * p) < 5 * np.sqrt(100_000 * p)
