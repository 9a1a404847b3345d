"""Label in the terminal: one item at a time, one key and Enter."""

from __future__ import annotations

import shutil
import textwrap
import time
from collections.abc import Callable
from typing import Any, TextIO

from tallystick.errors import InputError
from tallystick.results import harmless
from tallystick.verbs.label.begin import Work

_HELP = "s skip · u undo · n note · q stop (everything is saved) · ? this help"


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
    first = work.session.head.readers[0]
    _say(out, _HELP)
    _say(out, work.blindness)
    while True:
        waiting = work.session.open_asks(reader)
        if not waiting and reader == first:
            if work.standing().stop is not None:
                _say(out, "Nothing more is needed.")
                return given
            waiting = list(work.next(batch))
        if not waiting:
            _say(out, "Nothing is left to label.")
            return given
        ask = waiting[0]
        [cells] = work.shown([ask])
        total = len(work.session.asks)
        _say(out, f"\n{total - len(waiting) + 1} of {total}")
        for name, cell in zip(work.session.head.show, cells, strict=True):
            _say(out, f"{name}:")
            _say(out, _wrapped(cell))
        _say(out, f"{work.session.head.ask} {_choices(work)}")
        done = _one(work, ask.number, reader, lines, out)
        if done is None:
            return given
        given += done


def _one(work: Work, ask: int, reader: str, lines: Any, out: TextIO) -> int | None:
    """Take one answer: 1 for an answer, 0 for an undo, None to stop."""
    began, note = time.monotonic(), ""
    while True:
        try:
            word = lines().strip()
        except (EOFError, KeyboardInterrupt):
            return None
        if word.lower() in ("q", "quit"):
            return None
        if word == "?":
            _say(out, _HELP)
        elif word.lower() == "u":
            undone = work.undo(reader)
            _say(out, "There is nothing to undo." if undone is None else "Undone.")
            if undone is not None:
                return 0
        elif word.lower() in ("n", "note") or word.lower().startswith("n "):
            note = word[2:].strip() or lines().strip()
            _say(out, "The note goes with the answer.")
        elif word:
            try:
                label = None if word.lower() in ("s", "skip") else _label(work, word)
            except InputError as error:
                _say(out, str(error))
                continue
            work.answer(ask, label, reader=reader, note=note, seconds=time.monotonic() - began)
            return 1


def _label(work: Work, word: str) -> Any:
    """Return the label of a key (its number in the list) or of its own text."""
    classes = work.task.classes
    texts = {str(one).lower() for one in classes}
    if classes and word.isdecimal() and word not in texts and 1 <= int(word) <= len(classes):
        return classes[int(word) - 1]
    return work.label_of(word)


def _choices(work: Work) -> str:
    if work.task.scale is not None:
        low, high = work.task.scale
        return f"[{low:g} to {high:g}]"
    texts = [str(one) for one in work.task.classes]
    if any(text.isdecimal() for text in texts):
        return f"[{' / '.join(texts)}]"
    return f"[{' / '.join(f'{k} {text}' for k, text in enumerate(texts, start=1))}]"


def _wrapped(cell: str) -> str:
    width = min(shutil.get_terminal_size((80, 24)).columns, 100) - 2
    lines = cell.splitlines() or ["(blank)"]
    return "\n".join(
        textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ") or ""
        for line in lines
    )


def _say(out: TextIO, text: str) -> None:
    # Cells are foreign: characters that steer a terminal are written out, line by line.
    out.write("\n".join(harmless(line) for line in text.split("\n")) + "\n")
    out.flush()
