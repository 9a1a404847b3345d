import numpy as np
import pytest
from scipy.special import gammaln, xlogy

from tallystick.errors import InputError
from tallystick.stats.two_accuracies import exact_score, tango


@pytest.mark.parametrize("n", [6, 15])
def test_no_difference_is_covered_less_often_than_promised_by_enumeration(n):
    b, c = np.array([(b, c) for b in range(n + 1) for c in range(n + 1 - b)]).T
    # The ends of (c, b) are those of (b, c) turned round: half of the outcomes are enough.
    half = {
        (x, y): tuple(exact_score(x, y, n)) for x in range(n + 1) for y in range(min(x, n - x) + 1)
    }
    ends = np.array(
        [
            half[x, y] if x >= y else (-half[y, x][1], -half[y, x][0])
            for x, y in zip(b.tolist(), c.tolist(), strict=True)
        ]
    )
    ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(n - b - c + 1)
    for d in (0.02, 0.1, 0.25, 0.5, 0.75, 1.0):
        for lean in (0.5, 0.55, 0.7, 0.9, 1.0):
            mass = np.exp(
                ways + xlogy(b, d * lean) + xlogy(c, d * (1 - lean)) + xlogy(n - b - c, 1 - d)
            )
            truth = d * (2 * lean - 1)
            inside = (ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1])
            assert mass[inside].sum() >= 0.95, (d, lean)


@pytest.mark.parametrize(("b", "c", "n"), [(30, 10, 400), (100, 60, 2000), (600, 400, 10_000)])
def test_it_costs_little_over_the_approximate_interval(b, c, n):
    exact, approximate = exact_score(b, c, n), tango(b, c, n)[0]
    assert approximate.width <= exact.width <= 1.08 * approximate.width


def test_it_is_antisymmetric_and_holds_the_estimate():
    found, turned = exact_score(9, 4, 60), exact_score(4, 9, 60)
    assert tuple(found) == pytest.approx((-turned.high, -turned.low))
    assert 5 / 60 in found


def test_blanks_given_to_one_side_move_both_ends_to_that_side():
    for b, c in ((5, 5), (12, 3), (0, 4)):
        less, more = exact_score(b, c, 60), exact_score(b, c + 3, 60)
        assert more.low <= less.low + 1e-9
        assert more.high <= less.high + 1e-9


def test_perfect_records_get_an_interval_and_not_a_point():
    assert exact_score(0, 0, 20).width > 0.1
    assert exact_score(20, 0, 20).high == 1.0
    assert exact_score(20, 0, 20).low < 0.9


def test_counts_beyond_the_items_are_refused():
    with pytest.raises(InputError, match="between 0 and n"):
        exact_score(7, 7, 10)
    with pytest.raises(InputError, match="whole number"):
        exact_score(1.5, 0, 10)


def test_many_items_keep_the_ends_that_compiled_sums_gave():
    found = exact_score(30_000, 29_000, 200_000)
    assert tuple(found) == pytest.approx((0.00258816508576274, 0.007411864078603684), abs=1e-9)
