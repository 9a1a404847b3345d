"""Open the store, bind the port, serve until interrupted."""

from __future__ import annotations

import contextlib
import gc
import logging
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.errors import FileError, InputError, MissingExtra
from tallystick.serve.auth import is_loopback, make_key

if TYPE_CHECKING:
    from tallystick.serve.service import Config, Service
    from tallystick.serve.store import Transaction

__all__ = ["DATABASE", "address_of", "alone", "bound", "serve_forever", "start_service"]

DATABASE = "tallystick.sqlite"
LOCK = "tallystick.lock"
"""A file that the running service holds, so that no second one starts on the same folder."""

BACKLOG = 1024
"""Connections that wait for their turn."""


def address_of(folder: Path, db: str | None) -> str:
    """Return where the store is: the database that is named, or one file in the folder."""
    return db if db is not None else str(folder / DATABASE)


def start_service(config: Config, address: str, *, durability: str = "full") -> Service:
    """Open the store and make the service."""
    try:
        from tallystick.serve.app import make_service
        from tallystick.serve.connection import connection_of  # noqa: F401
        from tallystick.serve.store import open_store
        from tallystick.serve.watches.file import take_file
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "serve") from error
    lock = contextlib.ExitStack()
    if "://" not in address:
        lock.enter_context(alone(Path(address).parent))
    try:
        store = open_store(address, durability=durability)
    except BaseException:
        lock.close()
        raise
    try:
        service = make_service(store, config=config)
    except BaseException:
        store.close()
        lock.close()
        raise
    service.on_close(lock.close)
    try:
        take_file(service)
    except BaseException:
        service.close()
        raise
    return service


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a folder: a second service on the same file would not see what the first one writes."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = (folder / LOCK).open("a", encoding="ascii")
    except OSError as error:
        raise FileError(
            f"{folder} cannot be used ({error.strerror}): give a folder that can be written"
        ) from error
    with held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(
                f"another service runs on {folder}: stop it, give another --folder, or use --db"
                " postgresql://… for several processes"
            ) from error
        yield


def first_key(transaction: Transaction) -> str | None:
    """Make an admin key where none can be used, and return it; None where there is one."""
    usable = "role = 'admin' and revoked is null and (expires is null or expires > ?)"
    if transaction.one(f"select 1 from key where {usable} limit 1", (time.time(),)):
        return None
    return make_key(transaction, role="admin", name="first")


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on an address before anything is said about it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            raise InputError(
                f"{host}:{port} cannot be used ({error.strerror}): is the service running"
                " already? Otherwise give another --port, or 0 for any"
            ) from error
        # A caller who reads the address may ask at once: its connection waits in the queue.
        listening.listen(BACKLOG)
        yield listening


def serve_forever(service: Service, *, say: Callable[[str], None]) -> None:
    """Serve until interrupted; every record that was accepted is on the disk."""
    import uvicorn

    from tallystick.serve.app import make_app
    from tallystick.serve.connection import connection_of
    from tallystick.serve.pages import start_link

    config = service.config
    logging.getLogger("tallystick.serve").setLevel(logging.INFO)
    # A batch makes thousands of objects, none of them in a cycle: looking for cycles after every
    # 700 took a quarter of the time of a record. What is loaded by now is never looked at again.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        with bound(config.host, config.port) as listening:
            made = None if is_loopback(config.host) else service.writer.do(first_key)
            if made is not None:
                say(f"Admin key, shown once: {made}")
            host = f"[{config.host}]" if ":" in config.host else config.host
            say(f"Tallystick serves http://{host}:{listening.getsockname()[1]}")
            if config.folder is not None:
                say(f"Everything is kept in {config.folder}. Press Ctrl-C to stop.")
            if not is_loopback(config.host):
                say("! This is plain HTTP: put a proxy with TLS before it, or keys can be read.")
                link = start_link(service)
                say(f"Open the pages once, within 15 minutes, by {link} behind this address.")
            # No proxy header is believed: it would make any caller a local one.
            uvicorn.Server(
                uvicorn.Config(
                    make_app(service),
                    http=connection_of(service),
                    log_level="warning",
                    access_log=False,
                    proxy_headers=False,
                    server_header=False,
                    timeout_graceful_shutdown=10,
                    backlog=BACKLOG,
                )
            ).run(sockets=[listening])
    except BaseException:
        service.close()
        raise
