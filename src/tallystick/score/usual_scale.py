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
from tallystick.values import (
    Label,
    as_number,
    as_pass_fail,
    is_no_answer,
    without_missing,
)

__all__ = ["scale_note", "spoken_cells", "usual_scales"]

_LOWS = (0.0, 1.0)
_HIGHS = (3.0, 4.0, 5.0, 6.0, 7.0, 10.0, 100.0)

_MOST = 200
"""Different cells from which a column is no column of grades on a usual scale."""

_LOOKED = 1_000


def usual_scales(data: Data) -> tuple[Scale, Scale] | None:
    """Return the scales of the human grades and of the judges, where the grades show them.

    The judges' grades are whole numbers, run from 0 or 1 to a usual greatest grade, and every judge
    comes within one grade of the top. Human grades may be fractions (the mean of two readers). They
    are on the judges' scale where they reach its upper half, and on one of their own where they use
    it as a scale is used. Fractions between 0 and 1, and nothing else, are on the scale from 0 to
    1. Grades are None if they are pass/fail, or do not show a scale.

    Examples
    --------
    >>> from tallystick.data import read
    >>> def seen(gpt, human):
    ...     table = {"system": ["a", "b"] * 5, "gpt": gpt * 2, "human": human + [None] * 5}
    ...     return usual_scales(read(table, judges=("gpt",), truth="human", system="system"))
    >>> seen([1, 2, 3, 4, 5], [4.5, None, None, None, None])
    ((1.0, 5.0), (1.0, 5.0))
    >>> seen([1, 4, 6, 8, 10], [1, 2, 3, 4, 5])
    ((1.0, 5.0), (1.0, 10.0))
    >>> seen([2, 2, 3, 4, 5], [4, 5, 3, 2, 4]) is None  # perhaps from 1 to 5, perhaps from 0
    True
    """
    truth = data.roles.truth
    cells = spoken_cells(data, data.roles.columns("judges", "truth"))
    if _are_shares(data):
        return _beside_shares(data, cells.get(truth or "", ()))
    spoken = {name: _numbers(labels) for name, labels in cells.items() if not _is_vote(labels)}
    judged = {name: values for name, values in spoken.items() if name != truth}
    if not judged or any(values is None for values in spoken.values()):
        return None
    judges = _usual([value for values in judged.values() for value in values or ()])
    # A judge who stops far below the top may use another scale than the others.
    if judges is None or any(max(values or [0.0]) < judges[1] - 1 for values in judged.values()):
        return None
    human = spoken.get(truth) if truth is not None else None
    if not human:
        return judges, judges
    low, high = judges
    if low <= min(human) and (low + high) / 2 < max(human) <= high:
        return judges, judges
    own = _usual(human)
    if own is not None and _is_used(human, own):
        return own, judges
    # Fewer than three different grades that stop early are a few grades, not a scale.
    return (judges, judges) if low <= min(human) and max(human) <= high and _few(human) else None


def _are_shares(data: Data) -> bool:
    """Say whether all judges give numbers between 0 and 1, some of them fractions over a half."""
    found = [_range(data, name) for name in data.roles.judges]
    if not found or any(one is None for one in found):
        return False
    return any(parts and high > 0.5 for one in found if one is not None for _, high, parts in [one])


def _beside_shares(data: Data, human: Sequence[Label]) -> tuple[Scale, Scale] | None:
    """Return the scale of human grades beside judges who go from 0 to 1."""
    unit = (0.0, 1.0)
    truth = data.roles.truth
    if truth is None or _is_vote(human) or _range(data, truth) is not None:
        return unit, unit
    values = _numbers(human)
    own = _usual(values) if values else None
    return (own, unit) if own is not None and values and _is_used(values, own) else None


def _range(data: Data, name: str) -> tuple[float, float, bool] | None:
    """Return least and greatest number of a column and whether it has fractions.

    None if it holds anything but numbers between 0 and 1. The first rows rule out most columns.
    """
    if not isinstance(data.held, Table):
        return None
    kind = data.held.kinds.get(name, "other")
    if kind not in ("text", "integer", "float"):
        return None
    cell = without_missing(name, kind, data.rules.missing)
    number = as_number("cell", kind)
    ends = (0.0, 0.0, False)
    for rows in (f"(select * from rows limit {_LOOKED})", "rows"):
        [(cells, numbers, low, high, parts)] = data.held.query(
            "select count(cell), count(x), min(x), max(x), count(*) filter (x <> floor(x)) from"
            f" (select cell, {number} as x from (select {cell} as cell from {rows}))"
        )
        if cells > numbers or (numbers and not 0 <= low <= high <= 1):
            return None
        ends = (float(low or 0.0), float(high or 0.0), bool(parts))
        if not parts and name in data.roles.judges:
            return ends  # 0 and 1 in the first rows: every row need not be looked at
    return ends


def _usual(grades: Sequence[float]) -> Scale | None:
    """Return the usual scale whose ends these grades reach, if they are whole numbers."""
    low, high = min(grades), max(grades)
    whole = all(value.is_integer() for value in grades)
    return (low, high) if whole and low in _LOWS and high in _HIGHS else None


def _is_used(grades: Sequence[float], scale: Scale) -> bool:
    """Say whether most grades of a scale are given, so that no slip of the pen makes its end."""
    steps = min(scale[1] - scale[0] + 1, 20.0)
    return len(set(grades)) >= 0.6 * steps


def _few(grades: Sequence[float]) -> bool:
    return len(set(grades)) < 3


def scale_note(human: Scale, judges: Scale) -> str:
    """Say what was read off, and how to say otherwise."""
    (low, high), (least, most) = human, judges
    if human != judges:
        return (
            f"human grades go from {low:g} to {high:g} and the judges' from {least:g} to {most:g},"
            " by the grades that they give: the judges' are shown on the human scale. If it is not"
            " so, add --scale LO,HI, and --judge-scale LO,HI where it is another"
        )
    why = "no grade lies outside" if human == (0.0, 1.0) else "the judges use both ends"
    return (
        f"grades go from {low:g} to {high:g}, because {why}. If they can go further, add"
        " --scale LO,HI"
    )


def spoken_cells(data: Data, columns: Sequence[str]) -> Mapping[str, Sequence[Label]]:
    """Return the different cells of each column that say something; none where looking would cost
    a job.
    """
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
