import pytest

from tallystick.errors import InputError
from tallystick.verbs.bound.question import BoundQuestion, numbers_of


def test_classes_are_split_at_commas_and_one_metric_may_be_text():
    asked = BoundQuestion(classes=("a,b", "c"), metrics="recall", positive="a")
    assert (asked.classes, asked.metrics) == (("a", "b", "c"), ("recall",))


def test_what_cannot_be_asked_is_refused_before_anything_is_read():
    with pytest.raises(InputError, match="risk needs a cost matrix"):
        BoundQuestion(metrics=("risk",))
    with pytest.raises(InputError, match=r"delta must be at most 1"):
        BoundQuestion(delta=2.0)


def test_a_class_balance_reaches_the_fit_as_numbers():
    assert list(BoundQuestion(class_balance=".3,.7").fitting().balance) == [0.3, 0.7]
    with pytest.raises(InputError, match="class_balance"):
        numbers_of("class_balance", ".3,much")


def test_a_file_for_fitting_may_hold_the_truth():
    assert BoundQuestion(fit="train.csv").reading() == {"truth_elsewhere": "train.csv"}
    assert BoundQuestion().reading() == {}
