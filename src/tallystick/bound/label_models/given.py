"""Any P(Y | Z) that the user brings: an array, a table of patterns, or an object with
predict_proba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.weak_votes import ABSTAINED, WeakTable
from tallystick.errors import InputError
from tallystick.tally import Label
from tallystick.values.label import identity

__all__ = ["given", "read_model"]


def given(table: WeakTable, source: Any, *, name: str = "given") -> LabelModel:
    """Use a label model from elsewhere.

    Parameters
    ----------
    table
        For its classes and weak columns.
    source
        An array (patterns of *table* x classes); or an object with ``predict_proba(votes)``, such
        as a fitted Snorkel ``LabelModel``, called with the votes as class indices and -1 for an
        abstention; or such a function.

    Examples
    --------
    >>> from tallystick.bound.weak_votes import weak_table
    >>> from tallystick.tally import Tally
    >>> table = weak_table(Tally.of({"a": [0, 1], "h": [0, 1]}), weak=["a"], prediction="h")
    >>> given(table, [[0.9, 0.1], [0.2, 0.8]]).probabilities(table)[0].tolist()
    [0.9, 0.1]
    """
    ask = getattr(source, "predict_proba", source if callable(source) else None)
    if ask is None:
        ask = _lookup(table.votes, np.asarray(source, dtype=np.float64), len(table.classes))
    return LabelModel(
        name=name,
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: np.asarray(ask(votes), dtype=np.float64),
        rests_on=f"the label model {name} is right",
    )


def read_model(table: WeakTable, path: str) -> LabelModel:
    """Read P(Y | Z) from a file with a column for each weak label and one, named like the class,
    for each class.

    Patterns that the file does not have stay unknown: their rows are bounded by logic only.
    """
    from tallystick import io

    with io.scan(path) as held:
        lacking = [
            name for name in (*table.weak, *map(str, table.classes)) if name not in held.columns
        ]
        if lacking:
            raise InputError(
                f"{path} has no column {lacking[0]!r}: it needs the weak columns {list(table.weak)}"
                f" and a column of probabilities for each class {[str(c) for c in table.classes]}"
            )
        names = ", ".join(io.identifier(name) for name in (*table.weak, *map(str, table.classes)))
        rows = held.query(f"select {names} from rows")
    if not rows:
        raise InputError(f"{path} has no rows: a label model needs one row per pattern of votes")
    width = len(table.weak)
    votes = np.array(
        [[_class(cell, table.classes, path) for cell in row[:width]] for row in rows],
        dtype=np.int64,
    )
    try:
        laws = np.array([[float(cell) for cell in row[width:]] for row in rows])
    except (TypeError, ValueError):
        raise InputError(f"{path}: the columns of the classes must hold probabilities") from None
    if len(np.unique(votes, axis=0)) < len(votes):
        raise InputError(f"{path} has two rows for one pattern of votes: keep one")
    return LabelModel(
        name=path,
        classes=table.classes,
        weak=table.weak,
        predict=_lookup(votes, laws, len(table.classes)),
        rests_on=f"the label model in {path} is right",
    )


def _class(cell: Any, classes: tuple[Label, ...], path: str) -> int:
    text = "" if cell is None else str(cell).strip()
    if text == "" or text == str(ABSTAINED):
        return ABSTAINED
    for i, label in enumerate(classes):
        if identity(label) == identity(cell) or str(label) == text:
            return i
    raise InputError(
        f"{path}: vote {cell!r} is none of the classes {list(classes)!r} (blank or -1 is an"
        " abstention)"
    )


def _lookup(votes: IntArray, laws: FloatArray, classes: int) -> Any:
    if laws.shape != (len(votes), classes):
        raise InputError(
            f"a label model given as an array needs shape {(len(votes), classes)} (patterns,"
            f" classes), got {laws.shape}"
        )
    seen = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(votes))}

    def predict(asked: IntArray) -> FloatArray:
        out = np.full((len(asked), classes), np.nan)
        for i, row in enumerate(np.ascontiguousarray(asked)):
            z = seen.get(row.tobytes())
            if z is not None:
                out[i] = laws[z]
        return out

    return predict
