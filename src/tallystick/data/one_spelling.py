"""Labels that are one although they are written in two ways, where the table itself shows it.

``Refund`` beside ``refund`` is a slip of whoever wrote the column. It is read as one label if the
column of true labels never tells two labels apart in that way. Without true labels it is one label
if no column that votes tells them apart: a judge that means two things writes both. Words such as
tie and error mean one thing in any spelling. ``1`` beside ``1.0`` is the work of pandas, which
writes a column of integers with a gap as decimals. It is read as one label if every cell of these
columns is a number. Otherwise the user is asked
(`tallystick.values.check_vocabulary`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tallystick.data.counted_cells import labels_in
from tallystick.data.data import VOTES, Data
from tallystick.io import Table, identifier
from tallystick.tally import Tally
from tallystick.values import is_missing, is_no_answer, spelling
from tallystick.values.words import is_never_true

__all__ = ["one_spelling", "whole_numbers"]

_MOST = 1_000
"""Different cells from which a column holds texts rather than labels."""

_LOOKED = 10_000
"""Rows of a vote that show how its numbers are written."""

# At most 15 digits: beyond 2^53 whole numbers cannot be told apart.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,14})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,14})\.0+")


def one_spelling(data: Data) -> Data:
    """Return *data*, read with one spelling of each label where the table shows that this is safe.

    Numbers beside the same numbers as text stay a question: their types may be told apart on
    purpose. So do numbers that a reader may tell apart, such as the versions 1.1 and 1.10 or the
    names 7 and 007.

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
    >>> one_spelling(read({"a": ["1", "0"], "b": ["1.0", ""]}, judges=("a", "b"))).rules.coerce
    True
    """
    if data.rules.coerce or data.in_engine:
        return data
    texts = _labels(data, data.held)
    # Columns of words alone hold no number, so there is no 1.0 to look for.
    note = _decimals(data, data.held) if texts is None else _capitals(data, texts)
    if note is None:
        return data
    return replace(data, rules=replace(data.rules, coerce=True), notes=(*data.notes, note))


def whole_numbers(texts: Iterable[str]) -> dict[str, str] | None:
    """Return how each text is written without a decimal point, if all are whole numbers.

    >>> whole_numbers(["1.0", "0", "2.0"]), whole_numbers(["1.0", "two"])
    ({'1.0': '1', '0': '0', '2.0': '2'}, None)
    """
    held = {text: text.strip() for text in texts}
    if not all(map(_is_whole, held.values())):
        return None
    return {text: str(spelling(plain)) for text, plain in held.items()}


def _labels(data: Data, held: Table | Tally) -> dict[str, list[str]] | None:
    """Return the labels of the truth and the votes; None if a column holds more than words."""
    truth = data.roles.truth
    columns = data.roles.columns(*VOTES)
    labels: dict[str, list[str]] = {}
    for column in columns if truth is None else (truth, *columns):
        found = _texts(held, column)
        if found is None:
            return None
        labels[column] = found
    return labels


def _capitals(data: Data, labels: Mapping[str, list[str]]) -> str | None:
    """Return the note on texts that differ only by capitals or blanks, None if there are none."""
    truth = data.roles.truth
    columns = data.roles.columns(*VOTES)
    if any(_tells_apart(labels[column]) for column in (columns if truth is None else (truth,))):
        return None

    written: dict[object, set[str]] = {}
    where: dict[str, str] = {}
    for column, spoken in labels.items():
        for label in spoken:
            forms = written.setdefault(spelling(label), {label})
            if label not in forms:
                where[label] = column
            forms.add(label)
    if not where:
        return None
    label, column = next(iter(where.items()))
    other = min(written[spelling(label)] - {label})
    alike = "since no column tells them apart" if truth is None else f"as in the truth {truth!r}"
    return (
        f"column {column!r} says {label!r} and another place says {other!r}: labels that differ"
        f" only by capitals or blanks are read as one, {alike}"
    )


def _decimals(data: Data, held: Table | Tally) -> str | None:
    """Return the note on whole numbers that are written 1 and 1.0, None if there are none."""
    columns = data.roles.columns(*VOTES, "truth")
    if not columns or not all(_is_text(held, name) for name in columns):
        return None

    # Labels may be few and far down; a vote shows in its first rows how its numbers are written.
    truth, silent = data.roles.truth, frozenset(data.rules.missing)
    looked = {name: _written(held, name, silent, whole=name == truth) for name in columns}
    if _two_forms(looked) is None:
        return None
    forms = {name: _written(held, name, silent, whole=True) for name in columns}
    texts = [text for column in forms.values() for text in column]
    if any(len(column) >= _MOST for column in forms.values()):
        return None
    if not all(_is_whole(text) or _is_fraction(text) for text in texts):
        return None

    # One column that tells 1 from 1.0 is two files in one, unless it holds versions: 1, 1.0, 1.1.
    if _mixed(forms) and not all(map(_is_whole, texts)):
        return None
    pair = _two_forms(forms)
    if pair is None:
        return None
    (column, decimal), (other, integer) = pair
    where = "in other rows" if column == other else f"column {other!r} says"
    return (
        f"column {column!r} says {decimal!r} and {where} {integer!r}: every cell is a number, so"
        " the two are read as one label"
    )


def _is_text(held: Table | Tally, column: str) -> bool:
    if isinstance(held, Tally):
        return all(isinstance(label, str) for label in labels_in(held, column))
    return held.kinds.get(column) == "text"


def _different(held: Table | Tally, column: str, rows: str = "rows") -> list[str]:
    """Return the different cells of a column of text, as many as show that they are no labels."""
    if isinstance(held, Tally):
        return [str(label) for label in labels_in(held, column)[:_MOST]]
    name = identifier(column)
    found = held.query(f"select distinct {name} from {rows} where {name} is not null limit {_MOST}")
    return [cell for (cell,) in found]


def _written(held: Table | Tally, column: str, silent: frozenset[str], *, whole: bool) -> list[str]:
    """Return the different cells of a column of text that say something, sorted."""
    rows = "rows" if whole else f"(select {identifier(column)} from rows limit {_LOOKED})"
    texts = sorted(cell.strip() for cell in _different(held, column, rows))
    return [text for text in texts if not is_missing(text, silent) and not is_no_answer(text)]


def _two_forms(
    forms: Mapping[str, Sequence[str]],
) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Return where one whole number is written with a decimal point, and where without."""
    plain = {
        spelling(text): (name, text)
        for name, column in reversed(list(forms.items()))
        for text in column
        if _INTEGER.fullmatch(text)
    }
    for name, column in forms.items():
        for text in column:
            if _DECIMAL.fullmatch(text) and spelling(text) in plain:
                return (name, text), plain[spelling(text)]
    return None


def _mixed(forms: Mapping[str, Sequence[str]]) -> bool:
    """Say whether one column writes one number in two ways."""
    return any(len({spelling(text) for text in column}) < len(column) for column in forms.values())


def _is_whole(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text))


def _is_fraction(text: str) -> bool:
    """Say whether a text is how a program writes a fraction: 1.5, but not 1.50 or 01.5."""
    number = spelling(text)
    return isinstance(number, float) and repr(number) == text


def _tells_apart(labels: list[str]) -> bool:
    """Whether one column writes a label in two ways; tie and Tie mean the same anywhere."""
    plain = [label for label in labels if not is_never_true(label)]
    return len({spelling(label) for label in plain}) < len(plain)


def _texts(held: Table | Tally, column: str) -> list[str] | None:
    """Return the different labels of a column of text; None if it holds something else.

    Text that reads as a number or as true and false is something else too: coercing it would change
    more than capitals.
    """
    if not _is_text(held, column):
        return None
    found = _different(held, column)
    texts = sorted(cell for cell in found if cell.strip())
    if len(found) >= _MOST or any(not isinstance(spelling(text), str) for text in texts):
        return None
    return texts
