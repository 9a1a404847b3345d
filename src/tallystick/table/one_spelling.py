"""Labels that are one although they are written in two ways, where the table itself shows it.

``Refund`` beside ``refund`` is a slip of whoever wrote the column. It is read as one label if the
column of true labels never tells two labels apart in that way. Without true labels it is one label
if no column that votes tells them apart: a judge that means two things writes both. Words such as
tie and error mean one thing in any spelling. ``1`` beside ``1.0`` is the work of pandas, which
writes a column of integers with a gap as decimals. It is read as one label if every cell of these
columns is a number. Otherwise the user is asked
(`tallystick.table.check_vocabulary`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.table.cells import Label, identifier, is_missing, spelling
from tallystick.table.data import VOTES, Data, labels_in
from tallystick.table.engine import as_numpy, codes_of
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import as_pass_fail, is_never_true, is_no_answer

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


# How often each pattern of answers meets each true label: what the cautions are checked on.
#
# Counts are enough to see a truth that is a copy, one that is written the other way round, and one
# that stands on the wrong rows. So the same checks serve files, frames of another engine and saved
# tallies. What the answer has counted is used again; a table that was not counted is looked at by
# one query.


Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

_ANSWER_COUNTS_LOOKED = 100_000
"""Labelled rows of a table that are looked at, where the answer did not count them."""

_MOST_COLUMNS = 200
_MOST_CELLS = 20_000_000
"""Cells of all patterns above which they would take more memory than a check is worth."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerCounts:
    """Patterns of labelled rows, with their counts.

    Parameters
    ----------
    truth, columns
        The column of true labels, and the columns of answers.
    codes
        Patterns x (truth, columns): equal codes mean the same label; -1 for no answer.
    counts
        How many rows show each pattern.
    """

    truth: str
    columns: tuple[str, ...]
    codes: Codes
    counts: Ints

    @property
    def labels(self) -> int:
        """How many different true labels there are."""
        return len(np.unique(self.codes[:, 0]))

    def agreements(self) -> dict[str, tuple[int, int]]:
        """Return for each column the rows that have both, and those on which they are equal."""
        votes = self.codes[:, 1:]
        rows = self.counts @ (votes >= 0)
        same = self.counts @ (votes == self.codes[:, :1])
        pairs = zip(self.columns, rows.tolist(), same.tolist(), strict=True)
        return {name: (int(n), int(equal)) for name, n, equal in pairs}

    def rows(self, most: int) -> Codes:
        """Return the codes row by row; of more than *most* rows, as many drawn at random."""
        counts = self.counts
        if counts.sum() > most:
            counts = np.random.default_rng(0).multivariate_hypergeometric(
                counts, most, method="marginals"
            )
        return np.repeat(self.codes, counts, axis=0)


def answer_counts(data: Data) -> AnswerCounts | None:
    """Return the patterns of labelled rows, None where no truth meets an answer.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"gold": ["pass", "fail", None], "gpt": [1, 0, 1], "claude": [1, 1, 1]}
    >>> answer_counts(read(table, truth="gold", judges=("gpt", "claude"))).agreements()
    {'gpt': (2, 2), 'claude': (2, 1)}
    """
    truth = data.roles.truth
    columns = tuple(name for name in data.roles.columns(*VOTES) if name != truth)[:_MOST_COLUMNS]
    if truth is None or not columns:
        return None
    counted = data.counted(truth, *columns)
    if counted is not None and counted.patterns * len(columns) <= _MOST_CELLS:
        held = counted.marginal([truth, *columns])
        labels = [held.labels[name] for name in held.names]
        codes, counts = held.codes, np.asarray(held.counts, dtype=np.int64)
    elif isinstance(data.held, Table) and truth in data.held.columns:
        labels, codes, counts = _looked_at(data.held, (truth, *columns))
    else:
        return None

    meant = _meanings(labels, frozenset(data.rules.missing))
    codes = np.stack([meant[j][codes[:, j]] for j in range(codes.shape[1])], axis=1)
    known = codes[:, 0] >= 0
    if not known.any():
        return None
    return AnswerCounts(truth=truth, columns=columns, codes=codes[known], counts=counts[known])


def _looked_at(table: Table, names: Sequence[str]) -> tuple[list[tuple[Label, ...]], Codes, Ints]:
    """Group the first labelled rows of a table, by one query."""
    cells = ", ".join(f"{identifier(name)} as c{j}" for j, name in enumerate(names))
    found = table.arrow(
        f"select *, count(*) as n from (select {cells} from rows"
        f" where {identifier(names[0])} is not null limit {_ANSWER_COUNTS_LOOKED}) group by all"
    )
    labels, codes = [], []
    for j in range(len(names)):
        encoded = found[f"c{j}"].combine_chunks().dictionary_encode()
        labels.append((*encoded.dictionary.to_pylist(), None))
        codes.append(codes_of(encoded, missing=len(labels[-1]) - 1).astype(np.int32))
    counts = as_numpy(found["n"]).astype(np.int64)
    return labels, np.stack(codes, axis=1), counts


def _meanings(labels: Sequence[Sequence[Label]], missing: frozenset[str]) -> list[Codes]:
    """Return for each column the code of each of its labels, such that labels which read alike have
    one code.

    A column that shares no label with the truth, while both say right and wrong (pass and fail, 1
    and 0), is read in the words of the truth.
    """
    words = [
        [None if is_missing(one, missing) or is_no_answer(one) else spelling(one) for one in column]
        for column in labels
    ]
    true: set[Label] = {word for word in words[0] if word is not None}
    by_value = {value: word for word, value in (_right_wrong(true) or {}).items()}
    place: dict[Label, int] = {}
    made = []
    for j, column in enumerate(words):
        own: set[Label] = {word for word in column if word is not None}
        values = _right_wrong(own) if j and not own & true and by_value else None
        read = [
            word if word is None or values is None else by_value.get(values[word], word)
            for word in column
        ]
        codes = [-1 if word is None else place.setdefault(word, len(place)) for word in read]
        made.append(np.array(codes, dtype=np.int32))
    return made


def _right_wrong(words: set[Label]) -> Mapping[Label, float] | None:
    """Return 1 for the label that means right and 0 for the one that means wrong, if two do."""
    if words and words <= {0, 1}:
        return {word: float(word) for word in words if isinstance(word, int)}
    found = as_pass_fail(words) if words else None
    return found if found is not None and set(found.values()) <= {0.0, 1.0} else None
