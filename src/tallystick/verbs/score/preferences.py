"""Pairwise preferences: each row shows outputs of two systems, and judges say a, b or tie.

For each pair of systems the score is the win rate of the first, a tie counting half. Where an item
was shown in both orders, a judge's two answers are averaged, so that a judge that always prefers
the first position says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import seed_of
from tallystick.errors import InputError
from tallystick.results import (
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    percent,
    percent_interval,
)
from tallystick.stats.adverse_ratios import Levels
from tallystick.stats.maxt import holm
from tallystick.table import Data, Label, Table, is_no_answer, is_tie
from tallystick.table.words import as_word
from tallystick.verbs.score.adjust import check_draw
from tallystick.verbs.score.judges import grade_judges
from tallystick.verbs.score.labelling import SettlePlan, settle_plan, spreads
from tallystick.verbs.score.pairs import ranked
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Graded, Ints
from tallystick.verbs.score.result import NOT_SETTLED, Rate, ScoreResult, SystemPairRow, SystemRow
from tallystick.verbs.score.systems import (
    Fitted,
    Places,
    System,
    SystemPair,
    certified_levels,
    estimate_systems,
    fitted,
    inverted,
    score_of,
)
from tallystick.verbs.score.verdict import (
    MOST_NAMED,
    NO_LABELS,
    assumptions,
    basis,
    names_of,
    needed_of,
    next_step,
    warnings_of,
)

_FIRST = frozenset({"a", "first", "left", "1"})
_SECOND = frozenset({"b", "second", "right", "2"})


@dataclass(frozen=True)
class Swaps:
    """Items that were shown in both orders, and how often each judge then changed its mind."""

    items: int
    changed: dict[str, float]


def read_preferences(data: Data) -> tuple[Graded, Swaps]:
    """Return one entry per item and pair of systems, and what the position swap showed."""
    first, second = data.roles.systems
    judges, truth = data.roles.judges, data.roles.truth
    columns = [first, second, *judges, *([truth] if truth else [])]
    coded = data.words(*columns)
    words = [str(label) for label in coded.labels]
    codes = coded.codes.astype(np.int64)
    a, b = codes[:, 0], codes[:, 1]
    _check_sides(data, a, b, (first, second), words)

    # A pair is the same pair in either order; it is named in the order of the names.
    swapped = np.array([words[i] > words[j] for i, j in zip(a, b, strict=True)])
    low, high = np.where(swapped, b, a), np.where(swapped, a, b)
    keys = low * len(words) + high
    names, pair = np.unique(keys, return_inverse=True)
    order = [(words[key // len(words)], words[key % len(words)]) for key in names]

    grades = [
        _answers(data, name, codes[:, j + 2], coded.labels, (a, b), (first, second))
        for j, name in enumerate(columns[2:])
    ]
    values = np.stack([np.where(swapped, 1 - one, one) for one in grades], axis=1)
    item = _items(data)
    _refuse_twice(data, item, a, b)

    # Both orders of one item and pair become one entry.
    entries = item * len(names) + pair.ravel()
    _, place = np.unique(entries, return_inverse=True)
    place = place.ravel()
    merged = _averaged(values, place)
    chosen = np.zeros(len(merged), np.int64)
    chosen[place] = np.arange(len(place))
    said = values[~np.isnan(values)]
    outputs = Graded(
        systems=tuple(f"{one} over {two}" for one, two in order),
        judges=tuple(judges),
        system=pair.ravel()[chosen].astype(np.int64),
        grades=merged[:, : len(judges)],
        truth=merged[:, -1] if truth else np.full(len(merged), np.nan),
        counts=np.ones(len(merged)),
        pass_fail=bool(np.isin(merged[~np.isnan(merged)], (0.0, 1.0)).all()) and 0.5 not in said,
        votes=bool(np.isin(merged[~np.isnan(merged)], (0.0, 1.0)).all()),
        item=item[chosen],
        preferences=tuple(order),
    )
    return outputs, _swaps(values, place, swapped, judges)


def _check_sides(data: Data, a: Ints, b: Ints, names: tuple[str, str], words: list[str]) -> None:
    for codes, name in zip((a, b), names, strict=True):
        if (codes < 0).any():
            place = data.place(int(np.flatnonzero(codes < 0)[0]) + 1)
            raise InputError(f"{place}: {name!r} is blank. Name both systems of every row")
    same = np.flatnonzero(a == b)
    if same.size:
        raise InputError(
            f"{data.place(int(same[0]) + 1)}: {names[0]!r} and {names[1]!r} both name"
            f" {words[int(a[same[0]])]!r}. A preference is between two systems"
        )


def _answers(
    data: Data,
    name: str,
    codes: Ints,
    labels: Sequence[Label],
    sides: tuple[Ints, Ints],
    columns: tuple[str, str],
) -> Floats:
    """Return 1 where side a is preferred, 0 for side b, 1/2 for a tie, NaN for no answer."""
    values = np.full(len(codes), np.nan)
    for code in np.unique(codes):
        if code < 0:
            continue
        label, here = labels[code], codes == code
        word = str(label).strip().casefold()
        if is_no_answer(label):
            continue
        if is_tie(label):
            values[here] = 0.5
        elif word in _FIRST or word == columns[0].casefold():
            values[here] = 1.0
        elif word in _SECOND or word == columns[1].casefold():
            values[here] = 0.0
        else:
            # The answer names a system: it must be one of the two in that row.
            named = [np.array([_same(labels[c], label) for c in side[here]]) for side in sides]
            if not (named[0] | named[1]).all():
                row = int(np.flatnonzero(here)[np.flatnonzero(~(named[0] | named[1]))[0]])
                where = str(data.place(row + 1)) if isinstance(data.held, Table) else data.source
                raise InputError(
                    f"{where}, column {name}: {label!r} is not a preference. Write a, b or tie, or"
                    " the name of one of the two systems"
                )
            values[here] = np.where(named[0], 1.0, 0.0)
    return values


def _same(one: Label, two: Label) -> bool:
    return one == two or (as_word(one) is not None and as_word(one) == as_word(two))


def _items(data: Data) -> Ints:
    if data.roles.item is None:
        return np.arange(data.n_rows)
    return data.words(data.roles.item).codes[:, 0].astype(np.int64)


def _refuse_twice(data: Data, item: Ints, a: Ints, b: Ints) -> None:
    """Refuse an item that was shown twice with the same two systems in the same order."""
    span = int(max(a.max(), b.max())) + 1
    keys = (item * span + a) * span + b
    _, first, count = np.unique(keys, return_index=True, return_counts=True)
    if (count > 1).any():
        key = keys[first[np.flatnonzero(count > 1)[0]]]
        rows = np.flatnonzero(keys == key)[:2]
        raise InputError(
            f"one item has the same two systems in the same order twice, at"
            f" {data.place(int(rows[0]) + 1)} and {data.place(int(rows[1]) + 1)}: keep one row"
        )


def _averaged(values: Floats, place: Ints) -> Floats:
    """Return the mean answer per entry and column, NaN where there is none."""
    size = int(place.max()) + 1
    columns = []
    for column in values.T:
        seen = ~np.isnan(column)
        total = np.bincount(place[seen], weights=column[seen], minlength=size)
        times = np.bincount(place[seen], minlength=size)
        columns.append(np.divide(total, times, out=np.full(size, np.nan), where=times > 0))
    return np.stack(columns, axis=1)


def _swaps(values: Floats, place: Ints, swapped: Ints, judges: Sequence[str]) -> Swaps:
    """Count entries that were shown in both orders, and how often a judge then changed its mind."""
    size = int(place.max()) + 1
    orders = [np.bincount(place[side], minlength=size) > 0 for side in (~swapped, swapped)]
    both = orders[0] & orders[1]
    changed = {}
    for j, judge in enumerate(judges):
        ends = []
        for side in (~swapped, swapped):
            one = np.full(size, np.nan)
            one[place[side]] = values[side, j]
            ends.append(one)
        seen = both & ~np.isnan(ends[0]) & ~np.isnan(ends[1])
        if seen.any():
            changed[judge] = float((ends[0][seen] != ends[1][seen]).mean())
    return Swaps(int(both.sum()), changed)


# Corrected win rates: preferences of judges on every item, and of people on few.


NO_CLASS = "preferences have no good and no bad outputs"


def score_preferences(outputs: Graded, question: ScoreQuestion) -> ScoreResult:
    """Score every pair of systems by the win rate of its first system, against one half.

    The difference of a pair is twice the win rate minus one: wins minus losses. p-values invert the
    interval of the win rate, and Holm's rule adjusts them for the number of pairs.
    """
    check_draw(outputs, question.label_draw)
    fit = fitted(outputs, question)
    found = estimate_systems(outputs, question, fit)
    judges = outputs.mean(outputs.mean_grade)
    scored = [s for s, one in enumerate(found) if one.score is not None]
    pairs = _pairs(outputs, found, fit, question)
    names = tuple(dict.fromkeys(name for pair in outputs.preferences for name in pair))
    rows = tuple(_row(outputs, s, one, float(judges[s]), question) for s, one in enumerate(found))
    shown = _pair_rows(outputs, pairs, judges, question)
    plan = _plan(outputs, pairs, shown, fit, question)
    said = (
        preference_sentences(rows, shown, plan=plan, unit=outputs.unit)
        if scored
        else without_preferences(rows, outputs.unit)
    )
    contenders, tiers = _order(outputs, names, pairs, question)
    judge_rows = tuple(
        replace(row, tpr=_none(), tnr=_none(), per_system={})
        for row in grade_judges(outputs, question)
    )
    undecided = not scored or any(not row.settled for row in shown)
    worth = float(sum(one.worth for one in found))
    return ScoreResult(
        verdict=said.verdict,
        decision="undecided" if undecided else "decided",
        needed=needed_of(plan, unit=outputs.unit, single=True)
        if scored
        else first_preferences(rows, outputs.unit),
        n_items=outputs.n,
        assumptions=assumptions(outputs, question, same_items=False),
        warnings=warnings_of(outputs, question, rows, partial=(), complete=True),
        seed=seed_of(question.seed),
        systems=rows,
        pairs=shown if scored else Unknown("there are no human preferences"),
        tiers=tiers,
        contenders=contenders,
        judges=judge_rows,
        n_labels=outputs.n_labels,
        labels_worth=worth,
        population=question.population or "these",
        alpha=question.alpha,
        sentences=said,
        basis=(basis(outputs, question, pairs=len(shown), worth=worth, items=0) if scored else ""),
    )


def _none() -> Rate:
    return Rate(Unknown(NO_CLASS), Unknown(NO_CLASS))


def _pairs(
    outputs: Graded, systems: list[System], fit: Fitted | None, question: ScoreQuestion
) -> list[SystemPair]:
    """Test every win rate against one half."""
    if fit is None:
        return []
    level = question.alpha / len(fit.systems)
    if question.certified:
        levels = [certified_levels(outputs, s, question) for s in fit.systems]
        p_values = np.array(inverted(partial(_holds_half, levels), len(levels)))
        intervals = [one(np.array([level]))[1:] for one in levels]
        ends, kind = np.array(intervals).reshape(-1, 2), systems[fit.systems[0]].interval
    else:
        p_values, shown = fit.few.against(0.5), fit.few.means(alpha=level).interval
        ends, kind = np.stack((shown.low, shown.high), axis=1), shown[0]
    return [
        SystemPair(
            first=s,
            second=s,
            difference=2 * score_of(systems[s]) - 1,
            interval=replace(kind, low=2 * low - 1, high=2 * high - 1, level=1 - question.alpha),
            p_value=float(p),
            adjusted_p=float(step),
            needed=systems[s].needed,
            common=systems[s].n_labels,
        )
        for s, p, step, (low, high) in zip(
            fit.systems, p_values, holm(p_values), ends.tolist(), strict=True
        )
    ]


def _holds_half(levels: Sequence[Levels], rows: Places, alpha: Floats) -> NDArray[np.bool_]:
    ends = [levels[row](alpha[i : i + 1])[1:] for i, row in enumerate(rows)]
    low, high = np.array(ends).reshape(-1, 2).T
    return (low <= 0.5) & (high >= 0.5)


def _row(outputs: Graded, s: int, one: System, judged: float, question: ScoreQuestion) -> SystemRow:
    none = Unknown(NO_LABELS)
    known: float | Unknown = judged if np.isfinite(judged) else Unknown("no judge answered")
    score: float | Unknown = none
    interval: Interval | Unknown = none
    bias: float | Unknown = none
    ends: Interval | Unknown = none
    if one.score is not None:
        score, interval = one.score, one.interval
        if isinstance(known, float):
            bias = known - score
            ends = replace(interval, low=known - interval.high, high=known - interval.low)
    return SystemRow(
        name=one.name,
        score=score,
        interval=interval,
        judge_only=known,
        bias=bias,
        bias_interval=ends,
        n_outputs=one.n,
        n_labels=one.n_labels,
        labels_worth=none if one.score is None else one.worth,
        rank_interval=Unknown("a pair has no rank: see tiers"),
        by_judge={},
        needed=one.needed,
    )


def _pair_rows(
    outputs: Graded, pairs: Sequence[SystemPair], judges: Floats, question: ScoreQuestion
) -> tuple[SystemPairRow, ...]:
    rows = []
    for pair in pairs:
        first, second = outputs.preferences[pair.first]
        ahead = pair.difference >= 0
        a, b = (first, second) if ahead else (second, first)
        sign = 1.0 if ahead else -1.0
        ends = sorted((sign * pair.interval.low, sign * pair.interval.high))
        settled = pair.adjusted_p <= question.alpha and not ends[0] < 0 < ends[1]
        if not settled:
            ends = [min(ends[0], 0.0), max(ends[1], 0.0)]
        rows.append(
            SystemPairRow(
                a=a,
                b=b,
                difference=abs(pair.difference),
                interval=replace(pair.interval, low=ends[0], high=ends[1]),
                p_value=pair.p_value,
                adjusted_p=pair.adjusted_p,
                judge_only_difference=sign * (2 * float(judges[pair.first]) - 1),
                verdict=f"{a} is better" if settled else NOT_SETTLED,
                needed=Unknown("see the win rate of the pair"),
                common_labels=pair.common,
            )
        )
    rows.sort(key=lambda row: (not row.settled, row.adjusted_p, -row.difference))
    return tuple(rows)


def _plan(
    outputs: Graded,
    pairs: Sequence[SystemPair],
    rows: Sequence[SystemPairRow],
    fit: Fitted | None,
    question: ScoreQuestion,
) -> tuple[SystemPairRow, SettlePlan] | None:
    """Return the open pair that is nearest to being settled."""
    if fit is None:
        return None
    level = question.alpha / len(fit.systems)
    sizes = np.stack(
        [fit.few.forecast_against(0.5, spread=one, alpha=level) for one in spreads(question)]
    )
    by_names = {frozenset(outputs.preferences[pair.first]): pair for pair in pairs}
    for row in rows:
        if row.settled:
            continue
        pair = by_names[frozenset((row.a, row.b))]
        place = fit.place(pair.first)
        most, ungraded = round(float(fit.few.outputs[place])), partial(_ungraded, pair.common)
        plan = settle_plan(sizes[:, place].tolist(), pair, most, ungraded)
        if plan is not None:
            return row, plan
    return None


def _ungraded(graded: int, items: int) -> int:
    """Return how many grades are missing: an item of two systems has one."""
    return items - graded


def _order(
    outputs: Graded, names: tuple[str, ...], pairs: Sequence[SystemPair], question: ScoreQuestion
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return contenders and tiers, if every pair of systems was compared."""
    if not pairs or len(pairs) < len(names) * (len(names) - 1) // 2:
        return (), ()
    place = {name: i for i, name in enumerate(names)}
    wins = np.zeros(len(names))
    held = []
    for pair in pairs:
        a, b = (place[name] for name in outputs.preferences[pair.first])
        wins[a] += pair.difference
        wins[b] -= pair.difference
        held.append(replace(pair, first=a, second=b))
    # A stand-in for a score orders the systems by wins minus losses.
    systems = [
        System(name=name, n=0, n_labels=0, score=0.5 + float(wins[i]) / (2 * len(names)))
        for i, name in enumerate(names)
    ]
    known = ranked(systems, held, question.alpha)
    return known.contenders, known.tiers


# The sentences of ``score`` about preferences: who wins against whom.


FIRST = 50
"""Random items that people should compare for each pair before anything can be forecast."""


def preference_sentences(
    rows: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    *,
    plan: tuple[SystemPairRow, SettlePlan] | None,
    unit: str = "item",
) -> Sentences:
    """Say who wins, what the judges alone would have said, and what stays open."""
    scored = [row for row in rows if not isinstance(row.score, Unknown)]
    return Sentences(
        answer=_win_rates(scored),
        contrast=_win_contrast(scored),
        open=_open_pairs(pairs),
        next=next_step(plan, unit, preferences=True),
    )


def _win_rates(scored: Sequence[SystemRow]) -> str:
    """Say the win rates of preferences."""
    parts = []
    for row in scored[:MOST_NAMED]:
        first, _, second = row.name.partition(" over ")
        if isinstance(row.interval, Interval) and isinstance(row.score, float):
            ahead = row.score > 0.5
            value = row.score if ahead else 1 - row.score
            ends = (
                row.interval
                if ahead
                else replace(row.interval, low=1 - row.interval.high, high=1 - row.interval.low)
            )
            win, lose = (first, second) if ahead else (second, first)
            sure = "wins" if ends.low > 0.5 else "may win"
            parts.append(f"{win} {sure} against {lose}: {percent_interval(value, ends)}")
    if not parts:
        return "There are no human preferences."
    return "; ".join(parts) + " (a tie counts half)."


def _win_contrast(scored: Sequence[SystemRow]) -> str:
    for row in scored:
        if isinstance(row.judge_only, Unknown) or isinstance(row.score, Unknown):
            continue
        if (row.judge_only - 0.5) * (row.score - 0.5) < 0:
            first, _, second = row.name.partition(" over ")
            win = first if row.judge_only > 0.5 else second
            share = max(row.judge_only, 1 - row.judge_only)
            return f"Your judges alone say the opposite: {win} would win {percent(share)}."
    return ""


def _open_pairs(pairs: Sequence[SystemPairRow]) -> str:
    left = [f"{row.a} against {row.b}" for row in pairs if not row.settled]
    return f"Not settled: {names_of(left)}." if left else ""


def without_preferences(rows: Sequence[SystemRow], unit: str) -> Sentences:
    """Say what the judges prefer, and that it is no win rate."""
    parts = [
        f"{row.name} in {percent(row.judge_only)}"
        for row in rows
        if not isinstance(row.judge_only, Unknown)
    ]
    return Sentences(
        answer=f"The judges prefer {names_of(parts)} of the {unit}s (a tie counts half).",
        contrast="That is not a win rate: no human preference says how far the judges are off.",
        next=f"Next: let people compare {_first(rows)} random {unit}s per pair.",
    )


def first_preferences(rows: Sequence[SystemRow], unit: str) -> Needed:
    """Return the same for the field *needed*."""
    grades = sum(min(FIRST, row.n_outputs) for row in rows)
    return Needed(grades, f"human grades, on {_first(rows)} random {unit}s per pair")


def _first(rows: Sequence[SystemRow]) -> int:
    return min(FIRST, max(row.n_outputs for row in rows))


def swap_note(swaps: Swaps) -> str | None:
    """Say how often judges changed their mind when the order was swapped."""
    if not swaps.items:
        return None
    parts = [f"{judge} {percent(share)}" for judge, share in swaps.changed.items()]
    return (
        f"{count(swaps.items)} items were shown in both orders and averaged; judges changed their"
        f" answer on {', '.join(parts)} of them"
    )
