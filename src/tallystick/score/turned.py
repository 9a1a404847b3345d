"""Grades of which less is better: hallucinated yes/no, the number of errors.

Everything in ``score`` calls the higher score better. Such grades are therefore turned round as
they are read, and a note says so: 22 % hallucinated becomes 78 % not hallucinated.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.data import Data
from tallystick.data.direction import lower_word
from tallystick.score.grades import number_of
from tallystick.score.usual_scale import spoken_cells
from tallystick.values import Label

__all__ = ["less_is_better", "turned_note"]

_NEUTRAL = frozenset(("yes", "no", "y", "n", "true", "false", "t", "f"))
"""Words that are good or bad by the name of their column alone. Pass and unsafe speak for
themselves."""


def less_is_better(data: Data) -> str | None:
    """Return the word by which less is better; None where no name says so.

    The name of the human grades decides. Where it is silent, all judges have to agree.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"system": ["a", "b"], "gpt": ["yes", "no"], "hallucinated": ["no", "yes"]}
    >>> less_is_better(read(table, judges=("gpt",), truth="hallucinated", system="system"))
    'hallucinated'
    >>> table["hallucinated"] = ["fail", "pass"]  # a pass is a pass, whatever the column is called
    >>> less_is_better(read(table, judges=("gpt",), truth="hallucinated", system="system")) is None
    True
    """
    truth = data.roles.truth
    named = {name: lower_word(name) for name in data.roles.columns("judges", "truth")}
    word = named.pop(truth, None) if truth is not None else None
    if word is None and named and all(named.values()):
        word = next(iter(named.values()))
    if word is None:
        return None
    cells = spoken_cells(data, data.roles.columns("judges", "truth"))
    return word if all(_is_neutral(labels) for labels in cells.values()) else None


def turned_note(word: str | None) -> str:
    """Say that grades were turned round, by which word, and how to say otherwise."""
    if word is None:
        return "all grades are turned round, because lower is better: a higher score is better here"
    return (
        f"lower is better, by the name {word!r}: all grades are turned round, so that a higher"
        f" score means less {word!r}. Add --higher-is-better if it is not so"
    )


def _is_neutral(labels: Sequence[Label]) -> bool:
    return all(
        isinstance(label, bool)
        or str(label).strip().casefold() in _NEUTRAL
        or number_of(label) is not None
        for label in labels
    )
