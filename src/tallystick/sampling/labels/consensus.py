"""What the votes alone say of each item: vote patterns, and the consensus of each pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError, NotIdentifiable

__all__ = ["AnyInts", "Consensus", "Floats", "Ints", "VotePatterns", "consensus", "patterns_of"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
AnyInts: TypeAlias = NDArray[np.integer]
"""Whole numbers of any width: one per item, so that a million items take few bytes each."""

_DENSE = 1 << 22
"""Up to this many possible patterns are counted in a table; more are sorted."""
_TOLERANCE = 1e-6
"""Strata need ranks and rough guesses: Dawid-Skene is fitted no closer than this."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VotePatterns:
    """The distinct vote patterns, how many items show each, and which one each item shows."""

    codes: Ints
    counts: Floats
    place: Ints


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
    n_items, n_judges = table.shape
    base = n_classes + 1

    # Many judges do not fit into one integer; their patterns are nearly all distinct anyway.
    if base**n_judges >= 2**62:
        codes, place = np.unique(table, axis=0, return_inverse=True)
        return _patterns(codes, place.ravel(), counts)

    code = np.zeros(n_items, np.int64)
    for j in range(n_judges):
        code = code * base + (table[:, j] + 1)
    if base**n_judges <= _DENSE:
        every = np.bincount(code, minlength=base**n_judges)
        seen = np.flatnonzero(every)
        renamed = np.zeros(every.size, np.int64)
        renamed[seen] = np.arange(seen.size)
        place = renamed[code]
    else:
        seen, place = np.unique(code, return_inverse=True)
    powers = base ** np.arange(n_judges - 1, -1, -1)
    return _patterns(seen[:, None] // powers % base - 1, place, counts)


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
    from tallystick.stats.latent import LatentOptions, fit
    from tallystick.stats.latent.model import class_scores, pack

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


def _patterns(codes: AnyInts, place: Ints, counts: ArrayLike | None) -> VotePatterns:
    weights = None if counts is None else np.asarray(counts, dtype=np.float64)
    held = np.bincount(place, weights=weights, minlength=len(codes))
    return VotePatterns(
        codes=codes.astype(np.int64), counts=held.astype(np.float64), place=place.astype(np.int64)
    )
