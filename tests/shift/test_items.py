import numpy as np
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
        Items.of(["a", "b"], labels=["a"])


def test_a_blank_truth_is_refused():
    with pytest.raises(InputError, match="blank for item 1"):
        Items.of(["a", " "])


def test_a_matrix_that_does_not_fit_the_labels_is_refused():
    with pytest.raises(InputError, match="must be 2 x 2"):
        Items.of(["a", "b"], matrix=np.eye(3))
    with pytest.raises(InputError, match="transpose"):
        Items.of(["a", "b", "b", "b"], matrix=[[3, 0], [0, 1]])
    with pytest.raises(InputError, match="counts or shares"):
        Items.of(["a", "b"], matrix=[[-1, 0], [0, 1]])


def test_a_matrix_of_counts_is_read_as_shares():
    items = Items.of(["a", "b", "b"], matrix=[[10, 0], [5, 15]])
    assert np.allclose(items.matrix, [[1 / 3, 0, 0], [1 / 6, 0.5, 0]])


def test_a_matrix_beside_other_old_answers_is_refused():
    with pytest.raises(InputError, match="does not agree"):
        Items.of(["a", "b"], old=["a", "b"], matrix=[[0, 0.5], [0, 0.5]])


def test_an_item_without_an_old_answer_is_refused():
    with pytest.raises(InputError, match="2 for 3 items"):
        Items.of(["a", "b", "b"], old=["a", "b"])


def test_confidence_must_be_finite():
    with pytest.raises(InputError, match="confidence"):
        Items.of(["a", "b"], confidence=[0.5, float("nan")])


def test_names_must_differ():
    with pytest.raises(InputError, match="different names"):
        Items.of(["a", "b"], names=["x", "x"])


def test_the_digest_changes_with_any_part():
    first = Items.of(["a", "b"], old=["a", "b"])
    assert first.digest == Items.of(["a", "b"], old=["a", "b"]).digest
    assert first.digest != Items.of(["a", "b"], old=["a", "a"]).digest
    assert first.digest != Items.of(["a", "b"], old=["a", "b"], confidence=[1, 2]).digest
