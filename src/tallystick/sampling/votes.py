"""What the votes alone say: answers as codes, vote patterns, and the consensus of each pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.table import Data, Label, as_pass_fail, identity, in_order, is_never_true
from tallystick.table.data import RowPatterns
from tallystick.table.session_rows import distinct_rows

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
AnyInts: TypeAlias = NDArray[np.integer]
"""Whole numbers of any width: one per item, so that a million items take few bytes each."""


# Votes as codes of the answers that a person can give.


def coded_votes(data: Data, columns: Sequence[str]) -> RowPatterns:
    """Return what columns of votes show; the classes are those of the votes, the truth and
    ``--labels``.

    A vote that can never be the truth, such as "unsure", counts as no vote.

    Examples
    --------
    >>> from tallystick.table import read
    >>> data = read({"a": ["yes", "no", None], "b": ["yes", "unsure", "no"]}, judges=("a", "b"))
    >>> found = coded_votes(data, ("a", "b"))
    >>> found.labels, found.codes[found.place].tolist()
    (('no', 'yes'), [[1, 1], [0, -1], [-1, 0]])
    """
    truth = [data.roles.truth] if data.roles.truth is not None else []
    seen = data.label_patterns(*columns, *truth)
    given = [typed(label, seen.labels) for label in data.rules.labels]
    words = [label for label in seen.labels if not is_never_true(label)]
    classes = in_order([*words, *given])
    if len(classes) < 2:
        shown = ", ".join(map(str, classes)) or "nothing"
        raise InputError(
            f"{data.source}: the votes show only {shown}, and a label needs two answers to choose"
            " from: name all of them (--labels pass,fail)"
        )
    code = {identity(label): code for code, label in enumerate(classes)}
    renamed = np.array([*(code.get(identity(label), -1) for label in seen.labels), -1], np.int64)
    # Rows that differ in their truth alone, or in votes that count as none, have become alike.
    found = patterns_of(
        renamed[seen.codes[:, : len(columns)]], n_classes=len(classes), counts=seen.counts
    )
    first = np.full(len(found.codes), len(seen.place))
    np.minimum.at(first, found.place, seen.first)
    return replace(found, labels=classes, first=first, place=found.place[seen.place])


def class_code(classes: Sequence[Label], label: Label) -> int:
    """Return the code of a class, which may be written as text."""
    for place, one in enumerate(classes):
        if identity(one) == identity(label) or str(one) == str(label):
            return place
    raise InputError(
        f"label {label!r} is not one of {', '.join(map(str, classes[:12]))}: check its spelling, or"
        " name all labels (--labels)"
    )


def pass_code(classes: Sequence[Label], positive: Label | None) -> int:
    """Return the code of the class whose share is asked for: the one named, or the pass word.

    >>> pass_code(("fail", "pass"), None)
    1
    """
    if positive is not None:
        return class_code(classes, positive)
    words = [str(label) for label in classes]
    marks = as_pass_fail(words) or ({"0": 0.0, "1": 1.0} if words == ["0", "1"] else None)
    if marks is not None and len(words) == 2:
        return next(k for k, word in enumerate(words) if marks[word] == 1)
    raise InputError(f"which share is asked for? Name one of {', '.join(words[:12])} (--positive)")


def typed(label: Label, seen: Sequence[Label]) -> Label:
    """Return a label that the caller wrote as text, as columns write it that show *seen*."""
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
) -> RowPatterns:
    """Return the distinct rows of *votes* (items x judges, -1 for no vote); labels are numbers.

    *counts* says how many items each row stands for, one by default.

    >>> found = patterns_of([[0, 1], [1, 1], [0, 1]], n_classes=2)
    >>> found.codes.tolist(), found.counts.tolist(), found.place.tolist()
    ([[0, 1], [1, 1]], [2.0, 1.0], [0, 1, 0])
    """
    table = np.asarray(votes)
    first, held, place = distinct_rows(table, n_classes)
    if counts is not None:
        weights = np.asarray(counts, dtype=np.float64)
        held = np.bincount(place, weights=weights).astype(np.float64)
    return RowPatterns(
        codes=table[first].astype(np.int64),
        labels=tuple(range(n_classes)),
        first=first,
        counts=held,
        place=place,
    )


def consensus(patterns: RowPatterns) -> Consensus:
    """Return posterior and score of each pattern, from votes only and never from labels.

    Dawid-Skene from a majority start. Its log-odds are taken from the likelihood itself, so that
    39 judges who agree still differ from 38 who do; a posterior rounds both to 1. No judges at all
    leave every class as likely.

    >>> votes = patterns_of([[1, 1, 0]] * 3 + [[0, 0, 0]] * 4 + [[1, 1, 1]] * 5, n_classes=2)
    >>> consensus(votes).method
    'dawid-skene'
    >>> two = patterns_of([[1, 1], [0, 1], [0, 0]], n_classes=2)
    >>> consensus(two).posterior[:, 1].tolist()
    [0.0, 0.5, 1.0]
    """
    n_classes = len(patterns.labels)
    from tallystick.stats.latent_model import LatentOptions, class_scores, fit, pack

    # A judge who never votes says nothing, and one column of nothing is refused by the fit.
    voting = (patterns.codes >= 0).any(axis=0)
    codes = patterns.codes[:, voting].astype(np.int64)
    if not voting.any():
        return _mean_vote(codes, n_classes)
    try:
        options = LatentOptions(tolerance=_TOLERANCE)
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
