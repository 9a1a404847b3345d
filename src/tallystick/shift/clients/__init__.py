"""Clients: how an API is asked. ``python:``, ``replay:``, ``openai:``, ``command:`` and any JSON
API over HTTP.
"""

from __future__ import annotations

from tallystick.shift.clients.client import Client, ClientError, Fault
from tallystick.shift.clients.command import CommandClient
from tallystick.shift.clients.http import HttpClient
from tallystick.shift.clients.labels import read_label
from tallystick.shift.clients.openai import OpenAIClient
from tallystick.shift.clients.python import PythonClient
from tallystick.shift.clients.replay import ReplayClient

__all__ = [
    "Client",
    "ClientError",
    "CommandClient",
    "Fault",
    "HttpClient",
    "OpenAIClient",
    "PythonClient",
    "ReplayClient",
    "read_label",
]
