"""What a grade is worth: words for pass and fail, 0 and 1, or numbers on a scale, as [0, 1].

Also from where to where grades go and which way is better, where the table shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from tallystick.errors import AskError, InputError
from tallystick.table.cells import Label, identifier
from tallystick.table.data import Data
from tallystick.table.reading_facts import Facts
from tallystick.table.reading_names import lower_word, plain
from tallystick.table.tables import Table
from tallystick.table.words import PASS_FAIL, as_pass_fail, as_word, is_no_answer, number_of

Scale = tuple[float, float]


@dataclass(frozen=True)
class Column:
    """The grades of one column: a number in [0, 1] per label, NaN for no grade.

    *pass_fail* says that every grade is 0 or 1 and means fail or pass.
    """

    values: Mapping[Label, float]
    pass_fail: bool


def read_column(
    name: str,
    labels: Sequence[Label],
    scale: Scale | None,
    place: Callable[[Label], str],
    *,
    human: bool = False,
    worth: Mapping[str, float] | None = None,
) -> Column:
    """Return what every label of a column is worth, or ask.

    Parameters
    ----------
    name
        The column.
    labels
        Its distinct cells.
    scale
        Least and greatest number; None for pass/fail.
    place
        Where a cell first stands, for messages.
    human
        Whether these are human grades. 0 and 1 then mean fail and pass even beside a scale to which
        they do not belong.
    worth
        What words of the user's own stand for (`word_worth`): 0 and 1, or numbers on the scale.

    Examples
    --------
    >>> read_column("gpt", ["pass", "fail", "NA", "(unread)"], None, str).values
    {'pass': 1.0, 'fail': 0.0, 'NA': nan, '(unread)': nan}
    >>> read_column("gpt", [1, 3, 5], (1, 5), str).values
    {1: 0.0, 3: 0.5, 5: 1.0}
    >>> own = {"unsafe": 0.0, "safe": 1.0}
    >>> read_column("gpt", ["Safe", "unsafe"], None, str, worth=own).values
    {'Safe': 1.0, 'unsafe': 0.0}
    >>> read_column("human", ["pass", "passs", "fail"], None, lambda label: "row 217 of outputs.csv")
    Traceback (most recent call last):
    tallystick.errors.InputError: row 217 of outputs.csv, column human: 'passs' is not a grade. ...
    """
    none = {label: float("nan") for label in labels if is_silent(label)}
    said = [label for label in labels if label not in none]
    marks = as_pass_fail(said) if said else None
    if marks is not None:
        return Column({**marks, **none}, set(marks.values()) <= {0.0, 1.0})

    own = worth or {}
    numbers = {label: own.get(as_word(label) or "", number_of(label)) for label in said}
    odd = [label for label, value in numbers.items() if value is None]
    if odd:
        raise _misfit(name, said, odd, place)
    held = {label: value for label, value in numbers.items() if value is not None}
    if set(held.values()) <= {0.0, 1.0} and _are_marks(name, set(held.values()), scale, human):
        return Column({**held, **none}, True)
    if scale is None:
        first = next(label for label, value in held.items() if value not in (0.0, 1.0))
        low, high = min(held.values()), max(held.values())
        raise AskError(
            f"{place(first)}, column {name}: {first!r} is neither pass/fail nor 0/1. If grades are"
            f" numbers, say from where to where they can go (--scale LO,HI); this column goes from"
            f" {low:g} to {high:g}",
            role="scale",
            calls=tuple(
                f"--scale={one:g},{other:g}"
                for one, other in _ASKED_SCALES
                if one <= low and high <= other
            ),
        )

    low, high = scale
    for label, value in held.items():
        if not low <= value <= high:
            raise InputError(
                f"{place(label)}, column {name}: {label!r} is outside the scale {low:g} to"
                f" {high:g}: add --missing={str(label).strip()} if it means no grade, widen the"
                " scale (--scale), or bring judges with another scale to that of people"
            )
    shares = {label: (value - low) / (high - low) for label, value in held.items()}
    return Column({**shares, **none}, False)


def _are_marks(name: str, values: set[float], scale: Scale | None, human: bool) -> bool:
    """Say whether a column of nothing but 0 and 1 means fail and pass, and not two grades."""
    if scale is None or scale == (0.0, 1.0):
        return True
    low, high = scale
    if not human or (low <= 0 and len(values) < 2):  # a few grades at the end of the scale
        return False
    if low <= 0 and high >= 1:
        raise InputError(
            f"column {name} holds 0 and 1 only, and the scale goes from {low:g} to {high:g}: write"
            " pass and fail if that is meant, or leave out --scale"
        )
    return True


def is_silent(label: Label) -> bool:
    """Say whether a cell is no grade; "(unread)" is written by `ask`."""
    return label is None or not str(label).strip() or label == "(unread)" or is_no_answer(label)


_MOST_WORDS = 7
"""Different words up to which they may be the steps of a scale."""


_ASKED_SCALES = ((1.0, 5.0), (0.0, 10.0), (1.0, 10.0), (0.0, 100.0))
"""The usual scales, the likelier first: what a question about a scale suggests."""


def _misfit(
    name: str, said: Sequence[Label], odd: Sequence[Label], place: Callable[[Label], str]
) -> InputError:
    """Say which cell is not a grade: one beside words of a known pair, or beside numbers."""
    fits = max(([x for x in said if as_word(x) in family] for family in PASS_FAIL), key=len)
    words = [str(label).strip() for label in said]
    # A word alone, such as C, fits its pair but may name a choice: no cell is odd then.
    known = max(1, len(said) - len(odd)) < len(fits) < len(said)
    wrong = next(label for label in said if label not in fits) if known else odd[0]
    where = f"{place(wrong)}, column {name}: {wrong!r} is not a grade"
    if known or len(odd) < len(said):
        token = quote(str(wrong).strip())
        # The option would take a comma for two tokens.
        way_out = "leave it blank" if "," in token else f"add --missing {token}"
        return InputError(f"{where}: correct the cell, or {way_out} to read it as no grade")
    # No cell is a grade: reading one of them as no grade would only lead to the next.
    few = 2 <= len(words) <= _MOST_WORDS and not any("," in word for word in words)
    text = (
        f"{where} that is known here. List the grades with the worst first (--labels"
        f" {quote(','.join(words)) if few else 'WORST,…,BEST'}), or write pass and fail, 0 and 1,"
        " or numbers, or name the columns of grades (--judges, --truth)"
    )
    if not few or len(words) > 2:
        return InputError(text)
    calls = tuple(f"--labels={quote(','.join(one))}" for one in (words, words[::-1]))
    return AskError(text, role="labels", calls=calls)


# From where to where grades go, where the grades themselves show it.
#
# Only a usual one of which the judges reach both ends; otherwise the user is asked.

_LOWS = (0.0, 1.0)
_HIGHS = (3.0, 4.0, 5.0, 6.0, 7.0, 10.0, 100.0)
_UNIT = (0.0, 1.0)


def usual_scales(data: Data) -> tuple[Scale, Scale] | None:
    """Return the scales of the human grades and of the judges, where the grades show them.

    Human grades are on the judges' scale where they reach its upper half, else on their own.
    """
    facts = data.facts
    judged = [facts[name] for name in data.roles.judges if not _are_votes(facts.get(name))]
    human = facts.get(data.roles.truth or "")
    if not judged or not all(one.is_number for one in judged):
        return None
    scale = _scale(judged)
    if scale is None or min(_high(one) for one in judged) < scale[1] - 1:
        return None  # a judge who stops far below the top may use another scale than the others
    if human is None or _are_votes(human):
        return scale, scale
    if scale == _UNIT and human.decimals and human.is_inside(*_UNIT):
        return scale, scale
    own = _scale([human]) if human.is_number and not human.decimals else None
    inside = human.is_inside(*scale)
    if scale != _UNIT and inside and (_high(human) > sum(scale) / 2 or human.distinct < 3):
        return scale, scale  # a few grades that stop early are a few grades, not a scale
    return (own, scale) if own is not None and _is_used(human) else None


def _are_votes(facts: Facts | None) -> bool:
    """Say whether a column is blank, or says pass and fail and no number."""
    if facts is None or facts.is_empty:
        return True
    return bool(facts.counts) and (facts.labels <= {0, 1} or as_pass_fail(facts.labels) is not None)


def _scale(columns: Sequence[Facts]) -> Scale | None:
    """Return the usual scale whose ends numbers reach."""
    low, high = min(one.low or 0.0 for one in columns), max(map(_high, columns))
    if all(one.decimals and one.is_inside(*_UNIT) for one in columns):
        return _UNIT if high > 0.5 else None
    whole = not any(one.decimals for one in columns)
    return (low, high) if whole and low in _LOWS and high in _HIGHS else None


def _high(facts: Facts) -> float:
    return 0.0 if facts.high is None else facts.high


def _is_used(facts: Facts) -> bool:
    """Say whether most grades of a scale are given."""
    return facts.distinct >= 0.6 * min(_high(facts) - (facts.low or 0.0) + 1, 20.0)


def scale_note(human: Scale, judges: Scale) -> str:
    """Say what was read off, and how to say otherwise."""
    (low, high), (least, most) = human, judges
    if human != judges:
        return (
            f"human grades go from {low:g} to {high:g} and the judges' from {least:g} to {most:g},"
            " by the grades that they give: the judges' are shown on the human scale. If it is not"
            " so, bring all grades to one scale and add --scale LO,HI"
        )
    why = "no grade lies outside" if human == _UNIT else "the judges use both ends"
    return (
        f"grades go from {low:g} to {high:g}, because {why}. If they can go further, add"
        " --scale LO,HI"
    )


# Grades of which less is better: hallucinated yes/no, the number of errors.
#
# They are turned round as they are read, and a note says so.

_NEUTRAL = frozenset(("yes", "no", "y", "n", "t", "f", "0", "1"))
"""Words that are good or bad by the name of their column alone. Pass and unsafe speak for
themselves."""


def less_is_better(data: Data) -> str | None:
    """Return the word by which less is better; None where no name says so."""
    words = [lower_word(name) for name in data.roles.judges]
    word = lower_word(data.roles.truth) or (words[0] if all(words) else None)
    word = word or lower_word(_only_criterion(data))
    if word is None:
        return None
    held = [
        data.facts[name] for name in data.roles.columns("judges", "truth") if name in data.facts
    ]
    neutral = (one.is_number or {*map(str, one.labels)} <= _NEUTRAL for one in held)
    return word if all(neutral) else None


def _only_criterion(data: Data) -> str | None:
    """Return the criterion, if a column names one and the same for all."""
    if not isinstance(data.held, Table):
        return None
    for name in data.held.columns:
        if plain(name) in ("criterion", "metric") and name not in data.roles.columns():
            said = data.held.query(f"select distinct {identifier(name)} from rows limit 2")
            return str(said[0][0]) if len(said) == 1 else None
    return None


def turned_note(word: str | None) -> str:
    """Say that grades were turned round, by which word, and how to say otherwise."""
    by = "--lower-is-better" if word is None else f"the name {word!r}"
    return (
        f"lower is better, by {by}: all grades are turned round, so that a higher score is better."
        " Add --higher-is-better if it is not so"
    )


# Grades that are words of the user's own, such as safe and unsafe, or poor, fair and good.
#
# Which is the good one cannot be guessed: *flagged* may be what is wanted of a filter.


def word_worth(order: Sequence[Label]) -> Mapping[str, float]:
    """Return what each word of *order* is worth: 0 and 1 for two, else 1, 2, 3, … of a scale."""
    words = [as_word(label) for label in order]
    known = as_pass_fail(order) is not None or any(number_of(label) is not None for label in order)
    if len(words) < 2 or known or None in words or len(set(words)) < len(words):
        return {}
    first = 0 if len(words) == 2 else 1
    return {str(word): float(first + place) for place, word in enumerate(words)}
