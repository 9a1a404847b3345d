r"""Draws with known probabilities: strata from votes, then the draw of `label` sessions.

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

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from tallystick.errors import InputError
from tallystick.serve.auth import Span, span_of
from tallystick.serve.database import Reader, Store, Transaction
from tallystick.serve.jobs import Service
from tallystick.serve.routes import Incoming, reads, route
from tallystick.serve.streams import Codebook, Share, StreamRecord, find_stream, new_version

if TYPE_CHECKING:
    from tallystick.sampling.votes import Floats, Ints

MOST_ROWS = 10_000
"""Rows of one draw: months of reading."""

MOST_PATTERNS = 5_000
"""With more patterns the votes say too little of how rows are alike: one stratum per system."""


class StratumPlan(msgspec.Struct, frozen=True):
    """One stratum as it is kept: the patterns of one system, its rows, how many were drawn."""

    system: str
    patterns: tuple[int, ...]
    size: int = msgspec.field(name="N")
    drawn: int = msgspec.field(name="n")
    rate: float


class DrawnRow(NamedTuple):
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
    votes
        Pattern to the class that each judge says, -1 for no vote.
    n_classes
        How many classes there are.
    labels
        The votes and the true class of labelled patterns, and how many rows show them: they steer
        the draw, nothing else.
    """

    as_of: int
    row: Ints
    pattern: Ints
    system: Ints
    systems: tuple[str, ...]
    votes: Mapping[int, tuple[int, ...]]
    n_classes: int
    labels: Sequence[tuple[tuple[int, ...], int, int]] = ()


def planned(
    store: Store, name: str, budget: int, overlap: float, span: Span, seed: int
) -> FramePlan:
    """Draw rows of a stream: what the worker does."""
    # One snapshot for words and rows: a vote that comes meanwhile makes patterns nobody read.
    with store.snapshot() as reader:
        found = population(reader, find_stream(reader, name), span)
    return plan_frame(found, budget=budget, overlap=overlap, seed=seed)


def population(reader: Reader, stream: StreamRecord, span: Span) -> DrawPopulation:
    """Read the rows of a span that may be drawn: not labelled, not drawn before, as of now."""
    import numpy as np

    as_of, book = reader.newest(stream.id), Codebook(reader, stream)
    place = {word: k for k, word in enumerate(book.classes(stream))}
    votes: dict[int, tuple[int, ...]] = {}
    truths: dict[int, int] = {}
    for ident, packed in reader.all("select id, codes from pattern where stream = ?", (stream.id,)):
        said, truth = book.cells(bytes(packed))
        votes[ident] = tuple(-1 if word is None else place[word] for word in said)
        if truth is not None:
            truths[ident] = place[truth]
    sql = "select d.row_id from draw d join frame f on f.id = d.frame where f.stream = ?"
    drawn = {row for (row,) in reader.all(sql, (stream.id,))}
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
            if pattern not in truths and row not in drawn
        ]
        parts.append(np.array(kept, dtype=np.int64).reshape(-1, 3))
    row, pattern, system = np.concatenate(parts).T
    return DrawPopulation(
        as_of=as_of,
        row=row,
        pattern=pattern,
        system=system,
        systems=tuple(systems),
        votes=votes,
        n_classes=len(place),
        labels=[(votes[one], truths[one], int(n)) for one, n in counts if n > 0 and one in truths],
    )


def plan_frame(found: DrawPopulation, *, budget: int, overlap: float, seed: int) -> FramePlan:
    """Draw *budget* rows, a share *overlap* of them for two people; *seed* makes the same draw."""
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
    drawn = draw_batch(strata, DrawJournal.empty(sizes), size=budget, spread=spread, rng=rng)

    n, taken = drawn.n_draws, np.bincount(drawn.stratum, minlength=len(plans))
    rate = np.minimum(n * drawing_probabilities(sizes, spread) / sizes, 1.0)
    rate = np.where(taken == sizes, 1.0, rate)  # all of them: no chance is left
    second = set(rng.choice(n, size=min(n, ceil(round(overlap * n, 6))), replace=False).tolist())
    return FramePlan(
        as_of=found.as_of,
        seed=seed,
        strata=tuple(
            StratumPlan(*plan, int(size), int(k), float(p))
            for plan, size, k, p in zip(plans, sizes, taken, rate, strict=True)
        ),
        rows=tuple(
            DrawnRow(int(found.row[item]), int(h), float(rate[h]), 2 if k in second else 1)
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
        table = np.array([found.votes[one] for one in numbers.tolist()], np.int64)
        many = numbers.size > MOST_PATTERNS
        if many or found.n_classes < 2 or not (table >= 0).any():
            of[mine] = len(plans)
            plans.append((system, () if many else tuple(numbers.tolist())))
            continue
        part = vote_strata(table[place], n_classes=found.n_classes)
        of[mine] = part.of.astype(np.int64) + len(plans)
        first = np.zeros(numbers.size, np.int64)
        first[place] = part.of
        plans += [(system, tuple(numbers[first == h].tolist())) for h in range(len(part))]
    return of, plans


def _spread(found: DrawPopulation, plans: list[tuple[str, tuple[int, ...]]]) -> Floats:
    """Return one spread per stratum from labels that are there; without labels all are alike."""
    import numpy as np

    from tallystick.sampling.draws import class_spread

    by_votes: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for votes, truth, n in found.labels:
        by_votes.setdefault(votes, []).append((truth, n))
    taught = [
        (h, truth, n)
        for h, (_, patterns) in enumerate(plans)
        for pattern in patterns
        for truth, n in by_votes.get(found.votes[pattern], ())
    ]
    strata, truths, times = np.array(taught, dtype=np.int64).reshape(-1, 3).T
    values = truths.repeat(times).astype(np.float64)
    classes = max(2, found.n_classes)
    return class_spread(strata.repeat(times), values, len(plans), n_classes=classes)


# Frames: a draw is ordered, made in the worker, and kept with everything that
# made it.


class FrameOrder(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked for.

    Parameters
    ----------
    budget
        How many rows to draw; 40 take about half an hour to read.
    window
        Which rows: ``24h``, ``7d`` or ``FROM..TO``; all if empty.
    overlap
        The share that two people read; by default that of the stream.
    name
        What people call it.
    """

    budget: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 40
    window: str = ""
    overlap: Share | None = None
    name: Annotated[str, Meta(max_length=200)] = ""


class FrameStratum(msgspec.Struct):
    """How many rows of a stratum there were, how many were drawn, and with which probability."""

    size: int
    drawn: int
    probability: float


class FrameBody(msgspec.Struct):
    """A draw as the admin sees it."""

    id: int
    name: str
    state: str
    as_of: int
    seed: int
    budget: int
    created: float
    strata: list[FrameStratum]
    answered: int = 0
    open: int = 0
    disagreed: int = 0
    skipped: int = 0


class FrameList(msgspec.Struct):
    """The draws of a stream."""

    frames: list[FrameBody]


@route(
    "POST", "/v1/streams/{stream}/frames", "admin", body=FrameOrder, answer=FrameBody, status=201
)
async def post_frame(incoming: Incoming) -> FrameBody:
    """Draw rows to label, with known probabilities."""
    service, name, order = incoming.service, incoming.path["stream"], incoming.body
    stream = await service.reading(lambda reader: find_stream(reader, name))
    span = span_of(order.window, [], now=incoming.now)
    overlap = stream.settings.overlap if order.overlap is None else order.overlap
    given = (order.budget, overlap, span, secrets.randbits(62))
    # The scan and its mathematics belong into the worker, so that the server stays quick and small.
    plan: FramePlan = await service.waiting(
        lambda: service.worker.ask("queue:planned", name, *given, patience=120.0)
    )
    return await service.commit(lambda tx: _keep_frame(tx, service, stream, order, overlap, plan))


def _keep_frame(
    transaction: Transaction,
    service: Service,
    stream: StreamRecord,
    order: FrameOrder,
    overlap: float,
    plan: FramePlan,
) -> FrameBody:
    """Keep a draw, ready to be labelled."""
    frame = transaction.made(
        "frame",
        stream=stream.id,
        name=order.name,
        question='{"verb": "score"}',
        span=order.window or None,
        as_of=plan.as_of,
        seed=plan.seed,
        budget=order.budget,
        overlap=overlap,
        strata=msgspec.json.encode(plan.strata).decode(),
        state="open",
        created=service.clock(),
    )
    transaction.many(
        "insert into draw (frame, place, row_id, stratum, probability, readers, state)"
        " values (?, ?, ?, ?, ?, ?, 'open')",
        [(frame, place, *one) for place, one in enumerate(plan.rows)],
    )
    # Results depend on which rows were drawn: the version makes them be asked again.
    new_version(transaction, stream)
    return next(one for one in frames_of(transaction, stream) if one.id == frame)


def strata_of(text: str) -> list[StratumPlan]:
    """Read strata as they are kept."""
    return msgspec.json.decode(text, type=list[StratumPlan])


def frames_of(reader: Reader, stream: StreamRecord) -> list[FrameBody]:
    """Return the draws of a stream, the newest first."""
    states: dict[int, dict[str, int]] = {}
    for frame, state, n in reader.all(
        "select d.frame, d.state, count(*) from draw d join frame f on f.id = d.frame"
        " where f.stream = ? group by d.frame, d.state",
        (stream.id,),
    ):
        states.setdefault(frame, {})[state] = n
    bodies = []
    for *row, text in reader.all(
        "select id, name, state, as_of, seed, budget, created, strata from frame"
        " where stream = ? order by id desc limit 200",
        (stream.id,),
    ):
        strata = [FrameStratum(one.size, one.drawn, one.rate) for one in strata_of(text)]
        counts: dict[str, Any] = states.get(row[0], {})
        bodies.append(FrameBody(*(*row, strata), **counts))
    return bodies


@reads("/v1/streams/{stream}/frames", "read", answer=FrameList)
def get_frames(reader: Reader, incoming: Incoming) -> FrameList:
    """List the draws of a stream."""
    return FrameList(frames_of(reader, find_stream(reader, incoming.path["stream"])))
