"""Answers without a network: a command, a Python function, a recorded column."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.clients.client import Client, Fault
from tallystick.clients.http import ANTHROPIC, OPENAI, web_client
from tallystick.clients.journal import failure, refuse_key
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

    recorded = True

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


# Every kind of client, in the order in which messages list them. A new one is an entry.


@dataclass(frozen=True)
class Kind:
    """A kind of client: how its addresses begin, how one is written, what makes a client of a
    target, a question, columns and labels, and whether it sends a prompt (else it gets the row).
    """

    prefix: str
    example: str
    make: Callable[[str, ClientQuestion, Sequence[str], Sequence[str]], Client]
    prompts: bool = False


KINDS = (
    Kind("http", "https://HOST/PATH#$.label", web_client),
    Kind("openai:", "openai:MODEL@URL", OPENAI.client, prompts=True),
    Kind("anthropic:", "anthropic:MODEL@URL", ANTHROPIC.client, prompts=True),
    Kind("python:", "python:MODULE:FUNCTION", lambda target, *_: PythonClient(target)),
    Kind("command:", "command:PROGRAM", lambda target, *_: CommandClient(target)),
    Kind(
        "replay:",
        "replay:COLUMN",
        lambda target, _, columns, __: ReplayClient(target, columns=columns),
    ),
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
    api = question.api
    if isinstance(api, Client):
        return api
    if api is None:
        raise InputError("name the API to ask (--api)")
    web = api.startswith(("https:", "http:"))
    kind = next((one for one in KINDS if web or api.startswith(one.prefix)), None)
    if kind is None or (kind is KINDS[0] and not web):
        raise InputError(
            f"api (--api) must look like {', '.join(one.example for one in KINDS)}; got {api!r}"
        )
    of_chat = question.prompt or question.system_prompt or question.answer == "schema"
    if of_chat and not kind.prompts:
        raise InputError(
            f"{kind.prefix} gets the row itself: a prompt (--prompt, --system-prompt) and --answer"
            " schema are for openai: and anthropic: addresses; an https: address has --request"
        )
    return kind.make(api if web else api.removeprefix(kind.prefix), question, columns, labels)
