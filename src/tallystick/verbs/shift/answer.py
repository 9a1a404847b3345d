"""From data and a question to an answer about an API."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from tallystick.clients import client_columns, client_of, unread_warnings
from tallystick.errors import AskError, InputError, NotIdentifiable, TallystickError
from tallystick.results import (
    Gate,
    GateEstimate,
    Needed,
    Result,
    Slice,
    Unknown,
    check_gates,
    names_of,
)
from tallystick.sampling import Strata
from tallystick.table import (
    Capability,
    Cases,
    Data,
    Door,
    Found,
    Roles,
    Table,
    Tally,
    answered,
    gather,
)
from tallystick.table.capability import MOST_ROWS
from tallystick.table.doubts import find_doubt, with_doubt
from tallystick.table.reading_facts import agreement, draw
from tallystick.table.reading_names import ROLE_NAMES, parts
from tallystick.table.reading_rules import flag
from tallystick.table.reading_voters import fitting_truth, with_common_labels
from tallystick.verbs.shift.asking import identity_of, run
from tallystick.verbs.shift.assess import TOO_FEW, assess
from tallystick.verbs.shift.baseline import (
    append_history,
    check_history,
    models_before,
    read_history,
)
from tallystick.verbs.shift.design import design
from tallystick.verbs.shift.estimates import Answers, Past
from tallystick.verbs.shift.noise import AnswersAre
from tallystick.verbs.shift.question import (
    METRICS,
    ShiftQuestion,
    check_metric,
    demo,
    read_gates,
)
from tallystick.verbs.shift.read import (
    PreparedShift,
    prepare,
    rows_of,
    since,
    slices_of,
)
from tallystick.verbs.shift.result import Change, ShiftResult
from tallystick.verbs.shift.verdict import (
    cost_before,
    gated_verdict,
    model_change,
)

MOST_SHARED = 4
"""More columns with the same labels than these are no question with two answers."""


def evaluate(source: Any, **options: Any) -> ShiftResult:
    """Say whether and how an API changed, from whatever `tallystick.table.door` takes.

    With *new*, a column of new answers, nothing is asked. With *api* and *budget* the API is asked.

    Parameters
    ----------
    source
        A path, a frame, a mapping of columns, …
    **options
        Roles (*truth*, *old*, *new*, *confidence*, *item*, *by*), the fields of `ShiftQuestion`,
        and the options of reading (*missing*, *coerce*, *labels*, …).

    Examples
    --------
    >>> table = {"gold": ["a", "b"] * 50, "spring": ["a", "b"] * 50, "fall": ["a"] * 100}
    >>> result = evaluate(table, truth="gold", old="spring", new="fall")
    >>> result.accuracy_change.estimate, result.flip_rate.estimate
    (-0.5, 0.5)
    >>> asked = evaluate(table, truth="gold", old="spring", api="replay:fall", budget=40)
    >>> asked.calls, asked.changed
    (40, True)
    """
    result: ShiftResult = answered(CAPABILITY, source, options)
    return result


def answer(data: Data, question: ShiftQuestion) -> ShiftResult:
    """Answer from data that was read. All that can be wrong is found before a call is paid for."""
    if question.api or question.budget or question.journal:
        # A column called new is what the API is held against, if the caller asks the API; and no
        # call is paid for by a column that has no more than a part of its name.
        roles = replace(data.roles, new=None) if "new" in data.how else data.roles
        if data.how.get("old") == "only candidate":
            roles = replace(roles, old=None)
        data = replace(data, roles=roles)
    _check_options(data, question)
    known = prepare(data, question)
    if question.since is not None:
        known = replace(known, items=since(known.items, question.since))
    parts = slices_of(data, known)
    gates = read_gates(question.gates)
    for gate in gates:
        check_metric(gate.left, known.items, graded=question.scale is not None)
    if question.history is not None:
        check_history(question.history)

    asked = known.new is None
    result = _asked(data, known, question) if asked else _compared(known, question)
    result = with_gates(_with_model(result, question), gates)
    if question.history is not None:  # a doubt goes into the history too
        result = with_doubt(result, find_doubt(data, speaks=question.labels_speak_for))
    result = replace(result, notes=(*known.notes, *result.notes))
    if question.history is not None:
        append_history(question.history, result, on=datetime.now(UTC).date())
        so_far = read_history(question.history).verdict
        result = replace(result, notes=(*result.notes, so_far))
    return replace(result, slices=_slices(result, parts, question.alpha))


def _check_options(data: Data, question: ShiftQuestion) -> None:
    """Refuse a question that names no API, or two sources of new answers."""
    if data.roles.new is not None:
        given = [
            name for name in ("api", "budget", "journal", "repeats") if getattr(question, name)
        ]
        if given:
            raise InputError(
                f"new (--new) holds all new answers, so nothing is asked and {given[0]} has"
                f" no effect: leave one of the two out, or rehearse with --api replay:"
                f"{data.roles.new}"
            )
        return
    if not question.api:
        if data.roles.old is None and not (question.budget or question.journal or question.since):
            _ask_for_columns(data)
        raise InputError(
            "name the API to ask (--api), or the column of new answers if you have them (--new)"
        )
    question.affordable()  # a budget that is missing or too small


def _ask_for_columns(data: Data) -> None:
    """Ask which columns hold the old and the new answers, where few columns share labels."""
    if not isinstance(data.held, Table):
        return
    sample = draw(data.table, missing=data.rules.missing)
    shared = with_common_labels(sample, tuple(data.roles.holders()))
    truth, rest = data.roles.truth, ""
    # Of two columns none is set aside: `answer` beside `june` is an answer.
    if len(shared) > 2 and truth is None:
        likely = {fitting_truth(sample, name, ()) for name in shared} - {None}
        truth = likely.pop() if len(likely) == 1 else None
    versions = {*ROLE_NAMES["old"], *ROLE_NAMES["new"]}
    if len(shared) == 3 and truth is None and not any({*parts(n)} & versions for n in shared):
        # Two versions agree with the truth more than with each other's errors.
        truth = shared[int(np.nansum(agreement(sample.codes(shared))[0], axis=0).argmax())]
        rest = f" {truth} agrees most with the others, so it may be the truth."
    answers = [name for name in shared if name != truth]
    if not 2 <= len(answers) <= MOST_SHARED:
        return
    # What the reading decided stands in the command: typed again it rests on nothing else.
    beside = f"{flag('truth', truth)} " if truth is not None else ""
    first, second = answers[:2]
    raise AskError(
        f"{data.source}: which column holds the old answers, and which the new ones?"
        f" {names_of(answers)} use the same labels.{rest}",
        role="old",
        candidates=tuple(answers),
        calls=tuple(
            f"{beside}{flag('old', old)} {flag('new', new)}"
            for old, new in ((first, second), (second, first))
        ),
    )


def _compared(known: PreparedShift, question: ShiftQuestion) -> ShiftResult:
    """Compare two columns: every answer is known."""
    items, n = known.items, len(known.items)
    assert known.new is not None
    result = assess(
        items,
        design(items, calls=n).strata,
        Answers.of(np.arange(n), known.new, why=known.why),
        alpha=question.alpha,
        answers_are="deterministic" if question.deterministic else "recorded",
        past=known.past,
    )
    more = unread_warnings(known.unread, answers=n) if items.labelled else ()
    return replace(result, warnings=(*result.warnings, *more))


def _asked(data: Data, known: PreparedShift, question: ShiftQuestion) -> ShiftResult:
    """Ask the API."""
    columns, items = client_columns(data), known.items
    client = client_of(question, columns=columns, labels=items.labels if known.listed else ())
    if question.history is not None:
        check_history(question.history, identity_of(items, client))
    if question.confirm is not None:
        calls, prices = question.affordable(), question.prices
        text = cost_before(calls=calls, cost=calls * prices.call, currency=prices.currency)
        question.confirm(text)
    rows = rows_of(data, known)
    with (question.progress or nullcontext)() as show:
        return run(items, client, rows, question, past=known.past, progress=show)


def _with_model(result: ShiftResult, question: ShiftQuestion) -> ShiftResult:
    """Say it if the API names another model than in the last run: that costs no call."""
    now = result.usage.models if result.usage is not None else {}
    said = model_change(models_before(question.history, question.since), tuple(now))
    if not said or result.sentences is None:
        return result
    lines = replace(result.sentences, contrast=f"{result.sentences.contrast} {said}".strip())
    return replace(result, verdict=lines.verdict, sentences=lines)


# Gates: which number each compares, and whether it holds.


def with_gates(result: ShiftResult, gates: tuple[Gate, ...]) -> ShiftResult:
    """Return the result with the outcome of every gate, and a verdict that begins with them.

    A test that watched the run decides its gate; every other gate is decided by its interval.
    """
    if not gates:
        return result
    outcomes = list(check_gates(gates, margin=lambda one: metric_estimate(result, one.left)))
    if result.watched is not None:
        watched = (gate.left == "flip_rate" and gate.relation == "<=" for gate in gates)
        place = [*watched].index(True)
        outcomes[place] = replace(outcomes[place], passed=result.watched)
    open_ = [gate for gate, one in zip(gates, outcomes, strict=True) if one.passed is None]
    # More calls do not show how noisy the old API was, and without that such a gate stays open.
    blocked = isinstance(result.noise.excess.estimate, Unknown)
    blocked &= any(gate.left == "flip_rate" for gate in open_)
    more = "old answers per item (--old-draws)" if blocked else "calls"
    return replace(
        result,
        gates=tuple(outcomes),
        verdict=gated_verdict(outcomes, result.verdict),
        sentences=None,
        decision="undecided" if open_ else "decided",
        needed=Needed(None, more) if open_ else None,
    )


def metric_estimate(result: ShiftResult, metric: str) -> GateEstimate:
    """Return the estimate of *metric* with an interval that allows for failed calls.

    A gate that failed calls could turn is undecided.
    """
    name, _, label = metric.partition(":")
    change = result.recall_change[label] if label else _measured(result, name)
    assert change.interval is not None  # check_metric refused what is not known
    within = METRICS[name]
    hides = result.unheard["failed"].hides if "failed" in result.unheard else 0.0
    if label and result.evidence is not None:
        items = result.evidence[0]
        hides = min(1.0, hides / items.mass[items.labels.index(label)])
    low, high = change.interval
    least, most = within or (-1.0, 1.0)
    interval = replace(change.interval, low=max(low - hides, least), high=min(high + hides, most))
    unit: Literal["share", "number"] = "number" if within is None else "share"
    return GateEstimate(change.estimate, interval, unit, within=within)


def _measured(result: ShiftResult, metric: str) -> Change:
    """Return the number that a gate compares."""
    noise = result.noise
    if metric == "flip_rate":
        # The larger of what differs beyond both APIs' noise and of what differs more than before:
        # an API that became flaky gives the same answers on average, and must not pass.
        one, two = noise.beyond, noise.excess
        if one.interval is None or two.interval is None:
            return one
        low, high = (max(ends) for ends in zip(one.interval, two.interval, strict=True))
        larger = two.estimate
        if isinstance(larger, float) and isinstance(one.estimate, float):
            larger = max(larger, one.estimate)
        return Change(estimate=larger, interval=replace(two.interval, low=low, high=high))
    if metric == "stability":
        apart, spread = noise.stability.estimate, noise.stability.interval
        if spread is None:
            return noise.stability
        ends = replace(spread, low=1 - spread.high, high=1 - spread.low)
        return Change(estimate=1 - apart if isinstance(apart, float) else apart, interval=ends)
    if metric == "answers_differ":
        return result.flip_rate
    return result.grade_change or result.accuracy_change


# A part of the items, from the calls of the whole run.


def _slices(result: ShiftResult, parts: Mapping[Any, Any], alpha: float) -> tuple[Slice, ...]:
    """Assess every slice by the calls of the whole run, at alpha over the number of slices."""
    found = []
    for label, chosen in parts.items():
        try:
            found.append(Slice(label, part_of(result, chosen, alpha=alpha / len(parts))))
        except TallystickError as error:
            found.append(Slice(label, str(error)))
    return tuple(found)


def part_of(result: ShiftResult, chosen: ArrayLike, *, alpha: float = 0.05) -> ShiftResult:
    """Assess the *chosen* items alone, by the answers to those of them that were asked.

    Of a stratum's chosen items those that were asked are a random draw: so the part
    is assessed by the same estimator. A part in which fewer than two items were asked is refused.

    Parameters
    ----------
    result
        What :func:`~tallystick.verbs.shift.run` or :func:`~tallystick.verbs.shift.assess`
        returned.
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
    keep = np.asarray(chosen)
    if result.evidence is None or keep.dtype != bool or keep.shape != (result.population,):
        raise InputError(
            "part_of needs a result that run or assess returned, and one boolean for each of its"
            f" {result.population} items; got {keep.dtype} {keep.shape}"
        )
    items, strata, answers, past = result.evidence
    mine = keep[answers.asked]
    if mine.sum() < 2:
        raise NotIdentifiable(TOO_FEW.format(int(mine.sum())))
    place = np.cumsum(keep) - 1
    present, of = np.unique(strata.of[keep], return_inverse=True)
    family = strata.family
    if family is not None:
        family = np.unique(family[present], return_inverse=True)[1]
    asked = Answers.of(
        place[answers.asked[mine]],
        answers.codes[mine],
        blind=None if answers.blind is None else answers.blind[mine],
        why=None if answers.why is None else answers.why[mine],
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
        seed=result.seed,
        answers_are=cast(AnswersAre, result.noise.answers_are),
        past=Past(draws=None if past.draws is None else past.draws[keep], scale=past.scale),
    )


# What else the house asks of a capability.


def item_columns(result: Result, data: Data) -> Mapping[str, Any]:
    """Return the items that were asked, with what was learnt of each."""
    assert isinstance(result, ShiftResult)
    return result.asked


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which shift answers a table with these roles, None if it cannot."""
    if roles.truth is None or roles.old is None or roles.new is None:
        return None
    wanted = ("truth", "old", "new", "confidence")
    return {role: getattr(roles, role) for role in wanted}


def cases_of(result: Result, data: Data) -> Cases | None:
    """Return the items that were asked and got another answer than before.

    None where the rows are not at hand, or where some were left out, so that places of items are
    not places of rows.
    """
    if not isinstance(result, ShiftResult) or result.evidence is None:
        return None
    items, _, answers, _ = result.evidence
    if isinstance(data.held, Tally) or data.n_rows > MOST_ROWS or len(items) != data.n_rows:
        return None
    table = result.asked
    truths = table.get("true", [None] * len(table["new"]))
    found = []
    for place, row in enumerate(answers.asked.tolist()):
        if not table["changed"][place]:
            continue
        true, old, new = (cells[place] for cells in (truths, table["old"], table["new"]))
        votes = (("true", true), ("old", old), ("new", new))
        found.append(
            Found(
                row=int(row),
                kind=_kind(true, old, new),
                summary=f"{old} → {new}" + (f" · true {true}" if true is not None else ""),
                votes=tuple((name, str(value)) for name, value in votes if value is not None),
            )
        )
    order = ("became wrong", "became right", STILL_WRONG, "changed")
    found.sort(key=lambda one: order.index(one.kind))
    counts = [(kind, sum(one.kind == kind for one in found)) for kind in order]
    told = ", ".join(f"{n:,} {kind}" for kind, n in counts if n and kind != "changed")
    line = f"{len(found):,} of {len(table['new']):,} answers changed{': ' + told if told else ''}."
    return gather(data, found, title="Items", line=line)


def _kind(true: object, old: object, new: object) -> str:
    if true is None:
        return "changed"
    if old == true:
        return "became wrong"
    return "became right" if new == true else STILL_WRONG


STILL_WRONG = "wrong before and after"


CAPABILITY: Capability[Any] = Capability(
    verb="shift",
    question=ShiftQuestion,
    answer=answer,
    reads=("truth", "old", "new", "confidence", "item", "by"),
    door=Door(pivots=False, named=("old", "new", "truth")),
    applies=applies,
    items=item_columns,
    cases=cases_of,
    demo=demo,
)
