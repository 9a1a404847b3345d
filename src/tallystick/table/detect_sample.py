"""How far columns say the same, beyond what their frequencies alone would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tallystick.table.cells import MOST_LABELS, Label, identifier, spelling, without_missing
from tallystick.table.engine import codes_of
from tallystick.table.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]


def kappas(codes: Codes) -> Floats:
    r"""Return Cohen's kappa of every pair of columns, on the rows that both fill; NaN where nothing
    can be said.

    With :math:`f_i(l)` the frequency of label :math:`l` in column :math:`i` on those rows, chance
    is :math:`c = \sum_l f_i(l) f_j(l)` and kappa is :math:`(a - c) / (1 - c)` for agreement
    :math:`a`.

    Examples
    --------
    >>> kappas(np.array([[0, 0], [1, 1], [0, 0], [1, -1]], np.int32))[0, 1]
    np.float64(1.0)
    """
    filled = (codes >= 0).astype(np.float32)
    common = filled.T @ filled
    same, chance = np.zeros_like(common), np.zeros_like(common)
    for label in range(int(codes.max(initial=-1)) + 1):
        says = (codes == label).astype(np.float32)
        same += says.T @ says
        here = says.T @ filled
        chance += here * here.T
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement, chance = same / common, chance / (common * common)
        return np.asarray(
            np.where(1 - chance > 1e-6, (agreement - chance) / (1 - chance), np.nan), dtype=float
        )


def beyond_chance(truth: Codes, votes: Codes) -> tuple[Floats, Floats]:
    r"""Return how often each column says the truth, and by how many standard errors that is more
    than by chance.

    Chance is :math:`\sum_l F(l) f_j(l)` with the frequencies :math:`F` of the truth on *all* its
    rows: a voter that only ever says one label, and otherwise abstains, is better than chance if it
    speaks where that label is true.

    Examples
    --------
    >>> truth, vote = np.array([0, 0, 1, 1] * 10, np.int32), np.array([[0], [-1], [-1], [-1]] * 10, np.int32)
    >>> agreement, z = beyond_chance(truth, vote)
    >>> float(agreement[0]), round(float(z[0]), 2)
    (1.0, 3.16)
    """
    known = truth >= 0
    labels = int(max(truth.max(initial=-1), votes.max(initial=-1))) + 1
    base = np.bincount(truth[known], minlength=labels) / max(1, int(known.sum()))
    agreement, z = np.full(votes.shape[1], np.nan), np.zeros(votes.shape[1])
    for j in range(votes.shape[1]):
        both = known & (votes[:, j] >= 0)
        count = int(both.sum())
        if not count:
            continue
        agreement[j] = (votes[both, j] == truth[both]).mean()
        chance = float(np.bincount(votes[both, j], minlength=labels) / count @ base)
        error = np.sqrt(chance * (1 - chance) / count)
        z[j] = (agreement[j] - chance) / error if error > 0 else 0.0
    return agreement, z


def plurality(votes: Codes) -> Codes:
    """Return the label that most columns say in each row, -1 where there is no single one.

    >>> plurality(np.array([[0, 0, 1], [1, 1, 1], [0, 1, 2]], np.int32)).tolist()
    [0, 1, -1]
    """
    labels = max(1, int(votes.max(initial=-1)) + 1)
    tally = np.stack([(votes == label).sum(axis=1) for label in range(labels)], axis=1)
    best = tally.max(axis=1)
    clear = (best > 0) & ((tally == best[:, None]).sum(axis=1) == 1)
    return np.where(clear, tally.argmax(axis=1), -1).astype(np.int32)


# Evenly spaced rows of a table, in memory: enough to see what a column is, whatever the size of
# the table.


MOST_ROWS = 50_000
MOST_CELLS = 10_000_000
"""What is looked at; a column that is filled in few rows only is looked at where it is filled."""

_FEW = 200
_AT_ONCE = 500

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a table, every missing value as null.

    Parameters
    ----------
    rows
        How many rows the whole table has.
    filled
        In how many of them each column is filled.
    cells
        The rows that are looked at.
    rare
        For columns that are filled in few rows only: some of their filled cells.
    """

    rows: int
    filled: Mapping[str, int]
    cells: pa.Table
    rare: Mapping[str, pa.ChunkedArray]

    def column(self, name: str) -> pa.ChunkedArray:
        """Return the cells of one column to judge it by."""
        return self.rare.get(name, self.cells[name])

    def codes(self, columns: Sequence[str], silent: frozenset[Label] = frozenset()) -> Codes:
        """Return labels as whole numbers, rows by columns, -1 where there is none or one of
        *silent*.

        Labels that read alike in two columns (``1`` and ``"1"``) have one number.
        """
        seen: dict[Label, int] = {}
        out = np.full((self.cells.num_rows, len(columns)), -1, np.int32)
        for j, name in enumerate(columns):
            encoded = self.cells[name].combine_chunks().dictionary_encode()
            words = [spelling(word) for word in encoded.dictionary.to_pylist()]
            numbers = np.array(
                [-1 if word in silent else seen.setdefault(word, len(seen)) for word in words],
                np.int32,
            )
            index = codes_of(encoded, missing=-1)
            out[:, j] = np.where(index >= 0, numbers[index], -1) if len(numbers) else -1
        return out


def draw(table: Table, *, missing: Sequence[str] = ()) -> Sample:
    """Take evenly spaced rows of *table*.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> sample = draw(scan(pa.table({"a": ["yes", "", "no"], "b": ["no", "no", "yes"]})))
    >>> sample.rows, dict(sample.filled), sample.codes(["a", "b"]).tolist()
    (3, {'a': 2, 'b': 3}, [[0, 1], [-1, 1], [1, 0]])
    """
    kinds = table.kinds
    names = [name for name in table.columns if name not in table.left_out]
    cells = {
        name: f"{without_missing(name, kinds[name], missing)} as {identifier(name)}"
        for name in names
    }
    [(rows,)] = table.query("select count(*) from rows")
    most = max(1, min(MOST_ROWS, MOST_CELLS // max(1, len(names))))
    step = -(-rows // most) if rows else 1
    chosen = ", ".join(cells.values())
    if step == 1:
        looked = _fetched(table, list(cells.values()))
        filled = {name: looked.num_rows - looked[name].null_count for name in names}
        return Sample(rows, filled, looked, {})
    inner = "select *, row_number() over () as place_ from rows"
    looked = table.arrow(f"select {chosen} from ({inner}) where place_ % {step} = 0")
    counts = ", ".join(f"count({identifier(name)})" for name in names)
    [exact] = table.query(f"select {counts} from (select {chosen} from rows)")
    filled = dict(zip(names, exact, strict=True))
    scarce = [n for n in names if looked.num_rows - looked[n].null_count < min(_FEW, filled[n])]
    rare = {}
    for name in scarce:
        where = f"select {cells[name]} from rows"
        some = f"select * from ({where}) where {identifier(name)} is not null limit {most}"
        rare[name] = table.arrow(some)[name]
    return Sample(rows, filled, looked, rare)


def _fetched(table: Table, cells: Sequence[str]) -> pa.Table:
    """Return *cells*, which are SQL, of every row; large plans cost more than several small."""
    blocks = [cells[start : start + _AT_ONCE] for start in range(0, len(cells), _AT_ONCE)] or [()]
    parts = [table.arrow(f"select {', '.join(block)} from rows") for block in blocks]
    if len(parts) == 1:
        return parts[0]
    import pyarrow as pa

    return pa.table({name: part[name] for part in parts for name in part.column_names})


def is_unique(table: Table, columns: Sequence[str]) -> bool:
    """Return whether no two rows agree in all of *columns*."""
    return not table.repeats(*columns)


def spellings(table: Table, columns: Sequence[str], value: Label) -> tuple[str, ...]:
    """Return how *columns* write *value*, a canonical label, anywhere in the table; they are tokens
    for "missing".

    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> spellings(scan(pa.table({"a": ["NA", "x", "na "], "b": [1, 0, -1]})), ["a", "b"], "na")
    ('NA', 'na')
    """
    found: set[str] = set()
    for name in columns:
        if isinstance(value, str) and table.kinds[name] == "text":
            cell = identifier(name)
            rows = table.query(
                f"select distinct {cell} from rows where {cell} is not null limit {MOST_LABELS}"
            )
            found |= {word.strip() for (word,) in rows if spelling(word) == value}
    # a token that is a number means every spelling of it
    return tuple(sorted(found)) or (str(value),)
