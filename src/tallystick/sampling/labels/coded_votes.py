"""Votes as codes of the answers that a person can give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import Ints
from tallystick.values import Label, identity, in_order, is_never_true

__all__ = ["CodedVotes", "coded_votes", "pass_code"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedVotes:
    """Items x columns of class codes, -1 for no vote, and the classes in order."""

    codes: Ints
    classes: tuple[Label, ...]

    def code(self, label: Label) -> int:
        """Return the code of a class, which may be written as text."""
        for place, one in enumerate(self.classes):
            if identity(one) == identity(label) or str(one) == str(label):
                return place
        raise InputError(
            f"label {label!r} is not one of {', '.join(map(str, self.classes[:12]))}: check its"
            " spelling, or name all labels (--labels)"
        )


def coded_votes(data: Data, columns: Sequence[str]) -> CodedVotes:
    """Read columns of votes; the classes are those of the votes, the truth and ``--labels``.

    A vote that can never be the truth, such as "unsure", counts as no vote.

    Examples
    --------
    >>> from tallystick.data import read
    >>> data = read({"a": ["yes", "no", None], "b": ["yes", "unsure", "no"]}, judges=("a", "b"))
    >>> found = coded_votes(data, ("a", "b"))
    >>> found.classes, found.codes.tolist()
    (('no', 'yes'), [[1, 1], [0, -1], [-1, 0]])
    """
    truth = [data.roles.truth] if data.roles.truth is not None else []
    coded = data.labels(*columns, *truth)
    given = [_typed(label, coded.labels) for label in data.rules.labels]
    words = [label for label in coded.labels if not is_never_true(label)]
    classes = in_order([*words, *given])
    if len(classes) < 2:
        shown = ", ".join(map(str, classes)) or "nothing"
        raise InputError(
            f"{data.source}: the votes show only {shown}, and a label needs two answers to choose"
            " from: name all of them (--labels pass,fail)"
        )
    place = {identity(label): code for code, label in enumerate(classes)}
    renamed = np.array([*(place.get(identity(label), -1) for label in coded.labels), -1], np.int64)
    return CodedVotes(codes=renamed[coded.codes[:, : len(columns)]], classes=classes)


def pass_code(votes: CodedVotes, positive: Label | None) -> int:
    """Return the code of the class whose share is asked for: the one named, or the pass word.

    >>> pass_code(CodedVotes(codes=np.zeros((1, 1), np.int64), classes=("fail", "pass")), None)
    1
    """
    from tallystick.values import as_pass_fail

    if positive is not None:
        return votes.code(positive)
    marks = as_pass_fail([str(label) for label in votes.classes])
    if marks is not None and len(votes.classes) == 2:
        return next(k for k, label in enumerate(votes.classes) if marks[str(label)] == 1)
    if [str(label) for label in votes.classes] == ["0", "1"]:
        return 1
    raise InputError(
        f"which share is asked for? Name one of {', '.join(map(str, votes.classes[:12]))}"
        " (--positive)"
    )


def _typed(label: Label, seen: Sequence[Label]) -> Label:
    """Return a label that the caller wrote as text, as the column writes it."""
    for one in seen:
        if str(one) == str(label):
            return one
    numbers = bool(seen) and all(type(one) is int for one in seen)
    text = str(label)
    return int(text) if numbers and text.removeprefix("-").isdecimal() else label
