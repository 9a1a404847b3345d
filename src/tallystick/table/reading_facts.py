"""What every column of a table holds, found in one pass over a sample of its rows.

A table of up to 50,000 rows is looked at whole. Of a longer one the rows are chosen by a hash of
their place, never by a stride: a table whose rows alternate between two systems has no stride.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tallystick.table.cells import (
    NUMBER,
    Label,
    identifier,
    is_missing,
    spelling,
    without_missing,
)
from tallystick.table.engine import as_numpy, codes_of
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import PASS_FAIL, as_pass_fail, as_word, is_no_answer, read_times

if TYPE_CHECKING:
    import pyarrow as pa

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]

CONSTANT = "the same value everywhere"
UNIQUE = "a different value in every row"

SURE = 3.09
"""Standard errors at p < .001, one-sided."""

MOST_ROWS = 50_000
MOST_CELLS = 10_000_000
"""What is looked at; a column that is filled in few rows only is looked at where it is filled."""

LISTED = 31
"""Distinct values that are listed; a column of more words is a text."""

_FEW = 200
_AT_ONCE = 500
_LEAST_TIMES = 3
"""Words that must read as times before a column holds times."""
_DATE = re.compile(r"\s*\d{1,4}([/-])\d{1,2}\1\d{1,4}\b")
_LEAST_COUNTER = 5
"""Rows from which rising whole numbers are no accident."""
MOST_SYSTEMS = 20
"""Values of a column that is taken for the systems because nothing else can be it."""
_MOST_LABELS = 20
_ODD_NUMBER = 9
"""A number from here on beside 0 and 1 is a code, and no third label."""
_SCALES = ((0.0, 1.0), (1.0, 5.0), (0.0, 10.0), (0.0, 100.0))


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One column.

    Parameters
    ----------
    name, rows, filled
        The column, the rows of the table, and those in which it is not blank.
    seen, distinct
        Filled cells that were looked at, and how many different values they hold.
    counts
        How often each value occurs, spelled canonically, words for no answer left out; empty if
        there are more than 31 different ones, or decimals.
    numeric
        Share of the different values that are numbers.
    decimals
        Whether every value is a number and some are not whole.
    low, high, second
        The range, if every value is a number, and the least value but one.
    counter
        Whether it counts: whole numbers that rise without a repeat.
    times
        Whether it holds dates or times.
    """

    name: str
    rows: int
    filled: int
    seen: int
    distinct: int
    counts: Mapping[Label, int]
    numeric: float
    decimals: bool
    low: float | None
    high: float | None
    second: float | None
    counter: bool
    times: bool

    @property
    def labels(self) -> frozenset[Label]:
        """The different values, spelled canonically."""
        return frozenset(self.counts)

    @property
    def share(self) -> float:
        """Share of the rows in which it is filled."""
        return self.filled / self.rows if self.rows else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether every cell is blank."""
        return not self.seen

    @property
    def is_constant(self) -> bool:
        """Whether it says one thing everywhere."""
        return self.distinct == 1

    @property
    def is_unique(self) -> bool:
        """Whether every row has a value of its own."""
        return self.distinct == self.seen > 1 and self.filled == self.rows

    @property
    def is_number(self) -> bool:
        """Whether every value is a number."""
        return self.numeric == 1.0 and self.low is not None

    @property
    def is_text(self) -> bool:
        """Whether it holds more different words than labels would be."""
        return self.distinct >= LISTED and self.numeric < 0.5

    @property
    def repeats(self) -> bool:
        """Whether values come twice on average, at least."""
        return 2 * self.distinct <= self.seen

    def is_inside(self, low: float, high: float) -> bool:
        """Whether every value is a number in this range."""
        if self.low is None or self.high is None:
            return False
        return low <= self.low and self.high <= high

    @cached_property
    def meant(self) -> frozenset[Label]:
        """The labels as they are compared; words for pass and fail as 1 and 0."""
        return frozenset(map(one_word, self.counts))

    @cached_property
    def is_marks(self) -> bool:
        """Whether it says pass or fail: mostly words of the list, both sides used.

        0 and 1 are such words; beside them a number is a code only if it is negative or large.
        """
        told = as_pass_fail([one for one in self.counts if isinstance(one, str)] or [""])
        if told or not self.counts:
            return {0.0, 1.0} <= {*(told or {}).values()}
        numbers = [one for one in self.meant - {0, 1} if isinstance(one, int | float)]
        if len(numbers) > 1 or any(0 <= one < _ODD_NUMBER for one in numbers):
            return False
        inside = sum(n for label, n in self.counts.items() if one_word(label) in (0, 1))
        return {0, 1} <= self.meant and 2 * inside >= self.seen

    @cached_property
    def veto(self) -> str | None:
        """Why it is nobody's votes, whatever it is called; None if it may be."""
        if self.is_empty:
            return "every cell is blank"
        if self.is_constant:
            return CONSTANT
        if self.counter:
            return "counts the rows"
        if self.times:
            return "dates or times"
        few = self.rows <= MOST_SYSTEMS and (self.is_number or bool(self.meant & {0, 1}))
        if self.is_unique and not self.decimals and not few:
            return UNIQUE
        return "text" if self.is_text else None

    def shares(self, labels: frozenset[Label]) -> bool:
        """Say whether half of the filled cells carry one of the labels."""
        if not 0 < len(labels) <= _MOST_LABELS or not self.counts:
            return False
        if labels <= {0, 1}:
            if not self.is_marks:
                return False  # 0 to 5 are no votes on pass or fail
            labels = frozenset((0, 1))
        inside = sum(n for label, n in self.counts.items() if one_word(label) in labels)
        return 2 * inside >= self.seen > 0

    @property
    def has_scale(self) -> bool:
        """Whether numbers use most of a usual scale."""
        if not self.is_number or self.low is None or self.high is None:
            return False
        return any(
            self.is_inside(low, high)
            and (self.decimals or high > 1)
            and (self.high - self.low >= (high - low) / 2 or (self.decimals and high == 1))
            for low, high in _SCALES
        )


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a table, every missing value as null.

    Parameters
    ----------
    rows, filled
        How many rows the whole table has, and in how many of them each column is filled.
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

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """What each column holds."""
        return {name: _facts(name, self) for name in self.cells.column_names}

    def codes(self, columns: Sequence[str], known: frozenset[Label] = frozenset()) -> Codes:
        """Return labels as whole numbers, rows by columns, -1 where there is none, and where it
        is none of those *known*, if there are any.

        Labels that read alike in two columns (``1`` and ``"1"``, ``Y`` and ``yes``) have one
        number.
        """
        seen: dict[Label, int] = {}
        out = np.full((self.cells.num_rows, len(columns)), -1, np.int32)
        for j, name in enumerate(columns):
            encoded = self.cells[name].combine_chunks().dictionary_encode()
            words = [one_word(word) for word in encoded.dictionary.to_pylist()]
            numbers = np.array(
                [
                    -1
                    if is_no_answer(word) or (known and word not in known)
                    else seen.setdefault(word, len(seen))
                    for word in words
                ],
                np.int32,
            )
            index = codes_of(encoded, missing=-1)
            out[:, j] = np.where(index >= 0, numbers[index], -1) if len(numbers) else -1
        return out

    def numbers(self, columns: Sequence[str]) -> Floats:
        """Return cells as numbers, rows by columns, NaN where there is none; pass is 1, fail 0."""
        out = np.full((self.cells.num_rows, len(columns)), np.nan)
        for j, name in enumerate(columns):
            encoded = self.cells[name].combine_chunks().dictionary_encode()
            words = [one_word(word) for word in encoded.dictionary.to_pylist()]
            held = np.array(
                [float(w) if isinstance(w, int | float) else np.nan for w in words] or [np.nan]
            )
            index = codes_of(encoded, missing=-1)
            out[:, j] = np.where(index >= 0, held[index], np.nan)
        return out


_ONE_MEANING: dict[str, int] = {}


def one_word(label: Label) -> Label:
    """Return a label as it is compared: a word that means pass or fail as 1 or 0.

    >>> [one_word(word) for word in ("Yes", "y", "FAIL", True, "spam", "1.0", 3)]
    [1, 1, 0, 1, 'spam', 1, 3]
    """
    if not _ONE_MEANING:
        meant: dict[str, set[float]] = {}
        for pair in PASS_FAIL:
            for one, worth in pair.items():
                meant.setdefault(one, set()).add(worth)
        # C and I, T and F are letters of choices as well; a tie is neither.
        _ONE_MEANING.update(
            (one, int(*worths))
            for one, worths in meant.items()
            if worths <= {0.0, 1.0} and len(worths) == 1 and one not in ("c", "i", "t", "f")
        )
    word = as_word(label)
    if word is not None and word in _ONE_MEANING:
        return _ONE_MEANING[word]
    return spelling(label)


def draw(
    table: Table, columns: Sequence[str] | None = None, *, missing: Sequence[str] = ()
) -> Sample:
    """Take rows of *table* by a hash of their place; all of them if they are few.

    Only some *columns* are looked at, if they are named.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> sample = draw(scan(pa.table({"a": ["yes", "", "no"], "b": ["no", "no", "yes"]})))
    >>> sample.rows, dict(sample.filled), sample.codes(["a", "b"]).tolist()
    (3, {'a': 2, 'b': 3}, [[0, 1], [-1, 1], [1, 0]])
    """
    kinds = table.kinds
    names = [n for n in columns or table.columns if columns or n not in table.left_out]
    cells = {
        name: f"{without_missing(name, kinds[name], missing)} as {identifier(name)}"
        for name in names
    }
    [(rows,)] = table.query("select count(*) from rows")
    most = max(1, min(MOST_ROWS, MOST_CELLS // max(1, len(names))))
    if rows <= most:
        looked = fetched(table, list(cells.values()))
        filled = {name: looked.num_rows - looked[name].null_count for name in names}
        return Sample(rows, filled, looked, {})

    chosen = ", ".join(cells.values())
    inner = "select *, row_number() over () as place_ from rows"
    share = int(most / rows * 2**32)
    looked = table.arrow(
        f"select {chosen} from ({inner}) where hash(place_) % {2**32} < {share} order by place_"
    )
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


def draw_counts(tally: Tally, missing: Sequence[str] = ()) -> Sample:
    """Return the patterns of a tally as rows to look at, as often as they were counted."""
    import pyarrow as pa

    counts = np.asarray(tally.counts, dtype=float)
    shrink = max(1.0, counts.sum() / MOST_ROWS)
    often = np.maximum(1, np.round(counts / shrink)).astype(np.int64)
    rows = np.repeat(np.arange(len(often)), often)
    cells = {}
    for name in tally.names:
        held = [None if is_missing(one, frozenset(missing)) else one for one in tally.column(name)]
        kinds = {type(one) for one in held if one is not None}
        words = held if len(kinds) < 2 else [None if one is None else str(one) for one in held]
        cells[name] = pa.chunked_array([pa.array(words, from_pandas=True).take(pa.array(rows))])
    looked = pa.table(cells)
    filled = {name: looked.num_rows - looked[name].null_count for name in tally.names}
    return Sample(looked.num_rows, filled, looked, {})


def fetched(table: Table, cells: Sequence[str]) -> pa.Table:
    """Return *cells*, which are SQL, of every row; large plans cost more than several small."""
    blocks = [cells[start : start + _AT_ONCE] for start in range(0, len(cells), _AT_ONCE)] or [()]
    parts = [table.arrow(f"select {', '.join(block)} from rows") for block in blocks]
    if len(parts) == 1:
        return parts[0]
    import pyarrow as pa

    return pa.table({name: part[name] for part in parts for name in part.column_names})


def _facts(name: str, sample: Sample) -> Facts:
    encoded = sample.column(name).drop_null().combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    places = codes_of(encoded, missing=-1) if words else np.zeros(0, np.int64)
    often = np.bincount(places, minlength=len(words)).tolist()
    silent = [isinstance(word, str) and is_no_answer(word) for word in words[: 10 * LISTED]]
    quiet = int(sum(n for n, no in zip(often, silent, strict=False) if no))
    spoken = len(words) - sum(silent)
    numeric, numbers = _numbers(encoded.dictionary, words, silent)
    whole = numbers is not None and bool((np.floor(numbers) == numbers).all())
    counts: dict[Label, int] = {}
    if 0 < spoken < LISTED and (numbers is None or whole):
        for word, count, no in zip(words, often, silent, strict=True):
            if not no:
                counts[spelling(word)] = counts.get(spelling(word), 0) + int(count)
    seen = len(encoded) - quiet
    return Facts(
        name=name,
        rows=sample.rows,
        # A word for no answer fills no cell; of a sample its share is known.
        filled=sample.filled[name] - round(quiet / max(1, len(encoded)) * sample.filled[name]),
        seen=seen,
        distinct=len(counts) or spoken,
        counts=counts,
        numeric=numeric,
        decimals=numbers is not None and len(numbers) > 0 and not whole,
        low=None if numbers is None or not len(numbers) else float(numbers.min()),
        high=None if numbers is None or not len(numbers) else float(numbers.max()),
        second=None if numbers is None or len(numbers) < 2 else float(np.partition(numbers, 1)[1]),
        counter=whole and spoken == seen >= _LEAST_COUNTER and _rises(numbers),
        times=numbers is None and _are_times(sample.column(name), words),
    )


def _rises(numbers: Floats | None) -> bool:
    """Say whether numbers, in the order in which they first occur, only rise."""
    return numbers is not None and bool((np.diff(numbers) > 0).all())


def _numbers(
    held: pa.Array, words: Sequence[Label], silent: Sequence[bool]
) -> tuple[float, Floats | None]:
    """Return the share of values that are numbers, and the numbers if all of them are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not words:
        return 0.0, np.zeros(0)
    if isinstance(words[0], bool):
        return 1.0, np.array([float(word or 0) for word in words])
    if isinstance(words[0], int | float):
        found = np.array([float(word) for word in words if isinstance(word, int | float)])
        return 1.0, found[np.isfinite(found)]
    if not isinstance(words[0], str):
        return 0.0, None
    if any(silent):
        kept = [word for word, no in zip(words, silent, strict=False) if not no]
        held = pa.array([*kept, *words[len(silent) :]], pa.string())
        if not len(held):
            return 0.0, np.zeros(0)

    # A column of names has as many values as rows: they are looked at where they lie.
    trimmed = pc.utf8_trim_whitespace(held)
    share = float(np.mean(as_numpy(pc.match_substring_regex(trimmed, f"^(?:{NUMBER.pattern})$"))))
    if share < 1.0:
        return share, None
    try:
        return share, as_numpy(trimmed.cast(pa.float64()))
    except pa.ArrowInvalid:  # +1 and 1e999, which Python reads
        return share, np.array([float(word) for word in trimmed.to_pylist()])


def _are_times(column: pa.ChunkedArray, words: Sequence[object]) -> bool:
    import pyarrow as pa

    if pa.types.is_temporal(column.type):
        return True
    texts = [word for word in words[:50] if isinstance(word, str)]
    if len(texts) < _LEAST_TIMES or not all(any(sign in one for sign in "-/:") for one in texts):
        return False
    found = read_times(texts)
    return found.seconds is not None or all(_DATE.match(one) for one in texts)


# How far two columns say the same thing.


def agreement(codes: Codes) -> tuple[Floats, Floats]:
    r"""Return Cohen's kappa of every pair of columns, on the rows that both fill, and by how many
    standard errors it is beyond 0; NaN where nothing can be said.

    With :math:`f_i(l)` the frequency of label :math:`l` in column :math:`i` on those rows, chance
    is :math:`c = \sum_l f_i(l) f_j(l)` and kappa is :math:`(a - c) / (1 - c)` for agreement
    :math:`a`.

    Examples
    --------
    >>> agreement(np.array([[0, 0], [1, 1], [0, 0], [1, -1]], np.int32))[0][0, 1]
    np.float64(1.0)
    """
    filled = (codes >= 0).astype(np.float64)
    common = filled.T @ filled
    same, chance, third = (np.zeros_like(common) for _ in range(3))
    for label in range(int(codes.max(initial=-1)) + 1):
        says = (codes == label).astype(np.float64)
        same += says.T @ says
        with np.errstate(divide="ignore", invalid="ignore"):
            here = (says.T @ filled) / common  # frequency of the label in i, beside j
            chance += here * here.T
            third += here * here.T * (here + here.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        usable = 1 - chance > 1e-6
        kappa = np.where(usable, (same / common - chance) / (1 - chance), np.nan)
        # Fleiss, Cohen and Everitt (1969): the variance if the two columns are independent.
        variance = (chance + chance**2 - third) / ((1 - chance) ** 2 * common)
        z = np.where(usable & (variance > 1e-12), kappa / np.sqrt(variance), np.nan)
    return np.asarray(kappa, dtype=float), np.asarray(z, dtype=float)


def rank_correlation(a: Floats, b: Floats) -> tuple[float, float]:
    """Return Spearman's correlation of two columns, and by how many standard errors it is beyond 0.

    >>> rho, z = rank_correlation(np.arange(26.0), np.arange(26.0) ** 2)
    >>> round(rho, 9), round(z, 9)
    (1.0, 5.0)
    """
    both = ~(np.isnan(a) | np.isnan(b))
    n = int(both.sum())
    if n < 4:
        return float("nan"), float("nan")
    x, y = _ranks(a[both]), _ranks(b[both])
    if not x.std() or not y.std():
        return float("nan"), float("nan")
    rho = float(np.corrcoef(x, y)[0, 1])
    return rho, rho * float(np.sqrt(n - 1))


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[place], dtype=float)


_FEWEST = 5
"""Rows that all hold the same places, from which on this is no accident."""


def are_places(scores: Floats, *, first: int = 1) -> bool:
    """Say whether every row of *scores* holds the places first, first + 1, … of its columns.

    Ties share the mean of their places, so that each row adds up to the same sum; a row with a
    blank decides nothing. Fewer than five such rows decide nothing either.

    Examples
    --------
    >>> are_places(np.array([[1, 3, 2], [2, 1, 3], [1, 2, 3], [3, 2, 1], [1.5, 1.5, 3]]))
    True
    >>> are_places(np.array([[1, 3, 3], [2, 1, 3], [1, 2, 3], [3, 2, 1], [1, 2, 3]]))
    False
    """
    whole = np.asarray(scores, dtype=float)
    whole = whole[~np.isnan(whole).any(axis=1)]
    if len(whole) < _FEWEST or whole.shape[1] < 2:
        return False
    k = whole.shape[1]
    last = first + k - 1
    if whole.min() < first or whole.max() > last:
        return False
    halves = bool((2 * whole == np.round(2 * whole)).all())
    return halves and bool((whole.sum(axis=1) == k * (first + last) / 2).all())
