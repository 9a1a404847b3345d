from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling.label_accuracies import read_twice, reader_error, resolve, too_noisy


@pytest.mark.parametrize("error", [0.0, 0.05, 0.2, 0.5])
def test_the_error_rate_is_found_back_from_its_disagreements(error):
    twice = 10_000
    found = reader_error(round(2 * error * (1 - error) * twice), twice)
    assert found.estimate == pytest.approx(error, abs=1e-4)
    assert error in found.interval
    assert found.interval.guarantee == "under"


def test_readers_who_disagree_more_than_coins_err_on_half():
    assert reader_error(9, 10).estimate == 0.5


def test_a_tenth_but_at_least_twenty_are_read_twice():
    assert read_twice(np.arange(500), planned=400, rng=1).size == 40
    assert read_twice(np.arange(500), planned=50, rng=1).size == 20
    assert read_twice(np.arange(7), planned=50, rng=1).tolist() == list(range(7))
    assert (
        read_twice(np.arange(500), planned=50, rng=1)
        == read_twice(np.arange(500), planned=50, rng=1)
    ).all()


def test_noise_matters_where_the_share_is_lopsided():
    assert too_noisy(0.05, 0.9, 0.05)  # moves the share by 4 points
    assert not too_noisy(0.05, 0.5, 0.05)  # errors both ways cancel
    assert not too_noisy(0.02, 0.9, 0.05)


def test_a_third_reader_decides_and_without_one_the_value_is_a_half():
    nan = np.nan
    first, second = [1, 0, 1, 0, nan, nan], [1, 0, 0, 1, 1, nan]
    found = resolve(first, second, [nan, nan, 1, nan, nan, nan])
    assert found[:5].tolist() == [1.0, 0.0, 1.0, 0.5, 1.0]
    assert np.isnan(found[5])


def test_a_third_reader_repairs_what_the_mean_of_two_does_not():
    rng = np.random.default_rng(1)
    truth = (rng.random(40_000) < 0.9).astype(float)
    reads = [np.where(rng.random(truth.size) < 0.05, 1 - truth, truth) for _ in range(3)]
    two, three = resolve(reads[0], reads[1]), resolve(*reads)
    assert abs(two.mean() - truth.mean()) > 0.03
    assert abs(three.mean() - truth.mean()) < 0.01


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: reader_error(5, 4), "disagreed"),
        (lambda: reader_error(0, 0), "twice"),
        (lambda: too_noisy(0.7, 0.5, 0.05), "error"),
        (lambda: resolve([0.3], [1]), "first"),
        (lambda: resolve([1], [1, 0]), "readers"),
    ],
)
def test_what_can_not_be_used_is_refused(call, match):
    with pytest.raises(InputError, match=match):
        call()
