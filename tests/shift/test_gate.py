import pytest

from tallystick.clients import ReplayClient
from tallystick.errors import InputError
from tallystick.verbs.shift import Run, metric_interval, run

from .conftest import COLUMNS


@pytest.fixture(scope="module")
def result(items, rows):
    return run(items, ReplayClient("new", columns=COLUMNS), rows, Run(budget=300))


def test_every_metric_has_its_interval(result):
    assert metric_interval(result, "accuracy_change") == result.accuracy_change.interval
    assert metric_interval(result, "answers_differ") == result.flip_rate.interval
    # A gate on flips is about change beyond noise; recorded answers cannot show any.
    assert metric_interval(result, "flip_rate") == result.noise.beyond.interval
    assert metric_interval(result, "flip_rate").low == 0
    assert metric_interval(result, "flip_rate").high == result.flip_rate.interval.high
    assert metric_interval(result, "recall_change:four") == result.recall_change["four"].interval
    assert metric_interval(result, "error").high == result.error["bound"]


def test_an_unknown_metric_is_refused(result):
    with pytest.raises(InputError, match="flip_rate"):
        metric_interval(result, "accuracy")
