"""Which columns of outputs are grades: those of people, by their name, and those of judges.

Grades need not share one set of labels, as votes do: one judge says pass and fail, another gives 1
to 5. What decides is what a column holds: words for pass and fail, 0 and 1, or numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tallystick.data.defaults import default_columns, free_columns
from tallystick.data.detect.names import MEASURES, is_truth, may_be_truth, tokens
from tallystick.data.detect.profile import Profile, look
from tallystick.data.detect.reading import listed
from tallystick.data.detect.sample import draw
from tallystick.data.roles import Roles
from tallystick.errors import InputError
from tallystick.io import Table
from tallystick.values import as_pass_fail, is_no_answer

__all__ = ["find_human_grades", "grade_columns", "is_human"]

_PEOPLE = frozenset({"human", "humans", "expert", "experts", "oracle", "gold", "truth"})
"""Words in the name of a column that holds the grades of people."""

_SPARSE = 0.5
"""Share of the rows that a person has graded at most, where judges graded most of them."""

_MOSTLY = 0.9
"""Share of a column's values that are numbers, for it to hold grades."""


def is_human(name: str) -> bool:
    """Return whether a column is named like the grades of people.

    >>> is_human("Human Label"), is_human("gold"), is_human("humanity_score"), is_human("gpt")
    (True, True, False, False)
    """
    return is_truth(name) or bool(set(tokens(name)) & _PEOPLE)


def find_human_grades(table: Table, roles: Roles) -> tuple[Roles, tuple[str, ...]]:
    """Return the roles with the column of human grades, where exactly one is named like that."""
    if roles.truth is not None:
        return roles, ()
    held = roles.holders()
    likely = [name for name in table.columns if is_human(name) and name not in held]
    if not likely:
        return _sparse_label(table, roles)
    if len(likely) > 1:
        raise InputError(
            f"{table.source}: columns {listed(likely)} are named like human grades. Say which of"
            f" them is (--truth {likely[0]!r})"
        )
    note = f"column {likely[0]!r} holds the human grades"
    return replace(roles, truth=likely[0]), (note,)


def _sparse_label(table: Table, roles: Roles) -> tuple[Roles, tuple[str, ...]]:
    """Take a column such as ``label`` for the human grades, if it is mostly blank beside judges.

    A judge grades every output, and a person a few of them. This is how a service exports them.
    """
    named = [name for name in table.columns if may_be_truth(name) and name not in roles.holders()]
    if len(named) != 1:
        return roles, ()
    profiles = look(draw(table))
    others = [name for name in free_columns(table, profiles, roles)[0] if name != named[0]]
    judges = [name for name in others if _is_mark(profiles[name]) or _is_numeric(profiles[name])]
    own = profiles[named[0]]
    sparse = 0 < own.filled < _SPARSE * own.rows and (_is_mark(own) or _is_numeric(own))
    if not sparse or not any(2 * profiles[name].filled > profiles[name].rows for name in judges):
        return roles, ()
    note = (
        f"column {named[0]!r} holds the human grades: it is blank on most rows. If it is a judge,"
        f" name all judges (--judges {','.join((*judges, named[0]))})"
    )
    return replace(roles, truth=named[0]), (note,)


def _is_numeric(profile: Profile) -> bool:
    return profile.numeric >= _MOSTLY


def grade_columns(
    table: Table, roles: Roles, missing: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of judges' grades, and what was taken and left out.

    Beside human grades that are pass or fail, judges who say pass or fail are taken, and only
    without them those who give numbers. Beside human grades that are numbers, both are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> table = {"gpt": [80, 20, 55] * 9, "human": [71, 12, None] * 9, "tokens": [9, 99, 999] * 9}
    >>> grade_columns(scan(pa.table(table)), Roles(truth="human"))[0]
    ('gpt',)
    """
    profiles = look(draw(table, missing=missing))
    free, left_out = free_columns(table, profiles, roles)
    people = [name for name in free if is_human(name)]
    left_out |= dict.fromkeys(people, "named like human grades")
    other = _other_questions(free, people, roles.truth)
    left_out |= other
    marks = [name for name in free if name not in (*people, *other) and _is_mark(profiles[name])]
    numbers = [
        name
        for name in free
        if name not in (*people, *other, *marks)
        and profiles[name].numeric >= _MOSTLY
        and not set(tokens(name)) & MEASURES
    ]
    truth = None if roles.truth is None else profiles[roles.truth]
    both = truth is not None and not _is_mark(truth) and truth.numeric >= _MOSTLY
    taken = tuple(name for name in free if name in (*marks, *numbers)) if both else ()
    taken = taken or tuple(marks) or tuple(numbers)
    if not taken:
        return default_columns(table, roles, "judges", missing)
    for name in free:
        if name not in taken:
            reason = "numbers, while others say pass or fail" if name in numbers else "no grades"
            left_out.setdefault(name, reason)
    out = "; ".join(f"{name!r} ({reason})" for name, reason in left_out.items())
    note = f"judges: {listed(taken, 12)}" + (f". Left out: {out}" if out else "")
    return taken, (note,)


def _other_questions(
    free: Sequence[str], people: Sequence[str], truth: str | None
) -> dict[str, str]:
    """Return the judges of another question than *truth* answers, as their names say.

    ``gpt_style`` is held against ``human_style``, and says nothing about ``human_correctness``.
    """
    if truth is None:
        return {}
    own = {*tokens(truth)} - _PEOPLE
    found: dict[str, str] = {}
    for person in people:
        topic = {*tokens(person)} - _PEOPLE - own
        if topic and own:
            found |= {
                name: f"graded by people as {person!r}"
                for name in free
                if name not in people and topic <= {*tokens(name)} and not own <= {*tokens(name)}
            }
    return found


def _is_mark(profile: Profile) -> bool:
    """Return whether a column says pass and fail, or 0 and 1, and nothing else."""
    said = [label for label in profile.values if not is_no_answer(label)]
    if not said or len(said) > 4:
        return False
    if as_pass_fail(said) is not None:
        return True
    return {str(label).removesuffix(".0") for label in said} <= {"0", "1"}
