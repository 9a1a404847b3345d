"""A Python function as an API: ``python:module:function``."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.clients.client import Client, Fault
from tallystick.clients.kind import ClientKind, ClientSpec
from tallystick.clients.secrets import server_words
from tallystick.errors import InputError
from tallystick.results import Json

__all__ = ["KIND", "PythonClient"]


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


def _make(spec: ClientSpec) -> PythonClient:
    return PythonClient(spec.target)


KIND = ClientKind(prefixes=("python:",), example="python:MODULE:FUNCTION", make=_make)
"""``python:MODULE:FUNCTION``."""
