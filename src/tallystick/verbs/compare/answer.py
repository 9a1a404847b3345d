"""From data and a question to an answer about models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng
from tallystick.errors import InputError
from tallystick.results import (
    Gate,
    GateEstimate,
    GateOutcome,
    PatternTable,
    Result,
    Unknown,
    check_gates,
    parse_gate,
)
from tallystick.table import (
    Capability,
    Cases,
    Data,
    Door,
    Found,
    Label,
    Moments,
    Roles,
    Table,
    Tally,
    answered,
    as_pass_fail,
    gather,
    identifier,
    read,
)
from tallystick.table.capability import MOST_ROWS
from tallystick.table.formats import Loss
from tallystick.table.frames import first_repeat_in, lazily, rows_fit
from tallystick.table.reading_facts import are_places
from tallystick.table.reading_names import lower_word, shared_lower_word
from tallystick.table.weights import refuse_weight
from tallystick.verbs.compare.battles import (
    answer_battles,
    battle_columns,
    is_battle_table,
    is_battles,
)
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.in_common import no_shared_label, refuse_files_apart, who_costs_items
from tallystick.verbs.compare.question import CompareQuestion, Settings, demo, labelling
from tallystick.verbs.compare.ranking import gate_estimate, leaderboard, rank
from tallystick.verbs.compare.reading import (
    read_board,
    refuse_marks_as_answers,
    refuse_odd_scores,
    refuse_results_table,
    refuse_two_scales,
)
from tallystick.verbs.compare.result import CompareResult
from tallystick.verbs.compare.sequential import stop_when_clear
from tallystick.verbs.compare.verdict import left_out_warning, with_left_out

# The items on which the two best models differ.


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items that exactly one of the two best models gets right.

    None where single items say nothing: scores instead of answers, a saved tally, or a source in
    which the models are not columns.
    """
    if not isinstance(result, CompareResult) or not result.pairs or isinstance(data.held, Tally):
        return None
    top, truth = result.pairs[0], data.roles.truth
    columns = data.roles.models
    if truth is None or not {top.a, top.b} <= set(columns) or data.n_rows > MOST_ROWS:
        return None

    labels = data.label_lists(*columns, truth)
    found = []
    for row, true in enumerate(labels[truth]):
        right = {name: labels[name][row] == true for name in (top.a, top.b)}
        if true is None or right[top.a] == right[top.b]:
            continue
        winner = top.a if right[top.a] else top.b
        others = sum(labels[name][row] == true for name in columns)
        found.append(
            Found(
                row=row,
                kind=f"only {winner} right",
                summary=f"true {true} · {others} of {len(columns)} models right",
                votes=(
                    ("true", str(true)),
                    *((name, str(labels[name][row])) for name in columns),
                ),
            )
        )
    # What the verdict counts is what is listed; another reading of the table is not shown.
    counted = (top.a_only, top.b_only)
    ours = tuple(sum(one.kind == f"only {name} right" for one in found) for name in (top.a, top.b))
    if any(isinstance(n, Unknown) for n in counted) or counted != ours:
        return None
    order = {f"only {top.a} right": 0}
    found.sort(key=lambda one: order.get(one.kind, 1))
    line = (
        f"{top.a} and {top.b} differ on {len(found):,} items: {ours[0]:,} only {top.a} gets right,"
        f" {ours[1]:,} only {top.b}."
    )
    return gather(data, found, title="Items", line=line, texts=texts)


def evaluate(source: Any, **options: Any) -> CompareResult:
    """Say which model is better and how surely, from scores, or from answers and a truth.

    Parameters
    ----------
    source
        A `Board`, or whatever `tallystick.table.door` takes.
    **options
        Roles (*models*, *truth*, *item*, *cluster*, *replicate*, *count*, *weight*, *by*), the
        fields of `CompareQuestion`, and the options of reading (*missing*, *coerce*, …). A mapping
        of names to files or frames is one run per name.

    Examples
    --------
    >>> scores = {"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50}
    >>> result = evaluate(scores)
    >>> result.contenders, round(result.pairs[0].difference, 3)
    (('new',), 0.5)
    >>> result.pairs[0].a_only, result.pairs[0].b_only
    (100, 0)
    """
    if isinstance(source, Board):
        settings = options.pop("settings", None)
        seed = options.pop("rng", options.pop("seed", 0))
        question = CompareQuestion(seed=seed, **options) if options or not settings else None
        return rank(source, settings=settings or question.settings, rng=seed)  # type: ignore[union-attr]
    if "settings" in options:
        options = {**_as_options(options.pop("settings")), **options}
    result: CompareResult = answered(
        CAPABILITY, source, options
    )  # the kind that its answers mostly have
    return result


def _as_options(settings: Settings) -> dict[str, Any]:
    """Return settings as the fields of a question."""
    held = dict(settings.__dict__)
    better, metric, passes = held.pop("better"), held.pop("metric"), held.pop("passes")
    if passes is not None:
        metric = f"{passes}:{metric}" if metric else str(passes)
    return {**held, "metric": metric, "lower_is_better": better == "lower"}


def answer(data: Data, question: CompareQuestion) -> Result:
    """Answer from data that was read."""
    if question.add and data.roles.by is not None:
        raise InputError(
            f"by {data.roles.by!r} cuts the rows of one table and add brings models from another:"
            " put all models into one table, or leave out one of the two"
        )
    refuse_files_apart(data)
    refuse_marks_as_answers(data)
    refuse_results_table(data)
    metric = _measure(data)
    _, guessed = question.better(metric)
    question = replace(question, scored_as=metric)
    if is_battles(data):
        refuse_weight(data.roles, "a table of battles")
        return replace(answer_battles(data, question), notes=_said(guessed))
    by_rows = _needs_rows(data, question)
    counted = None if by_rows else counted_moments(data, bounds=question.bounds)
    if counted is not None:
        result: Result = rank_counted(counted, settings=question.settings, rng=question.seed)
        return replace(result, notes=_said(guessed))
    if data.in_engine and not by_rows:
        summed = rank_summed(data, settings=question.settings, rng=question.seed)
        if summed is not None:
            return replace(summed, notes=_said(guessed))

    board = _with_more(read_board(data, settings=question.settings), data, question)
    board = replace(board, prices=question.prices)
    if data.roles.truth is None:
        _refuse_unnamed_places(board, question)
        if question.bounds is None and question.settings.better == "higher":
            refuse_odd_scores(board)
            refuse_two_scales(board)

    # Gates are parsed before the work, so that a misspelt one costs nothing.
    for text in question.gates:
        parse_gate(text, known=board.names)
    if question.stop_early:
        result = stop_when_clear(board, settings=question.settings, rng=question.seed)
    else:
        result = rank(board, settings=question.settings, rng=question.seed)
    gates = _gates(question.gates, board, question)
    return replace(result, gates=gates, notes=_said(guessed))


def _measure(data: Data) -> str | None:
    """Return what the scores are called, as far as that may say which way is better."""
    # Columns of one table may all be named after the measure: "old latency", "new latency".
    metric = data.metric or shared_lower_word(data.roles.models)
    word = lower_word(metric)
    if word is None:
        return metric
    # Answers that are held against a truth are right or wrong, whatever their columns are called.
    if data.roles.truth is not None:
        return None
    if word == "rank" and isinstance(data.held, Table):
        # A place is 1 at best. Scores from 0 to 1 in `rank_zephyr` belong to a model of that name.
        scores = data.numbers(*data.roles.models)
        if np.nanmin(scores) < 1 and not are_places(scores, first=0):
            return None
    return metric


def _refuse_unnamed_places(board: Board, question: CompareQuestion) -> None:
    """Ask which way is better where every item ranks the models and no name says so."""
    said = (
        question.lower_is_better or question.higher_is_better or question.settings.better == "lower"
    )
    if said or not are_places(board.scores):
        return
    raise InputError(
        f"every item gives {', '.join(board.names[:5])} the places 1 to {len(board.names)}: they"
        " are ranked. If 1 is the best place, add --lower-is-better; if 1 is the worst, add"
        " --higher-is-better"
    )


def _said(note: str) -> tuple[str, ...]:
    return (note,) if note else ()


def _needs_rows(data: Data, question: CompareQuestion) -> bool:
    """Say whether the question needs items one by one, and not only counts of patterns."""
    more = question.add or question.gates or question.stop_early
    return bool(more or data.rules.never_true) or question.settings.passes is not None


def _with_more(board: Board, data: Data, question: CompareQuestion) -> Board:
    """Put the models of further files beside those of the first, item by item."""
    roles = replace(data.roles, models=(), by=None, cluster=None, weight=None)
    named = {role: column for role, column in roles.__dict__.items() if column}
    for path in question.add:
        rules = {name: getattr(data.rules, name) for name in ("missing", "coerce", "never_true")}
        options = {**named, **rules}
        with read(path, CAPABILITY.door, **options) as more:
            board = board.beside(read_board(more, settings=question.settings))
    return board


def _gates(
    texts: Sequence[str], board: Board, question: CompareQuestion
) -> tuple[GateOutcome, ...]:
    def measured(gate: Gate) -> GateEstimate:
        return gate_estimate(
            board,
            gate.left,
            gate.right,
            offset=gate.offset,
            settings=question.settings,
            rng=question.seed,
        )

    return check_gates(texts, known=board.names, margin=measured) if texts else ()


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which compare answers a table with these roles, None if it cannot."""
    beside = {"cluster": roles.cluster, "count": roles.count, "weight": roles.weight}
    if len(roles.models) > 1:
        return {"models": roles.models, **beside}
    answers = (*roles.judges, *roles.prediction)
    if roles.truth is None or len(answers) < 2:
        return None
    return {"models": answers, "truth": roles.truth, **beside}


CAPABILITY: Capability[Any] = Capability(
    verb="compare",
    summary="Which model is better, how sure is that, and what would settle the rest?",
    question=CompareQuestion,
    answer=answer,
    reads=("models", "truth", "item", "cluster", "replicate", "count", "weight", "by"),
    door=Door(verb="compare", want="models", repeats=True, runs=True, as_it_is=is_battle_table),
    columns=battle_columns,
    applies=applies,
    demo=demo,
    labelling=labelling,
    cases=cases_of,
)

# Right/wrong scores counted as patterns in the engine: memory does not grow with rows.
#
# Up to 20 models of 0/1 scores have at most as many patterns as matter, and all that a comparison
# of independent items reads are sums and products of scores. Both follow from the counts of
# patterns, exactly, so the answer is the one that the rows would give.


MOST_MODELS = 20
"""Models up to which patterns of 0/1 scores are counted."""
_GLANCE, _MOST_VALUES = 10_000, 6
"""Rows that are looked at, and different values there: 0 and 1 as numbers, booleans and words."""
FROM_ROWS = 200_000
"""Rows from which counting in the engine is worth it."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedScores:
    """Scores as counts of patterns.

    Parameters
    ----------
    moments
        Sums and products, as the rows would give them.
    tally
        The patterns, by which items find their mean score.
    mean_score
        Mean score over the models, by pattern; NaN where a model has none.
    notes
        What was left out.
    lost
        Items that are left out because a model gave no answer there.
    """

    moments: Moments
    tally: Tally
    mean_score: Floats
    notes: tuple[str, ...] = ()
    lost: int = 0


def counted_moments(
    data: Data,
    *,
    bounds: tuple[float, float] | None = None,
    from_rows: int = FROM_ROWS,
) -> CountedScores | None:
    """Count *data* in its engine; None where rows are needed.

    Rows are needed for clusters, weights, replicates, blank truths, more than 20 models and scores
    other than 0 and 1. Small tables are read row by row too.

    Parameters
    ----------
    data
        What was read.
    bounds
        Bounds that the caller declared: only (0, 1) fits right/wrong scores.
    from_rows
        The rows from which patterns are counted.
    """
    roles = data.roles
    apart = roles.cluster or roles.weight or roles.replicate
    if apart or len(roles.models) > MOST_MODELS or bounds not in (None, (0.0, 1.0)):
        return None
    # Rows of another engine stay there; rows at hand are counted where that is faster.
    if isinstance(data.held, Table) and data.n_rows < from_rows:
        return None
    if roles.item is not None and not isinstance(data.held, Tally) and _items_repeat(data):
        return None
    if roles.truth is None and not isinstance(data.held, Tally) and not _few_values(data):
        return None
    tally = data.tally("models", *(("truth",) if roles.truth else ()))
    scores = _scores(tally, roles.models, roles.truth)
    return None if scores is None else _counted(tally, scores, roles.models, data)


def rank_counted(
    counted: CountedScores, *, settings: Settings | None = None, rng: Rng = 0
) -> CompareResult:
    """Rank models from counts of patterns: the same answer as from the rows."""
    chosen = settings or Settings()
    result = leaderboard(counted.moments, settings=replace(chosen, bounds=(0.0, 1.0)), rng=rng)
    result = with_left_out(result, counted.lost)
    mean = [None if np.isnan(one) else float(one) for one in counted.mean_score]
    learnt = PatternTable(counted.tally, {"mean_score": mean})
    return replace(result, warnings=(*counted.notes, *result.warnings), learnt=learnt)


def _few_values(data: Data) -> bool:
    """Say whether every column of scores starts with few values, so that patterns are few."""
    if data.in_engine:
        head = lazily(data.held).select(*data.roles.models).head(_GLANCE).collect()
        return max(int(head[name].n_unique()) for name in data.roles.models) <= _MOST_VALUES
    counts = ", ".join(f"count(distinct {identifier(name)})" for name in data.roles.models)
    [row] = data.table.query(f"select {counts} from (select * from rows limit {_GLANCE})")
    return bool(max(row) <= _MOST_VALUES)


def _items_repeat(data: Data) -> bool:
    item = str(data.roles.item)
    if data.in_engine:
        return first_repeat_in(data.held, item) is not None
    return data.table.repeats(item)


def _scores(tally: Tally, models: tuple[str, ...], truth: str | None) -> Floats | None:
    """Return the score of each pattern and model, NaN for none; None where they are not 0/1."""
    if truth is not None:
        true = tally.column(truth)
        if any(label is None for label in true):
            return None
        columns = [
            [
                np.nan if said is None else float(said == right)
                for said, right in zip(tally.column(name), true, strict=True)
            ]
            for name in models
        ]
        return np.array(columns).T
    found = []
    for name in models:
        values = _as_numbers(tally.column(name))
        if values is None:
            return None
        found.append(values)
    return np.stack(found, axis=1)


def _as_numbers(labels: list[Label]) -> Floats | None:
    """Return labels as 0 and 1, NaN for none; None if they are anything else."""
    words = {label for label in labels if isinstance(label, str)}
    marks = as_pass_fail([label for label in labels if label is not None])
    values = np.full(len(labels), np.nan)
    for place, label in enumerate(labels):
        if label is None:
            continue
        if marks is not None:
            values[place] = marks[label]
        elif words:
            try:
                values[place] = float(str(label))
            except ValueError:
                return None
        else:
            values[place] = float(label)
    known = values[~np.isnan(values)]
    return values if np.isin(known, (0.0, 1.0)).all() else None


def _counted(
    tally: Tally, scores: Floats, models: tuple[str, ...], data: Data
) -> CountedScores | None:
    """Sum the patterns in which every model has a score, and say how many items are left out."""
    counts = np.asarray(tally.counts, dtype=float)
    whole = ~np.isnan(scores).any(axis=1)
    if not whole.any():
        return None  # the rows say why
    moments = Moments.of_patterns(scores[whole], counts[whole], models)
    notes = [str(note) for note in data.notes if isinstance(note, Loss)]
    if data.roles.truth is not None:
        given = {name: tally.labels[name] for name in models}
        notes += no_shared_label(data.roles.truth, tally.labels[data.roles.truth], given)
    lost = int(counts[~whole].sum())
    if lost:
        lacking = (np.isnan(scores) * counts[:, None]).sum(axis=0)
        worst = int(np.argmax(lacking))
        notes.append(
            left_out_warning(
                lost,
                int(counts.sum()),
                most=models[worst],
                lacks=int(lacking[worst]),
                instead=who_costs_items(models, ~np.isnan(scores), counts),
            )
        )
    with np.errstate(invalid="ignore"):
        mean = np.where(whole, scores.mean(axis=1), np.nan)
    return CountedScores(
        moments=moments, tally=tally, mean_score=mean, notes=tuple(notes), lost=lost
    )


# Numeric scores added up in the engine that holds them, where the rows do not fit into memory.
#
# Right/wrong scores are counted as patterns (`tallystick.verbs.compare.answer`). Other scores have
# too many patterns, but a comparison of independent items, or of clusters, needs only their sums
# and products. What sums cannot tell is how skewed the scores are, so rows are preferred where they
# fit.


SUMS_ONLY = (
    "the scores were added up where they are stored: intervals rest on their sums and products, not"
    " on their skewness"
)


def rank_summed(data: Data, *, settings: Settings, rng: Rng = 0) -> CompareResult | None:
    """Rank models from sums that the engine returns; None where rows are used.

    Rows are used where they fit into memory, and needed for a truth, weights, replicates and
    repeated items.

    Parameters
    ----------
    data
        What was read.
    settings, rng
        As in `tallystick.verbs.compare.ranking.rank`.
    """
    roles = data.roles
    if not data.in_engine or roles.truth or roles.count or roles.weight or roles.replicate:
        return None
    if rows_fit(data.held, roles.columns()):
        return None
    if roles.item is not None and first_repeat_in(data.held, roles.item) is not None:
        return None

    if settings.bounds is not None:
        _check_bounds(data, settings.bounds)
    moments = Moments.of(
        data.held, columns=roles.models, by=roles.cluster, missing=data.rules.missing
    )
    result = leaderboard(moments, settings=settings, rng=rng)
    lost = moments.dropped
    warnings = result.warnings
    if lost:
        warnings = (
            left_out_warning(lost, lost + int(moments.n)),
            *warnings,
        )
        result = with_left_out(result, lost)
    return replace(result, assumptions=(*result.assumptions, SUMS_ONLY), warnings=warnings)


def _check_bounds(data: Data, bounds: tuple[float, float]) -> None:
    """Refuse scores outside the bounds that the caller declared."""
    import narwhals as nw

    frame = lazily(data.held)
    for name in data.roles.models:
        cell = nw.col(name)
        [low], [high] = (
            frame.select(end.alias("end")).collect()["end"].to_list()
            for end in (cell.min(), cell.max())
        )
        for found in (low, high):
            if found is not None and not bounds[0] <= found <= bounds[1]:
                raise InputError(
                    f"{data.source}: column {name!r} holds {found!r}, outside {bounds[0]:g} to"
                    f" {bounds[1]:g}: correct the cell, or declare other bounds (--bounds)"
                )
