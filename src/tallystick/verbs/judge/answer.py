"""From data and a question to an answer about judges, items, and what misleads judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Result
from tallystick.sampling.tasks import random_sample
from tallystick.sampling.votes import typed
from tallystick.table import (
    Capability,
    Cases,
    Data,
    Door,
    Found,
    Roles,
    Tally,
    answered,
    attach,
    gather,
    unordered,
)
from tallystick.table.capability import MOST_ROWS
from tallystick.table.weights import refuse_weight
from tallystick.verbs.judge.agreement import (
    are_two_orders,
    grades_of,
    position_bias,
    self_consistency,
)
from tallystick.verbs.judge.grade import grade
from tallystick.verbs.judge.logical import logical
from tallystick.verbs.judge.models import dawid_skene, independent, majority
from tallystick.verbs.judge.question import GRADING, JudgeQuestion, demo
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.sessions import from_session, labelling
from tallystick.verbs.judge.verdict import LEFT_ASIDE
from tallystick.verbs.judge.windows import evaluate_windows, with_windows


def evaluate(source: Any, **options: Any) -> JudgeResult:
    """Grade judges from whatever `tallystick.table.door` takes.

    Parameters
    ----------
    source
        A path, a frame, a mapping of columns, a Tally, …
    **options
        Roles (*item*, *judges*, *truth*, *count*, *weight*, *by*), the fields of `JudgeQuestion`,
        and the options of reading (*missing*, *coerce*, *labels*, *truth_file*, …).

    Examples
    --------
    >>> votes = {"gpt": [1, 0, 1, 1] * 20, "claude": [1, 0, 0, 1] * 20, "gold": [1, 0, 1, 1] * 20}
    >>> result = evaluate(votes, truth="gold")
    >>> [(judge.name, judge.accuracy) for judge in result.judges]
    [('gpt', 1.0), ('claude', 0.75)]
    """
    result: JudgeResult = answered(CAPABILITY, source, options)  # what its answers mostly are
    return result


def answer(data: Data, question: JudgeQuestion) -> Result:
    """Answer from data that was read."""
    if data.session and random_sample(data.session):
        data = replace(data, session=None)  # labels like any others
    if data.session is not None and question.method == "evaluate":
        return from_session(data.session, data, question)
    if question.method not in GRADING:
        return diagnosed(data, question)
    result = graded(data, question)
    if question.window is not None:
        refuse_weight(data.roles, "window")
        found = evaluate_windows(
            data, question, lambda votes: graded(replace(data, held=votes), question)
        )
        result = with_windows(result, found)
    return result


def diagnosed(data: Data, question: JudgeQuestion) -> Result:
    """Say how judges change their answers when they are asked again."""
    votes = data.tally("judges", "truth")
    judges = [name for name in votes.names if name != data.roles.truth]
    refuse_weight(data.roles, f"method {question.method}")
    if question.method == "self-consistency":
        return self_consistency(votes, repeats=judges, alpha=question.alpha)
    return _position_bias(votes, judges, data, question)


def graded(data: Data, question: JudgeQuestion) -> JudgeResult:
    """Answer by a method that gives every judge a number, from rows or from the tally of a window.

    The labels of a window are looked at on their own: a word for no answer, or a vote that can
    never be true, may appear in any of them.
    """
    votes, truth = data.tally("judges", "truth"), data.roles.truth
    seen = [label for column in votes.labels.values() for label in column if label is not None]
    panel = data.panel("judges", labels=[typed(text, seen) for text in data.rules.labels])
    if panel.weight is not None and not panel.known.any():
        panel = panel.blind
    ranges, known = question.ranges(), question.known_accuracies()
    whole: dict[str, Any] = {"alpha": question.alpha, "rng": question.seed, "truth": truth}
    whole["population"] = question.population
    methods: dict[str, tuple[Callable[..., JudgeResult], dict[str, Any]]] = {
        "evaluate": (grade, {"prevalence": ranges, "known": known, **whole}),
        "majority": (majority, {}),
        "independent": (independent, {"prevalence": ranges}),
        "dawid-skene": (dawid_skene, {"known": known}),
        "logical": (logical, {"prevalence": ranges}),
    }
    function, more = methods[question.method]
    result = function(panel, **more)

    # Votes that can never be true have no place in a method that is defined for answers.
    aside = panel.extras and question.method == "independent"
    order = None if grades_of(panel) else unordered(panel.classes)
    said = ((LEFT_ASIDE,) if aside else ()) + (() if order is None else (order,))
    assumptions = dict.fromkeys((*result.assumptions, *said))
    return replace(result, assumptions=tuple(assumptions))


def _position_bias(votes: Tally, judges: list[str], data: Data, question: JudgeQuestion) -> Result:
    """Compare both orders of one judge, or of a whole panel given as FIRST,SECOND,FIRST,SECOND."""
    pairs = list(zip(judges[::2], judges[1::2], strict=False))
    if len(judges) % 2 or not all(are_two_orders(*pair) for pair in pairs):
        raise InputError(
            "position-bias compares two columns per judge, one for each order, named alike and in"
            f" pairs (--judges gpt_ab,gpt_ba), got {', '.join(judges[:6])}"
        )
    recorded: Any = question.recorded
    ties = data.meaning.never_true
    return position_bias(votes, pairs=pairs, ties=ties, recorded=recorded, alpha=question.alpha)


# What is known of each item, in which order to label or to check items, and which ones to read.


def item_columns(result: Result, data: Data) -> dict[str, Any]:
    """Return the rows of *data* with what is known of each, and two orders.

    ``label_next`` numbers the unlabelled rows at random: labels for grading judges must be a random
    draw. ``check_next`` numbers them by the lowest probability or support: to correct single items,
    read these first. A row with a label keeps it, with probability 1.
    """
    if not isinstance(result, JudgeResult):
        raise InputError("this method grades no judge and says nothing about single items")
    attached = attach(result, data.table)
    columns = {name: attached[name].to_pylist() for name in attached.column_names}
    level = "probability" if "probability" in result.learnt else "support"

    truth = data.roles.truth
    known = data.label_lists(truth)[truth] if truth is not None else [None] * attached.num_rows
    unlabelled = [row for row, label in enumerate(known) if label is None]
    for row, label in enumerate(known):
        if label is not None:
            columns["consensus"][row], columns[level][row] = label, 1.0

    # A random order is what the intervals from labels need: an order by doubt would bias them.
    ranks = as_rng(result.seed or 0).permutation(len(unlabelled)).tolist()
    label_next = _numbered([unlabelled[place] for place in ranks], attached.num_rows)
    doubtful = [row for row in unlabelled if columns[level][row] is not None]
    doubtful.sort(key=lambda row: float(columns[level][row]))
    check_next = _numbered(doubtful, attached.num_rows)
    return {**columns, "label_next": label_next, "check_next": check_next}


_MOST_WRONG = "most judges wrong"


def _numbered(order: list[int], rows: int) -> list[int | None]:
    """Return the place of each row in *order*, None for the others."""
    found: list[int | None] = [None] * rows
    for rank, row in enumerate(order, start=1):
        found[row] = rank
    return found


def cases_of(result: Result, data: Data) -> Cases | None:
    """Return labelled items that at least one judge got wrong, those most got wrong first; without
    labels, those on which they are most divided.
    """
    judges, truth = data.roles.judges, data.roles.truth
    rows = not isinstance(data.held, Tally) and data.n_rows <= MOST_ROWS
    if not (isinstance(result, JudgeResult) and rows and judges):
        return None
    labels = data.label_lists(*judges, *([truth] if truth else []))
    true = labels[truth] if truth is not None else []
    labelled = sum(label is not None for label in true)
    if not labelled and len(judges) < 2:
        return None

    found: list[tuple[float, Found]] = []
    for row in range(len(labels[judges[0]])):
        votes = [(name, labels[name][row]) for name in judges if labels[name][row] is not None]
        case = _wrong(row, votes, true[row]) if labelled else _divided(row, votes)
        if case is not None:
            found.append(case)
    found.sort(key=lambda one: one[0])
    listed = [one for _, one in found]
    line = f"The judges differ on {len(listed):,} of {len(labels[judges[0]]):,} items."
    if labelled:
        most = sum(one.kind == _MOST_WRONG for one in listed)
        line = (
            f"At least one judge is wrong on {len(listed):,} of {labelled:,} labelled items,"
            f" most judges on {most:,}."
        )
    return gather(data, listed, title="Items", line=line)


def _wrong(row: int, votes: Sequence[tuple[str, Any]], true: Any) -> tuple[float, Found] | None:
    wrong = sum(vote != true for _, vote in votes)
    if true is None or not wrong:
        return None
    shown = (("true", str(true)), *((name, str(vote)) for name, vote in votes))
    kind = _MOST_WRONG if 2 * wrong > len(votes) else "some judges wrong"
    summary = f"true {true} · {wrong} of {len(votes)} judges wrong"
    return -wrong, Found(row=row, kind=kind, summary=summary, votes=shown)


def _divided(row: int, votes: Sequence[tuple[str, Any]]) -> tuple[float, Found] | None:
    counts = Counter(str(vote) for _, vote in votes)
    if len(counts) < 2:
        return None
    (label, most), *_ = counts.most_common()
    shown = tuple((name, str(vote)) for name, vote in votes)
    kind = "nearly even" if 3 * most <= 2 * len(votes) else "a few differ"
    summary = f"{most} of {len(votes)} judges say {label}"
    return most / len(votes), Found(row=row, kind=kind, summary=summary, votes=shown)


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which judge answers a table with these roles, None if it cannot."""
    if not roles.judges:
        return None
    beside = {"count": roles.count, "weight": roles.weight}
    return {"judges": roles.judges, "truth": roles.truth, **beside}


CAPABILITY: Capability[Any] = Capability(
    verb="judge",
    question=JudgeQuestion,
    answer=answer,
    reads=("judges", "truth", "item", "count", "weight", "by"),
    door=Door(verb="judge", want="judges"),
    applies=applies,
    items=item_columns,
    cases=cases_of,
    demo=demo,
    labelling=labelling,
)
