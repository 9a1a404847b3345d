"""Open the store, bind the port, serve until interrupted."""

from __future__ import annotations

import contextlib
import gc
import logging
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.errors import InputError, MissingExtra
from tallystick.serve.auth import is_loopback

if TYPE_CHECKING:
    from tallystick.serve.service import Config, Service
    from tallystick.serve.store import Store

__all__ = ["DATABASE", "address_of", "bound", "serve_forever", "start_service"]

DATABASE = "tallystick.sqlite"


def address_of(folder: Path, db: str | None) -> str:
    """Return where the store is: the database that is named, or one file in the folder."""
    return db if db is not None else str(folder / DATABASE)


def start_service(config: Config, address: str, *, durability: str = "full") -> Service:
    """Open the store and make the service; off loopback an admin key must exist."""
    try:
        from tallystick.serve.app import make_service
        from tallystick.serve.store import open_store
        from tallystick.serve.watches.file import take_file
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "serve") from error
    store = open_store(address, durability=durability)
    try:
        if not is_loopback(config.host) and not has_admin(store):
            raise InputError(
                f"--host {config.host} can be reached from other machines, and there is no admin"
                " key: make one with 'tallystick serve key --role admin', or leave out --host"
            )
        service = make_service(store, config=config)
    except BaseException:
        store.close()
        raise
    try:
        take_file(service)
    except BaseException:
        service.close()
        raise
    return service


def has_admin(store: Store) -> bool:
    """Say whether there is an admin key that was not revoked."""
    with store.read() as reader:
        sql = "select 1 from key where role = 'admin' and revoked is null and expires is null"
        return reader.one(sql + " limit 1") is not None


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
        yield listening


def serve_forever(service: Service, *, say: Callable[[str], None]) -> None:
    """Serve until interrupted; every record that was accepted is on the disk."""
    import uvicorn

    from tallystick.serve.app import make_app
    from tallystick.serve.pages import start_link

    config = service.config
    logging.getLogger("tallystick.serve").setLevel(logging.INFO)
    # A batch makes thousands of objects, none of them in a cycle: looking for cycles after every
    # 700 took a quarter of the time of a record. What is loaded by now is never looked at again.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        with bound(config.host, config.port) as listening:
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
                    log_level="warning",
                    access_log=False,
                    proxy_headers=False,
                    server_header=False,
                    timeout_graceful_shutdown=10,
                    backlog=1024,
                )
            ).run(sockets=[listening])
    except BaseException:
        service.close()
        raise
