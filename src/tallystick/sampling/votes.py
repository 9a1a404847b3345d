"""What the votes alone say: answers as codes, vote patterns, and the consensus of each pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.table import Data, Label, as_pass_fail, identity, in_order, is_never_true
from tallystick.table.session_rows import distinct_rows

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
AnyInts: TypeAlias = NDArray[np.integer]
"""Whole numbers of any width: one per item, so that a million items take few bytes each."""


# Votes as codes of the answers that a person can give.


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
    >>> from tallystick.table import read
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


# What the votes alone say of each item: vote patterns, and the consensus of each pattern.


_TOLERANCE = 1e-6
"""Strata need ranks and rough guesses: Dawid-Skene is fitted no closer than this."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VotePatterns:
    """The distinct vote patterns, how many items show each, and which one each item shows."""

    codes: Ints
    counts: Floats
    place: AnyInts


@dataclass(frozen=True, kw_only=True, eq=False)
class Consensus:
    """What the votes say of each pattern.

    Parameters
    ----------
    posterior
        Patterns x classes.
    score
        Two classes: a score that rises with class 1. More: how sure the consensus is.
    middle
        Two classes: the score at which the consensus turns from class 0 to class 1.
    method
        ``dawid-skene``, or ``mean vote`` where fewer than three judges vary.
    """

    posterior: Floats
    score: Floats
    middle: float
    method: str


def patterns_of(
    votes: ArrayLike, *, n_classes: int, counts: ArrayLike | None = None
) -> VotePatterns:
    """Return the distinct rows of *votes* (items x judges, -1 for no vote).

    *counts* says how many items each row stands for, one by default.

    >>> found = patterns_of([[0, 1], [1, 1], [0, 1]], n_classes=2)
    >>> found.codes.tolist(), found.counts.tolist(), found.place.tolist()
    ([[0, 1], [1, 1]], [2.0, 1.0], [0, 1, 0])
    """
    table = np.asarray(votes)
    if table.ndim != 2 or not table.size or table.dtype.kind not in "iu":
        raise InputError(f"votes must be items x judges of integer codes, got shape {table.shape}")
    if table.min() < -1 or table.max() >= n_classes:
        raise InputError(
            f"votes must be in -1..{n_classes - 1}, got {table.min()} to {table.max()}"
        )
    first, held, place = distinct_rows(table, n_classes)
    if counts is not None:
        weights = np.asarray(counts, dtype=np.float64)
        held = np.bincount(place, weights=weights).astype(np.float64)
    return VotePatterns(codes=table[first].astype(np.int64), counts=held, place=place)


def consensus(patterns: VotePatterns, *, n_classes: int) -> Consensus:
    """Return posterior and score of each pattern, from votes only and never from labels.

    Dawid-Skene from a majority start. Its log-odds are taken from the likelihood itself, so that
    39 judges who agree still differ from 38 who do; a posterior rounds both to 1.

    >>> votes = patterns_of([[1, 1, 0]] * 3 + [[0, 0, 0]] * 4 + [[1, 1, 1]] * 5, n_classes=2)
    >>> consensus(votes, n_classes=2).method
    'dawid-skene'
    >>> two = patterns_of([[1, 1], [0, 1], [0, 0]], n_classes=2)
    >>> consensus(two, n_classes=2).posterior[:, 1].tolist()
    [0.0, 0.5, 1.0]
    """
    from tallystick.stats.latent_model import LatentOptions, class_scores, fit, pack

    # A judge who never votes says nothing, and one column of nothing is refused by the fit.
    voting = (patterns.codes >= 0).any(axis=0)
    codes = patterns.codes[:, voting]
    if not voting.any():
        return _mean_vote(codes, n_classes)
    try:
        options = LatentOptions(tolerance=_TOLERANCE, strict=False)
        found = fit(codes, patterns.counts, n_classes=n_classes, options=options)
    except NotIdentifiable:  # fewer than three judges whose votes vary
        return _mean_vote(codes, n_classes)

    joint = class_scores(pack(found.model), found.votes.one_hot).T
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    if n_classes == 2:
        score = joint[:, 1] - joint[:, 0]
    else:
        ordered = np.sort(joint, axis=1)
        score = ordered[:, -1] - ordered[:, -2]
    return Consensus(posterior=posterior, score=score, middle=0.0, method="dawid-skene")


def _mean_vote(codes: Ints, n_classes: int) -> Consensus:
    """Return the share of votes for each class; an item without a vote is as likely each way."""
    share = np.stack([(codes == c).sum(axis=1) for c in range(n_classes)], axis=1).astype(
        np.float64
    )
    given = share.sum(axis=1, keepdims=True)
    posterior = np.divide(share, given, out=np.full_like(share, 1 / n_classes), where=given > 0)
    score = posterior[:, 1] if n_classes == 2 else posterior.max(axis=1)
    return Consensus(posterior=posterior, score=score, middle=0.5, method="mean vote")
