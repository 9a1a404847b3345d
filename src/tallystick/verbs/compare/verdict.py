"""The sentences of ``compare``, made from the fields of a result.

Answer first, then the number, then the doubt. Who is best or better is said by
`tallystick.results.Claims` alone. Rates are percentages and their differences points; other scores
are plain numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tallystick.results import Claims, Interval, PatternTable, Sentences, Unknown
from tallystick.results.numbers import (
    MINUS,
    count,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points_interval,
)
from tallystick.stats.adverse_binary import Population
from tallystick.stats.intervals import Intervals
from tallystick.stats.pairs import PairTable
from tallystick.stats.signs import Ranks, ranks
from tallystick.stats.skewed import FEWEST
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.planning import detectable, needed_for
from tallystick.verbs.compare.question import CompareQuestion, Share, sized, unit_of
from tallystick.verbs.compare.result import (
    EACH_ONCE,
    INDEPENDENT,
    MOST_PAIRS,
    MOST_READ,
    NOT_TOLD,
    CompareResult,
    Estimand,
    ItemLocator,
    ModelRow,
    PairRow,
)

if TYPE_CHECKING:
    from tallystick.verbs.compare.labels import Labelled

Floats = npt.NDArray[np.float64]


# Put an answer together: ranks, rows of pairs, the verdict, and what was learnt of each item.


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """What the mathematics found, before it is put into words.

    Parameters
    ----------
    names, n, question
        The models, in the order of the table; items; what was asked, bounds filled in.
    table
        All pairs.
    scores, means
        The interval and the score of each model.
    population, estimand
        As in the result.
    assumptions, warnings
        Sentences.
    seed
        Of everything drawn.
    detectable
        Why no detectable difference is given; None if it is.
    hidden
        Why no score can be given; empty if it can.
    labelled, n_labels
        What the labels say, and how many there are, where some are missing.
    sample, size
        What was drawn, items, clusters or weighted items, and how many; *n* items if 0.
    item_means
        The scores over items, where clusters are the sample.
    """

    names: tuple[str, ...]
    table: PairTable
    scores: Intervals
    means: Floats
    n: int
    question: CompareQuestion
    population: Population = "new"
    estimand: Estimand = "mean"
    assumptions: Sequence[str] = ()
    warnings: Sequence[str] = ()
    seed: int | None = None
    detectable: Unknown | None = None
    hidden: str = ""
    labelled: Labelled | None = None
    n_labels: int | None = None
    sample: str = "items"
    size: int = 0
    item_means: Floats | None = None

    @property
    def unit(self) -> Share:
        """How scores are written."""
        return "share" if self.labelled is not None else unit_of(self.question.bounds)

    @property
    def lead(self) -> Floats:
        """Who is ahead in each pair, in the sense of what is compared."""
        table = self.table
        if table.unsettled and table.ratio is None:
            return np.asarray(table.first_only - table.second_only)
        if self.labelled is not None:
            # Labels may tell the difference of two models and neither of their scores.
            counted = table.first_only - table.second_only
            return np.where(np.isnan(table.difference), counted, table.difference)
        return np.asarray(self.means[table.first] - self.means[table.second])


def assemble(found: Findings) -> CompareResult:
    """Return the result: models from best to worst, their ranks, all pairs and the verdict."""
    found = replace(found, table=found.table.agreed(found.question.alpha))
    names, table, question = found.names, found.table, found.question
    order = np.argsort(-question.sign * np.nan_to_num(found.means), kind="stable")
    told = table.told(question.alpha)
    signs = np.where(told, np.sign(question.sign * found.lead), 0)
    ranked = ranks(table.first, table.second, signs, order)
    contenders, tiers = ranked.named(names)
    pairs = _pair_rows(found, order, told)
    decided = len(contenders) == 1

    size = found.size or found.n
    smallest = found.detectable or detectable(table, size, len(names), question)
    result = CompareResult(
        verdict="pending",
        decision="decided" if decided else "undecided",
        needed=None if decided else _needed(found, pairs[0], order),
        n_items=found.n,
        assumptions=tuple(found.assumptions),
        warnings=(*found.warnings, *unlisted_pairs(len(pairs), table.first.size)),
        seed=found.seed,
        models=_model_rows(found, order, ranked),
        pairs=pairs,
        contenders=contenders,
        tiers=tiers,
        detectable_difference=smallest,
        population=found.population,
        sample=found.sample,
        n_labels=found.n_labels,
        adjustment=table.adjustment,
        alpha=question.alpha,
        metric=question.measure,
        better=question.better,
        estimand=found.estimand,
        unit=found.unit,
        pairs_told=int(told.sum()),
        pairs_total=int(table.first.size),
        clusters=size if found.sample == "clusters" else 0,
    )
    return spoken(result)


def _needed(found: Findings, top: PairRow, order: npt.NDArray[np.intp]) -> Any:
    """Say what would tell the first two apart."""
    a, b = sorted(order[:2].tolist())
    first_two = a * (2 * len(found.names) - a - 1) // 2 + b - a - 1  # as numpy.triu_indices has it
    if found.labelled is not None:
        return found.labelled.needed(found.names, first_two, found.question)
    return needed_for(
        top,
        found.table,
        first_two,
        size=found.size or found.n,
        unit=found.sample,
        models=len(found.names),
        question=found.question,
    )


def _model_rows(
    found: Findings, order: npt.NDArray[np.intp], ranked: Ranks
) -> tuple[ModelRow, ...]:
    def score(j: int) -> float | Unknown:
        if found.hidden:
            return Unknown(found.hidden)
        mean = float(found.means[j])
        return Unknown(f"no label on an answer of {found.names[j]}") if np.isnan(mean) else mean

    items = found.item_means
    return tuple(
        ModelRow(
            found.names[j],
            score(int(j)),
            found.scores[int(j)],
            (int(ranked.low[j]), int(ranked.high[j])),
            item_score=None if items is None else float(items[j]),
        )
        for j in order
    )


def _pair_rows(
    found: Findings, order: npt.NDArray[np.intp], told: npt.NDArray[np.bool_]
) -> tuple[PairRow, ...]:
    """Return the pairs from the top of the board down, each with the better model first."""
    table = found.table
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    upside = place[table.first] < place[table.second]
    best = np.minimum(place[table.first], place[table.second])
    worst = np.maximum(place[table.first], place[table.second])
    listed = np.lexsort((worst, best))
    if listed.size > MOST_PAIRS:
        listed = listed[((best == 0) | (worst - best == 1) | (worst < MOST_READ))[listed]]
    return tuple(_pair_row(found, i, bool(upside[i]), bool(told[i])) for i in listed)


def _pair_row(found: Findings, i: int, upside: bool, told: bool) -> PairRow:
    names, table = found.names, found.table
    sign = 1.0 if upside else -1.0
    a, b = (table.first[i], table.second[i]) if upside else (table.second[i], table.first[i])
    # "Only a" counts items on which a is better: for signs and a lower score, the smaller ones.
    only = [_count(side[i]) for side in (table.first_only, table.second_only)]
    if upside != (found.question.sign > 0 or not table.unsettled):
        only.reverse()
    difference = sign * float(table.difference[i])
    hidden = Unknown(table.unsettled or "some disagreements have no true label")
    own: Interval | Unknown = hidden if table.unsettled else turned(table.intervals[i], sign)
    joint: Interval | Unknown = hidden if table.unsettled else turned(table.simultaneous[i], sign)
    return PairRow(
        a=names[a],
        b=names[b],
        difference=hidden if np.isnan(difference) else difference,
        interval=own,
        simultaneous=joint,
        a_only=only[0],
        b_only=only[1],
        p_value=float(table.p_value[i]),
        adjusted_p=float(table.adjusted_p[i]),
        verdict=f"{names[a]} is better" if told else NOT_TOLD,
        holds_below=None if table.holds_below is None else float(table.holds_below[i]),
        ratio=None if table.ratio is None else float(table.ratio[i] ** sign),
        ratio_interval=inverted(table.ratio_intervals[i], upside)
        if table.ratio_intervals is not None
        else None,
    )


def turned(interval: Interval, sign: float) -> Interval:
    """Return the interval of a difference, or of its negative."""
    return interval if sign > 0 else -interval


def inverted(ratio: Interval, upside: bool) -> Interval:
    """Return the interval of a ratio, or of one over it."""
    if upside:
        return ratio
    low = 0.0 if np.isinf(ratio.high) else 1 / ratio.high
    return replace(ratio, low=low, high=np.inf if ratio.low == 0 else 1 / ratio.low)


def _count(value: float) -> int | Unknown:
    why = "scores are not 0 or 1, or are counted by cluster"
    return Unknown(why) if np.isnan(value) else int(value)


def finish(result: CompareResult, board: Board) -> CompareResult:
    """Add what was said while reading, and what was learnt of each item."""
    if board.left_out:
        whatever = whatever_is_missing(result, board)
        result = spoken(replace(result, left_out=board.left_out, whatever=whatever))
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


# The sentences.


def spoken(result: CompareResult) -> CompareResult:
    """Return a result whose other fields are all there with its sentences."""
    said = sentences_of(result)
    return replace(result, verdict=said.verdict, sentences=said, basis=basis_of(result))


def sentences_of(result: CompareResult) -> Sentences:
    """Return the verdict line by line: who is best, the difference, what is open and what settles
    it.
    """
    claims = result.claims
    scores = {row.name: _scored(row, result) for row in result.models}
    # Labels only where the two differ say nothing of either score, and all of the difference.
    unknown = any(isinstance(row.score, Unknown) for row in result.models[:2])
    answer = claims.answer(None if unknown else scores.__getitem__)
    two = len(result.models) == 2
    parts = [
        _of_two(result) if two else _of_several(result, claims),
        _strength(result),
        _not_the_mean(result),
        _worst_case(result),
    ]
    return Sentences(
        answer=answer,
        contrast=" ".join(part for part in parts if part),
        open="" if two else claims.left(),
        next="" if result.needed is None else f"Next: get {result.needed}.",
    )


def _not_the_mean(result: CompareResult) -> str:
    """Say what is compared where it is not the mean."""
    if result.estimand not in ("ratio", "signs"):
        return ""
    what = "typical ratio" if result.estimand == "ratio" else "count of items"
    return f"This is the {what}: the mean difference is not settled by so few items."


def whatever_is_missing(result: CompareResult, board: Board) -> tuple[float, float] | None:
    """Return between what the difference of the two best lies on all items, missing answers at
    either end of the range; None where nothing says what they are worth.
    """
    if board.whole is None or not result.pairs or result.unit != "share":
        return None
    top = result.pairs[0]
    first, second = (board.whole.scores[:, board.place(name)] for name in (top.a, top.b))
    found = []
    for mine, theirs in ((0.0, 1.0), (1.0, 0.0)):
        gap = np.where(np.isnan(first), mine, first) - np.where(np.isnan(second), theirs, second)
        found.append(float(np.average(gap, weights=board.whole.weights)))
    return found[0], found[1]


def basis_of(result: CompareResult) -> str:
    """Say in one line what the intervals are about, and what they are adjusted for."""
    level = f"{100 * (1 - result.alpha):g}%"
    labels = "" if result.n_labels is None else f" from {count(result.n_labels)} labels"
    pairs = "" if result.pairs_total < 2 else f" Pairs are adjusted for all {result.pairs_total:,}."
    if result.population == "these" and result.n_labels is None:
        return (
            f"On these {count(result.n_items)} items every score is known; for new items leave out"
            f" --population these; {_direction(result)}."
        )
    new = " For new items like them: --population new." if result.population == "these" else ""
    return f"{level} intervals {_on(result)}{labels}; {_direction(result)}.{pairs}{new}"


# -- what is said of two models, and of several


def _of_two(result: CompareResult) -> str:
    """Return the difference of two models with its doubt."""
    pair, where = result.pairs[0], _on(result)
    tail = f"{_p(pair, result)}; {_direction(result)}"
    if result.estimand == "signs":
        return (
            f"{pair.a} is better on {pair.a_only} items and {pair.b} on {pair.b_only} ({where};"
            f" exact sign test, {tail})."
        )
    if pair.ratio is not None and pair.ratio_interval is not None:
        of, shown = result.metric or "score", number_interval(pair.ratio, pair.ratio_interval)
        return f"The {of} of {pair.a} is typically {shown} times that of {pair.b} {where} ({tail})."
    if isinstance(pair.difference, Unknown) or isinstance(pair.simultaneous, Unknown):
        gap = f"in {_bare(pair.simultaneous, result)}"
    else:
        gap = _difference(pair.difference, pair.simultaneous, result, sign=pair.verdict == NOT_TOLD)
    return f"The difference is {gap} {where} ({tail})."


def _of_several(result: CompareResult, claims: Claims) -> str:
    """Say by how much the best leads, and how many pairs are settled."""
    told, pairs = count(result.pairs_told), count(result.pairs_total)
    where = f" {_on(result)}" if claims.best is None or result.left_out else ""
    counted = f"{told} of {pairs} pairs are settled{where} ({_direction(result)})."
    pair = result.pairs[0]
    lead = _lead(pair, result) if claims.best is not None else ""
    return f"It beats {pair.b} by {lead}. {counted}" if lead else counted


def _lead(pair: PairRow, result: CompareResult) -> str:
    """Return how far the best of several is ahead of the next; empty where that is not known."""
    if pair.ratio is not None and pair.ratio_interval is not None:
        return f"a typical ratio of {number_interval(pair.ratio, pair.ratio_interval)}"
    if isinstance(pair.difference, Unknown) or isinstance(pair.simultaneous, Unknown):
        return ""
    gap, ends = pair.difference, pair.simultaneous
    if result.better == "lower":
        gap, ends = -gap, -ends
    return _difference(gap, ends, result, sign=False)


def _strength(result: CompareResult) -> str:
    """Say how strong an adverse cluster would have to be to undo the verdict on the leader."""
    pair = result.pairs[0]
    if len(result.contenders) > 1 or not pair.holds_below:
        return ""
    size = sized(pair.holds_below, result.unit)
    return f"It holds unless one more cluster favours {pair.b} by {size} or more."


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
    if isinstance(pair.interval, Interval) and pair.interval.method == "logic":
        return "certain" if pair.verdict != NOT_TOLD else "blank labels could turn it"
    found = p_value(pair.p_value, alpha=result.alpha)
    if pair.signs is None:
        return found
    ahead, behind, sign_p = pair.signs
    return (
        f"{found}; {pair.a} ahead in {count(ahead)} rows and behind in {count(behind)}, exact sign"
        f" test {p_value(sign_p, alpha=result.alpha)}"
    )


def _on(result: CompareResult) -> str:
    these = "these " if result.population == "these" else ""
    items = f"{these}{count(result.n_items)} items"
    if result.left_out:
        items = on_answered(result.n_items, len(result.models)).removeprefix("on ")
    if not result.clusters:
        return f"on {items}"
    weight = ", every cluster counting once" if result.estimand == "cluster mean" else ""
    return f"on {count(result.clusters)} clusters ({items}){weight}"


def on_answered(items: int, models: int) -> str:
    """Name the items that every model answered."""
    return f"on {count(items)} items that {'both' if models == 2 else 'all'} answered"


def _score(model: ModelRow, result: CompareResult) -> str:
    if isinstance(model.score, Unknown):
        return "unknown"
    return percent(model.score) if result.unit == "share" else number(model.score)


def _scored(model: ModelRow, result: CompareResult) -> str:
    """Return a score with its interval, or alone where it is known for certain."""
    ends = model.interval
    if isinstance(model.score, Unknown) or isinstance(ends, Unknown) or ends.low == ends.high:
        return _score(model, result)
    written = percent_interval if result.unit == "share" else number_interval
    return written(model.score, ends)


def _difference(difference: float, interval: Interval, result: CompareResult, *, sign: bool) -> str:
    if result.unit == "share":
        return points_interval(difference, interval, sign=sign or difference < 0)
    return number_interval(difference, interval, sign=sign or difference < 0)


def _bare(interval: Interval | Unknown, result: CompareResult) -> str:
    assert isinstance(interval, Interval)  # what has none is a ratio or a sign test
    if result.unit == "share":
        low, high = (f"{100 * end:+.1f}".replace("-", MINUS) for end in interval)
        return f"[{low}, {high}] points"
    return f"[{number(interval.low)}, {number(interval.high)}]"


# -- what a verdict rests on, warnings, what to buy next


def cluster_assumptions(clusters: int, *, bounded: bool) -> list[str]:
    """Return what a comparison on new clusters rests on."""
    found = [INDEPENDENT.format("clusters"), EACH_ONCE.format("clusters")]
    if bounded:
        found.append(
            "differences are about symmetric over clusters, and no model collapses on clusters"
            f" rarer than 1 in {max(2, clusters // 3)}"
        )
    return found


def few_and_skewed(n: int, needed: float, unit: str) -> list[str]:
    """Warn where few rows are so skewed that their mean may rest on one of them."""
    if n >= FEWEST or needed <= FEWEST:
        return []
    return [
        f"the scores are skewed, and one of {n} {unit} can move their mean: hold the t test against"
        " the sign test beside it"
    ]


def unlisted_pairs(listed: int, pairs: int) -> list[str]:
    """Say which pairs of a very large board are listed."""
    if listed == pairs:
        return []
    return [
        f"{listed:,} of {pairs:,} pairs are listed: those of the leader, of neighbours and among"
        f" the first {MOST_READ}; all count in the verdict, the ranks and the tiers"
    ]


def flat_models(names: tuple[str, ...], flat: np.ndarray) -> list[str]:
    """Name models whose score never varies."""
    found = [name for name, one in zip(names, flat, strict=True) if one]
    if not found:
        return []
    shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return [f"{shown}: the same score on every item"]
