"""Questions to a frame that lives in another engine, such as Spark or Dask.

Every function here sends one job to the engine and brings back a small answer. Rows come back only
through `fetch`, which takes the columns in use and refuses what does not fit into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.data.structure import LongShape
from tallystick.errors import InputError
from tallystick.io.memory import fits, require
from tallystick.values import Label

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa

__all__ = [
    "arrow_table",
    "distinct",
    "fetch",
    "first_repeat_in",
    "lazily",
    "part",
    "pivot",
    "row_count",
    "rows_fit",
]

_ROWS = "rows of it"
_CELL = 48
"""Bytes that one fetched cell takes at the peak: in the engine's answer, as Arrow and as codes."""

_MOST_JUDGES = 1_000


def row_count(frame: Any) -> int:
    """Return how many rows a frame has, counted in its engine.

    Examples
    --------
    >>> import polars as pl
    >>> row_count(pl.LazyFrame({"a": [1, 2, 3]}))
    3
    """
    import narwhals as nw

    return int(lazily(frame).select(nw.len().alias(_ROWS)).collect()[_ROWS][0])


def rows_fit(frame: Any, columns: Sequence[str]) -> bool:
    """Say whether *columns* of a frame can be fetched within the memory limit."""
    return fits(row_count(frame) * len(set(columns)) * _CELL)


def fetch(frame: Any, columns: Sequence[str], why: str) -> pa.Table:
    """Return *columns* of a frame as Arrow, where they fit into memory.

    Parameters
    ----------
    frame
        The frame.
    columns
        The columns in use: no other leaves the engine.
    why
        Why rows are needed, for the message.
    """
    import narwhals as nw

    rows, names = row_count(frame), list(dict.fromkeys(columns))
    require(
        rows * len(names) * _CELL,
        f"The frame has {rows:,} rows, and {why}: fetching {len(names)} columns of it",
        "Give fewer rows.",
    )
    return arrow_table(lazily(frame).select(*(nw.col(name) for name in names)).collect())


def arrow_table(frame: nw.DataFrame[Any]) -> pa.Table:
    """Return an eager frame as Arrow, without the row numbers that pandas adds as a column."""
    return frame.to_arrow().select(frame.columns)


def first_repeat_in(frame: Any, *columns: str) -> tuple[Any, ...] | None:
    """Return one combination of *columns* that several rows show, None if all rows differ.

    Examples
    --------
    >>> import polars as pl
    >>> first_repeat_in(pl.LazyFrame({"id": ["x", "y", "x"]}), "id")
    ('x',)
    """
    import narwhals as nw

    groups = lazily(frame).select(*columns).group_by(*columns).agg(nw.len().alias(_ROWS))
    found = groups.filter(nw.col(_ROWS) > 1).head(1).collect()
    return tuple(found[name][0] for name in columns) if len(found) else None


def distinct(frame: Any, column: str, most: int) -> list[Label]:
    """Return the different values of a column, one more than *most* of them at most."""
    import narwhals as nw

    groups = lazily(frame).select(column).group_by(column).agg(nw.len().alias(_ROWS))
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


def lazily(frame: Any) -> nw.LazyFrame[Any]:
    """Return a frame of any engine as a narwhals frame that runs nothing yet."""
    import narwhals as nw

    held: nw.LazyFrame[Any] = nw.from_native(frame).lazy()
    return held
