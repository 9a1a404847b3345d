"""Why two tables have no item in common: what each calls its items, and how the names differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import Any

__all__ = ["how_items_differ"]

_SHOWN = 3
_SAMPLE = 10_000


def _as_number(name: str) -> str:
    return re.sub(r"(\d)\.0+$", r"\1", name)


_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("without blanks and in lower case", lambda name: name.strip().casefold()),
    ("without the decimal point", _as_number),
    ("without leading zeros", lambda name: _as_number(name.strip()).lstrip("0") or "0"),
    (
        "without folders and endings",
        lambda name: re.sub(r"\.\w+$", "", re.split(r"[/\\]", name)[-1]),
    ),
    (
        "by the number in them alone",
        lambda name: (re.findall(r"\d+", name) or [name])[-1].lstrip("0") or "0",
    ),
)
"""In what names of the same items often differ."""


def how_items_differ(
    first: Collection[Any], second: Collection[Any], *, here: str, there: str
) -> str:
    """Say what two tables call their items, and how the names would agree.

    Parameters
    ----------
    first, second
        The items of both, which have none in common.
    here, there
        How messages call the two tables.

    Examples
    --------
    >>> print(how_items_differ(["1", "2"], ["0002", "0001"], here="a.csv", there="b.csv"))
    '1', '2' in a.csv and '0002', '0001' in b.csv. Without leading zeros 2 of them would be the same: write them alike in both files
    >>> print(how_items_differ(["x"], ["y"], here="a.csv", there="b.csv"))
    'x' in a.csv and 'y' in b.csv
    """
    shown = f"{_listed(first)} in {here} and {_listed(second)} in {there}"
    ours, theirs = (list(islice(map(str, names), _SAMPLE)) for names in (first, second))
    for words, alike in _WAYS:
        # Names that fall together say nothing: a way must keep the items of one table apart.
        mine, others = {alike(name) for name in ours}, {alike(name) for name in theirs}
        if len(mine) < len(set(ours)) or len(others) < len(set(theirs)):
            continue
        common = len(mine & others)
        if 2 * common >= min(len(mine), len(others)):
            how = words[0].upper() + words[1:]
            return f"{shown}. {how} {common:,} of them would be the same: write them alike in both files"
    return shown


def _listed(names: Iterable[Any]) -> str:
    held = list(islice(names, _SHOWN + 1))
    return ", ".join(map(repr, held[:_SHOWN])) + (", …" if len(held) > _SHOWN else "")
