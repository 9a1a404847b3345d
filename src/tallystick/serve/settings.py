"""What an operator says of a stream, and the stream as it is kept."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.store import Reader

__all__ = ["StreamRecord", "StreamSettings", "find_stream"]


class StreamSettings(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of a stream.

    Parameters
    ----------
    columns
        Columns that are declared, name to kind: ``vote``, ``grade`` or ``slice``.
    open
        Whether records may bring new columns. Default: yes, unless columns are declared.
    labels
        All labels that votes and truths may have; empty for any.
    scales
        Column of grades to its least and its greatest grade: ``{"gpt": [1, 5]}``. A record with
        another grade is refused.
    roles
        What columns are for a verb, as on the command line: ``{"prediction": ["clf"]}``. Votes are
        judges where nothing is said.
    positive
        The label of ``--positive``, where a verb needs one.
    window, settle
        Rows per window of the drift test, and the seconds after its arrival within which votes on
        a row are seen by that test.
    retention_days
        Rows and batches older than this are dropped; None keeps them.
    overlap
        The share of draws that two people label.
    question
        What a labeller is asked.
    instructions
        What a labeller reads first.
    """

    columns: dict[str, str] = {}
    open: bool | None = None
    labels: list[str] = []
    scales: dict[str, tuple[float, float]] = {}
    roles: dict[str, list[str]] = {}
    positive: str | None = None
    window: int = 1_000
    settle: float = 3_600.0
    retention_days: float | None = None
    overlap: float = 0.1
    question: str = ""
    instructions: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a record may bring a new column."""
        return not self.columns if self.open is None else self.open


@dataclass(frozen=True)
class StreamRecord:
    """A stream as it is kept."""

    id: int
    name: str
    settings: StreamSettings
    salt: bytes
    version: int
    rows: int
    created: float


@lru_cache(maxsize=1024)
def _settings(text: str) -> StreamSettings:
    return msgspec.json.decode(text.encode(), type=StreamSettings)


def find_stream(reader: Reader, name: str) -> StreamRecord:
    """Return a stream by name; an unknown one is refused with the nearest name."""
    row = reader.one(
        "select id, name, settings, salt, version, rows, created from stream where name = ?",
        (name,),
    )
    if row is None:
        names = [one for (one,) in reader.all("select name from stream order by name limit 1000")]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}? Otherwise " if near else ""
        way = f"{hint}make it first: PUT /v1/streams/{name} with the body {{}} (an admin may)"
        raise HttpProblem(404, f"there is no stream {name!r}", [Fix(value=name, way_out=way)])
    return StreamRecord(row[0], row[1], _settings(row[2]), bytes(row[3]), row[4], row[5], row[6])
