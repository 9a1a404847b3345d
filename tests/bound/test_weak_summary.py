import pytest

from tallystick.results import Unknown
from tallystick.stats.few_labels import accuracies
from tallystick.table import Tally
from tallystick.verbs.bound.votes import WeakVotes, weak_summary

ROWS = {
    "a": [0, 0, 1, 1, None, None, 0, 1],
    "b": [0, 1, 1, None, 1, None, 0, 1],
    "c": [None, None, 1, None, None, None, None, 1],
    "h": [0, 0, 1, 1, 1, 0, 0, 1],
    "y": [0, 0, 1, None, None, None, 1, 1],
}


@pytest.fixture(scope="module")
def found():
    votes = WeakVotes.of(Tally.of(ROWS), weak=["a", "b", "c"], predictions=["h"], truth="y")
    panel = votes.panel
    found = accuracies(panel.codes, panel.truth, counts=panel.counts)
    return {one.name: one for one in weak_summary(votes, found)}


def test_coverage_overlap_conflict_and_polarity_are_counted(found):
    a = found["a"]
    assert (a.coverage, a.overlap, a.conflict) == (6 / 8, 5 / 8, 1 / 8)
    assert found["c"].coverage == 2 / 8
    assert found["c"].polarity == ("1",)
    assert a.polarity == ("0", "1")


def test_agreement_is_what_the_others_confirm_and_a_rule_of_one_class_has_none(found):
    # a votes on five rows with another: agrees on four of them
    assert found["a"].agreement == pytest.approx(4 / 5)
    assert isinstance(found["c"].agreement, Unknown)
    assert "one class" in found["c"].agreement.reason


def test_labels_check_the_accuracy_with_an_interval(found):
    a = found["a"]
    assert a.labels == 5
    assert a.checked_accuracy in a.checked_interval
    assert found["c"].checked_accuracy == 1
