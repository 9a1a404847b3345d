"""Flips beyond the API's own randomness: some items are asked twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.sampling import FAILED, Budget, Observed, Plan, Strata, Uniform, observe
from tallystick.stats.exact_tails import at_least, open_unit
from tallystick.stats.intervals import score_ends
from tallystick.verbs.shift.design import CHANCE_REFUTED, WIDELY_ASKED, Items, SumBounds

# How much of the flips is noise: λ, from asking flipped items again.
#
# An API may answer at random. Where the first new answer n1 flips the old answer o, the item is
# asked again. For right/wrong, P(n1 flips o, n2 reverts n1) = E[r(1 - r)] exactly, with r the
# item's chance of a right answer: the within-item variance. So repeats of flips identify all noise,
# and repeats of items that did not flip would add nothing. With m repeats, x of them not confirmed,
#
# .. math:: ρ = \frac{x + ½}{m + 1}, \qquad
#           λ = \min\Bigl(1, 2ρ + \sqrt{\frac{ρ(1 - ρ)}{m + 1}}\Bigr)   \tag{N1}
#
# No repeats give λ = 1: all flips may be noise. The factor 2 says "the old API was as noisy as the
# new one"; λ = 1 needs no such assumption. docs/theory/shift.md, *Change, or chance?*.


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


def noise_share(repeats: ArrayLike, unconfirmed: ArrayLike) -> FloatArray:
    """Return λ, (N1), from (weighted) counts of any shape.

    Parameters
    ----------
    repeats
        m; 0 gives λ = 1.
    unconfirmed
        x, at most m.

    Examples
    --------
    >>> noise_share([30, 30, 0], [9, 0, 0]).round(4).tolist()
    [0.6957, 0.0549, 1.0]
    """
    at_least(0, repeats=repeats, unconfirmed=unconfirmed)
    m, x = np.asarray(repeats, dtype=np.float64), np.asarray(unconfirmed, dtype=np.float64)
    if np.any(x > m * (1 + 1e-9)):
        raise InputError(f"unconfirmed must be at most repeats, got {unconfirmed!r} of {repeats!r}")
    rate = (x + 0.5) / (m + 1)
    share = 2 * rate + np.sqrt(np.maximum(rate * (1 - rate), 0.0) / (m + 1))  # (N1)
    return np.asarray(np.where(m > 0, np.minimum(share, 1.0), 1.0))


def assumes_equal_noise(share: float, *, asked: int, items: int) -> bool:
    """Say whether "the old API was as noisy as the new one" must be printed, with λ = 1 beside it.

    Examples
    --------
    >>> assumes_equal_noise(0.4, asked=500, items=1000)
    True
    >>> assumes_equal_noise(0.4, asked=100, items=1000), assumes_equal_noise(1, asked=9, items=9)
    (False, False)
    """
    return share < 1 and asked > WIDELY_ASKED * items


@dataclass(frozen=True, eq=False)
class Confirmed:
    """Weighted counts of repeated flips.

    Parameters
    ----------
    repeats
        m, the sum of weights; weights have mean 1, so it is also the number of repeats.
    confirmed, reverted
        a (the second answer equals the first) and b (it equals the old one).
    size
        m²/Σw², what the repeats are worth.
    """

    repeats: FloatArray
    confirmed: FloatArray
    reverted: FloatArray
    size: FloatArray

    @property
    def unconfirmed(self) -> FloatArray:
        """X: the second answer differs from the first."""
        return self.repeats - self.confirmed

    @property
    def decided(self) -> tuple[FloatArray, FloatArray]:
        """Confirmed and reverted, as counts of so many repeats as the weights are worth."""
        worth = np.where(
            self.repeats > 0, self.size / np.where(self.repeats > 0, self.repeats, 1), 0
        )
        return self.confirmed * worth, self.reverted * worth


@dataclass(frozen=True, eq=False, kw_only=True)
class Repeats:
    """Flips of the blind phase that were asked again by a fresh call.

    A repeat from a cache, with a fixed seed or in the same batch confirms everything and makes
    noise look like change. Leave out repeats that failed.

    Parameters
    ----------
    old, first, second
        Codes of the old answer and of the two new ones. Items that did not flip are refused.
    weight
        p_k/n_k(blind) of the stratum of each; only ratios matter.
    truth
        Codes of the true labels; None where there are none.
    """

    old: IntArray
    first: IntArray
    second: IntArray
    weight: FloatArray
    truth: IntArray | None = None

    def __post_init__(self) -> None:
        for name, kind in (("old", np.intp), ("first", np.intp), ("second", np.intp)):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=kind))
        object.__setattr__(self, "weight", np.asarray(self.weight, dtype=np.float64))
        if self.truth is not None:
            object.__setattr__(self, "truth", np.asarray(self.truth, dtype=np.intp))
        parts = [self.old, self.first, self.second, self.weight]
        parts += [] if self.truth is None else [self.truth]
        if any(part.ndim != 1 or part.shape != self.old.shape for part in parts):
            raise InputError(
                "old, first, second, weight and truth must be equally long, got "
                + ", ".join(str(part.shape) for part in parts)
            )
        if not np.all((self.weight > 0) & np.isfinite(self.weight)):
            raise InputError(f"weight must be positive, got {self.weight.min()!r}")
        if np.any(self.old == self.first):
            place = int(np.argmax(self.old == self.first))
            raise InputError(
                f"repeat {place} did not flip (old and first are {self.old[place]}): "
                "only flips are asked again"
            )

    def __len__(self) -> int:
        return len(self.old)

    @property
    def decided(self) -> tuple[int, int]:
        """Unweighted counts (a, b): second answer as the first, second answer as the old one."""
        return int((self.second == self.first).sum()), int((self.second == self.old).sum())

    def flips(self) -> Confirmed:
        """Return the counts over all flips, for the flip rate and for change beyond noise."""
        return self._counted(self.old, self.first, self.second, np.ones(len(self), bool))

    def correctness(self) -> Confirmed:
        """Return the counts over flips between right and wrong, for the accuracy."""
        truth = self._truths()
        was, first, second = (codes == truth for codes in (self.old, self.first, self.second))
        return self._counted(was, first, second, was != first)

    def entry(self, true: int, answer: int) -> Confirmed:
        """Return the counts over flips into or out of one entry of the matrix."""
        here = self._truths() == true
        was, first, second = (codes == answer for codes in (self.old, self.first, self.second))
        return self._counted(was, first, second, here & (was != first))

    def entry_shares(
        self, true: ArrayLike, answer: ArrayLike, *, joint: bool = False
    ) -> FloatArray:
        """Return λ of each entry; 1 for an entry of which no flip was repeated.

        Parameters
        ----------
        true, answer
            Codes of the entries.
        joint
            For a statement about many entries at once ("some cell changed"): no λ is below that of
            all flips. An entry has few repeats, so the smallest of many own λ is too small by
            luck: on an unchanged API some cell was "proved" in up to .12 of runs with own λ, in at
            most .05 with this (27 cells, ``docs/benchmarks/shift.md``).
        """
        cells = zip(np.asarray(true).tolist(), np.asarray(answer).tolist(), strict=True)
        found = [self.entry(i, j) for i, j in cells]
        own = noise_share([f.repeats for f in found], [f.unconfirmed for f in found])
        if not joint:
            return own
        flips = self.flips()
        return np.maximum(own, noise_share(flips.repeats, flips.unconfirmed))

    def _truths(self) -> IntArray:
        if self.truth is None:
            raise InputError("truth is None: accuracy and matrix entries need true labels")
        return self.truth

    def _counted(
        self,
        old: NDArray[np.generic],
        first: NDArray[np.generic],
        second: NDArray[np.generic],
        keep: BoolArray,
    ) -> Confirmed:
        """Count by weight, scaled to mean 1 over the repeats that are counted here."""
        w = self.weight[keep]
        w = w / w.mean() if w.size else w
        sums = (w.sum(), w[(second == first)[keep]].sum(), w[(second == old)[keep]].sum())
        size = w.sum() ** 2 / np.square(w).sum() if w.size else 0.0
        return Confirmed(*(np.asarray(value, dtype=np.float64) for value in (*sums, size)))


# Which noise share λ each number of an assessment gets, from the flips that were asked again.


AnswersAre: TypeAlias = Literal["random", "recorded", "deterministic"]
"""``random``: another call may give another answer. ``recorded``: the same, but nobody can ask
again. ``deterministic``: the same call always gives the same answer."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseShares:
    """λ of every number: 0 for a deterministic API, 1 where nothing was asked again.

    Parameters
    ----------
    accuracy, flips
        Over flips between right and wrong, and over all flips.
    entries
        Of each counted cell of the matrix, for a statement about that cell.
    joint
        Of each cell, for a statement about all cells at once.
    """

    accuracy: float
    flips: float
    entries: FloatArray
    joint: FloatArray

    @classmethod
    def constant(cls, share: float, cells: int) -> NoiseShares:
        """Return the same λ everywhere."""
        each = np.full(cells, share)
        return cls(accuracy=share, flips=share, entries=each, joint=each)


def noise_shares(
    counts: Counts, repeats: Repeats | None, answers_are: AnswersAre, *, labelled: bool
) -> NoiseShares:
    """Return λ of every number.

    Parameters
    ----------
    counts
        The counted cells.
    repeats
        Flips that were asked again; None or empty if there are none.
    answers_are
        What is known of the API.
    labelled
        Whether there are true labels, so that flips between right and wrong can be told.
    """
    cells = len(counts.true)
    if answers_are == "deterministic":
        return NoiseShares.constant(0.0, cells)
    if repeats is None or not len(repeats):
        return NoiseShares.constant(1.0, cells)
    flips = repeats.flips()
    share = float(noise_share(flips.repeats, flips.unconfirmed))
    return NoiseShares(
        accuracy=accuracy_noise_share(repeats) if labelled else share,
        flips=share,
        entries=repeats.entry_shares(counts.true, counts.answer),
        joint=repeats.entry_shares(counts.true, counts.answer, joint=True),
    )


def accuracy_noise_share(repeats: Repeats) -> float:
    """Return λ of the accuracy: (N1), but 1 until the repeats refute that chance explains all.

    If nothing changed, repeats of flips between right and wrong confirm and revert equally often
    (:func:`~tallystick.verbs.shift.noise.chance_p_value`).

    Parameters
    ----------
    repeats
        Flips that were asked again, with true labels.

    Examples
    --------
    >>> def confirmed(number: int) -> Repeats:  # of 12 right answers that became wrong
    ...     second = [1] * number + [0] * (12 - number)
    ...     return Repeats(old=[0] * 12, first=[1] * 12, second=second, weight=[1.0] * 12,
    ...                    truth=[0] * 12)
    >>> [round(accuracy_noise_share(confirmed(number)), 4) for number in (8, 9, 10, 12)]
    [1.0, 1.0, 0.4939, 0.1303]
    """
    moved = repeats.correctness()
    if float(chance_p_value(*moved.decided)) > CHANCE_REFUTED:
        return 1.0
    return float(noise_share(moved.repeats, moved.unconfirmed))


def repeats_of(
    items: Items,
    first: dict[int, int],
    second: tuple[IntArray, IntArray],
    weight: FloatArray,
) -> Repeats | None:
    """Return the repeated flips with their weights.

    Parameters
    ----------
    items
        With old answers.
    first
        The first new answer by item.
    second
        The items that were asked again, and what they answered; failed repeats are left out.
    weight
        p/n(blind) of the stratum of every item.
    """
    again, codes = second
    if items.old is None or not len(again):
        return None
    known = np.array([first.get(int(item), FAILED) for item in again], np.intp)
    keep = (codes != FAILED) & (known != FAILED) & (known != items.old[again])
    again, codes, known = again[keep], codes[keep], known[keep]
    return Repeats(
        old=items.old[again],
        first=known,
        second=codes,
        weight=weight[again],
        truth=items.truth[again],
    )


# Flips that are more than noise: how many, and whether there are any.
#
# With a repeats of flips confirmed, b back to the old answer and m in all (weighted),
#
# .. math:: κ = (a - b)/m, \qquad \text{flips beyond noise} = F κ   \tag{N4}
#
# equals E[½‖P - Q‖²] if both APIs are equally noisy (P and Q are an item's old and new
# distributions of answers), so its lower end bounds the share of items whose distribution changed.
# With U the chance that two answers of one API to an item differ, and c repeats that gave a third
# answer,
#
# .. math:: E[½‖P - Q‖²] = F - ½ U_{new} - ½ U_{old}, \qquad U_{new} = F (2 b + c)/m   \tag{N10}
#
# whatever the noise. Several old draws measure U_old; U_old = U_new gives (N4). (N4) is too small
# if the new API is noisier, so without old draws the upper end takes U_old for 0. Where the repeats
# show that the new API is noisier (b > a, or U_new > U_old) the upper end is that of all flips: an
# API that became less stable changed, however close to the old answers its distribution stays.
#
# "Nothing changed but chance" is tested by confirmed against reverted repeats, one-sided. Under it
# the old answer and the two new ones are draws of one distribution, so over items drawn with equal
# probability a decided repeat confirms or reverts with probability ½. That does not hold within a
# stratum: an old answer that was a slip stands alone in its stratum, and its flip is confirmed. So
# where strata were drawn at unequal rates (small ones get a least number of questions) the counts
# are weighted; unweighted ones said "more than chance" in .06-.07 of runs on an unchanged API,
# weighted ones in at most .04.


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BeyondNoise:
    """The share of flips beyond noise with its interval; arrays of any shape.

    Parameters
    ----------
    value, low, high
        A share, so none is below 0.
    less_stable
        Whether the new API is noisier than the old one: then *high* is that of all flips.
    """

    value: Floats
    low: Floats
    high: Floats
    less_stable: npt.NDArray[np.bool_]


def beyond_noise(
    flips: SumBounds,
    repeats: Confirmed,
    *,
    old: tuple[float, int] | None = None,
    alpha: float = 0.05,
) -> BeyondNoise:
    r"""Bound the flips beyond noise: (N4), or (N10) where old draws show the old noise.

    The interval of (a + c/2)/m = (κ + 1)/2 is Wilson's at m²/Σw², and the reaches of F, κ and U_old
    are combined as the root of the sum of their squares. Without a repeat nothing is known but that
    the share is at most that of all flips.

    Parameters
    ----------
    flips
        The flip rate, moved to the blind estimate:
        :func:`~tallystick.verbs.shift.noisy.noisy_flips`.
    repeats
        Over all flips, :meth:`~tallystick.verbs.shift.noise.Repeats.flips`.
    old
        U_old and the number of items that show it. Without it the estimate and the lower end take
        it for U_new, the upper end for 0.
    alpha
        One minus the level.

    Examples
    --------
    >>> one = np.asarray
    >>> rate = SumBounds(one(0.13), one(0.0878), one(0.1590), one(0.0), one(0.0))
    >>> def shown(confirmed, reverted, old=None):
    ...     repeats = Confirmed(one(39.0), one(confirmed), one(reverted), one(39.0))
    ...     found = beyond_noise(rate, repeats, old=old)
    ...     return f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}] {found.less_stable}"
    >>> shown(19.0, 16.0), shown(19.0, 16.0, old=(0.12, 500))
    ('0.0100 [0.0000, 0.0946] False', '0.0100 [0.0000, 0.0377] False')
    >>> shown(4.0, 35.0), shown(4.0, 35.0, old=(0.0, 500))
    ('0.0000 [0.0000, 0.1590] True', '0.0133 [0.0034, 0.1590] True')
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    m, rate = repeats.repeats, flips.value
    some = m > 0
    kappa = np.where(some, (repeats.confirmed - repeats.reverted) / np.where(some, m, 1.0), 0.0)
    kept = (kappa + 1) / 2
    z = np.asarray(-float(ndtri(alpha / 2)))
    low, high = score_ends(kept, repeats.size, z)

    if old is None:
        before, fewer = 0.0, 0.0
        value = rate * kappa  # (N4)
        down = _root(kappa * _reach(flips, kappa), 2 * rate * (kept - low))
        # Equal noise makes confirmed repeats at least as likely as reverted ones.
        less_stable = chance_p_value(*reversed(repeats.decided)) <= alpha / 2
    else:
        before = old[0]
        fewest, most = score_ends(np.asarray(before), np.asarray(float(old[1])), z)
        fewer, more = before - float(fewest), float(most) - before
        value = rate * kept - before / 2  # (N10)
        down = _root(kept * (rate - flips.low), rate * (kept - low), more / 2)
        unsure = _root(2 * (1 - kept) * (rate - flips.low), 2 * rate * (high - kept), more)
        less_stable = 2 * rate * (1 - kept) - before > unsure

    # An API that is not shown to be less stable confirms at least half of its flips.
    held = np.maximum(kept, 0.5) if old is None else kept
    up = _root(held * (flips.high - rate), rate * (high - kept), fewer / 2)
    most_beyond = np.maximum(rate * held - before / 2, 0.0) + up
    return BeyondNoise(
        value=np.maximum(value, 0.0),
        low=np.where(some, np.maximum(value - down, 0.0), 0.0),
        high=np.where(some & ~less_stable, np.minimum(most_beyond, flips.high), flips.high),
        less_stable=np.asarray(some & less_stable),
    )


def _root(*reaches: npt.ArrayLike) -> Floats:
    """Return the root of the sum of squares."""
    return np.asarray(np.sqrt(sum(np.square(one) for one in reaches)))


def _reach(flips: SumBounds, kappa: Floats) -> Floats:
    """Return how far F reaches in the direction that moves Fκ down: it turns with κ."""
    return np.where(kappa >= 0, flips.value - flips.low, flips.high - flips.value)


def chance_p_value(confirmed: npt.ArrayLike, reverted: npt.ArrayLike) -> Floats:
    """Return the one-sided p-value of "nothing changed but chance": P(X >= a), X of (a + b, ½).

    Parameters
    ----------
    confirmed, reverted
        a and b, :attr:`~tallystick.verbs.shift.noise.Confirmed.decided`; repeats that gave a third
        answer do not count. The test is exact for whole counts of items drawn with equal
        probability.

    Examples
    --------
    >>> [round(float(chance_p_value(a, b)), 4) for a, b in ((7, 0), (6.5, 0.2), (0, 0))]
    [0.0078, 0.0159, 1.0]
    """
    from scipy.special import betainc

    at_least(0, confirmed=confirmed, reverted=reverted)
    a, b = np.asarray(confirmed, dtype=float), np.asarray(reverted, dtype=float)
    some = a > 0
    # The binomial tail as a beta integral, which weighted counts have as well.
    return np.asarray(np.where(some, betainc(np.where(some, a, 1.0), b + 1, 0.5), 1.0))


# Count answers by stratum and by cell of the matrix, and which events were possible where.


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """Counts of one run, or of many side by side.

    Parameters
    ----------
    items, strata
        What was sampled.
    seen
        Counts over the cells of the matrix that occurred before or in the answers, C of them.
    true, answer
        The row and the column of each of those cells.
    of_label
        Items by stratum and true label, shape (S, L).
    before
        Items by stratum and old cell, shape (S, C); None without old answers.
    """

    items: Items
    strata: Strata
    seen: Observed
    true: IntArray
    answer: IntArray
    of_label: IntArray
    before: IntArray | None

    @property
    def right(self) -> BoolArray:
        """Which cells are on the diagonal."""
        return np.asarray(self.true == self.answer)

    @property
    def can_gain(self) -> BoolArray:
        """Where an item can move into a cell: shape (C, S)."""
        own = self.of_label[:, self.true]
        return np.asarray((own > (0 if self.before is None else self.before)).T)

    @property
    def can_lose(self) -> BoolArray:
        """Where an item can move out of a cell: shape (C, S)."""
        if self.before is None:
            return np.zeros((len(self.true), len(self.strata)), bool)
        return (self.before > 0).T


def count(
    items: Items,
    strata: Strata,
    asked: IntArray,
    answers: IntArray,
    *,
    keep: BoolArray | None = None,
) -> Counts:
    """Count *answers* (codes 0 … L, or FAILED) to the items *asked*, along the last axis.

    Parameters
    ----------
    items, strata
        What was sampled.
    asked, answers
        Shape (questions,) or (runs, questions).
    keep
        Which questions to count; None counts all.
    """
    width = len(items.labels) + 1
    failed = answers == FAILED
    flat = np.where(failed, items.truth[asked] * width, items.truth[asked] * width + answers)
    parts = (
        [np.unique(flat)]
        if items.old is None
        else [np.unique(flat), np.unique(items.flat(items.old))]
    )
    cells = np.unique(np.concatenate(parts))
    old = None if items.old is None else np.searchsorted(cells, items.flat(items.old))
    # Only the counting of a plan is wanted here: its policy plays no part.
    plan = Plan(
        strata=strata, policy=Uniform(), budget=Budget(calls=1), n_outcomes=len(cells), baseline=old
    )
    seen = observe(plan, asked, np.where(failed, FAILED, np.searchsorted(cells, flat)), keep=keep)
    L = len(items.labels)
    of_label = np.bincount(strata.of * L + items.truth, minlength=len(strata) * L).reshape(-1, L)
    before = None
    if old is not None:
        C = len(cells)
        before = np.bincount(strata.of * C + old, minlength=len(strata) * C).reshape(-1, C)
    return Counts(
        items=items,
        strata=strata,
        seen=seen,
        true=cells // width,
        answer=cells % width,
        of_label=of_label,
        before=before,
    )


def collapse(strata: Strata, answered: IntArray, *, least: int = 2) -> Strata:
    """Join every stratum with fewer than *least* answers to another, so that no part of the whole
    is a guess.

    Strata run short of answers where a run ended early, where calls failed, or where a gate took
    the budget. The one with the fewest answers joins the one with the fewest among its family (else
    among all). Which strata join depends on how many answers there are, not on what they say.

    Examples
    --------
    >>> collapse(Strata([0, 0, 0, 1, 1, 2]), np.array([3, 1, 1])).sizes
    array([3, 3])
    """
    got = np.asarray(answered).copy()
    while len(strata) > 1:
        short = got < np.minimum(least, strata.sizes)
        if not short.any():
            break
        k = int(np.where(short, got, got.max() + 1).argmin())
        other = np.arange(len(strata)) != k
        kin = np.flatnonzero(other & (strata.families == strata.families[k]))
        hosts = kin if kin.size else np.flatnonzero(other)
        into = np.arange(len(strata))
        into[k] = hosts[got[hosts].argmin()]
        number = np.unique(into, return_inverse=True)[1]
        got = np.bincount(number, weights=got).astype(np.intp)
        strata = strata.regroup(into)
    return strata
