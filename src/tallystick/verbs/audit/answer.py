"""From a table to one answer: tell the columns, ask every capability that applies, conclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import AskError, InputError, TallystickError
from tallystick.registry import capabilities, summary
from tallystick.results import (
    Decision,
    Figure,
    Needed,
    PatternTable,
    Result,
    ResultPart,
    Section,
)
from tallystick.table import (
    Capability,
    Cases,
    Data,
    Demo,
    Door,
    Question,
    Reading,
    Roles,
    Table,
    Tally,
    answered,
    read,
    with_reading,
)
from tallystick.table.capability import draw_answers, draw_truth
from tallystick.table.reading import VOTERS
from tallystick.table.reading_names import ROLE_NAMES, plain
from tallystick.table.roles import ALL_ROLES


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
    question = Question(alpha=alpha, seed=rng)
    options = with_reading(options)
    # Roles are for the verbs; how the rows are laid out is for whoever opens them.
    roles = {name: options.pop(name) for name in list(options) if name in ALL_ROLES}
    inside = {name: options.pop(name) for name in list(options) if name in _OF_VERBS}
    # A second file is joined by the columns that are named.
    joining = ("item", "truth") if options.get("truth_file") else ()
    keys: dict[str, Any] = {n: v for n, v in roles.items() if n in joining}
    opened = read(source, Door(repeats=True), **options, **keys)
    with nullcontext() if isinstance(source, Data | Table) else opened:
        known = opened.roles.__dict__.items()
        found = {k: v for k, v in known if v and opened.how.get(k, "named") == "named"}
        rules = {k: v for k, v in opened.rules.__dict__.items() if v}
        answers, skipped, asked = _ask_all(opened, {**found, **roles, **inside, **rules}, question)
        result = concluded(answers, skipped, seed=seed_of(question.seed))
        # The line on top says what the caller said, in the caller's words.
        readings = [one.reading for one in answers if one.reading is not None]
        said = [r for r in VOTERS if roles.get(r)]
        readings.sort(key=lambda one: not all(getattr(one, role) for role in said))
        return replace(result, notes=opened.notes, asked=asked, reading=next(iter(readings), None))


_OF_VERBS = ("judge", "vote", "separator", "ignore", "metric")
"""Options that say what columns are, which every verb reads for itself."""


def _ask_all(
    data: Data, options: Mapping[str, Any], question: Question
) -> tuple[list[Result], list[Skipped], dict[str, tuple[str, Mapping[str, Any]]]]:
    """Run every verb that the reading allows."""
    answers: list[Result] = []
    asked: dict[str, tuple[str, Mapping[str, Any]]] = {}
    skipped: list[Skipped] = []
    questions: list[AskError] = []
    # A table that one verb reads by the names of its columns holds no votes for the others.
    named = any(options.get(role) for role in ("judges", "models", "weak", "prediction"))
    voters = next((held for role in VOTERS if (held := options.get(role))), None)
    own = [] if named else [one for one in capabilities() if _is_own_table(one, data)]
    for capability in own or capabilities():
        if not own and not _may_answer(capability, data, options):
            continue
        # Columns that vote are named once, whatever a verb calls them.
        want = capability.door.want
        given: Mapping[str, Any] = {
            **({want: voters} if want in VOTERS and voters else {}),
            **{k: v for k, v in options.items() if k not in ALL_ROLES or k in capability.reads},
            "alpha": question.alpha,
            "seed": question.seed,
        }
        try:
            answer = answered(capability, data.held, given)
            answers.append(answer)
            asked[answer.verb] = (capability.verb, given)
        except AskError as error:
            if error.role != "prediction":
                questions.append(error)
                skipped.append(Skipped(capability.verb, str(error)))
        except TallystickError as error:
            skipped.append(Skipped(capability.verb, str(error)))
    if not answers and questions:
        raise questions[0]
    return answers, skipped, asked


def _is_own_table(capability: Capability[Any], data: Data) -> bool:
    """Say whether a verb reads the table by the names of its columns."""
    told = capability.door.as_it_is
    if told is None or not isinstance(data.held, Table) or not told(data.held, Roles()):
        return False
    if capability.columns is None or capability.door.verb:
        return True
    # Rounds of models may be held against a truth elsewhere too; a log of attempts may not.
    try:
        return "fooled" in (capability.columns(data) or ())
    except TallystickError:
        return _roles_by_name(data) >= {"round", "judge"}


def _roles_by_name(data: Data) -> set[str]:
    """Return the roles that have a column by its name."""
    held = data.held
    columns = {plain(name) for name in (held.names if isinstance(held, Tally) else held.columns)}
    return {role for role, usual in ROLE_NAMES.items() if columns & {*usual}}


def _may_answer(capability: Capability[Any], data: Data, options: Mapping[str, Any]) -> bool:
    """Say whether a table has what a verb cannot do without."""
    known = {role for role in ALL_ROLES if options.get(role)} | _roles_by_name(data)
    if capability.applies is None or capability.input != "required":
        return False
    if options.get("models") and "truth" not in known and capability.door.want != "models":
        return False  # scores of models are nobody's votes
    least = {"shift": {"old", "new"}, "dynamic analyse": {"round"}, "score": {"system"}}
    least["bound"] = {"prediction"} if "score" not in known else set()
    return least.get(capability.verb, set()) <= known


# The items behind the first answer of an audit that has any.


def cases_of(result: AuditResult, data: Data) -> Cases | None:
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
        found = one.cases(part, read(data.table, one.door, **reading))
        if found is not None and found.cases:
            return replace(found, line=f"{part.verb.capitalize()}: {found.line}")
    return None


# A table for the demonstration: one team's table that answers several questions.


_TICKETS = ("billing", "bug", "login", "refund")
_ACCURACY = {"model_a": 0.87, "model_b": 0.83, "model_c": 0.76}


def demo(rng: Rng) -> Demo:
    """Return 2,400 support tickets."""
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
            "old": names[old],
            "new": names[np.where(moved, 0, old)],
            "conf_old": np.round(sure, 4),
            **answers,
        },
    )


# One answer for a whole table: one section per capability, and one verdict on top.


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
    sections
        One result per capability that applied.
    skipped
        Capabilities that seemed to apply but could not answer, and why.
    asked
        By the verb of a section, the capability that answered ("dynamic analyse") and its options.
    """

    verb: ClassVar[str] = "audit"

    sections: tuple[Result, ...]
    skipped: tuple[Skipped, ...] = ()
    asked: Mapping[str, tuple[str, Mapping[str, Any]]] = field(
        default_factory=dict, repr=False, metadata={"private": True}
    )

    def _question(self, verb: str) -> str:
        """Return what a section answers."""
        return summary(self.asked[verb][0] if verb in self.asked else verb)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per question, answered or not."""
        names = ("question", "by", "decision", "answer", "to settle it")
        found = [
            (self._question(part.verb), part.verb, part.decision, part.verdict, part.needed)
            for part in self.sections
        ]
        left = [
            (summary(part.verb), part.verb, "not answered", part.reason, None)
            for part in self.skipped
        ]
        return [
            dict(zip(names, (*cells, needed and str(needed)), strict=True))
            for *cells, needed in (*found, *left)
        ]

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

    def folds(self) -> tuple[Section, ...]:
        """Return how each verb reads the table, where that is not the first line."""
        first = None if self.reading is None else self.reading.line()
        lines = {p.verb: p.reading.line() for p in self.sections if p.reading is not None}
        notes = tuple(f"{verb}: {line}" for verb, line in lines.items() if line != first)
        line = "What each verb takes the columns for, where that differs."
        return (Section(title="Columns", line=line, notes=notes),) if notes else ()

    def result_parts(self) -> tuple[ResultPart, ...]:
        """Return one part per question, answered or not."""
        answered = [
            ResultPart(p.verb, self._question(p.verb), p.opening.answer, p) for p in self.sections
        ]
        left = [ResultPart(p.verb, summary(p.verb), p.reason) for p in self.skipped]
        return (*answered, *left)


# The words of an audit: what the sections say together, and what a reader could misread.


def concluded(
    sections: Sequence[Result],
    skipped: Sequence[Skipped],
    *,
    seed: int | None = None,
) -> AuditResult:
    """Put the sections under one verdict."""
    if not sections:
        reasons = "; ".join(f"{part.verb}: {part.reason}" for part in skipped)
        raise InputError(
            f"nothing here can be answered ({reasons or 'no capability applies to these columns'})"
        )
    decisions = {part.decision for part in sections}
    # settled only if all of it is
    decision: Decision = decisions.pop() if len(decisions) == 1 else "undecided"
    needs = [part.needed for part in sections if part.needed is not None]
    left = f" {len(skipped)} more could not be answered." if skipped else ""
    return AuditResult(
        verdict=" ".join(part.opening.answer for part in sections) + left,
        decision=decision,
        needed=_most(needs) if decision == "undecided" else None,
        n_items=max(part.n_items for part in sections),
        assumptions=_told(sections, "assumptions"),
        warnings=(*_limits(sections), *_told(sections, "warnings")),
        seed=seed,
        sections=tuple(sections),
        skipped=tuple(skipped),
    )


_WEIGHED = ("compare", "judge", "bound", "score")
"""The capabilities that take counts and weights."""


def _limits(sections: Sequence[Result]) -> list[str]:
    """Say which sections leave out the counts or weights that others use."""
    said = []
    others = [part.verb for part in sections if part.verb not in _WEIGHED]
    used = [part.verb for part in sections if part.verb in _WEIGHED]
    read = [p.reading for p in sections if isinstance(p.reading, Reading)]
    for role in ("count", "weight"):
        name = next((held for one in read if (held := getattr(one, role))), None)
        if name is not None and others:
            reach = f"is used by {' and '.join(used)} only" if used else "is not used"
            said.append(
                f"the {role} {name!r} {reach}; every row counts once in {' and '.join(others)}"
            )
    return said


def _told(sections: Sequence[Result], field: str) -> tuple[str, ...]:
    return tuple(f"{part.verb}: {text}" for part in sections for text in getattr(part, field))


def _most(needs: Sequence[Needed]) -> Needed | None:
    """Return the largest need, since it settles the most; one without a number only if there is no
    other.
    """
    return max(needs, key=lambda need: -1 if need.count is None else need.count, default=None)
