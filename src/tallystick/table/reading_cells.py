"""Values that may mean no answer: asked about by value, whatever their share.

A column is never left out for a cell that does not fit. What voters and the truth both say is never
doubted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import TYPE_CHECKING

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
    # What `ask` writes for an answer that it could not read means what it says.
    settled = {None, *map(one_word, (*rules.labels, *rules.never_true, UNREAD))}

    def ask(label: Label, column: str, why: str) -> None:
        """Ask what a value means, if there is one that the caller has not named."""
        if label in settled:
            return
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

    # By their convention rules abstain by -1.
    third = _third(votes, {*labels, *({-1} if verb == "bound" else ())})
    ask(third, owner.get(third, ""), "is neither pass nor fail")
    if verb != "bound":
        lowest: dict[Label, str] = {int(one.low): one.name for one in said if one.low is not None}
        number = _number(said, votes, {*labels})
        holds = owner.get(number) or lowest.get(number, "")
        ask(number, holds, "stands apart from the other numbers")
    if true and verb != "compare":
        strange = _strange(_doubtful(votes, labels, verb), labels)
        ask(strange, owner.get(strange, ""), f"is never said by {true[0].name}")
    if true and votes and verb != "bound":
        alone = _only_true(votes, labels)
        ask(alone, holder.get(alone, ""), "is said by no voter")


def _doubtful(votes: Counter[Label], labels: Counter[Label], verb: str) -> Counter[Label]:
    """Return the votes of which a truth that never says them is odd."""
    top = _top_grade(votes)
    return Counter(
        {
            label: n
            for label, n in votes.items()
            # Numbers are grades in score, and people need not give all that judges do; nor need
            # they give the best grade of a scale.
            if (verb != "score" or isinstance(label, str))
            and (verb != "bound" or label in labels or label != -1)
            and (verb == "score" or label != top)
        }
    )


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
    inside = votes[0] + votes[1]
    others = [one for one in votes if one not in (0, 1)]
    if not inside or not votes[0] or not votes[1] or 2 * inside < votes.total():
        return None
    if as_pass_fail([one for one in votes if isinstance(one, str)] or [""]) is not None:
        return None  # win, tie and loss are three grades
    words = [one for one in others if isinstance(one, str) and one not in true]
    return words[0] if words and not is_tie(words[0]) else None


def _number(said: Sequence[Facts], votes: Counter[Label], true: set[Label]) -> Label:
    """Return a number outside the scale of the others, which the truth does not have."""
    numbers = sorted(one for one in votes if isinstance(one, int | float))
    if len(numbers) < len(votes) or len(numbers) < 3:
        return _coded(said, true)
    low, *rest = numbers
    if low < 0 <= rest[0] and low not in true:
        return low
    top = numbers[-1]
    if top >= _CODE and top > 1 + numbers[-2] and top not in true and numbers[-2] <= _CODE:
        return top
    ends = (int(rest[0]), int(rest[-1]))
    exact = ends in _SCALES and len(rest) == ends[1] - ends[0] + 1
    if (low, ends[1]) in _SCALES:  # 0 to 10 is a scale as usual as 1 to 10
        return None
    return low if exact and low < ends[0] and low not in true else None


def _coded(said: Sequence[Facts], true: set[Label]) -> Label:
    """Return a negative whole number beside numbers from 0 that are too many to be listed."""
    for one in said:
        if one.low is None or one.second is None or one.counts or one.low in true:
            continue
        if one.low < 0 <= one.second and float(one.low).is_integer():
            return int(one.low)
    return None


def _top_grade(votes: Counter[Label]) -> int | float | None:
    """Return the greatest of four or more whole numbers without a gap: votes on a scale."""
    numbers = [one for one in votes if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) < max(_STEPS, len(votes)) or min(numbers) < 0:
        return None
    return max(numbers) if max(numbers) - min(numbers) == len(numbers) - 1 else None


def _strange(votes: Counter[Label], labels: Counter[Label]) -> Label:
    """Return a label of voters that the truth never has, although it would by now."""
    known, total = labels.total(), votes.total()
    if not known or not set(votes) & set(labels):
        return None
    for label, n in votes.items():
        if label not in labels and (1 - n / total) ** known < _UNLIKELY:
            return label
    return None


def _only_true(votes: Counter[Label], labels: Counter[Label]) -> Label:
    """Return a word, a negative or a large number that only the truth has, against the odds."""
    if not set(votes) & set(labels):
        return None
    for label, n in labels.items():
        odd = isinstance(label, str) or (
            isinstance(label, int | float) and (label < 0 or label >= _CODE)
        )
        beyond = odd and label not in votes and _is_odd_one(label, labels)
        if beyond and (1 - n / labels.total()) ** votes.total() < _UNLIKELY:
            return label
    return None


def _is_odd_one(label: Label, labels: Counter[Label]) -> bool:
    """Say whether a label is of another sort than most of the truth, as a word beside numbers."""
    if isinstance(label, str):
        return True
    number = float(label or 0)
    rest = [float(one) for one in labels if isinstance(one, int | float) and one != label]
    return not rest or number < 0 or number > 1 + max(rest)
