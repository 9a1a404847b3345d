"""A truth that is written where it is not known: labels that look blank and that nobody ever
answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tallystick.errors import InputError
from tallystick.io.labels import label_sets
from tallystick.io.roles import Roles
from tallystick.io.table import Table
from tallystick.values.label import Label
from tallystick.values.spelling import spelling
from tallystick.values.words import is_no_answer

__all__ = ["check_truth", "check_truth_labels", "unknown_in"]


def check_truth(table: Table, roles: Roles) -> None:
    """Refuse a truth that is written where it is not known; see `check_truth_labels`.

    Nothing is read unless a truth is named, and of the answers only as many columns as it takes to
    be sure.
    """
    if roles.truth is not None:
        [true] = label_sets(table, roles, [roles.truth]).values()
        others = (name for name in roles.labels if name != roles.truth)
        _check(roles.truth, true, (label_sets(table, roles, [name])[name] for name in others))


def check_truth_labels(truth: str, labels: Mapping[str, Sequence[Label]]) -> None:
    """Refuse a truth that is written where it is not known.

    A label that is written like a blank (NA, ?, unknown, -1) and that nobody ever answers would
    count everybody as wrong there.

    Parameters
    ----------
    truth
        The column of true labels, blank where not known.
    labels
        The distinct labels of every column, the truth among them.

    Examples
    --------
    >>> check_truth_labels("gold", {"gold": ["a", "b", None], "gpt": ["a", "b"]})
    >>> check_truth_labels("gold", {"gold": ["a", "b", "NA"], "gpt": ["a", "b"]})
    Traceback (most recent call last):
    tallystick.errors.InputError: the truth 'gold' holds 'NA', which nobody ever answers: say --missing=NA if the ...
    """
    _check(truth, labels[truth], (values for name, values in labels.items() if name != truth))


def unknown_in(true: Iterable[Label]) -> tuple[Label, ...]:
    """Return the labels of a truth that are written like "not known".

    A -1 is a label like any other beside nothing but 1, and beside other numbers below 0.

    >>> unknown_in(["a", "NA", "Unknown"]), unknown_in([0, 1, -1]), unknown_in([-1, 1]), unknown_in(["-1.0", "0"])
    (('NA', 'Unknown'), (-1,), (), ('-1.0',))
    """
    known = [label for label in true if label is not None]
    meanings = {label: spelling(label) for label in known}
    rest = {meaning for meaning in meanings.values() if meaning != -1}
    code = (
        bool(rest)
        and rest != {1}
        and not any(not isinstance(m, str) and m is not None and m < 0 for m in rest)
    )
    return tuple(
        label
        for label in known
        if is_no_answer(label) or meanings[label] == "unknown" or (code and meanings[label] == -1)
    )


def _check(truth: str, true: Sequence[Label], answers: Iterable[Sequence[Label]]) -> None:
    """Take columns of answers one by one, and no more of them than needed."""
    doubtful = {label: spelling(label) for label in unknown_in(true)}
    columns = iter(answers)
    while doubtful:
        values = next(columns, None)
        if values is None:
            tokens = ",".join(str(label).strip() for label in doubtful)
            raise InputError(
                f"the truth {truth!r} holds {', '.join(map(repr, doubtful))}, which nobody ever"
                f" answers: say --missing={tokens} if the true label is not known there, or write"
                " it as another word if it is a label"
            )
        said = {spelling(value) for value in values if value is not None}
        doubtful = {label: meaning for label, meaning in doubtful.items() if meaning not in said}
