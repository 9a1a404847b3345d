"""The vectors were computed apart from this code, by the formulas of docs/theory/compare.md."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.clusters import sign_flip_columns

EIGHT = [0.12, 0.05, 0.20, -0.03, 0.08, 0.15, 0.02, 0.10]
SIX = [0.10, 0.20, 0.15, 0.30, 0.12, 0.25]
TEN = [0.3, -0.1, 0.25, 0.4, 0.2, 0.15, 0.35, 0.1, 0.05, 0.3]
SEVEN = [-0.2, 0.05, -0.1, -0.3, -0.15, -0.25, -0.05]


def sign_flip(d, **options):
    """One pair: the only column."""
    found = sign_flip_columns(np.asarray(d, dtype=float)[:, None], **options)
    names = ("difference", "p_value", "low", "high", "holds_below")
    return SimpleNamespace(**{name: float(getattr(found, name)[0]) for name in names})


def rounded(found):
    return [round(x, 4) for x in (found.difference, found.p_value, found.low, found.high)]


@pytest.mark.parametrize(
    ("d", "expected", "margin"),
    [
        (EIGHT, [0.0862, 0.0781, -0.0150, 0.1850], 0.07),
        (SIX, [0.1867, 0.0469, 0.0200, 0.3500], 0.12),
        (TEN, [0.2000, 0.0137, 0.0667, 0.3250], 0.35),
        (SEVEN, [-0.1429, 0.0859, -0.3000, 0.0250], 0.05),
        ([0.3] * 8, [0.3, 0.0078, 0.25, 0.35], 0.6),
        ([0.0] * 8, [0.0, 1.0, -0.05, 0.05], 0.0),
    ],
)
def test_the_printed_vectors_come_out(d, expected, margin):
    found = sign_flip(d, width=1, rng=0)
    # .08625 is printed as .0863 and rounds to .0862 in binary
    assert rounded(found) == pytest.approx(expected, abs=1e-9)
    assert found.holds_below == pytest.approx(margin, abs=1e-12)


def test_without_an_adverse_cluster_it_is_the_plain_sign_flip_test():
    found = sign_flip(EIGHT, width=1, rng=0, adverse=0)
    assert rounded(found)[1:] == [0.0234, 0.0233, 0.1500]


clusters = st.lists(st.integers(-30, 30).map(lambda x: x / 100), min_size=6, max_size=11)


@settings(max_examples=60)
@given(clusters)
def test_p_value_and_interval_agree(d):
    found = sign_flip(d, width=1, rng=0)
    assert (found.p_value <= 0.05) == (found.low > 0 or found.high < 0)
    assert found.low <= found.difference <= found.high


@settings(max_examples=30)
@given(clusters, st.integers(0, 100))
def test_the_p_value_is_the_share_of_flips_at_least_as_extreme(d, shift):
    """(K1) against a plain loop over the signs of the clusters and of the adverse one."""
    found = sign_flip(d, width=1, rng=0)
    lead = abs(sum(d)) - 0.1
    if lead <= 1e-12:
        assert found.p_value == 1
        return
    sign = 1 if sum(d) > 0 else -1
    count = 0
    for code in range(2 ** len(d)):
        signed = sum(x if code >> g & 1 else -x for g, x in enumerate(d))
        count += abs(signed - sign * 0.1) >= lead - 1e-9
    assert found.p_value == pytest.approx(count / 2 ** len(d))


def test_too_few_clusters_have_no_interval():
    with pytest.raises(NotIdentifiable, match="5 clusters"):
        sign_flip(SIX[:5], width=1, rng=0)
    # at 90% five clusters are enough: the smallest p-value is 2/2^5
    assert sign_flip(SIX[:5], width=1, rng=0, alpha=0.1, adverse=0).p_value == 2 / 32


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"width": 0}, "width"),
        ({"width": 1, "alpha": 1}, "alpha"),
        ({"width": 1, "adverse": -1}, "adverse"),
    ],
)
def test_arguments_out_of_range_are_named(options, named):
    with pytest.raises(InputError, match=named):
        sign_flip(SIX, rng=0, **options)
