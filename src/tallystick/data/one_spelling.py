"""Labels that differ only by capitals or blanks, where the table shows that they are one.

``Refund`` beside ``refund`` is a slip of whoever wrote the column. It is read as one label if the
column of true labels never tells two labels apart in that way. Without true labels it is one label
if no column that votes tells them apart: a judge that means two things writes both. Words such as
tie and error mean one thing in any spelling. Otherwise the user is asked
(`tallystick.values.check_vocabulary`).
"""

from __future__ import annotations

from dataclasses import replace

from tallystick.data.data import VOTES, Data
from tallystick.io import Table, identifier
from tallystick.values import spelling
from tallystick.values.words import is_never_true

__all__ = ["one_spelling"]

_MOST = 1_000
"""Different cells from which a column holds texts rather than labels."""


def one_spelling(data: Data) -> Data:
    """Return *data*, read with one spelling of each label where the table shows that this is safe.

    Numbers beside the same numbers as text stay a question: their types may be told apart on
    purpose.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"gold": ["yes", "no"], "gpt": ["Yes", "no"]}
    >>> one_spelling(read(table, truth="gold", judges=("gpt",))).rules.coerce
    True
    >>> one_spelling(read({"a": ["Yes", "no"], "b": ["yes", "no"]}, judges=("a", "b"))).rules.coerce
    True
    >>> one_spelling(read({"a": ["Yes", "yes"], "b": ["yes", "no"]}, judges=("a", "b"))).rules.coerce
    False
    """
    truth, held = data.roles.truth, data.held
    if data.rules.coerce or not isinstance(held, Table):
        return data
    columns = data.roles.columns(*VOTES)
    labels: dict[str, list[str]] = {}
    for column in columns if truth is None else (truth, *columns):
        found = _texts(held, column)
        if found is None:
            return data
        labels[column] = found
    if any(_tells_apart(labels[column]) for column in (columns if truth is None else (truth,))):
        return data

    written: dict[object, set[str]] = {}
    where: dict[str, str] = {}
    for column, spoken in labels.items():
        for label in spoken:
            forms = written.setdefault(spelling(label), {label})
            if label not in forms:
                where[label] = column
            forms.add(label)
    if not where:
        return data
    label, column = next(iter(where.items()))
    other = min(written[spelling(label)] - {label})
    alike = "since no column tells them apart" if truth is None else f"as in the truth {truth!r}"
    note = (
        f"column {column!r} says {label!r} and another place says {other!r}: labels that differ"
        f" only by capitals or blanks are read as one, {alike}"
    )
    return replace(data, rules=replace(data.rules, coerce=True), notes=(*data.notes, note))


def _tells_apart(labels: list[str]) -> bool:
    """Whether one column writes a label in two ways; tie and Tie mean the same anywhere."""
    plain = [label for label in labels if not is_never_true(label)]
    return len({spelling(label) for label in plain}) < len(plain)


def _texts(table: Table, column: str) -> list[str] | None:
    """Return the different labels of a column of text; None if it holds something else.

    Text that reads as a number or as true and false is something else too: coercing it would change
    more than capitals.
    """
    if table.kinds.get(column) != "text":
        return None
    name = identifier(column)
    found = table.query(f"select distinct {name} from rows where {name} is not null limit {_MOST}")
    texts = sorted(cell for (cell,) in found if cell.strip())
    if len(found) >= _MOST or any(not isinstance(spelling(text), str) for text in texts):
        return None
    return texts
