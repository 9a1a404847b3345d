import pytest

from tallystick import bound
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


def test_without_labels_the_check_is_unknown_with_a_reason():
    rows = {name: ROWS[name] for name in ("a", "b", "c", "h")}
    votes = WeakVotes.of(Tally.of(rows), weak=["a", "b", "c"], predictions=["h"])
    [one, *_] = weak_summary(votes, None)
    assert isinstance(one.checked_accuracy, Unknown)
    assert one.labels == 0


def test_a_weak_label_that_votes_alone_has_no_agreement():
    rows = {"a": [0, 1, None, None], "b": [None, None, 0, 1], "h": [0, 1, 0, 1]}
    votes = WeakVotes.of(Tally.of(rows), weak=["a", "b"], predictions=["h"])
    assert isinstance(weak_summary(votes, None)[0].agreement, Unknown)


def test_the_table_is_in_the_result_its_json_and_its_page():
    from tallystick.verbs.bound.question import spam

    result = bound(spam(300, rng=1), prediction="classifier")
    assert [one["name"] for one in result.to_dict()["weak_labels"]] == list(result.weak)
    assert result.figures()[-1].title == "The weak labels"
    assert {"coverage", "overlap", "conflict", "votes for"} <= set(result.folds()[-1].rows[0])
    assert "accuracy" not in str(result.folds()[-1].rows[0].keys())
