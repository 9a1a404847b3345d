"""Calling an API: clients, the reading of their answers, a journal, retries and limits.

Nothing here knows what the answers are for. A client answers one row at a time; `Caller` asks it
through the `Journal`, so that nothing that was paid for is lost. HTTP and retry libraries load when
the first call is made.
"""

from __future__ import annotations

from tallystick.clients.answers import exact_label, read_label, same_label
from tallystick.clients.anthropic import AnthropicClient
from tallystick.clients.caller import Caller, Wire
from tallystick.clients.client import Client, ClientError, Fault, Reply
from tallystick.clients.command import CommandClient
from tallystick.clients.http import HttpClient
from tallystick.clients.journal import Journal, JournalEntry, read_journal
from tallystick.clients.kind import (
    ChatOptions,
    ClientKind,
    ClientSpec,
    parse_headers,
    text_or_file,
)
from tallystick.clients.kinds import KINDS, client_of, kind_of
from tallystick.clients.openai import OpenAIClient
from tallystick.clients.options import ClientQuestion
from tallystick.clients.prices import CallPrices
from tallystick.clients.python import PythonClient
from tallystick.clients.reading import UNREAD, Reading
from tallystick.clients.replay import ReplayClient
from tallystick.clients.usage import Usage, usage_of, usage_warnings

__all__ = [
    "KINDS",
    "UNREAD",
    "AnthropicClient",
    "CallPrices",
    "Caller",
    "ChatOptions",
    "Client",
    "ClientError",
    "ClientKind",
    "ClientQuestion",
    "ClientSpec",
    "CommandClient",
    "Fault",
    "HttpClient",
    "Journal",
    "JournalEntry",
    "OpenAIClient",
    "PythonClient",
    "Reading",
    "ReplayClient",
    "Reply",
    "Usage",
    "Wire",
    "client_of",
    "exact_label",
    "kind_of",
    "parse_headers",
    "read_journal",
    "read_label",
    "same_label",
    "text_or_file",
    "usage_of",
    "usage_warnings",
]
