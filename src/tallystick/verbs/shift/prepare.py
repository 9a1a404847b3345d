"""From data that was read to what is known before a call is paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.clients import AnswerReading, read_label, same_label
from tallystick.errors import InputError
from tallystick.results import Needed
from tallystick.sampling.estimate import OddDraw, if_drawn, odd_draw
from tallystick.table import Data, Label, check_vocabulary, slice_labels, spelling, whole
from tallystick.table.cells import identity, in_order
from tallystick.table.one_spelling import whole_numbers
from tallystick.verbs.shift.asking import (
    failed_replays,
    pointed_to_compare,
    refuse_no_shared_label,
    refuse_numbers,
    without_failed_calls,
)
from tallystick.verbs.shift.design import Items
from tallystick.verbs.shift.question import ShiftQuestion, read_matrix
from tallystick.verbs.shift.result import ShiftResult
from tallystick.verbs.shift.verdict import reading_notes, unclear_answers

BoolArray = NDArray[np.bool_]

MOST_ANSWERS = 60
"""Different answers up to which they are labels; beyond, without a truth, they are texts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedShift:
    """What a table says before anything is asked.

    Parameters
    ----------
    items
        The items that have a true label.
    kept
        The place of each item among the rows of the table.
    new
        The code of each new answer, where the table has them.
    draws
        The code of every old answer, items x K, the first draw first; None if there is but one.
    unclear, unread
        Which of them may hold a label that was not read, and the texts that are no label.
    notes
        What was left out or counted as something else.
    """

    items: Items
    kept: NDArray[np.intp]
    new: NDArray[np.intp] | None
    draws: NDArray[np.intp] | None = None
    unclear: BoolArray | None = None
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...]


def prepare(data: Data, question: ShiftQuestion) -> PreparedShift:
    """Return the items of *data*; rows without a true label, an old or a new answer are left out.

    What a blank answer was is not known: it does not mean a wrong one. An answer that can never be
    true (``refused``) is "none of the labels". Without a column of true labels the old answers take
    its place (`Items.labelled`).
    """
    roles = data.roles
    if roles.truth is None and roles.old is None:
        raise InputError(
            "shift compares new answers with old ones, and with true labels where there are any:"
            " name the column of old answers (--old) or of true labels (--truth)"
        )
    if question.grader is not None and roles.truth is not None:
        raise InputError("grades say how good an answer is, so they need no true labels (--truth)")
    new_column = roles.new or grade_column(data, question)
    _check_old_draws(data, question)
    draws = question.old_draws
    answers = [name for name in (roles.truth, roles.old, new_column, *draws) if name is not None]
    if question.grader is None and roles.truth is not None:
        refuse_numbers(data, roles.truth)
    words: Mapping[str, Sequence[Label]] = data.label_lists(*dict.fromkeys(answers))
    truth_column = str(roles.truth or roles.old)
    said = [name for name in answers if name != roles.truth]
    named = [*(words[roles.truth] if roles.truth else ()), *data.rules.labels, *question.other]
    words, failed = without_failed_calls(words, said, named=named)
    lost, more = failed_replays(data, question.api, named=named)
    failed = (*failed, *more)
    rows = len(words[truth_column])
    true, both, known = _rows_with_answers(data, words, new_column, lost)
    kept = np.array(known, np.intp)

    names = None
    if roles.item is not None:
        cells = data.cells(roles.item)[roles.item]
        names = [str(whole(cells[row])) for row in kept]
    texts = 0
    if roles.truth is None and roles.new is not None and roles.old is not None:
        words, texts = _same_or_not(words, roles.old, roles.new)
    labels = [_spelled(label, data) for label in data.rules.labels] or None
    if question.answer and roles.truth is not None:
        words = _read(words, data, question, labels)
    other, strange = _other(data, question, words, labels)
    if roles.truth is None:
        # Every word of either column is an answer like any other.
        seen = {str(one) for name in answers for one in words[name] if one is not None}
        labels, other = labels or (sorted(seen) if question.grader is None else _scale(seen)), []
    items = Items.of(
        _texts(words[truth_column], kept),
        old=None if roles.old is None else _texts(words[roles.old], kept),
        matrix=None if question.old_matrix is None else read_matrix(question.old_matrix),
        confidence=_confidence(data, kept),
        labels=labels,
        other=other,
        names=names,
    )
    items = replace(items, labelled=roles.truth is not None)
    if strange and items.old is not None:
        before = _texts(words[str(roles.old)], kept)
        items = replace(items, unclear=unclear_answers(before, items.old, items.labels))

    new, unclear = None, None
    unread: tuple[str, ...] = ()
    if new_column is not None:
        after = _texts(words[new_column], kept)
        new = np.array([items.code(text) for text in after], np.intp)
        if items.labelled:
            refuse_no_shared_label(new_column, after, new, items.labels)
            unclear = unclear_answers(after, new, items.labels)
            unread = _unread_texts(after, new, items.labels, other)
    notes = reading_notes(
        no_truth=rows - len(true) if roles.truth is not None else 0,
        no_old=len(true) - len(both) if roles.truth is not None else rows - len(both),
        no_new=len(both) - len(known),
        items=rows,
        column=roles.old,
        strange=strange,
        texts=texts,
    )
    notes = (*notes, *failed, *_marks_note(roles.old, new_column, labelled=items.labelled))
    return PreparedShift(
        items=items,
        kept=kept,
        new=new,
        draws=_draws(data, items, words, draws, kept),
        unclear=unclear,
        unread=unread,
        notes=notes,
    )


def _rows_with_answers(
    data: Data,
    words: Mapping[str, Sequence[Label]],
    new_column: str | None,
    lost: frozenset[int],
) -> tuple[list[int], list[int], list[int]]:
    """Return the rows with a true label, those with an old answer too, and those with all."""
    roles = data.roles
    truth_column = str(roles.truth or roles.old)
    true = [n for n, label in enumerate(words[truth_column]) if label is not None]
    if not true:
        kind = "true label" if roles.truth is not None else "old answer"
        raise InputError(f"{data.source}: column {truth_column!r} holds no {kind}")
    both = true if roles.old is None else [n for n in true if words[roles.old][n] is not None]
    if not both:
        raise InputError(f"{data.source}: column {roles.old!r} holds no old answer")
    known = both if new_column is None else [n for n in both if words[new_column][n] is not None]
    known = [n for n in known if n not in lost]
    if not known:
        raise InputError(f"{data.source}: column {new_column!r} holds no new answer")
    return true, both, known


def _marks_note(old: str | None, new: str | None, *, labelled: bool) -> tuple[str, ...]:
    """Say that compare answers which is better, where the two columns say right or wrong."""
    way = "" if labelled or old is None or new is None else pointed_to_compare([old, new])
    return (way.removeprefix(". "),) if way else ()


def _read(
    words: Mapping[str, Sequence[Label]],
    data: Data,
    question: ShiftQuestion,
    labels: Sequence[str] | None,
) -> dict[str, list[Label]]:
    """Return the old and new answers as ``--answer`` reads them; what it cannot read stays."""
    reading = AnswerReading(question.answer or "exact", data.rules.coerce)
    truth = str(data.roles.truth)
    known = labels or sorted({str(label) for label in words[truth] if label is not None})

    def read(word: Label) -> Label:
        if word is None or str(word) in known:
            return word
        return reading.label(str(word), known) or word

    return {
        name: list(column) if name == truth else [read(word) for word in column]
        for name, column in words.items()
    }


def _unread_texts(
    texts: Sequence[str | None],
    codes: NDArray[np.intp],
    labels: Sequence[str],
    other: Sequence[str],
) -> tuple[str, ...]:
    """Return the answers that are no label, apart from words that mean none of the labels."""
    none, named = len(labels), set(other)
    return tuple(
        text
        for text, code in zip(texts, codes.tolist(), strict=True)
        if code == none and text is not None and text not in named
    )


def _same_or_not(
    words: Mapping[str, Sequence[Label]], old: str, new: str
) -> tuple[dict[str, list[Label]], int]:
    """Return texts as one label for the old answer and one for any other, and how many there are.

    A matrix of hundreds of texts says nothing: of texts only whether they changed can be counted.
    Few different answers are labels, and stay as they are.
    """
    seen = {str(word) for name in (old, new) for word in words[name] if word is not None}
    if len(seen) <= MOST_ANSWERS:
        return {name: list(column) for name, column in words.items()}, 0
    first: list[Label] = [None if word is None else "as before" for word in words[old]]
    second: list[Label] = [
        None if after is None else "as before" if after == before else "another"
        for before, after in zip(words[old], words[new], strict=True)
    ]
    return {old: first, new: second}, len(seen)


def grade_column(data: Data, question: ShiftQuestion) -> str | None:
    """Return the column of new grades, if that is what ``--grader`` names."""
    grader = question.grader
    if question.api or not isinstance(grader, str) or grader not in client_columns(data):
        return None
    return grader


def _scale(seen: set[str]) -> list[str]:
    """Return all grades that are possible: every whole number between those that were seen."""
    try:
        numbers = [float(word) for word in seen]
    except ValueError as error:
        raise InputError(
            "with --grader the old answers (--old) are grades, which are numbers; name the scale"
            f" (--labels) if it is not: {error}"
        ) from error
    if all(number.is_integer() for number in numbers):
        return [str(n) for n in range(int(min(numbers)), int(max(numbers)) + 1)]
    return sorted(seen, key=float)


def _other(
    data: Data,
    question: ShiftQuestion,
    words: Mapping[str, Sequence[Label]],
    labels: Sequence[str] | None,
) -> tuple[list[str], tuple[str, ...]]:
    """Return the old answers that mean none of the labels, and those that nobody has named.

    Before calls are paid for, an old answer that no item has as its truth is refused by `Items`: it
    may be a mistake. Where both columns are recorded it is counted as new answers are, with a note.
    """
    roles = data.roles
    named = [_spelled(token, data) for token in question.other]
    named += [str(label) for label in data.meaning.never_true]
    if roles.new is None or roles.old is None or roles.truth is None:
        return named, ()
    true = labels or [str(label) for label in words[roles.truth] if label is not None]
    before = {str(label) for label in words[roles.old] if label is not None}
    strange = tuple(sorted(before - {*true, *named}))
    return [*named, *strange], strange


def _texts(labels: Sequence[Label], kept: NDArray[np.intp]) -> list[str | None]:
    chosen = (labels[row] for row in kept)
    return [None if label is None else str(label) for label in chosen]


def _spelled(label: Any, data: Data) -> str:
    """Write a label that the user named as the labels of the table are written."""
    return str(spelling(label) if data.rules.coerce else whole(label)).strip()


def _confidence(data: Data, kept: NDArray[np.intp]) -> NDArray[np.float64] | None:
    column = data.roles.confidence
    if column is None:
        return None
    numbers: NDArray[np.float64] = data.numbers(column)[kept, 0]
    blank = np.flatnonzero(np.isnan(numbers))
    if len(blank):
        raise InputError(
            f"{data.place(int(kept[blank[0]]) + 1)}: the confidence {column!r} is blank. Give every"
            " item one, or leave --confidence out"
        )
    return numbers


def _check_old_draws(data: Data, question: ShiftQuestion) -> None:
    """Refuse old draws that would not be used."""
    roles = data.roles
    if not question.old_draws:
        return
    if roles.old is None or (roles.truth is None and roles.new is not None):
        raise InputError(
            "old_draws (--old-draws) need the first old answers (--old), and beside recorded new"
            " answers (--new) true labels (--truth)"
        )
    other = "grader" if question.grader is not None else "since" if question.since else None
    if other is not None:
        raise InputError(f"old_draws (--old-draws) are not used with --{other}: leave one out")


def _draws(
    data: Data,
    items: Items,
    words: Mapping[str, Sequence[Label]],
    names: Sequence[str],
    kept: NDArray[np.intp],
) -> NDArray[np.intp] | None:
    """Return the codes of all old answers; refuse a blank one."""
    if not names or items.old is None:
        return None
    columns = [items.old]
    for name in names:
        texts = _texts(words[name], kept)
        if None in texts:
            row = int(kept[texts.index(None)]) + 1
            raise InputError(
                f"{data.place(row)}: the old draw {name!r} is blank. Give every item all its draws"
            )
        columns.append(np.array([items.code(text) for text in texts], np.intp))
    return np.stack(columns, axis=1)


def client_columns(data: Data) -> tuple[str, ...]:
    """Return the columns that a client is given, and that a template may name."""
    return tuple(name for name in data.table.columns if name not in data.table.left_out)


def rows_of(data: Data, known: PreparedShift, replay: str | None) -> list[Mapping[str, Any]]:
    """Return what a client gets of each item: its row, blank cells as None.

    Texts for a prompt are passed on as they are. Only the column that a client replays is read as
    answers are: tokens for no answer are None there, and two spellings of a label are refused.

    Parameters
    ----------
    data, known
        The table, and what was made of it.
    replay
        The column of recorded answers that stands for the API, if one does.
    """
    columns = client_columns(data)
    cells: dict[str, Sequence[Any]] = dict(data.cells(*columns))
    if replay is not None:
        cells[replay] = _as_the_truth_writes(known, data.label_lists(replay)[replay])
        if not data.rules.coerce:
            _check_spelling(data, known, replay, cells[replay])
    return [{name: cells[name][row] for name in columns} for row in known.kept]


def _as_the_truth_writes(known: PreparedShift, answers: Sequence[Label]) -> Sequence[Label]:
    """Return recorded answers with whole numbers written as the labels are.

    pandas writes a column of integers with a gap as decimals: 1.0 is the label 1 where every label
    and every answer is a whole number.
    """
    labels = whole_numbers(map(str, known.items.labels))
    said = whole_numbers({str(answer) for answer in answers if answer is not None})
    if labels is None or said is None or len(set(labels.values())) < len(labels):
        return answers
    written = {number: label for label, number in labels.items()}
    changed = {old: written[new] for old, new in said.items() if written.get(new, old) != old}
    return [one if one is None else changed.get(str(one), one) for one in answers]


def _check_spelling(
    data: Data, known: PreparedShift, replay: str, answers: Sequence[Label]
) -> None:
    """Refuse recorded answers that are a label in another spelling.

    An answer may also be free text: only what would not be read as the label that it resembles is
    held to the spelling of the truth.
    """
    labels = known.items.labels
    texts = {str(answer) for answer in answers if answer is not None}
    unread = [text for text in texts if read_label(text, labels) == len(labels)]
    alike = sorted(text for text in unread if same_label(text, labels) < len(labels))
    check_vocabulary({str(data.roles.truth): list(labels), replay: alike})


def slices_of(data: Data, known: PreparedShift) -> dict[Label, BoolArray]:
    """Return which items belong to each slice that has any, in the order of the slices."""
    column = data.roles.by
    if column is None:
        return {}
    if known.items.old is None:
        raise InputError(
            "--by needs the old answer to every item (--old): a matrix of the past says nothing"
            " about slices"
        )
    cells = data.cells(column)[column]
    values = [cells[row] for row in known.kept]
    parts = {label: np.array([value == label for value in values]) for label in slice_labels(data)}
    return {label: chosen for label, chosen in parts.items() if chosen.any()}


# True labels on items that were not drawn at random say nothing about the others.
#
# Where people only confirm old answers, every labelled item has a right old answer, and any other
# new answer is a loss: "worse by 23 points" where nothing changed.


_MOST_LABELS = 200
"""Different answers above which they are texts and not labels."""


def label_draw(data: Data) -> OddDraw | None:
    """Return what old and new answers show of labels that were not drawn at random.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"old": ["a", "b"] * 50, "new": ["a", "b"] * 50, "y": ["a", None] * 50}
    >>> label_draw(read(table, truth="y", old="old", new="new")).columns
    ('old',)
    """
    roles = data.roles
    columns = [name for name in (roles.old, roles.new) if name is not None]
    if roles.truth is None or not columns or data.session is not None:
        return None
    cells = data.cells(*columns, roles.truth)
    labels = in_order({one for name in columns for one in cells[name] if one is not None})
    if len(labels) > _MOST_LABELS:
        return None
    place = {identity(label): code for code, label in enumerate(labels)}
    codes = [[-1 if one is None else place[identity(one)] for one in cells[n]] for n in columns]
    return odd_draw(
        np.array(codes, dtype=np.int64).T,
        np.ones(len(codes[0])),
        np.array([label is not None for label in cells[roles.truth]], dtype=bool),
        columns=columns,
        labels=[str(label) for label in labels],
    )


def with_label_draw(result: ShiftResult, found: OddDraw | None) -> ShiftResult:
    """Return the result; if the labels are no random draw they decide nothing, and it says so.

    Gates stay open, too: all of them count labelled items only.
    """
    if found is None:
        return result
    first = "The labels decide nothing, because they were not drawn at random."
    why = "but the labels were not drawn at random"
    return replace(
        result,
        verdict=f"{first} {if_drawn(result.verdict)}",
        decision="undecided",
        needed=Needed(None, "labels on items drawn at random"),
        gates=tuple(
            gate if gate.passed is None else replace(gate, passed=None, text=f"{gate.text}, {why}")
            for gate in result.gates
        ),
        warnings=(found.warning, *result.warnings),
    )
