"""Numbers from other programs: SciPy (binomtest, called here) and statsmodels 0.15
(proportion_confint, noted)."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from tallystick.stats.intervals import clopper_pearson, wilson

COUNTS = [(0, 20), (1, 29), (15, 148), (81, 263), (10, 10), (1, 1), (499, 1000)]

STATSMODELS = {  # (x, n): method "beta", "wilson", alpha = 0.05
    (1, 29): [
        (0.000872646884, 0.177644295489),
        (0.006113214293, 0.171755218793),
    ],
    (15, 148): [
        (0.057844010083, 0.161650490349),
        (0.062386399531, 0.160487241723),
    ],
    (81, 263): [
        (0.252736745585, 0.367621922601),
        (0.255288519878, 0.366209576983),
    ],
}


@pytest.mark.parametrize(("x", "n"), COUNTS)
@pytest.mark.parametrize(("ours", "theirs"), [(clopper_pearson, "exact"), (wilson, "wilson")])
def test_scipy_gives_the_same_ends(ours, theirs, x, n):
    expected = binomtest(x, n).proportion_ci(0.9, method=theirs)
    assert tuple(ours(x, n, alpha=0.1)) == pytest.approx(tuple(expected), abs=1e-11)


@pytest.mark.parametrize("count", STATSMODELS)
def test_statsmodels_gives_the_same_ends(count):
    for method, expected in zip((clopper_pearson, wilson), STATSMODELS[count], strict=True):
        assert tuple(method(*count)) == pytest.approx(expected, abs=1e-11)
