"""A program that is run once per item: ``command:PROGRAM ARGUMENTS``."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
from collections.abc import Mapping
from typing import Any

from tallystick.clients.client import Client, Fault
from tallystick.clients.kind import ClientKind, ClientSpec
from tallystick.clients.secrets import refuse_key, server_words
from tallystick.errors import InputError
from tallystick.results import Json

__all__ = ["KIND", "CommandClient"]


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


KIND = ClientKind(prefixes=("command:",), example="command:PROGRAM", make=_make)
"""``command:PROGRAM ARGUMENTS``."""
