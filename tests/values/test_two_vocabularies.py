"""Right and wrong in two ways are found, and words of one vocabulary are not."""

from __future__ import annotations

import pytest

from tallystick.table import Label, two_vocabularies


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["0", "1", "no", "yes", None], ("0 and 1", "no and yes")),
        ([0, 1, "Fail", "PASS"], ("0 and 1", "fail and pass")),
        (["fail", "pass", "no", "yes"], ("fail and pass", "no and yes")),
        ([0, 1, True, False], None),  # spellings of one label, which has its own message
        (["correct", "incorrect", "wrong"], None),  # the two pairs share a word
        (["0", "1", "yes"], None),
        (["y", "n", "0", "1"], None),  # single letters are names of choices
        (["a", "b"], None),
        ([], None),
    ],
)
def test_two_pairs_of_words_are_two_vocabularies(
    labels: list[Label], found: tuple[str, str] | None
) -> None:
    assert two_vocabularies(labels) == found
