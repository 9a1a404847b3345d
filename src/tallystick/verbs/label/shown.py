"""What a reader sees: cells as text, without whose output it is and what others said of it."""

from __future__ import annotations

import re
import shutil
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from tallystick.errors import InputError
from tallystick.results import harmless, names_of
from tallystick.sampling.tasks import LabelTask
from tallystick.table import Data, Label, identifier, spelling, without_missing
from tallystick.table.reading_facts import Facts, draw

if TYPE_CHECKING:
    from tallystick.table.session import Ask
    from tallystick.verbs.label.work import Work

BLIND = "Blind: no system, judge or other reader is shown."

_LOOKED = 5_000
"""Rows that are looked at to see whether columns tell the outputs of an item apart."""

_SOMEBODY = {"system", "model", "judge", "annotator", "rater", "worker", "engine", "bot", "agent"}
"""Names of columns that say whose output a row is, or who read it."""

_VOTING = ("judges", "models", "weak", "prediction", "old", "new")
_SAYING = (*_VOTING, "truth", "system", "score", "confidence", "annotator", "validators")


def shown_columns(
    data: Data, task: LabelTask, wanted: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that a reader sees, and what the user should know of them.

    By default the item and the texts, so that the reader is blind. Without a text: all columns that
    tell nothing.
    """
    columns = data.table.columns
    for name in wanted:
        if name not in columns:
            raise InputError(
                f"show names column {name!r}, which {data.source} does not have: it has"
                f" {', '.join(columns[:8])}"
            )
    if wanted:
        return tuple(wanted), ()
    # The item comes first: it may be the question itself, and without it nobody finds the output.
    named = tuple(name for name in (data.roles.item,) if name is not None)
    others = [name for name in columns if name not in named]
    hidden = telling(data, task, others)
    silent = [name for name in others if name not in hidden]
    texts = [name for name, one in _facts(data, silent).items() if one.is_text]
    found, system = (*named, *(texts or silent)), data.roles.system
    if system is not None and not _tells_apart(data, found):
        # Readers are blind to the system, unless nothing else says which output is meant.
        note = f"readers see column {system!r}: no other says which output"
        return (*found, system), (note,)
    return found, ()


def _tells_apart(data: Data, show: Sequence[str]) -> bool:
    """Say whether some column besides the item differs between the outputs of an item."""
    item = data.roles.item
    others = [identifier(name) for name in show if name != item]
    if not others or item is None:
        return False
    differ = " or ".join(f"count(distinct {name}) > 1" for name in others)
    some = f"(select * from rows limit {_LOOKED})"
    found = data.table.query(
        f"select {differ} from {some} group by {identifier(item)} having count(*) > 1"
    )
    return not found or any(differs for (differs,) in found)


def blindness(names: Sequence[str]) -> str:
    """Say whether readers are blind, given the columns that they see and should not.

    >>> print(blindness(["gpt", "system"]))
    Not blind: gpt and system are shown.
    """
    if not names:
        return BLIND
    return (
        f"Not blind: {names_of(names, most=len(names))} {'are' if len(names) > 1 else 'is'} shown."
    )


def telling(data: Data, task: LabelTask, columns: Iterable[str]) -> tuple[str, ...]:
    """Return those of *columns* that hold votes, labels, judges or systems.

    A column does so by its role, because it is called after a judge or a model, or because it holds
    nothing but labels of the task.

    >>> from tallystick.table import read
    >>> from tallystick.verbs.label.begin import label_question
    >>> table = {"gpt": ["a", "b"], "llama": ["b", "B "], "text": ["a", "else"], "model": ["x", "y"]}
    >>> data, asked = read(table, judges=("gpt",)), label_question("prevalence")
    >>> task = asked.labelling(data, asked.question(positive="a"))
    >>> telling(data, task, table)
    ('gpt', 'llama', 'model')
    """
    asked = tuple(columns)
    voters = data.roles.columns(*_VOTING)
    known = {*task.columns, *data.roles.columns(*_SAYING), *_labels(data, task, asked)}
    known |= {name for name in asked if called_after(name, voters)}
    known |= {name for name in asked if _word(name) in _SOMEBODY}
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
        or (_word(title) in _SOMEBODY and len(text.split()) == 1)
    )


def called_after(name: str, voters: Iterable[str]) -> bool:
    """Return whether a column is called after one of *voters*, so that it is theirs.

    >>> called_after("gpt_reason", ["gpt"]), called_after("text", ["gpt"])
    (True, False)
    """
    words = _parts(name)
    # A judge called "a" is no reason to hide "a_text": a name has at least three characters.
    return any(
        _word(one) == _word(name) or (len(one) > 2 and _parts(one) <= words) for one in voters
    )


def _parts(name: str) -> set[str]:
    """Return the words of a name: gptReason and gpt_reason have two."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z0-9]+", spaced.lower()))


def _facts(data: Data, columns: Sequence[str]) -> dict[str, Facts]:
    """Return what columns hold; those that the reading did not look at are looked at now."""
    new = [name for name in columns if name not in data.facts]
    seen = {
        **data.facts,
        **(draw(data.table, new, missing=data.rules.missing).facts if new else {}),
    }
    return {name: seen[name] for name in columns}


def _labels(data: Data, task: LabelTask, columns: Sequence[str]) -> list[str]:
    """Return the columns whose cells are all labels, or grades on the scale."""
    facts = _facts(data, columns)
    if task.scale is not None:
        return [name for name, one in facts.items() if one.is_inside(*task.scale)]
    words = {_word(spelling(label)) for label in task.classes}
    held = {name: {_word(spelling(label)) for label in one.labels} for name, one in facts.items()}
    return [name for name, seen in held.items() if seen and seen <= words]


def _word(label: Label) -> str:
    return str(label).strip().lower()


# What the table says in a few of its rows: names for the session, texts for whoever reads them.


class RowCells:
    """Cells of single rows, fetched when they are first asked for.

    Only these rows leave the engine: a table of a million texts stays where it is.

    Parameters
    ----------
    data
        The table.
    item, system
        The columns that name a row; None where the table has no such column.
    show
        The columns that a reader sees.

    Examples
    --------
    >>> from tallystick.table import read
    >>> cells = RowCells(read({"id": [7, 8], "text": ["x", None]}), "id", None, ("text",))
    >>> cells.name(1), cells.shown(0), cells.shown(1)
    (('8', None), ('x',), ('',))
    """

    def __init__(
        self,
        data: Data,
        item: str | None,
        system: str | None,
        show: Sequence[str],
    ) -> None:
        self._table = data.table
        kinds = data.table.kinds
        named = [
            "null" if name is None else without_missing(name, kinds[name], ())
            for name in (item, system)
        ]
        self._columns = [*named, *(f"cast({identifier(name)} as varchar)" for name in show)]
        self._found: dict[int, tuple[Any, ...]] = {}

    def fetch(self, rows: Iterable[int]) -> None:
        """Get rows that will be asked for, in one scan."""
        missing = sorted(set(rows) - self._found.keys())
        if not missing:
            return
        names = [f"c{k}" for k in range(len(self._columns))]
        cells = ", ".join(
            f"{cell} as {name}" for cell, name in zip(self._columns, names, strict=True)
        )
        listed = ", ".join(map(str, missing))
        for place, *found in self._table.query(
            f"select place_, {cells} from (select *, row_number() over () - 1 as place_ from rows)"
            f" where place_ in ({listed})"
        ):
            self._found[int(place)] = tuple(None if one is None else str(one) for one in found)

    def name(self, row: int) -> tuple[str | None, str | None]:
        """Return item and system of a row; None where the table has no such column or cell."""
        self.fetch([row])
        return self._found[row][0], self._found[row][1]

    def shown(self, row: int) -> tuple[str, ...]:
        """Return the cells that a reader sees, as text."""
        self.fetch([row])
        return tuple("" if one is None else one for one in self._found[row][2:])


# Label in the terminal: one item at a time, one key and Enter.


_HELP = (
    "s skip · n note · l list my answers · c 7 correct answer 7 · q stop (everything is saved)"
    " · ? this help"
)


def label_in_terminal(
    work: Work,
    *,
    reader: str,
    lines: Callable[[], str],
    out: TextIO,
    batch: int | None = None,
) -> int:
    """Ask one item after the other until the reader stops or nothing is left; return the count.

    Each answer is on the disk before the next item is shown. No estimate is shown on the way: it
    would invite stopping when it looks good.

    Parameters
    ----------
    work
        The session.
    reader
        Who answers.
    lines
        Returns the next line that the reader types; raises EOFError at the end.
    out
        Where to write.
    batch
        How many items to draw at a time; by default as many as the forecast says.
    """
    given = 0
    earlier: Ask | None = None
    _say(out, _HELP, work.blindness)
    while True:
        ask = earlier or _next(work, reader, batch)
        if ask is None:
            _say(out, "Nothing is left to label.")
            return given
        [cells] = work.shown([ask])
        _say(out, f"\n{ask.number + 1} of {len(work.session.asks)}")
        for name, cell in zip(work.session.head.show, cells, strict=True):
            _say(out, f"{name}:", _wrapped(cell))
        _say(out, f"{work.session.head.ask} {_choices(work)}")
        try:
            earlier = _one(work, ask.number, reader, lines, out)
        except (EOFError, KeyboardInterrupt):
            return given
        given += earlier is None


def _next(work: Work, reader: str, batch: int | None) -> Ask | None:
    """Return what this reader reads next, drawing a batch if the first has none left."""
    waiting = work.session.open_asks(reader)
    if not waiting and reader == work.session.head.readers[0] and work.standing().stop is None:
        waiting = list(work.next(batch))
    return waiting[0] if waiting else None


def _one(work: Work, ask: int, reader: str, lines: Callable[[], str], out: TextIO) -> Ask | None:
    """Take one answer, or return the ask to show instead; EOFError where the reader stops."""
    began, note, given = time.monotonic(), "", dict(work.given(reader))
    while True:
        word = lines().strip()
        key, _, rest = word.lower().partition(" ")
        if key in ("q", "quit"):
            raise EOFError
        if key == "?":
            _say(out, _HELP)
        elif key == "l":
            for one, answer in given.items():
                said = "skip" if answer.skipped else answer.label
                _say(out, f"{one.number + 1}: {one.item or one.row + 1}: {said}")
        elif key == "c" and rest.strip().isdecimal():
            for one in given:
                if one.number == int(rest) - 1:
                    return one
            _say(out, f"You have not answered {rest}: l lists your answers.")
        elif key in ("n", "note"):
            note = word.partition(" ")[2].strip() or lines().strip()
        elif word:
            try:
                label = None if key in ("s", "skip") else _label(work, word)
                seconds = time.monotonic() - began
                work.answer(ask, label, reader=reader, note=note, seconds=seconds)
            except InputError as error:
                _say(out, str(error))
                continue
            return None


def _label(work: Work, word: str) -> Any:
    """Return the label of a key (its number in the list, where one is shown) or of its own text."""
    classes = work.task.classes
    if _numbered(work) and word.isdecimal() and 1 <= int(word) <= len(classes):
        return classes[int(word) - 1]
    return work.label_of(word)


def _numbered(work: Work) -> bool:
    """Say whether labels have keys: not where a label is a number itself."""
    return not any(str(one).isdecimal() for one in work.task.classes)


def _choices(work: Work) -> str:
    if work.task.scale is not None:
        low, high = work.task.scale
        return f"[{low:g} to {high:g}]"
    texts = [str(one) for one in work.task.classes]
    if _numbered(work):
        texts = [f"{k} {text}" for k, text in enumerate(texts, start=1)]
    return f"[{' / '.join(texts)}]"


def _wrapped(cell: str) -> str:
    width = min(shutil.get_terminal_size((80, 24)).columns, 100) - 2
    lines = cell.splitlines() or ["(blank)"]
    return "\n".join(
        textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ") or ""
        for line in lines
    )


def _say(out: TextIO, *texts: str) -> None:
    # Cells are foreign: characters that steer a terminal are written out, line by line.
    lines = [line for text in texts for line in text.split("\n")]
    out.write("\n".join(map(harmless, lines)) + "\n")
    out.flush()
