"""The checkpoint of a stream: one JSON file that survives a restart."""

from __future__ import annotations

import json
from pathlib import Path

from tallystick.errors import FileError, InputError
from tallystick.io import atomic
from tallystick.judge.windows import Windows
from tallystick.results import to_json

__all__ = ["load_state", "save_state"]


def load_state(stream: Windows, path: Path) -> bool:
    """Let *stream* go on from *path*; return whether there was a state to go on from."""
    if not path.exists():
        return False
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(
            f"--state {path} cannot be read ({error}): name another file to start anew"
        ) from error
    if not isinstance(saved, dict):
        raise FileError(f"--state {path} is not a state of judge: name another file")
    try:
        stream.restore(saved)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise FileError(
            f"--state {path} is damaged ({error!r}): name another file to start anew"
        ) from error
    return True


def save_state(stream: Windows, path: Path) -> None:
    """Write the state beside *path* and move it there, so that a crash leaves the old one."""
    with atomic(path) as file:
        file.write(to_json(stream.to_dict()).encode("utf-8"))
