"""From answers to a result: a pure function of what was asked and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.sampling import FAILED, Strata
from tallystick.stats.anytime import RateTest
from tallystick.verbs.shift.change import Level, ShiftEstimates, point, top_cells, unseen_error
from tallystick.verbs.shift.design import Items, SumBounds, allocation_path, baselines, strata_rows
from tallystick.verbs.shift.noise import (
    AnswersAre,
    Counts,
    Repeats,
    assumes_equal_noise,
    beyond_noise,
    chance_p_value,
    collapse,
    count,
    noise_shares,
    repeats_of,
)
from tallystick.verbs.shift.result import Change, Noise, ShiftResult
from tallystick.verbs.shift.verdict import (
    Facts,
    allow_unread,
    allow_unread_cells,
    allow_unread_flips,
    assumptions_of,
    decide,
    opening_of,
    unread_count,
    warnings_of,
)

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """What a run asked, in order, and what came back.

    Parameters
    ----------
    asked
        Items, by number.
    codes
        The code of each answer, 0 … L, or FAILED.
    blind
        Which questions were chosen without regard to answers; None if all were.
    unclear
        Which answers count as none of the labels although their text may hold one; None if all were
        read.
    repeated, second
        Items whose first answer flipped and that were asked again, and the code of that answer. A
        repeat must be a fresh call.
    """

    asked: IntArray
    codes: IntArray
    blind: NDArray[np.bool_] | None = None
    unclear: NDArray[np.bool_] | None = None
    repeated: IntArray = field(default_factory=lambda: np.empty(0, np.intp))
    second: IntArray = field(default_factory=lambda: np.empty(0, np.intp))

    @classmethod
    def of(
        cls,
        asked: ArrayLike,
        codes: ArrayLike,
        *,
        blind: ArrayLike | None = None,
        unclear: ArrayLike | None = None,
        again: Mapping[int, int] | None = None,
    ) -> Answers:
        """Check that one answer came for each question; *again* holds second answers by item."""
        a, c = np.asarray(asked, dtype=np.intp), np.asarray(codes, dtype=np.intp)
        if a.ndim != 1 or a.shape != c.shape:
            raise InputError(f"asked and codes must be equally long, got {a.shape} and {c.shape}")
        if len(np.unique(a)) != len(a):
            raise InputError("asked holds an item twice: an assessment counts every item once")
        more = again or {}
        return cls(
            asked=a,
            codes=c,
            blind=None if blind is None else np.asarray(blind, dtype=bool),
            unclear=None if unclear is None else np.asarray(unclear, dtype=bool),
            repeated=np.array(list(more), dtype=np.intp),
            second=np.array(list(more.values()), dtype=np.intp),
        )


def assess(
    items: Items,
    strata: Strata,
    answers: Answers,
    *,
    strategy: str = "ours",
    alpha: float = 0.05,
    simultaneous: bool = False,
    seed: int | None = None,
    answers_are: AnswersAre = "random",
) -> ShiftResult:
    """Say how the API changed.

    Parameters
    ----------
    items
        What was known before.
    strata
        From which the questions were drawn. Strata that got fewer than two answers are joined to
        others first.
    answers
        Questions and answers, and second answers to flips.
    strategy
        ``ours`` subtracts the old answer item by item; every other strategy is estimated as the
        paper does.
    alpha
        One minus the level of every interval.
    simultaneous
        Make the intervals of all cells hold together: each at alpha over the number of possible
        cells.
    seed
        Of the run, for the record.
    answers_are
        ``random`` and ``recorded`` answers could come out differently another time: every interval
        allows for it, fully where no flip was asked again. ``deterministic`` ones cannot.

    Examples
    --------
    >>> old = ["a"] * 50 + ["b"] * 50
    >>> items = Items.of(old, old=old)
    >>> asked = np.arange(0, 100, 2)
    >>> result = assess(items, Strata([0] * 50 + [1] * 50), Answers.of(asked, items.truth[asked]))
    >>> result.accuracy_change.estimate, result.flip_rate.estimate
    (0.0, 0.0)
    """
    told = _check(items, answers, alpha)
    number = np.bincount(strata.of[answers.asked[told]], minlength=len(strata))
    used = collapse(strata, number)
    counts = count(items, used, answers.asked, answers.codes)
    by_item = strategy == "ours" and items.old is not None

    # Every item answered by a deterministic API leaves nothing to estimate.
    everything = bool(told.all()) and len(told) == len(items) and items.old is not None
    census = everything and answers_are == "deterministic"
    # Phase 1 of other strategies is two answers per stratum: too few to correct by.
    corrects = by_item and answers.blind is not None and not answers.blind.all() and not census
    blind = (
        count(items, used, answers.asked, answers.codes, keep=answers.blind) if corrects else None
    )
    repeats = _repeats(items, used, answers, blind or counts)
    shares = noise_shares(counts, repeats, answers_are, labelled=items.labelled)
    found = ShiftEstimates(
        counts=counts,
        blind=None if blind is None else blind.seen,
        shares=shares,
        level=Level(alpha=alpha, simultaneous=simultaneous),
        by_item=by_item,
        census=census,
        everything=everything,
    )

    accuracy = allow_unread(found.accuracy(), items, used, answers)
    flips = allow_unread_flips(found.flips(), items, used, answers)
    noise = _noise(found, repeats, answers_are, asked=int(told.sum()))
    if noise is not None:
        noise = _noise_unread(noise, items, used, answers)
    shift, ends, sure = found.matrix()
    ends, sure = (allow_unread_cells(one, items, used, answers) for one in (ends, sure))
    if not items.labelled and answers_are != "deterministic":
        # Rows are the old answers themselves: noise alone moves mass out of each, so that a flow
        # proves nothing about the API.
        sure = (np.full_like(shift, -1.0), np.full_like(shift, 1.0))
    rows = found.row_errors(point(counts, by_item=by_item)[1])
    calls = len(answers.asked) + len(answers.repeated)
    facts = Facts(
        accuracy=accuracy,
        flips=flips,
        noise=noise,
        asked=len(answers.asked),
        population=len(items),
        calls=calls,
        labelled=items.labelled,
        unread=unread_count(items, answers),
    )
    decision, needed, verdict = decide(facts)
    L = len(items.labels)
    return ShiftResult(
        verdict=verdict,
        sentences=opening_of(facts),
        decision=decision,
        needed=needed,
        n_items=int(told.sum()),
        assumptions=assumptions_of(noise, labelled=items.labelled),
        warnings=warnings_of(
            failed=int((answers.codes == FAILED).sum()),
            other=int((answers.codes == L).sum()),
            joined=len(strata) - len(used),
            strata=len(strata),
        ),
        seed=seed,
        labels=items.labels,
        shift=tuple(tuple(map(float, row)) for row in shift),
        interval=tuple(
            tuple(found.interval(a, b) for a, b in zip(lows, highs, strict=True))
            for lows, highs in zip(*ends, strict=True)
        ),
        accuracy_change=accuracy,
        flip_rate=flips,
        recall_change=found.recalls(shift, ends),
        calls=calls,
        cost=0.0,
        strata=strata_rows(items, strata, answers.asked, answers.codes),
        top_cells=top_cells(items, answers.asked, answers.codes, shift, ends, sure, found.interval),
        error={
            "estimate": float(rows.sum() ** 0.5),
            "bound": frobenius_bound(
                rows, calls=int(told.sum()), alpha=alpha, unseen=unseen_error(counts, alpha=alpha)
            ),
        },
        baselines={
            "this run": float(rows.sum()),
            **baselines(items, used, answers.asked, answers.codes),
        },
        sensitivity=_sensitivity(items, used, answers, (accuracy, flips), alpha=alpha),
        strategy=strategy,
        simultaneous=simultaneous,
        noise=noise,
        these_answers=found.as_they_came(),
        asked=_asked(items, strata, answers),
        path=allocation_path(items, strata, answers.asked, answers.codes),
        evidence=(items, strata, answers),
    )


def _check(items: Items, answers: Answers, alpha: float) -> NDArray[np.bool_]:
    """Refuse what cannot be assessed; return which questions were answered."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    if items.matrix is None:
        raise InputError(
            "nothing is known of the past: give the old answers (old=…) or the old matrix"
            " (matrix=…)"
        )
    told = answers.codes != FAILED
    if told.sum() < 2:
        raise NotIdentifiable(f"only {int(told.sum())} answers came: there is nothing to say yet")
    return np.asarray(told)


def _repeats(items: Items, strata: Strata, answers: Answers, blind: Counts) -> Repeats | None:
    """Return the repeated flips, each weighted by the items that it stands for."""
    weight = (strata.shares / np.maximum(blind.seen.answered, 1))[strata.of]
    first = dict(zip(answers.asked.tolist(), answers.codes.tolist(), strict=True))
    return repeats_of(items, first, (answers.repeated, answers.second), weight)


def _noise(
    found: ShiftEstimates, repeats: Repeats | None, answers_are: AnswersAre, *, asked: int
) -> Noise | None:
    """Return what the repeats say about noise; None without old answers by item."""
    items = found.counts.items
    if items.old is None:
        return None
    certain = answers_are == "deterministic"
    some = repeats is not None and len(repeats) > 0
    a, b = repeats.decided if repeats is not None and some else (0, 0)
    equal = found.by_item and assumes_equal_noise(
        found.shares.accuracy, asked=asked, items=len(items)
    )
    beyond, less_stable = (
        (found.flips(), False)
        if certain
        else flips_beyond(found.flip_bounds(), repeats, alpha=found.level.alpha)
    )
    return Noise(
        answers_are=answers_are,
        repeats=len(repeats) if repeats is not None else 0,
        confirmed=a,
        reverted=b,
        share=found.shares.flips,
        accuracy_share=found.shares.accuracy,
        beyond=beyond,
        less_stable=less_stable,
        p_value=float(chance_p_value(*repeats.flips().decided)) if repeats and some else None,
        equal_noise=equal and not certain,
        whole_noise=found.accuracy(share=1.0) if found.by_item and items.labelled else None,
        new_items=found.new_items() if found.by_item and items.labelled else None,
    )


def _noise_unread(noise: Noise, items: Items, strata: Strata, answers: Answers) -> Noise:
    """Widen what is said beside noise by what unread answers may hide."""

    def wider(change: Change | None) -> Change | None:
        return None if change is None else allow_unread(change, items, strata, answers)

    return replace(
        noise,
        beyond=allow_unread_flips(noise.beyond, items, strata, answers),
        whole_noise=wider(noise.whole_noise),
        new_items=wider(noise.new_items),
    )


def flips_beyond(
    flips: SumBounds,
    repeats: Repeats | None,
    *,
    alpha: float,
    old: tuple[float, int] | None = None,
) -> tuple[Change, bool]:
    """Return the flips beyond noise, and whether the API became less stable.

    Parameters
    ----------
    flips, repeats, alpha, old
        As in :func:`~tallystick.verbs.shift.noise.beyond_noise`; without a repeat only the
        interval is known.
    """
    level = 1 - alpha
    if repeats is None or not len(repeats):
        # Nothing is known but that it is no more than all flips.
        reason = Unknown("no flip was asked again" if flips.value > 0 else "no answer flipped")
        interval = Interval(0.0, float(flips.high), level=level, method="no repeats")
        return Change(estimate=reason, interval=interval), False
    some = beyond_noise(flips, repeats.flips(), old=old, alpha=alpha)
    less_stable = bool(some.less_stable)
    estimate: float | Unknown = float(some.value)
    if less_stable and old is None:
        estimate = Unknown(
            "the API became less stable: without old draws (--old-draws) nothing shows how noisy it"
            " was before"
        )
    interval = Interval(
        float(some.low), float(some.high), level=level, method="repeated flips, Wilson"
    )
    return Change(estimate=estimate, interval=interval), less_stable


def _sensitivity(
    items: Items,
    strata: Strata,
    answers: Answers,
    changes: tuple[Change, Change],
    *,
    alpha: float,
) -> dict[str, Interval]:
    """Return the range of the estimates if what is not known were all one way, or all the other.

    Failed calls are not known; nor is what an answer meant from which no label could be read.
    """
    unknown = answers.codes == FAILED
    accuracy, flips = changes
    unread = unknown | (answers.codes == len(items.labels))
    if not unread.any():
        return {}
    truth = items.truth[answers.asked]
    p = strata.shares[strata.of[answers.asked]]
    n = np.bincount(strata.of[answers.asked], minlength=len(strata))[strata.of[answers.asked]]
    assert items.matrix is not None  # checked by assess

    def hull(events: FloatArray, less: float, change: Change, open_: NDArray[np.bool_]) -> Interval:
        ends = [float((p / n * np.where(open_, all_, events)).sum()) - less for all_ in (0.0, 1.0)]
        # The estimate leaves the failed calls out, which is one more way to see them.
        if isinstance(change.estimate, float):
            ends.append(change.estimate)
        return Interval(
            min(ends), max(ends), level=1 - alpha, method="what is not known all one way"
        )

    # As the estimate does: the old answers of the items asked, where they are known, else of all.
    before = float(np.trace(items.matrix))
    if items.old is not None:
        before = float((p / n * (items.old[answers.asked] == truth)).sum())
    right = (answers.codes == truth).astype(np.float64)
    found = {}
    if items.labelled:
        found["accuracy_change"] = hull(right, before, accuracy, unread)
    if items.old is not None and unknown.any():
        flip = (answers.codes != items.old[answers.asked]).astype(np.float64)
        found["flip_rate"] = hull(flip, 0.0, flips, unknown)
    return found


def _asked(items: Items, strata: Strata, answers: Answers) -> dict[str, list[object]]:
    """Return what was learnt of each item asked, as columns."""
    columns: list[str | None] = [*items.columns]

    def text(code: int) -> str | None:
        return None if code == FAILED else columns[code]

    asked = answers.asked.tolist()
    table: dict[str, list[object]] = {
        "item": [items.names[item] for item in asked],
        **({"true": [items.labels[items.truth[item]] for item in asked]} if items.labelled else {}),
        "new": [text(code) for code in answers.codes.tolist()],
        "stratum": [int(strata.of[item]) for item in asked],
    }
    if items.old is not None:
        old = items.old
        table["old"] = [text(int(old[item])) for item in asked]
        table["changed"] = [
            None if code == FAILED else code != int(old[item])
            for item, code in zip(asked, answers.codes.tolist(), strict=True)
        ]
    if len(answers.repeated):
        again = dict(zip(answers.repeated.tolist(), answers.second.tolist(), strict=True))
        table["asked_again"] = [text(again[item]) if item in again else None for item in asked]
    return table


# When enough has been asked: a limit on flips, proved or refuted at any time, or a target error of
# the matrix.


@dataclass(frozen=True, kw_only=True)
class FlipGate:
    r"""Watch items in uniformly random order, until it is proved which side of *limit* the share of
    flips is on.

    Two e-processes run side by side (:mod:`tallystick.stats.anytime`): one for "under the
    limit", one for "over it". Each is wrong with probability at most *alpha*, however often one
    looks. With a limit of 0 the first flip settles it (for an API whose answers do not vary by
    chance), and only a clean run over all items passes. Where the items not yet asked can no longer
    matter, the count decides.

    A call that failed proves nothing: it counts as a flip against "under" and as no flip
    against "over".

    Parameters
    ----------
    limit
        The share x of flips that is still allowed.
    population
        How many items there are.
    alpha
        The chance of a wrong decision, for either.

    Examples
    --------
    >>> gate = FlipGate(limit=0.01, population=20_000)
    >>> gate.update(np.zeros(303)).passed, gate.update(np.zeros(304)).passed
    (None, True)
    """

    limit: float
    population: int
    alpha: float = 0.05
    asked: int = 0
    flips: int = 0
    failures: int = 0
    passed: bool | None = None
    _tests: tuple[RateTest, RateTest] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.limit < 1:
            raise InputError(f"the limit of a gate on flips must be in [0, 1), got {self.limit!r}")
        if self.limit > 0 and self._tests is None:
            under = RateTest(limit=self.limit, population=self.population, side="below")
            over = RateTest(limit=self.limit, population=self.population, side="above")
            object.__setattr__(self, "_tests", (under, over))

    def update(self, flips: ArrayLike) -> FlipGate:
        """Return the gate after more items in the order asked: 1 flipped, 0 not, NaN failed.

        Once it has decided it stays as it is.
        """
        events = np.atleast_1d(np.asarray(flips, dtype=np.float64))
        if self.passed is not None or not events.size:
            return self
        after = self._after(events)
        if after.passed is None or len(events) == 1:
            return after
        # It was decided somewhere in here: find the very answer, so that batches make no
        # difference.
        half = len(events) // 2
        return self.update(events[:half]).update(events[half:])

    def _after(self, events: NDArray[np.float64]) -> FlipGate:
        """Return the gate after all *events*, decided if it was decided at any of them."""
        failed = np.isnan(events)
        flips = int(np.nansum(events))
        seen = replace(
            self,
            asked=self.asked + len(events),
            flips=self.flips + flips,
            failures=self.failures + int(failed.sum()),
        )
        if self._tests is None:
            clean = seen.asked == self.population and not seen.flips and not seen.failures
            return replace(seen, passed=False if seen.flips else True if clean else None)
        under = self._tests[0].update(np.where(failed, 1.0, events))
        over = self._tests[1].update(np.where(failed, 0.0, events))
        most = self.limit * self.population * (1 + 1e-9)
        if seen.flips > most:  # whatever the others say
            return replace(seen, passed=False, _tests=(under, over))
        # even if all others flipped
        if self.population - seen.asked + seen.flips + seen.failures <= most:
            return replace(seen, passed=True, _tests=(under, over))
        enough = -log(self.alpha)
        passed = True if under.peak >= enough else False if over.peak >= enough else None
        return replace(seen, passed=passed, _tests=(under, over))


def frobenius_bound(
    variance: ArrayLike, *, calls: int, alpha: float = 0.05, unseen: float = 0.0
) -> float:
    r"""Return the ε that the Frobenius error of the matrix stays below with probability 1 - α.

    .. math:: \varepsilon^2 = T \, \chi^2_{1-\alpha}(\nu) / \nu, \qquad T = \sum_i T_i, \quad \nu = T^2 / \sum_i T_i^2

    with :math:`T_i` the estimated squared error of the row of true label i; inflated by 1.1 below
    500 calls. docs/theory/shift.md, *Stopping early*: held .92-1 at a fixed number of calls, so it
    is approximate. A variance estimated from no flip, or from few, says nothing: the bound is never
    below *unseen*.

    Parameters
    ----------
    variance
        :math:`T_i`, one per row.
    calls
        Answers that came.
    alpha
        One minus the level.
    unseen
        How large the error can be although no answer showed it
        (:func:`~tallystick.verbs.shift.change.unseen_error`).

    Examples
    --------
    >>> round(frobenius_bound([2e-5, 2e-5], calls=2000), 5)
    0.01095
    >>> frobenius_bound([0.0, 0.0], calls=2000, unseen=0.0026)
    0.0026
    """
    rows: NDArray[np.float64] = np.asarray(variance, dtype=np.float64)
    total = float(rows.sum())
    if total <= 0:
        return unseen
    from scipy.special import chdtri

    degrees = total**2 / float((rows**2).sum())
    bound = sqrt(total * float(chdtri(degrees, alpha)) / degrees)
    return max(bound * (1.1 if calls < 500 else 1.0), unseen)


def looks(*, first: int, calls: int) -> tuple[int, ...]:
    """Return after how many answers to look at a target error: each time half as many again have
    come.

    α is split over the looks, so few of them are wanted.

    Examples
    --------
    >>> looks(first=100, calls=500)
    (100, 150, 225, 338, 500)
    """
    at = []
    n = float(first)
    while round(n) < calls:
        at.append(round(n))
        n = max(1.5 * n, n + 1)
    return (*at, calls)
