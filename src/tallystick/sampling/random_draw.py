"""Were the labelled items drawn at random? What the columns say can show that they were not.

Every interval from labels rests on that draw, so every verb that reads labels asks here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tallystick.results import p_value, percent
from tallystick.stats.urn_tails import smaller_tail

__all__ = ["LEVEL", "OddDraw", "if_drawn", "odd_draw", "odd_draw_in_parts"]

LEVEL = 0.01
"""The chance of a false alarm is at most this."""

_MOST_PAIRS = 20
"""Columns up to which every two of them are compared."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class OddDraw:
    """What is said more often, or more rarely, of labelled items than chance explains.

    Parameters
    ----------
    p_value
        Adjusted for everything that was looked at.
    columns
        The column that says *label*, or the columns that agree.
    label
        None where it is about agreement.
    drawn, everywhere
        How often it is so among the labelled items, and among all.
    among
        The part of the items that was looked at; empty for all.
    """

    p_value: float
    columns: tuple[str, ...]
    label: str | None
    drawn: float
    everywhere: float
    among: str = ""

    def __str__(self) -> str:
        r"""Say what shows it, for a person.

        >>> odd = OddDraw(p_value=1e-5, columns=("gpt",), label="pass", drawn=1.0, everywhere=0.16)
        >>> str(odd).replace("\xa0", " ")
        'the labelled items were not drawn at random (p < 0.0001): gpt says pass on 100.0 % of them and on 16.0 % of all'
        """
        if self.label is not None:
            what = f"{self.columns[0]} says {self.label}"
        elif len(self.columns) == 2:
            what = f"{self.columns[0]} and {self.columns[1]} agree"
        else:
            what = "all agree"
        return (
            f"the labelled items were not drawn at random ({p_value(self.p_value)}): {what} on"
            f" {percent(self.drawn)} of them and on {percent(self.everywhere)} of"
            f" {self.among or 'all'}"
        )

    @property
    def warning(self) -> str:
        """What every verb says of it."""
        return f"{self}. Draw them at random"


def odd_draw_in_parts(
    codes: Ints,
    counts: NDArray[np.float64],
    known: NDArray[np.bool_],
    *,
    columns: Sequence[str],
    labels: Sequence[str],
    part: Ints,
    parts: Sequence[str],
) -> OddDraw | None:
    """Return what `odd_draw` finds in one of several parts, such as the outputs of each system.

    Each part is looked at by itself: nobody says that all have the same share of labels, and the
    same items may stand in several. The chance of a false alarm in any of them is at most .01.

    Examples
    --------
    >>> codes, known = np.array([[0], [1], [0], [1]]), np.array([False, False, True, True])
    >>> counts, part = np.array([90.0, 10, 0, 10]), np.array([0, 0, 0, 0])
    >>> about = {"columns": ("x",), "labels": "ab", "parts": ("m1", "m2")}
    >>> odd_draw_in_parts(codes, counts, known, part=part, **about).among
    'm1'
    """
    found: OddDraw | None = None
    used = np.unique(part[known]).tolist()
    for k in used:
        mine = part == k
        one = odd_draw(codes[mine], counts[mine], known[mine], columns=columns, labels=labels)
        if one is not None and (found is None or one.p_value < found.p_value):
            found = replace(one, among=parts[k] if len(parts) > 1 else "")
    if found is None or (p := min(1.0, found.p_value * len(used))) > LEVEL:
        return None
    return replace(found, p_value=p)


def if_drawn(verdict: str) -> str:
    """Return what labels would say, had they been drawn at random.

    A verdict may begin with a name, which is not written otherwise.

    >>> if_drawn("The new answers are worse."), if_drawn("B is better.")
    ('If they had been: the new answers are worse.', 'If they had been: B is better.')
    """
    told = f"the {verdict[4:]}" if verdict.startswith("The ") else verdict
    return f"If they had been: {told}"


def odd_draw(
    codes: Ints,
    counts: NDArray[np.float64],
    known: NDArray[np.bool_],
    *,
    columns: Sequence[str],
    labels: Sequence[str],
) -> OddDraw | None:
    r"""Return what shows that the labelled items are no random draw; None if nothing does.

    If a column says c of :math:`n_c` of the N items of which it says anything, then among k of
    these drawn at random the number of such items is hypergeometric, whatever the truth. The same
    holds for two columns that agree, and for all of them. The smallest two-sided p-value times the
    number of those looked at is held to .01. No alarm proves nothing: what the columns do not show
    may still differ.

    Parameters
    ----------
    codes
        Patterns x columns, the label that each column says; below 0 where it says nothing.
    counts, known
        Items of each pattern, and whether their true label is known.
    columns, labels
        Their names.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [0, 0], [0, 1]])
    >>> known = np.array([False, False, True, True])
    >>> found = odd_draw(codes, np.array([80.0, 0, 5, 15]), known, columns=("x", "y"), labels="ab")
    >>> found.columns, found.drawn, found.everywhere
    (('y',), 0.75, 0.15)
    >>> odd_draw(codes, np.array([64.0, 16, 16, 4]), known, columns=("x", "y"), labels="ab") is None
    True
    """
    if known.all() or not known.any():
        return None
    found: OddDraw | None = None
    looked = 0
    for event, possible, about, label in _events(codes, columns, labels):
        whole, held = counts[possible].sum(), counts[event].sum()
        draws, seen = counts[possible & known].sum(), counts[event & known].sum()
        if not 0 < held < whole or not 0 < draws < whole:
            continue
        looked += 1
        tail = smaller_tail(*(round(float(x)) for x in (seen, whole, held, draws)))
        one = OddDraw(
            p_value=tail,
            columns=about,
            label=label,
            drawn=float(seen / draws),
            everywhere=float(held / whole),
        )
        # Of two labels the other is as telling; "says b on all" is easier to read than "a on none".
        if found is None or _tells_more(one, found):
            found = one
    if found is None or (p := min(1.0, 2 * found.p_value * looked)) > LEVEL:
        return None
    return replace(found, p_value=p)


def _tells_more(one: OddDraw, other: OddDraw) -> bool:
    alike = abs(one.p_value - other.p_value) <= 1e-9 * other.p_value
    return one.drawn > other.drawn if alike else one.p_value < other.p_value


_Event = tuple[NDArray[np.bool_], NDArray[np.bool_], tuple[str, ...], str | None]


def _events(codes: Ints, columns: Sequence[str], labels: Sequence[str]) -> Iterator[_Event]:
    """Yield what can be seen: in which patterns it is so, in which it could be, and its names."""
    says = codes >= 0
    for j, name in enumerate(columns):
        for c, label in enumerate(labels):
            yield codes[:, j] == c, says[:, j], (name,), str(label)
    if len(columns) <= _MOST_PAIRS:
        for a, b in combinations(range(len(columns)), 2):
            both = says[:, a] & says[:, b]
            yield both & (codes[:, a] == codes[:, b]), both, (columns[a], columns[b]), None
    if len(columns) > 2:
        some = says.sum(axis=1) > 1
        least = np.where(says, codes, np.iinfo(np.int64).max).min(axis=1)
        yield some & (codes.max(axis=1) == least), some, tuple(columns), None
