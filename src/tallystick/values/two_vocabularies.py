"""Right and wrong written in two ways, such as 0, 1, no and yes: mostly two files put together."""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.values.label import Label
from tallystick.values.spelling import spelling
from tallystick.values.words import PASS_FAIL, as_word

__all__ = ["two_vocabularies"]


def two_vocabularies(labels: Iterable[Label]) -> tuple[str, str] | None:
    """Return two pairs of words for right and wrong that are both among *labels*, None for one.

    >>> two_vocabularies([0, 1, "no", "yes"])
    ('0 and 1', 'no and yes')
    >>> two_vocabularies(["no", "yes", "maybe"]) is None
    True
    """
    spoken = [label for label in labels if label is not None]
    words = {as_word(label) for label in spoken}
    # Single letters are names of choices too.
    pairs = [
        set(family)
        for family in PASS_FAIL
        if len(family) == 2 and words >= family.keys() and all(len(word) > 1 for word in family)
    ]
    if not {"true", "false"} & words and {0, 1} <= {spelling(label) for label in spoken}:
        pairs.insert(0, {"0", "1"})
    for pair in pairs[1:]:
        if not pair & pairs[0]:
            return " and ".join(sorted(pairs[0])), " and ".join(sorted(pair))
    return None
