from __future__ import annotations

import pytest

from tallystick.sampling.stopping import reader_error, too_noisy


@pytest.mark.parametrize("error", [0.0, 0.05, 0.2, 0.5])
def test_the_error_rate_is_found_back_from_its_disagreements(error):
    twice = 10_000
    found, interval = reader_error(round(2 * error * (1 - error) * twice), twice)
    assert found == pytest.approx(error, abs=1e-4)
    assert error in interval
    assert interval.guarantee == "under"


def test_readers_who_disagree_more_than_coins_err_on_half():
    assert reader_error(9, 10)[0] == 0.5


def test_noise_matters_where_the_share_is_lopsided():
    assert too_noisy(0.05, 0.9, 0.05)  # moves the share by 4 points
    assert not too_noisy(0.05, 0.5, 0.05)  # errors both ways cancel
    assert not too_noisy(0.02, 0.9, 0.05)
