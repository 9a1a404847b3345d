"""What a gate compares, and what it must not let pass."""

import numpy as np
import pytest

from tallystick.clients import ReplayClient
from tallystick.errors import InputError
from tallystick.sampling import Strata
from tallystick.verbs.shift import Answers, Items, ShiftQuestion, assess, run
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
        ("grade_change", "--scale"),
        ("recall_change:five hundred", "names a label with items"),
    ],
)
def test_a_metric_that_nobody_can_measure_is_refused(items, metric, words):
    with pytest.raises(InputError, match=words):
        check_metric(metric, items, graded=False)


def test_a_gate_that_needs_old_draws_says_so():
    """An API that gives its label, or at times the other one, as it did before."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    old, one, two = (np.abs(truth - (rng.random(2000) < 0.1)) for _ in range(3))
    flips = np.flatnonzero(one != old)[:200]
    again = dict(zip(flips.tolist(), two[flips].tolist(), strict=True))
    answers = Answers.of(np.arange(2000), one, again=again)
    items = Items.of(truth.tolist(), old=old.tolist())
    result = assess(items, Strata(np.zeros(2000, int)), answers)
    found = with_gates(result, read_gates(["flip_rate <= 5%"]))
    assert found.gates[0].passed is None
    assert "--old-draws" in str(found.needed)
