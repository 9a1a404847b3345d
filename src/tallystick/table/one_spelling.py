"""Labels that are one although they are written in two ways, where the table itself shows it.

``Refund`` beside ``refund`` is a slip of whoever wrote the column, and ``1`` beside ``1.0`` the
work of pandas, which writes a column of integers with a gap as decimals. They are read as one label
if nothing tells them apart on purpose. Otherwise the user is asked
(`tallystick.table.check_vocabulary`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tallystick.table.cells import Label, identifier, is_missing, spelling
from tallystick.table.data import VOTES, Data, labels_in
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import is_never_true, is_no_answer

_MOST = 1_000
"""Different cells from which a column holds texts rather than labels."""

# At most 15 digits: beyond 2^53 whole numbers cannot be told apart.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.0+)?")


def one_spelling(data: Data) -> Data:
    """Return *data*, read with one spelling of each label where the table shows that this is safe.

    Words are one label if the column of true labels never tells two of them apart by capitals or
    blanks; without a truth, if no column does: a judge that means two things writes both. Words
    such as tie and error mean one thing in any spelling. Numbers are one label if every cell is a
    number that nobody tells apart by its digits, as versions 1.1 and 1.10 or the names 7 and 007.
    Numbers beside the same numbers as text stay a question: their types may differ on purpose.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"gold": ["yes", "no"], "gpt": ["Yes", "no"]}
    >>> one_spelling(read(table, truth="gold", judges=("gpt",))).rules.coerce
    True
    >>> one_spelling(read({"a": ["Yes", "no"], "b": ["yes", "no"]}, judges=("a", "b"))).rules.coerce
    True
    >>> one_spelling(read({"a": ["Yes", "yes"], "b": ["yes", "no"]}, judges=("a", "b"))).rules.coerce
    False
    >>> one_spelling(read({"a": ["1", "0"], "b": ["1.0", ""]}, judges=("a", "b"))).rules.coerce
    True
    """
    if data.rules.coerce or data.in_engine:
        return data
    truth, tokens = data.roles.truth, frozenset(data.rules.missing)
    written: dict[str, list[str]] = {}
    for name in data.roles.columns("truth", *VOTES):
        found = _texts(data.held, name)
        if found is None:
            return data
        written[name] = [one for one in found if not (is_missing(one, tokens) or is_no_answer(one))]
    pair = _pair(written)
    if pair is None:
        return data
    texts = [text for column in written.values() for text in column]
    decides = [written[truth]] if truth is not None else list(written.values())
    if not any(_as_number(text) is not None for text in texts):
        if any(_tells_apart([one for one in own if not is_never_true(one)]) for own in decides):
            return data
        why = f"as in the truth {truth!r}" if truth else "since no column tells them apart"
        alike = f"labels that differ only by capitals or blanks are read as one, {why}"
    else:
        # One column that tells 1 from 1.0 is two files in one, unless it holds versions: 1, 1.0, 1.1.
        whole = all(_WHOLE.fullmatch(text.strip()) for text in texts)
        plain = all(_WHOLE.fullmatch(text.strip()) or _is_fraction(text.strip()) for text in texts)
        if not whole and (not plain or any(map(_tells_apart, written.values()))):
            return data
        alike = "every cell is a number, so the two are read as one label"
    (column, label), (other, first) = pair
    where = "in other rows" if column == other else f"column {other!r} says"
    note = f"column {column!r} says {label!r} and {where} {first!r}: {alike}"
    return replace(data, rules=replace(data.rules, coerce=True), notes=(*data.notes, note))


def _texts(held: Table | Tally, column: str) -> list[str] | None:
    """Return the different cells of a column of text, sorted; None for any other column."""
    if isinstance(held, Tally):
        found = labels_in(held, column)
    elif held.kinds.get(column) != "text":
        return None
    else:
        name = identifier(column)
        asked = f"select distinct {name} from rows where {name} is not null limit {_MOST}"
        found = [cell for (cell,) in held.query(asked)]
    texts = [one for one in found if isinstance(one, str)]
    return sorted(texts) if len(texts) == len(found) < _MOST else None


def _pair(written: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Return the first label that is written in two ways, with the columns of both."""
    first: dict[Label, tuple[str, str]] = {}
    for column, texts in written.items():
        for text in texts:
            other = first.setdefault(spelling(text), (column, text))
            if other[1] != text:
                return (column, text), other
    return None


def _tells_apart(texts: Sequence[str]) -> bool:
    """Say whether one column writes one label in two ways."""
    return len({spelling(text) for text in texts}) < len(texts)


def _as_number(text: str) -> float | None:
    found = spelling(text)
    return None if isinstance(found, str) or found is None else float(found)


def _is_fraction(text: str) -> bool:
    """Say whether a text is how a program writes a fraction: 1.5, but not 1.50 or 01.5."""
    number = spelling(text)
    return isinstance(number, float) and repr(number) == text
