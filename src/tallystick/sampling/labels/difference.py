r"""Which of two is better: labels only where it matters, and a sign that holds whenever you stop.

*Two classifiers.* The items are the M disagreements: elsewhere both are right or both are wrong.
The value is 1 if the first is right, 0 if the second is, and 1/2 if neither is, so the first is
better if the mean is above 1/2. Items are drawn uniformly; strata (four slices by the guess that
the first is right) only improve the guess. Two e-processes are averaged, one on the values as they
are (g = 0) and one on the rectified values (W3),

.. math:: E = \tfrac12 E_{raw} + \tfrac12 E_{rectified}   \tag{W7}

because a guess that misleads costs the second much and the first nothing.

*Two systems whose outputs were judged.* The items are all N, the value is d = -1, 0 or 1 (a person
prefers B, neither, A), strata are the values of (votes for A - votes for B), and items are drawn by
(W1) with the spread :math:`s_h^2 = (\sum d^2 + 1.6)/(k + 4) - (\sum d/(k + 4))^2`. Only the
rectified process is used: mixing in the raw one decided .46 instead of .59 of pairs at a difference
of .03.

Both bet by (W5) against the mean of a tie, and stop at :math:`2/\alpha`, or when the items that are
left can not turn the sign. The wrong sign is called with probability at most :math:`\alpha/2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.sampling.labels.bets import capital, expected_growth, mirrored, sign_bets
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.journal import DrawJournal
from tallystick.sampling.labels.rectified import Steps, rectified_steps
from tallystick.sampling.labels.strata import GUESS_FLOOR, LabelStrata, rank_slices

__all__ = [
    "SignVerdict",
    "classifier_difference",
    "disagreement_strata",
    "gap_spread",
    "gap_strata",
    "judged_difference",
]

SLICES = 4
"""Slices of the disagreements by the guess that the first classifier is right."""
TIMID = 0.25
"""The gambler against the current estimate stakes this share of the bet."""
SMALLEST_LEAD = {"classifiers": 0.05, "judged": 0.03}
"""Bets are made as if the lead were at least this large."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SignVerdict:
    """Evidence for either sign, valid at any stopping time.

    Parameters
    ----------
    verdict
        ``first``, ``second``, ``tie`` (all items are labelled and neither leads), or None.
    certain
        Whether the labels alone settle it: what is left can not turn the sign.
    first, second
        The e-values for each side after each label.
    raw, rectified
        The two parts of ``first``; raw is None for judged outputs.
    labelled, items
        How many values were read, of how many items.
    growth
        What one more label is expected to add to the log of the larger e-value; `verdict_forecast`
        turns it into labels.
    """

    verdict: Literal["first", "second", "tie"] | None
    certain: bool
    first: Floats
    second: Floats
    raw: Floats | None
    rectified: Floats
    labelled: int
    items: int
    growth: float

    @property
    def not_needed(self) -> int:
        """How many of the items needed no label."""
        return self.items - self.labelled


def disagreement_strata(
    first: ArrayLike, second: ArrayLike, posterior: ArrayLike
) -> tuple[LabelStrata, Floats]:
    """Return strata of the items on which two classifiers differ, and the guess in each.

    Items on which they agree are outside. The guess of the value of an item is
    P(first right) + (1 - P(first right) - P(second right))/2.

    Parameters
    ----------
    first, second
        The class that each gives to each item; -1 for no answer, which is always wrong.
    posterior
        Items x classes, from all the votes there are, without labels.

    Examples
    --------
    >>> half = np.full((40, 2), 0.5)
    >>> strata, guess = disagreement_strata([0] * 40, [0] * 20 + [1] * 20, half)
    >>> strata.sizes.tolist(), guess.tolist()
    ([20], [0.5])
    """
    a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    table = np.asarray(posterior, dtype=np.float64)
    if a.shape != b.shape or table.shape[:1] != a.shape or table.ndim != 2:
        raise InputError(f"first, second and posterior differ: {a.shape}, {b.shape}, {table.shape}")
    apart = np.flatnonzero(a != b)
    if not apart.size:
        raise InputError("the two classifiers never disagree: there is nothing to label")

    right = [np.where(of[apart] >= 0, table[apart, of[apart]], 0.0) for of in (a, b)]
    guess = right[0] + (1 - right[0] - right[1]) / 2
    part = rank_slices(guess, slices=SLICES, least=1)
    of = np.full(a.size, -1)
    of[apart] = part
    mean = np.bincount(part, weights=guess) / np.bincount(part)
    mean = np.clip(mean, GUESS_FLOOR, 1 - GUESS_FLOOR)
    rows = np.column_stack((1 - mean, mean))
    return LabelStrata(of=of, side=(mean > 0.5).astype(np.int64), guess=rows), mean


def gap_strata(
    votes_a: ArrayLike, votes_b: ArrayLike, *, judges: int
) -> tuple[LabelStrata, Floats]:
    """Return strata by how many more votes A has than B, and the guess of the difference in each.

    For two systems whose outputs were both judged: the guess is the vote difference over the
    number of judges.

    >>> strata, guess = gap_strata([3, 0, 3, 1], [0, 0, 0, 2], judges=3)
    >>> strata.of.tolist(), guess.round(2).tolist()
    ([2, 1, 2, 0], [-0.33, 0.0, 1.0])
    """
    if judges < 1:
        raise InputError(f"judges must be at least 1, got {judges!r}")
    gap = np.asarray(votes_a, dtype=np.int64) - np.asarray(votes_b, dtype=np.int64)
    values, place = np.unique(gap, return_inverse=True)
    if np.abs(values).max(initial=0) > judges:
        raise InputError(f"votes differ by {np.abs(values).max()}, more than the {judges} judges")
    guess = values / judges
    rows = np.column_stack(((1 - guess) / 2, (1 + guess) / 2))
    side = (values > 0).astype(np.int64)
    return LabelStrata(of=place, side=side, guess=rows), guess


def classifier_difference(
    journal: DrawJournal,
    values: ArrayLike,
    guess: ArrayLike,
    *,
    alpha: float = 0.05,
    tie: float = 0.5,
) -> SignVerdict:
    """Say which of two classifiers is better, from labels on their disagreements.

    Parameters
    ----------
    journal
        Uniform draws from the strata of `disagreement_strata` (`uniform_spread`).
    values
        1 if the first is right, 0 if the second is, 1/2 if neither is; in draw order.
    guess
        The guess of the value in each stratum.
    alpha
        One minus the level.
    tie
        The mean of the items that are drawn from at which both are equally good: another one than
        1/2 where labels are known apart from them.

    Examples
    --------
    >>> from tallystick.sampling.labels.draws import draw_batch
    >>> strata, guess = disagreement_strata([0] * 200, [1] * 200, np.full((200, 2), 0.5))
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=30, spread=[1.0], rng=1)
    >>> found = classifier_difference(journal, [1.0] * 30, guess)
    >>> found.verdict, found.not_needed, round(float(found.first[6]), 1)
    ('first', 170, 30.6)
    """
    if np.ptp(journal.spreads, axis=1).any():
        raise InputError("draws among disagreements must be uniform: draw with uniform_spread")
    steps = rectified_steps(journal, values, guess)
    raw = rectified_steps(journal, values, np.zeros(journal.sizes.size), learn=False)
    least = SMALLEST_LEAD["classifiers"]
    up, down = _sides(steps, tie, least)
    raw_up, raw_down = _sides(raw, tie, least)
    return _verdict(steps, tie, (up + raw_up) / 2, (down + raw_down) / 2, raw_up, up, alpha)  # (W7)


def judged_difference(
    journal: DrawJournal,
    values: ArrayLike,
    guess: ArrayLike,
    *,
    alpha: float = 0.05,
    tie: float = 0.0,
) -> SignVerdict:
    """Say which of two systems people prefer, from labels on outputs that judges compared.

    Parameters
    ----------
    journal
        Draws from the strata of `gap_strata` by `gap_spread`.
    values
        1 if a person prefers the first, -1 the second, 0 neither; in draw order.
    guess
        The vote difference over the number of judges in each stratum, or any better guess.
    alpha
        One minus the level.
    tie
        The mean of the items that are drawn from at which both are equally good.

    Examples
    --------
    >>> from tallystick.sampling.labels.draws import draw_batch
    >>> strata, guess = gap_strata([2] * 60 + [0] * 40, [0] * 60 + [2] * 40, judges=2)
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=60, spread=[1.0, 1.0], rng=1)
    >>> values = np.where(journal.item < 60, 1.0, -1.0)
    >>> judged_difference(journal, values, guess).verdict
    'first'
    """
    steps = rectified_steps(journal, values, guess, bounds=(-1.0, 1.0))
    up, down = _sides(steps, tie, SMALLEST_LEAD["judged"])
    return _verdict(steps, tie, up, down, None, up, alpha)


def gap_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return the spreads of judged outputs, for values -1, 0 and 1.

    >>> gap_spread(np.array([0, 0]), np.array([1.0, 1.0]), 2).round(4).tolist()
    [0.6992, 0.6325]
    """
    k = np.bincount(stratum, minlength=n_strata) + 4
    total = np.bincount(stratum, weights=values, minlength=n_strata)
    squares = np.bincount(stratum, weights=values**2, minlength=n_strata)
    return np.asarray(np.sqrt((squares + 1.6) / k - (total / k) ** 2))


def _sides(steps: Steps, tie: float, least: float) -> tuple[Floats, Floats]:
    """Return the capital of both gamblers after each label; each process has its own moments."""
    up, down = sign_bets(steps.z, tie, start=tie, least=least, timid=TIMID)
    mirror = mirrored(steps, down)
    return (
        capital(steps.z, steps.low, up, tie),
        capital(mirror.z, mirror.low, mirror.bets, 1 - tie),
    )


def _verdict(
    steps: Steps,
    tie: float,
    first: Floats,
    second: Floats,
    raw: Floats | None,
    rectified: Floats,
    alpha: float,
) -> SignVerdict:
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    low, high = steps.logical
    certain = low > tie or high < tie or low == high == tie
    verdict: Literal["first", "second", "tie"] | None = None
    peaks = first.max(initial=1.0), second.max(initial=1.0)
    if max(peaks) >= 2 / alpha:
        verdict = "first" if peaks[0] >= peaks[1] else "second"
    if certain:  # what the labels prove overrides what they suggested
        verdict = "first" if low > tie else "second" if high < tie else "tie"
    return SignVerdict(
        verdict=verdict,
        certain=bool(certain),
        first=first,
        second=second,
        raw=raw,
        rectified=rectified,
        labelled=steps.values.size,
        items=steps.items,
        growth=expected_growth(steps.z, tie, start=tie),
    )
