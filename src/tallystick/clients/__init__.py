"""Calling an API: clients, the reading of their answers, a journal, retries and limits.

Nothing here knows what the answers are for. A client answers one row at a time; `Caller` asks it
through the `Journal`, so that nothing that was paid for is lost. HTTP and retry libraries load when
the first call is made.
"""

from __future__ import annotations

from tallystick.clients.caller import Caller, ClientQuestion, Wire
from tallystick.clients.client import (
    ChatOptions,
    Client,
    ClientError,
    ClientSpec,
    Fault,
    Reply,
    parse_headers,
    text_or_file,
)
from tallystick.clients.http import HttpClient
from tallystick.clients.journal import Journal, JournalEntry
from tallystick.clients.local import (
    KINDS,
    CommandClient,
    PythonClient,
    ReplayClient,
    client_of,
    kind_of,
)
from tallystick.clients.providers import (
    AnthropicClient,
    CallPrices,
    OpenAIClient,
    Usage,
    usage_of,
    usage_warnings,
)
from tallystick.clients.reading import UNREAD, AnswerReading, read_label, same_label

__all__ = [
    "KINDS",
    "UNREAD",
    "AnswerReading",
    "AnthropicClient",
    "CallPrices",
    "Caller",
    "ChatOptions",
    "Client",
    "ClientError",
    "ClientQuestion",
    "ClientSpec",
    "CommandClient",
    "Fault",
    "HttpClient",
    "Journal",
    "JournalEntry",
    "OpenAIClient",
    "PythonClient",
    "ReplayClient",
    "Reply",
    "Usage",
    "Wire",
    "client_of",
    "kind_of",
    "parse_headers",
    "read_label",
    "same_label",
    "text_or_file",
    "usage_of",
    "usage_warnings",
]
