"""Which columns would tell a reader what others said of an item, or whose output it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tallystick.data import Data
from tallystick.data.detect.names import TEXTS, are_voters, plain, tokens
from tallystick.data.outputs import SYSTEM_NAMES
from tallystick.io import identifier
from tallystick.sampling.labels.task import LabelTask
from tallystick.values import NUMBER, Label, without_missing
from tallystick.values.sql import literal

__all__ = ["BLIND", "blindness", "called_after", "telling", "telling_cells"]

BLIND = "Blind: no system, judge or other reader is shown."

_LOOKED = 5_000
"""Rows that are looked at first: either a column holds votes, or it does not."""

_TEXT, _MANY = 60, 20
"""A column with a longer cell, or with more values that are mostly different, is there to be read:
it holds no names, labels or numbers.
"""

_LONG = 3
"""Characters of a name after which another column can be called."""

_READ = TEXTS | {
    "answer",
    "completion",
    "generation",
    "input",
    "output",
    "reply",
    "response",
    "summary",
    "translation",
}
"""Words for what is judged, whoever wrote it: llm_answer."""

_VOTING = ("judges", "models", "weak", "prediction", "old", "new")
_SAYING = (*_VOTING, "truth", "system", "score", "confidence", "annotator", "validators")


def blindness(names: Sequence[str]) -> str:
    """Say whether readers are blind, given the columns that they see and should not.

    >>> print(blindness(["gpt", "system"]))
    Not blind: gpt and system are shown.
    """
    if not names:
        return BLIND
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"Not blind: {listed} {'are' if len(names) > 1 else 'is'} shown."


def telling(data: Data, task: LabelTask, columns: Iterable[str]) -> tuple[str, ...]:
    """Return those of *columns* that hold votes, labels, judges or systems.

    A column does so by its role, by its name, or because it holds nothing but labels of the task.

    >>> from tallystick.data import read
    >>> from tallystick.label.questions import label_question
    >>> table = {"gpt": ["a", "b"], "llama": ["b", "B "], "text": ["a", "else"], "model": ["x", "y"]}
    >>> data, asked = read(table, judges=("gpt",)), label_question("prevalence")
    >>> task = asked.task(data, asked.options({"positive": "a"}))
    >>> telling(data, task, table)
    ('gpt', 'llama', 'model')
    """
    asked = tuple(columns)
    known = {*task.columns, *data.roles.columns(*_SAYING)}
    voters = data.roles.columns(*_VOTING)
    known |= set(_labels(data, task, asked))
    known |= {name for name in asked if called_after(name, voters)}
    texts = set(_texts(data, [name for name in asked if name not in known]))
    known |= {name for name in asked if name not in texts and _names_somebody(name)}
    return tuple(name for name in asked if name in known)


def telling_cells(cells: Mapping[str, str], labels: Iterable[str]) -> tuple[str, ...]:
    """Return the titles of a single row that name a system, or under which a label stands.

    >>> telling_cells({"Model": "bot-7", "Text": "Pass the salt", "Verdict": "Pass"}, ["pass"])
    ('Model', 'Verdict')
    """
    words = {_word(one) for one in labels}
    return tuple(
        title
        for title, text in cells.items()
        if (title and _word(text) in words)
        or (plain(title) in SYSTEM_NAMES and len(text.split()) == 1)
    )


def called_after(name: str, voters: Iterable[str]) -> bool:
    """Return whether a column is called after one of *voters*, so that it is theirs.

    >>> called_after("gpt_reason", ["gpt"]), called_after("text", ["gpt"])
    (True, False)
    """
    words = set(tokens(name))
    # A judge called "a" is no reason to hide "a_text".
    return any(
        plain(one) == plain(name) or (len(one) >= _LONG and set(tokens(one)) <= words)
        for one in voters
    )


def _names_somebody(name: str) -> bool:
    """Return whether a column is called as those of systems, judges and models are."""
    said = not _READ & set(tokens(name)) and (
        are_voters((name,), "judges") or are_voters((name,), "models")
    )
    return said or plain(name) in SYSTEM_NAMES


def _labels(data: Data, task: LabelTask, columns: Sequence[str]) -> list[str]:
    """Return the columns whose cells are all labels, or grades on the scale."""
    kinds = data.table.kinds
    cells = [without_missing(name, kinds[name], data.rules.missing) for name in columns]
    allowed = [_is_label(f"cast({cell} as varchar)", task) for cell in cells]
    counts = [
        f"count({cell}), count(*) filter ({cell} is not null and not ({test}))"
        for cell, test in zip(cells, allowed, strict=True)
    ]

    def looked(places: Sequence[int], rows: str) -> dict[int, tuple[int, int]]:
        if not places:
            return {}
        [found] = data.table.query(f"select {', '.join(counts[k] for k in places)} from {rows}")
        return {k: (found[2 * i], found[2 * i + 1]) for i, k in enumerate(places)}

    seen = looked(range(len(columns)), f"(select * from rows limit {_LOOKED})")
    # A column that is blank at the beginning may hold a few labels further down.
    seen |= looked([k for k, (filled, _) in seen.items() if not filled], "rows")
    return [columns[k] for k, (filled, others) in seen.items() if filled and not others]


def _is_label(cell: str, task: LabelTask) -> str:
    """Return the SQL that says whether a cell, itself SQL, is a label."""
    number = f"try_cast({cell} as double)"
    if task.scale is not None:
        return f"coalesce({number} between {task.scale[0]!r} and {task.scale[1]!r}, false)"
    words = [_word(one) for one in task.classes]
    numbers = ", ".join(repr(float(one)) for one in words if NUMBER.fullmatch(one))
    listed = ", ".join(map(literal, words))
    test = f"lower(trim({cell})) in ({listed})"
    return f"({test} or coalesce({number} in ({numbers}), false))" if numbers else test


def _word(label: Label) -> str:
    return str(label).strip().lower()


def _texts(data: Data, columns: Sequence[str]) -> list[str]:
    """Return the columns that are there to be read."""
    parts = []
    for name in columns:
        cell = f"cast({identifier(name)} as varchar)"
        # Numbers are mostly different too, and not to be read.
        worded = f"filter (try_cast({cell} as double) is null)"
        parts += [f"max(length({cell}))", f"count({cell})", f"count(distinct {cell}) {worded}"]
    if not parts:
        return []
    [found] = data.table.query(
        f"select {', '.join(parts)} from (select * from rows limit {_LOOKED})"
    )
    sizes = zip(columns, *(found[k::3] for k in range(3)), strict=True)
    return [
        name
        for name, longest, filled, different in sizes
        if (longest or 0) > _TEXT or different > max(_MANY, filled / 2)
    ]
