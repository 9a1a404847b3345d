"""Calling an API: clients, the reading of their answers, a journal, retries and limits.

Nothing here knows what the answers are for. A client answers one row at a time; `Caller` asks it
through the `Journal`, so that nothing that was paid for is lost. The HTTP library loads when the
first call is made.
"""

from __future__ import annotations

from tallystick.clients.caller import (
    Caller,
    Gathered,
    Progress,
    Questions,
    client_columns,
    gather,
)
from tallystick.clients.client import (
    Client,
    ClientError,
    Fault,
    Reply,
    fields,
    text_or_file,
)
from tallystick.clients.journal import (
    OTHER_DATA,
    Journal,
    JournalEntry,
    Usage,
    key_of,
    read_journal,
    request_notes,
    unread_warnings,
    usage_warnings,
)
from tallystick.clients.local import ReplayClient, client_of
from tallystick.clients.question import CallPrices, ClientQuestion
from tallystick.clients.reading import (
    READINGS,
    UNREAD,
    AnswerReading,
    is_refusal,
    mentions_label,
)

__all__ = ["Client"]
