"""Every printed vector of the methods page and its corrections."""

from __future__ import annotations

import pytest

from tallystick.results import Unknown
from tallystick.stats.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha

FIRST = "000 001 111 111 000 101 222 221 000 111 010 222"
SECOND = "0000 0001 1111 1101 2222 2212 0000 1111"


@pytest.mark.parametrize(
    ("text", "statistic", "estimate", "low", "high"),
    [
        (FIRST, fleiss_kappa, 0.6571, 0.2574, 0.9964),
        (FIRST, gwet_ac1, 0.6712, 0.3283, 0.9805),
        (FIRST, krippendorff_alpha, 0.6667, 0.2772, 0.9958),
        (SECOND, fleiss_kappa, 0.7100, 0.2398, 1),
        (SECOND, gwet_ac1, 0.7229, 0.3255, 1),
        (SECOND, krippendorff_alpha, 0.7190, 0.2623, 1),
    ],
)
def test_nominal_statistics(read, text, statistic, estimate, low, high):
    found = statistic(read(text))
    assert found.estimate == pytest.approx(estimate, abs=5e-5)
    assert tuple(found.interval) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("text", "estimate", "low"), [(FIRST, 0.7965, 0.4599), (SECOND, 0.8317, 0.4297)]
)
def test_ordinal_alpha_with_the_third_added_item(read, text, estimate, low):
    found = krippendorff_alpha(read(text), metric="ordinal")
    assert found.estimate == pytest.approx(estimate, abs=5e-5)
    assert tuple(found.interval) == pytest.approx((low, 1), abs=5e-5)


@pytest.mark.parametrize(
    ("text", "estimate", "low"),
    [(FIRST, 0.7447, 0.2148), (SECOND, 1, 0.4303), ("00 " * 6 + "11 " * 6, 1, 0.5119)],
)
def test_cohen_of_the_first_two_raters(read, text, estimate, low):
    found = cohen_kappa(read(text)[:, :2])
    assert found.estimate == pytest.approx(estimate, abs=5e-5)
    assert tuple(found.interval) == pytest.approx((low, 1), abs=5e-5)


def test_ten_items_with_one_label(read):
    codes = read("00 " * 10)
    ac1 = gwet_ac1(codes, n_labels=2)
    assert ac1.estimate == 1
    assert tuple(ac1.interval) == pytest.approx((0.6766, 1), abs=5e-5)
    cohen = cohen_kappa(codes, n_labels=2)
    assert isinstance(cohen.estimate, Unknown)
    assert "same one label" in cohen.estimate.reason
    assert tuple(cohen.interval) == (-1, 1)
