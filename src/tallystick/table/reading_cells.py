"""Values that may mean no answer: asked about by value, whatever their share.

A column is never left out for a cell that does not fit. What voters and the truth both say is never
doubted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from tallystick.errors import AskError
from tallystick.table.cells import Label
from tallystick.table.meaning import LabelRules
from tallystick.table.reading_facts import Facts, one_word
from tallystick.table.words import as_pass_fail, is_tie

if TYPE_CHECKING:
    from tallystick.table.reading_rules import Look

_UNLIKELY = 0.01
"""Chance that the truth never has a label by accident, below which the label is asked about."""
_CODE = 9
UNREAD = "(unread)"
_SCALES = ((1, 5), (0, 10), (1, 10), (0, 100))
_STEPS = 4
"""Numbers from which votes without a gap are a scale."""


def doubt_cells(
    look: Look, voters: Sequence[str], truths: Sequence[str], rules: LabelRules
) -> None:
    """Ask about the first value of voters or truth that may mean no answer.

    Parameters
    ----------
    look
        The table. In compare a label that the truth never has is a wrong answer; in bound -1
        abstains.
    voters, truths
        The columns that vote, and those that they are held against.
    rules
        What the caller said about labels: what is named there is not asked.
    """
    facts, verb = look.facts, look.verb
    said = [facts[name] for name in voters if name in facts]
    true = [facts[name] for name in truths if name in facts]
    votes, owner = _pooled(said)
    labels, holder = _pooled(true)
    # By their convention rules abstain by -1.
    third = _third(votes, {*labels, *({-1} if verb == "bound" else ())})
    doubts = [(third, owner, "is neither pass nor fail")]
    if verb != "bound":
        coded: dict[Label, str] = {
            int(one.low or 0): one.name for one in said if _is_coded(one, {*labels})
        }
        number = _number(votes, {*labels})
        number = next(iter(coded), None) if number is None else number
        doubts.append((number, coded | owner, "stands apart from the other numbers"))
    if true and verb != "compare":
        strange = _strange(_doubtful(votes, labels, verb), labels)
        doubts.append((strange, owner, f"is never said by {true[0].name}"))
    answers = votes
    if verb == "bound" and true:
        # What is bounded answers too, and a label that it never gives may be a rule's or a
        # person's word for nothing.
        never, answers, labels = _never_predicted(votes, true)
        doubts.append((never, owner, "is never predicted"))
    if true and answers:
        doubts.append((_only_true(answers, labels), holder, "is said by no voter"))
        doubts.append((_code_of_most(labels), holder, "stands in most rows"))

    # What `ask` writes for an answer that it could not read means what it says.
    settled = {None, *map(one_word, (*rules.labels, *rules.never_true, UNREAD))}
    for label, columns, why in doubts:
        if label in settled:
            continue
        column = columns[label]
        cells = look.sample.column(column).unique().to_pylist()
        written = sorted({str(one).strip() for one in cells if one_word(one) == label})
        shown = ",".join(written) or str(label)
        calls = [f"--missing={quote(','.join((*rules.missing, shown)))}"]
        # A wrong answer is one of a voter; a truth is never wrong.
        if column in voters and verb != "score" and isinstance(label, str):
            calls.append(f"--never-true={quote(shown)}")
        wrong = ", or an answer" + (" that is never right" if len(calls) > 1 else "")
        text = f"{shown} in {column} {why}. Does it mean no answer{wrong}?"
        raise look.ask("missing", text, calls, written)


def _never_predicted(
    votes: Counter[Label], true: Sequence[Facts]
) -> tuple[Label, Counter[Label], Counter[Label]]:
    """Return a label of weak labels and truth that the prediction, which stands last, never gives;
    then all answers, and the labels of the truth alone.
    """
    predicted, labels = _pooled(true[-1:])[0], _pooled(true[:-1])[0]
    shared = Counter({one: n for one, n in votes.items() if one in labels})
    never = _strange(shared, predicted) if len(predicted) > 1 else None
    return never, votes + predicted, labels


def ask_about_placeholder(
    data_source: str,
    column: str,
    truth: Iterable[Label],
    answers: Iterable[Label],
    rules: LabelRules,
) -> None:
    """Ask about a word in the truth that no answer gives, against the odds: rows that nobody has
    looked at yet say ``pending``, and each would count as a wrong answer.

    For tables whose columns are found by a verb of its own; others are asked by `doubt_cells`.
    """
    said = [[one_word(one) for one in column if one is not None] for column in (answers, truth)]
    heard, labels = map(Counter, said)
    found = _only_true(heard, labels) or _code_of_most(labels)
    if found is None or found in {*map(one_word, (*rules.labels, *rules.never_true))}:
        return
    shown = quote(",".join((*rules.missing, str(found))))
    raise AskError(
        f"{data_source}: {found} in {column} is no answer of anybody. Does it mean that nobody"
        " has labelled the row?",
        role="missing",
        candidates=(str(found),),
        calls=(f"--missing={shown}",),
    )


def _code_of_most(labels: Counter[Label]) -> Label:
    """Return the negative number beside numbers from 0 that most of the truth says, which stands
    for "not labelled" in exports, whatever voters mean by it.
    """
    numbers = sorted(_numbers(labels))
    if len(numbers) < 3 or not numbers[0] < 0 <= numbers[1]:
        return None
    return numbers[0] if 2 * labels[numbers[0]] > labels.total() else None


def _doubtful(votes: Counter[Label], labels: Counter[Label], verb: str) -> Counter[Label]:
    """Return the votes of which a truth that never says them is odd."""
    if verb == "score":
        # Numbers are grades, and people need not give all that judges do.
        return Counter({label: n for label, n in votes.items() if isinstance(label, str)})
    # Nor need they give the best grade of a scale: four or more whole numbers without a gap.
    numbers = sorted(_numbers(votes))
    scale = len(numbers) >= max(_STEPS, len(votes)) and numbers[0] >= 0
    top = numbers[-1] if scale and numbers[-1] - numbers[0] == len(numbers) - 1 else None
    abstains = -1 if verb == "bound" and -1 not in labels else None
    return Counter({label: n for label, n in votes.items() if label not in (top, abstains)})


def _numbers(labels: Iterable[Label]) -> list[int | float]:
    return [one for one in labels if isinstance(one, int | float) and not isinstance(one, bool)]


def _pooled(columns: Iterable[Facts]) -> tuple[Counter[Label], dict[Label, str]]:
    """Return how often each label occurs, and the first column that holds it."""
    counts: Counter[Label] = Counter()
    owner: dict[Label, str] = {}
    for one in columns:
        for label, n in one.counts.items():
            counts[one_word(label)] += n
            owner.setdefault(one_word(label), one.name)
    return counts, owner


def _third(votes: Counter[Label], true: set[Label]) -> Label:
    """Return the word beside pass and fail that neither is one nor a label of the truth."""
    if not votes[0] or not votes[1] or 2 * (votes[0] + votes[1]) < votes.total():
        return None
    if as_pass_fail([one for one in votes if isinstance(one, str)] or [""]) is not None:
        return None  # win, tie and loss are three grades
    words = [one for one in votes if isinstance(one, str) and one not in true]
    return words[0] if words and not is_tie(words[0]) else None


def _number(votes: Counter[Label], true: set[Label]) -> Label:
    """Return a number outside the scale of the others, which the truth does not have."""
    numbers = sorted(_numbers(votes))
    if len(numbers) < len(votes) or len(numbers) < 3:
        return None
    low, *rest = numbers
    top, before = numbers[-1], numbers[-2]
    ends = (int(rest[0]), int(top))
    exact = ends in _SCALES and len(rest) == ends[1] - ends[0] + 1
    apart = (
        (low, low < 0 <= rest[0]),
        (top, top >= _CODE >= before and top > 1 + before),
        # 0 to 10 is a scale as usual as 1 to 10.
        (low, exact and low < ends[0] and (low, ends[1]) not in _SCALES),
    )
    return next((one for one, is_apart in apart if is_apart and one not in true), None)


def _is_coded(one: Facts, true: set[Label]) -> bool:
    """Say whether a column holds a negative whole number beside numbers from 0 that are too many to
    be listed.
    """
    if one.low is None or one.second is None or one.counts or one.low in true:
        return False
    return one.low < 0 <= one.second and float(one.low).is_integer()


def _strange(votes: Counter[Label], labels: Counter[Label]) -> Label:
    """Return a label of voters that the truth never has, although it would by now."""
    if not {*votes} & {*labels}:
        return None
    for label, n in votes.items():
        if label not in labels and (1 - n / votes.total()) ** labels.total() < _UNLIKELY:
            return label
    return None


def _only_true(votes: Counter[Label], labels: Counter[Label]) -> Label:
    """Return a word, a negative or a large number that only the truth has, against the odds."""
    if not {*votes} & {*labels}:
        return None
    for label, n in labels.items():
        rest = [one for one in _numbers(labels) if one != label]
        # Of another sort than most of the truth, as a word beside numbers.
        odd = isinstance(label, str)
        if isinstance(label, int | float):
            odd = label < 0 or (label >= _CODE and label > 1 + max(rest, default=-1))
        unlikely = (1 - n / labels.total()) ** votes.total() < _UNLIKELY
        if odd and label not in votes and unlikely:
            return label
    return None
