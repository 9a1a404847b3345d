"""Text cells, written once as columnar scratch files, so that every later question is fast and
cannot fail half-way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from tallystick.io.scratch import scratch

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["BATCH", "Spool"]

BATCH = 50_000
"""Rows held in memory at a time by the readers that are written in Python."""


class Spool:
    """A growing table of text cells on disk; a blank cell is NULL.

    Columns may appear late (NDJSON): a batch with other columns than the last one starts a new
    scratch file.
    """

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.rows = 0
        self._names: tuple[str, ...] = ()
        self._writer: pq.ParquetWriter | None = None

    def add(self, names: Sequence[str], cells: Sequence[Sequence[str | None]]) -> None:
        """Append rows given column by column."""
        import pyarrow as pa
        import pyarrow.compute as pc

        arrays = []
        for column in cells:
            array = pa.array(column, pa.string())
            arrays.append(pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array))
        self.add_batch(pa.record_batch(arrays, names=list(names)))

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Append a batch of text columns in which blank cells are null already."""
        import pyarrow.parquet as pq

        names = tuple(batch.schema.names)
        if self._writer is None or names != self._names:
            self.finish()
            with tempfile.NamedTemporaryFile(
                dir=scratch(), prefix="spool-", suffix=".parquet", delete=False
            ) as made:
                self.paths.append(Path(made.name))
            self._writer = pq.ParquetWriter(self.paths[-1], batch.schema, compression="lz4")
            self._names = names
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def take(self, other: Spool) -> None:
        """Append all that *other*, which is complete, holds."""
        self.finish()
        self.paths += other.paths
        self.rows += other.rows

    def finish(self) -> None:
        """Complete the scratch file that is being written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()
        if error is not None:
            for path in self.paths:
                path.unlink(missing_ok=True)
