"""The sentences of ``compare``: verdict, what it rests on, and warnings, from the result's fields.

Answer first, then the number, then the doubt. Rates are percentages and their differences points;
other scores are plain numbers. Every verdict says which way is better.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from tallystick.compare.result import MOST_DRAWN, NOT_TOLD
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
    from tallystick.compare.pairing import PairTable
    from tallystick.compare.result import CompareResult, ModelRow, PairRow
    from tallystick.compare.settings import Settings

__all__ = [
    "cluster_assumptions",
    "flat_models",
    "no_true_label",
    "purchase",
    "shown_levels",
    "slice_cells",
    "spoken",
    "undeclared_bounds",
    "unlisted_pairs",
    "verdict_of",
    "without_spread",
    "would_be_seen",
]

MOST_NAMED = 5
SHARES = (
    "scores are shares between 0 and 1: they reach an end of that range and never leave it (give"
    " --bounds if they can)"
)
INDEPENDENT = "items are independent draws from the population that the answer is about"


def shown_levels(estimand: str) -> tuple[str, ...]:
    """Say which level of each model is listed, where it is not the mean."""
    levels = {"ratio": "geometric means", "signs": "medians"}
    return (f"the scores listed are {levels[estimand]}, not means",) if estimand in levels else ()


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
    return f"{head}: {counts} of {count(result.n_items)} (exact sign test, {tail})."


# -- several models


def _of_several(result: CompareResult) -> str:
    told, pairs = count(result.pairs_told), count(result.pairs_total)
    return f"{_head_of_several(result)} {told} of {pairs} pairs are told apart {_on(result)}."


def _head_of_several(result: CompareResult) -> str:
    leader, total = result.models[0], len(result.models)
    way = f" ({_direction(result)})"
    score = _scored(leader, result)
    if len(result.contenders) == 1:
        return f"{leader.name} is the best of {total} models{score}{way}. {_beats(result)}"
    return f"{leader.name} leads {total} models{score}{way}, but {_rivals(result)} may be as good."


def _best_of_several(result: CompareResult) -> str:
    """Return the first sentence alone; which way is better stands in the basis."""
    leader, total = result.models[0], len(result.models)
    if len(result.contenders) == 1:
        return f"{leader.name} is the best of {total} models{_scored(leader, result)}."
    return (
        f"{leader.name} leads {total} models{_scored(leader, result)}, but {_rivals(result)} may be"
        " as good."
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
        return f"on {count(result.n_items)} items"
    weight = "" if result.estimand == "cluster mean" else ", every item counting once"
    if result.estimand == "cluster mean":
        weight = ", every cluster counting once"
    return f"on {count(result.clusters)} clusters ({count(result.n_items)} items){weight}"


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


# -- what the answer rests on


def cluster_assumptions(clusters: int, settings: Settings, *, bounded: bool) -> list[str]:
    """Return what a comparison on new clusters rests on."""
    once = "cluster" if settings.cluster_weight == "equal" else "item"
    found = [
        "clusters are independent draws from the population that the answer is about",
        f"every {once} counts once (--cluster-weight)",
    ]
    if bounded:
        found.append(
            "differences are about symmetric over clusters, and no model collapses on clusters"
            f" rarer than 1 in {max(2, clusters // 3)}"
        )
    return found


def would_be_seen(detectable: float, power: float, unit: str) -> str:
    """Say which differences these items would show."""
    size = points(detectable, sign=False) if unit == "share" else number(detectable)
    return f"differences of {size} or more would be seen with probability {power:g}"


def no_true_label(blank: int, n: int) -> str:
    """Return what hides the scores of models whose true labels are partly blank."""
    return f"{blank} of {n} true labels are blank"


def without_spread(names: tuple[str, ...], table: PairTable) -> list[str]:
    """Name a pair of unbounded scores that differ by the same amount on every item."""
    ends = table.intervals if table.ratio_intervals is None else table.ratio_intervals
    lacking = np.isinf(ends.high) & ~np.isnan(table.spread)
    [found] = np.nonzero(lacking if not table.unsettled or table.ratio is not None else [])
    if not found.size:
        return []
    a, b = names[table.first[found[0]]], names[table.second[found[0]]]
    more = f" (and {found.size - 1} more pairs)" if found.size > 1 else ""
    return [
        f"{a} and {b}{more} differ by the same amount throughout, so nothing says how much that"
        " varies: declare the range of scores (--bounds LO,HI)"
    ]


def unlisted_pairs(listed: int, pairs: int) -> list[str]:
    """Say which pairs of a very large board are listed."""
    if listed == pairs:
        return []
    return [
        f"{listed:,} of {pairs:,} pairs are listed: those of the leader, of neighbours and among"
        f" the first {MOST_DRAWN}; all count in the verdict, the ranks and the tiers"
    ]


def flat_models(names: tuple[str, ...], flat: np.ndarray, binary: bool) -> list[str]:
    """Name models whose score never varies."""
    found = [name for name, one in zip(names, flat, strict=True) if one]
    if not found:
        return []
    shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    why = "all right or all wrong" if binary else "the same score on every item: is it a score?"
    return [f"{shown}: {why}"]


def undeclared_bounds(scores: np.ndarray) -> list[str]:
    """Say that bounds would help where scores look like shares, and name what breaks [0, 1]."""
    outside = scores[(scores < 0) | (scores > 1)]
    if outside.size > 0.01 * scores.size:
        return []
    if not outside.size:
        return [
            "scores look like shares in [0, 1]: if they are, declare it (--bounds 0,1), and the"
            " answer needs no assumption on their shape"
        ]
    odd = outside[np.argmax(np.abs(outside))]
    return [
        f"scores look like shares in [0, 1], but {count(int(outside.size))} of"
        f" {count(int(scores.size))} lie outside, such as {odd:g}. If that is a code for no score,"
        f" read it as one (--missing {odd:g}) and declare the range (--bounds 0,1)"
    ]


def purchase(result: CompareResult) -> str | None:
    """Say what the next money should buy where items were run several times."""
    held = result.replicates
    if held is None or isinstance(held.within, Unknown) or isinstance(held.between, Unknown):
        return None
    if held.between <= 0:
        return "items hardly differ from one another: more runs help as much as more items"
    floor = held.floor
    text = (
        "new items help more than new runs of these items: at equal numbers of runs, one run each"
        " of more items varies least"
    )
    if not isinstance(held.runs_per_item, Unknown):
        text = f"at these prices, about {max(1, round(held.runs_per_item))} runs per item buy most"
    if not isinstance(floor, Unknown):
        text += (
            f"; with runs alone the standard error of the difference stays above {100 * floor:.1f}"
            " points"
        )
    return text


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
