"""Answers without a network: a command, a Python function, a recorded column."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.clients.client import Client, Fault, Given
from tallystick.clients.http import HttpClient
from tallystick.clients.journal import failure, refuse_key
from tallystick.clients.providers import AnthropicClient, OpenAIClient
from tallystick.errors import InputError
from tallystick.results import Json

if TYPE_CHECKING:
    from tallystick.clients.question import ClientQuestion

# A program that is run once per item: ``command:PROGRAM ARGUMENTS``.


class CommandClient(Client):
    """Run a program for every item.

    It gets the row as JSON on its standard input and prints the answer on its standard output. No
    shell is involved. A program that leaves with a code other than 0 is tried again.

    Parameters
    ----------
    command
        The program and its arguments, quoted as in a shell.
    """

    prefix, example = "command:", "command:PROGRAM"

    @classmethod
    def of(cls, given: Given) -> CommandClient:
        """Make one from a command line."""
        return cls(given.target)

    def __init__(self, command: str) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError:
            self._arguments = []
        for argument in self._arguments:
            refuse_key("command:", "an argument", argument)
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise InputError(
                f"api (--api) command: must name a program that exists, got {command!r}"
            )

    @property
    def description(self) -> dict[str, Json]:
        """The command line."""
        return {"kind": "command", "arguments": list(self._arguments)}

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Run the program and return what it printed; None if nothing."""
        program = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            question = json.dumps(dict(row), default=str).encode()
            out, said = await program.communicate(question)
        except asyncio.CancelledError:  # it took too long, or the run ends
            program.kill()
            await program.wait()
            raise
        if program.returncode:
            # Its last line is what it died of; the others may be pages of a traceback.
            lines = said.decode(errors="replace").strip().splitlines() or [""]
            reason = f"{self._arguments[0]} exited with code {program.returncode}"
            raise Fault(failure(reason, lines[-1]), retry=True, billed=True)
        return out.decode(errors="replace").strip() or None


# A Python function as an API: ``python:module:function``.


class PythonClient(Client):
    """Call ``function(row)``, plain or async; it returns the label as text, or None.

    An OSError or a TimeoutError that it raises is tried again, a :class:`Fault` says itself what it
    means, any other error fails the item.

    Parameters
    ----------
    target
        ``module:function``; modules of the current folder are found.
    """

    prefix, example = "python:", "python:MODULE:FUNCTION"

    @classmethod
    def of(cls, given: Given) -> PythonClient:
        """Make one from the name of a function."""
        return cls(given.target)

    def __init__(self, target: str) -> None:
        module, _, name = target.partition(":")
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.insert(0, here)
        try:
            self._function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(
                f"python:{target} cannot be loaded as python:MODULE:FUNCTION: {error}"
            ) from error
        self._target = target

    @property
    def description(self) -> dict[str, Json]:
        """The name of the function; what it does is its own business."""
        return {"kind": "python", "target": self._target}

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Call the function, in a thread unless it is async."""
        call = (
            self._function(dict(row))
            if inspect.iscoroutinefunction(self._function)
            else asyncio.to_thread(self._function, dict(row))
        )
        task = asyncio.ensure_future(call)
        await asyncio.wait([task])
        error = task.exception()
        if isinstance(error, Fault):
            raise error
        if error is not None:
            again = isinstance(error, OSError | TimeoutError)
            reason = failure(f"{self._target}: {type(error).__name__}", str(error))
            raise Fault(reason, retry=again, billed=True) from error
        found = task.result()
        return None if found is None else str(found)


# A column of answers that are already known: ``replay:COLUMN``.


class ReplayClient(Client):
    """Answer from a column of the data: to rehearse, or to look at a finished experiment.

    Parameters
    ----------
    column
        The column of new answers; blank is no answer.
    columns
        Columns that the data has.
    """

    prefix, example = "replay:", "replay:COLUMN"
    recorded = True

    @classmethod
    def of(cls, given: Given) -> ReplayClient:
        """Make one from the name of a column."""
        return cls(given.target, columns=given.columns)

    def __init__(self, column: str, *, columns: Sequence[str]) -> None:
        if column not in columns:
            raise InputError(
                f"replay:{column} is not a column of the data ({', '.join(columns[:8])})"
            )
        self.column = column

    @property
    def description(self) -> dict[str, Json]:
        """The column."""
        return {"kind": "replay", "column": self.column}

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return the recorded answer: another one makes another question."""
        return {"replay": None if row[self.column] is None else str(row[self.column])}

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the cell."""
        cell = row[self.column]
        return None if cell is None else str(cell)


# Every kind of client, in the order in which messages list them. A new one is a class and an entry.


KINDS: tuple[type[Client], ...] = (
    HttpClient,
    OpenAIClient,
    AnthropicClient,
    PythonClient,
    CommandClient,
    ReplayClient,
)


def kind_of(api: str) -> tuple[type[Client], str]:
    """Return the kind of an address, and its target.

    >>> kind, target = kind_of("openai:tiny@http://127.0.0.1/v1")
    >>> kind.prefix, target
    ('openai:', 'tiny@http://127.0.0.1/v1')
    """
    if api.startswith(("https:", "http:")):
        return HttpClient, api
    for kind in KINDS[1:]:
        if api.startswith(kind.prefix):
            return kind, api.removeprefix(kind.prefix)
    raise InputError(
        f"api (--api) must look like {', '.join(kind.example for kind in KINDS)}; got {api!r}"
    )


def client_of(
    question: ClientQuestion, *, columns: Sequence[str] = (), labels: Sequence[str] = ()
) -> Client:
    """Make the client that a question names.

    Parameters
    ----------
    question
        What the user said: an address such as ``https://…``, ``openai:MODEL@URL`` or
        ``replay:COLUMN`` (or a client), and all else.
    columns
        The columns that the data has: templates may name them.
    labels
        The labels that an answer can be.

    Examples
    --------
    >>> from tallystick.clients import ClientQuestion
    >>> client_of(ClientQuestion(api="replay:new"), columns=["new"]).description
    {'kind': 'replay', 'column': 'new'}
    """
    if isinstance(question.api, Client):
        return question.api
    if question.api is None:
        raise InputError("name the API to ask (--api)")
    kind, target = kind_of(question.api)
    of_chat = (question.prompt, question.system_prompt, question.answer == "schema" or None)
    if not kind.prompts and of_chat != (None, None, None):
        raise InputError(
            f"{kind.prefix} gets the row itself: a prompt (--prompt, --system-prompt) and --answer"
            " schema are for openai: and anthropic: addresses; an https: address has --request"
        )
    return kind.of(Given(target, question, columns, labels))
