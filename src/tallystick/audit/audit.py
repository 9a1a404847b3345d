"""From a table to one answer: tell the columns, ask every capability that applies, conclude."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from tallystick._rng import Rng, seed_of
from tallystick.audit.result import AuditResult, Skipped
from tallystick.audit.verdict import by_name_words, concluded
from tallystick.data import (
    GROUPS,
    Data,
    Detection,
    Door,
    Layout,
    Question,
    Roles,
    answered,
    by_slice,
    detect,
    read,
)
from tallystick.data.outputs import find_outputs
from tallystick.errors import InputError, TallystickError
from tallystick.io import Table, identifier
from tallystick.registry import capabilities
from tallystick.results import Result
from tallystick.values import LabelRules

__all__ = ["AuditQuestion", "audit"]


@dataclass(frozen=True, kw_only=True)
class AuditQuestion(Question):
    """What is asked of a table that nobody has looked at: only the level and the seed."""


def audit(source: Any, *, alpha: float = 0.05, rng: Rng = 0, **options: Any) -> AuditResult:
    """Look at the columns of *source* and run all that applies.

    Parameters
    ----------
    source
        Whatever `tallystick.data.read` takes.
    alpha
        One minus the level of every interval.
    rng
        Of whatever is drawn.
    **options
        Roles, layout and label rules, as for `read`. What is said here is not asked and not
        guessed. A question that is still open is an error that names the option which answers it.

    Examples
    --------
    >>> columns = {"gold": list("abb") * 40, "gpt": list("aba") * 40, "claude": list("abb") * 40}
    >>> result = audit({"id": range(120), **columns})
    >>> [section.verb for section in result.sections], result.n_items
    (['compare', 'judge'], 120)
    """
    question = AuditQuestion(alpha=alpha, seed=rng)
    layout = Layout(
        ignore=options.pop("ignore", ()), rows_are_items=bool(options.get("rows_are_items"))
    )
    # Globs are expanded by `detect`, which passes over what has another role by then.
    groups = {role: options.pop(role) for role in list(options) if role in GROUPS}
    data = read(source, Door(repeats=True), **options)
    with nullcontext() if isinstance(source, Data | Table) else data:
        # Tokens that were said settle the question, also the empty one: every word is an answer.
        said = data.rules.missing
        missing = tuple(token for token in said if token) if said else None
        given = replace(data.roles, **_groups(groups))
        found = detect(data.table, given, layout, missing=missing, coerce=data.rules.coerce)
        if found.questions and not groups:
            _name_reader(data, found, question)
        found.ask(data.source)
        return look(data, found, question)


def look(data: Data, found: Detection, question: Question) -> AuditResult:
    """Ask every capability that applies to columns that have been told."""
    answers, skipped, asked = _ask_all(data, found, question)
    result = concluded(found, answers, skipped, seed=seed_of(question.seed))
    result = replace(result, notes=data.notes, asked=asked)
    if data.roles.by is None:
        return result

    def part(piece: Data, alpha: float) -> Result:
        whole = replace(piece, roles=replace(piece.roles, by=None))
        return look(whole, found, replace(question, alpha=alpha))

    return replace(result, slices=by_slice(data, part, alpha=question.alpha))


def _name_reader(data: Data, found: Detection, question: Question) -> None:
    """Where a capability reads such a table by the names of its columns, refuse by naming it.

    A log of attempts has one row per event: no group of its columns answers one question. Nor does
    one of a table of outputs, in which several systems answer each item. Columns of the same names
    may mean something else, so that nothing is answered here.
    """
    options = {"alpha": question.alpha, "seed": question.seed}
    for capability in capabilities():
        told = capability.door.as_it_is
        if told is None or not told(data.table, data.roles):
            continue
        try:
            how = "; ".join(answered(capability, data.table, options).notes)
        except TallystickError as error:
            how = str(error)
        raise InputError(by_name_words(capability.verb, data.source, how, found))

    # Several systems answer each item: no group of columns, but outputs that are graded.
    if find_outputs(data.table, data.roles, Layout())[1].system is None:
        return
    for capability in capabilities():
        if "system" not in capability.reads:
            continue
        try:
            how = "; ".join(answered(capability, data.table, options).notes)
        except TallystickError:
            continue  # not graded outputs after all
        raise InputError(by_name_words(capability.verb, data.source, how, found))


def _groups(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the groups of columns that the caller named, each as a tuple of patterns."""
    named = Roles.of(given)
    return {role: getattr(named, role) for role in given}


def _narrow(table: Table, roles: Roles) -> Table:
    """Return the columns that have a role: what the others are has been settled by now."""
    used = set(roles.columns())
    names = tuple(name for name in table.columns if name in used)
    projected = table.relation.project(", ".join(map(identifier, names)))
    return replace(table, relation=projected, columns=names)


def _ask_all(
    data: Data, found: Detection, question: Question
) -> tuple[list[Result], list[Skipped], dict[str, tuple[str, Mapping[str, Any]]]]:
    """Run all that applies; what applies but cannot answer says why."""
    answers: list[Result] = []
    asked: dict[str, tuple[str, Mapping[str, Any]]] = {}
    skipped: list[Skipped] = []
    rules = LabelRules(missing=found.missing, coerce=data.rules.coerce, labels=data.rules.labels)
    table = _narrow(data.table, found.roles)
    for capability in capabilities():
        options = capability.applies(found.roles) if capability.applies is not None else None
        if options is None:
            continue
        given: Mapping[str, Any] = {
            **{name: value for name, value in options.items() if value not in (None, ())},
            **{name: value for name, value in rules.__dict__.items() if value},
            "alpha": question.alpha,
            "seed": question.seed,
        }
        try:
            answers.append(answered(capability, table, given))
            asked[answers[-1].verb] = (capability.verb, given)
        except TallystickError as error:
            skipped.append(Skipped(capability.verb, str(error)))
    return answers, skipped, asked
