"""A model that gives none of the true labels is named."""

from tallystick.verbs.compare.asks import no_shared_label


def test_only_models_without_any_true_label_are_named():
    given = {"x": ["si", "nein"], "y": ["no"], "silent": [None]}
    [note] = no_shared_label("gold", ["yes", "no", None], given)
    assert note.startswith("'x' answers 'nein', 'si' and the truth 'gold' holds 'no', 'yes':")
