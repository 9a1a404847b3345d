"""From where to where grades go, where the grades themselves show it.

Grades from 1 to 5 are the commonest that people bring, and asking everybody for ``--scale 1,5``
answers nothing. A scale is read off only where it is one of the usual ones and the judges reach
both of its ends; otherwise the user is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallystick.data import Data
from tallystick.io import Table, identifier
from tallystick.score.grades import Scale, number_of
from tallystick.tally import Tally
from tallystick.values import Label, as_pass_fail, is_no_answer

__all__ = ["scale_note", "usual_scale"]

_LOWS = (0.0, 1.0)
_HIGHS = (3.0, 4.0, 5.0, 6.0, 7.0, 10.0, 100.0)

_MOST = 200
"""Different cells from which a column is no column of grades on a usual scale."""


def usual_scale(data: Data) -> Scale | None:
    """Return the scale that the grades show; None if they are pass/fail, or do not show one.

    The judges' grades are whole numbers, run from 0 or 1 to a usual greatest grade, and every judge
    comes within one grade of the top. Human grades may be fractions (the mean of two readers), and
    have to lie on the scale.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"system": ["a", "b"] * 5, "gpt": [1, 2, 3, 4, 5] * 2, "human": [4.5] + [None] * 9}
    >>> usual_scale(read(table, judges=("gpt",), truth="human", system="system"))
    (1.0, 5.0)
    >>> table["gpt"] = [2, 2, 3, 4, 5] * 2  # perhaps from 1 to 5, perhaps from 0
    >>> usual_scale(read(table, judges=("gpt",), truth="human", system="system")) is None
    True
    """
    truth = data.roles.truth
    cells = _cells(data, data.roles.columns("judges", "truth"))
    spoken = {name: _numbers(labels) for name, labels in cells.items() if not _is_vote(labels)}
    judged = {name: values for name, values in spoken.items() if name != truth}
    if not judged or any(values is None for values in spoken.values()):
        return None
    grades = [value for values in judged.values() for value in values or ()]
    low, high = min(grades), max(grades)
    whole = all(value.is_integer() for value in grades)
    if not whole or low not in _LOWS or high not in _HIGHS:
        return None
    # A judge who stops far below the top may use another scale than the others.
    if any(max(values or [0.0]) < high - 1 for values in judged.values()):
        return None
    human = spoken.get(truth) if truth is not None else None
    if human and not (low <= min(human) and max(human) <= high):
        return None
    return low, high


def scale_note(scale: Scale) -> str:
    """Say what was read off, and how to say otherwise."""
    low, high = scale
    return (
        f"grades go from {low:g} to {high:g}, because the judges use both ends. If they can go"
        " further, add --scale LO,HI"
    )


def _cells(data: Data, columns: Sequence[str]) -> Mapping[str, Sequence[Label]]:
    """Return the different cells of each column; none where looking would cost a job."""
    tokens = frozenset(data.rules.missing)
    if isinstance(data.held, Tally):
        found: dict[str, Sequence[Label]] = {name: data.held.labels[name] for name in columns}
    elif isinstance(data.held, Table):
        query = "select distinct {0} from rows limit {1}"
        found = {
            name: [cell for (cell,) in data.held.query(query.format(identifier(name), _MOST))]
            for name in columns
        }
    else:
        return {}
    return {
        name: [one for one in labels if not _is_silent(one) and str(one) not in tokens]
        for name, labels in found.items()
    }


def _is_silent(label: Label) -> bool:
    return label is None or not str(label).strip() or label == "(unread)" or is_no_answer(label)


def _is_vote(labels: Sequence[Label]) -> bool:
    """Say whether cells are pass/fail, 0/1, or blank."""
    if not labels or as_pass_fail(labels) is not None:
        return True
    values = _numbers(labels)
    return values is not None and set(values) <= {0.0, 1.0}


def _numbers(labels: Sequence[Label]) -> list[float] | None:
    """Return cells as numbers; None if one of them is none, or they are too many."""
    values = [number_of(label) for label in labels]
    if len(values) >= _MOST:
        return None
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None
