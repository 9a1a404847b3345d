import pytest

from tallystick.errors import InputError
from tallystick.verbs.shift import Items


def test_labels_are_coded_in_order_and_the_rest_is_other():
    items = Items.of(["b", "a", "b"], old=["a", None, "?"], other=["?"])
    assert items.labels == ("a", "b")
    assert items.old.tolist() == [0, 2, 2]
    assert items.columns[-1] == "(other)"


def test_a_label_outside_the_set_is_refused_with_its_item():
    with pytest.raises(InputError, match=r"old of item 1 is 'c'.*other"):
        Items.of(["a", "b"], old=["a", "c"])
    with pytest.raises(InputError, match=r"truth of item 1 is 'b'"):
        Items.of(["a", "b"], old=["a", "a"], labels=["a"])


def test_an_item_without_an_old_answer_is_refused():
    with pytest.raises(InputError, match="2 for 3 items"):
        Items.of(["a", "b", "b"], old=["a", "b"])


def test_confidence_must_be_finite():
    with pytest.raises(InputError, match="confidence"):
        Items.of(["a", "b"], old=["a", "b"], confidence=[0.5, float("nan")])


def test_names_must_differ():
    with pytest.raises(InputError, match="different names"):
        Items.of(["a", "b"], old=["a", "b"], names=["x", "x"])


def test_a_blank_truth_is_not_known_and_the_matrix_is_of_the_others():
    items = Items.of(["a", " ", "b"], old=["a", "b", "a"])
    assert items.known.tolist() == [True, False, True]
    assert items.matrix.tolist() == [[0.5, 0, 0], [0.5, 0, 0]]
    with pytest.raises(InputError, match="truth is empty"):
        Items.of([None, ""], old=["a", "b"])
