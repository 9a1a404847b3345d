"""What a grade is worth: words for pass and fail, 0 and 1, or numbers on a scale, as [0, 1]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote

from tallystick.errors import InputError
from tallystick.values import NUMBER, PASS_FAIL, Label, as_pass_fail, is_no_answer
from tallystick.values.words import as_word

__all__ = ["Column", "Scale", "number_of", "read_column"]

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
    # What `ask` could not read as a grade is no grade.
    silent = [one for one in labels if one is None or one == "(unread)" or is_no_answer(one)]
    none = {label: float("nan") for label in silent}
    said = [label for label in labels if label not in none]
    marks = as_pass_fail(said) if said else None
    if marks is not None:
        return Column({**marks, **none}, set(marks.values()) <= {0.0, 1.0})

    own = worth or {}
    numbers = {label: own.get(as_word(label) or "", number_of(label)) for label in said}
    odd = [label for label, value in numbers.items() if value is None]
    if odd:
        raise InputError(_misfit(name, said, odd, numbers, place))
    held = {label: value for label, value in numbers.items() if value is not None}
    if set(held.values()) <= {0.0, 1.0}:
        return _zero_one(name, held, none, scale, human)
    if scale is None:
        first = next(label for label, value in held.items() if value not in (0.0, 1.0))
        low, high = min(held.values()), max(held.values())
        raise InputError(
            f"{place(first)}, column {name}: {first!r} is neither pass/fail nor 0/1. If grades are"
            f" numbers, say from where to where they can go (--scale LO,HI); this column goes from"
            f" {low:g} to {high:g}"
        )
    low, high = scale
    for label, value in held.items():
        if not low <= value <= high:
            raise InputError(
                f"{place(label)}, column {name}: {label!r} is outside the scale {low:g} to"
                f" {high:g}. If it means no grade, add --missing={str(label).strip()}. Otherwise"
                " correct the cell, widen the scale (--scale), or name that of the judges if it is"
                " another (--judge-scale)"
            )
    shares = {label: (value - low) / (high - low) for label, value in held.items()}
    return Column({**shares, **none}, False)


def _zero_one(
    name: str,
    held: Mapping[Label, float],
    none: Mapping[Label, float],
    scale: Scale | None,
    human: bool,
) -> Column:
    """Read a column that holds nothing but 0 and 1."""
    if scale is None or scale == (0.0, 1.0):
        return Column({**held, **none}, True)
    low, high = scale
    if low <= 0 and set(held.values()) != {0.0, 1.0}:  # a few grades at the end of the scale
        pass
    elif human and (low > 0 or high < 1):
        return Column({**held, **none}, True)
    elif set(held.values()) == {0.0, 1.0} and human:
        raise InputError(
            f"column {name} holds 0 and 1 only, and the scale goes from {low:g} to {high:g}: write"
            " pass and fail if that is meant, or leave out --scale"
        )
    outside = [value for value in held.values() if not low <= value <= high]
    if outside:
        raise InputError(
            f"column {name}: {outside[0]:g} is outside the scale {low:g} to {high:g}. If it means"
            f" no grade, add --missing={outside[0]:g}. Otherwise correct the cells, or widen the"
            " scale (--scale)"
        )
    return Column({**{k: (v - low) / (high - low) for k, v in held.items()}, **none}, False)


def number_of(label: Label) -> float | None:
    """Return a cell as a number, None if it is not one."""
    if isinstance(label, bool):
        return float(label)
    if isinstance(label, int | float):
        return float(label) if abs(label) < float("inf") else None
    text = str(label).strip()
    return float(text) if NUMBER.fullmatch(text) else None


_MOST_WORDS = 7
"""Different words up to which they may be the steps of a scale."""


def _own_words(said: Sequence[Label]) -> str:
    """Return the way to say what words are worth, with the words of this column."""
    words = [str(label).strip() for label in said]
    if not 2 <= len(words) <= _MOST_WORDS or any("," in word for word in words):
        return ""
    listed = quote(",".join(words))
    order = "or the other way round" if len(words) == 2 else "in the right order"
    return f" List the grades with the worst first (--labels {listed}, {order})."


def _misfit(
    name: str,
    said: Sequence[Label],
    odd: Sequence[Label],
    numbers: Mapping[Label, float | None],
    place: Callable[[Label], str],
) -> str:
    """Say which cell is not a grade, by the family of words (or numbers) that most cells fit."""
    families = [set(family) for family in PASS_FAIL]
    fits = [sum(as_word(label) in family for label in said) for family in families]
    best = max(range(len(families)), key=fits.__getitem__)
    # A letter alone, such as C, fits its family but may name a choice: no cell is odd then.
    if len(said) - len(odd) < fits[best] < len(said):
        known = [str(label) for label in said if as_word(label) in families[best]]
        wrong = next(label for label in said if as_word(label) not in families[best])
        meant = get_close_matches(str(wrong), sorted(families[best]), n=1)
        grades = " and ".join(sorted(known, key=lambda word: str(as_word(word)), reverse=True))
    else:
        wrong, meant = odd[0], []
        grades = "numbers" if len(odd) < len(numbers) else "pass and fail, 0 and 1, or numbers"
    hint = f" Did you mean {meant[0]}?" if meant else ""
    if len(odd) == len(said) and not meant:
        # No cell is a grade: reading one of them as no grade would only lead to the next.
        own = _own_words(said)
        return (
            f"{place(wrong)}, column {name}: {wrong!r} is not a grade that is known here."
            f"{own} {'Or write' if own else 'Write'} pass and fail, 0 and 1, or numbers, or name"
            " the columns that hold grades (--judges, --truth)"
        )
    way_out = f" Correct the cell, or add --missing {quote(str(wrong).strip())} to read it as no"
    if "," in str(wrong):  # the option would take it for two tokens
        way_out = " Correct the cell, or leave it blank for no"
    return (
        f"{place(wrong)}, column {name}: {wrong!r} is not a grade. Grades here are {grades}.{hint}"
        f"{way_out} grade"
    )
