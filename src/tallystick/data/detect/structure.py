"""Columns that say what a row is, not what anyone answered: items, slices, rounds, weights, text,
measurements.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.data.detect.names import (
    MEASURES,
    ROUNDS,
    SLICES,
    SPLITS,
    TEXTS,
    is_identifier,
    is_item,
    is_truth,
    is_weight,
    plain,
    tokens,
)
from tallystick.data.detect.profile import Profile
from tallystick.data.detect.reading import Notebook, listed
from tallystick.data.detect.sample import is_unique
from tallystick.data.layout import Layout
from tallystick.data.roles import Roles
from tallystick.io import Table

__all__ = ["find_structure"]

Profiles = Mapping[str, Profile]


def find_structure(
    table: Table, profiles: Profiles, named: Roles, layout: Layout, book: Notebook
) -> dict[str, str]:
    """Take what is no answer out of the free columns; return the roles found, role to column."""
    found: dict[str, str] = {}
    book.take(
        [name for name in book.free if profiles[name].nature == "empty"],
        "not used",
        "every cell is blank",
    )
    slices = _slices(profiles, book)
    found |= _round(profiles, named, book)
    found |= _weight(profiles, named, book)
    found |= _cluster(profiles, named, book)
    found |= _item(table, profiles, named, layout, book, slices)
    book.take(
        [name for name in book.free if is_identifier(name)], "not used", "named like an identifier"
    )
    measures = [
        name
        for name in book.free
        if set(tokens(name)) & MEASURES and profiles[name].low is not None
    ]  # the numbers of a vote could never be told from 0/1 costs, so only names that say so count
    book.take(measures, "not used", "named like a measurement")
    texts = [name for name in book.free if profiles[name].nature == "text" and not is_truth(name)]
    book.take(
        [name for name in texts if plain(name) in TEXTS or not profiles[name].repeats],
        "text",
        "free text that hardly repeats",
    )
    return found


def _slices(profiles: Profiles, book: Notebook) -> dict[str, list[str]]:
    """Take columns that group the items: splits of one data set, and slices of another sort."""
    found: dict[str, list[str]] = {"split": [], "slice": []}
    for name in book.free:
        profile = profiles[name]
        if not profile.repeats or profile.nature == "numbers":
            continue
        if plain(name) in SPLITS:
            found["split"].append(name)
        elif plain(name) in SLICES - {"cluster"}:
            found["slice"].append(name)
    for names in found.values():
        for name in names:
            book.take(
                [name], "slice", f"its name, and values that repeat ({profiles[name].distinct:,})"
            )
    return found


def _round(profiles: Profiles, named: Roles, book: Notebook) -> dict[str, str]:
    if named.round is not None:
        return {}
    for name in [name for name in book.free if plain(name) in ROUNDS]:
        profile = profiles[name]
        numbers = sorted(value for value in profile.values if isinstance(value, int) and value >= 0)
        first, last = (numbers[0], numbers[-1]) if numbers else (0, 0)
        contiguous = len(numbers) == len(profile.values) == last - first + 1
        if profile.nature == "labels" and contiguous and not profile.blank:
            book.take(
                [name], "round", f"its name, and whole numbers {first} to {last} in every row"
            )
            return {"round": name}
        book.take(
            [name],
            "not used",
            "named like a round, but does not hold the numbers of two or more rounds",
        )
    return {}


def _weight(profiles: Profiles, named: Roles, book: Notebook) -> dict[str, str]:
    if named.weight is not None:
        return {}
    for name in list(book.free):
        profile = profiles[name]
        if profile.low is None or profile.low < 0:
            continue
        if is_weight(name):
            book.take([name], "weight", "its name, and numbers from 0 on")
            return {"weight": name}
        if plain(name) in ("weight", "weights"):
            book.ask(
                "--weight",
                f"does column {name!r} weigh the rows (--weight {name}) or is it a mere fact"
                f" (--ignore {name})?",
            )
            book.take([name], "not used", "it could weigh the rows, or be a fact about the item")
    return {}


def _cluster(profiles: Profiles, named: Roles, book: Notebook) -> dict[str, str]:
    if named.cluster is not None:
        return {}
    for name in book.free:
        profile = profiles[name]
        if plain(name) in ("cluster", "cluster_id") and not profile.blank and profile.repeats:
            book.take([name], "cluster", f"its name, and values that repeat ({profile.distinct:,})")
            return {"cluster": name}
    return {}


def _item(
    table: Table,
    profiles: Profiles,
    named: Roles,
    layout: Layout,
    book: Notebook,
    slices: Mapping[str, list[str]],
) -> dict[str, str]:
    """Take the column of item names: all different, or different within the parts of one data
    set.
    """
    if named.item is not None:
        if not is_unique(table, [named.item]) and not layout.rows_are_items:
            book.ask(
                "--item",
                f"column {named.item!r} repeats: average its rows first, name another column, or"
                " say that every row is an item of its own (--rows-are-items)",
            )
        return {}
    usual = [name for name in book.free if is_item(name)]
    whole = [name for name in usual if profiles[name].filled == profiles[name].rows]
    unique = [name for name in whole if _may_be_unique(profiles[name]) and is_unique(table, [name])]
    if unique:
        book.take(unique[:1], "item", "its name, and a different value in every row")
        book.take(
            [name for name in usual if name != unique[0]],
            "not used",
            "named like an item, beside another one",
        )
        return {"item": unique[0]}
    for name in whole:
        for split in slices["split"]:
            if is_unique(table, [split, name]):
                book.take(
                    [name],
                    "not used",
                    f"it names the item within each {split!r}, so every row is an item",
                )
                return {}
    if whole and not layout.rows_are_items and table.shape == "wide":
        groups = [column for columns in slices.values() for column in columns]
        apart = bool(groups) and is_unique(table, [*groups, whole[0]])
        several = (
            f"and is different only within {listed(groups)}: the file holds several tables in one"
            if apart
            else ""
        )
        book.ask(
            "--item",
            f"column {whole[0]!r} is named like an item but repeats {several or 'itself'}; give one"
            " table at a time, name the item (--item C), or say that every row is an item of its"
            " own (--rows-are-items)",
        )
    book.take(usual, "not used", "named like an item, but it repeats or has blanks")
    return {}


def _may_be_unique(profile: Profile) -> bool:
    """Whether all cells that were looked at differ, so that it is worth looking at all."""
    return profile.distinct == profile.seen
