r"""With which probability each labelled row was chosen.

A frame takes a row of stratum h with a known probability :math:`p_h`. People read in the order of
the draw, so what has been read before the first open draw is a random sample too: a share r of the
draws takes a row with probability :math:`r p_h`. A row that was in the population of several frames
was chosen with probability

.. math:: \pi = 1 - \prod_f (1 - r_f p_{fh})   \tag{Q1}

Labels that came with the records count as one more draw, of all rows alike: that is what the
command line assumes of labels, and the page names it. A volunteered label that was there before
the first draw that could have taken its row stands for itself only: :math:`\pi = 1`. Any other was
volunteered for a row that a draw had left out; it says nothing of other rows, and is left out
unless it is asked for.

``score`` takes the probabilities. The other verbs need labels that were drawn evenly, so for them a
row is kept with probability :math:`\pi_{min}/\pi`, decided by its `u`: what is left is an even
sample. (W1) is half proportional, so within one frame few labels are lost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tallystick.serve.queue.population import Words, words_of
from tallystick.serve.settings import StreamRecord
from tallystick.serve.span import Span, span_of
from tallystick.serve.store import Reader

__all__ = [
    "WAYS",
    "Chances",
    "DrawnFrame",
    "LabelledRow",
    "chances",
    "drawn_frame",
    "either",
    "even",
]

WAYS = ("drawn", "even", "all")
"""Which labels count: those that were drawn, with their probability; of these an even sample; or
every label, as if all had been drawn at random."""


@dataclass(frozen=True)
class LabelledRow:
    """A row with a truth: where it is counted, and its votes without the truth."""

    id: int
    system: str
    bucket: int
    slice: int
    pattern: int
    u: int
    first: int
    votes: int


@dataclass(frozen=True, kw_only=True)
class Chances:
    """How the labelled rows of a stream were chosen.

    Parameters
    ----------
    frames
        How many draws there are. With none, nothing is known of how labels were chosen.
    drawn
        Row to probability, for rows that were drawn and have a truth (Q1).
    imported
        Row to probability, for rows whose labels came with the records.
    apart
        Rows that stand for themselves only.
    volunteered
        Rows whose labels are left out.
    waiting
        Rows that were read after the first open draw: they count as soon as that is read.
    skipped, disagreed
        Draws that were read and have no truth.
    """

    frames: int = 0
    drawn: Mapping[int, float] = field(default_factory=dict)
    imported: Mapping[int, float] = field(default_factory=dict)
    apart: frozenset[int] = frozenset()
    volunteered: frozenset[int] = frozenset()
    waiting: frozenset[int] = frozenset()
    skipped: int = 0
    disagreed: int = 0
    rows: Mapping[int, LabelledRow] = field(default_factory=dict)

    def probability(self, row: int) -> float | None:
        """Return the probability of a row with a truth; None if its label is left out."""
        return 1.0 if row in self.apart else self.drawn.get(row) or self.imported.get(row)

    def counted(self, way: str, span: Span) -> dict[int, float]:
        """Return the rows of a span whose labels count, each with its probability.

        Parameters
        ----------
        way
            ``drawn`` or ``even``.
        span
            The rows that are asked about.
        """
        known = {
            ident: p
            for ident, row in self.rows.items()
            if span.covers(row.bucket) and (p := self.probability(ident))
        }
        if way == "drawn" or not known:
            return known
        least = min(known.values())
        return {i: least for i, p in known.items() if even(self.rows[i].u) * p < least}


def even(u: int) -> float:
    """Return a number in [0, 1) for a row, independent of its place in any draw.

    >>> 0 <= even(12345) < 1, even(1) == even(1)
    (True, True)
    """
    import hashlib

    return int.from_bytes(hashlib.blake2b(b"%d" % u, digest_size=7).digest(), "big") / 2**56


@dataclass(frozen=True)
class DrawnFrame:
    """One frame: its rates by stratum, and where a row belongs."""

    as_of: int
    span: Span
    rate: tuple[float, ...]
    place: Mapping[tuple[str, int], int]
    whole: Mapping[str, int]
    stratum: Mapping[int, int]

    def of(self, row: LabelledRow) -> float:
        """Return the probability with which this frame took a row, 0 if it could not."""
        if row.first > self.as_of or not self.span.covers(row.bucket):
            return 0.0
        known = self.stratum.get(row.id)
        if known is None:
            known = self.place.get((row.system, row.votes), self.whole.get(row.system))
        return 0.0 if known is None else self.rate[known]


def drawn_frame(
    as_of: int,
    span: Span,
    strata: Sequence[tuple[str, Sequence[int], float]],
    drawn: Mapping[int, int],
    share: float,
) -> DrawnFrame:
    """Return the rates of a frame, from what has been read of it.

    Parameters
    ----------
    as_of, span
        The rows that it was drawn from.
    strata
        System, patterns and probability of each stratum.
    drawn
        Row to stratum, for every draw.
    share
        The share of the draws that have been read.
    """
    return DrawnFrame(
        as_of=as_of,
        span=span,
        rate=tuple(share * p for _, _, p in strata),
        place={
            (system, pattern): h
            for h, (system, patterns, _) in enumerate(strata)
            for pattern in patterns
        },
        whole={system: h for h, (system, patterns, _) in enumerate(strata) if not patterns},
        stratum=drawn,
    )


def either(frames: Sequence[DrawnFrame], row: LabelledRow, *, before: float = 0.0) -> float:
    """Return the probability that one of several frames took a row (Q1).

    Parameters
    ----------
    frames
        The frames, in order.
    row
        The row.
    before
        The probability that it was taken before them.
    """
    missed = 1.0 - before
    for frame in frames:
        missed *= 1.0 - frame.of(row)
    return 1.0 - missed  # (Q1)


def chances(reader: Reader, stream: StreamRecord) -> Chances:
    """Return how the labelled rows of a stream were chosen."""
    found = reader.all(
        "select id, span, as_of, strata, created from frame where stream = ? order by id",
        (stream.id,),
    )
    if not found:
        return Chances()
    words = words_of(reader, stream)
    labelled = _labelled(reader, stream, words)
    frames: list[DrawnFrame] = []
    settled: dict[int, int] = {}
    waiting: set[int] = set()
    lost = {"skipped": 0, "disagreed": 0}
    for ident, span, as_of, strata, created in found:
        draws = reader.all(
            "select row_id, stratum, state from draw where frame = ? order by place", (ident,)
        )
        # Read in the order of the draw, up to the first that nobody has read (label.md).
        read = next(
            (k for k, (row, _, s) in enumerate(draws) if s == "open" and row not in labelled),
            len(draws),
        )
        for k, (row, _, state) in enumerate(draws):
            if state in lost:
                lost[state] += 1
            if row in labelled and k < read:
                settled[row] = len(frames)
            elif row in labelled:
                waiting.add(row)
        parts = [(one["system"], one["patterns"], one["rate"]) for one in json.loads(strata)]
        seen = span_of(span or "", [], now=created)
        places = {row: h for row, h, _ in draws}
        frames.append(drawn_frame(as_of, seen, parts, places, read / max(1, len(draws))))
    chosen = _Chosen(frames=frames, settled=settled, waiting=waiting, lost=lost, rows=stream.rows)
    return _sorted(labelled, chosen, _first_labels(reader, stream))


@dataclass(frozen=True, kw_only=True)
class _Chosen:
    """What the draws have chosen, and what has been read of it."""

    frames: list[DrawnFrame]
    settled: Mapping[int, int]
    waiting: set[int]
    lost: Mapping[str, int]
    rows: int


def _sorted(
    labelled: Mapping[int, LabelledRow],
    chosen: _Chosen,
    known_since: Mapping[int, tuple[int, int]],
) -> Chances:
    """Say of each labelled row how it was chosen."""
    frames = chosen.frames
    came = {i for i in labelled if i not in chosen.settled and known_since.get(i, (0, 0))[1]}
    rate = len(came) / chosen.rows if chosen.rows else 0.0
    drawn: dict[int, float] = {}
    imported: dict[int, float] = {}
    apart: set[int] = set()
    volunteered: set[int] = set()
    for ident, row in labelled.items():
        if ident in chosen.settled:
            drawn[ident] = either(frames, row, before=rate)
        elif ident in came:
            imported[ident] = either(frames, row, before=rate)
        elif ident not in chosen.waiting:
            could = [f.as_of for f in frames if f.as_of >= row.first and f.span.covers(row.bucket)]
            before = not could or known_since.get(ident, (0, 0))[0] <= min(could)
            (apart if before else volunteered).add(ident)
    return Chances(
        frames=len(frames),
        drawn=drawn,
        imported=imported,
        apart=frozenset(apart),
        volunteered=frozenset(volunteered),
        waiting=frozenset(chosen.waiting),
        skipped=chosen.lost["skipped"],
        disagreed=chosen.lost["disagreed"],
        rows=labelled,
    )


def _labelled(reader: Reader, stream: StreamRecord, words: Words) -> dict[int, LabelledRow]:
    """Return the rows with a truth, each with the number of its votes without that truth."""
    numbers: dict[bytes, int] = {}
    found: dict[int, LabelledRow] = {}
    for *row, packed in reader.all(
        "select r.id, r.system, r.bucket, r.slice, r.pattern, r.u, r.seq_first, p.codes from"
        " (select distinct row_id from label where stream = ? and current = 1"
        " and value is not null) l"
        f" join rows r on r.stream = ? and {reader.row_is('=', 'l.row_id')}"
        " join pattern p on p.id = r.pattern",
        (stream.id, stream.id),
    ):
        codes = bytes(packed)
        if words.truth_of(codes) is None:  # people disagree, and nobody has decided
            continue
        votes = words.votes_of(codes)
        if votes not in numbers:
            known = reader.one(
                "select id from pattern where stream = ? and codes = ?", (stream.id, votes)
            )
            numbers[votes] = -1 if known is None else known[0]
        ident, system, bucket, slice_, pattern, u, first = row
        found[ident] = LabelledRow(ident, system, bucket, slice_, pattern, u, first, numbers[votes])
    return found


def _first_labels(reader: Reader, stream: StreamRecord) -> dict[int, tuple[int, int]]:
    """Return the batch that brought the first label of each row, and how many came with records."""
    rows = reader.all(
        "select row_id, min(seq), sum(case when origin = 'imported' then 1 else 0 end) from label"
        " where stream = ? and value is not null group by row_id",
        (stream.id,),
    )
    return {row: (int(first or 0), int(n)) for row, first, n in rows}
