"""Tally: the count of every pattern of decisions, built on any engine, merged in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, MergeError
from tallystick.table.cells import Label, identifier, is_missing, plain, spelling
from tallystick.table.patterns import Counts, Patterns, Recipe, checked_total, not_a_list

if TYPE_CHECKING:
    import pyarrow as pa

    from tallystick.table.tables import Table

# What a tally has counted already, so that nothing is counted twice.
#
# A file or a stream is known by the SHA-256 of its content, a batch by its caller's id.
# The same rows in another file, such as a later export, are found by a sample of their hashes.


_BATCH = "batch:"
_SHOWN = 5
_KEPT = 256
"""Hashes of rows that are kept: the smallest ones."""
_SOME = 0.05
"""Share of the sampled rows that two tallies may both hold: a few corrected rows."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The files and batches inside a tally.

    Parameters
    ----------
    names
        Id to name: ``sha256:…`` to the name of the file, ``batch:…`` to the id of the batch.
    repeats
        The names of what was counted more than once, because the caller allowed it, in order.
    rows
        The smallest hashes of the rows that were counted, by the hash function that made them.

    Examples
    --------
    >>> monday, tuesday = Sources.of_batch("mon"), Sources.of_batch("tue")
    >>> monday.joined(tuesday).batches
    ('mon', 'tue')
    >>> monday.joined(tuesday).joined(monday)
    Traceback (most recent call last):
    tallystick.errors.MergeError: both tallies count batch mon: its rows would be counted twice. ...
    """

    names: Mapping[str, str] = field(default_factory=dict)
    repeats: tuple[str, ...] = ()
    rows: Mapping[str, frozenset[int]] = field(default_factory=dict)

    @classmethod
    def of_contents(cls, contents: Iterable[tuple[str, str]]) -> Sources:
        """Return the sources of files, given as pairs of SHA-256 and name.

        Two files of one content are both counted, as the caller named both, and are repeated.
        """
        names: dict[str, str] = {}
        repeated = set()
        for digest, name in contents:
            first = names.setdefault(f"sha256:{digest}", name)
            repeated |= {first} if first is not name else set()
        return cls(names=names, repeats=tuple(sorted(repeated)))

    @classmethod
    def of_batch(cls, batch_id: str) -> Sources:
        """Return the source of one batch that its caller named."""
        return cls(names={f"{_BATCH}{batch_id}": f"batch {batch_id}"})

    @property
    def batches(self) -> tuple[str, ...]:
        """The ids of the batches, in order."""
        return tuple(sorted(key[len(_BATCH) :] for key in self.names if key.startswith(_BATCH)))

    def clash(self, other: Sources, *, chance: float = 0.0) -> str | None:
        """Say what both have counted, after the words "they both count"; None for nothing.

        *chance* is how often two rows of theirs have the same votes, if ids start again.
        """
        shared = sorted(self.names[key] for key in self.names.keys() & other.names.keys())
        if shared:
            more = f" and {len(shared) - _SHOWN} more" if len(shared) > _SHOWN else ""
            return f"{', '.join(shared[:_SHOWN])}{more}"
        for kind in self.rows.keys() & other.rows.keys():
            # Below the largest hash that both keep, both samples are complete (a bottom-k sketch).
            both = self.rows[kind], other.rows[kind]
            end = min((max(one) for one in both if len(one) == _KEPT), default=float("inf"))
            mine, its_own = ({row for row in one if row <= end} for one in both)
            seen = max(1, min(len(mine), len(its_own)))
            share = len(mine & its_own) / seen
            if share > min(chance + 3 * (chance * (1 - chance) / seen) ** 0.5 + _SOME, 0.99):
                return f"the same rows ({share:.0%} of the smaller one)"
        return None

    def joined(
        self, other: Sources, *, allow_overlap: bool = False, chance: float = 0.0
    ) -> Sources:
        """Return the sources of both; refuse what both have counted, unless that is allowed."""
        # Most tallies are made in memory and have no sources: nothing to copy.
        if not (self.names and other.names):
            return self if self.names else other
        clash = self.clash(other, chance=chance)
        if clash is not None and not allow_overlap:
            raise MergeError(
                f"both tallies count {clash}: they would be counted twice. Leave one tally out, or"
                " allow it (--allow-overlap, allow_overlap=True)"
            )

        # The smaller name wins where two files of one content differ in name: + commutes.
        shared = self.names.keys() & other.names.keys()
        common = {key: min(self.names[key], other.names[key]) for key in shared}
        repeats = {*self.repeats, *other.repeats, *common.values()}
        if clash is not None and not shared:
            files = sorted({*self.names.values(), *other.names.values()})
            more = ", …" if len(files) > _SHOWN else ""
            repeats.add(f"{', '.join(files[:_SHOWN])}{more} (in part)")
        none: frozenset[int] = frozenset()
        rows = {
            kind: frozenset(sorted(self.rows.get(kind, none) | other.rows.get(kind, none))[:_KEPT])
            for kind in {*self.rows, *other.rows}
        }
        names = {**self.names, **other.names, **common}
        return Sources(names=names, repeats=tuple(sorted(repeats)), rows=rows)

    def to_json(self) -> dict[str, Any]:
        """Return what a saved tally keeps."""
        return {
            "names": dict(sorted(self.names.items())),
            "repeats": self.repeats,
            "rows": {kind: sorted(rows) for kind, rows in sorted(self.rows.items())},
        }

    @classmethod
    def from_json(cls, written: Any) -> Sources:
        """Read what :meth:`to_json` returned; a tally of an earlier version has less, or None."""
        if written is None:
            return cls()
        names = {str(key): str(name) for key, name in written["names"].items()}
        # Earlier versions kept the ids of repeated files, and overlaps beside them.
        repeated = [names[key] for key in written.get("repeated", ()) if key in names]
        again = {*repeated, *written.get("overlaps", ()), *written.get("repeats", ())}
        return cls(
            names=names,
            repeats=tuple(sorted(map(str, again))),
            rows={kind: frozenset(map(int, of)) for kind, of in written.get("rows", {}).items()},
        )


_NOTHING = Patterns({}, np.zeros((0, 0), np.int32), np.zeros(0, np.int64))


class Tally:
    r"""How often each pattern of decisions occurred.

    For columns :math:`1 \dots k` a tally holds

    .. math:: N(v) = \#\{i : (x_{i1}, \dots, x_{ik}) = v\}

    (or the sum of weights) for every pattern :math:`v` that occurs, a missing decision being a
    label of its own. Tallies add, :math:`N_{A \cup B} = N_A + N_B`, in any order and any sharding,
    and ``Tally()`` is the empty one.

    Labels are kept as they were written: the text ``"1"``, the integer 1 and True are three
    labels. A whole float is the label of its integer, because pandas turns a column of integers
    with a gap into floats.

    Examples
    --------
    >>> votes = Tally.of({"gpt": ["yes", "no", "yes"], "llama": ["yes", "no", None]})
    >>> votes
    <Tally of 2 columns (gpt, llama): 3 patterns, n = 3>
    >>> votes.labels["llama"]
    ('no', 'yes', None)
    >>> (votes + votes).marginal(["gpt"]).counts
    array([2, 4])
    >>> votes.locate({"gpt": ["no", "no"], "llama": ["no", "yes"]})
    array([ 0, -1])
    """

    __hash__ = None  # type: ignore[assignment]  # update() changes it

    def __init__(self) -> None:
        self._recipe: Recipe | None = None
        self._held: Patterns = _NOTHING
        # What was counted; the files of an open table are hashed only if somebody asks.
        self._counted: Sources | Callable[[], Sources] = Sources()

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        cut: Mapping[str, Sequence[float]] | None = None,
        weight: str | None = None,
        missing: Sequence[Any] = (),
        coerce: bool = False,
        apart: Sequence[str] = (),
        batch_id: str | None = None,
    ) -> Tally:
        """Count *data* where it lies; only counts come back.

        Parameters
        ----------
        data
            A mapping of NumPy arrays or lists, a pyarrow Table or RecordBatch, a pandas or Polars
            frame (eager or lazy), a DuckDB relation, a Dask or PySpark frame, or a path, a glob or
            a sequence of paths.
        columns
            What to count; every column except *weight* by default.
        cut
            Edges by column. A number is replaced by the index of its bin: bin i is ``edges[i] <= x
            < edges[i + 1]``, and the last bin includes its upper edge. NaN is missing; a number
            outside the edges is refused (use ±inf).
        weight
            A column of weights, finite and not negative; the counts are then floats.
        missing
            Tokens that count as missing besides None, NaN and blank text, matched by spelling
            (``-1`` or ``"NA"``).
        coerce
            Make spellings of one value (``"1"``, 1, True) one label instead of refusing them.
        apart
            Columns with a vocabulary of their own, such as a slice or a cluster. All others (except
            those that are cut) must share one, so that a vote ``"1"`` is not silently compared with
            a vote 1.
        batch_id
            What the caller calls these rows. Tallies that hold the same batch do not add up. Files
            without it are known by their content; data in memory is not known at all.
        """
        recipe = Recipe.of(
            columns=columns, cut=cut, weight=weight, missing=missing, coerce=coerce, apart=apart
        )
        return cls.by_recipe(data, recipe, batch_id=batch_id)

    @classmethod
    def by_recipe(cls, data: Any, recipe: Recipe, *, batch_id: str | None = None) -> Tally:
        """Count *data* as :meth:`of` does, with the options in one record.

        A recipe that names the ``item`` column keeps a sample of the rows of files, so that a sum
        of two tallies refuses rows that both have counted.
        """
        made, sources = _count(data, recipe, batch_id)
        return cls._holding(made, recipe, sources)

    @classmethod
    def from_patterns(
        cls,
        columns: Mapping[str, Sequence[Label]],
        counts: Sequence[int] | Sequence[float],
        *,
        apart: Sequence[str] = (),
    ) -> Tally:
        """Make a tally of what was counted elsewhere: one row per pattern, with its count; floats
        make it a weighted one. Columns in *apart* have a vocabulary of their own.

        >>> Tally.from_patterns({"a": [0, 1], "b": [1, 1]}, [30, 12]).n
        42
        """
        from tallystick.table.counting import count_groups

        held = np.asarray(counts)
        weighted = held.dtype.kind == "f"
        rows = len(next(iter(columns.values()))) if columns else 0
        numbers = held.dtype.kind in "iuf" and bool((np.isfinite(held) & (held >= 0)).all())
        if held.shape != (rows,) or not numbers:
            raise InputError(
                f"counts must have one entry per pattern ({rows}), each finite and not negative,"
                f" got {list(counts)!r:.80}"
            )
        recipe = Recipe(weight="count" if weighted else None, apart=frozenset(apart))
        counted = count_groups(columns, held, weighted=weighted)
        return cls._holding(counted.settled(recipe), recipe)

    @classmethod
    def _holding(
        cls,
        patterns: Patterns,
        recipe: Recipe,
        sources: Sources | Callable[[], Sources] | None = None,
    ) -> Tally:
        tally = cls()
        tally._recipe, tally._held = recipe, patterns
        tally._counted = sources if sources is not None else Sources()
        return tally

    # -- what is in it

    @property
    def n(self) -> int | float:
        """How many rows were counted; their weight in a weighted tally."""
        return checked_total(self.counts)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self._held.names

    @property
    def labels(self) -> Mapping[str, tuple[Label, ...]]:
        """The labels of each column by type, then by value; None (missing) is last."""
        return {name: tuple(labels) for name, labels in self._held.labels.items()}

    @property
    def patterns(self) -> int:
        """How many patterns occurred."""
        return len(self._held.counts)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return self._recipe is not None and self._recipe.weight is not None

    @property
    def cut(self) -> Mapping[str, tuple[float, ...]]:
        """The edges of the columns that were cut."""
        return {} if self._recipe is None else dict(self._recipe.cut)

    @property
    def apart(self) -> frozenset[str]:
        """Columns that were counted beside the votes: slices, weights."""
        held = frozenset() if self._recipe is None else self._recipe.apart
        return held - frozenset(self.cut)

    @property
    def counts(self) -> Counts:
        """How often each occurring pattern occurred, patterns in lexicographic order of their
        labels.
        """
        return self._held.counts

    @property
    def codes(self) -> NDArray[np.int32]:
        """The occurring patterns: one row a pattern, one column a column, the index into its
        labels.
        """
        return self._held.codes

    @property
    def sources(self) -> Sources:
        """The files, streams and batches that were counted; none for data in memory."""
        if callable(self._counted):
            self._counted = self._counted()
        return self._counted

    def frame(self) -> pa.Table:
        """Return the patterns as an Arrow table with their ``count``.

        A column whose labels are of several types is written as text. Where a column is itself
        called ``count``, the counts are called ``tally_count``.
        """
        import pyarrow as pa

        columns: dict[str, Any] = {
            name: label_column(labels).take(pa.array(self.codes[:, j]))
            for j, (name, labels) in enumerate(self._held.labels.items())
        }
        columns["count" if "count" not in columns else "tally_count"] = pa.array(self.counts)
        return pa.table(columns)

    # -- what can be made of it

    def marginal(self, columns: Sequence[str]) -> Tally:
        """Return the tally of some of the columns, in the order given.

        >>> Tally.of({"a": [0, 0, 1], "b": [0, 1, 1]}).marginal(["b"]).counts
        array([1, 2])
        """
        if isinstance(columns, str):
            raise not_a_list("columns", columns)
        wanted = Recipe.of(columns=columns).select(self.names)
        recipe = self._known_recipe
        cut = {name: edges for name, edges in recipe.cut.items() if name in wanted}
        made = replace(recipe, columns=wanted, cut=cut)
        return self._holding(self._held.marginal(wanted), made, self._counted)

    def as_rows(self) -> Tally:
        """Return sums of whole weights as counts of the rows that these stand for."""
        held, recipe = self._held, replace(self._known_recipe, weight=None)
        counts = held.counts.astype(np.int64)
        if (counts != held.counts).any():
            raise InputError("these sums of weights are not whole numbers, so they count no rows")
        return self._holding(replace(held, counts=counts), recipe, self._counted)

    def with_sources_of(self, other: Tally) -> Tally:
        """Return this tally as one that has counted the rows of *other*."""
        return self._holding(self._held, self._known_recipe, other._counted)

    def column(self, name: str) -> list[Label]:
        """Return the label that each pattern shows in one column.

        >>> Tally.of({"a": [0, 0, 1], "b": [0, 1, 1]}).column("b")
        [0, 1, 1]
        """
        Recipe(columns=(name,)).select(self.names)
        labels = self.labels[name]
        return [labels[code] for code in self.codes[:, self.names.index(name)].tolist()]

    def where(self, **labels: Label) -> Tally:
        """Return the tally of the rows that show these labels; columns and label sets stay as they
        are. A part has no sources, so that the parts of one tally add up again.

        >>> Tally.of({"a": [0, 0, 1], "b": [0, 1, 1]}).where(b=1).n
        2
        """
        held = self._held
        for name, label in labels.items():
            Recipe(columns=(name,)).select(held.names)
            held = held.where(name, plain(label, column=name))
        return self._holding(held, self._known_recipe) if self._recipe is not None else Tally()

    def locate(self, data: Any) -> NDArray[np.int64]:
        """Return the pattern of each row of *data*, as an index into ``counts``; -1 for a pattern
        that never occurred.

        Rows are read as they were when counted (cuts, missing tokens, coerced spellings). A lazy
        frame or a file is read, these columns only, because there is one answer a row.
        """
        from tallystick.table.counting import cells_of
        from tallystick.table.engines import columns_of

        recipe, names = self._known_recipe, self.names
        reading = replace(recipe, columns=names, weight=None)
        cells = cells_of(columns_of(data, names), names, reading)
        labels: list[Sequence[Label]] = []
        codes = np.empty((len(cells[0].values), len(names)), np.int32)
        for j, column in enumerate(cells):
            written, codes[:, j] = column.coded()
            labels.append([None if is_missing(one, recipe.missing) else one for one in written])
            if recipe.coerce and names[j] not in recipe.apart:
                labels[j] = [spelling(label) for label in labels[j]]
        return self._held.find(labels, codes)

    # -- how it grows

    def update(self, batch: Any, *, batch_id: str | None = None) -> None:
        """Count one more batch, in place, in the same way as what is there.

        A *batch_id* that was counted before raises `MergeError`, and nothing is counted.

        >>> votes = Tally()
        >>> for batch in ({"a": [1, 0]}, {"a": [1]}):
        ...     votes.update(batch)
        >>> votes.counts
        array([1, 2])
        """
        # A batch that was counted before is refused before anything is counted.
        grown = self._counted
        if batch_id is not None:
            grown = self.sources.joined(Sources.of_batch(batch_id))
        recipe = self._recipe if self._recipe is not None else Recipe()
        from tallystick.table.engines import is_source

        fresh, sources = _count(batch, recipe, batch_id)
        if batch_id is None and is_source(batch):
            grown = self.sources.joined(sources() if callable(sources) else sources)
        self._held = fresh if self._held is _NOTHING else self._held.merged(fresh, recipe)
        self._counted = grown
        self._recipe = recipe

    def __add__(self, other: Tally) -> Tally:
        return self.merge(other) if isinstance(other, Tally) else NotImplemented

    def merge(self, other: Tally, *, allow_overlap: bool = False) -> Tally:
        """Return the sum of both tallies, as ``+`` does.

        Parameters
        ----------
        other
            A tally of the same columns.
        allow_overlap
            Add up even if both have counted the same file, batch or rows; ``sources.repeats`` names
            it.

        Examples
        --------
        >>> monday = Tally.of({"a": [1, 0]}, batch_id="monday")
        >>> monday + monday
        Traceback (most recent call last):
        tallystick.errors.MergeError: both tallies count batch monday: its rows would be counted ...
        >>> monday.merge(monday, allow_overlap=True).sources.repeats
        ('batch monday',)
        """
        if self._recipe is None or other._recipe is None:
            return (other if self._recipe is None else self)._copy()
        recipe = self._recipe.merged(other._recipe)
        try:
            both = self._held.merged(other._held, recipe)
        except InputError as error:  # two spellings of one label, or more than 64 bits
            raise MergeError(str(error)) from error
        sources = self.sources.joined(
            other.sources, allow_overlap=allow_overlap, chance=self._alike(other, both)
        )
        return self._holding(both, recipe, sources)

    def clash(self, other: Tally) -> str | None:
        """Say what both have counted, after the words "they both count"; None for nothing."""
        if self.sources.clash(other.sources) is None:
            return None
        both = self.merge(other, allow_overlap=True)._held
        return self.sources.clash(other.sources, chance=self._alike(other, both))

    def _alike(self, other: Tally, both: Patterns) -> float:
        """Return how often a row of each has the same pattern."""
        squares = [
            float(np.sum(np.square(one.counts, dtype=float)))
            for one in (both, self._held, other._held)
        ]
        pairs = float(self.n) * float(other.n)
        return (squares[0] - squares[1] - squares[2]) / (2 * pairs) if pairs else 0.0

    def __radd__(self, other: object) -> Tally:
        # sum(tallies) starts from 0
        return self._copy() if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (
            self.weighted == other.weighted
            and self.cut == other.cut
            and self._held.same(other._held)
        )

    def _copy(self) -> Tally:
        if self._recipe is None:
            return Tally()
        return self._holding(self._held, self._recipe, self._counted)

    @property
    def _known_recipe(self) -> Recipe:
        if self._recipe is None:
            raise empty_tally()
        return self._recipe

    # -- how it is kept

    def save(self, path: str | Path) -> None:
        """Write the tally to *path* (Arrow IPC with a format version), whole or not at all."""
        from tallystick.table.tally_files import save_tally

        save_tally(self._held, self._recipe, self.sources, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Tally:
        """Read a saved tally; a damaged, foreign or newer file is refused by name."""
        from tallystick.table.tally_files import load_tally

        patterns, recipe, sources = load_tally(Path(path))
        return cls() if recipe is None else cls._holding(patterns, recipe, sources)

    def __repr__(self) -> str:
        if self._recipe is None:
            return "<Tally: empty>"
        shown = ", ".join(self.names[:6]) + (", …" if len(self.names) > 6 else "")
        unit = "weight" if self.weighted else "n"
        n = f"{self.n:,}" if isinstance(self.n, int) else f"{self.n:,.6g}"
        columns = f"{len(self.names)} column{'s' * (len(self.names) != 1)}"
        return (
            f"<Tally of {columns} ({shown}): {self.patterns:,} pattern{'s' * (self.patterns != 1)},"
            f" {unit} = {n}>"
        )


def _count(
    data: Any, recipe: Recipe, batch_id: str | None
) -> tuple[Patterns, Sources | Callable[[], Sources]]:
    """Count *data* in its engine, and say what was counted."""
    from tallystick.table.engines import count, is_source, opened

    sources: Sources | Callable[[], Sources] = Sources()
    if is_source(data):
        from tallystick.table.tables import Table

        with opened(data) as table:
            counted = count(table, recipe)
            # A table that somebody else holds open may never be merged or saved: hash it then.
            sources = partial(_sources_of, table, recipe)
            if not isinstance(data, Table) and batch_id is None:
                sources = sources()
    else:
        counted = count(data, recipe)
    if batch_id is not None:
        sources = Sources.of_batch(batch_id)
    return counted.settled(recipe), sources


def _sources_of(table: Table, recipe: Recipe) -> Sources:
    return replace(Sources.of_contents(table.contents()), rows=_row_sample(table, recipe))


def _row_sample(table: Table, recipe: Recipe) -> Mapping[str, frozenset[int]]:
    """Return the smallest hashes of the rows, by the function that made them."""
    if recipe.item is None or recipe.item not in table.kinds or not table.origin:
        return {}
    cells = []
    for name in (recipe.item, *sorted(recipe.select(table.columns))):
        text = f"trim({identifier(name)}::varchar)"
        if table.kinds[name] == "float":  # pandas writes whole numbers beside a gap as 1.0
            text = f"regexp_replace({text}, '\\.0$', '')"
        cells.append(f"coalesce({text}, '')")
    found = table.query(
        f"select distinct hash({', '.join(cells)}) as h from rows where {cells[0]} <> ''"
        f" order by h limit {_KEPT}"
    )
    # The hash function of the engine may change from one version to the next, and samples of two
    # functions cannot be compared: the hash of a fixed word tells them apart.
    [(function,)] = table.query("select hash('rows of a tally') from rows limit 1")
    return {f"{function:x}": frozenset(h for (h,) in found)}


def label_column(labels: Sequence[Label]) -> pa.Array:
    """Return the labels as one Arrow array."""
    import pyarrow as pa

    kinds = {type(label) for label in labels if label is not None}
    if kinds == {int, float}:
        return pa.array(list(labels), pa.float64())
    if len(kinds) > 1:
        return pa.array([None if label is None else str(label) for label in labels], pa.string())
    return pa.array(list(labels)) if kinds else pa.array(list(labels), pa.string())


# Labels that are numbers: they are counted as names, and the answer says so.


def empty_tally() -> InputError:
    """Return the error for a question to a tally that has counted nothing."""
    return InputError("the tally is empty: count at least one item first")


def unordered(labels: Iterable[Label]) -> str | None:
    """Return what has to be assumed of *labels* that could be grades: three or more whole numbers;
    else None.

    Examples
    --------
    >>> unordered([1, 2, 3, 4, 5, None])
    'labels 1 to 5 are names with no order: as grades, a vote next to the right one still counts as wrong'
    >>> unordered([0, 1])
    """
    shown = {label for label in labels if label is not None}
    numbers = [int(label) for label in shown if str(label).removeprefix("-").isdecimal()]
    if len(numbers) < 3 or len(numbers) < len(shown):
        return None
    return (
        f"labels {min(numbers)} to {max(numbers)} are names with no order: as grades, a vote next"
        " to the right one still counts as wrong"
    )


# A stream of Spark counted into one file, each batch once, however often the stream is killed.


_QUERY = "sql.streaming.queryId"


@dataclass(frozen=True, kw_only=True)
class TallySink:
    """What ``foreachBatch`` calls: it counts a batch in Spark and adds the counts to a saved tally.

    Spark repeats a batch that it has not committed. If the file has that batch already, nothing is
    added: every batch is counted once, whenever the driver is killed. A batch is named by the
    stream, which is known by its checkpoint, and its number.

    Parameters
    ----------
    path
        The saved tally. Only one stream at a time may write to it.
    columns, cut, weight, missing
        As in `tallystick.table.Tally.of`; the same at every start.
    stream
        A name for the stream, where its checkpoint does not say it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sink = TallySink(path=f"{folder}/votes.tally", stream="votes")
    ...     sink({"gpt": [1, 0], "claude": [1, 1]}, 0)
    ...     sink({"gpt": [0, 0], "claude": [1, 1]}, 1)
    ...     sink({"gpt": [0, 0], "claude": [1, 1]}, 1)  # repeated after a kill
    ...     Tally.load(f"{folder}/votes.tally").n
    4

    With Spark::

        sink = TallySink(path="votes.tally", columns=["gpt", "claude"])
        votes.writeStream.foreachBatch(sink).option("checkpointLocation", "votes.d").start()
    """

    path: str | Path
    columns: Sequence[str] | None = None
    cut: Mapping[str, Sequence[float]] | None = None
    weight: str | None = None
    missing: Sequence[Any] = field(default=())
    stream: str | None = None

    def __call__(self, frame: Any, batch: int) -> None:
        """Count one batch, unless the file has it already."""
        path = Path(self.path)
        name = f"{self.stream or _stream_of(frame)}:{batch}"
        held = Tally.load(path) if path.exists() else None
        if held is not None and name in held.sources.batches:
            return
        fresh = Tally.of(
            frame,
            columns=self.columns,
            cut=self.cut,
            weight=self.weight,
            missing=self.missing,
            batch_id=name,
        )
        # Counts and ids are one file, which replaces the old one in a single step.
        (fresh if held is None else held + fresh).save(path)


def _stream_of(frame: Any) -> str:
    """Return the id of the query that hands over this batch: it lives in the checkpoint."""
    session = getattr(frame, "sparkSession", None)
    context = getattr(session, "sparkContext", None)
    found = None if context is None else context.getLocalProperty(_QUERY)
    if not found:
        raise InputError(
            "the batch does not say which stream it belongs to: name it, TallySink(stream=…)"
        )
    return str(found)
