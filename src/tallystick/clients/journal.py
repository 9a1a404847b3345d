"""An append-only record of what was asked and what came back: nothing paid for is lost.

One line per event, ``JSON <tab> checksum``; each checksum covers the line and the checksum before
it, so that a line changed, lost or moved is noticed. A line is written before its event is acted
on: *sent* before a request leaves, the answer before it is used. A process killed at any moment
leaves at most one unfinished line, at the end; it is cut off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick.errors import FileError, FormatError
from tallystick.results import Json

__all__ = ["Entry", "Journal", "read_journal"]

FORMAT = 1
REFUSALS = {
    "data": "it was begun on other data",
    "client": "the API, its template or its parser changed",
    "plan": "it was begun with another plan (budget, strategy, seed …)",
}


@dataclass(frozen=True)
class Entry:
    """One answer: the item, its code (None: failed for good), and the text or the reason."""

    item: str
    code: int | None
    text: str


class Journal:
    """The record of one run; without a path it is kept in memory only.

    Parameters
    ----------
    path
        The file, continued if it exists; None keeps nothing.
    head
        What the run is of: ``data``, ``client``, ``plan`` are digests that must not change, the
        rest is for readers.
    durable
        Whether each answer is forced to the disk before it is used (survives a power cut, not only
        a kill).
    secrets
        Values that are replaced by ``***`` wherever they turn up.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        head: Mapping[str, Json],
        durable: bool = False,
        secrets: Sequence[str] = (),
    ) -> None:
        self.answers: dict[str, Entry] = {}
        self.sent: Counter[str] = Counter()
        self.unbilled: Counter[str] = Counter()
        self._durable, self._secrets = durable, tuple(secret for secret in secrets if secret)
        self._file: int | None = None
        self._last = ""
        if path is None:
            return
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise FileError(f"the journal {path} cannot be opened: {error.strerror}") from error
        try:
            self._begin(path, dict(head))
        except BaseException:
            self.close()
            raise

    def _begin(self, path: Path, head: dict[str, Json]) -> None:
        import fcntl  # POSIX only: elsewhere a run works without a journal

        assert self._file is not None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FileError(
                f"the journal {path} is in use by another run: wait for it, or name another"
            ) from error
        events, good, self._last = _lines(path)
        if os.fstat(self._file).st_size > good:
            os.ftruncate(self._file, good)  # the line that a killed run did not finish
        if not events:
            self._write({"journal": FORMAT, **head})
            return
        for name, reason in REFUSALS.items():
            if events[0].get(name) != head.get(name):
                raise FormatError(
                    f"the journal {path} is of another run: {reason}; name another journal"
                )
        for event in events[1:]:
            self._take(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        if "sent" in event:
            self.sent[event["sent"]] += 1
        elif "unbilled" in event:
            self.unbilled[event["unbilled"]] += 1
        elif "answer" in event:
            self.answers[event["answer"]] = Entry(event["item"], event["code"], event["text"])

    @property
    def in_flight(self) -> int:
        """Requests that were sent and neither answered nor refused: in flight when a run was
        killed, or lost.
        """
        open_ = {
            key: n - self.unbilled[key] for key, n in self.sent.items() if key not in self.answers
        }
        return sum(open_.values())

    @property
    def billed(self) -> int:
        """Requests that may have been billed."""
        return self.sent.total() - self.unbilled.total()

    def note_sent(self, key: str) -> None:
        """Note that a request is about to leave."""
        self.sent[key] += 1
        self._write({"sent": key})

    def note_unbilled(self, key: str) -> None:
        """Note that the server refused a request outright."""
        self.unbilled[key] += 1
        self._write({"unbilled": key})

    def note_answer(self, key: str, entry: Entry) -> None:
        """Note an answer, or that there will be none."""
        text = self.redact(entry.text)[:500]
        self._write({"answer": key, "item": entry.item, "code": entry.code, "text": text})
        if self._durable and self._file is not None:
            os.fsync(self._file)
        self.answers[key] = Entry(entry.item, entry.code, text)

    def redact(self, text: str) -> str:
        """Return *text* without any secret."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def _write(self, event: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        body = json.dumps(event, ensure_ascii=True, sort_keys=True)
        self._last = _checksum(self._last, body)
        line = f"{body}\t{self._last}\n".encode("ascii")
        try:
            done = os.write(self._file, line)
        except OSError as error:
            raise FileError(
                f"the journal cannot be written ({error.strerror}): nothing more is asked"
            ) from error
        if done != len(line):
            raise FileError(
                "the journal could be written only in part (disk full?): nothing more is asked"
            )


def read_journal(path: Path) -> tuple[dict[str, Any], dict[str, Entry]]:
    """Return the head and the answers of a finished (or unfinished) run."""
    events, _, _ = _lines(path)
    if not events:
        raise FormatError(f"{path} is not a journal: it holds no whole line")
    answers = {
        event["answer"]: Entry(event["item"], event["code"], event["text"])
        for event in events
        if "answer" in event
    }
    return events[0], answers


def _checksum(last: str, body: str) -> str:
    return hashlib.sha256(f"{last}{body}".encode("ascii", "replace")).hexdigest()[:16]


def _lines(path: Path) -> tuple[list[dict[str, Any]], int, str]:
    """Return all events, how many bytes of the file are good, and the last checksum."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"the journal {path} cannot be read: {error.strerror}") from error
    events: list[dict[str, Any]] = []
    good, last = 0, ""
    while (end := data.find(b"\n", good)) >= 0:
        body, _, checksum = data[good:end].decode("ascii", "replace").rpartition("\t")
        if checksum != _checksum(last, body):
            # a line torn at the very end, after a crash of the machine
            if end == len(data) - 1 and events:
                break
            raise FormatError(
                f"the journal {path} is damaged or not a journal: line {len(events) + 1} was"
                " changed"
            )
        events.append(json.loads(body))
        good, last = end + 1, checksum
    if events and events[0].get("journal") != FORMAT:
        raise FormatError(f"{path} is not a journal of format {FORMAT}")
    if not events and data[:1] not in (b"", b"{"):
        raise FormatError(f"{path} exists and is not a journal: name another file")
    return events, good, last
