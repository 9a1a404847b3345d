"""The verdict of ``compare`` in sentences, from the result's fields; `verdict_notes` has the rest.

Answer first, then the number, then the doubt. Rates are percentages and their differences points;
other scores are plain numbers. Every verdict says which way is better.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from tallystick.compare.result import NOT_TOLD
from tallystick.results import Interval, Sentences, Unknown
from tallystick.results.numbers import (
    MINUS,
    count,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
)

if TYPE_CHECKING:
    from tallystick.compare.result import CompareResult, ModelRow, PairRow

__all__ = [
    "left_out_warning",
    "on_answered",
    "slice_cells",
    "spoken",
    "verdict_of",
    "with_left_out",
]

MOST_NAMED = 5


def verdict_of(result: CompareResult) -> str:
    """Return the verdict of a result whose other fields are all there."""
    if result.per_cluster:
        return _too_few_clusters(result)
    body = _of_two(result) if len(result.models) == 2 else _of_several(result)
    return " ".join(part for part in (body, _strength(result), _not_the_mean(result)) if part)


def spoken(result: CompareResult) -> CompareResult:
    """Return a result whose other fields are all there with its sentences."""
    return replace(
        result,
        verdict=verdict_of(result),
        sentences=sentences_of(result),
        basis=basis_of(result),
    )


def with_left_out(result: CompareResult, lost: int) -> CompareResult:
    """Return the result with sentences that say on which items it rests, where some are left
    out.
    """
    return spoken(replace(result, left_out=lost)) if lost else result


def left_out_warning(
    lost: int, total: int, *, most: str | None = None, lacks: int = 0, instead: str = ""
) -> str:
    """Warn that items without an answer of every model are left out.

    Parameters
    ----------
    lost, total
        Items left out, and all of them.
    most, lacks
        The model that lacks most answers, where it is known, and how many.
    instead
        Which models have more items in common; empty if none has.
    """
    whose = "" if most is None else f" (most often {most}: {count(lacks)})"
    return (
        f"{count(lost)} of {count(total)} items are left out because a model gave no answer"
        f" there{whose}. If no answer is a wrong answer, add --never-true ''"
        + (f"; {instead}" if instead else "")
    )


def sentences_of(result: CompareResult) -> Sentences:
    """Return the verdict line by line: the best, its lead, what is open and what settles it."""
    following = "" if result.needed is None else f"Next: get {result.needed}."
    if result.per_cluster or len(result.models) == 2:
        return Sentences(answer=verdict_of(result), next=following)
    parts = [_lead_of_several(result), _strength(result), _not_the_mean(result)]
    return Sentences(
        answer=_best_of_several(result),
        contrast=" ".join(part for part in parts if part),
        open=_open(result),
        next=following,
    )


def basis_of(result: CompareResult) -> str:
    """Say in one line what the intervals are about, and what they are adjusted for."""
    if result.per_cluster:
        return ""
    level = f"{100 * (1 - result.alpha):g} %"
    pairs = "" if result.pairs_total < 2 else f" Pairs are adjusted for all {result.pairs_total:,}."
    wider = any(
        row.verdict != NOT_TOLD and isinstance(row.simultaneous, Interval) and 0 in row.simultaneous
        for row in result.pairs
    )
    tested = (
        " Places follow the adjusted tests, which tell more models apart than intervals for all"
        " pairs at once."
        if wider
        else ""
    )
    return f"{level} intervals {_on(result)}; {_direction(result)}.{pairs}{tested}"


def _open(result: CompareResult) -> str:
    """Name neighbours below the leader that are not told apart."""
    if len(result.contenders) > 1:
        return ""
    order = [row.name for row in result.models]
    pairs = {frozenset((row.a, row.b)): row for row in result.pairs}
    left = [
        pair
        for a, b in pairwise(order)
        if (pair := pairs.get(frozenset((a, b)))) is not None and pair.verdict == NOT_TOLD
    ]
    if not left:
        return ""
    first = left[0]
    gap = ""
    if not isinstance(first.difference, Unknown) and isinstance(first.simultaneous, Interval):
        gap = f" ({_difference(first.difference, first.simultaneous, result, sign=True)})"
    more = "" if len(left) == 1 else f", and {len(left) - 1} more neighbours"
    return f"Not settled: {first.a} against {first.b}{gap}{more}."


# -- two models


def _of_two(result: CompareResult) -> str:
    pair = result.pairs[0]
    told = pair.verdict != NOT_TOLD
    tail = f"{_p(pair, result)}; {_direction(result)}"
    if result.estimand == "ratio":
        return _of_two_by_ratio(result, pair, told, tail)
    if result.estimand == "signs":
        return _of_two_by_signs(result, pair, told, tail)
    head = (
        f"{pair.a} is better than {pair.b}"
        if told
        else f"{pair.a} and {pair.b} cannot be told apart"
    )
    where = _on(result)
    if isinstance(pair.difference, Unknown) or isinstance(pair.interval, Unknown):
        known = _bare(pair.interval, result)
        return f"{head}: the difference lies in {known} {where} ({tail})."
    scores = f"{_score(result.models[0], result)} against {_score(result.models[1], result)}"
    if not told and not pair.difference:
        scores = f"both score {_score(result.models[0], result)}"
    gap = _difference(pair.difference, pair.interval, result, sign=not told)
    if any(isinstance(model.score, Unknown) for model in result.models[:2]):
        # Labels only where the two differ say nothing of either score, and all of the difference.
        return f"{head}: a difference of {gap} {where} ({tail})."
    return f"{head}: {scores}, a difference of {gap} {where} ({tail})."


def _of_two_by_ratio(result: CompareResult, pair: PairRow, told: bool, tail: str) -> str:
    ratio, ends = pair.ratio, pair.ratio_interval
    if ratio is None or ends is None:
        return f"{pair.a} and {pair.b} cannot be told apart {_on(result)} ({tail})."
    shown = number_interval(ratio, ends)
    of = result.metric or "score"
    if told:
        return (
            f"{pair.a} is better than {pair.b}: its {of} is typically {shown} times as large"
            f" {_on(result)} ({tail})."
        )
    return (
        f"{pair.a} and {pair.b} cannot be told apart: the {of} of {pair.a} is typically {shown}"
        f" times that of {pair.b} {_on(result)} ({tail})."
    )


def _of_two_by_signs(result: CompareResult, pair: PairRow, told: bool, tail: str) -> str:
    head = (
        f"{pair.a} is better than {pair.b}"
        if told
        else f"{pair.a} and {pair.b} cannot be told apart"
    )
    counts = f"{pair.a} is better on {pair.a_only} items and {pair.b} on {pair.b_only}"
    answered = " that both answered" if result.left_out else ""
    return f"{head}: {counts} of {count(result.n_items)}{answered} (exact sign test, {tail})."


# -- several models


def _of_several(result: CompareResult) -> str:
    told, pairs = count(result.pairs_told), count(result.pairs_total)
    where = "" if result.left_out else f" {_on(result)}"
    return f"{_head_of_several(result)} {told} of {pairs} pairs are told apart{where}."


def _head_of_several(result: CompareResult) -> str:
    leader, total = result.models[0], len(result.models)
    way = f" ({_direction(result)})"
    where = f" {_where(result)}" if result.left_out else ""
    score = f"{where}{_scored(leader, result)}"
    if len(result.contenders) == 1:
        return f"{leader.name} is the best of {total} models{score}{way}. {_beats(result)}"
    return f"{leader.name} leads {total} models{score}{way}, but {_rivals(result)} may be as good."


def _best_of_several(result: CompareResult) -> str:
    """Return the first sentence alone; which way is better stands in the basis."""
    leader, total = result.models[0], len(result.models)
    where = f" {_where(result)}" if result.left_out else ""
    if len(result.contenders) == 1:
        return f"{leader.name} is the best of {total} models{where}{_scored(leader, result)}."
    return (
        f"{leader.name} leads {total} models{where}{_scored(leader, result)}, but {_rivals(result)}"
        " may be as good."
    )


def _lead_of_several(result: CompareResult) -> str:
    return _beats(result) if len(result.contenders) == 1 else ""


def _beats(result: CompareResult) -> str:
    pair = result.pairs[0]
    return f"It beats {pair.b}, the next best{_gap_of_several(pair, result)}."


def _rivals(result: CompareResult) -> str:
    others = [name for name in result.contenders if name != result.models[0].name]
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    return ", ".join(others[:MOST_NAMED]) + more


def _gap_of_several(pair: PairRow, result: CompareResult) -> str:
    if pair.ratio is not None and pair.ratio_interval is not None:
        return f", typically at {number_interval(pair.ratio, pair.ratio_interval)} times its score"
    if isinstance(pair.difference, Unknown) or isinstance(pair.simultaneous, Unknown):
        return ""
    gap, ends = pair.difference, pair.simultaneous
    if result.better == "lower":
        gap, ends = -gap, _mirrored(ends)
    if 0 in ends and isinstance(pair.adjusted_p, float):
        # The step-down test tells more apart than intervals that hold for all pairs at once, and
        # "beats" beside an interval that holds 0 would read as a contradiction.
        size = points(gap, sign=False) if result.unit == "share" else number(gap)
        return f", by {size} (adjusted {p_value(pair.adjusted_p, alpha=result.alpha)})"
    return f", by {_difference(gap, ends, result, sign=False)}"


# -- clusters, and means that are left out


def _too_few_clusters(result: CompareResult) -> str:
    few = len(result.per_cluster)
    least = max(2, ceil(1 + np.log2(1 / result.alpha) - 1e-9))
    return (
        f"{few} clusters cannot show which model is better on new clusters: that takes at least"
        f" {least}, and {max(12, 2 * least)} to be useful. The scores in each cluster are listed"
        f" ({_direction(result)})."
    )


def _strength(result: CompareResult) -> str:
    """Say how strong an adverse cluster would have to be to undo the verdict on the leader."""
    pair = result.pairs[0]
    if len(result.contenders) > 1 or not pair.holds_below:
        return ""
    size = (
        points(pair.holds_below, sign=False) if result.unit == "share" else number(pair.holds_below)
    )
    return f"It holds unless one more cluster favours {pair.b} by {size} or more."


def _not_the_mean(result: CompareResult) -> str:
    if result.estimand == "ratio":
        return "This is the typical ratio: the mean difference is not settled by so few items."
    if result.estimand == "signs":
        return "This counts items: the mean difference is not settled by so few items."
    return ""


# -- pieces of sentences


def _direction(result: CompareResult) -> str:
    of = f"{result.metric}: " if result.metric else ""
    return f"{of}{result.better} is better"


def _p(pair: PairRow, result: CompareResult) -> str:
    if isinstance(pair.p_value, Unknown):
        return "no test"
    return p_value(pair.p_value, alpha=result.alpha)


def _on(result: CompareResult) -> str:
    if not result.clusters:
        return _where(result) or f"on {count(result.n_items)} items"
    weight = "" if result.estimand == "cluster mean" else ", every item counting once"
    if result.estimand == "cluster mean":
        weight = ", every cluster counting once"
    items = _where(result).removeprefix("on ") or f"{count(result.n_items)} items"
    return f"on {count(result.clusters)} clusters ({items}){weight}"


def _where(result: CompareResult) -> str:
    """Name the items that are left, where some are left out."""
    return on_answered(result.n_items, len(result.models)) if result.left_out else ""


def on_answered(items: int, models: int) -> str:
    """Name the items that every model answered."""
    return f"on {count(items)} items that {'both' if models == 2 else 'all'} answered"


def _score(model: ModelRow, result: CompareResult) -> str:
    if isinstance(model.score, Unknown):
        return "unknown"
    return percent(model.score) if result.unit == "share" else number(model.score)


def _scored(model: ModelRow, result: CompareResult) -> str:
    if isinstance(model.score, Unknown) or isinstance(model.interval, Unknown):
        return ""
    written = percent_interval if result.unit == "share" else number_interval
    return f": {written(model.score, model.interval)}"


def _difference(difference: float, interval: Interval, result: CompareResult, *, sign: bool) -> str:
    if result.unit == "share":
        return points_interval(difference, interval, sign=sign or difference < 0)
    return number_interval(difference, interval, sign=sign or difference < 0)


def _bare(interval: Interval | Unknown, result: CompareResult) -> str:
    if isinstance(interval, Unknown):
        return "an unknown range"
    if result.unit == "share":
        low, high = (f"{100 * end:+.1f}".replace("-", MINUS) for end in interval)
        return f"[{low}, {high}] points"
    return f"[{number(interval.low)}, {number(interval.high)}]"


def _mirrored(interval: Interval) -> Interval:
    return Interval(
        -interval.high,
        -interval.low,
        level=interval.level,
        guarantee=interval.guarantee,
        assumption=interval.assumption,
        method=interval.method,
    )


# -- slices


def slice_cells(result: CompareResult) -> dict[str, str]:
    """Return one row of a table of slices: the two best models, and whether they are told apart."""
    if result.per_cluster or not result.pairs:
        return {}
    pair = result.pairs[0]
    cells = {"items": count(result.n_items), "best": f"{pair.a} {_score(result.models[0], result)}"}
    second = next(row for row in result.models if row.name == pair.b)
    cells["next"] = f"{pair.b} {_score(second, result)}"
    if pair.ratio is not None and pair.ratio_interval is not None:
        cells["ratio"] = number_interval(pair.ratio, pair.ratio_interval)
    elif not isinstance(pair.difference, Unknown) and not isinstance(pair.interval, Unknown):
        cells["difference"] = _difference(pair.difference, pair.interval, result, sign=True)
    else:
        cells["better on"] = f"{pair.a_only} against {pair.b_only} items"
    told = pair.verdict != NOT_TOLD
    return cells | {"verdict": f"{pair.a} is better" if told else NOT_TOLD}
