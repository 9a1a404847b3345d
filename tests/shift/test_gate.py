import pytest

from tallystick.errors import InputError
from tallystick.shift import Run, judge_gate, run
from tallystick.shift.clients import ReplayClient

from .conftest import COLUMNS


@pytest.fixture(scope="module")
def result(items, rows):
    return run(items, ReplayClient("new", columns=COLUMNS), rows, Run(budget=300))


def test_a_gate_rests_on_the_whole_interval(result):
    low, high = result.accuracy_change.interval
    assert judge_gate(result, "accuracy_change", ">=", low - 1e-9).passed is True
    assert judge_gate(result, "accuracy_change", ">=", high + 1e-9).passed is False
    assert judge_gate(result, "accuracy_change", ">=", (low + high) / 2).passed is None
    assert judge_gate(result, "flip_rate", "<=", 1.0).passed is True
    assert judge_gate(result, "flip_rate", "<=", 0.0).passed is False


def test_recall_and_error_can_be_gated(result):
    assert judge_gate(result, "recall_change:four", ">=", 0.0).passed is False
    assert judge_gate(result, "error", "<=", 1.0).passed is True


def test_an_unknown_metric_is_refused(result):
    with pytest.raises(InputError, match="flip_rate"):
        judge_gate(result, "accuracy", ">=", 0.0)
