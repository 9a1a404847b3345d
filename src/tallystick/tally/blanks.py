"""Labels that look like no answer at all: they are counted as written, and the user is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallystick.values.words import is_no_answer

if TYPE_CHECKING:
    from tallystick.tally.tally import Tally

__all__ = ["blank_looking"]


def blank_looking(tally: Tally) -> tuple[str, ...]:
    """Return one sentence for each label that is written like a missing one but was counted as an
    answer.

    Examples
    --------
    >>> from tallystick import Tally
    >>> blank_looking(Tally.of({"ann": ["spam", "NaN", "ham"], "bob": ["spam", "ham", "NaN"]}))
    ("'NaN' is counted as an answer (ann, bob): if it means that there is none, say --missing NaN",)
    """
    found: dict[str, list[str]] = {}
    for column, labels in tally.labels.items():
        for label in labels:
            if isinstance(label, str) and is_no_answer(label):
                found.setdefault(label, []).append(column)
    return tuple(
        f"{label!r} is counted as an answer ({', '.join(columns)}): if it means that there is none,"
        f" say --missing {label.strip()}"
        for label, columns in found.items()
    )
