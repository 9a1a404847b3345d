"""A real PostgreSQL for tests: started on loopback, stopped at the end."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

both = pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
"""Run a test on either database."""

_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def _user() -> str | None:
    """Return the user to run as: the server refuses to run as root."""
    if os.geteuid():
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    return None


def _as_user(words: list[str]) -> list[str]:
    user = _user()
    return (
        words
        if user is None
        else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--", *words]
    )


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server; yield the address of an empty database.

    Its folder lies outside pytest's, which another user cannot enter.
    """
    with postgres_process() as server:
        yield server.address


@contextlib.contextmanager
def postgres_process(*options: str) -> Iterator[PostgresProcess]:
    """Start a server of its own, which a test may restart."""
    place = tempfile.TemporaryDirectory(prefix="tallystick-postgres-")
    with place as folder, _started(Path(folder), options) as server:
        yield server


@dataclass(frozen=True)
class PostgresProcess:
    """A server on loopback."""

    address: str
    control: tuple[str, ...]
    options: str
    folder: Path

    def restart(self) -> None:
        """Stop it as a power cut would, and start it again: what was committed comes from its log."""
        _run([*self.control, "-m", "immediate", "stop"], self.folder)
        self.start()

    def start(self) -> None:
        log = str(self.folder / "data" / "log")
        _run([*self.control, "-o", self.options, "-l", log, "start"], self.folder)


def _run(words: Sequence[str], folder: Path) -> None:
    subprocess.run(
        _as_user(list(words)),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )


@contextlib.contextmanager
def fresh_database(address: str) -> Iterator[str]:
    """Yield the address of a new database on a running server; it is dropped at the end."""
    import psycopg

    name = f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        try:
            yield f"{address.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"drop database {name} with (force)")


@contextlib.contextmanager
def _started(folder: Path, more: Sequence[str]) -> Iterator[PostgresProcess]:
    found = shutil.which("initdb")
    binaries = Path(found).parent if found else (_BINARIES[-1].parent if _BINARIES else None)
    if binaries is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    if os.geteuid() == 0 and (_user() is None or shutil.which("setpriv") is None):
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"
    words = ["-D", str(data), "-U", "tally", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    _run([str(binaries / "initdb"), *words], folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", *more)
    server = PostgresProcess(
        address=f"postgresql://tally@127.0.0.1:{port}/postgres",
        control=(str(binaries / "pg_ctl"), "-D", str(data), "-w", "-t", "60"),
        options=f"-p {port} " + " ".join(f"-c {one}" for one in settings),
        folder=folder,
    )
    server.start()
    try:
        yield server
    finally:
        _run([*server.control, "-m", "immediate", "stop"], folder)
