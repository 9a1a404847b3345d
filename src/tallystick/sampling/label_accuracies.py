r"""Two readers: how often people err, and when that matters.

If both readers err independently on a share e of the items, they disagree on
:math:`\delta = 2 e (1 - e)` of them, so

.. math:: e = \frac{1 - \sqrt{1 - 2\delta}}{2}   \tag{W10}

and a share θ read by one of them is off by :math:`e |1 - 2\theta|`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import BudgetError, InputError, NotIdentifiable
from tallystick.results import Interval
from tallystick.table import Data, Label, identity, in_order, is_never_true

LEAST_TWICE = 20
"""At least this many items are read twice."""


@dataclass(frozen=True, kw_only=True)
class ReaderError:
    """How often one reader errs, from items that two have read.

    Parameters
    ----------
    estimate
        e of (W10); 1/2 where readers agree no more than coins do.
    interval
        From the exact interval of the share of disagreements.
    disagreed, twice
        Of how many items read twice, how many came out differently.
    """

    estimate: float
    interval: Interval
    disagreed: int
    twice: int


def reader_error(disagreed: int, twice: int, *, alpha: float = 0.05) -> ReaderError:
    """Estimate how often a reader errs (W10).

    Parameters
    ----------
    disagreed, twice
        How many items read twice came out differently, of how many.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = reader_error(4, 40)
    >>> round(found.estimate, 4), str(found.interval)
    (0.0528, '[0.014, 0.137] (95 %, under readers who err independently and equally often)')
    """
    from tallystick.stats.intervals import clopper_pearson

    if not 0 <= disagreed <= twice or twice < 1:
        raise InputError(f"0 <= disagreed <= twice, got {disagreed!r} of {twice!r}")
    ends = clopper_pearson(disagreed, twice, alpha=alpha)
    interval = Interval(
        _error(ends.low),
        _error(ends.high),
        level=1 - alpha,
        guarantee="under",
        assumption="readers who err independently and equally often",
        method="double reading",
    )
    return ReaderError(
        estimate=_error(disagreed / twice), interval=interval, disagreed=disagreed, twice=twice
    )


def too_noisy(error: float, share: float, half_width: float) -> bool:
    """Say whether reader error moves the share by more than a third of the precision asked.

    >>> too_noisy(0.05, 0.9, 0.05), too_noisy(0.05, 0.5, 0.05)
    (True, False)
    """
    if not 0 <= error <= 0.5:
        raise InputError(f"error must be in [0, 1/2], got {error!r}")
    return error * abs(1 - 2 * share) > half_width / 3


def _error(disagree: float) -> float:
    return (1 - sqrt(max(0.0, 1 - 2 * disagree))) / 2  # (W10)


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
    from tallystick.table import as_pass_fail

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
    from tallystick.stats.latent_fit import fit
    from tallystick.stats.latent_model import LatentOptions, class_scores, pack

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


# The journal of draws: what was drawn, in which order, and with which probability.


HALF_WIDTH = 0.05
"""The half-width that bets aim at if none is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One draw, as the journal keeps it.

    Parameters
    ----------
    t
        Its place in the order of draws, from 0.
    item
        The item.
    stratum
        The stratum of the item.
    q
        The probability that this draw fell into that stratum.
    batch
        The batch it belongs to, from 0.
    """

    t: int
    item: int
    stratum: int
    q: float
    batch: int


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawJournal:
    """All draws so far, as arrays, with the spreads that each batch was drawn by.

    Parameters
    ----------
    sizes
        The items of each stratum before anything was drawn, N_h.
    item, stratum, q, batch
        One entry per draw, as in `Draw`.
    spreads
        Batches x strata: the frozen s_h of (W1).
    half_width
        The half-width that anytime bets aim at, w of (W6). It is fixed with the first draw: old
        bets that are computed again with another w are not valid.

    Examples
    --------
    >>> DrawJournal.empty([30, 70]).n_draws
    0
    """

    sizes: Ints
    item: Ints
    stratum: Ints
    q: Floats
    batch: Ints
    spreads: Floats
    half_width: float = HALF_WIDTH

    def __post_init__(self) -> None:
        if not 0 < self.half_width < 1:
            raise InputError(f"half_width must be in (0, 1), got {self.half_width!r}")

    @classmethod
    def empty(cls, sizes: ArrayLike, *, half_width: float = HALF_WIDTH) -> DrawJournal:
        """Return a journal without draws, for a session that wants this half-width."""
        n = np.asarray(sizes, dtype=np.int64)
        none = np.empty(0, np.int64)
        return cls(
            sizes=n,
            item=none,
            stratum=none,
            q=np.empty(0),
            batch=none,
            spreads=np.empty((0, n.size)),
            half_width=half_width,
        )

    @classmethod
    def of(
        cls,
        sizes: ArrayLike,
        draws: Sequence[Draw],
        spreads: ArrayLike,
        *,
        half_width: float = HALF_WIDTH,
    ) -> DrawJournal:
        """Return the journal of written draws, and refuse one that its own numbers contradict.

        >>> one = Draw(t=0, item=4, stratum=1, q=0.7, batch=0)
        >>> DrawJournal.of([30, 70], [one], [[1.0, 1.0]]).n_draws
        1
        """
        table = np.asarray(spreads, dtype=np.float64).reshape(-1, np.size(sizes))
        journal = cls(
            sizes=np.asarray(sizes, dtype=np.int64),
            item=np.array([draw.item for draw in draws], dtype=np.int64),
            stratum=np.array([draw.stratum for draw in draws], dtype=np.int64),
            q=np.array([draw.q for draw in draws], dtype=np.float64),
            batch=np.array([draw.batch for draw in draws], dtype=np.int64),
            spreads=table,
            half_width=half_width,
        )
        journal.check([draw.t for draw in draws])
        return journal

    @property
    def n_draws(self) -> int:
        """How many items were drawn."""
        return int(self.item.size)

    @property
    def n_batches(self) -> int:
        """How many batches were drawn."""
        return int(self.spreads.shape[0])

    def draws(self) -> Iterator[Draw]:
        """Yield the draws as records."""
        columns = (self.item, self.stratum, self.q, self.batch)
        for t, (item, stratum, q, batch) in enumerate(zip(*columns, strict=True)):
            yield Draw(t=t, item=int(item), stratum=int(stratum), q=float(q), batch=int(batch))

    def remaining(self) -> Ints:
        """Return R_h before each draw, draws x strata."""
        hit = np.zeros((self.n_draws, self.sizes.size), np.int64)
        hit[np.arange(self.n_draws), self.stratum] = 1
        return np.asarray(self.sizes - np.cumsum(hit, axis=0) + hit)

    def probabilities(self) -> Floats:
        """Return q_h of every stratum at each draw, draws x strata."""
        return drawing_probabilities(self.remaining(), self.spreads[self.batch])

    def check(self, numbers: Sequence[int]) -> None:
        """Refuse draws that are out of order, doubled, impossible or of another probability."""
        if list(numbers) != list(range(self.n_draws)):
            raise InputError("draws must be numbered t = 0, 1, 2, … without gaps, in that order")
        steps = np.diff(np.concatenate(([0], self.batch)))
        if self.n_draws and (steps.min() < 0 or self.batch[-1] >= self.n_batches):
            raise InputError(
                f"batches must rise from 0 and have spreads, got {self.batch.tolist()}"
            )
        if np.unique(self.item).size != self.n_draws:
            raise InputError("an item was drawn twice: draws are without replacement")
        if self.n_draws and not (self.stratum.min() >= 0 and self.stratum.max() < self.sizes.size):
            raise InputError(f"strata must be in 0..{self.sizes.size - 1}")
        q = self.probabilities()[np.arange(self.n_draws), self.stratum]
        if not np.allclose(q, self.q, rtol=1e-9, atol=0.0) or (q <= 0).any():
            wrong = int(np.argmax(~np.isclose(q, self.q, rtol=1e-9, atol=0.0) | (q <= 0)))
            raise InputError(
                f"draw {wrong} is written with probability {self.q[wrong]!r} and had {q[wrong]!r}: "
                "the journal was changed, or belongs to other strata"
            )


def drawing_probabilities(remaining: ArrayLike, spread: ArrayLike) -> Floats:
    """Return q_h of (W1); strata along the last axis, any number of rows.

    >>> drawing_probabilities([400, 100], [0.5, 0.5]).tolist()
    [0.8, 0.2]
    >>> drawing_probabilities([400, 100], [0.2, 0.4]).round(4).tolist()
    [0.7333, 0.2667]
    """
    s = np.asarray(spread, dtype=np.float64)
    left = np.asarray(remaining, dtype=np.float64) * (s > 0)
    weighted = left * s
    whole, part = left.sum(axis=-1, keepdims=True), weighted.sum(axis=-1, keepdims=True)
    if not (whole > 0).all():
        raise BudgetError("every item that may be drawn has been drawn")
    return np.asarray(0.5 * left / whole + 0.5 * weighted / part)  # (W1)
