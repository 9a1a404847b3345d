"""What is known before a call is paid for: items, their true labels and their old answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError

__all__ = ["OTHER", "Items"]

OTHER = "(other)"
"""Heading of the last column: answers that were empty, refused, unparsable, or no label of the set.
"""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False, kw_only=True)
class Items:
    """Labelled items, as codes. A true label is a code 0 … L - 1; an answer may also be L, "none of
    the labels".

    Parameters
    ----------
    labels
        The L labels.
    truth
        The true label of every item.
    old
        The old answer to every item; None if only a matrix of the past is known, or nothing.
    matrix
        The old confusion matrix as shares of all items, shape (L, L + 1); None if nothing is known
        of the past.
    confidence
        Any score whose ranking predicts which answers will change (the old API's confidence, or a
        cheap model's); None if there is none.
    names
        The name of every item.
    labelled
        Whether *truth* holds true labels. If not, it holds the old answers: the matrix then says
        which answers moved where, and nothing is said about accuracy.
    unclear
        Which old answers count as none of the labels although their text may hold one; None if all
        were read.

    Examples
    --------
    >>> items = Items.of(["cat", "dog", "dog"], old=["cat", "cat", ""])
    >>> items.labels, items.old
    (('cat', 'dog'), array([0, 0, 2]))
    >>> items.matrix
    array([[0.33333333, 0.        , 0.        ],
           [0.33333333, 0.        , 0.33333333]])
    """

    labels: tuple[str, ...]
    truth: IntArray
    old: IntArray | None
    matrix: FloatArray | None
    confidence: FloatArray | None
    names: tuple[str, ...]
    labelled: bool = True
    unclear: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        truth: Sequence[Any],
        *,
        old: Sequence[Any] | None = None,
        matrix: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        labels: Sequence[Any] | None = None,
        other: Sequence[Any] = (),
        names: Sequence[Any] | None = None,
    ) -> Items:
        """Code labels and refuse what does not fit.

        Parameters
        ----------
        truth, old
            One value per item; labels are compared as text. A blank old answer, or one of *other*,
            is "none of them".
        matrix
            The old confusion matrix, (L, L) or (L, L + 1), as counts or shares; its rows must have
            the shares of the true labels.
        confidence, names
            As in the class; names default to 0, 1, 2 …
        labels
            The labels, in the order wanted; None means those of *truth*, sorted.
        """
        if not len(truth):
            raise InputError("truth is empty: there must be items to ask about")
        found = [_text(value) for value in truth]
        if "" in found:
            raise InputError(
                f"truth is blank for item {found.index('')}: every item needs its true label"
            )
        chosen = sorted(set(found)) if labels is None else [_text(label) for label in labels]
        if len(set(chosen)) != len(chosen) or "" in chosen:
            raise InputError(f"labels must be different and not blank, got {chosen}")
        code = {label: j for j, label in enumerate(chosen)}
        true = _coded(found, code, "truth", "name all labels (labels=…)")
        before = None
        if old is not None:
            if len(old) != len(true):
                raise InputError(
                    f"old must have one answer per item, got {len(old)} for {len(true)} items"
                )
            with_other = {**code, "": len(chosen), **{_text(token): len(chosen) for token in other}}
            before = _coded(
                [_text(v) for v in old], with_other, "old", "name all labels, or list it as 'other'"
            )
        past = None if matrix is None else _matrix(matrix, true, chosen)
        if before is not None:
            counted = _confusion(true, before, len(chosen))
            if past is not None and np.abs(past - counted).max() > 0.5 / len(true):
                raise InputError(
                    "matrix does not agree with the old answers by item: give one of the two"
                )
            past = counted
        rank = None if confidence is None else np.asarray(confidence, dtype=np.float64)
        if rank is not None and (rank.shape != true.shape or not np.isfinite(rank).all()):
            raise InputError(
                f"confidence must hold a finite number for each of the {len(true)} items"
            )
        given = tuple(map(str, range(len(true)))) if names is None else tuple(map(str, names))
        if len(given) != len(true) or len(set(given)) != len(given):
            raise InputError(f"names must be {len(true)} different names, got {len(set(given))}")
        return cls(
            labels=tuple(chosen), truth=true, old=before, matrix=past, confidence=rank, names=given
        )

    def __len__(self) -> int:
        return len(self.truth)

    def part(self, places: IntArray) -> Items:
        """Return some of the items, in this order, with the matrix of their own old answers."""
        truth = self.truth[places]
        old = None if self.old is None else self.old[places]
        return Items(
            labels=self.labels,
            truth=truth,
            old=old,
            matrix=None if old is None else _confusion(truth, old, len(self.labels)),
            confidence=None if self.confidence is None else self.confidence[places],
            names=tuple(self.names[place] for place in places),
            labelled=self.labelled,
            unclear=None if self.unclear is None else self.unclear[places],
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings of the matrix: the labels and the column of all else."""
        return (*self.labels, OTHER)

    @cached_property
    def mass(self) -> FloatArray:
        """The share of items with each true label."""
        return np.bincount(self.truth, minlength=len(self.labels)) / len(self)

    def flat(self, answers: IntArray) -> IntArray:
        """Return (true, answer) of every item as one code, row by row of the matrix."""
        return self.truth * (len(self.labels) + 1) + answers

    def code(self, answer: str | None) -> int:
        """Return the code of one answer; anything that is not a label is "none of them"."""
        return self._codes.get("" if answer is None else answer.strip(), len(self.labels))

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: j for j, label in enumerate(self.labels)}

    @cached_property
    def digest(self) -> str:
        """A digest of all of it, so that a journal is not continued on other data."""
        digest = hashlib.sha256("\x1f".join((*self.labels, "\x1e", *self.names)).encode())
        for part in (self.truth, self.old, self.matrix, self.confidence):
            digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


def _text(value: Any) -> str:
    """Labels are compared as text; a missing one (None, NaN) is blank."""
    return "" if value is None or value != value else str(value).strip()


def _coded(values: Sequence[str], code: dict[str, int], name: str, remedy: str) -> IntArray:
    for place, value in enumerate(values):
        if value not in code:
            known = ", ".join(label for label in list(code)[:8] if label)
            raise InputError(
                f"{name} of item {place} is {value!r}, which is not among the labels {known}:"
                f" {remedy}"
            )
    return np.array([code[value] for value in values], dtype=np.intp)


def _confusion(truth: IntArray, answers: IntArray, labels: int) -> FloatArray:
    counted = np.zeros((labels, labels + 1))
    np.add.at(counted, (truth, answers), 1 / len(truth))
    return counted


def _matrix(matrix: ArrayLike, truth: IntArray, labels: Sequence[str]) -> FloatArray:
    table = np.asarray(matrix, dtype=np.float64)
    L = len(labels)
    if table.shape not in ((L, L), (L, L + 1)):
        raise InputError(
            f"matrix must be {L} x {L} (or {L} x {L + 1}) for the labels {list(labels)}, got"
            f" {table.shape}"
        )
    if not np.isfinite(table).all() or (table < 0).any() or not table.sum():
        raise InputError("matrix must hold counts or shares: finite, not negative, not all zero")
    table = np.hstack([table, np.zeros((L, L + 1 - table.shape[1]))]) / table.sum()
    mass = np.bincount(truth, minlength=L) / len(truth)
    apart = np.abs(table.sum(axis=1) - mass)
    if apart.max() > 1e-3:
        row = int(apart.argmax())
        raise InputError(
            f"matrix has {table[row].sum():.4f} of its mass on true label {labels[row]!r}, the data"
            f" {mass[row]:.4f}: it was measured on other data, or its rows are not the true labels"
            " (transpose it)"
        )
    return np.asarray(table)
