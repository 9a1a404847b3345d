"""Two answers compared in both orders: what a judge says of them, whatever stood first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.errors import InputError

__all__ = ["TIE", "USUAL", "both_orders", "check_pair_labels", "combined", "mirrored"]

TIE = "tie"
"""What two orders that name different winners come to."""


USUAL = ("A", "B", TIE)
"""What is read where nobody lists the labels: an answer to a swapped row can only be turned back
where it is known which words name the first and the second."""


def both_orders(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], pair: tuple[str, str]
) -> tuple[list[str], list[Mapping[str, Any]]]:
    """Return every row as it is, then every row with the two columns exchanged.

    >>> names, rows = both_orders(["x"], [{"a": 1, "b": 2}], ("a", "b"))
    >>> names, rows[1]
    (['x', 'x (swapped)'], {'a': 2, 'b': 1})
    """
    a, b = pair
    swapped = [{**row, a: row[b], b: row[a]} for row in rows]
    return [*names, *(f"{name} (swapped)" for name in names)], [*rows, *swapped]


def mirrored(answer: str | None, pair: tuple[str, str], labels: Sequence[str]) -> str | None:
    """Return an answer to the swapped row as if the row had not been swapped.

    The winner may be written as the name of its column, or as one of two labels that stand for the
    first and the second answer: A and B, 1 and 2, first and second.

    >>> mirrored("A", ("left", "right"), ["A", "B", "tie"])
    'B'
    >>> mirrored("tie", ("left", "right"), ["A", "B", "tie"])
    'tie'
    """
    if answer is None:
        return None
    for first, second in (pair, *_NAMES):
        if {first, second} <= set(labels):
            return {first: second, second: first}.get(answer, answer)
    return answer


def check_pair_labels(labels: Sequence[str], pair: tuple[str, str]) -> None:
    """Refuse labels of which no two name the first and the second answer.

    >>> check_pair_labels(["A", "B", "tie"], ("left", "right"))
    >>> check_pair_labels(["PASS", "FAIL"], ("left", "right"))
    Traceback (most recent call last):
    tallystick.errors.InputError: pair (--pair) asks which of two is better, and none of the labels ...
    """
    if labels and not any({first, second} <= set(labels) for first, second in (pair, *_NAMES)):
        raise InputError(
            f"pair (--pair) asks which of two is better, and none of the labels {', '.join(labels)}"
            f" names the first or the second: use --labels A,B,tie, or {pair[0]},{pair[1]},tie"
        )


_NAMES = (("A", "B"), ("a", "b"), ("1", "2"), ("first", "second"), ("left", "right"), ("X", "Y"))


def combined(first: str | None, second: str | None, unread: str) -> tuple[str | None, bool]:
    """Return what both orders come to, and whether they disagree.

    >>> combined("A", "A", "(unread)"), combined("A", "B", "(unread)")
    (('A', False), ('tie', True))
    """
    for one, other in ((first, second), (second, first)):
        if one is None or one == unread:
            return one if one == unread or other is None else None, False
    return (first, False) if first == second else (TIE, True)
