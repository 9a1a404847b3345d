"""A session at work: draw, take answers, correct them, and say where it stands.

A session draws at random: of all rows, or of the rows of each system. A system whose score is known
well enough is not drawn any more, and one item is read for all the others at once. Sessions of the
second version go on drawing by strata with unequal spreads (W1), as they began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import Rng, as_rng, spawn
from tallystick.errors import FileError, InputError, unknown
from tallystick.results import Interval, Json, Unknown
from tallystick.sampling.bets import anytime_share, evidence, rectified_steps
from tallystick.sampling.contest import BestOf, contested_draws
from tallystick.sampling.draws import DrawJournal, draw_batch
from tallystick.sampling.duels import session_order
from tallystick.sampling.planned import (
    Found,
    OwnUnits,
    apart_of,
    own_units,
    planned_measure,
    shared_measures,
)
from tallystick.sampling.stopping import (
    FIRST,
    LEAST_TWICE,
    LabelProgress,
    StopReason,
    forecast,
    next_batch,
    stop_reason,
)
from tallystick.sampling.tasks import (
    LabelTask,
    Measure,
    Read,
    answer_code,
    apart_answers,
    journal_of,
    label_of,
    measured,
    read_answers,
)
from tallystick.sampling.votes import Floats, Ints
from tallystick.table import Data, Label
from tallystick.table.session import IN_FILE, Answer, Ask, Session, SessionFile
from tallystick.verbs.label.shown import RowCells, blindness, telling

if TYPE_CHECKING:
    from tallystick.verbs.label.outcome import LabelResult


class Work:
    """A session that is open: its data, its task, and its file if it may be written.

    Make one with `begin` or `reopen`, and close it.
    """

    def __init__(
        self, data: Data, task: LabelTask, session: Session, file: SessionFile | None
    ) -> None:
        self.data, self.task, self.session, self._file = data, task, session, file
        head = session.head
        self.cells = RowCells(data, head.item, head.system, head.show)
        self.in_table: Mapping[int, Label] = {}
        """Labels of the table, by row: an item that has one need not be read again."""
        self._standing: Standing | None = None

    # -- what a reader sees

    def shown(self, asks: Sequence[Ask]) -> list[tuple[str, ...]]:
        """Return the cells of the columns to show, as text, for each ask."""
        self.cells.fetch(ask.row for ask in asks)
        return [self.cells.shown(ask.row) for ask in asks]

    def beside(self, ask: Ask) -> list[Ask]:
        """Return the asks of the same draw, which a page shows side by side."""
        return [one for one in self.session.asks if one.draw == ask.draw]

    @property
    def blindness(self) -> str:
        """Whether readers are blind: the sentence that stands beside what they see."""
        head = self.session.head
        return blindness(telling(self.data, self.task, [n for n in head.show if n != head.item]))

    def given(self, reader: str) -> list[tuple[Ask, Answer]]:
        """Return what a reader has answered so far, in the order of asking."""
        found = ((ask, self.session.answers.get((ask.number, reader))) for ask in self.session.asks)
        return [(ask, answer) for ask, answer in found if answer is not None]

    # -- writing

    def write(self, events: Sequence[Mapping[str, Json]]) -> None:
        """Add lines to the file; when this returns they are on the disk."""
        if not events:
            return
        if self._file is None:
            raise FileError(f"{self.session.path} was opened for reading only")
        self._file.append(events)
        self.session = self.session.then(events)
        self._standing = None

    def next(self, size: int | None = None) -> tuple[Ask, ...]:
        """Return the asks of the first reader that come next, drawing as many as are missing.

        Asks that were drawn and not answered come first. Without *size* the forecast decides.
        """
        reader = self.session.head.readers[0]
        waiting, where = self.session.open_asks(reader), self.standing()
        wanted = size
        if wanted is None:
            wanted = 0 if waiting else next_batch(where.progress) * where.parts
        missing = min(-(-(wanted - len(waiting)) // where.parts), where.progress.left)
        budget = self.session.head.budget
        if budget is not None:
            missing = min(missing, (budget - len(self.session.asks)) // where.parts)
        # The contested items are settled batch by batch, so a batch has to be finished first.
        if missing > 0 and not (waiting and self.task.claim == "best-of"):
            drawn = drawn_event(self.session, self.task, where, self.cells, missing)
            asks = self.session.then([drawn]).asks[len(self.session.asks) :]
            self.write([drawn, *answers_in_table(self.in_table, asks)])
            waiting = self.session.open_asks(reader)
        return tuple(waiting if size is None else waiting[:size])

    def answer(
        self, ask: int, label: Label, *, reader: str, note: str = "", seconds: float | None = None
    ) -> None:
        """Take one answer, or correct an earlier one; *label* None skips the ask."""
        self.write([self.event(ask, label, reader=reader, note=note, seconds=seconds)])

    def event(
        self, ask: int, label: Label, *, reader: str, note: str = "", seconds: float | None = None
    ) -> dict[str, Json]:
        """Return the line of one answer, checked."""
        if not 0 <= ask < len(self.session.asks):
            raise InputError(f"ask {ask} was never drawn: {len(self.session.asks)} were")
        if reader not in self.session.head.readers:
            raise InputError(unknown("reader", reader, self.session.head.readers))
        event: dict[str, Json] = {"skip": ask} if label is None else {"answer": ask}
        event |= {"reader": reader, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        if label is not None:
            answer_code(self.task, label)
            event["label"] = label
        if note:
            event["note"] = note
        if seconds is not None:
            event["seconds"] = round(seconds, 1)
        if self.task.claim == "best-of" and (ask, reader) in self.session.answers:
            self._check_correction(event)
        return event

    def _check_correction(self, event: Mapping[str, Json]) -> None:
        """Refuse to change an answer by which somebody left a contest of several.

        Later items were drawn among those who were left, so the contest cannot be read again.
        """
        try:
            standing(self.session.then([event]), self.task)
        except InputError as error:
            raise InputError(
                "this answer cannot be corrected: by it the session decided which items to draw"
                " next. Begin another session"
            ) from error

    def undo(self, reader: str) -> Answer | None:
        """Take back the latest answer of a reader; return it, or None if there is none."""
        last = self.session.last_answer(reader)
        if last is not None:
            self.write([{"undo": last.ask, "reader": reader}])
        return last

    def label_of(self, text: str) -> Label:
        """Return the label that a text stands for; anything else raises `InputError`."""
        return label_of(self.task, text)

    # -- reading

    def standing(self) -> Standing:
        """Say where the session stands, from the answers so far."""
        if self._standing is None:
            self._standing = standing(self.session, self.task)
        return self._standing

    def result(self, batch: Sequence[Ask] = ()) -> LabelResult:
        """Return the answer so far."""
        from tallystick.verbs.label.outcome import outcome

        return outcome(self, batch)

    def close(self) -> None:
        """Let go of the session's file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# The next batch: which items a person should label now.


def drawn_event(
    session: Session, task: LabelTask, where: Standing, cells: RowCells | None, size: int
) -> dict[str, Json]:
    """Draw *size* further units and return the line that records them."""
    number = len(session.batches)
    rng = spawn(session.head.seed, number + 1)[number]
    if where.best is not None:
        units = contested_draws(where.best, size=size, rng=rng)
        if task.rows.shape[1] > 1:
            # Only the outputs of systems that may still be the best are worth a label.
            task = replace(task, rows=task.rows[:, where.best.live])
        return batch_event(session, task, cells, units)
    journal, spread = journal_of(session, task.strata), np.ones(len(task.strata))
    if not session.head.random:
        spread = _spread(task, where, journal)
    else:
        whole = _whole_items(task, journal.item, where.live, rng, size)
        if whole is not None:
            return batch_event(session, task, cells, whole)
        measures = zip(task.measures, where.live, strict=True)
        counts = [one.counts for one, live in measures if live and one.counts is not None]
        if counts:
            spread = np.any(counts, axis=0).astype(np.float64)
    after = draw_batch(task.strata, journal, size=size, spread=spread, rng=rng)
    new = slice(journal.n_draws, None)
    return batch_event(session, task, cells, after.item[new], spread, after.q[new])


def _whole_items(
    task: LabelTask, drawn: Ints, live: NDArray[np.bool_], rng: Rng, size: int
) -> Ints | None:
    """Return *size* units of whole items drawn at random; None if no item is left whole.

    People read an item once and grade its outputs of all systems that are not known well enough.
    The last item may be cut short.
    """
    if task.together is None:
        return None
    free = task.strata.of >= 0
    free[drawn] = False
    whole = np.flatnonzero(free[task.together].all(axis=1))
    systems = np.flatnonzero(live) if live.any() else np.arange(live.size)
    number = min(whole.size, -(-size // systems.size))
    if not number:
        return None
    chosen = whole[as_rng(rng).choice(whole.size, size=number, replace=False)]
    # Whose output comes first is drawn too: a fixed order would tell readers whose it is.
    rows = as_rng(rng).permuted(task.together[chosen][:, systems], axis=1)
    return np.asarray(rows.ravel()[:size], dtype=np.int64)


def _spread(task: LabelTask, where: Standing, journal: DrawJournal) -> Floats:
    """Return one spread per stratum from the answers that were read; skips teach nothing."""
    read = where.read
    known = ~read.skipped
    stratum = journal.stratum[: read.n][known]
    if task.rule is None:
        values = read.answers[known, 0, 0]
    else:
        values = measured(read, task.measures[0])[0][known]
    return task.spread(stratum, values, len(task.strata))


def batch_event(
    session: Session,
    task: LabelTask,
    cells: RowCells | None,
    units: Ints,
    spread: Floats | None = None,
    q: Floats | None = None,
) -> dict[str, Json]:
    """Return the line of one batch; without *spread* every unit that is left was as likely.

    The second reader reads as many as make max(20, a tenth of all) with those before, taken from
    the batch at random.
    """
    # Which output of an item comes first is drawn: a fixed order would tell readers whose it is.
    order = spawn(session.head.seed + 3, len(session.batches) + 1)[-1]
    rows = order.permuted(task.rows[units], axis=1)
    if cells is not None:
        cells.fetch(rows.ravel().tolist())
    asks: list[Json] = [
        [k, row, *((None, None) if cells is None else cells.name(row))]
        for k, parts in enumerate(rows.tolist())
        for row in parts
    ]
    chances = [None] * units.size if q is None else q.tolist()
    drawn = zip(units.tolist(), task.strata.of[units].tolist(), chances, strict=True)
    event: dict[str, Json] = {
        "batch": session.n_draws,
        "spread": [1.0] * len(task.strata) if spread is None else spread.tolist(),
        "draws": [list(draw) for draw in drawn],
        "asks": asks,
    }
    if len(session.head.readers) > 1:
        marked = sum(ask.twice for ask in session.asks)
        wanted = max(LEAST_TWICE, -(-(len(session.asks) + len(asks)) // 10)) - marked
        rng = spawn(session.head.seed + 1, len(session.batches) + 1)[-1]
        count = int(np.clip(wanted, 0, len(asks)))
        event["twice"] = sorted(rng.choice(len(asks), size=count, replace=False).tolist())
    return event


def answers_in_table(labels: Mapping[int, Label], asks: Sequence[Ask]) -> list[dict[str, Json]]:
    """Return the answers that the table holds already to some asks: nobody need give them again."""
    return [
        {"answer": ask.number, "reader": IN_FILE, "label": labels[ask.row], "at": ""}
        for ask in asks
        if ask.row in labels
    ]


# Where a session stands: intervals, verdicts, the forecast, and whether to stop.


@dataclass(frozen=True, kw_only=True)
class MeasureStanding:
    """What is known of one number.

    Parameters
    ----------
    name
        What it is the number of.
    estimate
        The estimate of the planned interval.
    interval
        Approximate, for a stop at a planned precision.
    anytime_interval
        Holds whenever you stop, whatever you saw.
    limit, verdict
        The claim, and ``above``, ``below`` or None.
    """

    name: str
    estimate: float | Unknown
    interval: Interval | Unknown
    anytime_interval: Interval
    limit: float | None = None
    verdict: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Standing:
    """Where a session stands after the answers that may be read.

    Parameters
    ----------
    read
        The answers.
    measures
        What is known of each number.
    live
        Which numbers are not known to the precision asked for yet.
    winner
        Who is better, or the best within epsilon; None while that is open or not asked.
    progress
        What the stop rules saw, and how many units can still be drawn.
    stop
        Why to stop, or None to go on.
    forecast
        At most about how many more labels; None where nothing can be forecast.
    parts
        How many outputs of a unit are worth a label.
    best, sure
        Where the contest of several models stands, and how sure a winner is.
    """

    read: Read
    measures: tuple[MeasureStanding, ...]
    live: NDArray[np.bool_]
    winner: str | None
    progress: LabelProgress
    stop: StopReason | None
    forecast: int | None
    parts: int
    best: BestOf | None = None
    sure: str = ""


def standing(session: Session, task: LabelTask) -> Standing:
    """Say where a session stands."""
    read, head = read_answers(session, task), session.head
    order = None if task.claim == "share" else session_order(session, task, read=read)
    best = None if order is None else order.best
    measures = () if best is not None else _measures(session, task, read)
    parts = task.rows.shape[1]
    if best is not None and parts > 1:
        parts = int(best.live.sum())

    limits = [one for one in measures if one.limit is not None]
    winner = None if order is None else order.winner
    settled = winner is not None or bool(limits and all(one.verdict for one in limits))
    certain = order is not None and order.certain
    left = task.strata.n_items - session.n_draws if order is None else order.left
    wanted = head.options.get("target")
    needs = [] if wanted is None else _missing(session, task, read, measures, wanted)
    least = [need for need, _ in needs]
    enough = read.n >= FIRST or not any(least)
    progress = LabelProgress(
        labelled=read.n,
        left=left,
        missing=_in_all(session, task, least) if needs and enough else None,
        verdict=settled,
        certain=certain,
        budget=None
        if head.budget is None
        else max(1, session.n_draws + (head.budget - len(session.asks)) // parts),
    )
    told = [one for _, one in needs if one is not None]
    more = None if needs or order is None else order.missing
    if needs and len(told) == len(needs):
        more = _in_all(session, task, told)
    return Standing(
        read=read,
        measures=measures,
        live=np.array([need > 0 for need in least or [1]], dtype=np.bool_),
        winner=winner,
        progress=progress,
        stop=stop_reason(progress),
        forecast=0 if settled or certain or not left else more if read.n >= FIRST else None,
        parts=parts,
        best=best,
        sure="" if order is None else order.sure(head.alpha),
    )


def _measures(session: Session, task: LabelTask, read: Read) -> tuple[MeasureStanding, ...]:
    """Return what is known of each number, by the rule of the session."""
    journal, known, alpha = (
        journal_of(session, task.strata),
        apart_answers(session, task),
        session.head.alpha,
    )
    if session.head.random and task.shared is not None:
        found: Sequence[Found] = shared_measures(task, read, known, alpha=alpha)
    else:
        found = [
            planned_measure(task, read, one, apart_of(known, one, task), alpha=alpha)
            for one in task.measures
        ]
    return tuple(
        _measure(session, task, read, journal, place, known, one) for place, one in enumerate(found)
    )


def _missing(
    session: Session,
    task: LabelTask,
    read: Read,
    measures: Sequence[MeasureStanding],
    wanted: float,
) -> list[tuple[int, int | None]]:
    """Return how many labels each number takes at least, and by forecast if there is one.

    Nothing stops before 20 labels, and a number with fewer than 10 has no forecast.
    """
    found: list[tuple[int, int | None]] = []
    for measure, one in zip(task.measures, measures, strict=True):
        labelled, items = read.n, task.strata.n_items
        if session.head.random:
            labelled = int((measure.cells(task.strata, read.units) >= 0).sum())
            items = int(measure.cell_sizes(task.strata).sum())
        rest = min(items, FIRST) - labelled
        seen = None
        if isinstance(one.interval, Interval) and labelled >= min(items, FIRST) / 2:
            seen = forecast(labelled, one.interval.width / 2, wanted, items=items)
        need = max(1, rest) if seen is None or rest > 0 else seen
        found.append((need, None if seen is None else max(seen, rest)))
    return found


def _in_all(session: Session, task: LabelTask, needs: Sequence[int]) -> int:
    """Return the labels of all numbers: one label may serve all of them, or one system only.

    In sessions of the second version each need was counted in draws of all systems.
    """
    apart = session.head.random and any(one.counts is not None for one in task.measures)
    return sum(needs) if apart else max(needs)


def _measure(
    session: Session,
    task: LabelTask,
    read: Read,
    journal: DrawJournal,
    place: int,
    known: Read,
    found: Found,
) -> MeasureStanding:
    measure, alpha = task.measures[place], session.head.alpha
    apart = apart_of(known, measure, task)
    own = OwnUnits(measure=measure, apart=apart, part=1.0)
    guess, inside = measure.guess, np.ones(read.n, np.bool_)
    if session.head.random:
        # Any draw at random is one of the units that count, so these are a journal of their own.
        own = own_units(task, measure, apart)
        inside = measure.cells(task.strata, read.units) >= 0
        journal, guess = _own_journal(task, measure, journal, task.own_sizes[place], inside)

    # Bets aim at the precision of the number itself, so w is divided by its scale (W6, W11).
    scale = abs(own.shown(1.0) - own.shown(0.0))
    width = min(session.head.target / scale, 0.99)
    low, high = (
        replace(
            rectified_steps(journal, part[inside], guess, bounds=measure.bounds), half_width=width
        )
        for part in measured(read, measure)
    )
    anytime = own.interval(anytime_share(low, alpha=alpha, skipped=high))
    # A share of some units cannot leave [0, 1], however rough the scale made it.
    if measure.offset == 0 and measure.bounds == (0.0, 1.0):
        anytime = replace(
            anytime, low=min(max(anytime.low, 0.0), 1.0), high=min(max(anytime.high, 0.0), 1.0)
        )
    verdict = None
    if measure.limit is not None:
        shown = evidence(low, own.mean(measure.limit), alpha=alpha, skipped=high).verdict
        verdict = None if shown == "even" else shown
    return MeasureStanding(
        name=measure.name,
        estimate=found[0],
        interval=found[1],
        anytime_interval=anytime,
        limit=measure.limit,
        verdict=verdict,
    )


def _own_journal(
    task: LabelTask,
    measure: Measure,
    journal: DrawJournal,
    sizes: Ints,
    inside: NDArray[np.bool_],
) -> tuple[DrawJournal, Floats]:
    """Return the draws of the units that count for a measure, and its guess in each stratum."""
    low, high = measure.bounds
    room = 0.02 * (high - low)
    share = np.divide(
        measure.guess * task.strata.sizes, sizes, out=np.zeros(sizes.size), where=sizes > 0
    )
    at = np.flatnonzero(inside)
    found = replace(
        journal,
        sizes=sizes,
        item=journal.item[at],
        stratum=journal.stratum[at],
        q=journal.q[at],
        batch=journal.batch[at],
        spreads=np.ones_like(journal.spreads),
    )
    return found, np.clip(share, low + room, high - room)
