"""One column in memory becomes whole numbers: small integers as they are, everything else by its
dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.io.arrays import as_numpy, codes_of
from tallystick.values.label import MOST_LABELS, Label, identity, not_labels, plain, too_many
from tallystick.values.missing import is_missing, numbers_among

__all__ = [
    "Encoded",
    "bad_weight",
    "cut_numbers",
    "encode",
    "numbers_of",
    "outside_edges",
    "weights_of",
]

_SAMPLE = 1 << 16


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as integers; ``labels`` says what they stand for, None where they stand for
    themselves.
    """

    values: NDArray[Any]
    labels: Sequence[Label] | None = None
    boolean: bool = False

    def label(self, value: int) -> Label:
        """Return the label of one of the values."""
        if self.labels is not None:
            return self.labels[value]
        return bool(value) if self.boolean else int(value)


def encode(name: str, column: Any, *, most: int = MOST_LABELS) -> Encoded:
    """Return *column* (a NumPy array, a pyarrow array or a plain sequence) as integers with their
    labels.

    A list is taken element by element, because NumPy would turn ``[1, "1"]`` into two equal
    strings. A column with more than *most* labels is refused.
    """
    if isinstance(column, np.ma.MaskedArray):
        return _by_dictionary(
            name, _arrow(name, column.data, mask=np.ma.getmaskarray(column)), most
        )
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise InputError(f"column {name!r} must be one-dimensional, got shape {column.shape}")
        if column.dtype.kind == "b":
            return Encoded(column.view(np.uint8), boolean=True)
        if column.dtype.kind in "iu":
            if column.itemsize == 1 or _narrow(column):
                return Encoded(column)
            return _by_dictionary(name, _arrow(name, column), most)
        if column.dtype.kind in "fU":
            return _by_dictionary(name, _arrow(name, column), most)
        if column.dtype.kind != "O":
            raise not_labels(name, f"has dtype {column.dtype}")
        return _by_identity(name, column.tolist(), most)
    if hasattr(column, "dictionary_encode"):
        return _from_arrow(name, column, most)
    return _by_identity(name, list(column), most)


def _narrow(column: NDArray[Any]) -> bool:
    return not len(column) or int(column.max()) - int(column.min()) < MOST_LABELS


def _arrow(name: str, column: NDArray[Any], *, mask: NDArray[np.bool_] | None = None) -> Any:
    import pyarrow as pa

    try:
        return pa.array(
            column.astype(np.float32) if column.dtype == np.float16 else column, mask=mask
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise not_labels(name, f"has dtype {column.dtype}") from error


def _from_arrow(name: str, column: Any, most: int) -> Encoded:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return Encoded(np.zeros(len(column), np.uint8), labels=(None,))
    if not column.null_count and (
        pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
    ):
        return encode(name, as_numpy(column), most=most)
    return _by_dictionary(name, column, most)


def _by_dictionary(name: str, column: Any, most: int) -> Encoded:
    """Encode an Arrow column by its hash table; a column that looks like text is refused after a
    glance.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (
        pa.types.is_primitive(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    ) or pa.types.is_temporal(kind):
        raise not_labels(name, f"has type {kind}")
    glance = pc.count_distinct(column.slice(0, _SAMPLE)).as_py()
    if glance > most:
        raise too_many(name, glance, [column[0].as_py()])
    coded = column.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks() if coded.num_chunks != 1 else coded.chunk(0)
        if isinstance(coded, pa.ChunkedArray):  # combine_chunks of no chunk at all
            return Encoded(np.zeros(0, np.uint8), labels=(None,))
    labels = [plain(value, column=name) for value in coded.dictionary.to_pylist()]
    if len(labels) > most:
        raise too_many(name, len(labels), labels)
    return Encoded(codes_of(coded, missing=len(labels)), labels=(*labels, None))


def _by_identity(name: str, column: Sequence[Any], most: int) -> Encoded:
    """Encode arbitrary Python objects, telling 1 from True."""
    seen: dict[Any, int] = {}
    labels: list[Label] = []
    codes = np.empty(len(column), np.int32)
    for row, value in enumerate(column):
        label = plain(value, column=name)
        key = identity(label)
        code = seen.get(key)
        if code is None:
            code = seen[key] = len(labels)
            labels.append(label)
            if code > most:
                raise too_many(name, code + 1, labels)
        codes[row] = code
    return Encoded(codes, labels=labels)


def cut_numbers(
    name: str, column: Any, edges: Sequence[float], missing: frozenset[str] = frozenset()
) -> Encoded:
    """Return the bin of every number: bin i is ``edges[i] <= x < edges[i + 1]``, the last one
    closed; NaN is missing.

    >>> coded = cut_numbers("score", np.array([0.0, 0.5, 1.0, np.nan]), [0.0, 0.5, 1.0])
    >>> [coded.label(value) for value in coded.values]
    [0, 1, 1, None]
    """
    numbers = numbers_of(name, column, "cut", missing)
    bins = np.searchsorted(np.asarray(edges), numbers, side="right") - 1
    bins[numbers == edges[-1]] = len(edges) - 2
    outside = (numbers < edges[0]) | (numbers > edges[-1])
    if outside.any():
        raise outside_edges(name, repr(float(numbers[outside][0])), edges)
    bins[np.isnan(numbers)] = len(edges) - 1
    return Encoded(bins.astype(np.int32), labels=(*range(len(edges) - 1), None))


def outside_edges(name: str, value: str, edges: Sequence[float]) -> InputError:
    """Return the error for a number that no bin holds."""
    return InputError(
        f"column {name!r} holds {value}, outside cut[{name!r}] = [{edges[0]!r} … {edges[-1]!r}]: "
        "widen the edges, with -inf and inf if need be"
    )


def numbers_of(
    name: str, column: Any, purpose: str, missing: frozenset[str] = frozenset()
) -> NDArray[np.float64]:
    """Return the column as floats, what is missing as NaN; what is not a number is refused."""
    if hasattr(column, "dictionary_encode"):
        column = as_numpy(column)
    if isinstance(column, np.ma.MaskedArray):
        column = np.where(np.ma.getmaskarray(column), np.nan, column.data.astype(np.float64))
    values = np.asarray(column)
    if values.dtype.kind == "O":
        values = np.array(
            [None if is_missing(value, missing) else value for value in values.tolist()], object
        )
    if values.dtype.kind in "OU":  # Python reads 1_000 as a thousand
        odd = next(
            (value for value in values.tolist() if isinstance(value, str) and "_" in value), None
        )
        if odd is not None:
            raise InputError(
                f"column {name!r} is asked for as numbers ({purpose}), but {odd!r} is not a number"
            )
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {name!r} is asked for as numbers ({purpose}), but {error}"
        ) from error
    return (
        np.where(np.isin(numbers, numbers_among(missing)), np.nan, numbers) if missing else numbers
    )


def weights_of(name: str, column: Any) -> NDArray[np.float64]:
    """Return the weights; a missing, negative or infinite one is refused with its row."""
    weights = numbers_of(name, column, "weight")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise bad_weight(name, weights[row], f" in row {row}")
    return weights


def bad_weight(name: str, value: Any, where: str = "") -> InputError:
    """Return the error for a weight that cannot count."""
    return InputError(
        f"weight {name!r} must hold numbers that are finite and not negative, got {value!s}{where}"
    )
