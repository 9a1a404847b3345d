"""Questions to a frame that lives in another engine, such as Spark or Dask.

Every function here sends one job to the engine and brings back a small answer. Rows come back only
through `fetch`, which takes the columns in use and refuses what does not fit into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.table.cells import Label
from tallystick.table.engine import fits
from tallystick.table.engines import CELL, ROWS, lazily, row_count
from tallystick.table.long_tables import LongShape

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_JUDGES = 1_000


def rows_fit(frame: Any, columns: Sequence[str]) -> bool:
    """Say whether *columns* of a frame can be fetched within the memory limit."""
    return fits(row_count(frame) * len(set(columns)) * CELL)


def first_repeat_in(frame: Any, *columns: str) -> tuple[Any, ...] | None:
    """Return one combination of *columns* that several rows show, None if all rows differ.

    Examples
    --------
    >>> import polars as pl
    >>> first_repeat_in(pl.LazyFrame({"id": ["x", "y", "x"]}), "id")
    ('x',)
    """
    import narwhals as nw

    groups = lazily(frame).select(*columns).group_by(*columns).agg(nw.len().alias(ROWS))
    found = groups.filter(nw.col(ROWS) > 1).head(1).collect()
    return tuple(found[name][0] for name in columns) if len(found) else None


def different_in(frame: Any, column: str) -> int:
    """Return how many different values a column has; blank cells are none.

    >>> import polars as pl
    >>> different_in(pl.LazyFrame({"id": ["x", "y", "x", None]}), "id")
    2
    """
    import narwhals as nw

    cell = nw.col(column)
    groups = lazily(frame).filter(~cell.is_null()).select(column).unique()
    return int(groups.select(nw.len()).collect().item())


def distinct(frame: Any, column: str, most: int) -> list[Label]:
    """Return the different values of a column, one more than *most* of them at most."""
    import narwhals as nw

    groups = lazily(frame).select(column).group_by(column).agg(nw.len().alias(ROWS))
    found = groups.head(most + 1).collect()[column].to_list()
    known = sorted(value for value in found if not _blank(value))
    return [*known, *([None] if len(known) < len(found) else [])]


def part(frame: Any, column: str, label: Label) -> Any:
    """Return the rows that show *label* in *column* (None: the blank ones); nothing is run yet."""
    import narwhals as nw

    cell = nw.col(column)
    if label is not None:
        return lazily(frame).filter(cell == label).to_native()
    held = lazily(frame)
    kind = held.collect_schema()[column]
    blank = cell.is_null()
    if kind == nw.String:
        blank = blank | (cell.str.strip_chars() == "")
    elif kind.is_float():
        blank = blank | cell.is_nan()
    return held.filter(blank).to_native()


@dataclass(frozen=True)
class Pivoted:
    """A long frame as one row per item, not yet run, and the judges that are its columns."""

    frame: Any
    judges: tuple[str, ...]


def pivot(frame: Any, shape: LongShape, facts: Sequence[str]) -> Pivoted:
    """Turn one row per vote into one column per judge, in the engine.

    Parameters
    ----------
    frame
        One row per vote.
    shape
        Its columns of items, judges and votes.
    facts
        Columns that say one thing about each item, such as the truth; they are kept.

    Examples
    --------
    >>> import polars as pl
    >>> votes = pl.LazyFrame({"q": [1, 1, 2], "by": ["x", "y", "x"], "said": ["a", "b", "b"]})
    >>> made = pivot(votes, LongShape("q", "by", "said"), [])
    >>> made.judges, sorted(made.frame.collect().rows())
    (('x', 'y'), [(1, 'a', 'b'), (2, 'b', None)])
    """
    import narwhals as nw

    names = distinct(frame, shape.judge, _MOST_JUDGES)
    if None in names:
        raise InputError(
            f"the frame: the judge column {shape.judge!r} is blank. Fill it, or remove the rows"
        )
    if len(names) > _MOST_JUDGES:
        raise InputError(
            f"the frame has more than {_MOST_JUDGES:,} judges in {shape.judge!r}: keep fewer of"
            " them"
        )
    judges = tuple(map(str, names))
    _check_votes(frame, shape, facts)
    who, vote = nw.col(shape.judge), nw.col(shape.vote)
    votes = [nw.when(who == name).then(vote).alias(str(name)) for name in names]
    # The greatest of one vote and many blanks is the vote.
    columns = [nw.col(name).max() for name in (*judges, *facts)]
    wide = lazily(frame).select(shape.item, *facts, *votes).group_by(shape.item).agg(*columns)
    return Pivoted(wide.to_native(), judges)


def _check_votes(frame: Any, shape: LongShape, facts: Sequence[str]) -> None:
    """Refuse two votes of one judge on an item, and facts that change within an item."""
    import narwhals as nw

    twice = first_repeat_in(frame, shape.item, shape.judge)
    if twice is not None:
        raise InputError(
            f"duplicate vote: item {twice[0]!r} has two votes of judge {twice[1]!r}. Keep one of"
            " them; if every row is an item of its own, say --shape wide"
        )
    for fact in facts:
        low, high = nw.col("least"), nw.col("most")
        ends = (
            lazily(frame)
            .select(nw.col(shape.item), nw.col(fact).alias("least"), nw.col(fact).alias("most"))
            .group_by(shape.item)
            .agg(low.min(), high.max())
        )
        odd = ends.filter(low != high).head(1).collect()
        if len(odd):
            raise InputError(
                f"the frame: {fact!r} is {odd['least'][0]!r} and {odd['most'][0]!r} on item"
                f" {odd[shape.item][0]!r}: give every item one value"
            )


def _blank(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


# The index of a pandas frame: a named one holds facts of the rows, often their items.


def with_index(frame: Any, table: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """Return *table*, the columns of *frame*, with the named levels of its index before them, and
    what was left out.

    An index without a name is left out. It is mentioned only if it holds something else than whole
    numbers, which pandas gives to rows by itself.

    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> frame = pd.DataFrame({"gpt": [1, 0]}, index=pd.Index(["q1", "q2"], name="question_id"))
    >>> with_index(frame, pa.table({"gpt": [1, 0]}))[0].column_names
    ['question_id', 'gpt']
    """
    import pyarrow as pa

    index = getattr(frame, "index", None)
    if type(frame).__module__.partition(".")[0] != "pandas" or index is None:
        return table, ()

    notes: list[str] = []
    for level in reversed(range(index.nlevels)):
        name, values = index.names[level], index.get_level_values(level)
        if isinstance(name, str) and name not in table.column_names:
            cells = pa.array(values.to_numpy(), from_pandas=True)
            table = table.add_column(0, name, cells)
        elif name is None and values.dtype.kind not in "iu":
            notes.append(
                f"the index of the frame ({str(values[0])[:40]!r}, …) has no name and was left out."
                ' To use it, name it: frame.index.name = "item"'
            )
    return table, tuple(notes)


# Datasets of Hugging Face as a source: their rows are Arrow already.


def arrow_of_dataset(source: Any) -> Any:
    """Return a ``datasets.Dataset`` as an Arrow table, its selection and order included.

    A column of class numbers becomes the names of the classes: votes are words.

    Parameters
    ----------
    source
        One split. A ``DatasetDict`` holds several, and a stream cannot be read twice: both are
        refused with the way out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = type(source).__name__
    if kind in ("DatasetDict", "IterableDatasetDict"):
        splits = ", ".join(map(repr, source))
        raise InputError(f"this dataset has the splits {splits}: name one, as in data['test']")
    if not hasattr(source, "with_format") or kind.startswith("Iterable"):
        raise InputError(
            f"a {kind} is read once and cannot be counted twice: load it without streaming, or"
            " collect it with Dataset.from_generator"
        )
    table = source.with_format("arrow")[:]
    for place, (name, feature) in enumerate(source.features.items()):
        if type(feature).__name__ != "ClassLabel":
            continue
        names = pa.array(feature.names, pa.string())
        codes = table[name]
        # -1 means that the truth is hidden, as in the test splits of many benchmarks.
        known = pc.if_else(pc.greater_equal(codes, 0), codes, None)
        table = table.set_column(place, name, pc.take(names, known))
    return table


# Answers that are drawn with a known accuracy: the raw material of every demonstration table.


Ints = npt.NDArray[np.int64]


def draw_truth(n: int, shares: tuple[float, ...], draw: np.random.Generator) -> Ints:
    """Return *n* true labels as whole numbers, label k with share ``shares[k]``."""
    return draw.choice(len(shares), n, p=shares)


def draw_answers(
    truth: Ints,
    accuracy: float,
    labels: int,
    draw: np.random.Generator,
    *,
    hard: Any = 0.0,
    shared: float = 0.0,
) -> Ints:
    """Return answers that are right with probability *accuracy*.

    Parameters
    ----------
    truth, accuracy, labels
        The true labels, how often they are met, and how many labels there are.
    draw
        The generator.
    hard
        A standard normal number per item that is common to all who answer it.
    shared
        Which share of the luck is *hard*: 0 for independent errors, 1 for the same errors.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> truth = draw_truth(10_000, (0.7, 0.3), draw)
    >>> bool(abs((draw_answers(truth, 0.9, 2, draw) == truth).mean() - 0.9) < 0.02)
    True
    """
    from scipy.special import ndtri

    luck = np.sqrt(shared) * hard + np.sqrt(1 - shared) * draw.standard_normal(len(truth))
    wrong = (truth + draw.integers(1, labels, len(truth))) % labels
    return np.asarray(np.where(luck < ndtri(accuracy), truth, wrong))
