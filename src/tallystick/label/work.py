"""A session at work: draw, show, take answers, take them back, and say where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from tallystick.data import Data
from tallystick.data.session import Answer, Ask, Session
from tallystick.data.session_file import SessionFile
from tallystick.errors import FileError, InputError
from tallystick.label.blind import blindness, telling
from tallystick.label.drawing import drawn_event
from tallystick.label.existing import answers_in_table, find_existing
from tallystick.label.outcome import outcome, refused
from tallystick.label.questions import LabelQuestion
from tallystick.label.result import LabelResult
from tallystick.label.row_cells import RowCells
from tallystick.label.standing import Standing, standing
from tallystick.results import Json
from tallystick.sampling.labels import next_batch
from tallystick.sampling.labels.answers import answer_code, label_of
from tallystick.sampling.labels.batches import FIRST
from tallystick.sampling.labels.task import LabelTask
from tallystick.values import Label

__all__ = ["Work"]


class Work:
    """A session that is open: its data, its task, and its file if it may be written.

    Make one with `begin` or `reopen`, and close it.
    """

    def __init__(
        self,
        data: Data,
        asked: LabelQuestion,
        task: LabelTask,
        session: Session,
        file: SessionFile | None,
        *,
        rows: tuple[Path, str] | None = None,
    ) -> None:
        self.data, self.asked, self.task, self.session = data, asked, task, session
        self._file = file
        head = session.head
        self.cells = RowCells(data, head.item, head.system, head.show, file=rows)
        self._standing: Standing | None = None

    @cached_property
    def _in_table(self) -> Mapping[int, Label]:
        """Labels of the table, by row: an item that has one need not be read again."""
        return find_existing(self.data, self.task).labels

    # -- what a reader sees

    def shown(self, asks: Sequence[Ask]) -> list[tuple[str, ...]]:
        """Return the cells of the columns to show, as text, for each ask."""
        self.cells.fetch(ask.row for ask in asks)
        return [self.cells.shown(ask.row) for ask in asks]

    @cached_property
    def blindness(self) -> str:
        """Whether readers are blind: the sentence that stands beside what they see."""
        head = self.session.head
        return blindness(
            telling(self.data, self.task, [one for one in head.show if one != head.item])
        )

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
        waiting = self.session.open_asks(reader)
        where = self.standing()
        parts = self.task.rows.shape[1]
        if parts > 1 and where.best is not None:
            parts = int(where.best.live.sum())
        wanted = size
        if wanted is None:
            # The first batch is a fixed number; after it the forecast has something to go by.
            more = FIRST - where.read.n if where.read.n < FIRST else next_batch(where.progress)
            wanted = 0 if waiting else more * parts
        missing = -(-(wanted - len(waiting)) // parts)
        # The contested items are settled batch by batch, so a batch has to be finished first.
        may_draw = not (waiting and self.task.claim == "best-of")
        budget = self.session.head.budget
        if budget is not None:
            missing = min(missing, (budget - len(self.session.asks)) // parts)
        missing = min(missing, where.left)
        if missing > 0 and may_draw:
            drawn = drawn_event(self.session, self.task, where, self.cells, missing)
            asks = self.session.then([drawn]).asks[len(self.session.asks) :]
            self.write([drawn, *answers_in_table(self._in_table, asks)])
            waiting = self.session.open_asks(reader)
        return tuple(waiting if size is None else waiting[:size])

    def answer(
        self, ask: int, label: Label, *, reader: str, note: str = "", seconds: float | None = None
    ) -> None:
        """Take one answer; *label* None skips the ask."""
        self.write([self.event(ask, label, reader=reader, note=note, seconds=seconds)])

    def event(
        self, ask: int, label: Label, *, reader: str, note: str = "", seconds: float | None = None
    ) -> dict[str, Json]:
        """Return the line of one answer, checked."""
        if not 0 <= ask < len(self.session.asks):
            raise InputError(f"ask {ask} was never drawn: {len(self.session.asks)} were")
        if reader not in self.session.head.readers:
            raise InputError(
                f"reader must be one of {', '.join(self.session.head.readers)}, got {reader!r}"
            )
        event: dict[str, Json] = {"skip": ask} if label is None else {"answer": ask}
        event |= {"reader": reader, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        if label is not None:
            answer_code(self.task, label)
            event["label"] = label
        if note:
            event["note"] = note
        if seconds is not None:
            event["seconds"] = round(seconds, 1)
        return event

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
            found = standing(self.session, self.task)
            # What cannot be claimed from these labels is no reason to stop drawing others.
            early = found.stop in ("precision", "verdict", "not-worth-it")
            if early and refused(self.session, self.task, found) is not None:
                found = replace(found, stop=None, forecast=None)
            self._standing = found
        return self._standing

    def result(self, batch: Sequence[Ask] = (), *, final: bool = True) -> LabelResult:
        """Return the answer so far; *final* also asks the capability itself."""
        return outcome(self, batch, final=final)

    def close(self) -> None:
        """Let go of the session's file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
