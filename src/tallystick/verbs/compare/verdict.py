"""The verdict of ``compare`` in sentences, from the result's fields; `verdict_notes` has the rest.

Answer first, then the number, then the doubt. Rates are percentages and their differences points;
other scores are plain numbers. Every verdict says which way is better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tallystick.results import Interval, Needed, PatternTable, Sentences, Unknown
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
from tallystick.stats.signs import Ranks, ranks
from tallystick.stats.skewed import FEWEST
from tallystick.verbs.compare.question import LEAST_SHARE
from tallystick.verbs.compare.result import (
    MOST_DRAWN,
    MOST_PAIRS,
    NOT_TOLD,
    CompareResult,
    Estimand,
    ItemLocator,
    ModelRow,
    PairRow,
    SampleSize,
    interval_of,
    needed_for,
)

if TYPE_CHECKING:
    from tallystick.stats.adverse_binary import Population
    from tallystick.stats.intervals import Intervals
    from tallystick.stats.pairs import PairTable
    from tallystick.verbs.compare.board import Board
    from tallystick.verbs.compare.labels import Labelled
    from tallystick.verbs.compare.question import Settings

MOST_NAMED = 5


def verdict_of(result: CompareResult) -> str:
    """Return the verdict of a result whose other fields are all there."""
    if result.per_cluster:
        return _too_few_clusters(result)
    body = _of_two(result) if len(result.models) == 2 else _of_several(result)
    parts = (body, _strength(result), _not_the_mean(result), _worst_case(result))
    return " ".join(part for part in parts if part)


def spoken(result: CompareResult) -> CompareResult:
    """Return a result whose other fields are all there with its sentences."""
    return replace(
        result,
        verdict=verdict_of(result),
        sentences=sentences_of(result),
        basis=basis_of(result),
    )


def with_left_out(
    result: CompareResult, lost: int, whatever: tuple[float, float] | None = None
) -> CompareResult:
    """Return the result with sentences that say on which items it rests, where some are left out,
    and what the missing answers could change.
    """
    return spoken(replace(result, left_out=lost, whatever=whatever)) if lost else result


def whatever_is_missing(
    result: CompareResult, board: Board, ends: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Return between what the difference of the two best lies on all items, missing answers at
    either *ends* of the range; None where nothing says what they are worth.
    """
    if board.whole is None or ends is None or not result.pairs or result.unit != "share":
        return None
    top = result.pairs[0]
    first, second = (board.whole.scores[:, board.place(name)] for name in (top.a, top.b))
    found = []
    for mine, theirs in (ends, ends[::-1]):
        gap = np.where(np.isnan(first), mine, first) - np.where(np.isnan(second), theirs, second)
        found.append(float(np.average(gap, weights=board.whole.weights)))
    return found[0], found[1]


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
    parts = [
        _lead_of_several(result),
        _strength(result),
        _not_the_mean(result),
        _worst_case(result),
    ]
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
    labels = "" if result.n_labels is None else f" from {count(result.n_labels)} labels"
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
    if result.population == "these" and result.n_labels is None:
        new = "every score is known; for new items leave out --population these"
        return f"On these {count(result.n_items)} items {new}; {_direction(result)}."
    new = " For new items like them: --population new." if result.population == "these" else ""
    return f"{level} intervals {_on(result)}{labels}; {_direction(result)}.{pairs}{tested}{new}"


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


def _worst_case(result: CompareResult) -> str:
    """Say what the missing answers could make of the difference."""
    if result.whatever is None:
        return ""
    pair = result.pairs[0]
    low, high = (f"{100 * end:+.1f}".replace("-", MINUS) for end in result.whatever)
    return (
        f"On all items, {pair.a} against {pair.b} lies between {low} and {high} points, whatever"
        " the missing answers are."
    )


# -- pieces of sentences


def _direction(result: CompareResult) -> str:
    of = f"{result.metric}: " if result.metric else ""
    return f"{of}{result.better} is better"


def _p(pair: PairRow, result: CompareResult) -> str:
    if isinstance(pair.p_value, Unknown):
        return "no test"
    if isinstance(pair.interval, Interval) and pair.interval.method == "logic":
        return "certain" if pair.verdict != NOT_TOLD else "blank labels could turn it"
    found = p_value(pair.p_value, alpha=result.alpha)
    if pair.signs is None:
        return found
    ahead, behind, sign_p = pair.signs
    rows = f"{pair.a} ahead in {count(ahead)} rows and behind in {count(behind)}"
    return f"{found}; {rows}, exact sign test {p_value(sign_p, alpha=result.alpha)}"


def _on(result: CompareResult) -> str:
    if not result.clusters:
        these = "these " if result.population == "these" else ""
        return _where(result) or f"on {these}{count(result.n_items)} items"
    weight = ", every cluster counting once" if result.estimand == "cluster mean" else ""
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


# The sentences beside a verdict of ``compare``: what it rests on, warnings, what to buy next.


SHARES = (
    "scores are shares between 0 and 1: they reach an end of that range and never leave it (give"
    " --bounds if they can)"
)
INDEPENDENT = "items are independent draws from the population that the answer is about"


def shown_levels(estimand: str) -> tuple[str, ...]:
    """Say which level of each model is listed, where it is not the mean."""
    levels = {"ratio": "geometric means", "signs": "medians"}
    return (f"the scores listed are {levels[estimand]}, not means",) if estimand in levels else ()


def cluster_assumptions(clusters: int, *, bounded: bool) -> list[str]:
    """Return what a comparison on new clusters rests on."""
    found = [
        "clusters are independent draws from the population that the answer is about",
        "every cluster counts once",
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


def few_and_skewed(n: int, needed: float, unit: str) -> list[str]:
    """Warn where few rows are so skewed that their mean may rest on one of them."""
    if n >= FEWEST or needed <= FEWEST:
        return []
    return [
        f"the scores are skewed, and one of {n} {unit} can move their mean: hold the t test against"
        " the sign test beside it"
    ]


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
    """Say that bounds would help where scores look like shares."""
    outside = scores[(scores < 0) | (scores > 1)]
    if outside.size > 0.01 * scores.size or scores.max() < LEAST_SHARE:
        return []
    if outside.size:
        return []
    return [
        "scores look like shares in [0, 1]: if they are, declare it (--bounds 0,1), and the answer"
        " needs no assumption on their shape"
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


# Put an answer together: ranks, rows of pairs, the verdict, and what was learnt of each item.


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """What the mathematics found, before it is put into words.

    Parameters
    ----------
    names
        The models, in the order of the table.
    table
        All pairs.
    scores, means
        The interval and the score of each model.
    n
        Items.
    settings
        What was asked.
    population, estimand, unit
        As in the result.
    detectable
        The smallest difference that would be seen.
    assumptions, warnings
        Sentences.
    seed
        Of everything drawn.
    hidden
        Why no score can be given; empty if it can.
    labelled, n_labels
        What the labels say, and how many there are, where some are missing.
    sample
        What was drawn; the items by default.
    clusters, item_means
        How many clusters there are, and the scores over items, where clusters are the sample.
    """

    names: tuple[str, ...]
    table: PairTable
    scores: Intervals
    means: Floats
    n: int
    settings: Settings
    population: Population
    detectable: float | Unknown
    assumptions: list[str]
    warnings: list[str]
    seed: int | None
    hidden: str = ""
    labelled: Labelled | None = None
    n_labels: int | None = None
    sample: SampleSize | None = None
    estimand: Estimand = "mean"
    unit: Literal["share", "number"] = "share"
    clusters: int = 0
    item_means: Floats | None = None


def assemble(found: Findings) -> CompareResult:
    """Return the result: models from best to worst, their ranks, all pairs and the verdict."""
    names, table, settings = found.names, found.table, found.settings
    order = np.argsort(-settings.sign * np.nan_to_num(found.means), kind="stable")
    told = table.adjusted_p <= settings.alpha
    counted = found.labelled is None and found.population == "new"
    alone = interval_of(table, 0, found.n, settings, counted=counted) if len(names) == 2 else None
    # One statement: two models are told apart only if the interval that is printed says so too.
    if alone is not None and table.holds_below is None and not table.unsettled:
        told = told & (0 not in alone)
    lead = settings.sign * _lead(found)
    ranked = ranks(table.first, table.second, np.where(told, np.sign(lead), 0), order)
    pairs = _pair_rows(found, order, told, alone)
    models = _model_rows(found, order, ranked)

    contenders, tiers = ranked.named(names)
    decided = len(contenders) == 1
    a, b = sorted(order[:2].tolist())
    first_two = a * (2 * len(names) - a - 1) // 2 + b - a - 1  # as numpy.triu_indices lists them
    sample = found.sample or SampleSize(found.n, share=found.unit == "share")
    if decided:
        needed = None
    elif found.labelled is not None:
        needed = found.labelled.needed(names, first_two, settings)
    elif found.population == "these":
        needed = Needed(None, f"items: on these {pairs[0].a} and {pairs[0].b} are equal")
    else:
        needed = needed_for(pairs[0], table, first_two, sample, len(names), settings)
    spread = float(np.ptp(found.means))
    detectable = found.detectable
    assumptions = list(found.assumptions)
    if len(names) > 2 and not isinstance(detectable, Unknown):
        assumptions.append(would_be_seen(detectable, settings.power, found.unit))
    result = CompareResult(
        verdict="pending",
        decision="decided" if decided else "undecided",
        needed=needed,
        n_items=found.n,
        assumptions=tuple(assumptions),
        warnings=(
            *found.warnings,
            *without_spread(names, table),
            *unlisted_pairs(len(pairs), table.first.size),
        ),
        seed=found.seed,
        models=models,
        pairs=pairs,
        contenders=contenders,
        tiers=tiers,
        detectable_difference=detectable,
        separable=(
            detectable
            if isinstance(detectable, Unknown)
            else min(len(names), 1 + int(spread / detectable))
        ),
        population=found.population,
        sample=sample.unit,
        n_labels=found.n_labels,
        adjustment=table.adjustment,
        alpha=settings.alpha,
        metric=str(settings.passes) if settings.passes else settings.metric,
        better=settings.better,
        estimand=found.estimand,
        unit=found.unit,
        pairs_told=int(told.sum()),
        pairs_total=int(table.first.size),
        clusters=found.clusters,
    )
    return spoken(result)


def _lead(found: Findings) -> Floats:
    """Return who is ahead in each pair, in the sense of what is compared."""
    table = found.table
    if table.unsettled and table.ratio is None:
        return np.asarray(table.first_only - table.second_only)
    if found.labelled is not None:
        # Labels may tell the difference of two models and neither of their scores.
        counted = table.first_only - table.second_only
        return np.where(np.isnan(table.difference), counted, table.difference)
    return np.asarray(found.means[table.first] - found.means[table.second])


def _model_rows(
    found: Findings, order: npt.NDArray[np.intp], ranked: Ranks
) -> tuple[ModelRow, ...]:
    items = found.item_means
    return tuple(
        ModelRow(
            found.names[j],
            _score_of(found, int(j)),
            found.scores[int(j)],
            (int(ranked.low[j]), int(ranked.high[j])),
            item_score=None if items is None else float(items[j]),
        )
        for j in order
    )


def _score_of(found: Findings, j: int) -> float | Unknown:
    if found.hidden:
        return Unknown(found.hidden)
    mean = float(found.means[j])
    return Unknown(f"no label on an answer of {found.names[j]}") if np.isnan(mean) else mean


def _pair_rows(
    found: Findings,
    order: npt.NDArray[np.intp],
    told: npt.NDArray[np.bool_],
    alone: Interval | None,
) -> tuple[PairRow, ...]:
    """Return the pairs from the top of the board down, each with the better model first; *alone* if
    there is one.
    """
    names, table = found.names, found.table
    place = np.empty(len(names), np.intp)
    place[order] = np.arange(len(names))
    upside = place[table.first] < place[table.second]
    best, worst = (
        np.minimum(place[table.first], place[table.second]),
        np.maximum(place[table.first], place[table.second]),
    )
    listed = np.lexsort((worst, best))
    if listed.size > MOST_PAIRS:
        listed = listed[((best == 0) | (worst - best == 1) | (worst < MOST_DRAWN))[listed]]
    return tuple(_pair_row(found, i, bool(upside[i]), bool(told[i]), alone) for i in listed)


def _pair_row(found: Findings, i: int, upside: bool, told: bool, alone: Interval | None) -> PairRow:
    names, table, settings = found.names, found.table, found.settings
    sign = 1.0 if upside else -1.0
    a, b = (table.first[i], table.second[i]) if upside else (table.second[i], table.first[i])
    only = (table.first_only[i], table.second_only[i])
    # "Only a" counts items on which a is better: for signs and a lower score, the smaller ones.
    if upside == (settings.sign > 0 or not table.unsettled):
        a_only, b_only = only
    else:
        b_only, a_only = only
    difference = sign * float(table.difference[i])
    hidden = Unknown(table.unsettled or "some disagreements have no true label")
    own: Interval | Unknown = _turned(alone or table.intervals[i], sign)
    # Of one pair, "all pairs at once" is the pair itself: one difference has one interval.
    one_pair = table.first.size == 1
    joint: Interval | Unknown = own if one_pair else _turned(table.simultaneous[i], sign)
    return PairRow(
        a=names[a],
        b=names[b],
        difference=hidden if np.isnan(difference) else difference,
        interval=hidden if table.unsettled else own,
        simultaneous=hidden if table.unsettled else joint,
        a_only=_count(a_only),
        b_only=_count(b_only),
        p_value=float(table.p_value[i]),
        adjusted_p=float(table.adjusted_p[i]),
        verdict=f"{names[a]} is better" if told else NOT_TOLD,
        holds_below=None if table.holds_below is None else float(table.holds_below[i]),
        ratio=None if table.ratio is None else float(table.ratio[i] ** sign),
        ratio_interval=_inverted(table, i, upside),
    )


def _inverted(table: PairTable, i: int, upside: bool) -> Interval | None:
    """Return the interval of the ratio a/b."""
    if table.ratio_intervals is None:
        return None
    held = table.ratio_intervals[i]
    if upside:
        return held
    low = 0.0 if np.isinf(held.high) else 1 / held.high
    return replace(held, low=low, high=np.inf if held.low == 0 else 1 / held.low)


def _turned(interval: Interval, sign: float) -> Interval:
    return interval if sign > 0 else replace(interval, low=-interval.high, high=-interval.low)


def _count(value: float) -> int | Unknown:
    return (
        Unknown("scores are not 0 or 1, or are counted by cluster")
        if np.isnan(value)
        else int(value)
    )


def finish(result: CompareResult, board: Board) -> CompareResult:
    """Add what was said while reading, and what was learnt of each item."""
    ends = (0.0, 1.0) if result.unit == "share" else None
    result = with_left_out(result, board.left_out, whatever_is_missing(result, board, ends))
    result = replace(result, warnings=(*board.notes, *result.warnings))
    if board.rows is None:
        return result
    known = board.known
    columns: dict[str, list[Any]] = {
        "mean_score": [
            float(score) if ok else None
            for score, ok in zip(board.scores.mean(axis=1), known, strict=True)
        ]
    }
    if board.answers is not None:
        places = [board.place(name) for name in result.contenders]
        places = places if len(places) > 1 else [board.place(row.name) for row in result.models[:2]]
        apart = (board.answers[:, places] != board.answers[:, places[:1]]).any(axis=1)
        columns["label_next"] = (apart & ~known).tolist()
    return replace(result, learnt=PatternTable(ItemLocator(board.rows), columns))
