"""Columns of numbers, read strictly: what is not a number is refused with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.errors import InputError
from tallystick.io import Table, check_numbers, identifier
from tallystick.io.arrays import as_numpy
from tallystick.values import (
    as_number,
    as_pass_fail,
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

    candidates = [name for name in names if table.kinds.get(name) in ("text", "integer", "float")]
    numbers, faults = {}, {}
    for name in candidates:
        cell = f"({without_missing(name, table.kinds[name], missing)})"
        number = numbers[name] = as_number(cell, table.kinds[name])
        tests = [f"({number}) is null and {cell} is not null", f"not isfinite({number})"]
        tests += [f"({number}) < {float(low)!r}"] if low is not None else []
        tests += [f"({number}) > {float(high)!r}"] if high is not None else []
        faults[name] = f"count(*) filter ({' or '.join(tests)})"
    if not candidates:
        return {}

    [counted] = table.query(f"select {', '.join(faults.values())} from rows")
    plain = [name for name, bad in zip(candidates, counted, strict=True) if not bad]
    if not plain:
        return {}
    selected = ", ".join(f"{numbers[name]} as c{k}" for k, name in enumerate(plain))
    fetched = table.arrow(f"select {selected} from rows")
    return {
        name: np.asarray(as_numpy(fetched[f"c{k}"]), dtype=np.float64)
        for k, name in enumerate(plain)
    }


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
        check_numbers(table, name, missing=tokens, low=low, high=high)
        number = as_number(f"({cell})", kind)
    fetched = table.arrow(f"select {number} as number from rows")["number"]
    return np.asarray(as_numpy(fetched), dtype=np.float64)


def _distinct_words(table: Table, name: str, tokens: Sequence[str]) -> list[str]:
    """Return cells that are not numbers, each once; at most a few more than can be marks."""
    kind = table.kinds[name]
    cell = without_missing(name, kind, tokens)
    number = as_number("word", kind)
    rows = table.query(
        f"select distinct word from (select {cell} as word from rows) where word is not null and"
        f" {number} is null limit {_MOST_WORDS + 1}"
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
