from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.stats.prediction_powered import prediction_powered_mean


def some(m=40, n=400, seed=1):
    rng = as_rng(seed)
    c = rng.beta(3, 1, size=n)
    y = (rng.random(n) < c).astype(float)
    return y, c, m


@pytest.mark.parametrize("target", ["items", "population"])
def test_the_ends_are_those_of_the_formula(target):
    y, c, m = some()
    r = y[:m] - c[:m]
    centre = r.sum() / (m + 1)
    v_r = (((r - centre) ** 2).sum() + centre**2 + 0.5) / (m * (m + 1))
    mean = (y[:m].sum() + 0.5) / (m + 1)
    v_y = (((y[:m] - mean) ** 2).sum() + (0.5 - mean) ** 2 + 0.5) / (m * (m + 1))
    variance = (1 - m / 400) * v_r + ((m + 1) / 400 * v_y if target == "population" else 0)
    half = t.ppf(0.975, m - 1) * np.sqrt(variance)
    found = prediction_powered_mean(y[:m], c[:m], c, target=target)
    assert found.estimate[0] == pytest.approx(c.mean() + centre)
    assert tuple(found.interval[0]) == pytest.approx(
        (c.mean() + centre - half, c.mean() + centre + half)
    )


def test_few_labels_trust_the_guesses_in_full_and_many_labels_tune():
    y, c, _ = some(n=1000)
    assert prediction_powered_mean(y[:99], c[:99], c).tuning[0] == 1
    slope = np.polyfit(c[:300], y[:300], 1)[0]
    assert prediction_powered_mean(y[:300], c[:300], c).tuning[0] == pytest.approx(
        np.clip(slope, 0, 1)
    )


def test_useless_guesses_are_given_no_weight_when_there_are_labels_enough():
    y, _, _ = some(n=1000)
    flat = np.full(1000, 0.3)
    found = prediction_powered_mean(y[:200], flat[:200], flat)
    assert found.tuning[0] == 0
    assert found.worth[0] == pytest.approx(200)


def test_perfect_guesses_are_worth_many_labels():
    y, _, m = some()
    assert prediction_powered_mean(y[:m], y[:m], y).worth[0] > 5 * m


def test_everything_labelled_leaves_a_point():
    y, c, _ = some(n=50)
    found = prediction_powered_mean(y, c, c)
    assert (
        found.estimate[0]
        == found.interval.low[0]
        == found.interval.high[0]
        == pytest.approx(y.mean())
    )
    assert found.worth[0] == 50


def test_bounds_move_and_scale_the_interval():
    y, c, m = some()
    unit = prediction_powered_mean(y[:m], c[:m], c).interval[0]
    wide = prediction_powered_mean(
        10 * y[:m] - 5, 10 * c[:m] - 5, 10 * c - 5, bounds=(-5, 5)
    ).interval[0]
    assert tuple(wide) == pytest.approx([10 * end - 5 for end in unit])


def test_rows_are_problems_of_their_own():
    y, c, m = some()
    both = prediction_powered_mean(
        np.stack([y[:m], 1 - y[:m]]), np.stack([c[:m], 1 - c[:m]]), np.stack([c, 1 - c])
    )
    assert both.estimate.sum() == pytest.approx(1)
    assert both.interval.low[0] == pytest.approx(1 - both.interval.high[1])


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        (([1.0], [1.0], [1.0, 0.0]), {}, "at least 2"),
        (([1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0]), {}, "at most the 2 rows"),
        (([1.0, 0.0], [1.0], [1.0, 0.0]), {}, "one shape"),
        (([1.0, 2.0], [1.0, 0.0], [1.0, 0.0]), {}, "labels must lie in the bounds"),
        (([1.0, 0.0], [1.0, 0.0], [1.0, 0.0]), {"tuning": 1.5}, r"tuning must be in \[0, 1\]"),
        (([1.0, 0.0], [1.0, 0.0], [1.0, 0.0]), {"target": "all"}, "target must be"),
    ],
)
def test_what_cannot_be_is_refused(args, options, message):
    with pytest.raises(InputError, match=message):
        prediction_powered_mean(*args, **options)
