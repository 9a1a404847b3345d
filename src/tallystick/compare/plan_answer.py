"""From a question about sample size, and a pilot if there is one, to a plan."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tallystick.compare.board import Board
from tallystick.compare.judge_planning import plan_judges
from tallystick.compare.planning import pilot_of, plan
from tallystick.compare.reading import read_board
from tallystick.data import Capability, Data, Door, Question, option
from tallystick.errors import InputError
from tallystick.results import Result

__all__ = ["PLAN", "PlanQuestion", "plan_answer"]


@dataclass(frozen=True, kw_only=True)
class PlanQuestion(Question):
    """How many items show a difference, or how many labels grade a judge."""

    difference: float | None = option(None, "The difference that you want to show.")
    disagreement: float | None = option(None, "Share of items on which exactly one model is right.")
    models: int = option(2, "How many models are compared, each with every other.", low=2)
    power: float = option(
        0.8, "Probability of showing the difference if it is real.", within=(0.0, 1.0)
    )
    accuracy: float = option(0.5, "The accuracy that you expect.")
    judges: bool = option(False, "Plan how many labels are needed to grade a judge instead.")
    limit: float | None = option(None, "With --judges: prove that the failure rate is below this.")
    rate: float = option(0.0, "With --judges: the failure rate that you expect.")
    half_width: float | None = option(None, "With --judges: know the accuracy to ± this.")
    population: int | None = option(None, "With --judges: how many items there are in all.")


def plan_answer(data: Data | None, question: PlanQuestion) -> Result:
    """Plan from the numbers given, or from a pilot."""
    if question.judges:
        return _for_judges(data, question)
    difference, disagreement = question.difference, question.disagreement
    source, mean = "", question.accuracy
    notes: tuple[str, ...] = ()
    if data is not None:
        board = read_board(data)
        observed, apart, seen, source = pilot_of(board)
        mean = question.accuracy if seen is None else seen
        disagreement = apart if disagreement is None else disagreement
        notes = _pilot_notes(board, observed, question)
        difference = observed if difference is None else difference
        if difference <= 0:
            raise InputError(
                f"{source} are equal: say which difference is to be shown (--difference)"
            )
    if difference is None:
        raise InputError(
            "nothing to plan for: give --difference, a pilot file, or --judges with --limit"
        )
    result = plan(
        difference,
        disagreement=disagreement,
        models=question.models,
        mean=mean,
        alpha=question.alpha,
        power=question.power,
        source=source,
    )
    return replace(result, warnings=(*notes, *result.warnings))


def _for_judges(data: Data | None, question: PlanQuestion) -> Result:
    if data is not None or question.difference is not None:
        raise InputError(
            "--judges plans from --limit or --half-width: leave out the pilot and --difference"
        )
    return plan_judges(
        limit=question.limit,
        rate=question.rate,
        half_width=question.half_width,
        accuracy=question.accuracy,
        population=question.population,
        alpha=question.alpha,
        power=question.power,
    )


def _pilot_notes(board: Board, observed: float, question: PlanQuestion) -> tuple[str, ...]:
    """Say what a plan from this pilot takes for granted."""
    notes = board.notes
    if board.answers is not None:
        blank = int((~board.known).sum())
        notes += (
            f"{blank} of {board.n} items have no true label: those with one are taken to stand for"
            " them",
        )
    if question.difference is None:
        notes += (
            f"the difference of {observed:.3g} is that of the pilot, which may flatter: plan for"
            " the smallest that matters (--difference)",
        )
    return notes


PLAN = Capability(
    verb="plan",
    summary="How many items do I need to show a difference, and with what guarantee?",
    question=PlanQuestion,
    answer=plan_answer,
    reads=("truth", "item"),
    door=Door(want="models", repeats=True),
    input="optional",
)
