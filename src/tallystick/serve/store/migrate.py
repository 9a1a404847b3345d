"""Bring a database to this program's schema: numbered SQL files, each in one transaction."""

from __future__ import annotations

import re
from pathlib import Path

from tallystick.errors import FormatError

__all__ = ["Migration", "migrations", "pending", "statements"]

_FILES = Path(__file__).parent / "migrations"


class Migration:
    """One numbered step of the schema."""

    def __init__(self, path: Path) -> None:
        number, _, rest = path.name.partition("_")
        self.version = int(number)
        self.name = rest.partition(".")[0]
        self.sql = path.read_text(encoding="utf-8")

    def statements(self) -> list[str]:
        """Return the statements one by one."""
        return statements(self.sql)


def statements(sql: str) -> list[str]:
    r"""Split a script; comments are dropped, and no statement of ours has a semicolon inside.

    >>> statements("-- why\ncreate table a (b); create table c (d);")
    ['create table a (b)', 'create table c (d)']
    """
    bare = re.sub(r"--[^\n]*", "", sql)
    return [part.strip() for part in bare.split(";") if part.strip()]


def migrations(engine: str) -> list[Migration]:
    """Return the steps for an engine (``sqlite`` or ``postgres``), in order."""
    found = [Migration(path) for path in sorted(_FILES.glob(f"*.{engine}.sql"))]
    return sorted(found, key=lambda one: one.version)


def pending(engine: str, version: int) -> list[Migration]:
    """Return the steps that a database of *version* still needs; a newer one is refused."""
    steps = migrations(engine)
    newest = steps[-1].version
    if version > newest:
        raise FormatError(
            f"the database has schema {version}, and this program knows {newest}: it was written by"
            " a newer Tallystick. Upgrade the program, or restore the copy made before the upgrade"
        )
    return [one for one in steps if one.version > version]
