"""What a session keeps of its table, so that a table of millions of rows is not read at each step.

Beside the session ``s.label`` stands ``s.label.rows``, a Parquet file that may be deleted at any
time: it is made again when the session is next opened for writing. It holds the pattern of votes of
every row, and for tables that are slow to read row by row (CSV and the like) the cells that readers
see. It counts only while the files of the table are those that it was made from
(:mod:`.file_stamp`); otherwise the table is read and checked in full.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.data.data import Data
from tallystick.data.file_stamp import Stamp, file_stamps
from tallystick.data.roles import GROUPS, Roles
from tallystick.data.row_memory import RowMemory, RowPatterns
from tallystick.data.session import SessionHead
from tallystick.io import Table, connect, identifier
from tallystick.io.arrays import as_arrow, as_numpy
from tallystick.io.columnar import parquet_relation
from tallystick.values import LabelRules

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["KeptRows", "keep_rows", "kept_rows", "rows_file", "source_files"]

VERSION = 1
LEAST_ROWS = 100_000
"""Smaller tables are read in a moment, and their session stays one file."""
_GROUP = 1 << 17
"""Rows of a row group."""
_KEY = b"tallystick"
_PATTERN, _GROUPS, _CELL = "pattern ", "group ", "cell "


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptRows:
    """What was kept of a table that has not changed since.

    Parameters
    ----------
    memory
        The patterns of all rows.
    data
        The data itself, from the kept cells; None where the table is read where it lies.
    file
        A Parquet file with the rows in their order, and the prefix of its columns.
    """

    memory: RowMemory
    data: Data | None
    file: tuple[Path, str]


def rows_file(session: str | Path) -> Path:
    """Return where the rows of a session are kept."""
    return Path(f"{session}.rows")


def source_files(head: SessionHead, source: Sequence[str | Path] = ()) -> tuple[str, ...]:
    """Return the files that the table of a session is made from."""
    reading = head.options.get("reading", {})
    beside = [reading[name] for name in ("truth_file", "old_file") if reading.get(name)]
    return (*map(str, source or head.source), *map(str, beside))


def keep_rows(session: str | Path, head: SessionHead, data: Data) -> None:
    """Keep what was read of a table, if it is large and lies in files. Failing to is no error."""
    memory = data.memory
    stamps = file_stamps(source_files(head)) if head.source else None
    if memory is None or stamps is None or data.n_rows < LEAST_ROWS or not memory.whole:
        return
    target = rows_file(session)
    part = target.with_name(f"{target.name}.part")
    with suppress(OSError, ValueError, TypeError):  # a full disk; labels that JSON cannot hold
        try:
            # Cells of the table are for the eyes of those who may read the session.
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
            _write(part, head, data, memory, stamps)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def kept_rows(
    session: str | Path, head: SessionHead, source: Sequence[str | Path] = ()
) -> KeptRows | None:
    """Return what was kept, or None where nothing was, or the table's files have changed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = rows_file(session)
    stamps = file_stamps(source_files(head, source)) if path.is_file() else None
    if stamps is None:
        return None
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            note = json.loads((file.schema_arrow.metadata or {}).get(_KEY, b"{}"))
            known = (note.get("version"), note.get("fingerprint"), note.get("stamps"))
            if known != (VERSION, head.fingerprint, stamps):
                return None
            memory = _read_memory(file, note)
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None
    if note["table"] is None:
        return KeptRows(memory=memory, data=None, file=(Path(source_files(head, source)[0]), ""))
    return KeptRows(memory=memory, data=_data(path, note["table"], memory), file=(path, _CELL))


# -- writing


def _write(
    path: Path, head: SessionHead, data: Data, memory: RowMemory, stamps: list[Stamp]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    copied = () if _lies_in_parquet(data.table) else _shown(head, data)
    note = {
        "version": VERSION,
        "fingerprint": head.fingerprint,
        "stamps": stamps,
        "missing": None if memory.missing is None else list(memory.missing),
        "patterns": [
            {
                "columns": columns,
                "tokens": tokens,
                "codes": found.codes.tolist(),
                "labels": list(found.labels),
                "first": found.first.tolist(),
                "counts": found.counts.tolist(),
            }
            for (columns, tokens), found in memory.patterns.items()
        ],
        "groups": list(memory.groups),
        "table": None if _lies_in_parquet(data.table) else _note(data),
    }
    text = json.dumps(note, allow_nan=False)
    arrays = {
        **{
            f"{_PATTERN}{k}": _small(found.place, len(found.codes))
            for k, found in enumerate(memory.patterns.values())
        },
        **{f"{_GROUPS}{name}": found for name, found in memory.groups.items()},
    }
    writer: pq.ParquetWriter | None = None
    try:
        for batch in _batches(arrays, data, copied):
            if writer is None:
                schema = batch.schema.with_metadata({_KEY: text.encode()})
                writer = pq.ParquetWriter(path, schema, compression="snappy")
            writer.write_table(pa.Table.from_batches([batch], writer.schema), _GROUP)
    finally:
        if writer is not None:
            writer.close()


def _batches(
    arrays: dict[str, npt.NDArray[Any]], data: Data, copied: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Return the kept columns, some rows at a time."""
    import pyarrow as pa

    if not copied:
        whole = pa.table({name: as_arrow(one) for name, one in arrays.items()})
        yield from whole.to_batches(max_chunksize=_GROUP)
        return
    cells = ", ".join(f"{identifier(name)} as {identifier(_CELL + name)}" for name in copied)
    done = 0
    for batch in data.table.derive(f"select {cells} from rows").to_arrow_reader(_GROUP):
        held = {name: as_arrow(one[done : done + len(batch)]) for name, one in arrays.items()}
        for name in batch.schema.names:
            held[name] = batch.column(name)
        yield pa.RecordBatch.from_pydict(held)
        done += len(batch)


def _shown(head: SessionHead, data: Data) -> tuple[str, ...]:
    """Return the columns that a session needs besides patterns: names, texts, and single cells."""
    named = (head.item, head.system, *head.show, *data.roles.columns())
    return tuple(dict.fromkeys(name for name in named if name in data.table.columns))


def _note(data: Data) -> dict[str, Any]:
    """Return what is known of the data besides its rows."""
    return {
        "source": data.source,
        "notes": list(data.notes),
        "roles": {one.name: getattr(data.roles, one.name) for one in fields(Roles)},
        "rules": {one.name: getattr(data.rules, one.name) for one in fields(LabelRules)},
    }


def _small(place: npt.NDArray[np.integer], patterns: int) -> npt.NDArray[np.integer]:
    """Return the pattern of each row in as few bytes as will do."""
    import numpy as np

    return place.astype(np.uint8 if patterns <= 1 << 8 else np.uint16)


def _lies_in_parquet(table: Table) -> bool:
    """Say whether the rows of a table are those of one Parquet file, in its order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(table.files) != 1 or table.spools:
        return False
    try:
        found = pq.read_metadata(table.files[0])
    except (pa.ArrowException, OSError):
        return False
    [(rows,)] = table.query("select count(*) from rows")
    names = found.schema.to_arrow_schema().names
    return bool(found.num_rows == rows) and names == list(table.columns)


# -- reading


def _read_memory(file: Any, note: dict[str, Any]) -> RowMemory:
    """Return the patterns and groups of all rows."""
    import numpy as np

    names = [f"{_PATTERN}{k}" for k in range(len(note["patterns"]))]
    grouped = [f"{_GROUPS}{name}" for name in note["groups"]]
    table = file.read(columns=[*names, *grouped], use_threads=False)
    missing = note["missing"]
    memory = RowMemory(missing=None if missing is None else tuple(missing))
    for name, held in zip(names, note["patterns"], strict=True):
        codes = np.array(held["codes"], np.int32).reshape(-1, len(held["columns"]))
        memory.patterns[tuple(held["columns"]), tuple(held["tokens"])] = RowPatterns(
            codes=codes,
            labels=tuple(held["labels"]),
            first=np.array(held["first"], np.int64),
            counts=np.array(held["counts"], np.float64),
            place=as_numpy(table[name]),
        )
    for name in note["groups"]:
        memory.groups[name] = as_numpy(table[f"{_GROUPS}{name}"])
    return memory


def _data(path: Path, note: dict[str, Any], memory: RowMemory) -> Data:
    """Return the data of a table whose cells were kept."""
    kept = parquet_relation(connect(), [path])
    names = [name for name in kept.columns if name.startswith(_CELL)]
    cells = ", ".join(
        f"{identifier(name)} as {identifier(name.removeprefix(_CELL))}" for name in names
    )
    relation = kept.project(cells)
    table = Table(relation=relation, columns=tuple(relation.columns), source=note["source"])
    roles: dict[str, Any] = {
        name: tuple(value or ()) if name in GROUPS else value
        for name, value in note["roles"].items()
    }
    rules: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in note["rules"].items()
    }
    return Data(
        held=table,
        roles=Roles(**roles),
        rules=LabelRules(**rules),
        source=note["source"],
        notes=tuple(note["notes"]),
        memory=memory,
    )
