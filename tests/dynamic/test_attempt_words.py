import numpy as np
import pytest

from tallystick.verbs.dynamic import evaluate
from tallystick.verbs.dynamic.attempts import FOOLED, NOT_FOOLED, say_fooled


def _log(n=240, **more):
    rng = np.random.default_rng(0)
    who = [f"w{k % 12}" for k in range(n)]
    return {"id": list(range(n)), "round": [1 + k // (n // 2) for k in range(n)], "worker": who} | {
        name: make(rng, n) for name, make in more.items()
    }


@pytest.mark.parametrize("column", ["outcome", "result", "what_happened"])
def test_words_for_fooled_are_read_whatever_their_column_is_called(column):
    words = ["fooled", "not fooled"]
    log = _log(**{column: lambda rng, n: [words[k] for k in rng.integers(0, 2, n)]})
    found = evaluate(log)
    assert found.attempts == 240
    assert found.reading.fooled == column


def test_yes_and_no_alone_say_nothing_of_fooling():
    assert not say_fooled(["yes", "no"])
    assert not say_fooled(["positive", "fooled"])
    assert not FOOLED & NOT_FOOLED


@pytest.mark.parametrize("column", ["label_confirmed", "human_verified", "was_approved"])
def test_a_column_named_like_a_validation_with_yes_and_no_is_used(column):
    log = _log(
        fooled=lambda rng, n: (rng.random(n) < 0.5).tolist(),
        **{column: lambda rng, n: (rng.random(n) < 0.8).tolist()},
    )
    found = evaluate(log)
    assert found.checked
    assert not evaluate(log, ignore=(column,)).checked
    assert found.reading.validated == column


def test_validations_that_cannot_be_told_apart_are_named_and_not_denied():
    yes = lambda rng, n: (rng.random(n) < 0.8).tolist()  # noqa: E731
    found = evaluate(_log(fooled=yes, label_confirmed=yes, text_approved=yes))
    assert not found.checked
    assert "no label was validated" not in found.verdict
    assert any("--validated label_confirmed" in note for note in found.notes)


def test_who_validated_is_no_validation():
    yes = lambda rng, n: (rng.random(n) < 0.8).tolist()  # noqa: E731
    found = evaluate(_log(fooled=yes, verified_by=lambda rng, n: ["yes"] * n))
    assert not found.checked
    assert not any("--validated" in note for note in found.notes)
