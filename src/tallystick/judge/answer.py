"""From data and a question to an answer about judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.data import Capability, Data, Door, Roles, answered
from tallystick.errors import InputError
from tallystick.judge.agreement import agreement
from tallystick.judge.ballots import Ballots
from tallystick.judge.cases import cases_of
from tallystick.judge.covariate import covariate_effects
from tallystick.judge.dawid_skene import dawid_skene
from tallystick.judge.demo import demo
from tallystick.judge.from_session import from_session
from tallystick.judge.grade import grade
from tallystick.judge.independence import independence
from tallystick.judge.independent import independent
from tallystick.judge.items import item_columns
from tallystick.judge.labelling import labelling
from tallystick.judge.logical import logical
from tallystick.judge.majority import majority
from tallystick.judge.orders import self_consistency
from tallystick.judge.papers.search import search
from tallystick.judge.position_panel import are_two_orders, position_panel
from tallystick.judge.question import GRADING, JudgeQuestion
from tallystick.judge.result import JudgeResult
from tallystick.judge.spectral import spectral
from tallystick.judge.state import load_state, save_state
from tallystick.judge.supervised import supervised
from tallystick.judge.verdict_grounds import COUNTED_ROWS, LEFT_ASIDE
from tallystick.judge.windows import Windows
from tallystick.judge.with_windows import with_windows
from tallystick.results import Result
from tallystick.tally import Tally, unordered
from tallystick.values import Label

__all__ = ["CAPABILITY", "answer", "evaluate", "graded"]

_ANSWERS_ONLY = ("agreement", "spectral", "independent", "independence", "search")


def evaluate(source: Any, **options: Any) -> JudgeResult:
    """Grade judges from whatever `tallystick.data.read` takes.

    Parameters
    ----------
    source
        A path, a frame, a mapping of columns, a Tally, …
    **options
        Roles (*item*, *judges*, *truth*, *weight*, *by*), the fields of `JudgeQuestion`, and the
        options of reading (*missing*, *coerce*, *labels*, *truth_file*, …).

    Examples
    --------
    >>> votes = {"gpt": [1, 0, 1, 1] * 20, "claude": [1, 0, 0, 1] * 20, "gold": [1, 0, 1, 1] * 20}
    >>> result = evaluate(votes, truth="gold")
    >>> [(judge.name, judge.accuracy) for judge in result.judges]
    [('gpt', 1.0), ('claude', 0.75)]
    """
    result: JudgeResult = answered(
        CAPABILITY, source, options
    )  # the kind that its answers mostly have
    return result


def answer(data: Data, question: JudgeQuestion) -> Result:
    """Answer from data that was read."""
    if question.method == "supervised" and data.roles.truth is None:
        raise InputError("method supervised needs the truth: name its column (--truth)")
    if question.certified and data.roles.truth is None:
        raise InputError(
            "certified makes intervals from labels exact: name the column of true labels (--truth)"
        )
    if data.session is not None and question.method == "evaluate":
        return from_session(data, question)
    result = ask(data.tally("judges", "truth"), data, question)
    if data.roles.weight is not None or (isinstance(data.held, Tally) and data.held.weighted):
        result = replace(result, assumptions=(*result.assumptions, COUNTED_ROWS))
    if not isinstance(result, JudgeResult):
        return result
    if data.roles.covariate:
        result = replace(result, covariates=covariate_effects(data, alpha=question.alpha))
    if question.window is not None:
        result = with_windows(result, _windows(data, question))
    return result


def ask(votes: Tally, data: Data, question: JudgeQuestion) -> Result:
    """Answer from a tally by the method that the question names."""
    truth = data.roles.truth
    judges = [name for name in votes.names if name != truth]
    if question.method == "self-consistency":
        return self_consistency(votes, repeats=judges, alpha=question.alpha)
    if question.method == "position-bias":
        return _position_bias(votes, judges, data, question)

    labels = _labels(votes, data.rules.labels)
    ballots = Ballots.of(
        votes,
        judges=judges,
        truth=truth,
        labels=[labels[str(text)] for text in data.rules.labels],
        never_true=data.meaning.never_true,
    )
    prevalence = {_label(t, labels, "prevalence"): ends for t, ends in question.ranges().items()}
    known = {
        name: {_label(text, labels, "known"): value for text, value in parts.items()}
        for name, parts in question.known_accuracies().items()
    }
    function, more = _method(question, prevalence, known)
    if question.method == "evaluate":
        more["truth"] = truth
    result = function(ballots, **more)

    # Votes that can never be true have no place in methods that are defined for answers.
    said: tuple[str, ...] = (
        (LEFT_ASIDE,) if ballots.extras and question.method in _ANSWERS_ONLY else ()
    )
    order = unordered(label for name in votes.names for label in votes.labels[name])
    said += () if order is None or order in result.assumptions else (order,)
    return replace(result, assumptions=(*result.assumptions, *said)) if said else result


def _method(
    question: JudgeQuestion,
    prevalence: Mapping[Label, tuple[float, float]],
    known: Mapping[str, Mapping[Label, float]],
) -> tuple[Callable[..., Result], dict[str, Any]]:
    """Return the function of a method, and the options that it takes beside the votes."""
    level: dict[str, Any] = {"alpha": question.alpha}
    chance = {**level, "rng": question.seed}
    both: dict[str, Any] = {"prevalence": prevalence, "known": known}
    methods: dict[str, tuple[Callable[..., Result], dict[str, Any]]] = {
        "evaluate": (grade, {**both, "certified": question.certified, **chance}),
        "majority": (majority, level),
        "agreement": (agreement, level),
        "spectral": (spectral, level),
        "independent": (independent, {**both, **level}),
        "dawid-skene": (dawid_skene, {"known": known, **level}),
        "logical": (logical, {"prevalence": prevalence}),
        "supervised": (supervised, level),
        "independence": (independence, chance),
        "search": (search, {}),
    }
    return methods[question.method]


def _position_bias(votes: Tally, judges: list[str], data: Data, question: JudgeQuestion) -> Result:
    """Compare both orders of one judge, or of a whole panel given as FIRST,SECOND,FIRST,SECOND."""
    if len(judges) < 2 or len(judges) % 2:
        raise InputError(
            "method position-bias compares two columns per judge, one for each order, got"
            f" {', '.join(judges[:6])}: name them in pairs (--judges FIRST,SECOND)"
        )
    recorded: Any = question.recorded or "answer"
    pairs = list(zip(judges[::2], judges[1::2], strict=True))
    for first, second in pairs:
        if not are_two_orders(first, second):
            raise InputError(
                f"{first!r} and {second!r} look like two judges and not like two orders of one:"
                " name the two columns of each judge alike, such as gpt_ab and gpt_ba, and give"
                " them in pairs (--judges gpt_ab,gpt_ba)"
            )
    return position_panel(
        votes,
        pairs=pairs,
        ties=data.meaning.never_true,
        recorded=recorded,
        alpha=question.alpha,
    )


def _labels(votes: Tally, more: tuple[Label, ...]) -> dict[str, Label]:
    """Return every label by its text; *more* are labels that nobody voted for."""
    every = [label for column in votes.labels.values() for label in column if label is not None]
    found: dict[str, Label] = {str(label): label for label in every}
    numbers = all(isinstance(label, int) and not isinstance(label, bool) for label in every)
    for label in more:
        text = str(label)
        whole = numbers and text.removeprefix("-").isdecimal()
        found.setdefault(text, int(text) if whole else label)
    return found


def _label(given: Any, labels: Mapping[str, Label], option: str) -> Label:
    if str(given) not in labels:
        raise InputError(
            f"{option} names label {given!r}, which is not one of {', '.join(sorted(labels)[:12])}"
        )
    return labels[str(given)]


def _windows(data: Data, question: JudgeQuestion) -> tuple[Mapping[str, Any], ...]:
    """Evaluate the rows in their order, window by window."""
    if data.roles.weight is not None:
        raise InputError("window takes items one by one and has no use for weight: leave it out")
    columns = data.roles.columns("judges", "truth")
    stream = Windows(
        size=question.window or 1,
        evaluation=lambda votes: graded(votes, data, question),
        alpha=question.alpha,
        truth=data.roles.truth,
        block=question.block,
    )
    if question.state is not None:
        load_state(stream, question.state)
    done = stream.push(data.label_lists(*columns))
    if question.state is not None:
        save_state(stream, question.state)
    return tuple(window.summary() for window in (*done, *stream.finish()))


def graded(votes: Tally, data: Data, question: JudgeQuestion) -> JudgeResult:
    """Answer from the tally of one window, by a method that gives every judge a number.

    The labels of a window are looked at on their own: a word for no answer, or a vote that can
    never be true, may appear in any of them.
    """
    part = replace(data, held=votes, notes=())
    found = ask(part.tally("judges", "truth"), part, question)
    if not isinstance(found, JudgeResult):
        raise InputError(f"method {question.method} grades no judge: use one of {GRADING}")
    return found


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which judge answers a table with these roles, None if it cannot."""
    if not roles.judges:
        return None
    return {"judges": roles.judges, "truth": roles.truth, "weight": roles.weight}


CAPABILITY: Capability[Any] = Capability(
    verb="judge",
    summary="How good are my judges, with no labels or with a few?",
    question=JudgeQuestion,
    answer=answer,
    reads=("judges", "truth", "item", "covariate", "weight", "by"),
    door=Door(want="judges"),
    applies=applies,
    items=item_columns,
    cases=cases_of,
    demo=demo,
    labelling=labelling,
)
