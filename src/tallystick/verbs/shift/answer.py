"""From data and a question to an answer about an API."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from tallystick.clients import Client, ReplayClient, client_of
from tallystick.errors import FileError, InputError, NotIdentifiable, TallystickError
from tallystick.papers.api_shifts import theorem_conditions
from tallystick.results import Figure, Gate, Interval, Result, Slice, Unknown
from tallystick.sampling import Strata
from tallystick.table import Capability, Data, Door, Roles, answered
from tallystick.table.doubts import find_doubt, with_doubt
from tallystick.verbs.shift.asking import pointed_to_compare
from tallystick.verbs.shift.assess import Answers, assess
from tallystick.verbs.shift.baseline import (
    append_history,
    check_history,
    models_before,
    read_history,
    update_old,
)
from tallystick.verbs.shift.design import AskDesign, Items, Strategy, design
from tallystick.verbs.shift.grades import GradedClient, with_grades
from tallystick.verbs.shift.noise import AnswersAre
from tallystick.verbs.shift.noisy import check_metric, flip_limit, read_gates, with_gates
from tallystick.verbs.shift.old_draws import with_old_draws
from tallystick.verbs.shift.prepare import (
    MOST_ANSWERS,
    PreparedShift,
    client_columns,
    grade_column,
    prepare,
    rows_of,
    slices_of,
)
from tallystick.verbs.shift.question import ShiftQuestion, cases_of, demo
from tallystick.verbs.shift.result import Change, ShiftResult
from tallystick.verbs.shift.run import forecast, identity_of, run
from tallystick.verbs.shift.verdict import WITHOUT_OLD, model_change, several_verdict, with_unread


def evaluate(source: Any, **options: Any) -> ShiftResult:
    """Say how an API changed, from whatever `tallystick.table.door` takes.

    With *new*, a column of new answers, nothing is asked. With *api* and *budget* the API is asked.

    Parameters
    ----------
    source
        A path, a frame, a mapping of columns, …
    **options
        Roles (*truth*, *old*, *new*, *confidence*, *item*, *by*), the fields of `ShiftQuestion`,
        and the options of reading (*missing*, *coerce*, *labels*, *old_file*, …).

    Examples
    --------
    >>> table = {"gold": ["a", "b"] * 50, "spring": ["a", "b"] * 50, "fall": ["a"] * 100}
    >>> result = evaluate(table, truth="gold", old="spring", new="fall")
    >>> result.accuracy_change.estimate, result.flip_rate.estimate
    (-0.5, 0.5)
    >>> asked = evaluate(table, truth="gold", old="spring", api="replay:fall", budget=40)
    >>> asked.calls, asked.verdict[:35]
    (40, 'The new answers are worse: accuracy')
    """
    result: ShiftResult = answered(
        CAPABILITY, source, options
    )  # the kind that its answers mostly have
    return result


def answer(data: Data, question: ShiftQuestion) -> Result:
    """Answer from data that was read. All that can be wrong is found before a call is paid for."""
    asks = question.api or question.budget or question.journal
    if asks and data.how.get("new") == "by name":
        # A column called new is what the API is held against, if the caller asks the API.
        data = replace(data, roles=replace(data.roles, new=None))
    _check_options(data, question)
    known = prepare(data, question)
    if known.items.matrix is None:
        raise InputError(
            "nothing is known of the past: name the old answers (--old), or give the old matrix"
            " (--old-matrix)"
        )
    if question.since is not None:
        known = replace(known, items=update_old(known.items, question.since))
    parts = slices_of(data, known)
    gates = read_gates(question.gates)
    for gate in gates:
        check_metric(gate.left, known.items)
    if question.history is not None:
        _check_history(question.history)
    if isinstance(question.api, tuple) and len(question.api) > 1:
        return _several(data, known, question)

    if known.new is not None:
        result: Result = _compared(known, question)
    else:
        result = _asked(data, known, question, gates)
    if not isinstance(result, ShiftResult):
        return replace(result, notes=(*known.notes, *result.notes))
    result = _finished(known, question, result)
    result = with_gates(_with_model(result, question), gates)
    if question.history is not None:  # a doubt goes into the history too
        result = with_doubt(result, find_doubt(data))
    result = replace(result, notes=(*known.notes, *result.notes))
    if question.history is not None:
        append_history(question.history, result, on=datetime.now(UTC).date())
        so_far = read_history(question.history).verdict
        result = replace(result, notes=(*result.notes, so_far))
    return replace(result, slices=_slices(result, parts, question.alpha))


def _finished(known: PreparedShift, question: ShiftQuestion, result: ShiftResult) -> ShiftResult:
    """Return the result in grades, or against several old draws, where that was asked for."""
    if question.grader is not None:
        return with_grades(result, alpha=question.alpha)
    if known.draws is not None:
        return with_old_draws(result, known.draws, alpha=question.alpha)
    return result


def _with_model(result: ShiftResult, question: ShiftQuestion) -> ShiftResult:
    """Say it if the API names another model than in the last run: that costs no call."""
    now = result.usage.models if result.usage is not None else {}
    said = model_change(models_before(question.history, question.since), tuple(now))
    if not said:
        return result
    lines = result.sentences
    if lines is not None:
        lines = replace(lines, contrast=f"{lines.contrast} {said}".strip())
    return replace(result, verdict=f"{result.verdict} {said}", sentences=lines)


def _several(data: Data, known: PreparedShift, question: ShiftQuestion) -> Result:
    """Assess every API on an equal share of one budget; all intervals hold together."""
    apis = question.api
    assert isinstance(apis, tuple)  # checked by answer
    if question.gates or question.history is not None or data.roles.by is not None:
        raise InputError("gates, --history and --by are for one API at a time: name one --api")
    budget = (question.budget or 0) // len(apis)
    if budget < 1:
        raise InputError(f"a budget of {question.budget} is too small for {len(apis)} APIs")
    results: list[ShiftResult] = []
    for number, api in enumerate(apis):
        spent = sum(one.cost for one in results)
        journal = question.journal
        own = replace(
            question,
            api=(api,),
            budget=budget,
            alpha=question.alpha / len(apis),
            journal=None if journal is None else journal.with_name(f"{journal.name}.{number + 1}"),
            max_cost=None if question.max_cost is None else max(question.max_cost - spent, 1e-12),
        )
        one = _asked(data, known, own, ())
        if not isinstance(one, ShiftResult):
            raise InputError("--dry-run forecasts one API at a time: name one --api")
        results.append(_finished(known, own, one))
    found = several(apis, results)
    return replace(found, notes=(*known.notes, *found.notes))


def _check_options(data: Data, question: ShiftQuestion) -> None:
    """Refuse a question that names no API, or two sources of new answers."""
    if data.roles.new is not None:
        asking = ("api", "budget", "journal", "dry_run", "repeats", "target_error")
        given = [name for name in asking if getattr(question, name)]
        if given:
            raise InputError(
                f"new (--new) holds all new answers, so nothing is asked and {given[0]} has"
                f" no effect: leave one of the two out, or rehearse with --api replay:"
                f"{data.roles.new}"
            )
        return
    if grade_column(data, question) is not None:
        return
    if not question.api and not question.dry_run:
        raise InputError(
            "name the API to ask (--api), or the column of new answers if you have them (--new)"
            + pointed_to_compare(client_columns(data))
        )
    if question.budget is None:
        raise InputError("say how many questions may be asked at most (--budget)")


def _compared(known: PreparedShift, question: ShiftQuestion) -> ShiftResult:
    """Compare two columns: every answer is known."""
    items = known.items
    by_item = items.old is not None
    n = len(items)
    strata = (
        design(items, calls=n, how=AskDesign()).strata if by_item else Strata(np.zeros(n, np.intp))
    )
    result = assess(
        items,
        strata,
        Answers.of(np.arange(n), known.new if known.new is not None else (), unclear=known.unclear),
        strategy="ours" if by_item else "uniform",
        alpha=question.alpha,
        simultaneous=question.simultaneous,
        seed=question.whole_seed,
        answers_are="deterministic" if question.deterministic else "recorded",
    )
    return with_unread(result, known.unread, answers=n)


def _asked(
    data: Data, known: PreparedShift, question: ShiftQuestion, gates: tuple[Gate, ...]
) -> Result:
    """Ask the API, or forecast what asking would cost."""
    items = known.items
    strategy, notes = _strategy(items, question)
    limit = flip_limit(gates)
    if limit is not None and strategy != "ours":
        raise InputError(
            f"a gate on flip_rate asks in random order: it needs strategy ours, got {strategy}"
        )
    how = question.run(question.budget or 0, strategy, limit=limit, coerce=data.rules.coerce)
    if question.dry_run:
        return replace(forecast(items, how), notes=notes)

    # Many different old answers, of which nobody says that they are labels, are texts.
    listed = items.labelled or data.rules.labels or len(items.labels) <= MOST_ANSWERS
    client = _client(question, client_columns(data), items.labels if listed else ())
    rows = rows_of(data, known, client.column if isinstance(client, ReplayClient) else None)
    if question.history is not None:
        check_history(question.history, identity_of(items, client))
    if question.confirm is not None:
        question.confirm(forecast(items, how).verdict)
    with (question.progress or nullcontext)() as show:
        result = run(items, client, rows, how, progress=show)
    return replace(result, notes=notes)


def _strategy(items: Items, question: ShiftQuestion) -> tuple[Strategy, tuple[str, ...]]:
    """Return the strategy that can be used, and notes about it."""
    strategy = cast(Strategy, question.strategy)
    notes: tuple[str, ...] = ()
    if strategy == "ours" and items.old is None:
        strategy, notes = "masa", (WITHOUT_OLD,)
    if strategy == "masa":
        broken = theorem_conditions(
            labels=len(items.labels),
            bins=question.bins,
            calls=min(question.budget or 1, len(items)),
            exploration=question.exploration,
        )
        notes = (*notes, *broken)
    return strategy, notes


def _client(question: ShiftQuestion, columns: tuple[str, ...], labels: tuple[str, ...]) -> Client:
    """Return whom to ask; a system and its grader are one client."""
    api = question.api
    spec = question.client_spec(columns, labels)
    system = api if isinstance(api, Client) else client_of(api[0], spec)
    grader = question.grader
    if grader is None:
        return system
    if isinstance(grader, Client):
        return GradedClient(system, grader)
    asks = replace(spec, columns=(*columns, "answer"), prompt=question.grader_prompt)
    return GradedClient(system, client_of(grader, asks))


def _check_history(path: Path) -> None:
    """Refuse a history that cannot be continued."""
    reason = None
    if path.is_dir():
        reason = "it is a folder"
    elif not path.parent.is_dir():
        reason = "its folder does not exist"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = "it may not be written"
    if reason is not None:
        raise FileError(f"--history {path} cannot be written: {reason}; nothing was asked yet")
    if path.exists() and path.stat().st_size:
        read_history(path)


def _slices(result: ShiftResult, parts: Mapping[Any, Any], alpha: float) -> tuple[Slice, ...]:
    """Assess every slice by the calls of the whole run, at alpha over the number of slices."""
    found = []
    for label, chosen in parts.items():
        try:
            found.append(Slice(label, part_of(result, chosen, alpha=alpha / len(parts))))
        except TallystickError as error:
            found.append(Slice(label, str(error)))
    return tuple(found)


def item_columns(result: Result, data: Data) -> Mapping[str, Any]:
    """Return the items that were asked, with what was learnt of each."""
    if not isinstance(result, ShiftResult):
        raise InputError("a forecast asks nothing, so there are no items to write (--items-out)")
    return result.asked


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which shift answers a table with these roles, None if it cannot."""
    if roles.truth is None or roles.old is None or roles.new is None:
        return None
    wanted = ("truth", "old", "new", "confidence")
    return {role: getattr(roles, role) for role in wanted}


CAPABILITY: Capability[Any] = Capability(
    verb="shift",
    summary="How did this API change, for the fewest paid calls?",
    question=ShiftQuestion,
    answer=answer,
    reads=("truth", "old", "new", "confidence", "item", "by"),
    door=Door(pivots=False, named=("old", "new", "truth")),
    applies=applies,
    items=item_columns,
    cases=cases_of,
    demo=demo,
)

# Several APIs on the same items: one table, one budget.


@dataclass(frozen=True, kw_only=True)
class ApiChange:
    """One API: how it differs from the old answers, and what that cost."""

    api: str
    accuracy_change: Change
    grade_change: Change | None
    flip_rate: Change
    beyond: Change | None
    decision: str
    calls: int
    cost: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class SeveralResult(Result):
    """Every API against the same old answers; the intervals of all of them hold together."""

    verb: ClassVar[str] = "shift"

    apis: tuple[ApiChange, ...]
    calls: int
    cost: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per API."""
        rows = []
        for one in self.apis:
            change = one.grade_change or one.accuracy_change
            name = "grade change" if one.grade_change is not None else "accuracy change"
            rows.append(
                {
                    "api": one.api,
                    name: change.estimate,
                    "interval": change.interval,
                    "answers differ": one.flip_rate.estimate,
                    "beyond noise": Unknown("no repeats")
                    if one.beyond is None
                    else one.beyond.estimate,
                    "calls": one.calls,
                    "cost": one.cost,
                }
            )
        return rows

    def figures(self) -> tuple[Figure, ...]:
        """Return the changes with their intervals."""
        known = [
            (one.api, change)
            for one in self.apis
            if isinstance((change := one.grade_change or one.accuracy_change).interval, Interval)
        ]
        ends = [change.interval for _, change in known if change.interval is not None]
        columns: dict[str, list[Any]] = {
            "api": [api for api, _ in known],
            "change": [change.estimate for _, change in known],
            "low": [end.low for end in ends],
            "high": [end.high for end in ends],
        }
        roles = {"name": "api", "x": "change", "low": "low", "high": "high"}
        return (Figure("forest", "Change by API, in points", columns, roles, unit="points"),)


def several(names: Sequence[str], results: Sequence[ShiftResult]) -> SeveralResult:
    """Put the assessments of several APIs into one table.

    Parameters
    ----------
    names
        The address of each API, as it was given.
    results
        Each assessed at alpha over their number.
    """
    apis = tuple(
        ApiChange(
            api=name,
            accuracy_change=one.accuracy_change,
            grade_change=one.grade_change,
            flip_rate=one.flip_rate,
            beyond=None if one.noise is None else one.noise.beyond,
            decision=one.decision,
            calls=one.calls,
            cost=one.cost,
            verdict=one.verdict,
        )
        for name, one in zip(names, results, strict=True)
    )
    return SeveralResult(
        verdict=several_verdict(names, [one.verdict for one in results]),
        decision="decided" if all(one.decision == "decided" for one in results) else "undecided",
        n_items=max(one.n_items for one in results),
        assumptions=tuple(dict.fromkeys(text for one in results for text in one.assumptions)),
        warnings=tuple(
            f"{name}: {text}"
            for name, one in zip(names, results, strict=True)
            for text in one.warnings
        ),
        notes=tuple(
            f"{name}: {text}"
            for name, one in zip(names, results, strict=True)
            for text in one.notes
        ),
        seed=results[0].seed,
        apis=apis,
        calls=sum(one.calls for one in results),
        cost=sum(one.cost for one in results),
    )


# How the API changed on a part of the items, from the calls of the whole run.


def part_of(result: ShiftResult, chosen: ArrayLike, *, alpha: float = 0.05) -> ShiftResult:
    """Assess the *chosen* items alone, by the answers to those of them that were asked.

    Given how many of a stratum's chosen items were asked, they are a random draw from all of its
    chosen items, as the whole is from the stratum: so the part is assessed by the same estimator on
    the part of each stratum. No call is made, and a part in which fewer than two items were asked
    is refused.

    Parameters
    ----------
    result
        What :func:`~tallystick.verbs.shift.run` or :func:`~tallystick.verbs.shift.assess`
        returned, with old
        answers by item.
    chosen
        One boolean per item.
    alpha
        One minus the level; divide it by the number of parts that you look at.

    Examples
    --------
    >>> from tallystick.verbs.shift import Items
    >>> items = Items.of(["a"] * 60 + ["b"] * 40, old=["a"] * 100)
    >>> asked = np.arange(0, 100, 2)
    >>> whole = assess(items, Strata([0] * 100), Answers.of(asked, np.where(asked < 60, 0, 1)))
    >>> part_of(whole, items.truth == 1).accuracy_change.estimate, part_of(whole, items.truth == 0).n_items
    (1.0, 30)
    """
    if result.evidence is None:
        raise InputError(
            "this result does not hold the answers that it was made from: pass what run or assess"
            " returned"
        )
    items, strata, answers = result.evidence
    keep = np.asarray(chosen)
    if keep.dtype != bool or keep.shape != (len(items),):
        raise InputError(
            f"chosen must hold one boolean for each of the {len(items)} items, got {keep.dtype}"
            f" {keep.shape}"
        )
    if items.old is None:
        raise InputError(
            "a part needs the old answer to every item (old=…): a matrix of the past says nothing"
            " about parts"
        )
    mine = keep[answers.asked]
    if mine.sum() < 2:
        raise NotIdentifiable(
            f"{int(mine.sum())} of its {int(keep.sum())} items were asked: too few to say anything"
        )
    place = np.cumsum(keep) - 1
    present, of = np.unique(strata.of[keep], return_inverse=True)
    family = (
        None if strata.family is None else np.unique(strata.family[present], return_inverse=True)[1]
    )
    asked = Answers.of(
        place[answers.asked[mine]],
        answers.codes[mine],
        blind=None if answers.blind is None else answers.blind[mine],
        unclear=None if answers.unclear is None else answers.unclear[mine],
        again={
            int(place[item]): int(code)
            for item, code in zip(answers.repeated, answers.second, strict=True)
            if keep[item]
        },
    )
    return assess(
        items.part(np.flatnonzero(keep)),
        Strata(of, family=family),
        asked,
        strategy=result.strategy,
        alpha=alpha,
        simultaneous=result.simultaneous,
        seed=result.seed,
        answers_are=_kind(result),
    )


def _kind(result: ShiftResult) -> AnswersAre:
    """Return what is known of the API's randomness, as the whole result has it."""
    kind = "random" if result.noise is None else result.noise.answers_are
    return cast(AnswersAre, kind)
