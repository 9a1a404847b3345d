"""Rows that ask the same: forty prompts, each of them twenty-five times, are not a thousand items.

A number in front of every row makes it look like an item of its own. What was asked shows that it
is not, and every interval from such rows is too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.data.data import Data
from tallystick.data.detect.names import plain
from tallystick.io import Table, identifier

__all__ = ["RepeatedQuestion", "repeated_question"]

_ASKED = frozenset(
    {"prompt", "question", "query", "input", "inputs", "instruction", "user_input", "problem"}
    | {"task", "text", "passage", "context", "document", "conversation", "dialogue", "thread"}
    | {"conversation_id", "session_id", "thread_id", "dialogue_id", "document_id", "doc_id"}
)
"""Columns that say what was asked, or in which conversation."""

_ROWS = 20
_OFTEN = 2.0
"""Rows per question from which on they are not items of their own."""

_MOST_ROWS = 5_000_000


@dataclass(frozen=True, kw_only=True)
class RepeatedQuestion:
    """A column whose cells repeat, its different cells, and all rows that have one."""

    column: str
    cells: int
    rows: int


def repeated_question(data: Data) -> RepeatedQuestion | None:
    """Return the column that shows that rows ask the same; None if none does, or a role says so.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"prompt": list("abcd") * 10, "x": [0, 1] * 20, "y": [1, 1] * 20}
    >>> repeated_question(read(table, judges=("x", "y")))
    RepeatedQuestion(column='prompt', cells=4, rows=40)
    """
    table, roles = data.held, data.roles
    if not isinstance(table, Table) or roles.cluster or roles.replicate or roles.weight:
        return None
    if not _ROWS <= data.n_rows <= _MOST_ROWS or roles.systems:
        return None
    names = [n for n in table.columns if plain(n) in _ASKED and n not in roles.columns()]
    with_system = f", {identifier(roles.system)}" if roles.system in table.columns else ""
    for name in names[:4]:
        cell = identifier(name)
        [(cells, rows)] = table.query(
            f"select count(distinct ({cell}{with_system})), count({cell}) from rows"
            f" where {cell} is not null"
        )
        # Two cells are a kind of task and not a question.
        if cells > 2 and rows >= _ROWS and rows >= _OFTEN * cells:
            return RepeatedQuestion(column=name, cells=cells, rows=rows)
    return None
