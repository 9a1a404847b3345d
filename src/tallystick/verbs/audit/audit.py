"""From a table to one answer: tell the columns, ask every capability that applies, conclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from shlex import quote
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import AskError, InputError, TallystickError
from tallystick.registry import ENTRIES, capabilities
from tallystick.report.terminal import ResultPart
from tallystick.results import Decision, Figure, Interval, Needed, PatternTable, Result
from tallystick.table import (
    GROUPS,
    Cases,
    Data,
    Demo,
    Detection,
    Door,
    LabelRules,
    Layout,
    Question,
    Reading,
    Roles,
    Table,
    Taken,
    answered,
    by_slice,
    detect,
    identifier,
    read,
    reading_of,
)
from tallystick.table.frames import draw_answers, draw_truth
from tallystick.table.outputs import find_outputs
from tallystick.table.reading import How


@dataclass(frozen=True, kw_only=True)
class AuditQuestion(Question):
    """What is asked of a table that nobody has looked at: only the level and the seed."""


def audit(source: Any, *, alpha: float = 0.05, rng: Rng = 0, **options: Any) -> AuditResult:
    """Look at the columns of *source* and run all that applies.

    Parameters
    ----------
    source
        Whatever `tallystick.table.door` takes.
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
    result = replace(result, notes=data.notes, asked=asked, reading=reading_found(data, found))
    if data.roles.by is None:
        return result

    def part(piece: Data, alpha: float) -> Result:
        whole = replace(piece, roles=replace(piece.roles, by=None))
        return look(whole, found, replace(question, alpha=alpha))

    return replace(result, slices=by_slice(data, part, alpha=question.alpha))


def reading_found(data: Data, found: Detection) -> Reading:
    """Return the reading of a table whose columns have been told."""
    roles = found.roles
    # The same columns may serve several questions; each is named once.
    if (roles.weak and (roles.prediction or roles.score)) or set(roles.judges) <= {
        roles.old,
        roles.new,
    }:
        roles = replace(roles, judges=())
    else:
        roles = replace(roles, weak=())
    how: dict[str, How] = {
        role: "only candidate" if role in GROUPS and not data.table.long else "by name"
        for role, held in roles.__dict__.items()
        if held and not getattr(data.roles, role)
    }
    aside = {n: part.why for part in found.taken if part.role == "not used" for n in part.columns}
    named = {role: way for role, way in data.how.items() if getattr(data.roles, role)}
    rules = replace(data.rules, missing=found.missing)
    return reading_of(
        replace(data, roles=roles, rules=rules, how={**how, **named}, unused=aside, memory=None)
    )


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
            how = "; ".join(answered(capability, data.table, options).read_line())
        except TallystickError as error:
            how = str(error)
        raise by_name_words(capability.verb, data.source, how, found)

    # Several systems answer each item: no group of columns, but outputs that are graded.
    if find_outputs(data.table, data.roles, Layout())[1].system is None:
        return
    for capability in capabilities():
        if "system" not in capability.reads:
            continue
        try:
            how = "; ".join(answered(capability, data.table, options).read_line())
        except TallystickError:
            continue  # not graded outputs after all
        raise by_name_words(capability.verb, data.source, how, found)


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


# The items behind the first answer of an audit that has any.


def cases_of(result: AuditResult, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items of the first section that lists some, said with its question."""
    by_verb = {one.verb: one for one in capabilities()}
    for part in result.sections:
        verb, options = result.asked.get(part.verb, (part.verb, None))
        one = by_verb.get(verb)
        if one is None or one.cases is None or options is None:
            continue
        own = {field.name for field in fields(one.question)}
        reading = {name: value for name, value in options.items() if name not in own}
        # The whole table, since texts have no role and were left out of the answer's columns.
        found = one.cases(part, read(data.table, one.door, **reading), texts=texts)
        if found is not None and found.cases:
            return replace(found, line=f"{part.verb.capitalize()}: {found.line}")
    return None


# A table for the demonstration: one team's table that answers several questions.


_TICKETS = ("billing", "bug", "login", "refund")
_ACCURACY = {"model_a": 0.87, "model_b": 0.83, "model_c": 0.76}


def demo(rng: Rng) -> Demo:
    """Return 2,400 support tickets: three rounds, three models, and an API in two versions."""
    draw = as_rng(rng)
    n = 2400
    truth, hard = draw_truth(n, (0.4, 0.3, 0.2, 0.1), draw), draw.standard_normal(n)
    names = np.array(_TICKETS)
    sure = np.clip(0.75 - 0.12 * hard + 0.05 * draw.standard_normal(n), 0.01, 0.99)
    old = draw_answers(truth, 0.84, 4, draw, hard=hard, shared=0.6)
    moved = (draw.random(n) < 0.3) & (truth == 3)
    answers = {
        name: names[draw_answers(truth, right, 4, draw, hard=hard, shared=0.6)]
        for name, right in _ACCURACY.items()
    }
    return Demo(
        story=(
            "A team's table of 2,400 support tickets: three rounds, three models, an API in two"
            " versions."
        ),
        table={
            "item": np.arange(n),
            "round": np.repeat(np.arange(1, 4), n // 3),
            "truth": names[truth],
            "pred_old": names[old],
            "pred_new": names[np.where(moved, 0, old)],
            "conf_old": np.round(sure, 4),
            **answers,
        },
    )


# One answer for a whole table: one section per capability, and one verdict on top.


def question_of(verb: str) -> str:
    """Return what the capability of *verb* answers, as the registry says it."""
    return next((entry.summary for entry in ENTRIES if entry.verb == verb), verb)


@dataclass(frozen=True)
class Skipped:
    """A capability that could not answer here, and why."""

    verb: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class AuditResult(Result):
    """All that a table can answer.

    Parameters
    ----------
    columns
        What each column was taken for, and why.
    sections
        One result per capability that applied.
    skipped
        Capabilities that seemed to apply but could not answer, and why.
    asked
        By the verb of a section, the capability that answered ("dynamic analyse") and its options.
    """

    verb: ClassVar[str] = "audit"

    columns: tuple[Taken, ...]
    sections: tuple[Result, ...]
    skipped: tuple[Skipped, ...] = ()
    asked: Mapping[str, tuple[str, Mapping[str, Any]]] = field(
        default_factory=dict, repr=False, metadata={"private": True}
    )

    def _question(self, verb: str) -> str:
        """Return what a section answers."""
        return question_of(self.asked[verb][0] if verb in self.asked else verb)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per question, answered or not."""
        answered = [
            {
                "question": self._question(part.verb),
                "by": part.verb,
                "decision": part.decision,
                "answer": part.verdict,
                "to settle it": None if part.needed is None else str(part.needed),
            }
            for part in self.sections
        ]
        left = [
            {
                "question": question_of(part.verb),
                "by": part.verb,
                "decision": "not answered",
                "answer": part.reason,
                "to settle it": None,
            }
            for part in self.skipped
        ]
        return answered + left

    def figures(self) -> tuple[Figure, ...]:
        """Return the first picture of every section, then the others."""
        pictures = [part.figures() for part in self.sections]
        first = [each[0] for each in pictures if each]
        return (*first, *(figure for each in pictures for figure in each[1:]))

    def patterns(self) -> PatternTable | None:
        """Return what the first section with something to attach to items has learnt of them."""
        return next(
            (found for part in self.sections if (found := part.patterns()) is not None), None
        )

    @property
    def headline(self) -> str:
        """The verdict over all questions, in one sentence."""
        return self.verdict

    @property
    def grounds(self) -> tuple[str, ...]:
        """What each column was taken for, and why."""
        return tuple(map(str, self.columns))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings that belong to no single section."""
        told = {f"{part.verb}: {text}" for part in self.sections for text in part.warnings}
        return tuple(text for text in self.warnings if text not in told)

    def parts(self) -> tuple[ResultPart, ...]:
        """Return one part per question, answered or not."""
        answered = [
            ResultPart(p.verb, self._question(p.verb), p.answer_line, p) for p in self.sections
        ]
        left = [ResultPart(p.verb, question_of(p.verb), p.reason) for p in self.skipped]
        return (*answered, *left)

    def summary(self) -> str:
        """Return the verdict, then what every section says of itself."""
        sections = [f"\n{question_of(part.verb)}\n{part.summary()}" for part in self.sections]
        left = [f"\n{question_of(part.verb)}\nNot answered: {part.reason}" for part in self.skipped]
        return "\n".join([self.verdict, *sections, *left])


# The words of an audit: what the sections say together, and what a reader could misread.


def concluded(
    found: Detection,
    sections: Sequence[Result],
    skipped: Sequence[Skipped],
    *,
    seed: int | None = None,
) -> AuditResult:
    """Put the sections under one verdict; without any the reasons are the error."""
    if not sections:
        reasons = "; ".join(f"{part.verb}: {part.reason}" for part in skipped)
        raise InputError(
            f"nothing here can be answered ({reasons or 'no capability applies to these columns'})"
        )
    decisions = {part.decision for part in sections}
    # settled only if all of it is
    decision: Decision = decisions.pop() if len(decisions) == 1 else "undecided"
    needs = [part.needed for part in sections if part.needed is not None]
    return AuditResult(
        verdict=_verdict(sections, len(skipped)),
        decision=decision,
        needed=_most(needs) if decision == "undecided" else None,
        n_items=max(part.n_items for part in sections),
        assumptions=(
            *(f"columns: {part}" for part in found.taken if part.role not in ("not used", "text")),
            *_told(sections, "assumptions"),
        ),
        warnings=(*found.notes, *_limits(found, sections), *_told(sections, "warnings")),
        seed=seed,
        columns=found.taken,
        sections=tuple(sections),
        skipped=tuple(skipped),
    )


def by_name_words(verb: str, source: str, how: str, found: Detection) -> AskError:
    """Ask whether this is a table that a verb reads by the names of its columns."""
    asked = "; ".join(map(str, found.questions))
    shown = f" ({how.removeprefix('read: ')})" if how else ""
    return AskError(
        f"{source}: this may be a table that {verb} reads{shown}. Otherwise, {asked}",
        role="verb",
        candidates=(verb,),
        calls=(f"tallystick {verb} {quote(source)}",),
    )


_WEIGHED = ("compare", "judge", "bound", "score", "dynamic analyse")
"""The capabilities that take counts and weights."""


def _limits(found: Detection, sections: Sequence[Result]) -> list[str]:
    """Say what a reader of several sections side by side could misread."""
    said = []
    plain = [part.verb for part in sections if part.verb not in _WEIGHED]
    used = [part.verb for part in sections if part.verb in _WEIGHED]
    for role in ("count", "weight"):
        name = getattr(found.roles, role)
        if name is not None and plain:
            reach = f"is used by {' and '.join(used)} only" if used else "is not used"
            said.append(
                f"the {role} {name!r} {reach}; every row counts once in {' and '.join(plain)}"
            )
    counted = [part.verb for part in sections if _is_count(part)]
    if counted:
        said.append(
            f"every label is known, so the answer of {' and '.join(counted)} is exact for these"
            " items and says nothing about new ones"
            + (
                ". The intervals of compare are for new items like these"
                if sections[0].verb == "compare"
                else ""
            )
        )
    return said


def _is_count(part: Result) -> bool:
    """Whether no interval of the main table has any width: nothing was left to estimate."""
    intervals = [cell for row in part.rows() for cell in row.values() if isinstance(cell, Interval)]
    return bool(intervals) and all(interval.width < 1e-12 for interval in intervals)


def _verdict(sections: Sequence[Result], left: int) -> str:
    """Return what every section answers, one sentence each, and how many could not answer."""
    more = f" {left} more could not be answered." if left else ""
    return " ".join(part.answer_line for part in sections) + more


def _told(sections: Sequence[Result], field: str) -> tuple[str, ...]:
    return tuple(f"{part.verb}: {text}" for part in sections for text in getattr(part, field))


def _most(needs: Sequence[Needed]) -> Needed | None:
    """Return the largest need, since it settles the most; one without a number only if there is no
    other.
    """
    return max(needs, key=lambda need: -1 if need.count is None else need.count, default=None)
