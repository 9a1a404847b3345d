"""Watch a stream of votes: blocks, series, alarms, notices, and a start anew after each alarm.

Items join blocks in order of arrival, so the borders of the batches in which they come have no
effect. A block that has closed is never opened again: late votes change results, never the test.

The label set is fixed by the first 20 blocks, taken as a set; alarms come from block 20 on. After
an alarm the blocks behind the change point are the new reference, and all bets start anew. That the
false-alarm bound counts again from there is measured, not exact: after a *false* alarm the next one
is about 1.5 times as frequent, after a real change there is no harm.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.exact_tails import columns_of, one_per, positive, whole, within
from tallystick.stats.latent_model import Votes, as_votes, fit_plain
from tallystick.stats.stream import (
    FIRST_BLOCKS,
    BlockCounts,
    Detector,
    Notice,
    NoticeBoard,
    Series,
    SeriesLayout,
    WatchOptions,
    count_blocks,
    lay_out,
)

FloatArray: TypeAlias = npt.NDArray[np.float64]
CodeArray: TypeAlias = npt.NDArray[np.int64]

_FINAL = 1000  # items after which the name of what changed is final
_VERSION = 1


@dataclass(kw_only=True, eq=False)
class Watch:
    """A stream of votes under watch; build it with :meth:`start`.

    Examples
    --------
    Three judges; from item 1,500 on the first one answers at random.

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 3000)
    >>> right = rng.random((3000, 3)) < 0.9
    >>> right[1500:, 0] = rng.random(1500) < 0.5
    >>> votes = np.where(right, truth[:, None], 1 - truth[:, None])
    >>> watch = Watch.start(3, WatchOptions(key="example"))
    >>> alarm = next(e for e in watch.update(votes, ["fail", "pass"]) if isinstance(e, StreamAlarm))
    >>> alarm.series.kind, alarm.items[0] <= 1500 <= alarm.items[1], alarm.item < 1900
    ('agreement', True, True)
    >>> alarm.explanations.likely.judge
    0
    """

    n_judges: int
    options: WatchOptions
    labels: list[Hashable] = field(default_factory=list)
    pending: CodeArray
    board: NoticeBoard
    blocks: int = 0
    memory: list[CodeArray] = field(default_factory=list)
    layout: SeriesLayout | None = None
    detector: Detector | None = None
    before: tuple[CodeArray, FloatArray, int] | None = None

    @classmethod
    def start(cls, n_judges: int, options: WatchOptions) -> Watch:
        """Start to watch a panel of this many judges."""
        return cls(
            n_judges=n_judges,
            options=options,
            pending=np.empty((0, n_judges), dtype=np.int64),
            board=NoticeBoard.start(n_judges),
        )

    @property
    def n_items(self) -> int:
        """Items seen so far, those of the open block included."""
        return self.blocks * self.options.block + len(self.pending)

    def update(self, codes: npt.ArrayLike, labels: Sequence[Hashable]) -> list[Event]:
        """Take items in order of arrival and return what happened, oldest first.

        Parameters
        ----------
        codes
            Items x judges: places in *labels*, -1 for a missing vote.
        labels
            What the codes of this call stand for; another call may have another list.
        """
        rows = self._renumber(np.asarray(codes), labels)
        waiting = np.concatenate((self.pending, rows))
        size = self.options.block
        whole = len(waiting) // size
        self.pending = waiting[whole * size :]
        if not whole:
            return []

        blocks = waiting[: whole * size].reshape(whole, size, self.n_judges)
        counts = count_blocks(blocks, len(self.labels))
        events: list[Event] = []
        layout, values = self.layout, None
        for k in range(whole):
            self.memory = [*self.memory[-(self.options.memory - 1) :], blocks[k]]
            events += self.board.update(counts[k : k + 1], block=self.blocks)
            # Values of all blocks of this call at once; made anew when the series changed.
            if self.layout is not None and (values is None or layout is not self.layout):
                layout, values = self.layout, self.layout.values(counts)
            events += self._close(None if values is None else values[k])
            self.blocks += 1
        return events

    def _close(self, values: FloatArray | None) -> list[Event]:
        """Bet on one block, and raise an alarm where the evidence reaches the bar."""
        if self.detector is None or values is None:
            if len(self.memory) < FIRST_BLOCKS:
                return []
            evidence = self._fix_labels()
        else:
            evidence = self.detector.update(values, block=self.blocks)
        if self.layout is None or self.detector is None:
            return []
        strength = evidence * self.layout.weights / self.options.bar
        if strength.max() >= 1:
            return [self._alarm(int(strength.argmax()), float(strength.max()))]
        return self._name()

    def _fix_labels(self) -> FloatArray:
        """Fix the label set by the first blocks and bet on them one after the other."""
        counts = self._counts()
        self.layout = lay_out(self.n_judges, self._slots(counts))
        self.detector = self._start(self.layout, None)
        for k, row in enumerate(self.layout.values(counts)):
            self.detector.update(row, block=k)
        return self.detector.evidence

    def _alarm(self, place: int, strength: float) -> StreamAlarm:
        """Date the change, name its likely cause, and start anew behind it."""
        assert self.layout is not None
        layout, size = self.layout, self.options.block
        counts = self._counts()
        column = layout.values(counts)[:, place]
        first = self.blocks + 1 - len(self.memory)
        at = first + np.flatnonzero(np.isfinite(column))  # block numbers of the series
        change = change_point(column[np.isfinite(column)])
        split = int(at[change.split - 1]) + 1  # blocks before the change
        end = (self.blocks + 1) * size
        items = None
        if change.low is not None and change.high is not None:
            low = size * int(at[change.low - 1])
            items = max(0, low), min(end, size * (int(at[change.high - 1]) + 2))

        # What was before is kept as pattern counts for the final name; memory starts behind it.
        patterns, tally = _patterns(np.concatenate(self.memory[: split - first]))
        self.memory = self.memory[split - first :]
        self.before = patterns, tally, self.blocks
        explanations = self._explain(layout)
        self._start_anew(layout)
        series = layout.series[place]
        label = None if series.slot is None or series.slot < 0 else self.labels[series.slot]
        return StreamAlarm(
            block=self.blocks,
            item=end,
            series=series,
            label=label,
            evidence=strength,
            around=split * size,
            items=items,
            change=change,
            explanations=explanations,
        )

    def _start_anew(self, layout: SeriesLayout) -> None:
        """Take the blocks behind the change as reference; bets and kappa start from nothing."""
        counts = self._counts()
        slots = sorted({*layout.labels, *self._slots(counts)})[: self.options.max_labels]
        self.layout = lay_out(self.n_judges, slots)
        self.detector = self._start(self.layout, self.layout.values(counts))

    def _name(self) -> list[Event]:
        """Name an earlier alarm's cause for good, once enough items came after it."""
        if self.before is None or self.layout is None:
            return []
        alarm_block = self.before[2]
        if (self.blocks - alarm_block) * self.options.block < _FINAL:
            return []
        explanations = self._explain(self.layout)
        self.before = None
        return [Naming(block=self.blocks, alarm_block=alarm_block, explanations=explanations)]

    def _explain(self, layout: SeriesLayout) -> Explanations:
        """Compare patterns before the change with those in memory, rare labels as one vote."""
        if self.before is None:
            return Explanations(tested=())
        old, old_tally, _ = self.before
        new, new_tally = _patterns(np.concatenate(self.memory))
        codes, place = np.unique(np.concatenate((old, new)), axis=0, return_inverse=True)
        a, b = np.zeros((2, len(codes)))
        np.add.at(a, place.ravel()[: len(old)], old_tally)
        np.add.at(b, place.ravel()[len(old) :], new_tally)

        known = len(layout.labels)
        lookup = np.full(len(self.labels) + 1, known)
        lookup[list(layout.labels)] = np.arange(known)
        lookup[-1] = -1  # a missing vote stays one
        n_labels = max(known, 2)
        return explain(lookup[codes], a, b, n_labels=n_labels, n_votes=max(known + 1, n_labels))

    def _start(self, layout: SeriesLayout, reference: FloatArray | None) -> Detector:
        names = [series.name for series in layout.series]
        return Detector.start(
            names,
            key=self.options.key,
            falls=layout.falls,
            reference=reference,
        )

    def _counts(self) -> BlockCounts:
        return count_blocks(np.stack(self.memory), len(self.labels))

    def _slots(self, counts: BlockCounts) -> list[int]:
        """Return the commonest labels of these blocks; the order of the blocks does not matter."""
        votes = counts.label.sum(axis=(0, 1))
        order = np.argsort(-votes, kind="stable")[: self.options.max_labels]
        return sorted(int(label) for label in order if votes[label] > 0)

    def _renumber(self, codes: npt.NDArray[Any], labels: Sequence[Hashable]) -> CodeArray:
        """Return the codes of this stream: labels are numbered as they first appear in it."""
        whole(-1, codes=codes)
        columns_of(self.n_judges, most=self.n_judges, codes=codes)
        within((-1, len(labels) - 1), codes=codes)
        found, first = np.unique(codes, return_index=True)
        for code in found[np.argsort(first)]:
            if code >= 0 and labels[code] not in self.labels:
                self.labels.append(labels[code])
        places = {label: place for place, label in enumerate(self.labels)}
        lookup = np.array([places.get(label, -1) for label in labels] + [-1], dtype=np.int64)
        return np.asarray(lookup[codes])

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types, from which :meth:`from_dict` goes on as if nothing had happened."""
        before = self.before
        return {
            "version": _VERSION,
            "n_judges": self.n_judges,
            "options": asdict(self.options),
            "labels": list(self.labels),
            "pending": self.pending.tolist(),
            "board": self.board.to_dict(),
            "blocks": self.blocks,
            "memory": [block.tolist() for block in self.memory],
            "slots": None if self.layout is None else list(self.layout.labels),
            "detector": None if self.detector is None else self.detector.to_dict(),
            "before": None
            if before is None
            else [before[0].tolist(), before[1].tolist(), before[2]],
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Watch:
        """Return the watch that :meth:`to_dict` wrote."""
        if saved.get("version") != _VERSION:
            raise InputError(
                f"this checkpoint has version {saved.get('version')!r}, and {_VERSION} is read: "
                "it was written by another release"
            )
        n_judges = int(saved["n_judges"])
        before = saved["before"]
        return cls(
            n_judges=n_judges,
            # Earlier releases also wrote an option that no command could set.
            options=WatchOptions(**{k: v for k, v in saved["options"].items() if k != "ever"}),
            labels=list(saved["labels"]),
            pending=np.array(saved["pending"], dtype=np.int64).reshape(-1, n_judges),
            board=NoticeBoard.from_dict(saved["board"]),
            blocks=int(saved["blocks"]),
            memory=[np.array(block, dtype=np.int64) for block in saved["memory"]],
            layout=None if saved["slots"] is None else lay_out(n_judges, saved["slots"]),
            detector=None if saved["detector"] is None else Detector.from_dict(saved["detector"]),
            before=None
            if before is None
            else (np.array(before[0], np.int64), np.array(before[1], np.float64), int(before[2])),
        )


def _patterns(rows: CodeArray) -> tuple[CodeArray, FloatArray]:
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    return codes, counts.astype(np.float64)


# When did it change? The best split of a series of block values, and the splits as good as it.
#
# With :math:`SS_s` the sum of squares within both sides of a split after block s,
#
# .. math::
#     \hat s = \arg\min_s SS_s, \qquad
#     \text{range} = \{s : (SS_s - SS_{\hat s}) / (2 \hat\sigma^2) \le 5\}   \tag{S4}
#
# :math:`\hat\sigma^2` is the largest of :math:`SS_{\hat s}/(t-2)` and the variances before and
# after
# the split (these two only with at least 3 blocks): one side may be much noisier than the other.
# In
# items the range is one block wider on each side, since a change seldom falls on a border.


_CUT = 5.0  # the textbook value 3.68 covered .87-.95 on fresh series


@dataclass(frozen=True, kw_only=True)
class ChangePoint:
    """Where a series changed.

    Parameters
    ----------
    split
        The change is after this many blocks of the series.
    low, high
        The range of splits, or None with fewer than three blocks.
    before, after
        Mean value on both sides.
    """

    split: int
    low: int | None
    high: int | None
    before: float
    after: float


def change_point(values: npt.ArrayLike) -> ChangePoint:
    """Return where the values of consecutive blocks changed (S4).

    Parameters
    ----------
    values
        One share per block, oldest first, none missing.

    Examples
    --------
    >>> found = change_point([.84, .80, .88, .84, .80, .92, .84, .88, .72, .76, .68, .80, .72, .76])
    >>> found.split, found.low, found.high
    (8, 7, 9)
    """
    z = np.asarray(values, dtype=np.float64)
    t = z.size
    s = np.arange(1, t)

    # Centred first: sums of squares of shares near 1 would lose digits otherwise.
    c = z - z.mean()
    first, squares = c.cumsum(), (c**2).cumsum()
    before = squares[:-1] - first[:-1] ** 2 / s
    after = (squares[-1] - squares[:-1]) - (first[-1] - first[:-1]) ** 2 / (t - s)
    before, after = np.maximum(before, 0.0), np.maximum(after, 0.0)
    within = before + after
    best = int(within.argmin())
    split = best + 1

    low: int | None = None
    high: int | None = None
    if t >= 3:
        # A series without noise on either side: the split is certain, the border block is not.
        low = high = split
        if within[best] > 1e-12:
            scale = within[best] / (t - 2)
            if split >= 3:
                scale = max(scale, before[best] / (split - 1))
            if t - split >= 3:
                scale = max(scale, after[best] / (t - split - 1))
            near = np.flatnonzero((within - within[best]) / (2 * scale) <= _CUT)  # (S4)
            low, high = int(near[0]) + 1, int(near[-1]) + 1
    return ChangePoint(
        split=split,
        low=low,
        high=high,
        before=float(z[:split].mean()),
        after=float(z[split:].mean()),
    )


# Who or what changed? Every explanation is tested, and all that survive are named.
#
# Counts of vote patterns before the change (a, n_a items) and after it (b, n_b items) are
# compared.
#
# *Judge j alone*: the joint votes of the other judges are as before, by a chi-square test of
# homogeneity (a missing vote is a value). This needs no model.
#
# *Mix of labels*: b is a reweighted by :math:`w(v) = \sum_y (x_y/\pi_y)\, q_y(v)`, with q the
# Dawid-Skene posterior fitted on a, :math:`\pi` its mean, and x by EM on b,
#
# .. math:: X^2 = \sum_v \frac{(b_v - E_v)^2}{E_v (1 + n_b w_v / n_a)}, \qquad
#           E_v = n_b\, p_a(v)\, w(v)   \tag{S6}
#
# with cells - K degrees of freedom.
#
# *Items harder or easier*: a share :math:`\varepsilon` of the votes became fair draws,
#
# .. math:: E = n_b ((1-\varepsilon) p_a + \varepsilon r), \qquad
#           \mathrm{var} = E + n_b^2 (1-\varepsilon)^2 p_a / n_a   \tag{S7}
#
# where r draws every vote evenly among the labels and leaves missing votes as they were; the
# :math:`\varepsilon` in [-.5, .95] with the least :math:`X^2` is taken, with cells - 2 degrees of
# freedom.
#
# Cells expected under 5 become one cell; while that is under 5, the next smallest joins it;
# patterns unseen before go there too. With two judges Dawid-Skene is not identified, so a change of
# mix cannot be tested. One judge alone allows no name at all.


BoolArray: TypeAlias = npt.NDArray[np.bool_]

_LEAST = 5.0  # expected count of a cell
_RULED_OUT = 0.01


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """One thing that may have changed.

    Parameters
    ----------
    kind
        ``judge`` (one judge alone), ``mix`` (shares of the labels) or ``difficulty``.
    judge
        Which judge, for ``judge``.
    p_value
        Of the test that nothing else changed, or why it cannot be tested.
    size
        For ``mix`` the new shares of the labels; for ``difficulty`` one number, the share of votes
        that became fair draws (negative: items got easier).
    """

    kind: Literal["judge", "mix", "difficulty"]
    judge: int | None = None
    p_value: float | Unknown
    size: tuple[float, ...] = ()

    @property
    def kept(self) -> bool:
        """True if it was tested and not ruled out at .01."""
        return not isinstance(self.p_value, Unknown) and self.p_value >= _RULED_OUT


@dataclass(frozen=True, kw_only=True)
class Explanations:
    """All explanations of a change.

    Parameters
    ----------
    tested
        Every explanation, with its p-value or the reason why it has none.
    """

    tested: tuple[Explanation, ...]

    @property
    def kept(self) -> tuple[Explanation, ...]:
        """Explanations that are not ruled out, the likeliest first."""
        left = [one for one in self.tested if one.kept]
        return tuple(sorted(left, key=lambda one: -float(_number(one.p_value))))

    @property
    def likely(self) -> Explanation | None:
        """The explanation with the largest p-value among those kept; None if none is."""
        return self.kept[0] if self.kept else None

    @property
    def several(self) -> bool:
        """True if something was tested and everything is ruled out: more than one thing changed."""
        return not self.kept and any(not isinstance(one.p_value, Unknown) for one in self.tested)


def explain(
    codes: npt.ArrayLike,
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    n_labels: int,
    n_votes: int | None = None,
) -> Explanations:
    """Test what may explain the difference between two sets of pattern counts.

    Parameters
    ----------
    codes
        Patterns x judges: all patterns of both sets; -1 is a missing vote.
    before, after
        Items that show each pattern.
    n_labels
        Number of labels that can be true.
    n_votes
        Number of possible votes, where some are never true; by default *n_labels*.

    Examples
    --------
    The first of three judges got worse.

    >>> import itertools
    >>> codes = list(itertools.product([0, 1], repeat=3))
    >>> found = explain(codes, [610, 50, 60, 30, 40, 45, 55, 610],
    ...                 [175, 17, 20, 45, 42, 15, 18, 168], n_labels=2)
    >>> found.likely.kind, found.likely.judge, len(found.kept)
    ('judge', 0, 1)
    """
    patterns = np.asarray(codes)
    a, b = (np.asarray(x, dtype=np.float64) for x in (before, after))
    one_per("pattern", len(patterns), before=a, after=b)
    positive(before=a.sum(), after=b.sum())
    votes = as_votes(patterns, a, n_classes=n_labels, n_votes=n_votes)
    if votes.n_judges < 2:
        return Explanations(tested=())
    judges = [
        Explanation(kind="judge", judge=j, p_value=_others_unchanged(votes, a, b, j))
        for j in range(votes.n_judges)
    ]
    return Explanations(
        tested=(*judges, _mix(votes, a, b, n_labels), _difficulty(votes, a, b, n_labels))
    )


def _others_unchanged(votes: Votes, a: FloatArray, b: FloatArray, judge: int) -> float | Unknown:
    """Return the p-value that the joint votes of all judges but one are as before."""
    rest, place = np.unique(np.delete(votes.codes, judge, axis=1), axis=0, return_inverse=True)
    x, y = np.zeros((2, len(rest)))
    np.add.at(x, place.ravel(), a)
    np.add.at(y, place.ravel(), b)
    both, n_x, n_y = x + y, x.sum(), y.sum()
    fewest = min(n_x, n_y) / (n_x + n_y) * both
    merged = _merged(fewest, x == 0)

    total = _pool(both, merged)
    e_x, e_y = total * n_x / (n_x + n_y), total * n_y / (n_x + n_y)
    statistic = ((_pool(x, merged) - e_x) ** 2 / e_x + (_pool(y, merged) - e_y) ** 2 / e_y).sum()
    return _p_value(float(statistic), len(total) - 1)


def _mix(votes: Votes, a: FloatArray, b: FloatArray, n_labels: int) -> Explanation:
    if votes.n_judges < 3:
        reason = "two judges cannot tell a new mix of labels from a judge that changed"
        return Explanation(kind="mix", p_value=Unknown(reason))
    try:
        q = fit_plain(votes, n_labels).posterior
    except NotIdentifiable as error:  # a third judge that cast no vote before the change
        return Explanation(kind="mix", p_value=Unknown(str(error)))
    n_a, n_b = a.sum(), b.sum()
    pi = np.maximum(a @ q / n_a, 1e-12)

    # EM for the new shares x: each step cannot lower the likelihood of b.
    x = pi.copy()
    for _ in range(1000):
        odds = q * (x / pi)
        new = b @ (odds / odds.sum(axis=1, keepdims=True)) / n_b
        done = np.abs(new - x).max() < 1e-10
        x = new
        if done:
            break

    w = q @ (x / pi)
    expected = n_b * a / n_a * w
    merged = _merged(expected, a == 0)
    cells = _pool(expected, merged)
    variance = _pool(expected * (1 + n_b * w / n_a), merged)  # (S6)
    statistic = ((_pool(b, merged) - cells) ** 2 / variance).sum()
    p_value = _p_value(float(statistic), len(cells) - n_labels)
    return Explanation(kind="mix", p_value=p_value, size=tuple(float(share) for share in x))


def _difficulty(votes: Votes, a: FloatArray, b: FloatArray, n_labels: int) -> Explanation:
    n_a, n_b = a.sum(), b.sum()
    fair = _fair_draws(votes, a, n_labels)

    # Patterns that nobody showed are one more pattern: fair draws spread over them too.
    p = np.append(a / n_a, 0.0)
    r = np.append(fair, max(0.0, 1 - fair.sum()))
    counts = np.append(b, 0.0)

    # The cells depend on epsilon, so they are made at 0 first and once more at the first answer.
    epsilon, statistic, n_cells = 0.0, np.inf, 0
    for _ in range(2):
        merged = _merged(n_b * np.maximum((1 - epsilon) * p + epsilon * r, 0), p == 0)
        parts = tuple(_pool(x, merged) for x in (p, r, counts))
        n_cells = len(parts[0])
        epsilon, statistic = _least_squares(*parts, n_a=float(n_a), n_b=float(n_b))
    p_value = _p_value(statistic, n_cells - 2)
    return Explanation(kind="difficulty", p_value=p_value, size=(epsilon,))


def _fair_draws(votes: Votes, a: FloatArray, n_labels: int) -> FloatArray:
    """Return r: votes that are labels become fair draws, missing and extra votes stay."""
    drawn = (votes.codes >= 0) & (votes.codes < n_labels)
    fixed = np.where(drawn, -2, votes.codes)
    _, place = np.unique(fixed, axis=0, return_inverse=True)
    share = np.bincount(place.ravel(), weights=a) / a.sum()
    return np.asarray(share[place.ravel()] * float(n_labels) ** -drawn.sum(axis=1))


def _least_squares(
    p: FloatArray, r: FloatArray, counts: FloatArray, *, n_a: float, n_b: float
) -> tuple[float, float]:
    """Return the epsilon of (S7) with the least chi-square, and that chi-square."""
    from scipy.optimize import minimize_scalar

    def chi_square(epsilon: FloatArray | float) -> FloatArray:
        e = np.asarray(epsilon, dtype=np.float64)[..., None]
        expected = n_b * ((1 - e) * p + e * r)
        variance = expected + n_b**2 * (1 - e) ** 2 * p / n_a
        possible = (expected > 0).all(axis=-1)
        safe = np.where(variance > 0, variance, 1.0)
        return np.where(possible, ((counts - expected) ** 2 / safe).sum(axis=-1), np.inf)

    # A grid finds the right valley, a bounded search its bottom.
    grid = np.linspace(-0.5, 0.95, 146)
    values = chi_square(grid)
    best = int(values.argmin())
    if not np.isfinite(values[best]):
        return 0.0, np.inf
    ends = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(
        lambda e: min(float(chi_square(float(e))), 1e300), bounds=ends, method="bounded"
    )
    if float(found.fun) < values[best]:
        return float(found.x), float(found.fun)
    return float(grid[best]), float(values[best])


def _merged(expected: FloatArray, unseen: BoolArray) -> BoolArray:
    """Return which patterns form the one merged cell."""
    merged = (expected < _LEAST) | unseen
    order = np.argsort(np.where(merged, np.inf, expected), kind="stable")
    for place in order:
        if not merged.any() or expected[merged].sum() >= _LEAST or merged.all():
            break
        merged[place] = True
    return np.asarray(merged)


def _pool(values: FloatArray, merged: BoolArray) -> FloatArray:
    """Return one value per cell: the merged cell last."""
    alone = values[~merged]
    return np.append(alone, values[merged].sum()) if merged.any() else alone


def _p_value(statistic: float, degrees: int) -> float | Unknown:
    if degrees < 1:
        return Unknown("there are too few items or patterns to test it")
    from scipy.special import chdtrc

    return float(chdtrc(degrees, statistic)) if np.isfinite(statistic) else 0.0


def _number(p_value: float | Unknown) -> float:
    return -1.0 if isinstance(p_value, Unknown) else p_value


# What a watched stream reports: alarms, the names of their causes, and notices.


@dataclass(frozen=True, kw_only=True)
class StreamAlarm:
    """The votes changed.

    Parameters
    ----------
    block, item
        Last block and number of items when it was raised.
    series
        The series that raised it.
    label
        The label of that series, where it has one; None for the slot "other".
    evidence
        How far above the bar it is, at least 1.
    around
        The change is about behind this many items.
    items
        Range of that number, or None.
    change
        The split of the series, with its values before and after.
    explanations
        What may have changed; :class:`Naming` comes 1,000 items later.
    """

    block: int
    item: int
    series: Series
    label: Hashable
    evidence: float
    around: int
    items: tuple[int, int] | None
    change: ChangePoint
    explanations: Explanations


@dataclass(frozen=True, kw_only=True)
class Naming:
    """The final name of what an earlier alarm was about, from 1,000 items after it."""

    block: int
    alarm_block: int
    explanations: Explanations


Event: TypeAlias = StreamAlarm | Naming | Notice
