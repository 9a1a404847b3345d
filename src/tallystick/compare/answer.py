"""From data and a question to an answer about models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.compare.battle_table import is_battle_table, is_battles
from tallystick.compare.battles import answer_battles
from tallystick.compare.board import Board
from tallystick.compare.cases import cases_of
from tallystick.compare.demo import demo
from tallystick.compare.in_common import refuse_files_apart
from tallystick.compare.labelling import labelling
from tallystick.compare.margins import gate_estimate
from tallystick.compare.patterns import counted_moments, rank_counted
from tallystick.compare.question import CompareQuestion
from tallystick.compare.ranking import rank
from tallystick.compare.reading import read_board
from tallystick.compare.result import CompareResult
from tallystick.compare.settings import Settings
from tallystick.compare.stopping import stop_when_clear
from tallystick.compare.summed import rank_summed
from tallystick.compare.wrong_table import (
    refuse_marks_as_answers,
    refuse_results_table,
    refuse_two_scales,
)
from tallystick.data import Capability, Data, Door, Roles, answered, read
from tallystick.data.direction import are_places, lower_word, names_place, shared_lower_word
from tallystick.errors import InputError
from tallystick.io import Table
from tallystick.results import Gate, GateEstimate, GateOutcome, Result, check_gates, parse_gate

__all__ = ["CAPABILITY", "answer", "evaluate"]


def evaluate(source: Any, **options: Any) -> CompareResult:
    """Say which model is better and how surely, from scores, or from answers and a truth.

    Parameters
    ----------
    source
        A `Board`, or whatever `tallystick.data.read` takes.
    **options
        Roles (*models*, *truth*, *item*, *cluster*, *replicate*, *weight*, *by*), the fields of
        `CompareQuestion`, and the options of reading (*missing*, *coerce*, …). A mapping of names
        to files or frames is one run per name.

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
    # A session for two models draws uniformly among their disagreements; any other session leaves
    # blanks of which nothing is assumed.
    two = len(data.roles.models) == 2
    if data.session is not None and data.session.head.question == "compare" and two:
        question = replace(question, blanks="random")
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
            refuse_two_scales(board)
    if question.save is not None:
        board.save(question.save)

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
    if names_place(word) and isinstance(data.held, Table):
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
    more = question.add or question.save or question.gates or question.stop_early
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
    beside = {"cluster": roles.cluster, "weight": roles.weight}
    if len(roles.models) > 1:
        return {"models": roles.models, **beside}
    answers = (*roles.judges, *roles.prediction)
    if roles.truth is None or len(answers) < 2:
        return None
    # The same labels are taken as a random draw by judge, so both answers rest on one assumption.
    return {"models": answers, "truth": roles.truth, "blanks": "random", **beside}


CAPABILITY: Capability[Any] = Capability(
    verb="compare",
    summary="Which model is better, how sure is that, and what would settle the rest?",
    question=CompareQuestion,
    answer=answer,
    reads=("models", "truth", "item", "cluster", "replicate", "weight", "by"),
    door=Door(want="models", repeats=True, runs=True, as_it_is=is_battle_table),
    applies=applies,
    demo=demo,
    labelling=labelling,
    cases=cases_of,
)
