"""A table behind the one door: its rows wherever they lie, what its columns are, what its cells
mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.table.cells import (
    MOST_LABELS,
    Label,
    identifier,
    identity,
    is_missing,
    spelling,
    whole,
    without_missing,
)
from tallystick.table.engine import codes_of, reading
from tallystick.table.meaning import LabelRules, Meaning, agree
from tallystick.table.numbers import read_numbers
from tallystick.table.panel import Panel
from tallystick.table.patterns import Recipe
from tallystick.table.reading_cells import UNREAD
from tallystick.table.reading_facts import Facts, Sample, draw, draw_counts, fetched
from tallystick.table.reading_rules import How
from tallystick.table.roles import VOTES, Roles
from tallystick.table.scanning import scan
from tallystick.table.session import Session
from tallystick.table.tables import Place, Table
from tallystick.table.tally import Tally
from tallystick.table.weights import MOST_REPEATED

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 500
"""Columns that are fetched by one query: thousands do not fit the engine's memory."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Labels as whole numbers: ``codes[row, column]`` is a place in *labels*, -1 for no answer."""

    codes: npt.NDArray[np.int32]
    labels: tuple[Label, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Data:
    """What `read` returns: rows that stay where they are, with their roles and label rules.

    Parameters
    ----------
    held
        Where the rows are: a table in DuckDB, or a tally of them.
    roles
        Which column is what.
    rules
        What the caller says of the labels.
    source
        What messages call it.
    notes
        What was chosen while reading, for the user to see once.
    session
        The labelling session that the truth comes from, where it does: its draws say how the
        labelled items were chosen.
    beside
        For counts: what whoever counted the rows knows of them beside their counts.
    how
        Where each role comes from that the caller did not name.
    unused
        Why columns were passed over when voters were looked for; None if none were looked for.
    long
        The columns that named the voter and held the votes, before a long source was pivoted.
    looked
        The table that the rules of reading have looked at, and what they saw.
    sketch_items
        Whether counts keep a sketch of the items, so that rows are not counted twice when saved
        tallies are merged.
    """

    held: Table | Tally
    roles: Roles
    rules: LabelRules
    source: str
    notes: tuple[str, ...] = ()
    session: Session | None = None
    beside: BesideCounts | None = None
    how: Mapping[str, How] = field(default_factory=dict)
    unused: Mapping[str, str] | None = None
    long: tuple[str, str] | None = None
    looked: tuple[Table, Sample] | None = None
    sketch_items: bool = False

    # -- counts

    def tally(self, *roles: str, cut: Mapping[str, Sequence[float]] | None = None) -> Tally:
        """Count the columns of *roles* in the engine that holds them, missing answers as None.

        Columns of answers share one vocabulary; a column that is cut into bins has its own. What is
        counted is rows, whatever they weigh.
        """
        columns = self.roles.columns(*roles)
        if not columns:
            raise InputError(f"{self.source}: no column has the role {' or '.join(roles)}")
        answers = [name for name in columns if name in self._answers]
        tokens = self.meaning.missing if answers else self.rules.missing
        return self._count(columns, tuple(tokens), cut)

    def panel(self, *roles: str, labels: Sequence[Label] = ()) -> Panel:
        """Return the votes of *roles* with the truth and the sampling weights, as a panel."""
        weight = self.roles.weight
        asked: dict[str, Any] = {
            "voters": self.roles.columns(*roles),
            "truth": self.roles.truth,
            "labels": labels,
            "never_true": self.meaning.never_true,
        }
        if weight is not None and isinstance(self.held, Table):
            [(different,)] = self.held.query(
                f"select count(distinct {identifier(weight)}) from rows"
            )
            if different > MOST_LABELS:
                votes = self.tally(*roles, "truth")
                rows = votes.locate(self._arrow(votes.names, ()))
                return Panel.of(votes, **asked).weighed(rows, self.numbers(weight)[:, 0])
        return Panel.of(self.tally(*roles, "truth", "weight"), weight=weight, **asked)

    def count_words(self, *columns: str) -> Tally:
        """Count cells as they are written: the tally of what `words` returns row by row."""
        return self._count(columns, self.rules.missing, None)

    def counted(self, *columns: str) -> Tally | None:
        """Return a tally of rows that holds *columns*, if one was counted before; None if not.

        Words are as they are written. Weighted counts are no rows.
        """
        if isinstance(self.held, Tally):
            tallies = [self.held]
        else:
            tallies = [one for (_, _, cut), one in self._counted.items() if cut == "None"]
        for one in tallies:
            if not one.weighted and not one.cut and set(columns) <= set(one.names):
                return one
        return None

    @cached_property
    def meaning(self) -> Meaning:
        """What the labels of the answers and the truth mean, checked in one order, once."""
        try:
            tally = (
                None if self.rules.coerce else self._count(self._answers, self.rules.missing, None)
            )
        except InputError:
            # Two spellings of a label, or of a word for no answer (N/A and n/a): `agree` tells.
            tally = None
        tally = tally or self._as_written()
        place = self.held.row_of if isinstance(self.held, Table) else None
        return agree(
            tally.labels,
            truth=self.roles.truth,
            votes=[name for name in self._answers if name != self.roles.truth],
            rules=self.rules,
            weak=self.roles.weak,
            locate_row=place,
        )

    def _as_written(self) -> Tally:
        """Count the answers as they are written, so that a word for no answer is found as ``NA``.

        Coercion would show it as ``na``, and a token has to match what the cells say.
        """
        frame: Any = self.held
        if isinstance(self.held, Tally):
            part = self.held.marginal(self._answers)
            frame = {name: part.column(name) for name in part.names}
        return Tally.of(
            frame,
            columns=self._answers,
            missing=self.rules.missing,
            coerce=True,
            apart=self._answers,  # columns apart keep their own spelling
        )

    @property
    def metric(self) -> str | None:
        """What the columns of scores are called, where the source says it."""
        return self.held.metric if isinstance(self.held, Table) else None

    @property
    def meaning_notes(self) -> tuple[str, ...]:
        """What was read into the labels, if they have been looked at."""
        return self.meaning.notes if "meaning" in self.__dict__ else ()

    @cached_property
    def _answers(self) -> tuple[str, ...]:
        """Columns of labels: the answers and the truth."""
        return self.roles.columns(*VOTES, "truth")

    @cached_property
    def _counted(self) -> dict[Any, Tally]:
        return {}

    def _count(
        self,
        columns: Sequence[str],
        missing: Sequence[str],
        cut: Mapping[str, Sequence[float]] | None,
    ) -> Tally:
        """Count once for each question: checking labels and counting them share one pass."""
        key = (tuple(columns), tuple(missing), repr(cut or None))
        if key not in self._counted:
            if isinstance(self.held, Tally):
                self._counted[key] = self._from_tally(self.held, columns, missing, cut)
            else:
                recipe = Recipe.of(
                    columns=columns,
                    cut=cut,
                    weight=self.roles.count,
                    missing=missing,
                    coerce=self.rules.coerce,
                    apart=[name for name in columns if name not in self._answers],
                )
                item = self.roles.item if self.sketch_items else None
                counted = Tally.by_recipe(self.held, replace(recipe, item=item))
                self._counted[key] = counted.as_rows() if self.roles.count else counted
        return self._counted[key]

    def _from_tally(
        self,
        held: Tally,
        columns: Sequence[str],
        missing: Sequence[str],
        cut: Mapping[str, Sequence[float]] | None,
    ) -> Tally:
        if cut and any(name not in held.cut for name in cut):
            raise needs_rows(self.source, repr(next(iter(cut))))
        own = held.marginal(columns)
        if not (missing or self.rules.coerce):
            return own
        # Labels are read again, so that later rules apply to a saved tally too. Counts of rows stay
        # whole numbers: as weights they would count as something else than rows.
        tokens = frozenset(missing)
        frame = {}
        for name in columns:
            labels = [
                None if is_missing(label, tokens) else self._read(label)
                for label in own.labels[name]
            ]
            frame[name] = [labels[code] for code in own.codes[:, columns.index(name)].tolist()]
        apart = [name for name in columns if name not in self._answers]
        return Tally.from_patterns(frame, own.counts.tolist(), apart=apart).with_sources_of(own)

    @cached_property
    def facts(self) -> Mapping[str, Facts]:
        """What the columns with a role hold; nothing where looking costs another engine a job."""
        tokens = (*self.rules.missing, UNREAD)
        if isinstance(self.held, Tally):
            return draw_counts(self.held, tokens).facts
        if self.looked is not None and self.looked[0] is self.held:
            return self.looked[1].facts
        columns = [name for name in self.roles.columns() if name in self.table.columns]
        return draw(self.table, columns, missing=tokens).facts

    # -- rows

    @cached_property
    def table(self) -> Table:
        """The rows in DuckDB; a tally is spread out."""
        if isinstance(self.held, Table):
            return self.held
        return replace(scan(_spread(self.held, self.source)), source=self.source)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        if isinstance(self.held, Tally):
            return round(self.held.n)
        [(rows,)] = self.table.query("select count(*) from rows")
        return int(rows)

    def cells(self, *columns: str) -> dict[str, list[Any]]:
        """Return columns row by row; blank cells are None and nothing else is read into them."""
        return {name: column.to_pylist() for name, column in self._arrow(columns, ()).items()}

    def labels(self, *columns: str) -> Coded:
        """Return labels as codes, row by row, under the label rules of this data."""
        return self._coded(columns, self.meaning.missing)

    def label_patterns(self, *columns: str) -> RowPatterns:
        """Return what `labels` returns, each distinct row once, and which of them each row is."""
        return self._patterns(columns, self.meaning.missing)

    def words(self, *columns: str) -> Coded:
        """Return cells as codes, row by row, as they are written.

        Only blank cells and the caller's tokens are missing, and columns need not share labels:
        grades of one judge may be words while those of another are numbers.
        """
        return self._coded(columns, self.rules.missing)

    def patterns(self, *columns: str) -> RowPatterns:
        """Return what `words` returns, each distinct row once, and which of them each row is."""
        return self._patterns(columns, self.rules.missing)

    def _patterns(self, columns: tuple[str, ...], tokens: tuple[str, ...]) -> RowPatterns:
        from tallystick.table.session_rows import distinct_rows

        coded = self._coded(columns, tokens)
        first, counts, place = distinct_rows(coded.codes, len(coded.labels))
        return RowPatterns(
            codes=coded.codes[first], labels=coded.labels, first=first, counts=counts, place=place
        )

    def _coded(self, columns: Sequence[str], tokens: Sequence[str]) -> Coded:
        found, words = cell_codes(self.table, self._cells(columns, tokens))
        codes: dict[Any, int] = {}
        labels: list[Label] = []
        for j, seen in enumerate(words):
            places = []
            for word in map(self._read, seen):  # by identity: Python takes 1 and True for one key
                if codes.setdefault(identity(word), len(labels)) == len(labels):
                    labels.append(word)
                places.append(codes[identity(word)])
            found[:, j] = np.array([*places, -1], np.int32)[found[:, j]]
        return Coded(found, tuple(labels))

    def groups(self, column: str, tokens: Sequence[str] = ()) -> npt.NDArray[np.int32]:
        """Return a number for each row, the same for equal cells; -1 for a blank cell.

        *tokens* mean a blank cell too.
        """
        return cell_groups(self.table, self._cells((column,), tokens)[0])

    def _read(self, word: Any) -> Label:
        """Return the label that a cell stands for."""
        return spelling(word) if self.rules.coerce else whole(word)

    def label_lists(self, *columns: str) -> dict[str, list[Label]]:
        """Return labels row by row, None for no answer."""
        coded = self.labels(*columns)
        words = (*coded.labels, None)
        return {
            name: [words[code] for code in coded.codes[:, j].tolist()]
            for j, name in enumerate(columns)
        }

    def numbers(
        self, *columns: str, low: float | None = None, high: float | None = None
    ) -> npt.NDArray[np.float64]:
        """Return columns of numbers, NaN where there is no answer; anything else is refused.

        Words for pass and fail count as 1 and 0, words for no answer as missing.
        """
        return read_numbers(self.table, columns, self.rules.missing, low=low, high=high)

    def _arrow(self, columns: Sequence[str], tokens: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        cells = zip(columns, self._cells(columns, tokens), strict=True)
        named = [f"{cell} as {identifier(name)}" for name, cell in cells]
        found = fetched(self.table, named) if named else {}
        return {name: found[name] for name in columns}

    def _cells(self, columns: Sequence[str], tokens: Sequence[str]) -> list[str]:
        """Return the SQL of columns, with every missing value as NULL."""
        kinds = self.table.kinds
        return [without_missing(name, kinds[name], tokens) for name in columns]

    # -- parts and places

    def where(self, column: str, label: Label) -> Data:
        """Return the rows that show *label* in *column* (None: the blank ones)."""
        shown = "blank" if label is None else repr(label)
        source = f"{self.source} where {column} is {shown}"
        if isinstance(self.held, Tally):
            rest: Any = _occurring(self.held.where(**{column: label}))
        else:
            import duckdb

            cell = duckdb.ColumnExpression(column)
            blank = f"{without_missing(column, self.table.kinds[column], ())} is null"
            same = blank if label is None else cell == duckdb.ConstantExpression(label)
            rows = self.table.relation.filter(same)
            # The parts of one file add up again.
            rest = replace(self.table, relation=rows, source=source, origin=())
        return replace(self, held=rest, source=source, notes=())

    def place(self, row: int) -> Place:
        """Return where the *row*-th row stands, counting from 1."""
        return self.table.place(row)

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file that was read, by path."""
        return self.held.digests() if isinstance(self.held, Table) else {}

    def close(self) -> None:
        """Remove what was spooled; the rows cannot be read afterwards."""
        if isinstance(self.held, Table):
            self.held.close()

    def __enter__(self) -> Data:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _occurring(tally: Tally) -> Tally:
    """Return a part of a tally with the labels that occur in it, as the rows of the part would."""
    if tally.cut or not tally.names or not tally.patterns:
        return tally
    columns = {name: tally.column(name) for name in tally.names}
    return Tally.from_patterns(columns, tally.counts.tolist(), apart=tally.names)


def needs_rows(source: str, what: str) -> InputError:
    """Return the error for counts where rows are needed."""
    return InputError(
        f"{source} holds counts, and this question needs {what} row by row: give the table itself"
    )


def _spread(tally: Tally, source: str) -> pa.Table:
    """Return one row per counted item."""
    import pyarrow as pa

    counts = np.asarray(tally.counts)
    if (counts != np.floor(counts)).any() or counts.sum() > MOST_REPEATED:
        raise needs_rows(source, f"{counts.sum():,.6g} items")
    again = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    columns = {name: pa.array(tally.column(name)).take(pa.array(again)) for name in tally.names}
    return pa.table(columns)


# Cells as whole numbers, batch by batch: a column of ten million texts never stands in memory.


_BATCH = 1 << 17
"""Rows that leave the engine at once."""


def cell_codes(table: Table, cells: Sequence[str]) -> tuple[npt.NDArray[np.int32], list[list[Any]]]:
    """Return rows x columns of codes, -1 for NULL, and the words of each column.

    Parameters
    ----------
    table
        Where the rows are.
    cells
        One SQL expression per column. Codes count the words of a column as they first appear.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> codes, words = cell_codes(scan(pa.table({"a": ["x", None, "y"], "b": [1, 1, 0]})), ["a", "b"])
    >>> codes.tolist(), words
    ([[0, 0], [-1, 0], [1, 1]], [['x', 'y'], [1, 0]])
    """
    [(rows,)] = table.query("select count(*) from rows")
    codes = np.empty((int(rows), len(cells)), np.int32, order="F")
    words: list[dict[Any, int]] = [{} for _ in cells]
    for start in range(0, len(cells), _AT_ONCE):
        block = range(start, min(start + _AT_ONCE, len(cells)))
        done = 0
        for batch in _batches(table, [cells[j] for j in block]):
            for place, j in enumerate(block):
                encoded = batch.column(place).dictionary_encode()
                known = words[j]
                here = [known.setdefault(w, len(known)) for w in encoded.dictionary.to_pylist()]
                index = codes_of(encoded, missing=len(here))
                codes[done : done + len(batch), j] = np.array([*here, -1], np.int32)[index]
            done += len(batch)
    return codes, [list(known) for known in words]


def cell_groups(table: Table, cell: str) -> npt.NDArray[np.int32]:
    """Return a number for each row, the same for equal cells; -1 for NULL.

    Unlike `cell_codes` it never makes a Python object per word, so every row may have its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> cell_groups(scan(pa.table({"id": ["b", "a", "b", None]})), "id").tolist()
    [0, 1, 0, -1]
    """
    import pyarrow as pa

    chunks = [batch.column(0).dictionary_encode() for batch in _batches(table, [cell])]
    if not chunks:
        return np.zeros(0, np.int32)
    joined = pa.chunked_array(chunks).unify_dictionaries()
    del chunks
    found = np.empty(len(joined), np.int32)
    done = 0
    for chunk in joined.chunks:
        found[done : done + len(chunk)] = codes_of(chunk, missing=-1)
        done += len(chunk)
    return found


def _batches(table: Table, cells: Sequence[str]) -> Any:
    """Return the rows of SQL expressions, in the order of the table, some at a time."""
    chosen = ", ".join(f"{cell} as c{k}" for k, cell in enumerate(cells))
    with reading(table.source):
        yield from table.derive(f"select {chosen} from rows").to_arrow_reader(_BATCH)


# What counts say of cells: the checks that look at a table's rows look at a tally's patterns
# here.
#
# A service answers from counts that it keeps. Whatever would be warned of in the rows must be
# warned of in their counts, so each check has one rule and two readers: SQL for rows, this file for
# counts.


@dataclass(frozen=True, kw_only=True)
class BesideCounts:
    """What is known of the rows of a tally beside their counts.

    Parameters
    ----------
    labelled
        The first and the last row with a true label, from 1 in the order of the rows; None if it is
        not known.
    parts
        For columns of text that were not counted: each cell, how many rows have it, and how many
        labels are on these.
    item, columns
        The column that names the rows, and all their columns.
    """

    labelled: tuple[int, int] | None = None
    parts: Mapping[str, Sequence[tuple[str | None, int, int]]] = field(default_factory=dict)
    item: str | None = None
    columns: tuple[str, ...] = ()


def labels_in(tally: Tally, column: str) -> list[Label]:
    """Return the different labels of a column, blank ones left out.

    >>> labels_in(Tally.of({"a": ["x", None, "y"]}), "a")
    ['x', 'y']
    """
    return [label for label in tally.labels[column] if not is_missing(label)]


@dataclass(frozen=True, kw_only=True, eq=False)
class RowPatterns:
    """The distinct rows of some columns.

    Parameters
    ----------
    codes
        Patterns x columns: a place in *labels*, -1 for no answer.
    labels
        What the codes stand for.
    first, counts
        The first row that shows each pattern, and how many do.
    place
        The pattern of each row.
    """

    codes: npt.NDArray[np.integer]
    labels: tuple[Label, ...]
    first: npt.NDArray[np.int64]
    counts: npt.NDArray[np.float64]
    place: npt.NDArray[np.integer]
