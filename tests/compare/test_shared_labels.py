"""A model that gives none of the true labels is named."""

from tallystick.verbs.compare.asks import no_shared_label


def test_only_models_without_any_true_label_are_named():
    given = {"x": ["si", "nein"], "y": ["no"], "silent": [None]}
    [note] = no_shared_label("gold", ["yes", "no", None], given)
    assert note.startswith("'x' answers 'nein', 'si' and the truth 'gold' holds 'no', 'yes':")


def test_one_and_true_are_two_labels_and_long_lists_are_cut():
    [note] = no_shared_label("gold", [True, False], {"x": list(range(9))})
    assert "answers 0, 1, 2, 3, 4 … and" in note
