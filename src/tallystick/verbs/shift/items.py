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
from tallystick.papers.api_shifts import confusion_matrix

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Heading of the last column: answers that were empty, refused, unparsable, or no label of the set.
OTHER = "(other)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Items:
    """Items as codes. A true label is a code 0 … L - 1, or L where it is not known; an answer may
    also be L, "none of the labels".

    Parameters
    ----------
    labels
        The L labels.
    truth
        The true label of every item.
    old
        The old answer to every item.
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
    >>> items = Items.of(["cat", "dog", None], old=["cat", "cat", ""])
    >>> items.labels, items.truth, items.old
    (('cat', 'dog'), array([0, 1, 2]), array([0, 0, 2]))
    >>> items.matrix
    array([[0.5, 0. , 0. ],
           [0.5, 0. , 0. ]])
    """

    labels: tuple[str, ...]
    truth: IntArray
    old: IntArray
    confidence: FloatArray | None
    names: tuple[str, ...]
    labelled: bool = True
    unclear: BoolArray | None = None

    @classmethod
    def of(
        cls,
        truth: Sequence[Any],
        *,
        old: Sequence[Any],
        confidence: ArrayLike | None = None,
        labels: Sequence[Any] | None = None,
        other: Sequence[Any] = (),
        names: Sequence[Any] | None = None,
    ) -> Items:
        """Code labels and refuse what does not fit.

        Parameters
        ----------
        truth, old
            One value per item; labels are compared as text. A blank true label is not known; a
            blank old answer, or one of *other*, is "none of them".
        confidence, names
            As in the class; names default to 0, 1, 2 …
        labels
            The labels, in the order wanted; None means those of *truth*, sorted.
        """
        found = [_text(value) for value in truth]
        if not any(found):
            raise InputError("truth is empty: there must be items to ask about")
        chosen = (
            sorted({one for one in found if one})
            if labels is None
            else [_text(label) for label in labels]
        )
        if len(set(chosen)) != len(chosen) or "" in chosen:
            raise InputError(f"labels must be different and not blank, got {chosen}")
        code = {label: j for j, label in enumerate(chosen)} | {"": len(chosen)}
        true = _coded(found, code, "truth", "name all labels (labels=…)")
        if len(old) != len(true):
            raise InputError(
                f"old must have one answer per item, got {len(old)} for {len(true)} items"
            )
        before = _coded(
            [_text(v) for v in old],
            code | {_text(token): len(chosen) for token in other},
            "old",
            "name all labels, or list it as 'other'",
        )
        rank = None if confidence is None else np.asarray(confidence, dtype=np.float64)
        if rank is not None and (rank.shape != true.shape or not np.isfinite(rank).all()):
            raise InputError(
                f"confidence must hold a finite number for each of the {len(true)} items"
            )
        given = tuple(map(str, range(len(true)))) if names is None else tuple(map(str, names))
        if len(given) != len(true) or len(set(given)) != len(given):
            raise InputError(f"names must be {len(true)} different names, got {len(set(given))}")
        return cls(labels=tuple(chosen), truth=true, old=before, confidence=rank, names=given)

    def __len__(self) -> int:
        return len(self.truth)

    def part(self, places: IntArray) -> Items:
        """Return some of the items, in this order."""
        return Items(
            labels=self.labels,
            truth=self.truth[places],
            old=self.old[places],
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
    def known(self) -> BoolArray:
        """Which items have a true label."""
        return self.truth < len(self.labels)

    @cached_property
    def matrix(self) -> FloatArray:
        """The old confusion matrix, as shares of the items with a true label."""
        L = len(self.labels)
        shape = (L, L + 1)
        return confusion_matrix(self.truth[self.known], self.old[self.known], shape=shape)

    @cached_property
    def mass(self) -> FloatArray:
        """The share of items with each true label, of those that have one."""
        some = self.truth[self.known]
        return np.bincount(some, minlength=len(self.labels)) / len(some)

    def code(self, answer: str | None) -> int:
        """Return the code of one answer; anything that is not a label is "none of them"."""
        return self._codes.get("" if answer is None else answer.strip(), len(self.labels))

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: j for j, label in enumerate(self.labels)}

    @cached_property
    def digest(self) -> str:
        """A digest of all of it, so that a journal of format 1 is not continued on other data."""
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
