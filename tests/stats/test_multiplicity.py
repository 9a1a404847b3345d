from __future__ import annotations

import numpy as np

from tallystick.stats.maxt import holm

# The 15 p-values of Benjamini and Hochberg's kind of example, adjusted by statsmodels 0.14
# (multipletests).
P = [
    0.001,
    0.008,
    0.039,
    0.041,
    0.042,
    0.06,
    0.074,
    0.205,
    0.212,
    0.216,
    0.222,
    0.251,
    0.269,
    0.275,
    0.34,
]
HOLM = [0.015, 0.112, 0.507, 0.507, 0.507, 0.6, 0.666] + [1.0] * 8


def test_the_adjusted_values_equal_statsmodels():
    shuffled = np.random.default_rng(0).permutation(15)
    np.testing.assert_allclose(holm(np.array(P)[shuffled]), np.array(HOLM)[shuffled], atol=1e-9)
