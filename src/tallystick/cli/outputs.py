"""Refuse, before any work is done, outputs that would destroy something."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from tallystick.errors import FileError, InputError

__all__ = ["check_outputs", "named_files"]


def check_outputs(outputs: Mapping[str, Path], inputs: Iterable[str | Path]) -> None:
    """Refuse an output that is an input, another output, or anything but a regular file.

    Links and other names of one file are the same file.

    Parameters
    ----------
    outputs
        Option to the file that it writes.
    inputs
        What is read: paths, globs, folders; a name that is no file is passed over.

    Examples
    --------
    >>> check_outputs({"--html": Path("r.html"), "--junit": Path("./r.html")}, [])
    Traceback (most recent call last):
    tallystick.errors.InputError: --html and --junit both name r.html: name two files
    """
    taken = [path for one in inputs for path in named_files(one)]
    seen: list[tuple[str, Path]] = []
    for option, path in outputs.items():
        if any(_same(path, other) for other in taken):
            raise InputError(
                f"{option} {path} is the input: name another file, so that nothing is lost"
            )
        for before, other in seen:
            if _same(path, other):
                raise InputError(f"{before} and {option} both name {path}: name two files")
        if path.exists() and not path.is_file():
            raise InputError(f"{option} {path} is not a regular file: name another one")
        _check_place(option, path)
        seen.append((option, path))


def named_files(source: str | Path) -> list[Path]:
    """Return the files that an input names: itself, what a glob matches, what a folder holds."""
    path = Path(source).expanduser()
    try:
        if path.is_dir():
            return [one for one in path.iterdir() if one.is_file()]
        if path.exists():
            return [path]
    except (OSError, ValueError):  # too long for a name, or a NUL: it is a text, not a file
        return []
    if not glob.has_magic(str(path)):
        return []
    first = next(place for place, part in enumerate(path.parts) if glob.has_magic(part))
    return list(Path(*path.parts[:first]).glob(str(Path(*path.parts[first:]))))


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # at least one of them is not there yet
        return one.resolve() == other.resolve()


def _check_place(option: str, path: Path) -> None:
    """Refuse a file that cannot be written: the answer may cost money."""
    reason = None
    if not path.parent.is_dir():
        reason = "its folder does not exist"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = "it may not be written"
    if reason is not None:
        raise FileError(f"{option} {path} cannot be written: {reason}. Nothing was done yet")
    if option == "--items-out":
        from tallystick.io import check_ending

        check_ending(path)
