"""What a labelling session holds: the question, the draws, and what people answered.

A *draw* picks one unit (an item, or an output of one). An *ask* is one cell that a person fills
in. A draw has one ask, or one per system where the outputs of an item are labelled together.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import FormatError, InputError, unknown
from tallystick.results import Json
from tallystick.table.cells import Label
from tallystick.table.ledger import Ledger, LedgerKind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_THIRD = 2
"""The place of the reader who only reads what the first two disagree on."""

RANDOM = "random"
"""The rule of a session whose labels are a random sample: of all rows, or of each system's rows."""

DRAWN = "labelled rows were drawn by label, with the probabilities that its session records"
"""What an answer from a session rests on."""

IN_FILE = "file"
"""Who answered what the table held before the session began."""


@dataclass(frozen=True, kw_only=True)
class SessionHead:
    """What is fixed when a session begins.

    Parameters
    ----------
    question
        What is asked: score, compare, judge, bound or prevalence.
    options
        The roles of the columns, and the fields of the question that were given.
    source
        The files, as they were named.
    columns
        The columns that the strata depend on, in order.
    fingerprint
        A digest of these columns: the draws belong to this data and no other.
    strata
        A digest of the strata.
    n_units
        How many units can be drawn.
    classes
        The answers that a person can give; empty for a number between *scale*.
    scale
        The least and largest grade, where answers are numbers.
    units
        ``rows``: a unit is a row of the table. ``items``: a unit is an item with a row per system.
    target
        The half-width that bets aim at, w of (W6). It never changes.
    alpha, seed, budget
        The level, the seed of the draws, the most labels that may be bought.
    item, system
        The columns that name an ask, where the table has them.
    show
        The columns that a person sees.
    ask
        The question that a person reads.
    instructions
        What counts as which answer.
    readers
        Who reads: one name, two, or three. The third reads only disagreements.
    origin
        How labels that were there already came to be: random, disagreements or unknown.
    made
        When the session began.
    """

    question: str
    options: Mapping[str, Any] = field(default_factory=dict)
    source: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    fingerprint: str = ""
    strata: str = ""
    n_units: int = 0
    classes: tuple[Label, ...] = ()
    scale: tuple[float, float] | None = None
    units: str = "rows"
    target: float = 0.05
    alpha: float = 0.05
    seed: int = 0
    budget: int | None = None
    item: str | None = None
    system: str | None = None
    show: tuple[str, ...] = ()
    ask: str = ""
    instructions: str = ""
    readers: tuple[str, ...] = ("1",)
    origin: str = "random"
    made: str = ""

    @property
    def random(self) -> bool:
        """Whether it draws at random; sessions of the second version go on drawing by strata."""
        return bool(self.options.get("rule") == RANDOM)

    def to_event(self) -> dict[str, Any]:
        """Return the first line of the file."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}

    @classmethod
    def of_event(cls, event: Mapping[str, Any]) -> SessionHead:
        """Read the first line of a file; fields that a later version added are left out."""
        known = {one.name for one in fields(cls)}
        held: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in event.items() if k in known
        }
        return cls(**held)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One cell that a person fills in.

    Parameters
    ----------
    number
        Its place in the order of asking, from 0.
    draw
        The draw that it belongs to.
    row
        The row of the table, from 0.
    item, system
        What the table calls it, as text; None where the table has no such column.
    batch
        The batch, from 0.
    probability
        The probability of the draw's stratum; None for uniform draws among disagreements.
    twice
        Whether a second reader reads it too.
    """

    number: int
    draw: int
    row: int
    item: str | None
    system: str | None
    batch: int
    probability: float | None
    twice: bool = False


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one reader said of one ask; *label* is None where the reader skipped it."""

    ask: int
    reader: str
    label: Label
    skipped: bool = False
    note: str = ""
    seconds: float | None = None
    at: str = ""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """One batch of draws: the frozen spreads, and the unit and stratum of every draw."""

    spread: tuple[float, ...]
    units: tuple[int, ...]
    strata: tuple[int, ...]
    probability: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class Session:
    """The state of a session after the lines that were read.

    Parameters
    ----------
    path, head
        The file, and what is fixed.
    packed
        The stratum of every unit, as the file has them (`strata`).
    apart
        Row to label, for labels of unknown origin: they are known, and no part of the sample.
    batches, asks, answers
        What was drawn, what was asked, and what was answered and not undone.
    """

    path: str
    head: SessionHead
    packed: Mapping[str, Any] = field(default_factory=dict)
    apart: Mapping[int, Label] = field(default_factory=dict)
    batches: tuple[Batch, ...] = ()
    asks: tuple[Ask, ...] = ()
    answers: Mapping[tuple[int, str], Answer] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A short name for what leaves a session and comes back: the same where draws are."""
        head = self.head
        drawn = [head.question, head.options, head.fingerprint, head.strata, head.seed, head.target]
        return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def n_draws(self) -> int:
        """How many units were drawn."""
        return sum(len(batch.units) for batch in self.batches)

    def strata(self) -> npt.NDArray[np.int16]:
        """Return the stratum of every unit, -1 for a unit that is not drawn from."""
        return unpacked(str(self.packed["strata"]))

    def said(self, ask: int) -> list[Answer]:
        """Return what readers said of one ask, in the order of the readers."""
        found = (self.answers.get((ask, who)) for who in (IN_FILE, *self.head.readers))
        return [answer for answer in found if answer is not None]

    def read_twice(self, ask: int) -> tuple[Label, ...]:
        """Return the labels of the first two readers, if both gave one."""
        two = (self.answers.get((ask, reader)) for reader in self.head.readers[:_THIRD])
        labels = tuple(one.label for one in two if one is not None and not one.skipped)
        return labels if len(labels) == _THIRD else ()

    def disagree(self, ask: int) -> bool:
        """Say whether the first two readers gave different labels."""
        return len(set(self.read_twice(ask))) > 1

    def labels(self, ask: int) -> tuple[Label, ...]:
        """Return the label of an ask: one, none if it is skipped or open, or two.

        Two labels are those of readers who disagree while no third one has read it.
        """
        given = [one for one in self.said(ask) if not one.skipped]
        if self.disagree(ask):
            third = tuple(one.label for one in given if one.reader in self.head.readers[_THIRD:])
            return third[:1] or self.read_twice(ask)
        return (given[0].label,) if given else ()

    def skipped(self, ask: int) -> bool:
        """Say whether everybody who read this ask skipped it."""
        said = self.said(ask)
        return bool(said) and all(one.skipped for one in said)

    def done(self, ask: int) -> bool:
        """Say whether at least one reader answered or skipped this ask."""
        return bool(self.said(ask))

    def readable(self) -> int:
        """Return how many draws may be read: all before the first that is not done."""
        open_ = [ask.draw for ask in self.asks if not self.done(ask.number)]
        return min(open_, default=self.n_draws)

    def require_drawn(self, question: str, *, rows: bool = True) -> None:
        """Refuse labels that were drawn only where models differ, to answer *question*."""
        if self.head.question == "compare" or (rows and self.head.units != "rows"):
            raise InputError(
                f"{self.path} was drawn for {self.head.question}, only where models differ: it says"
                f" nothing about all rows. Begin a session with --question {question}"
            )

    def require_labels(self) -> None:
        """Refuse a session without a label that is read by all who have to."""
        if not self.readable():
            raise InputError(f"{self.path} has no labels to read yet: answer its first items")

    def open_asks(self, reader: str) -> list[Ask]:
        """Return what this reader has still to answer, in the order of asking."""
        if reader not in self.head.readers:
            raise InputError(unknown("reader", reader, self.head.readers))
        place = self.head.readers.index(reader)
        return [ask for ask in self.asks if self._is_for(ask, place)]

    def _is_for(self, ask: Ask, place: int) -> bool:
        if {(ask.number, self.head.readers[place]), (ask.number, IN_FILE)} & self.answers.keys():
            return False
        if place == 0:
            return True
        return ask.twice if place < _THIRD else self.disagree(ask.number)

    def last_answer(self, reader: str) -> Answer | None:
        """Return the latest answer of this reader that was not undone."""
        mine = [one for one in self.answers.values() if one.reader == reader]
        return mine[-1] if mine else None

    def then(self, events: Sequence[Mapping[str, Any]]) -> Session:
        """Return the session after further lines."""
        batches, asks, answers = list(self.batches), list(self.asks), dict(self.answers)
        packed, apart = self.packed, self.apart
        for event in events:
            if "batch" in event:
                batches.append(_batch(event))
                asks += _asks(event, len(asks), len(batches) - 1, batches[-1])
            elif "answer" in event or "skip" in event:
                answer = _answer(event)
                answers.pop((answer.ask, answer.reader), None)  # the latest stands last
                answers[answer.ask, answer.reader] = answer
            elif "strata" in event:
                packed = event
                apart = {int(row): label for row, label in event.get("apart", ())}
            elif "undo" in event:
                answers.pop((int(event["undo"]), str(event["reader"])), None)
        drawn: dict[str, Any] = {"batches": tuple(batches), "asks": tuple(asks), "answers": answers}
        return replace(self, packed=packed, apart=apart, **drawn)


def open_session(path: str | Path, events: Sequence[Mapping[str, Any]] | None = None) -> Session:
    """Read a session from its file, or from lines that were read before."""
    lines = SESSIONS.read(path) if events is None else events
    try:
        return Session(path=str(path), head=SessionHead.of_event(lines[0])).then(lines[1:])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path}: a line of the session lacks a field ({error})") from error


def packed(strata: npt.NDArray[np.integer]) -> str:
    """Return strata as text: at most about a byte per unit."""
    import numpy as np

    small = np.ascontiguousarray(strata, dtype="<i2").tobytes()
    return base64.b64encode(zlib.compress(small, 1)).decode("ascii")


def unpacked(text: str) -> npt.NDArray[np.int16]:
    """Return the strata that `packed` wrote.

    >>> import numpy as np
    >>> unpacked(packed(np.array([0, 3, -1]))).tolist()
    [0, 3, -1]
    """
    import numpy as np

    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i2").astype(np.int16)


def _batch(event: Mapping[str, Any]) -> Batch:
    draws = event["draws"]
    return Batch(
        spread=tuple(event["spread"]),
        units=tuple(int(draw[0]) for draw in draws),
        strata=tuple(int(draw[1]) for draw in draws),
        probability=tuple(draw[2] for draw in draws),
    )


def _asks(event: Mapping[str, Any], first: int, number: int, batch: Batch) -> list[Ask]:
    before = int(event["batch"])  # draws before this batch
    twice = set(event.get("twice", ()))
    return [
        Ask(
            number=first + place,
            draw=before + int(draw),
            row=int(row),
            item=item,
            system=system,
            batch=number,
            probability=batch.probability[int(draw)],
            twice=place in twice,
        )
        for place, (draw, row, item, system) in enumerate(event["asks"])
    ]


def _answer(event: Mapping[str, Any]) -> Answer:
    skipped = "skip" in event
    return Answer(
        ask=int(event["skip"] if skipped else event["answer"]),
        reader=str(event["reader"]),
        label=None if skipped else event["label"],
        skipped=skipped,
        note=str(event.get("note", "")),
        seconds=event.get("seconds"),
        at=str(event.get("at", "")),
    )


# The file of a session, which one process at a time may write.


SESSIONS = LedgerKind(
    key="session", what="labelling session", format=1, cut="}", infix=', "sum": "', suffix='"}'
)


class SessionFile(Ledger):
    """A session that this process may write to; without *head* it is there already."""

    def __init__(self, path: str | Path, head: Mapping[str, Json] | None = None) -> None:
        busy = (
            f"another process is writing {path}: a labelling page or terminal is open, or answers"
            " are being added. Close it or wait for it, then try again"
        )
        super().__init__(path, SESSIONS, head, busy=busy)
