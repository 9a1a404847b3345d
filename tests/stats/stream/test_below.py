"""Accuracy below x, from labelled items."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.stream import Below


def run(test, rights, probabilities=None):
    found = []
    for k, right in enumerate(rights):
        test = test.update(right, probability=None if probabilities is None else probabilities[k])
        found.append(test.evidence)
    return found


def test_printed_evidence():
    found = run(Below(accuracy=0.8), [1, 0, 0, 1, 0])
    assert found == pytest.approx([0.8542, 2.9115, 6.3320, 6.1088, 11.5842], abs=5e-5)
    test = Below(accuracy=0.9, least_probability=0.1)
    found = run(test, [0, 1, 0], [0.2, 0.1, 0.4])
    assert found == pytest.approx([1.5833, 2.2269, 4.1811], abs=5e-5)


def first_alarms(rng, true, x, horizon, n, alpha=0.05):
    """Return after how many labels each of n runs alarms, *horizon* where it does not."""
    rates = [min(part / (x * (1 - x)), 0.9 / (1 - x)) for part in (0.05, 0.1, 0.2)]
    capital, first = np.zeros((n, 3)), np.full(n, horizon)
    for t in range(horizon):
        gain = x - (rng.random(n) < true)
        capital = (capital + 1) * (1 + np.outer(gain, rates))
        reached = (capital.mean(axis=1) >= horizon / alpha) & (first == horizon)
        first[reached] = t
    return first


def test_at_the_boundary_alarms_are_as_rare_as_promised():
    rng = np.random.default_rng(1)
    alarmed = first_alarms(rng, 0.8, 0.8, 1000, 1000) < 1000
    assert alarmed.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_a_low_accuracy_is_found_in_about_the_measured_number_of_labels():
    """The page: below .8, accuracy .60 is found in 66 labels (median)."""
    rng = np.random.default_rng(2)
    assert np.median(first_alarms(rng, 0.6, 0.8, 1000, 400)) == pytest.approx(66, abs=12)


def test_the_class_follows_the_same_rule():
    rng = np.random.default_rng(3)
    rights = rng.random(200) < 0.6
    found = run(Below(accuracy=0.8), rights.tolist())
    first = next(k for k, e in enumerate(found) if e >= 1000 / 0.05)
    assert 30 < first < 130
    test = Below(accuracy=0.8)
    for right in rights[: first + 1]:
        test = test.update(bool(right))
    assert test.alarm(horizon=1000)


def test_a_restart_goes_on():
    test = Below(accuracy=0.9, least_probability=0.2).update(False).update(True, probability=0.5)
    again = Below.from_dict(json.loads(json.dumps(test.to_dict())))
    assert again == test


@pytest.mark.parametrize("accuracy", [0, 1, -0.1, 1.5])
def test_an_accuracy_outside_the_unit_interval_is_refused(accuracy):
    with pytest.raises(InputError, match="accuracy"):
        Below(accuracy=accuracy)


def test_a_probability_below_the_fixed_least_one_is_refused():
    test = Below(accuracy=0.8, least_probability=0.2)
    with pytest.raises(InputError, match="break the bound"):
        test.update(True, probability=0.1)
    with pytest.raises(InputError, match="least_probability"):
        Below(accuracy=0.8, least_probability=0)
    with pytest.raises(InputError, match="horizon"):
        test.alarm(horizon=0)
