"""From data that was read to what is known before a call is paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.clients import (
    OTHER_DATA,
    READINGS,
    AnswerReading,
    client_columns,
    is_refusal,
    key_of,
    read_journal,
)
from tallystick.errors import FormatError, InputError
from tallystick.results.numbers import count
from tallystick.table import Data, Label, slice_labels, whole
from tallystick.table.reading_cells import ask_about_placeholder
from tallystick.table.words import is_failed_call
from tallystick.verbs.shift.asking import why_unread
from tallystick.verbs.shift.design import BoolArray, FloatArray, IntArray, Items
from tallystick.verbs.shift.estimates import MAY_HOLD, Past
from tallystick.verbs.shift.noise import refuse_other_versions
from tallystick.verbs.shift.question import ShiftQuestion

# Different answers up to which they are labels; beyond, without a truth, they are texts.
MOST_ANSWERS = 60

# Different numbers with fractions from which on they are measurements, not labels.
MOST_NUMBERS = 30


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedShift:
    """What a table says before anything is asked.

    Parameters
    ----------
    items, past
        The items that have an old answer, and their other old answers.
    kept
        The place of each item among the rows of the table.
    new, why
        The code of each new answer, where the table has them, and why it is none of the labels.
    unread
        The new answers that were not read.
    listed
        Whether the answers are labels, and not texts.
    notes
        What was left out or counted as something else.
    """

    items: Items
    past: Past
    kept: IntArray
    new: IntArray | None
    why: list[int]
    unread: tuple[str, ...]
    listed: bool
    notes: tuple[str, ...]


def prepare(data: Data, question: ShiftQuestion) -> PreparedShift:
    """Return the items of *data*; rows without an old or a new answer are left out.

    What a blank answer was is not known: it does not mean a wrong one. Rows without a true label
    stay: they show what differs, not what is right. An answer that can never be true (``refused``)
    is "none of the labels". Without a column of true labels the old answers take its place.
    """
    roles = data.roles
    if roles.old is None:
        raise InputError("shift compares new answers with old ones: name their column (--old)")
    if question.scale and roles.truth is not None:
        raise InputError("grades say how good an answer is, so they need no true labels (--truth)")
    if roles.truth is not None:
        _refuse_numbers(data, roles.truth)
    said = list(
        dict.fromkeys([roles.old, *question.old_draws, *([roles.new] if roles.new else [])])
    )
    names = [*([roles.truth] if roles.truth else []), *said]
    words: dict[str, list[Label]] = {
        name: list(column) for name, column in data.label_lists(*names).items()
    }
    if roles.truth is not None and not any(one is not None for one in words[roles.truth]):
        raise InputError(_EMPTY.format(roles.truth))
    named = [str(whole(label)).strip() for label in data.rules.labels]
    true = [] if roles.truth is None else words[roles.truth]
    answers = [one for name in said for one in words[name]]
    ask_about_placeholder(data.source, str(roles.truth), true, answers, data.rules)
    replayed = _replayed(data, question)
    if replayed is not None and replayed not in words:
        words[replayed] = list(data.label_lists(replayed)[replayed])
        said.append(replayed)
    notes = _leave_failed_calls(words, said, known=[*true, *named])
    texts = 0
    if roles.truth is None and roles.new is not None and not named:
        texts = _same_or_not(words, roles.old, roles.new)

    new_column = roles.new or replayed
    kept, more = _rows(words, roles.old, new_column, roles.truth)
    notes += more
    labels = named or sorted({str(one) for one in true if one is not None})
    reading = question.answer_reading
    raw = {name: [_text(words[name][row]) for row in kept] for name in said}
    if labels:
        read = {
            name: [_read(reading, text, labels) for text in column] for name, column in raw.items()
        }
    else:
        labels = _scale(_seen(raw, said), question.scale)
        read = raw
    before = read[roles.old]
    strange = tuple(sorted({one for one in before if one is not None} - set(labels)))
    code = {label: n for n, label in enumerate(labels)}
    _refuse_strangers(roles.old, before, labels)
    items = Items.of(
        before if roles.truth is None else [_text(words[roles.truth][row]) for row in kept],
        old=before,
        confidence=_confidence(data, kept),
        labels=labels,
        names=_names(data, kept),
    )
    why = [why_unread(text or "", labels) if text not in code else 0 for text in before]
    items = replace(
        items,
        labelled=roles.truth is not None,
        unclear=np.isin(why, MAY_HOLD) if any(why) else None,
    )
    if strange:
        notes.append(
            f"column {roles.old!r} says {', '.join(strange[:6])}, which is not a true label of any"
            " item: it counts as none of the labels"
        )
    if texts:
        notes.append(
            f"there are {count(texts)} different answers, so they are texts and not labels: only"
            " whether each one changed is counted"
        )
    new, after = None, read.get(roles.new or "", [])
    if roles.new is not None:
        new = np.array([items.code(text) for text in after], np.intp)
        if (new == len(labels)).all():
            _refuse_strangers(roles.new, after, labels)
    missing = [text for text in after if text and text not in code and not is_refusal(text)]
    return PreparedShift(
        items=items,
        past=_past(items, question, read, [roles.old, *question.old_draws]),
        kept=kept,
        new=new,
        why=[0 if text in code else why_unread(text or "", labels) for text in after],
        unread=tuple(missing),
        listed=bool(named) or roles.truth is not None or len(labels) <= MOST_ANSWERS,
        notes=tuple(notes),
    )


_EMPTY = "column {!r} holds no label or answer"
_GAP = "{}: {!r} is blank: give every item one, or leave the column out"
_NO_GRADE = "grades must be numbers on the scale (--scale LO,HI), got {!r}"


def _rows(
    words: Mapping[str, Sequence[Label]], old: str, new: str | None, truth: str | None
) -> tuple[IntArray, list[str]]:
    """Return the rows that have an old and a new answer, and notes about the others."""
    total = len(words[old])
    both = [n for n in range(total) if words[old][n] is not None]
    known = both if new is None else [n for n in both if words[new][n] is not None]
    for name, rows in ((old, both), (new, known)):
        if not rows:
            raise InputError(_EMPTY.format(name))
    notes = []
    for kind, left, of in (
        ("old", total - len(both), total),
        ("new", len(both) - len(known), len(both)),
    ):
        if left:
            notes.append(
                f"{count(left)} of {count(of)} items have no {kind} answer: what it was is not"
                " known, so they are left out (if the API answered nothing there, write a word"
                " such as refused)"
            )
    return np.array(known, np.intp), notes


def _text(word: Label) -> str | None:
    return None if word is None else str(word)


def _read(reading: AnswerReading, text: str | None, labels: Sequence[str]) -> str | None:
    """Return the label in a recorded answer; what cannot be read stays as it is."""
    if text is None or text in labels:
        return text
    return reading.label(text, labels) or text


def _seen(raw: Mapping[str, Sequence[str | None]], names: Sequence[str]) -> list[str]:
    """Without a truth every word of any column is an answer like any other."""
    return sorted({one for name in names for one in raw[name] if one is not None})


def _scale(seen: list[str], scale: tuple[float, float] | None) -> list[str]:
    """Return all grades of a scale that are possible: its ends, and whole numbers or those seen."""
    if scale is None:
        return seen
    low, high = map(float, scale)
    numbers = _numbers(seen)
    for text, number in zip(seen, numbers, strict=True):
        if not low <= number <= high:
            raise InputError(_NO_GRADE.format(text))
    if all(number.is_integer() for number in (low, high, *numbers)):
        return [str(n) for n in range(int(low), int(high) + 1)]
    return sorted([*seen, *(f"{end:g}" for end in scale if end not in numbers)], key=float)


def _numbers(labels: Sequence[str]) -> list[float]:
    try:
        return [float(label) for label in labels]
    except ValueError as error:
        raise InputError(_NO_GRADE.format(", ".join(labels[:6]))) from error


def grade_scale(labels: Sequence[str]) -> FloatArray:
    """Return the grades as numbers on [0, 1], from the lowest to the highest.

    >>> grade_scale(("1", "2", "5")).tolist()
    [0.0, 0.25, 1.0]
    """
    numbers = np.array(_numbers(labels))
    return np.asarray((numbers - numbers[0]) / (numbers[-1] - numbers[0]))


def _past(
    items: Items,
    question: ShiftQuestion,
    read: Mapping[str, Sequence[str | None]],
    names: Sequence[str],
) -> Past:
    """Return the other old answers; refuse a blank one, and columns of another version."""
    scale = None if question.scale is None else grade_scale(items.labels)
    if not question.old_draws:
        return Past(scale=scale)
    if question.since is not None:
        raise InputError("old_draws (--old-draws) are not used with --since: leave one out")
    columns = [items.old]
    for name in names[1:]:
        if None in read[name]:
            item = items.names[list(read[name]).index(None)]
            raise InputError(_GAP.format(f"item {item}", name))
        columns.append(np.array([items.code(text) for text in read[name]], np.intp))
    draws = np.stack(columns, axis=1)
    refuse_other_versions(draws, names, items.labels)
    return Past(draws=draws, scale=scale)


def _replayed(data: Data, question: ShiftQuestion) -> str | None:
    """Return the column of recorded answers that stands for the API, if one does."""
    api = question.api
    column = api.removeprefix("replay:") if isinstance(api, str) else None
    return column if column != api and column in client_columns(data) else None


def _names(data: Data, kept: IntArray) -> list[str] | None:
    item = data.roles.item
    if item is None:
        return None
    cells = data.cells(item)[item]
    return [str(whole(cells[row])) for row in kept]


def _confidence(data: Data, kept: IntArray) -> NDArray[np.float64] | None:
    column = data.roles.confidence
    if column is None:
        return None
    numbers: NDArray[np.float64] = data.numbers(column)[kept, 0]
    blank = np.flatnonzero(np.isnan(numbers))
    if len(blank):
        raise InputError(_GAP.format(data.place(int(kept[blank[0]]) + 1), column))
    return numbers


def _same_or_not(words: dict[str, list[Label]], old: str, new: str) -> int:
    """Turn texts into one label for the old answer and one for any other; say how many there are.

    A matrix of hundreds of texts says nothing: of texts only whether they changed can be counted.
    Few different answers are labels, and stay as they are.
    """
    seen = {str(word) for name in (old, new) for word in words[name] if word is not None}
    if len(seen) <= MOST_ANSWERS:
        return 0
    first, second = words[old], words[new]
    words[new] = [
        None if after is None else "as before" if after == before else "another"
        for before, after in zip(first, second, strict=True)
    ]
    words[old] = [None if word is None else "as before" for word in first]
    return len(seen)


# Answers that a table holds already: failed calls, numbers, and words that no label shares. Each of
# these would be counted as a wrong answer, and make an API look worse than it is.


def _leave_failed_calls(
    words: dict[str, list[Label]], said: Sequence[str], *, known: Sequence[Label]
) -> list[str]:
    """Take failed calls for no answer in the columns of answers; return the notes."""
    notes, labels = [], {str(label) for label in known if label is not None}
    for name in said:
        texts = [None if word is None else str(word) for word in words[name]]
        failed = Counter(
            text for text in texts if text and text not in labels and is_failed_call(text)
        )
        if not failed:
            continue
        words[name] = [
            None if text in failed else word for text, word in zip(texts, words[name], strict=True)
        ]
        given = sum(text is not None for text in texts)
        shown = ", ".join(repr(text) for text, _ in failed.most_common(3))
        notes.append(
            f"failed calls are no answers: {count(failed.total())} of {count(given)} items are left"
            f" out, which have {shown} in {name!r}"
        )
    return notes


def _refuse_numbers(data: Data, truth: str) -> None:
    """Refuse measurements: an answer of 0.44 to a true 0.45 is not simply wrong.

    Numbers are measurements where most of many different ones have fractions.
    """
    cells = [cell for cell in data.cells(truth)[truth] if cell is not None]
    numbers = []
    for cell in cells:
        try:
            numbers.append(float(str(cell)))
        except ValueError:
            continue
    known = {number for number in numbers if np.isfinite(number)}
    fractions = sum(number != np.floor(number) for number in known)
    many = len(known) > MOST_NUMBERS and 2 * fractions >= len(known)
    if not many or len(numbers) < 0.9 * len(cells):
        return
    raise InputError(
        f"{data.source}: column {truth!r} holds {count(len(known))} different numbers,"
        f" {min(known):g} and {max(known):g}: shift compares labels. Cut the numbers into classes"
        " first; or write how far each answer is from the truth into two columns, old_error and"
        " new_error, and compare those (tallystick compare FILE)"
    )


def _refuse_strangers(column: str, texts: Sequence[str | None], labels: Sequence[str]) -> None:
    """Refuse answers of which hardly one is a label, and that are not refusals either."""
    odd = Counter(text for text in texts if text and not is_refusal(text) and text not in labels)
    if 2 * sum(text not in labels for text in texts) <= len(texts) or 2 * odd.total() < len(texts):
        return
    shown = ", ".join(repr(text[:40]) for text, _ in odd.most_common(3))
    raise InputError(
        f"most answers in {column!r} are none of the labels: it holds {shown}, and the labels are"
        f" {', '.join(map(repr, labels[:5]))}{' …' if len(labels) > 5 else ''}. If they mean the"
        " same, write them alike; if an answer is a sentence, say how it is read (--answer)"
    )


# What a client gets, and which items belong to each slice.


def rows_of(data: Data, known: PreparedShift) -> list[Mapping[str, Any]]:
    """Return what a client gets of each item: its row, blank cells as None."""
    columns = client_columns(data)
    cells: Mapping[str, Sequence[Any]] = data.cells(*columns)
    return [{name: cells[name][row] for name in columns} for row in known.kept]


def slices_of(data: Data, known: PreparedShift) -> dict[Label, BoolArray]:
    """Return which items belong to each slice that has any, in the order of the slices."""
    column = data.roles.by
    if column is None:
        return {}
    cells = data.cells(column)[column]
    values = [cells[row] for row in known.kept]
    parts = {label: np.array([value == label for value in values]) for label in slice_labels(data)}
    return {label: chosen for label, chosen in parts.items() if chosen.any()}


# The answers of a finished run, or of a baseline, in place of the old ones.


def since(items: Items, journal: Any) -> Items:
    """Return the items with the answers of a journal in place of the old ones, where it asked.

    So the next assessment starts from the last: a change that was seen already is not seen again as
    a new one. Items that were not asked keep their older answer. Answers are read anew, as the
    journal says.
    """
    head, answers = read_journal(journal)
    how = str(head.get("reading") or READINGS[0])
    # Ways of reading that are gone: what they read is read as a statement.
    reading = AnswerReading(READINGS[0] if how in ("last-letter", "schema") else how)
    labels, none = items.labels, len(items.labels)
    then = (*map(str, head.get("labels", ())), "")
    place, old = {name: n for n, name in enumerate(items.names)}, items.old.copy()
    unclear = np.zeros(len(items), bool) if items.unclear is None else items.unclear.copy()
    for key, entry in answers.items():
        if entry.item not in place:
            raise FormatError(OTHER_DATA.format(journal, entry.item))
        if key != key_of(entry.item, 1) or entry.code is None:
            continue
        said = then[entry.code] if "labels" in head else ""
        if said and said not in labels:
            raise InputError(
                f"the journal {journal} holds the answer {said!r} to item {entry.item!r}, which is"
                f" not among the labels {', '.join(labels[:8])}: name all labels (--labels)"
            )
        n = place[entry.item]
        old[n] = reading.code(entry.answer, labels)
        why = why_unread(entry.text, labels, cut=entry.cut) if old[n] == none else 0
        unclear[n] = why in MAY_HOLD
    return replace(items, old=old, unclear=unclear if unclear.any() else None)
