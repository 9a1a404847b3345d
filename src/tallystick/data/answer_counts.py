"""How often each pattern of answers meets each true label: what the cautions are checked on.

Counts are enough to see a truth that is a copy, one that is written the other way round, and one
that stands on the wrong rows. So the same checks serve files, frames of another engine and saved
tallies. What the answer has counted is used again; a table that was not counted is looked at by one
query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.data.data import VOTES, Data
from tallystick.io import Table, identifier
from tallystick.values import Label, as_pass_fail, is_missing, is_no_answer, spelling

__all__ = ["AnswerCounts", "answer_counts"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

_LOOKED = 100_000
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
    >>> from tallystick.data import read
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
        f" where {identifier(names[0])} is not null limit {_LOOKED}) group by all"
    )
    labels, codes = [], []
    for j in range(len(names)):
        encoded = found[f"c{j}"].combine_chunks().dictionary_encode()
        labels.append((*encoded.dictionary.to_pylist(), None))
        place = encoded.indices.fill_null(len(labels[-1]) - 1)
        codes.append(place.to_numpy(zero_copy_only=False).astype(np.int32))
    counts = found["n"].to_numpy().astype(np.int64)
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
