"""Which rows a draw is made from: not labelled, not drawn before, as of one batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.serve.ingest.interned import TRUTH, unpack_codes
from tallystick.serve.settings import StreamRecord
from tallystick.serve.store import Reader, Store

if TYPE_CHECKING:
    from tallystick.sampling.labels.consensus import Ints

__all__ = ["DrawPopulation", "Words", "population", "words_of"]


@dataclass(frozen=True, kw_only=True)
class Words:
    """The votes behind pattern numbers.

    Parameters
    ----------
    columns
        Numbers of the columns that vote.
    classes
        All words that votes and truths have, in order.
    vote
        Label code to (place of its column, place of its word).
    truth
        Label code of a truth to the place of its word.
    """

    columns: tuple[int, ...]
    classes: tuple[str, ...]
    vote: Mapping[int, tuple[int, int]]
    truth: Mapping[int, int]

    def truth_of(self, codes: bytes) -> int | None:
        """Return the class of a pattern's truth, None if it has none."""
        return next((self.truth[c] for c in unpack_codes(codes) if c in self.truth), None)

    def votes_of(self, codes: bytes) -> bytes:
        """Return the pattern without its truth, packed as in the table of patterns."""
        parts = [codes[k : k + 4] for k in range(0, len(codes), 4)]
        return b"".join(p for p in parts if int.from_bytes(p, "little") not in self.truth)


def words_of(reader: Reader, stream: StreamRecord) -> Words:
    """Return the votes behind the patterns of a stream."""
    found = reader.all(
        "select c.id, s.id, s.kind, s.name, c.label from label_code c join stream_column s"
        " on s.id = c.stream_column where s.stream = ? order by c.id",
        (stream.id,),
    )
    columns = tuple(sorted({column for _, column, kind, _, _ in found if kind == "vote"}))
    said = {word for _, _, kind, _, word in found if kind in ("vote", "label")}
    classes = tuple(stream.settings.labels) or tuple(sorted(said))
    classes += tuple(sorted(said - set(classes)))
    place = {word: k for k, word in enumerate(classes)}
    at = {column: k for k, column in enumerate(columns)}
    return Words(
        columns=columns,
        classes=classes,
        vote={
            code: (at[column], place[word])
            for code, column, kind, _, word in found
            if kind == "vote"
        },
        truth={code: place[word] for code, _, _, name, word in found if name == TRUTH},
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawPopulation:
    """The rows that may be drawn, and what is known of them.

    Parameters
    ----------
    as_of
        The last batch that was seen.
    row, pattern, u
        Number, pattern and place in any draw of each row.
    system, systems
        Which system each row belongs to, and their names.
    codes
        Pattern number to its label codes, for every pattern of the stream.
    words
        The votes behind the codes.
    """

    as_of: int
    row: Ints
    pattern: Ints
    u: Ints
    system: Ints
    systems: tuple[str, ...]
    codes: Mapping[int, bytes]
    words: Words


def population(
    store: Store, stream: StreamRecord, *, low: int | None = None, high: int | None = None
) -> DrawPopulation:
    """Read the rows that may be drawn now.

    Parameters
    ----------
    store, stream
        Where they are.
    low, high
        The first and the last hour since 1970 that count; None for no end.
    """
    import numpy as np

    # One snapshot for words and rows: a vote that comes meanwhile makes patterns nobody read.
    with store.snapshot() as reader:
        newest = reader.one("select max(seq) from batch where stream = ?", (stream.id,))
        as_of = int((newest and newest[0]) or 0)
        words = words_of(reader, stream)
        codes = {
            ident: bytes(packed)
            for ident, packed in reader.all(
                "select id, codes from pattern where stream = ?", (stream.id,)
            )
        }
        drawn = {
            row
            for (row,) in reader.all(
                "select d.row_id from draw d join frame f on f.id = d.frame where f.stream = ?",
                (stream.id,),
            )
        }
        labelled = {ident for ident, packed in codes.items() if words.truth_of(packed) is not None}

        where = ""
        values: list[int] = []
        for bound, sign in ((low, ">="), (high, "<=")):
            if bound is not None:
                where, values = where + f" and bucket {sign} ?", [*values, bound]
        parts: list[Any] = []
        systems: dict[str, int] = {}
        for piece in reader.stream(
            f"select id, pattern, u, system from rows where stream = ? and seq_first <= ?{where}",
            (stream.id, as_of, *values),
        ):
            kept = [
                (row, pattern, u, systems.setdefault(system, len(systems)))
                for row, pattern, u, system in piece
                if pattern not in labelled and row not in drawn
            ]
            if kept:
                parts.append(np.array(kept, dtype=np.int64))
    table = np.concatenate(parts) if parts else np.empty((0, 4), np.int64)
    return DrawPopulation(
        as_of=as_of,
        row=table[:, 0],
        pattern=table[:, 1],
        u=table[:, 2],
        system=table[:, 3],
        systems=tuple(systems),
        codes=codes,
        words=words,
    )
