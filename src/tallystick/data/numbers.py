"""Columns of numbers, read strictly: what is not a number is refused with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.data.failed_marks import failed_marks
from tallystick.errors import InputError
from tallystick.io import Table, check_numbers, identifier
from tallystick.io.arrays import as_numpy
from tallystick.values import (
    as_number,
    as_pass_fail,
    is_nan,
    is_no_answer,
    literal,
    without_missing,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["read_numbers"]

_MOST_WORDS = 64
_AT_ONCE = 50
"""Columns in one query: more make DuckDB's plans slow."""


def read_numbers(
    table: Table,
    columns: Sequence[str],
    missing: Sequence[str],
    *,
    low: float | None = None,
    high: float | None = None,
) -> npt.NDArray[np.float64]:
    """Return *columns* as numbers, NaN where there is no answer.

    Words for no answer are missing. A column that holds nothing but words for pass and fail counts
    them as 1 and 0. Everything else that is not a finite number within *low* and *high* raises
    `InputError` with its row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> table = scan(pa.table({"a": ["0.5", "NA"], "b": ["pass", "fail"]}))
    >>> read_numbers(table, ["a", "b"], ()).tolist()
    [[0.5, 1.0], [nan, 0.0]]
    """
    import numpy as np

    found: dict[str, npt.NDArray[np.float64]] = {}
    for start in range(0, len(columns), _AT_ONCE):
        block = list(dict.fromkeys(columns[start : start + _AT_ONCE]))
        found.update(_plain(table, block, missing, low, high))
    for name in columns:
        if name not in found:
            found[name] = _column(table, name, missing, low, high)
    return np.stack([found[name] for name in columns], axis=1) if columns else np.zeros((0, 0))


def _plain(
    table: Table,
    names: Sequence[str],
    missing: Sequence[str],
    low: float | None,
    high: float | None,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the columns that hold numbers within bounds and nothing else, in two queries."""
    import numpy as np

    kinds = {n: table.kinds[n] for n in names if table.kinds.get(n) in ("text", "integer", "float")}
    if not kinds:
        return {}
    cells = {name: without_missing(name, kind, missing) for name, kind in kinds.items()}
    counts = ", ".join(f"count({cell})" for cell in cells.values())
    [filled] = table.query(f"select {counts} from rows")
    numbers = ", ".join(
        f"{as_number(f'({cell})', kinds[name])} as c{k}"
        for k, (name, cell) in enumerate(cells.items())
    )
    fetched = table.arrow(f"select {numbers} from rows")

    # What is left to the slow way: a cell that is no number, or a number that is refused there.
    found = {}
    for k, (name, cells_seen) in enumerate(zip(kinds, filled, strict=True)):
        values = np.asarray(as_numpy(fetched[f"c{k}"]), dtype=np.float64)
        held = values[~np.isnan(values)]
        within = (low is None or held >= low) & (high is None or held <= high)
        if len(held) == cells_seen and bool(np.all(np.isfinite(held) & within)):
            found[name] = values
    return found


def _column(
    table: Table, name: str, missing: Sequence[str], low: float | None, high: float | None
) -> npt.NDArray[np.float64]:
    import numpy as np

    kind = table.kinds[name]
    tokens = (*missing, *_words(table, name, missing)) if kind == "text" else tuple(missing)
    marks = _marks(table, name, tokens) if kind in ("text", "boolean") else None
    cell = without_missing(name, kind, tokens)
    if marks is not None:
        cases = " ".join(f"when {_text(word)} then {value!r}" for word, value in marks.items())
        number = f"case cast({cell} as varchar) {cases} end"
    else:
        if kind == "text":
            asked = failed_marks(_distinct_words(table, name, tokens))
            if asked is not None:
                raise InputError(f"{table.source}: {name!r} {asked}")
        check_numbers(table, name, missing=tokens, low=low, high=high)
        number = as_number(f"({cell})", kind)
    fetched = table.arrow(f"select {number} as number from rows")["number"]
    return np.asarray(as_numpy(fetched), dtype=np.float64)


def _distinct_words(table: Table, name: str, tokens: Sequence[str]) -> list[str]:
    """Return cells that are no numbers or NaN, each once; a few more than can be marks at most."""
    kind = table.kinds[name]
    cell = without_missing(name, kind, tokens)
    number = as_number("word", kind)
    rows = table.query(
        f"select distinct word from (select {cell} as word from rows) where word is not null and"
        f" coalesce({is_nan(number)}, true) limit {_MOST_WORDS + 1}"
    )
    return sorted(str(word) for (word,) in rows)


def _words(table: Table, name: str, missing: Sequence[str]) -> list[str]:
    """Return the words for no answer that a column of text holds, as they are written."""
    words = _distinct_words(table, name, missing)
    return [word.strip() for word in words if is_no_answer(word)]


def _marks(table: Table, name: str, tokens: Sequence[str]) -> dict[str, float] | None:
    """Return words for pass and fail with their numbers, None if the column holds other cells."""
    cell = identifier(name)
    shown = without_missing(name, table.kinds[name], tokens)
    rows = table.query(
        f"select distinct cast({shown} as varchar) from rows where {cell} is not null"
        f" limit {_MOST_WORDS + 1}"
    )
    words = [word for (word,) in rows if word is not None]
    if len(words) > _MOST_WORDS or not words:
        return None
    found = as_pass_fail(words)
    return None if found is None else {str(word): value for word, value in found.items()}


def _text(word: str) -> str:
    if "\x00" in word:
        raise InputError(f"a cell holds a zero byte: {word!r}")
    return literal(word)
