"""The smaller hypergeometric tail, beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.urns import smaller_tail


def test_small_urns_agree_with_scipy_everywhere() -> None:
    stats = pytest.importorskip("scipy.stats")
    for population, good, draws in ((12, 5, 7), (30, 30, 4), (9, 0, 3), (40, 13, 40), (1, 1, 1)):
        first, last = max(0, draws - (population - good)), min(draws, good)
        for seen in range(first, last + 1):
            law = stats.hypergeom(population, good, draws)
            expected = min(law.cdf(seen), law.sf(seen - 1))
            found = smaller_tail(seen, population, good, draws)
            # On the mean both tails are about a half, and either is far from unusual.
            assert found == pytest.approx(expected, rel=1e-9) or min(found, expected) > 0.2


def test_a_large_urn_takes_a_few_terms() -> None:
    stats = pytest.importorskip("scipy.stats")
    found = smaller_tail(49_000, 10_000_000, 5_000_000, 100_000)
    assert found == pytest.approx(stats.hypergeom.cdf(49_000, 10_000_000, 5_000_000, 100_000), 1e-6)
    assert np.isfinite(smaller_tail(0, 10_000_000, 5_000_000, 100_000))
