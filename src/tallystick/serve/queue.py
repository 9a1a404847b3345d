r"""A draw with known probabilities: strata from votes, then the draw of `label` sessions.

The next stratum is drawn with

.. math:: q_h = \tfrac12 R_h/R + \tfrac12 R_h s_h/\sum_j R_j s_j   \tag{W1}

and inside it every row is equally likely (`tallystick.sampling.draws.draw_batch`). So inside a
stratum the draw is a simple random sample without replacement, and B draws take each of its
:math:`N_h` rows with probability :math:`B q_h / N_h`, with :math:`q_h` at the first draw: exact
while all spreads are alike, and to first order in :math:`B/N` else. The sizes that came out,
:math:`n_h/N_h`, would be noisier: a stratum with 2 labels in place of 4 looks like another design,
and `score` then has to widen its interval.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError
from tallystick.serve.auth import Span, span_of
from tallystick.serve.database import Reader, Store
from tallystick.serve.ingest import TRUTH, unpack_codes
from tallystick.serve.streams import StreamRecord, find_stream

if TYPE_CHECKING:
    from tallystick.sampling.votes import Floats, Ints

MOST_ROWS = 10_000
"""Rows of one draw: months of reading."""

MOST_PATTERNS = 5_000
"""With more patterns the votes say too little of how rows are alike: one stratum per system."""


@dataclass(frozen=True, kw_only=True)
class StratumPlan:
    """One stratum: the patterns of one system, its rows, how many were drawn, and at which rate."""

    system: str
    patterns: tuple[int, ...]
    size: int
    drawn: int
    rate: float

    def kept(self) -> dict[str, Any]:
        """Return it as JSON types, as the table of draws has it."""
        rows = {"N": self.size, "n": self.drawn, "rate": self.rate}
        return {"system": self.system, "patterns": list(self.patterns), **rows}


@dataclass(frozen=True, kw_only=True)
class DrawnRow:
    """One row to label, in the order of the draw."""

    row: int
    stratum: int
    probability: float
    readers: int


@dataclass(frozen=True, kw_only=True)
class FramePlan:
    """What a frame keeps: strata and rows."""

    as_of: int
    seed: int
    strata: tuple[StratumPlan, ...]
    rows: tuple[DrawnRow, ...]


def plan_frame(found: DrawPopulation, *, budget: int, overlap: float, seed: int) -> FramePlan:
    """Draw *budget* rows.

    Parameters
    ----------
    found
        The rows that may be drawn.
    budget
        How many rows.
    overlap
        The share of them that two people read.
    seed
        Makes the draw again from the same rows.
    """
    import numpy as np

    from tallystick.sampling.draws import (
        DrawJournal,
        LabelStrata,
        draw_batch,
        drawing_probabilities,
    )

    if not found.row.size:
        raise InputError("every row is labelled or drawn already: there is nothing to draw")
    rng = np.random.default_rng(seed)
    of, plans = _strata(found)
    none = np.zeros(len(plans), np.int64)
    strata = LabelStrata(of=of, side=none, guess=np.full((len(plans), 2), 0.5))
    spread, sizes = _spread(found, plans), strata.sizes
    begun = DrawJournal.empty(sizes)
    drawn = draw_batch(strata, begun, size=budget, spread=spread, rng=rng)

    n, taken = drawn.n_draws, np.bincount(drawn.stratum, minlength=len(plans))
    rate = np.minimum(n * drawing_probabilities(sizes, spread) / sizes, 1.0)
    rate = np.where(taken == sizes, 1.0, rate)  # all of them: no chance is left
    second = set(rng.choice(n, size=min(n, ceil(round(overlap * n, 6))), replace=False).tolist())
    return FramePlan(
        as_of=found.as_of,
        seed=seed,
        strata=tuple(
            StratumPlan(system=system, patterns=patterns, size=int(n), drawn=int(k), rate=float(p))
            for (system, patterns), n, k, p in zip(plans, sizes, taken, rate, strict=True)
        ),
        rows=tuple(
            DrawnRow(
                row=int(found.row[item]),
                stratum=int(h),
                probability=float(rate[h]),
                readers=2 if k in second else 1,
            )
            for k, (item, h) in enumerate(zip(drawn.item, drawn.stratum, strict=True))
        ),
    )


def _strata(found: DrawPopulation) -> tuple[Ints, list[tuple[str, tuple[int, ...]]]]:
    """Return the stratum of each row, and system and patterns of each stratum.

    Each system has strata of its own: what a judge's vote means differs between systems.
    """
    import numpy as np

    from tallystick.sampling.draws import vote_strata

    of = np.full(found.row.size, -1, np.int64)
    plans: list[tuple[str, tuple[int, ...]]] = []
    for s, system in enumerate(found.systems):
        mine = np.flatnonzero(found.system == s)
        if not mine.size:
            continue
        numbers, place = np.unique(found.pattern[mine], return_inverse=True)
        table = _votes(found, numbers.tolist())
        many = numbers.size > MOST_PATTERNS
        if many or len(found.words.classes) < 2 or not (table >= 0).any():
            of[mine] = len(plans)
            plans.append((system, () if many else tuple(numbers.tolist())))
            continue
        part = vote_strata(table[place], n_classes=len(found.words.classes))
        of[mine] = part.of.astype(np.int64) + len(plans)
        first = np.zeros(numbers.size, np.int64)
        first[place] = part.of
        plans += [(system, tuple(numbers[first == h].tolist())) for h in range(len(part))]
    return of, plans


def _votes(found: DrawPopulation, patterns: Sequence[int]) -> Ints:
    """Return patterns x columns of class codes, -1 for no vote."""
    import numpy as np

    table = np.full((len(patterns), max(1, len(found.words.columns))), -1, np.int64)
    for k, pattern in enumerate(patterns):
        codes = found.codes[pattern]
        for start in range(0, len(codes), 4):
            place = found.words.vote.get(int.from_bytes(codes[start : start + 4], "little"))
            if place is not None:
                table[k, place[0]] = place[1]
    return table


def _spread(found: DrawPopulation, plans: list[tuple[str, tuple[int, ...]]]) -> Floats:
    """Return one spread per stratum from labels that are there; without labels all are alike."""
    import numpy as np

    from tallystick.sampling.draws import class_spread

    by_votes: dict[bytes, list[tuple[int, int]]] = {}
    for pattern, n in found.labels.items():
        packed = found.codes[pattern]
        truth = found.words.truth_of(packed)
        if truth is not None:
            by_votes.setdefault(found.words.votes_of(packed), []).append((truth, n))
    taught = [
        (h, truth, n)
        for h, (_, patterns) in enumerate(plans)
        for pattern in patterns
        for truth, n in by_votes.get(found.codes[pattern], ())
    ]
    strata, truths, times = np.array(taught, dtype=np.int64).reshape(-1, 3).T
    classes = max(2, len(found.words.classes))
    values = truths.repeat(times).astype(np.float64)
    return class_spread(strata.repeat(times), values, len(plans), n_classes=classes)


# With which probability each labelled row was chosen.
#
# A frame takes a row of stratum h with a known probability :math:`p_h`. People read in the order of
# the draw, so what has been read before the first open draw is a random sample too: a share r of
# the draws takes a row with probability :math:`r p_h`. A row that was in the population of several
# frames was chosen with probability
#
# .. math:: \pi = 1 - \prod_f (1 - r_f p_{fh})   \tag{Q1}
#
# A label that nobody drew (it came with a record, or a person volunteered it) and that was there
# before the first draw that could have taken its row stands for itself only: :math:`\pi = 1`. Any
# other was given to a row that a draw had left out; it says nothing of other rows, and is left out
# unless it is asked for. Where no draw has been read, every label counts, as on the command line,
# and `doubts` names what that takes for granted.
#
# ``score`` takes the probabilities. The other verbs need labels that were drawn evenly, so for them
# a row is kept with probability :math:`\pi_{min}/\pi`, decided by its `u`: what is left is an even
# sample. (W1) is half proportional, so within one frame few labels are lost.


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

        Parameters
        ----------
        way
            ``drawn`` or ``even``.
        span
            The rows that are asked about.
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

    def of(self, row: LabelledRow) -> float:
        """Return the probability with which this frame took a row, 0 if it could not."""
        if row.first > self.as_of or not self.span.covers(row.bucket):
            return 0.0
        known = self._drawn.get(row.id)
        if known is None:
            known = self._place.get((row.system, row.votes), self._whole.get(row.system))
        return 0.0 if known is None else self._rate[known]


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
        parts = [(one["system"], one["patterns"], one["rate"]) for one in json.loads(strata)]
        seen = span_of(span or "", [], now=created)
        places = {row: h for row, h, _ in draws}
        frames.append(DrawnFrame(as_of, seen, parts, places, read / max(1, len(draws))))

    apart: set[int] = set()
    undrawn: set[int] = set()
    since = _first_labels(reader, stream)
    for ident in labelled.keys() - settled - waiting:
        row = labelled[ident]
        could = [f.as_of for f in frames if f.as_of >= row.first and f.span.covers(row.bucket)]
        before = not could or since.get(ident, 0) <= min(could)
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
    words = words_of(reader, stream)
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
            sql = "select id from pattern where stream = ? and codes = ?"
            numbers[votes] = reader.value(sql, (stream.id, votes)) or -1
        ident, system, bucket, slice_, pattern, u, first = row
        found[ident] = LabelledRow(ident, system, bucket, slice_, pattern, u, first, numbers[votes])
    return found


def _first_labels(reader: Reader, stream: StreamRecord) -> dict[int, int]:
    """Return the batch that brought the first label of each row."""
    rows = reader.all(
        "select row_id, min(seq) from label where stream = ? and value is not null group by row_id",
        (stream.id,),
    )
    return {row: int(first or 0) for row, first in rows}


# Which rows a draw is made from: not labelled, not drawn before, as of one batch.


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
    found = reader.labels(stream.id)
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
    row, pattern
        Number and pattern of each row.
    system, systems
        Which system each row belongs to, and their names.
    codes
        Pattern number to its label codes, for every pattern of the stream.
    words
        The votes behind the codes.
    labels
        How many rows of each labelled pattern there are: they steer the draw, nothing else.
    """

    as_of: int
    row: Ints
    pattern: Ints
    system: Ints
    systems: tuple[str, ...]
    codes: Mapping[int, bytes]
    words: Words
    labels: Mapping[int, int] = field(default_factory=dict)


def planned(
    store: Store, name: str, budget: int, overlap: float, span: Span, seed: int
) -> FramePlan:
    """Draw rows of a stream: what the worker does."""
    # One snapshot for words and rows: a vote that comes meanwhile makes patterns nobody read.
    with store.snapshot() as reader:
        found = population(reader, find_stream(reader, name), span)
    return plan_frame(found, budget=budget, overlap=overlap, seed=seed)


def population(reader: Reader, stream: StreamRecord, span: Span) -> DrawPopulation:
    """Read the rows of a span that may be drawn now."""
    import numpy as np

    as_of = reader.newest(stream.id)
    words = words_of(reader, stream)
    codes = {
        ident: bytes(packed)
        for ident, packed in reader.all(
            "select id, codes from pattern where stream = ?", (stream.id,)
        )
    }
    labelled = {ident for ident, packed in codes.items() if words.truth_of(packed) is not None}
    drawn = {
        row
        for (row,) in reader.all(
            "select d.row_id from draw d join frame f on f.id = d.frame where f.stream = ?",
            (stream.id,),
        )
    }
    counts = reader.all(
        "select pattern, sum(n) from tally where stream = ? group by pattern", (stream.id,)
    )
    where, values = span.condition()
    parts = [np.empty((0, 3), np.int64)]
    systems: dict[str, int] = {}
    for piece in reader.stream(
        f"select id, pattern, system from rows r where stream = ? and seq_first <= ?{where}"
        f" order by {reader.in_order()}",
        (stream.id, as_of, *values),
    ):
        kept = [
            (row, pattern, systems.setdefault(system, len(systems)))
            for row, pattern, system in piece
            if pattern not in labelled and row not in drawn
        ]
        parts.append(np.array(kept, dtype=np.int64).reshape(-1, 3))
    row, pattern, system = np.concatenate(parts).T
    return DrawPopulation(
        as_of=as_of,
        row=row,
        pattern=pattern,
        system=system,
        systems=tuple(systems),
        codes=codes,
        words=words,
        labels={ident: int(n) for ident, n in counts if n > 0 and ident in labelled},
    )
