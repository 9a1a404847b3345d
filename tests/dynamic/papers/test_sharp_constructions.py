from fractions import Fraction

import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.sharp import sharp_construction, sharp_hierarchical_bound

PRINTED = {
    "flat": {2: "35.1", 3: "58.2", 4: "73.7", 6: "82.8", 8: "83.88"},
    "nested": {2: "23.6", 3: "50.5", 4: "79.4", 6: "104.2", 8: "107.61"},
}
PRINTED_WITH_DISTANCE = {"flat": {6: "51.93", 8: "52.44"}, "nested": {6: "72.76", 8: "74.77"}}


def shown(value, printed):
    return f"{float(value):.{len(printed.split('.')[1])}f}"


@pytest.mark.parametrize("mixing", ["flat", "nested"])
def test_the_constants_84_and_108_are_approached_as_printed(mixing):
    for power, printed in PRINTED[mixing].items():
        found = sharp_construction(Fraction(1, 10**power), mixing=mixing)
        assert max(found.cells.hierarchy_budgets(mixing)) <= found.epsilon
        assert found.distance == 0
        assert shown(found.constant, printed) == printed


@pytest.mark.parametrize("mixing", ["flat", "nested"])
def test_the_constants_52_5_and_75_are_approached_as_printed(mixing):
    for power, printed in PRINTED_WITH_DISTANCE[mixing].items():
        found = sharp_construction(Fraction(1, 10**power), mixing=mixing, distance=Fraction(1, 20))
        assert max(found.cells.hierarchy_budgets(mixing)) <= found.epsilon
        assert 0.05 <= found.distance < 0.0501
        assert shown(found.constant, printed) == printed


@pytest.mark.parametrize("mixing", ["flat", "nested"])
@pytest.mark.parametrize("distance", [None, Fraction(1, 20)])
def test_no_construction_exceeds_the_bound(mixing, distance):
    for power in (2, 3, 5):
        found = sharp_construction(Fraction(1, 10**power), mixing=mixing, distance=distance)
        assert found.risk <= sharp_hierarchical_bound(found.epsilon, found.distance, mixing=mixing)


def test_the_limits_are_reached_from_below():
    for mixing, limit in (("flat", 84), ("nested", 108)):
        far, near = (
            sharp_construction(Fraction(1, 10**k), mixing=mixing).constant for k in (8, 14)
        )
        assert far < near < limit
        assert limit - near < Fraction(1, 100)


@pytest.mark.parametrize(
    ("epsilon", "options"),
    [
        (Fraction(1, 2), {"mixing": "flat"}),
        (Fraction(1, 100), {"mixing": "other"}),
        (Fraction(1, 100), {"mixing": "flat", "distance": Fraction(0)}),
    ],
)
def test_impossible_requests_are_refused(epsilon, options):
    with pytest.raises(InputError):
        sharp_construction(epsilon, **options)
