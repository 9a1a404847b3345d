"""What is in a column: blanks, distinct values, numbers, and how often each value occurs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from tallystick.data.detect.sample import Sample
from tallystick.io import Label
from tallystick.io.arrays import as_numpy
from tallystick.values.missing import NUMBER
from tallystick.values.spelling import spelling

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["MOST_VALUES", "Nature", "Profile", "look"]

Nature: TypeAlias = Literal["empty", "constant", "labels", "numbers", "text"]

MOST_VALUES = 64
"""A column with more distinct values than this is not taken for labels without being asked for."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One column.

    Parameters
    ----------
    name
        The column.
    rows, filled
        Rows of the table, and those in which it is not blank.
    seen, distinct
        Filled cells that were looked at, and how many different values they hold.
    nature
        ``empty``, ``constant``, ``labels`` (few values that repeat), ``numbers`` (many, or with
        fractions) or ``text``.
    low, high
        The range, if every value is a number.
    numeric
        Share of the different values that are numbers: a column of scores with one misspelt cell
        is still a column of scores.
    counts
        How often each value occurs, spelled canonically; empty where there are too many, or
        fractions.
    """

    name: str
    rows: int
    filled: int
    seen: int
    distinct: int
    nature: Nature
    low: float | None = None
    high: float | None = None
    numeric: float = 0.0
    counts: Mapping[Label, int]

    @property
    def values(self) -> frozenset[Label]:
        """The different values, spelled canonically."""
        return frozenset(self.counts)

    @property
    def blank(self) -> float:
        """Share of rows in which it is blank."""
        return 1 - self.filled / self.rows if self.rows else 0.0

    @property
    def repeats(self) -> bool:
        """Whether values come twice on average, at least."""
        return 2 * self.distinct <= self.seen


def look(sample: Sample) -> dict[str, Profile]:
    """Look at every column of a sample.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.data.detect.sample import draw
    >>> from tallystick.io import scan
    >>> table = scan(pa.table({"id": ["a", "b", "c"], "vote": ["yes", "no", "yes"], "p": [0.1, 0.2, 0.9]}))
    >>> {name: profile.nature for name, profile in look(draw(table)).items()}
    {'id': 'text', 'vote': 'labels', 'p': 'numbers'}
    """
    return {name: _profile(name, sample) for name in sample.cells.column_names}


def _profile(name: str, sample: Sample) -> Profile:
    encoded = sample.column(name).drop_null().combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    seen = len(encoded)
    often = (
        np.bincount(np.from_dlpack(encoded.indices), minlength=len(words)).tolist() if seen else []
    )
    numeric, numbers = _numbers(encoded.dictionary)
    finite = numbers is not None and bool(np.isfinite(numbers).all())
    whole = numbers is not None and bool((np.floor(numbers) == numbers)[np.isfinite(numbers)].all())
    counts: dict[Label, int] = {}
    if len(words) <= MOST_VALUES and (numbers is None or (whole and finite)):
        for word, count in zip(words, often, strict=True):
            counts[spelling(word)] = counts.get(spelling(word), 0) + count
    nature: Nature
    if not words:
        nature = "empty"
    elif len(words) == 1:
        nature = "constant"
    elif counts and (len(counts) == 2 or 2 * len(counts) <= seen):
        nature = "labels"
    else:
        nature = "text" if numbers is None else "numbers"
    return Profile(
        name=name,
        rows=sample.rows,
        filled=sample.filled[name],
        seen=seen,
        distinct=len(words),
        nature=nature,
        low=None if numbers is None or not len(numbers) else float(numbers.min()),
        high=None if numbers is None or not len(numbers) else float(numbers.max()),
        numeric=numeric,
        counts=counts,
    )


def _numbers(words: pa.Array) -> tuple[float, NDArray[np.float64] | None]:
    """Return the share of values that are numbers, and the numbers if all of them are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(words):
        return 0.0, np.zeros(0)
    if not pa.types.is_string(words.type) and not pa.types.is_large_string(words.type):
        return 1.0, np.array([float(word) for word in words.to_pylist()])

    # A column of names has as many values as rows: they are looked at where they lie.
    trimmed = pc.utf8_trim_whitespace(words)
    share = float(np.mean(as_numpy(pc.match_substring_regex(trimmed, f"^(?:{NUMBER.pattern})$"))))
    if share < 1.0:
        return share, None
    try:
        return share, as_numpy(trimmed.cast(pa.float64()))
    except pa.ArrowInvalid:  # +1 and 1e999, which Python reads
        return share, np.array([float(word) for word in trimmed.to_pylist()])
