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
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    place = tempfile.TemporaryDirectory(prefix="tallystick-postgres-")
    with place as folder, _started(Path(folder)) as address:
        yield address


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
def _started(folder: Path) -> Iterator[str]:
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
    quiet = {
        "check": True,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
    }
    words = ["-D", str(data), "-U", "tally", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    subprocess.run(_as_user([str(binaries / "initdb"), *words]), **quiet)  # type: ignore[call-overload]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories= -c fsync=off"
    control = [str(binaries / "pg_ctl"), "-D", str(data), "-w", "-t", "60"]
    subprocess.run(
        _as_user([*control, "-o", options, "-l", str(data / "log"), "start"]),
        **quiet,  # type: ignore[call-overload]
    )
    try:
        yield f"postgresql://tally@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run(_as_user([*control, "-m", "immediate", "stop"]), **quiet)  # type: ignore[call-overload]
