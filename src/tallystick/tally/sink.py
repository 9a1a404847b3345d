"""A stream of Spark counted into one file, each batch once, however often the stream is killed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tallystick.errors import InputError
from tallystick.tally.tally import Tally

__all__ = ["TallySink"]

_QUERY = "sql.streaming.queryId"


@dataclass(frozen=True, kw_only=True)
class TallySink:
    """What ``foreachBatch`` calls: it counts a batch in Spark and adds the counts to a saved tally.

    The file holds the counts and the ids of the batches inside them, and is replaced as a whole.
    Spark repeats a batch that it has not committed. If the file has that batch already, nothing is
    added: every batch is counted once, whenever the driver is killed.

    A batch is named by the stream and its number. The stream is known by its checkpoint, so the
    numbers of a new checkpoint, which start at 0 again, are not taken for those of an old one.

    Parameters
    ----------
    path
        The saved tally. Only one stream at a time may write to it.
    columns, cut, weight, missing
        As in `tallystick.tally.Tally.of`; the same at every start.
    stream
        A name for the stream, where its checkpoint does not say it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sink = TallySink(path=f"{folder}/votes.tally", stream="votes")
    ...     sink({"gpt": [1, 0], "claude": [1, 1]}, 0)
    ...     sink({"gpt": [0, 0], "claude": [1, 1]}, 1)
    ...     sink({"gpt": [0, 0], "claude": [1, 1]}, 1)  # repeated after a kill
    ...     Tally.load(f"{folder}/votes.tally").n
    4

    With Spark::

        sink = TallySink(path="votes.tally", columns=["gpt", "claude"])
        votes.writeStream.foreachBatch(sink).option("checkpointLocation", "votes.d").start()
    """

    path: str | Path
    columns: Sequence[str] | None = None
    cut: Mapping[str, Sequence[float]] | None = None
    weight: str | None = None
    missing: Sequence[Any] = field(default=())
    stream: str | None = None

    def __call__(self, frame: Any, batch: int) -> None:
        """Count one batch, unless the file has it already."""
        path = Path(self.path)
        name = f"{self.stream or _stream_of(frame)}:{batch}"
        held = Tally.load(path) if path.exists() else None
        if held is not None and name in held.sources.batches:
            return
        fresh = Tally.of(
            frame,
            columns=self.columns,
            cut=self.cut,
            weight=self.weight,
            missing=self.missing,
            batch_id=name,
        )
        # Counts and ids are one file, which replaces the old one in a single step.
        (fresh if held is None else held + fresh).save(path)


def _stream_of(frame: Any) -> str:
    """Return the id of the query that hands over this batch: it lives in the checkpoint."""
    session = getattr(frame, "sparkSession", None)
    context = getattr(session, "sparkContext", None)
    found = None if context is None else context.getLocalProperty(_QUERY)
    if not found:
        raise InputError(
            "the batch does not say which stream it belongs to: name it, TallySink(stream=…)"
        )
    return str(found)
