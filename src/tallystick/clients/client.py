"""What a client is: something that answers one item at a time, and says what kind of failure a
failure was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tallystick.errors import TallystickError
from tallystick.results import Json

__all__ = ["Client", "ClientError", "Fault", "Reply"]


class ClientError(TallystickError):
    """The API cannot be asked, or not any more: the message says why. Everything answered so far is
    in the journal.
    """


class Fault(TallystickError):
    """One request failed.

    Parameters
    ----------
    message
        What happened; never holds a key.
    retry
        Whether to try again.
    billed
        Whether it may have been billed: the server did not clearly refuse it.
    wait
        Seconds that the server asked to wait.
    fatal
        Whether asking anything else is pointless (a refused key).
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool,
        billed: bool,
        wait: float | None = None,
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry, self.billed, self.wait, self.fatal = retry, billed, wait, fatal


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back for one item.

    Parameters
    ----------
    text
        The answer; None if the reply holds none.
    model, fingerprint
        What the API says answered, if it says so.
    input_tokens, output_tokens
        What it counted, if it says so.
    cut
        Whether it ended because no more tokens were allowed: what came is no answer.
    """

    text: str | None
    model: str | None = None
    fingerprint: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cut: bool = False


class Client(ABC):
    """Answer items. Opened once, closed once, asked concurrently."""

    @property
    @abstractmethod
    def description(self) -> dict[str, Json]:
        """All that decides what is asked, without any key: a journal is not continued under another
        description.
        """

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must never be written anywhere."""
        return ()

    @property
    def recorded(self) -> bool:
        """Whether answers are read from a record, so that asking again gives the same one."""
        return False

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return what is sent about one item, without any key: a journal reuses an answer only if
        the same was asked.
        """
        return {name: None if cell is None else str(cell) for name, cell in row.items()}

    async def ask(self, row: Mapping[str, Any]) -> Reply:
        """Return the answer to one item with what the API says about it."""
        return Reply(text=await self.answer(row))

    @abstractmethod
    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the answer to one item, None if there is none in the reply; raise :class:`Fault`
        if it failed.
        """

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None
