"""Two systems on different or partly common items."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_binary import adverse_share, adverse_shares
from tallystick.stats.adverse_systems import CommonItems, difference_of_estimates, mover_reach

DIGITS = 5.01e-5
A = adverse_share([28, 80], [10, 20], [3, 19])
B = adverse_share([58, 50], [16, 14], [4, 11])


@pytest.mark.parametrize(
    ("first", "second", "correlation", "common", "reach"),
    [(0.10, 0.08, -0.5, 20, 0.1428), (0.10, 0.08, 0.3, 20, 0.1281), (0.12, 0.12, -1, 36, 0.2339)],
)
def test_the_vectors_of_the_page_are_reached(first, second, correlation, common, reach):
    found = mover_reach(first, second, shared=common / 40, correlation=correlation)
    assert found == pytest.approx(reach, abs=DIGITS)


def test_different_items_add_the_squared_reaches():
    found = difference_of_estimates(A, B)
    down = np.hypot(A.estimate - A.interval.low, B.interval.high - B.estimate)
    up = np.hypot(A.interval.high - A.estimate, B.estimate - B.interval.low)
    assert found.estimate == pytest.approx(A.estimate - B.estimate)
    assert found.interval.low == pytest.approx(found.estimate - down)
    assert found.interval.high == pytest.approx(found.estimate + up)
    assert found.n_labels == 60


def test_the_other_way_round_is_the_mirror_image():
    one, two = difference_of_estimates(A, B), difference_of_estimates(B, A)
    assert tuple(one.interval) == pytest.approx((-two.interval.high, -two.interval.low))


def test_a_negative_correlation_on_common_items_widens_and_a_positive_one_does_not():
    plain = difference_of_estimates(A, B).interval.width
    opposed = difference_of_estimates(A, B, common=CommonItems(count=20, correlation=-0.8))
    alike = difference_of_estimates(A, B, common=CommonItems(count=20, correlation=0.8))
    assert opposed.interval.width > plain
    assert alike.interval.width == plain


def test_fewer_than_five_common_items_count_as_opposed():
    assert CommonItems.of([1, 0, 1, 0], [1, 0, 1, 0]).correlation == -1
    assert CommonItems.of([1, 0, 1, 0, 1], [1, 0, 1, 0, 1]).correlation == pytest.approx(1)


def test_equal_labels_have_no_correlation():
    assert CommonItems.of([1] * 6, [1, 0, 1, 0, 1, 0]).correlation == 0


def test_systems_right_on_opposite_items_are_covered():
    # Half of 200 items suit A, the other half B, and 36 of 40 labels are common: .87 before the
    # correction.
    rng = np.random.default_rng(11)
    truth = rng.permutation(np.repeat([1, 0], 100))
    held, runs = 0, 600
    for _ in range(runs):
        order = rng.permutation(200)
        at_a, at_b = order[:40], np.concatenate([order[:36], order[40:44]])
        one, two = (adverse_shares([[200]], [[40]], [[right]])[0]
                    for right in (truth[at_a].sum(), 40 - truth[at_b].sum()))  # fmt: skip
        common = CommonItems.of(truth[order[:36]], 1 - truth[order[:36]])
        held += 0.0 in difference_of_estimates(one, two, common=common).interval
    assert held / runs >= 0.949 - 2.33 * np.sqrt(0.05 * 0.95 / runs)


def test_what_cannot_be_compared_is_refused():
    empty = adverse_share([10], [0], [0])
    with pytest.raises(InputError, match="must both have an estimate"):
        difference_of_estimates(A, empty)
    with pytest.raises(InputError, match="one level"):
        difference_of_estimates(A, adverse_share([10], [5], [2], alpha=0.1))
    with pytest.raises(InputError, match="more than the 30 and 30 labels"):
        difference_of_estimates(A, B, common=CommonItems(count=31, correlation=0))
    with pytest.raises(InputError, match="one label per common item"):
        CommonItems.of([1, 0], [1])
