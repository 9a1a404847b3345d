"""From data and a question to an answer about models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

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
from tallystick.results.numbers import count
from tallystick.table import (
    Capability,
    Data,
    Door,
    Label,
    Moments,
    Roles,
    Tally,
    answered,
    as_pass_fail,
    identifier,
)
from tallystick.table.logs import Loss
from tallystick.table.weights import refuse_weight
from tallystick.verbs.compare.asks import (
    left_out_warning,
    measured_as,
    no_shared_label,
    refuse_marks_as_answers,
    refuse_odd_scores,
    refuse_results_table,
    refuse_two_scales,
    refuse_unnamed_places,
)
from tallystick.verbs.compare.battles import (
    answer_battles,
    battle_columns,
    is_battle_table,
)
from tallystick.verbs.compare.board import Board, read_board
from tallystick.verbs.compare.question import CompareQuestion, demo, score_range, unit_of
from tallystick.verbs.compare.ranking import leaderboard, rank
from tallystick.verbs.compare.result import CompareResult
from tallystick.verbs.compare.sequential import stop_when_clear
from tallystick.verbs.compare.verdict import inverted, on_answered, spoken, turned


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
        if "rng" in options:
            options["seed"] = options.pop("rng")
        asked = options.pop("question", None) or CompareQuestion()
        return rank(source, replace(asked, **options))
    result: CompareResult = answered(
        CAPABILITY, source, options
    )  # the kind that its answers mostly have
    return result


def answer(data: Data, question: CompareQuestion) -> Result:
    """Answer from data that was read."""
    refuse_marks_as_answers(data)
    refuse_results_table(data)
    metric = measured_as(data)
    _, guessed = question.direction(metric)
    notes = (guessed,) if guessed else ()
    question = replace(question, scored_as=metric)
    if battle_columns(data) is not None:
        refuse_weight(data.roles, "a table of battles")
        return replace(answer_battles(data, question), notes=notes)
    # Items are needed one by one for gates, stopping, pass@k and cells that are never true.
    by_rows = question.gates or question.stop_early or data.rules.never_true or question.passes
    counted = None if by_rows else rank_counted(data, question)
    if counted is not None:
        return replace(counted, notes=notes)

    board = read_board(data, question)
    if data.roles.truth is None:
        refuse_unnamed_places(board, question)
        if question.bounds is None and question.better == "higher":
            refuse_odd_scores(board)
            refuse_two_scales(board)
    # Gates are parsed before the work, so that a misspelt one costs nothing.
    for text in question.gates:
        parse_gate(text, known=board.names)
    stopped = question.stop_early
    result: Result = stop_when_clear(board, question) if stopped else rank(board, question)
    return replace(result, gates=checked_gates(board, question), notes=notes)


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which compare answers a table with these roles, None if it cannot."""
    beside = {"cluster": roles.cluster, "count": roles.count, "weight": roles.weight}
    if len(roles.models) > 1:
        return {"models": roles.models, **beside}
    answers = (*roles.judges, *roles.prediction)
    if roles.truth is None or len(answers) < 2:
        return None
    return {"models": answers, "truth": roles.truth, **beside}


def labelling(data: Data, question: CompareQuestion, *strata: Any) -> Any:
    """Return what a person should label; what draws items loads only then."""
    from tallystick.verbs.compare.labels import labelling as task_of

    return task_of(data, question, *strata)


CAPABILITY: Capability[Any] = Capability(
    verb="compare",
    question=CompareQuestion,
    answer=answer,
    reads=("models", "truth", "item", "cluster", "replicate", "count", "weight", "by"),
    door=Door(verb="compare", want="models", repeats=True, runs=True, as_it_is=is_battle_table),
    columns=battle_columns,
    applies=applies,
    demo=demo,
    labelling=labelling,
)


# Models compared from counts of patterns, in the engine that holds the rows, without fetching them:
# up to 20 models of 0/1 scores have few patterns, and all that a comparison of independent items
# reads are sums and products, so the answer is that of the rows.


Floats = npt.NDArray[np.float64]

MOST_MODELS = 20
"""Models up to which patterns of 0/1 scores are counted."""
FROM_ROWS = 200_000
"""Rows from which counting in the engine is worth it."""
_GLANCE, _MOST_VALUES = 10_000, 6
"""Rows that are looked at, and different values there: 0 and 1 as numbers, booleans and words."""


def rank_counted(
    data: Data, question: CompareQuestion, *, from_rows: int = FROM_ROWS
) -> CompareResult | None:
    """Rank models from counts of patterns; None where rows are needed.

    Rows are needed for weights, replicates and blank truths, and small tables are read row by row
    too. *from_rows* are the rows from which patterns are counted.
    """
    roles = data.roles
    if roles.weight or roles.replicate:
        return None
    counts = isinstance(data.held, Tally)
    if not counts and data.n_rows < from_rows:
        return None
    if roles.item is not None and not counts and data.table.repeats(roles.item):
        return None
    if roles.cluster or len(roles.models) > MOST_MODELS or question.bounds not in (None, (0, 1)):
        return None
    return _by_patterns(data, question) if counts or roles.truth or _few_values(data) else None


def _few_values(data: Data) -> bool:
    """Say whether every column of scores starts with few values, so that patterns are few."""
    counts = ", ".join(f"count(distinct {identifier(name)})" for name in data.roles.models)
    [row] = data.table.query(f"select {counts} from (select * from rows limit {_GLANCE})")
    return bool(max(row) <= _MOST_VALUES)


def _by_patterns(data: Data, question: CompareQuestion) -> CompareResult | None:
    """Rank models from patterns of right and wrong, and say how many items are left out; None where
    scores are not 0/1, or where no item has all of them.
    """
    models, truth = data.roles.models, data.roles.truth
    tally = data.tally("models", *(("truth",) if truth else ()))
    scores = _scores(tally, models, truth)
    if scores is None or np.isnan(scores).any(axis=1).all():
        return None  # the rows say why
    counts = np.asarray(tally.counts, dtype=float)
    answered = ~np.isnan(scores)
    whole = answered.all(axis=1)
    notes = [str(note) for note in data.notes if isinstance(note, Loss)]
    if truth is not None:
        given = {name: tally.labels[name] for name in models}
        notes += no_shared_label(truth, tally.labels[truth], given)
    lost = int(counts[~whole].sum())
    if lost:
        most = models[int(np.argmax(counts @ ~answered))]
        notes.append(left_out_warning(lost, int(counts.sum()), most))
    moments = Moments.of_patterns(scores[whole], counts[whole], models)
    result = leaderboard(moments, replace(question, bounds=(0.0, 1.0)))
    learnt = [float(row.mean()) if not np.isnan(row).any() else None for row in scores]
    result = spoken(replace(result, left_out=lost))
    return replace(
        result,
        warnings=(*notes, *result.warnings),
        learnt=PatternTable(tally, {"mean_score": learnt}),
    )


def _scores(tally: Tally, models: tuple[str, ...], truth: str | None) -> Floats | None:
    """Return the score of each pattern and model, NaN for none; None where they are not 0/1."""
    columns: list[Floats | None] = []
    if truth is None:
        columns = [_as_numbers(tally.column(name)) for name in models]
    else:
        true = tally.column(truth)
        if any(label is None for label in true):
            return None
        for name in models:
            said = zip(tally.column(name), true, strict=True)
            columns.append(np.array([np.nan if a is None else float(a == b) for a, b in said]))
    found = [column for column in columns if column is not None]
    return np.stack(found, axis=1) if len(found) == len(columns) else None


def _as_numbers(labels: list[Label]) -> Floats | None:
    """Return labels as 0 and 1, NaN for none; None if they are anything else."""
    given = [label for label in labels if label is not None]
    marks = as_pass_fail(given)
    try:
        read = {label: float(label if marks is None else marks[label]) for label in given}
    except ValueError:
        return None
    if not set(read.values()) <= {0.0, 1.0}:
        return None
    return np.array([np.nan if label is None else read[label] for label in labels])


# The number that a gate compares with its bar: the one that the verdict prints.


NEVER_TRUE = "if no answer is a wrong answer, add --never-true ''"
"""The way out where missing answers leave something open."""


def checked_gates(board: Board, question: CompareQuestion) -> tuple[GateOutcome, ...]:
    """Return how each gate of the question went."""

    def measured(gate: Gate) -> GateEstimate:
        return gate_estimate(board, gate.left, gate.right, offset=gate.offset, question=question)

    return check_gates(question.gates, known=board.names, margin=measured)


def gate_estimate(
    board: Board,
    left: str,
    right: str | None,
    *,
    offset: float = 0.0,
    question: CompareQuestion | None = None,
) -> GateEstimate:
    """Return ``left - right``, or the score of *left*, with the interval that `rank` gives, so that
    a gate and a verdict never contradict each other.

    Where scores are too skewed for their mean to be settled, ``new <= old`` is checked by what the
    verdict compares: the typical ratio with 1. A gate with an *offset*, or on one score, is about
    means: it stays open.

    Where models gave no answer, the interval is also worked out with every missing score at the end
    of its range that speaks against *left*, and at the other end.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 1] * 50, "new": [1, 1, 0, 1] * 50})
    >>> gate_estimate(board, "new", "old").estimate
    0.25
    """
    asked = question or CompareQuestion()
    found = _estimate(board, left, right, offset, asked)
    if not board.left_out:
        return found
    found = replace(
        found,
        where=on_answered(board.n, len(board.names)),
        way_out=NEVER_TRUE,
        missing=f"{count(board.left_out)} items have no answer of every model",
    )
    ends = score_range(board.scores, asked, binary=board.right is not None)
    if board.whole is None or board.runs is not None or ends is None:
        unknown = Unknown("nothing says what the missing answers are worth")
        return replace(found, extremes=(GateEstimate(unknown, unknown),))
    # The missing scores of *left* at one end and those of the others at the other, and vice versa.
    extremes = tuple(
        _estimate(_filled(board.whole, left, fill), left, right, offset, asked)
        for fill in (ends, ends[::-1])
    )
    return replace(found, extremes=extremes)


def _estimate(
    board: Board, left: str, right: str | None, offset: float, question: CompareQuestion
) -> GateEstimate:
    """Return the same of a board without a missing answer."""
    names = [left] if right is None else [left, right]
    two = board if right is None else board.of_models(names)
    result = rank(two, question)
    if result.estimand in ("ratio", "signs"):
        return _without_mean(two, result, left, right, offset)
    places = [board.place(name) for name in names]
    ends = score_range(board.scores[:, places], question, binary=board.right is not None)
    unit = unit_of(ends)
    if right is None:
        model = next(row for row in result.models if row.name == left)
        return GateEstimate(model.score, model.interval, unit, within=ends)

    pair = result.pairs[0]
    sign = 1.0 if pair.a == left else -1.0
    gap, held = pair.difference, pair.interval
    return GateEstimate(
        gap if isinstance(gap, Unknown) else sign * gap,
        held if isinstance(held, Unknown) else turned(held, sign),
        unit,
        within=None if ends is None else (ends[0] - ends[1], ends[1] - ends[0]),
    )


def _without_mean(
    board: Board, result: CompareResult, left: str, right: str | None, offset: float
) -> GateEstimate:
    """Return what is compared instead of a mean that the sample does not settle."""
    pair = result.pairs[0]
    if right is not None and not offset and pair.ratio and pair.ratio_interval is not None:
        ahead = pair.a == left
        ratio = pair.ratio if ahead else 1 / pair.ratio
        held = inverted(pair.ratio_interval, ahead)
        return GateEstimate(ratio, held, "number", "typical ratio", 1.0)

    return GateEstimate(pair.difference, pair.interval, "number")


def _filled(board: Board, left: str, fill: tuple[float, float]) -> Board:
    """Return the board with the first score of *fill* where *left* has none, and the second where
    another model has none.
    """
    scores = np.where([name == left for name in board.names], *fill)
    return replace(board, scores=np.where(np.isnan(board.scores), scores, board.scores))
