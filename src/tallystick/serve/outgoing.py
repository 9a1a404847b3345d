"""Calls that leave the service: to whom they may go, and how.

A name is resolved once and the connection goes to that very address: asking DNS a second time would
let its owner answer the check with a public address and the call with a private one. Nothing is
followed, little is read, and private addresses are refused unless the operator listed the host.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tallystick.errors import InputError

__all__ = ["Target", "guard_names", "post", "target_of"]

SECONDS = 10.0
MOST_READ = 64 * 1024

Resolve = Callable[..., list[Any]]


@dataclass(frozen=True)
class Target:
    """An address that was checked: where the connection goes, and what it is called."""

    url: str
    host: str
    port: int
    address: str
    secure: bool
    path: str


def target_of(
    url: str, *, allow: Sequence[str] = (), resolve: Resolve = socket.getaddrinfo
) -> Target:
    """Check an address and resolve its name.

    Parameters
    ----------
    url
        An https address; http only for hosts that the operator listed.
    allow
        Hosts that may be internal.
    resolve
        What resolves names; tests give their own.

    Examples
    --------
    >>> fixed = lambda host, port, **_: [(2, 1, 6, "", ("93.184.216.34", port))]
    >>> target_of("https://hooks.example/in?x=1", resolve=fixed).address
    '93.184.216.34'
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    listed = host in {one.lower() for one in allow}
    if parts.scheme not in ("https", "http") or not host:
        raise InputError(f"{url[:200]!r} is not an https address")
    if parts.scheme == "http" and not listed:
        raise InputError(
            f"{host} would be called without encryption: use https, or list the host"
            f" (tallystick serve --allow-host {host})"
        )
    if parts.username or parts.password:
        raise InputError("an address may not hold a password: it would be stored and shown")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise InputError(f"{url[:200]!r} has no valid port") from error
    address = _resolved(host, port, listed=listed, resolve=resolve)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(url, host, port, address, parts.scheme == "https", path)


def _resolved(host: str, port: int, *, listed: bool, resolve: Resolve) -> str:
    try:
        found = resolve(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError(f"{host} has no address: {error}") from error
    addresses = [str(one[4][0]) for one in found]
    for address in addresses:
        # One private address among several is enough to refuse: the caller might get that one.
        if not listed and not ipaddress.ip_address(address.partition("%")[0]).is_global:
            raise InputError(
                f"{host} is the internal address {address}: list the host if that is meant"
                f" (tallystick serve --allow-host {host})"
            )
    if not addresses:
        raise InputError(f"{host} has no address")
    return addresses[0]


class _Pinned(http.client.HTTPConnection):
    """A connection to the address that was checked, under the name that was asked for."""

    def __init__(self, target: Target, context: ssl.SSLContext | None) -> None:
        super().__init__(target.host, target.port, timeout=SECONDS)
        self._target, self._context = target, context

    def connect(self) -> None:
        plain = socket.create_connection((self._target.address, self._target.port), SECONDS)
        self.sock = (
            plain
            if self._context is None
            else self._context.wrap_socket(plain, server_hostname=self._target.host)
        )


def post(
    target: Target,
    body: bytes,
    headers: Mapping[str, str],
    *,
    context: ssl.SSLContext | None = None,
) -> int:
    """Send *body* and return the status; redirects are not followed, the answer is not shown."""
    if target.secure and context is None:
        context = ssl.create_default_context()
    connection = _Pinned(target, context if target.secure else None)
    try:
        connection.request("POST", target.path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        answer.read(MOST_READ)
        return answer.status
    finally:
        connection.close()


def guard_names(allow: Sequence[str] = ()) -> None:
    """Hold every connection of this process to the rules: for a process that only makes calls.

    Each name is resolved once and kept; internal addresses are refused unless listed.
    """
    plain, known = socket.getaddrinfo, {}
    listed = {one.lower() for one in allow}

    def guarded(host: Any, port: Any, *given: Any, **named: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if (name, port) not in known:
            address = _resolved(
                name.lower(), int(port or 0), listed=name.lower() in listed, resolve=plain
            )
            known[(name, port)] = address
        # The address is a literal now, so this look-up asks nobody.
        return plain(known[(name, port)], port, *given, **named)

    socket.getaddrinfo = guarded
