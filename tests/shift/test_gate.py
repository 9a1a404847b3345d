"""What a gate compares, and what it must not let pass."""

import numpy as np
import pytest

from tallystick.clients import ReplayClient
from tallystick.errors import InputError
from tallystick.verbs.shift import Answers, Items, Past, ShiftQuestion, assess, run
from tallystick.verbs.shift.answer import metric_estimate, with_gates
from tallystick.verbs.shift.question import check_metric, read_gates

from .conftest import COLUMNS


@pytest.fixture(scope="module")
def result(items, rows):
    return run(items, ReplayClient("new", columns=COLUMNS), rows, ShiftQuestion(budget=300))


def interval(result, metric):
    return metric_estimate(result, metric).interval


def test_every_metric_has_its_interval(result):
    assert interval(result, "accuracy_change") == result.accuracy_change.interval
    assert interval(result, "answers_differ") == result.flip_rate.interval
    # A gate on flips is about change beyond noise; recorded answers cannot show any.
    assert interval(result, "flip_rate").low == 0
    assert interval(result, "flip_rate").high == result.flip_rate.interval.high
    assert interval(result, "recall_change:four") == result.recall_change["four"].interval
    assert interval(result, "stability").high == 1


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("accuracy", "on one of flip_rate"),
        ("recall_change", "recall_change:LABEL, got"),
        ("grade_change", "--grades"),
        ("recall_change:five hundred", "names a label with items"),
    ],
)
def test_a_metric_that_nobody_can_measure_is_refused(items, metric, words):
    with pytest.raises(InputError, match=words):
        check_metric(metric, items, graded=False)


def noisy(old_noise, new_noise, *, draws, seed=0, n=2000):
    """An API that gives its label, or the other one by chance."""
    from tallystick.sampling import Strata

    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    before = np.abs(truth[:, None] - (rng.random((n, draws)) < old_noise))
    one, two = (np.abs(truth - (rng.random(n) < new_noise)) for _ in range(2))
    items = Items.of(truth.tolist(), old=before[:, 0].tolist())
    flips = np.flatnonzero(one != before[:, 0])[:200]
    again = dict(zip(flips.tolist(), two[flips].tolist(), strict=True))
    past = Past(draws=before if draws > 1 else None)
    strata = Strata(np.zeros(n, int))
    return assess(items, strata, Answers.of(np.arange(n), one, again=again), past=past)


def outcome(result, text):
    return with_gates(result, read_gates([text])).gates[0].passed


def test_a_flaky_api_passes_neither_gate_and_an_unchanged_noisy_one_passes_with_old_draws():
    flaky = noisy(0.0, 0.1, draws=1)
    assert outcome(flaky, "flip_rate <= 5%") is None
    assert outcome(flaky, "stability >= 95%") is False
    known = noisy(0.0, 0.1, draws=2)
    assert outcome(known, "flip_rate <= 5%") is False
    assert known.noise.less_stable
    assert outcome(noisy(0.1, 0.1, draws=2), "flip_rate <= 5%") is True
    assert outcome(noisy(0.1, 0.1, draws=1), "flip_rate <= 5%") is None


def test_a_gate_that_needs_old_draws_says_so():
    found = with_gates(noisy(0.1, 0.1, draws=1), read_gates(["flip_rate <= 5%"]))
    assert "--old-draws" in str(found.needed)
