"""Keeping tallies and moments: one Arrow IPC file with a format version, written whole or not at
all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import FileError, FormatError, InputError
from tallystick.io import atomic
from tallystick.io.arrays import as_arrow, as_numpy
from tallystick.tally.patterns import Patterns, settle
from tallystick.tally.recipe import Recipe
from tallystick.tally.sources import Sources
from tallystick.tally.sums import Sums, regrouped
from tallystick.values.label import in_order

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMAT", "VERSION", "load_moments", "load_tally", "save_moments", "save_tally"]

FORMAT = "tallystick"
VERSION = 1
"""Version of the file format; a file of a higher version is refused."""


def save_tally(patterns: Patterns, recipe: Recipe | None, sources: Sources, path: Path) -> None:
    """Write patterns, recipe and sources to *path*."""
    import pyarrow as pa

    codes = patterns.store.codes
    columns = {f"c{j}": as_arrow(codes[:, j]) for j in range(codes.shape[1])}
    columns["count"] = as_arrow(patterns.store.counts)
    write_table(
        path,
        "tally",
        pa.table(columns),
        {
            "labels": _labels_out(patterns.labels),
            "recipe": _recipe_out(recipe),
            "sources": sources.to_json(),
        },
    )


def load_tally(path: Path) -> tuple[Patterns, Recipe | None, Sources]:
    """Read what :func:`save_tally` wrote."""
    table, head = read_table(path, "tally")
    try:
        labels = {
            str(name): tuple(_label_in(item) for item in column) for name, column in head["labels"]
        }
        codes = (
            np.stack([as_numpy(table[f"c{j}"]) for j in range(len(labels))], axis=1)
            if labels
            else None
        )
        counts = as_numpy(table["count"])
        recipe = _recipe_in(head["recipe"])
        sizes = [len(column) for column in labels.values()]
        codes = np.zeros((len(counts), 0), np.int32) if codes is None else codes.astype(np.int32)
        if len(codes) and not ((codes >= 0) & (codes < np.asarray(sizes, np.int32))).all():
            raise InputError("a code is outside its labels")
        # Files of earlier versions hold whole floats, and integers before all fractions.
        as_saved = Recipe(apart=frozenset(labels))
        made = settle(tuple(labels), tuple(labels.values()), codes, counts, as_saved)
        return made, recipe, Sources.from_json(head.get("sources"))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is a damaged tally ({error}): count the data again") from error


def write_table(path: Path, kind: str, table: pa.Table, head: Mapping[str, Any]) -> None:
    """Write one Arrow table with its head, whole or not at all."""
    import pyarrow as pa

    meta = {"format": FORMAT, "kind": kind, "version": VERSION, **head}
    table = table.replace_schema_metadata(
        {FORMAT: json.dumps(meta, ensure_ascii=False, allow_nan=True)}
    )
    with atomic(path) as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def read_table(path: Path, kind: str) -> tuple[pa.Table, dict[str, Any]]:
    """Read a table that :func:`write_table` wrote; anything else is refused by name."""
    import pyarrow as pa

    if not path.exists():
        raise FileError(f"there is no file {path}")
    if not path.is_file():
        raise FileError(f"{path} is a directory, a pipe or a device, not a saved {kind}")
    try:
        with pa.OSFile(str(path), "rb") as file:
            reader = pa.ipc.open_file(file)
            written = (reader.schema.metadata or {}).get(FORMAT.encode())
            table = reader.read_all() if written is not None else None
            if table is not None:
                table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise FormatError(
            f"{path} is not a saved {kind}, or it is damaged ({error}). A table becomes a tally by"
            " `tallystick tally TABLE -o FILE.tally`"
        ) from error
    if written is None:
        raise FormatError(
            f"{path} is an Arrow file, but not a saved {kind}: count it with Tally.of"
        )
    try:
        head = json.loads(written)
        version, found = int(head["version"]), str(head["kind"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} has a damaged head: {error}") from error
    if version > VERSION:
        raise FormatError(
            f"{path} has format version {version}, this Tallystick reads up to {VERSION}:"
            " upgrade it"
        )
    if found != kind:
        raise FormatError(f"{path} holds a saved {found}, not a {kind}")
    return table, head


def _labels_out(labels: Mapping[str, tuple[Any, ...]]) -> list[list[Any]]:
    """JSON keeps bool, int, float and str apart."""
    return [[name, list(column)] for name, column in labels.items()]


def _label_in(item: Any) -> Any:
    if item is None or isinstance(item, bool | int | float | str):
        return item
    raise ValueError(f"{item!r} is not a label")


def _recipe_out(recipe: Recipe | None) -> dict[str, Any] | None:
    if recipe is None:
        return None
    return {
        "columns": None if recipe.columns is None else list(recipe.columns),
        "cut": {name: list(edges) for name, edges in recipe.cut.items()},
        "weight": recipe.weight,
        "missing": sorted(recipe.missing),
        "coerce": recipe.coerce,
        "apart": sorted(recipe.apart),
    }


def _recipe_in(written: dict[str, Any] | None) -> Recipe | None:
    if written is None:
        return None
    return Recipe(
        columns=None if written["columns"] is None else tuple(written["columns"]),
        cut={name: tuple(edges) for name, edges in written["cut"].items()},
        weight=written["weight"],
        missing=frozenset(written["missing"]),
        coerce=bool(written["coerce"]),
        apart=frozenset(written["apart"]),
    )


def save_moments(sums: Sums, recipe: Recipe, by: str | None, path: Path) -> None:
    """Write sums to *path*: one row a group, the cross-products in the head, written so that every
    bit comes back.
    """
    import pyarrow as pa

    columns = {f"c{j}": pa.array(sums.sums[:, j]) for j in range(len(sums.names))}
    columns["count"] = pa.array(sums.counts)
    head = {
        "names": list(sums.names),
        "groups": list(sums.groups),
        "products": [value.hex() for value in sums.products.ravel().tolist()],
        **{name: getattr(sums, name) for name in ("grouped", "weighted", "exact", "dropped")},
        "recipe": _recipe_out(recipe),
        "by": by,
    }
    write_table(path, "moments", pa.table(columns), head)


def load_moments(path: Path) -> tuple[Sums, Recipe | None, str | None]:
    """Read what :func:`save_moments` wrote."""
    table, head = read_table(path, "moments")
    try:
        names = tuple(str(name) for name in head["names"])
        products = np.array([float.fromhex(value) for value in head["products"]]).reshape(
            len(names), len(names)
        )
        sums = Sums(
            names=names,
            groups=tuple(_label_in(group) for group in head["groups"]),
            grouped=bool(head["grouped"]),
            weighted=bool(head["weighted"]),
            exact=bool(head["exact"]),
            dropped=int(head["dropped"]),
            counts=as_numpy(table["count"]),
            sums=np.stack([as_numpy(table[f"c{j}"]) for j in range(len(names))], axis=1),
            products=products,
        )
        if len(sums.counts) != (len(sums.groups) if sums.grouped else 1):
            raise InputError("the groups and their counts differ in number")
        # Files of earlier versions hold whole floats, and integers before all fractions.
        if sums.grouped:
            sums = regrouped(sums, in_order(sums.groups))
        return sums, _recipe_in(head["recipe"]), head["by"]
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path} holds damaged moments ({error}): add the data up again"
        ) from error
