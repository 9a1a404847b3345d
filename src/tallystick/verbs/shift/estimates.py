"""The answers of a run, and every estimate that they give: mean, flips, noise, matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tallystick.results import Interval, Unknown
from tallystick.sampling import FAILED, Strata
from tallystick.verbs.shift.design import (
    BoolArray,
    FloatArray,
    IntArray,
    Items,
)
from tallystick.verbs.shift.intervals import (
    FLIP_HULL,
    MEAN_HULL,
    Moves,
    StratumSample,
    SumBounds,
    blind_gap,
    flip_bounds,
    mean_change,
    stretched,
    sum_bounds,
    widened,
)
from tallystick.verbs.shift.noise import (
    WIDELY_ASKED,
    AnswersAre,
    NoiseShares,
    OldDraws,
    Repeats,
    ShareBounds,
    fresh_noise,
    old_noise,
    randomness,
)
from tallystick.verbs.shift.result import NO_LABELS, Change, Noise, TopCell, Unheard

# Cells that are named.
TOP = 10

# From this β of (I4) on the whole old answer is subtracted: less would gain next to nothing, and
# move cells in which no answer changed.
WHOLE_OLD = 0.9

# Why an answer counts as none of the labels: its text may hold one ("unread", "cut"), or it
# declines.
WHY = ("", "unread", "cut", "refused")
MAY_HOLD = (WHY.index("unread"), WHY.index("cut"))


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
    why
        For each answer that is none of the labels, why: a place in `WHY`; None if none needs one.
    repeated, second
        Items whose first answer flipped and that were asked again, and the code of that answer. A
        repeat must be a fresh call.
    """

    asked: IntArray
    codes: IntArray
    blind: BoolArray | None = None
    why: IntArray | None = None
    repeated: IntArray = field(default_factory=lambda: np.empty(0, np.intp))
    second: IntArray = field(default_factory=lambda: np.empty(0, np.intp))

    @classmethod
    def of(
        cls,
        asked: ArrayLike,
        codes: ArrayLike,
        *,
        blind: ArrayLike | None = None,
        why: ArrayLike | None = None,
        again: Mapping[int, int] | None = None,
    ) -> Answers:
        """Take one answer per question, no item twice; *again* holds second answers by item."""
        a, c = np.asarray(asked, dtype=np.intp), np.asarray(codes, dtype=np.intp)
        more = again or {}
        return cls(
            asked=a,
            codes=c,
            blind=None if blind is None else np.asarray(blind, dtype=bool),
            why=None if why is None else np.asarray(why, dtype=np.intp),
            repeated=np.array(list(more), dtype=np.intp),
            second=np.array(list(more.values()), dtype=np.intp),
        )

    @property
    def unclear(self) -> BoolArray:
        """Which answers may hold a label that was not read."""
        if self.why is None:
            return np.zeros(len(self.asked), bool)
        return np.isin(self.why, MAY_HOLD)


@dataclass(frozen=True, eq=False, kw_only=True)
class Past:
    """What is known of the old answers besides the first of each item.

    Parameters
    ----------
    draws
        The code of every old answer, items x K, the first draw first; None if there is but one.
    scale
        The grade of each label on [0, 1], where answers are grades; None where they are labels.
    """

    draws: IntArray | None = None
    scale: FloatArray | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """The answers in the strata that were used, and every estimate that they give.

    Shares of items with a true label divide by *kappa*, the part of all items that has one; the
    flip rate is that of all items.
    """

    items: Items
    strata: Strata
    answers: Answers
    past: Past
    alpha: float
    answers_are: AnswersAre

    @cached_property
    def _told(self) -> BoolArray:
        return np.asarray(self.answers.codes != FAILED)

    @cached_property
    def asked(self) -> IntArray:
        """The items that answered."""
        return self.answers.asked[self._told]

    @cached_property
    def codes(self) -> IntArray:
        """What they answered."""
        return self.answers.codes[self._told]

    @cached_property
    def of(self) -> IntArray:
        """The stratum of each."""
        return self.strata.of[self.asked]

    @cached_property
    def blind(self) -> BoolArray:
        """Which of them were chosen without regard to answers."""
        if self.answers.blind is None:
            return np.ones(len(self.asked), bool)
        return self.answers.blind[self._told]

    @cached_property
    def blind_answered(self) -> FloatArray:
        """How many of those there are in each stratum."""
        return self._total(np.ones(len(self.asked)), self.blind)

    def _total(self, values: FloatArray, keep: BoolArray | None = None) -> FloatArray:
        """Add up values of the answers by stratum."""
        some = np.ones(len(self.of), bool) if keep is None else keep
        total = np.bincount(self.of[some], weights=values[some], minlength=len(self.strata))
        return np.asarray(total, dtype=np.float64)

    @cached_property
    def sample(self) -> StratumSample:
        """How much was answered in each stratum."""
        strata, answered = self.strata, self._total(np.ones(len(self.asked)))
        return StratumSample(strata.shares, np.maximum(answered, 1), answered / strata.sizes)

    @property
    def everything(self) -> bool:
        """Whether every item answered."""
        return len(self.asked) == len(self.items)

    @property
    def census(self) -> bool:
        """Whether a deterministic API answered everything: then nothing is left to estimate."""
        return self.everything and self.answers_are == "deterministic"

    @property
    def kappa(self) -> float:
        """The part of all items that has a true label."""
        return float(self.items.known.mean())

    @cached_property
    def repeats(self) -> Repeats:
        """The flips that were asked again."""
        again = (self.answers.repeated, self.answers.second)
        first = (self.asked, self.codes)
        return Repeats.of(self.items, self.strata, first, again, self.blind_answered)

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray]:
        """Rows and columns of the cells that occurred before or in the answers, row by row."""
        items, width = self.items, len(self.items.labels) + 1
        known = items.known[self.asked]
        new = items.truth[self.asked[known]] * width + self.codes[known]
        old = items.truth[items.known] * width + items.old[items.known]
        flat = np.unique(np.concatenate([new, old]))
        return flat // width, flat % width

    @cached_property
    def shares(self) -> NoiseShares:
        """λ of every number."""
        return NoiseShares.of(
            self.repeats,
            self.answers_are,
            cells=self.cells,
            labels=len(self.items.labels),
            scale=None if self.past.scale is None else self._scale,
        )

    @property
    def _scale(self) -> FloatArray:
        assert self.past.scale is not None
        return np.append(self.past.scale, np.nan)

    def interval(self, low: float, high: float) -> Interval:
        """Return the interval of a cell."""
        return Interval(
            float(low),
            float(high),
            level=1 - self.alpha,
            guarantee="approximate",
            method=SUMS,
        )

    # The mean: accuracy, or a grade, of one or several old answers.

    def mean_change(self, share: float | None = None) -> Change:
        """Return the change of accuracy or of the mean grade, at its own λ or at a given one."""
        items, past = self.items, self.past
        if past.scale is None and not items.labelled:
            return NO_LABELS
        draws = items.old[:, None] if past.draws is None else past.draws
        if past.scale is not None:
            before, after = self._scale[draws], self._scale[self.codes]
        else:
            before = np.where(items.known[:, None], draws == items.truth[:, None], np.nan)
            after = (self.codes == items.truth[self.asked]).astype(np.float64)
        moves, net = self._mean_moves(before.mean(axis=1), after)
        noise = None
        if share is None and past.draws is not None:
            noise = self._draw_noise(before, after)
        lam = self.shares.mean if share is None else share
        bounds = mean_change(
            moves, self.sample, alpha=self.alpha, items=len(items), share=lam, noise=noise
        )
        if self._corrects:
            gap = blind_gap(
                moves.net, self.sample, self._total(net, self.blind), self.blind_answered
            )
            bounds = stretched(bounds, gap, part=MEAN_HULL)
        if past.draws is None and past.scale is None:
            true, answer = self.cells
            bounds = _moved(bounds, self._old_answers_add[true == answer].sum())
        bounds = _scaled(bounds, self.kappa if past.scale is None else 1.0)
        estimate = float(bounds.value)
        if past.draws is None and past.scale is None:
            estimate = float(self._shift().trace())  # the cells add up to it
        where = np.nanmean(before)
        room = (-float(where), max(1 - float(where), 0.0))
        exact = self.census and past.draws is None
        # Grades are no counts of items; shares of right answers are.
        number = None if past.scale is not None else int(items.known.sum())
        found = self._change(bounds, estimate, room=room, exact=exact, number=number)
        lost, won = self._unclear()
        if past.scale is not None:
            return found
        return _wider(found, below=lost.sum(), above=won.sum(), least=-1.0)

    def _mean_moves(self, before: FloatArray, after: FloatArray) -> tuple[Moves, FloatArray]:
        """Add up gains and losses by stratum; values that are not known move nothing."""
        d = np.nan_to_num(after - before[self.asked])
        up, down = np.maximum(d, 0.0), np.maximum(-d, 0.0)

        def where(mask: BoolArray) -> BoolArray:
            return np.bincount(self.strata.of, weights=mask, minlength=len(self.strata)) > 0

        moves = Moves(
            gain=self._total(up),
            loss=self._total(down),
            gain_square=self._total(up**2),
            loss_square=self._total(down**2),
            can_gain=where(before < 1),
            can_lose=where(before > 0),
            largest=float(np.abs(d).max()) or 1.0,
        )
        return moves, d

    def _draw_noise(self, before: FloatArray, after: FloatArray) -> float:
        """Return the variance of fresh answers, (N9), where old draws show that of the old ones."""
        known = np.isfinite(before).all(axis=1)
        old = old_noise(before[known]) * self.kappa
        w = (self.sample.shares / self.sample.answered)[self.of]
        d = np.nan_to_num(after - before[self.asked, 0])
        rate = float((w * d**2).sum())
        scale = self._scale if self.past.scale is not None else None
        h, _, weight = self.repeats.values(scale, len(self.items.labels))
        new = fresh_noise(rate, h, weight) if h.size else rate
        return float(new + old / before.shape[1]) / len(self.items)

    # Flips, and how much of them is noise.

    @property
    def _corrects(self) -> bool:
        """Whether there is a blind estimate to correct by."""
        return not self.blind.all() and not self.census

    def _flips(self) -> SumBounds:
        flipped = (self.codes != self.items.old[self.asked]).astype(np.float64)
        flips = self._total(flipped)
        found = flip_bounds(
            flips, self.sample, share=self.shares.flips, items=len(self.items), alpha=self.alpha
        )
        if not self._corrects:
            return found
        gap = blind_gap(flips, self.sample, self._total(flipped, self.blind), self.blind_answered)
        moved = stretched(found, gap, part=FLIP_HULL, move=True)
        # A share stays a share, also where the blind estimate overshoots.
        value, low, high = (np.clip(end, 0.0, 1.0) for end in (moved.value, moved.low, moved.high))
        return SumBounds(value, low, high, moved.variance, moved.rate)

    def flip_rate(self) -> Change:
        """Return the share of changed answers."""
        bounds = self._flips()
        found = self._change(
            bounds, float(bounds.value), room=(0.0, 1.0), exact=self.census, number=len(self.items)
        )
        return _wider(found, below=self._unclear_flips, above=0.0, least=0.0)

    def noise(self) -> Noise:
        """Return what repeats and old draws say about noise."""
        certain = self.answers_are == "deterministic"
        draws = None if self.past.draws is None else OldDraws.of(self.past.draws)
        counted = self.repeats.flips()
        flips = self._flips()
        found = randomness(flips, counted, old=draws, alpha=self.alpha)
        a, b = self.repeats.decided
        wide = len(self.asked) > WIDELY_ASKED * len(self.items)
        equal = self.shares.mean < 1 and wide and not certain and draws is None
        flip_rate = self.flip_rate()
        return Noise(
            answers_are=self.answers_are,
            repeats=len(self.repeats),
            confirmed=a,
            reverted=b,
            share=self.shares.flips,
            accuracy_share=self.shares.mean,
            beyond=flip_rate if certain else self._spread(found.beyond, _NO_REPEATS),
            excess=flip_rate if certain else self._spread(found.excess, _NO_DRAWS),
            stability=_exactly(0.0)
            if certain
            else self._spread(found.new, _NO_REPEATS, unclear=False),
            stability_before=_exactly(0.0)
            if certain
            else self._spread(found.old, _NO_DRAWS, unclear=False),
            less_stable=found.less_stable and not certain and not self.mostly_other,
            p_value=counted.p_values[0] if len(self.repeats) else None,
            equal_noise=equal,
            whole_noise=self.mean_change(share=1.0),
        )

    @property
    def mostly_other(self) -> bool:
        """Whether most answers are none of the labels and no refusals, as most old ones were not:
        then they speak another language, and prove nothing.
        """
        none = len(self.items.labels)
        strange = self.codes == none
        if self.answers.why is not None:
            strange &= self.answers.why[self._told] != WHY.index("refused")
        return bool(strange.mean() > 0.5 >= (self.items.old == none).mean())

    def _spread(self, spread: ShareBounds, reason: str, *, unclear: bool = True) -> Change:
        value = Unknown(reason) if spread.value is None else spread.value
        interval = Interval(spread.low, spread.high, level=1 - self.alpha, method="Wilson")
        found = Change(estimate=value, interval=interval)
        below = self._unclear_flips if unclear else 0.0
        return _wider(found, below=below, above=0.0, least=0.0)

    # The matrix.

    def matrix(
        self,
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return the change of every cell, its own interval, and one that holds for all at once."""
        shift, items = self._shift(), self.items
        possible = int((items.mass > 0).sum()) * shift.shape[1]
        room = (-items.matrix, np.maximum(items.mass[:, None] - items.matrix, 0.0))
        low, high = self._cell_ends(shift, self.alpha, self.shares.cells)
        sure = self._cell_ends(shift, self.alpha / possible, self.shares.joint)
        ends = (np.clip(low, *room), np.clip(high, *room))
        if self.census:
            ends = (shift, shift)
        lost, won = self._unclear()
        ends, sure = (_wider_cells(one, lost, won) for one in (ends, sure))
        if not items.labelled and self.answers_are != "deterministic":
            # Rows are the old answers themselves: noise alone moves mass out of each, so that a
            # flow proves nothing about the API.
            sure = (np.full_like(shift, -1.0), np.full_like(shift, 1.0))
        return shift, ends, sure

    @cached_property
    def _old_asked(self) -> FloatArray:
        """The old answers to the items asked, by cell and stratum: axes (C, S)."""
        items, width, S = self.items, len(self.items.labels) + 1, len(self.strata)
        asked = self.asked[items.known[self.asked]]
        flat = self.cells[0] * width + self.cells[1]
        cell = np.searchsorted(flat, items.truth[asked] * width + items.old[asked])
        place = cell * S + self.strata.of[asked]
        return np.bincount(place, minlength=len(flat) * S).reshape(len(flat), S).astype(np.float64)

    @cached_property
    def _old_answers_add(self) -> FloatArray:
        r"""What every cell gains where less than the whole old answer is subtracted, (I4).

        The old answers of all items are known, so the part that is not subtracted item by item
        comes back without error. Where old answers foretell nothing, subtracting them would only
        add their own spread: within strata that mix them it doubled the squared error.
        """
        n, p = self.sample.answered, self.sample.shares
        was, lost, change = (
            part / n for part in (self._old_asked, self._moves.loss, self._moves.net)
        )
        error = p**2 * (1 - self.sample.fraction) / np.maximum(n - 1, 1)
        spread = float((error * was * (1 - was)).sum())
        against = float((error * (lost + change * was)).sum())
        beta = np.clip(1 - against / (1.1 * spread), 0.0, 1.0) if spread > 0 else 1.0
        if beta > WHOLE_OLD:
            return np.zeros(len(lost))
        known, true = self.items.matrix[self.cells] * self.kappa, self.cells[0]

        def by_label(cells: FloatArray) -> FloatArray:
            sums = np.bincount(true, weights=cells, minlength=len(self.items.labels))
            return np.asarray(sums[true], dtype=np.float64)

        # Strata of several labels were asked about more items of some than they hold. By how much
        # is known, so what such items answer is taken away; nothing where none was asked.
        new = (n * (was + change)).sum(axis=1)
        asked, held = by_label(new), by_label(known)
        answers = np.where(asked > 0, new, known) / np.where(asked > 0, asked, held)
        drawn = (p * was).sum(axis=1)
        surplus = drawn - known - answers * (by_label(drawn) - held)
        return np.asarray((1 - beta) * surplus)  # (I4)

    @cached_property
    def _moves(self) -> Moves:
        """Count what came into each cell and went out of it, by stratum: axes (C, S)."""
        items, width = self.items, len(self.items.labels) + 1
        true, answer = self.cells
        flat = true * width + answer
        S, C = len(self.strata), len(flat)
        known = items.known[self.asked]
        asked, codes, of = self.asked[known], self.codes[known], self.of[known]
        new = np.searchsorted(flat, items.truth[asked] * width + codes)
        old = np.searchsorted(flat, items.truth[asked] * width + items.old[asked])
        moved = new != old

        def table(cell: IntArray, stratum: IntArray) -> IntArray:
            return np.bincount(cell * S + stratum, minlength=C * S).reshape(C, S)

        gain, loss = table(new[moved], of[moved]), table(old[moved], of[moved])
        every = np.flatnonzero(items.known)
        was = np.searchsorted(flat, items.truth[every] * width + items.old[every])
        before = table(was, self.strata.of[every])
        return Moves(
            gain=gain.astype(np.float64),
            loss=loss.astype(np.float64),
            gain_square=gain.astype(np.float64),
            loss_square=loss.astype(np.float64),
            can_gain=self._of_label[true] > before,
            can_lose=before > 0,
        )

    @property
    def _of_label(self) -> IntArray:
        """Items by true label and stratum, shape (L, S)."""
        L, S = len(self.items.labels), len(self.strata)
        every = np.flatnonzero(self.items.known)
        place = self.items.truth[every] * S + self.strata.of[every]
        return np.bincount(place, minlength=L * S).reshape(L, S)

    def _shift(self) -> FloatArray:
        """Return the estimated change of every cell, as shares of the items with a true label.

        No cell loses more than it had. What a row gains is what it loses.
        """
        matrix, moves = self.items.matrix, self._moves
        change = (self.sample.shares * moves.net / self.sample.answered).sum(axis=1)
        change = (change + self._old_answers_add) / self.kappa
        shift = np.zeros_like(matrix)
        shift[self.cells] = change
        shift = np.maximum(shift, -matrix)
        won, lost = np.maximum(shift, 0.0), np.minimum(shift, 0.0)
        part = -lost.sum(axis=1, keepdims=True) / np.maximum(won.sum(axis=1, keepdims=True), 1e-300)
        # The sums of floats may end a rounding error outside.
        shift = np.clip(lost + won * part, -matrix, self.items.mass[:, None] - matrix)
        number = int(self.items.known.sum())
        if self.everything:  # counts, without the rounding errors of sums over strata
            shift = np.rint(shift * number) / number
        return np.where(np.abs(shift) < 1e-12, 0.0, shift)

    def _cell_ends(
        self, shift: FloatArray, alpha: float, shares: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends of every cell of the matrix; they always hold the estimate."""
        number = len(self.items)
        bounds = mean_change(self._moves, self.sample, alpha=alpha, items=number, share=shares)
        # A cell that nobody has seen was not repeated either: its λ is 1, or 0 by declaration.
        unseen = sum_bounds(
            np.zeros(self._of_label.shape),
            self.sample,
            alpha=alpha,
            possible=self._of_label > 0,
        )
        noise = float(self.shares.flips > 0) / number**2
        most = widened(unseen, np.full(len(unseen.value), noise), alpha=alpha).high / self.kappa
        low, high = np.zeros_like(shift), np.repeat(most[:, None], shift.shape[1], axis=1)
        low[self.cells], high[self.cells] = bounds.low / self.kappa, bounds.high / self.kappa
        return np.minimum(low, shift), np.maximum(high, shift)

    def recalls(self, shift: FloatArray, ends: tuple[FloatArray, FloatArray]) -> dict[str, Change]:
        """Return the change of each label's recall; nothing without true labels."""
        found: dict[str, Change] = {}
        if not self.items.labelled:
            return found
        for i, label in enumerate(self.items.labels):
            mass = self.items.mass[i]
            if not mass:
                found[label] = Change(estimate=Unknown(f"no item is truly {label}"), interval=None)
                continue
            low, high = (float(np.clip(end[i, i] / mass, -1, 1)) for end in ends)
            estimate = float(np.clip(shift[i, i] / mass, -1, 1))
            found[label] = Change(estimate=estimate, interval=self.interval(low, high))
        return found

    def top_cells(
        self,
        shift: FloatArray,
        ends: tuple[FloatArray, FloatArray],
        sure: tuple[FloatArray, FloatArray],
    ) -> tuple[TopCell, ...]:
        """Return the cells that changed most for their doubt."""
        items, asked, codes = self.items, self.asked, self.codes
        half = np.maximum((ends[1] - ends[0]) / 2, 1e-12)
        surprise = np.where(shift == 0, 0.0, np.abs(shift) / half)
        cells = []
        for at in np.argsort(-surprise, axis=None, kind="stable")[:TOP]:
            i, j = divmod(int(at), shift.shape[1])
            if surprise[i, j] == 0:
                break
            now, was = codes == j, items.old[asked] == j
            came = (now & ~was) if shift[i, j] > 0 else (~now & was)
            moved = asked[(items.truth[asked] == i) & came]
            cells.append(
                TopCell(
                    true=items.labels[i],
                    answered=items.columns[j],
                    change=float(shift[i, j]),
                    interval=self.interval(ends[0][i, j], ends[1][i, j]),
                    survives=bool(sure[0][i, j] > 0 or sure[1][i, j] < 0),
                    examples=tuple(items.names[item] for item in moved[:3]),
                )
            )
        return tuple(cells)

    # What nobody knows: failed calls, and answers that may hold a label.

    def unheard(self) -> dict[str, Unheard]:
        """Return how many answers failed, were not read, were cut off or declined, and what each of
        these kinds could hide: the share of all items that it stands for.
        """
        answers, share = self.answers, self._weights
        found = {"failed": answers.codes == FAILED}
        if answers.why is not None:
            found |= {kind: answers.why == n for n, kind in enumerate(WHY) if kind}
        return {
            kind: Unheard(
                answers=int(mask.sum()),
                hides=0.0 if kind == "refused" else float(share[mask].sum()),
            )
            for kind, mask in found.items()
            if mask.any()
        }

    @property
    def _weights(self) -> FloatArray:
        """The share of all items for which each answer stands, failed ones included."""
        place = self.strata.of[self.answers.asked]
        number = np.bincount(place, minlength=len(self.strata))
        return np.asarray(self.strata.shares[place] / number[place])

    def _unclear(self) -> tuple[FloatArray, FloatArray]:
        """Return the unclear share of the items by true label: of the old, then the new answers.

        The estimate counts them as wrong. Each may be right: then a new one adds its share to the
        change, and an old one takes its share away.
        """
        items, unclear = self.items, self.answers.unclear
        L = len(items.labels)
        before = np.zeros(L + 1)
        if items.unclear is not None:
            np.add.at(before, items.truth[items.unclear], 1 / len(items))
        after = np.zeros(L + 1)
        np.add.at(after, items.truth[self.answers.asked[unclear]], self._weights[unclear])
        return before[:L] / self.kappa, after[:L] / self.kappa

    @property
    def _unclear_flips(self) -> float:
        old = 0.0 if self.items.unclear is None else float(self.items.unclear.mean())
        return old + float(self._weights[self.answers.unclear].sum())

    def _change(
        self,
        bounds: SumBounds,
        estimate: float,
        *,
        room: tuple[float, float],
        exact: bool,
        number: int | None,
    ) -> Change:
        """Return an estimate with its interval; a count of *number* where nothing is left to
        chance.
        """
        level = 1 - self.alpha
        if exact:
            share = estimate if number is None else round(estimate * number) / number
            sure = Interval(share, share, level=level, method="census")
            return Change(estimate=share, interval=sure)
        ends = (min(float(bounds.low), estimate), estimate, max(float(bounds.high), estimate))
        # All three, since each may lie outside by a rounding error.
        low, inside, high = (float(np.clip(end, *room)) for end in ends)
        return Change(estimate=inside, interval=Interval(low, high, level=level, method=SUMS))


SUMS = "beta of sums"
_NO_REPEATS = "no flip was asked again"
_NO_DRAWS = "the old API was asked once (--old-draws measures its randomness)"


def _scaled(bounds: SumBounds, kappa: float) -> SumBounds:
    """Return a share of all items as one of those with a true label."""
    value, low, high = (end / kappa for end in (bounds.value, bounds.low, bounds.high))
    return replace(bounds, value=value, low=low, high=high, variance=bounds.variance / kappa**2)


def _moved(bounds: SumBounds, by: FloatArray) -> SumBounds:
    """Return an estimate and its interval at another place."""
    value, low, high = (end + by for end in (bounds.value, bounds.low, bounds.high))
    return replace(bounds, value=value, low=low, high=high)


def _exactly(value: float) -> Change:
    return Change(estimate=value, interval=Interval(value, value, method="declared"))


def _wider(change: Change, *, below: float, above: float, least: float) -> Change:
    """Widen an interval by what is not known, down to *least* and up to 1."""
    interval = change.interval
    if interval is None or not (below or above):
        return change
    ends = Interval(
        max(interval.low - below, least),
        min(interval.high + above, 1.0),
        level=interval.level,
        method=interval.method,
    )
    return replace(change, interval=ends)


def _wider_cells(
    ends: tuple[FloatArray, FloatArray], before: FloatArray, after: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Widen the intervals of all cells: an answer among "none of the labels" may be any label."""
    low, high = ends[0].copy(), ends[1].copy()
    low[:, :-1] -= before[:, None]
    high[:, :-1] += after[:, None]
    low[:, -1] -= after
    high[:, -1] += before
    return low, high
