r"""With which probability each labelled row was chosen, and what that leaves open.

A frame takes a row of stratum h with a known probability :math:`p_h`. People read in the order of
the draw, so what has been read before the first open draw is a random sample too: a share r of
the draws takes a row with probability :math:`r p_h`. A row that was in the population of several
frames was chosen with probability

.. math:: \pi = 1 - \prod_f (1 - r_f p_{fh})   \tag{Q1}

A label that nobody drew (it came with a record, or a person volunteered it) and that was there
before the first draw that could have taken its row stands for itself only: :math:`\pi = 1`. Any
other was given to a row that a draw had left out; it says nothing of other rows, and is left out
unless it is asked for. Where no draw has been read, every label counts, as on the command line,
and `label_doubts` names what that takes for granted.

``score`` takes the probabilities. The other verbs need labels that were drawn evenly, so for them
a row is kept with probability :math:`\pi_{min}/\pi`, decided by its `u`: what is left is an even
sample. (W1) is half proportional, so within one frame few labels are lost.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tallystick.results import count
from tallystick.serve.auth import Span, span_of
from tallystick.serve.database import Reader
from tallystick.serve.queue import strata_of
from tallystick.serve.streams import Codebook, StreamRecord

if TYPE_CHECKING:
    from tallystick.serve.rows import StreamBook

GRAVE = 0.05
"""Share of rows, or of draws, from which a doubt leaves the decision open."""


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
        The draws. With none, nothing is known of how labels were chosen.
    drawn
        Row to probability, for rows that were drawn and have a truth (Q1).
    apart
        Rows that stand for themselves only.
    undrawn
        Rows whose labels are left out, because a draw could have taken them and did not.
    waiting
        Rows that were read after the first open draw: they count as soon as that is read.
    skipped
        Draws that people could not answer.
    rows
        All rows with a truth.
    """

    frames: tuple[DrawnFrame, ...] = ()
    drawn: Mapping[int, float] = field(default_factory=dict)
    apart: frozenset[int] = frozenset()
    undrawn: frozenset[int] = frozenset()
    waiting: frozenset[int] = frozenset()
    skipped: int = 0
    rows: Mapping[int, LabelledRow] = field(default_factory=dict)

    def has_draws(self, span: Span) -> bool:
        """Say whether a row of a span was drawn and has a label."""
        return any(span.covers(self.rows[ident].bucket) for ident in self.drawn)

    def counted(self, way: str, span: Span) -> dict[int, float]:
        """Return the rows of a span whose labels count, each with its probability.

        With ``even`` they are thinned out until all are equally likely.
        """
        known = {
            ident: p
            for ident, p in {**self.drawn, **dict.fromkeys(self.apart, 1.0)}.items()
            if p and span.covers(self.rows[ident].bucket)
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
    return int.from_bytes(hashlib.blake2b(b"%d" % u, digest_size=7).digest(), "big") / 2**56


class DrawnFrame:
    """One frame: its rates by stratum, and where a row belongs.

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

    def __init__(
        self,
        as_of: int,
        span: Span,
        strata: Sequence[tuple[str, Sequence[int], float]],
        drawn: Mapping[int, int],
        share: float,
    ) -> None:
        self.as_of, self.span, self._drawn = as_of, span, drawn
        self._rate = [share * p for _, _, p in strata]
        self._place = {
            (system, pattern): h
            for h, (system, patterns, _) in enumerate(strata)
            for pattern in patterns
        }
        self._whole = {system: h for h, (system, patterns, _) in enumerate(strata) if not patterns}

    def could_take(self, row: LabelledRow) -> bool:
        """Say whether a row was there to be drawn."""
        return row.first <= self.as_of and self.span.covers(row.bucket)

    def of(self, row: LabelledRow) -> float:
        """Return the probability with which this frame took a row, 0 if it could not."""
        known = self._drawn.get(row.id)
        if known is None:
            known = self._place.get((row.system, row.votes), self._whole.get(row.system))
        return self._rate[known] if known is not None and self.could_take(row) else 0.0


def either(frames: Sequence[DrawnFrame], row: LabelledRow) -> float:
    """Return the probability that one of several frames took a row (Q1)."""
    missed = 1.0
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
    labelled = _labelled(reader, stream)
    frames: list[DrawnFrame] = []
    settled: set[int] = set()
    waiting: set[int] = set()
    states: Counter[str] = Counter()
    for ident, span, as_of, strata, created in found:
        draws = reader.all(
            "select row_id, stratum, state from draw where frame = ? order by place", (ident,)
        )
        # Read in the order of the draw, up to the first that nobody has read (label.md).
        read = next(
            (k for k, (row, _, s) in enumerate(draws) if s == "open" and row not in labelled),
            len(draws),
        )
        states.update(state for _, _, state in draws)
        for k, (row, _, _) in enumerate(draws):
            if row in labelled:
                (settled if k < read else waiting).add(row)
        parts = [(one.system, one.patterns, one.rate) for one in strata_of(strata)]
        seen = span_of(span or "", [], now=created)
        places = {row: h for row, h, _ in draws}
        frames.append(DrawnFrame(as_of, seen, parts, places, read / max(1, len(draws))))

    since = dict(
        reader.all(
            "select row_id, min(seq) from label where stream = ? and value is not null"
            " group by row_id",
            (stream.id,),
        )
    )
    apart: set[int] = set()
    undrawn: set[int] = set()
    for ident in labelled.keys() - settled - waiting:
        could = [frame.as_of for frame in frames if frame.could_take(labelled[ident])]
        before = not could or (since.get(ident) or 0) <= min(could)
        (apart if before else undrawn).add(ident)
    return Chances(
        frames=tuple(frames),
        drawn={ident: either(frames, labelled[ident]) for ident in settled},
        apart=frozenset(apart),
        undrawn=frozenset(undrawn),
        waiting=frozenset(waiting),
        skipped=states["skipped"],
        rows=labelled,
    )


def _labelled(reader: Reader, stream: StreamRecord) -> dict[int, LabelledRow]:
    """Return the rows with a truth, each with the number of its votes without that truth."""
    rows = reader.all(
        "select r.id, r.system, r.bucket, r.slice, r.pattern, r.u, r.seq_first, p.codes from"
        " (select distinct row_id from label where stream = ? and current = 1"
        " and value is not null) l"
        f" join rows r on r.stream = ? and {reader.row_is('=', 'l.row_id')}"
        " join pattern p on p.id = r.pattern",
        (stream.id, stream.id),
    )
    book = Codebook(reader, stream)  # after the rows: it must know all of their words
    numbers: dict[bytes, int] = {}
    found: dict[int, LabelledRow] = {}
    for *row, packed in rows:
        votes, truth = book.parted(bytes(packed))
        if truth is None:  # people disagree, and nobody has decided
            continue
        if votes not in numbers:
            sql = "select id from pattern where stream = ? and codes = ?"
            numbers[votes] = reader.value(sql, (stream.id, votes)) or -1
        found[row[0]] = LabelledRow(*(*row, numbers[votes]))
    return found


# What the way in which labels were chosen leaves open, said with every result
# of a stream.
#
# The command line sees rows and cannot know who chose them. The service
# knows: which labels it drew itself, which rows came after the draw, which
# draws people skipped or disagree on, and which labels somebody gave to rows
# of their own choice. Each of these is an assumption, and is named.


@dataclass(frozen=True, kw_only=True)
class DrawDoubt:
    """Something that labels cannot tell, with what a result takes for granted because of it.

    A *grave* one leaves open what the figures seem to decide.
    """

    warning: str
    grave: bool


def label_doubts(book: StreamBook) -> list[DrawDoubt]:
    """Return what a result about the span of a book takes for granted.

    Where no drawn row of it has a label, every label counts as it came.
    """
    if book.counted is None:
        return _as_they_came(book)
    found = []
    # Rows that no draw could take: those that came later, above all.
    later = _later(book)
    if later:
        rows = "row was" if later == 1 else "rows were"
        found.append(
            DrawDoubt(
                warning=f"{count(later)} {rows} in no draw: they came after it or lie outside its"
                " window, and count as if they were like the others. Draw again to know",
                grave=later > GRAVE * book.stream.rows,
            )
        )
    where, values = book.span.condition("r")
    states = dict(
        book.reader.all(
            "select d.state, count(*) from draw d join frame f on f.id = d.frame"
            f" join rows r on r.stream = f.stream and {book.reader.row_is('=', 'd.row_id')}"
            f" where f.stream = ?{where} group by d.state",
            (book.stream.id, *values),
        )
    )
    apart, skipped = states.get("disagreed", 0), states.get("skipped", 0)
    read = apart + skipped + states.get("answered", 0)
    if apart + skipped:
        found.append(
            DrawDoubt(
                warning=f"{count(apart + skipped)} of {count(read)} drawn rows that were read have"
                f" no label (people disagree on {count(apart)}, {count(skipped)} skipped), and are"
                " left out: these are often the hard ones"
                + (". A third person can decide (open the label page)" if apart else ""),
                grave=apart + skipped > GRAVE * read,
            )
        )
    return found


def _later(book: StreamBook) -> int:
    """Return how many rows of a span were in no draw."""
    reader, span = book.reader, book.span
    where, values = span.condition()
    reach = []
    limits: list[Any] = []
    for frame in book.chances.frames:
        inside, more = frame.span.condition()
        reach.append(f"(seq_first <= ?{inside})")
        limits += [frame.as_of, *more]
    rows = f"select seq_first, bucket from rows where stream = ?{where}"
    rows += f" and slice in ({', '.join(map(str, book.inside)) or '-1'})"
    if span.last is not None:
        rows, values = f"{rows} order by id desc limit ?", [*values, span.last]
    sql = f"select count(*) from ({rows}) t where not ({' or '.join(reach)})"
    return int(reader.value(sql, (book.stream.id, *values, *limits)))


def _as_they_came(book: StreamBook) -> list[DrawDoubt]:
    """Return the doubts about labels that nobody drew."""
    where, values = book.span.condition("r")
    chosen = book.reader.value(
        "select count(distinct l.row_id) from label l join rows r on r.stream = l.stream"
        f" and {book.reader.row_is('=', 'l.row_id')}"
        " where l.stream = ? and l.current = 1 and l.value is not null"
        f" and l.origin = 'volunteered'{where}",
        (book.stream.id, *values),
    )
    if not chosen:
        return []
    noun = "label was" if chosen == 1 else "labels were"
    return [
        DrawDoubt(
            warning=f"{count(chosen)} {noun} given to rows that somebody chose. They count as if"
            " the rows had been drawn at random. Let the service draw rows to know",
            grave=True,
        )
    ]
