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
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick.clients.client import Client, ClientKind, ClientSpec, Fault
from tallystick.clients.http import HTTP
from tallystick.clients.journal import refuse_key, server_words
from tallystick.clients.providers import ANTHROPIC, OPENAI
from tallystick.errors import InputError
from tallystick.results import Json

# A program that is run once per item: ``command:PROGRAM ARGUMENTS``.


class CommandClient(Client):
    """Run a program for every item.

    It gets the row as JSON on its standard input and prints the answer on its standard output. No
    shell is involved. A program that leaves with a code other than 0 is tried again.

    Parameters
    ----------
    command
        The program and its arguments, quoted as in a shell.
    timeout
        Seconds until it is ended.
    """

    def __init__(self, command: str, *, timeout: float) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise InputError(f"command: cannot be read: {error}") from error
        for argument in self._arguments:
            refuse_key("command:", "an argument", argument)
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise InputError(
                f"api (--api) command: must name a program that exists, got {command!r}"
            )
        self._timeout = timeout

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
            out, said = await asyncio.wait_for(program.communicate(question), self._timeout)
        except (TimeoutError, asyncio.CancelledError) as error:
            program.kill()
            await program.wait()
            if isinstance(error, asyncio.CancelledError):
                raise
            raise Fault(
                f"{self._arguments[0]} took longer than {self._timeout:g} s",
                retry=True,
                billed=True,
            ) from error
        if program.returncode:
            # Its last line is what it died of; the others may be pages of a traceback.
            lines = said.decode(errors="replace").strip().splitlines() or [""]
            reason = f"{self._arguments[0]} exited with code {program.returncode}"
            words = server_words(lines[-1])
            raise Fault(f"{reason}: {words}".rstrip(": "), retry=True, billed=True)
        return out.decode(errors="replace").strip() or None


def _make(spec: ClientSpec) -> CommandClient:
    return CommandClient(spec.target, timeout=spec.timeout)


COMMAND = ClientKind(prefixes=("command:",), example="command:PROGRAM", make=_make)
"""``command:PROGRAM ARGUMENTS``."""

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
        module, colon, name = target.partition(":")
        if not (module and colon and name):
            raise InputError(f"api (--api) must be python:MODULE:FUNCTION, got python:{target}")
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.insert(0, here)
        try:
            self._function = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise InputError(f"python:{target} cannot be loaded: {error}") from error
        if not callable(self._function):
            raise InputError(f"python:{target} is not a function")
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
            words = server_words(str(error))
            reason = f"{self._target}: {type(error).__name__}: {words}".rstrip(": ")
            raise Fault(reason, retry=again, billed=True) from error
        found = task.result()
        return None if found is None else str(found)


def _python_make(spec: ClientSpec) -> PythonClient:
    return PythonClient(spec.target)


PYTHON = ClientKind(prefixes=("python:",), example="python:MODULE:FUNCTION", make=_python_make)
"""``python:MODULE:FUNCTION``."""

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

    @property
    def recorded(self) -> bool:
        """Every answer is known already."""
        return True

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return the recorded answer: another one makes another question."""
        return {"replay": None if row[self.column] is None else str(row[self.column])}

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the cell."""
        cell = row[self.column]
        return None if cell is None else str(cell)


def _replay_make(spec: ClientSpec) -> ReplayClient:
    return ReplayClient(spec.target, columns=spec.columns)


REPLAY = ClientKind(prefixes=("replay:",), example="replay:COLUMN", make=_replay_make)
"""``replay:COLUMN``."""

# Every kind of client. A new one is one file and one entry here.


KINDS: tuple[ClientKind, ...] = (
    HTTP,
    OPENAI,
    ANTHROPIC,
    PYTHON,
    COMMAND,
    REPLAY,
)
"""All kinds, in the order in which messages list them."""


def kind_of(api: str) -> tuple[ClientKind, str]:
    """Return the kind of an address, and its target.

    >>> kind, target = kind_of("openai:tiny@http://127.0.0.1/v1")
    >>> kind.prefixes, target
    (('openai:',), 'tiny@http://127.0.0.1/v1')
    """
    for kind in KINDS:
        for prefix in kind.prefixes:
            if api.startswith(prefix):
                return kind, api if kind.keeps_prefix else api.removeprefix(prefix)
    raise InputError(
        f"api (--api) must look like {', '.join(kind.example for kind in KINDS)}; got {api!r}"
    )


def client_of(api: str, spec: ClientSpec) -> Client:
    """Make the client that *api* names.

    Parameters
    ----------
    api
        An address such as ``https://…``, ``openai:MODEL@URL`` or ``replay:COLUMN``.
    spec
        Everything else that the user said; its target is taken from *api*.

    Examples
    --------
    >>> client_of("replay:new", ClientSpec(target="", columns=["new"])).description
    {'kind': 'replay', 'column': 'new'}
    """
    kind, target = kind_of(api)
    if not kind.prompts and (spec.prompt is not None or spec.chat.system is not None):
        raise InputError(
            f"{kind.prefixes[0]} gets the row itself, so a prompt (--prompt, --system-prompt) has"
            " no effect there: leave it out; --request is the template of an https: address"
        )
    return kind.make(replace(spec, target=target))
