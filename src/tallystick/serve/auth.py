"""One connection: how long a request may take to arrive, and whose process is at the other end.

uvicorn waits for ever for the rest of a request, and an application sees a
request only once its headers are complete. So the time is kept here, where
the bytes come in.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import math
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tallystick.serve.database import Reader, Transaction

if TYPE_CHECKING:
    from starlette.requests import Request

    from tallystick.serve.jobs import Service

_RATE = 16 * 1024
"""Bytes of a body that buy one more second: 8 MB over a slow line take longer than the limit."""

_PROCESS = Path("/proc/self")
_SOCKETS = (_PROCESS / "net/tcp", _PROCESS / "net/tcp6")


def connection_of(service: Service) -> type[asyncio.Protocol]:
    """Return the protocol of the connections of a service."""

    class Connection(_Connection):
        _service = service

    return Connection


class _Connection(HttpToolsProtocol):
    """uvicorn's protocol, cut off when the other end neither sends nor reads what it should."""

    _service: Service
    _sends: asyncio.TimerHandle | None = None
    _reads: asyncio.TimerHandle | None = None
    _came = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()
        # A proxy that adds no header still is a process of another user, as a rule. Without an
        # address nobody counts as this machine.
        if self._service.door.keyless and self.client is not None and is_loopback(self.client[0]):
            here = transport.get_extra_info("sockname")[1]
            if not _is_our_user(there=self.client[1], here=here):
                self.client = None

    def data_received(self, data: bytes) -> None:
        self._begin()  # empty lines before a request begin none, and must not keep it open
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._begin(anew=True)
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self._came += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._sends = _stopped(self._sends)
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reads is None:  # an answer that nobody reads holds a snapshot of the database
            seconds = self._service.config.request_seconds
            self._reads = self.loop.call_later(seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._reads = _stopped(self._reads)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._sends, self._reads = _stopped(self._sends), _stopped(self._reads)
        super().connection_lost(exc)

    def _begin(self, *, anew: bool = False) -> None:
        """Start the clock of a request, if it does not run yet."""
        if anew:
            self._sends, self._came = _stopped(self._sends), 0
        if self._sends is None:
            self._wait(self._service.config.request_seconds)

    def _wait(self, seconds: float) -> None:
        self._sends = self.loop.call_later(seconds, self._cut_off)

    def _cut_off(self) -> None:
        """Close a connection whose request did not arrive in time."""
        self._sends, cycle = None, self.cycle
        busy = cycle is not None and not (cycle.response_complete or cycle.more_body)
        bought, self._came = self._came / _RATE, 0
        if self.flow.read_paused or busy or bought >= 1.0:  # it waits for us, or sends enough
            self._wait(max(1.0, bought))
        else:
            self.transport.close()


def _stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None


def _is_our_user(*, there: int, here: int) -> bool:
    """Say whether the other end of a connection on loopback belongs to the user of this process.

    Linux lists the owner of each socket. Where there is no such list, nobody can tell.
    """
    ports = f":{there:04X}", f":{here:04X}"
    lists = [one.read_text(encoding="ascii") for one in _SOCKETS if one.exists()]
    owners = [
        # A socket that was closed meanwhile (its state is not 01) has no owner that can be trusted.
        int(fields[7]) if fields[3] == "01" else -1
        for fields in (line.split() for text in lists for line in text.splitlines()[1:])
        if fields[1].endswith(ports[0]) and fields[2].endswith(ports[1])
    ]
    return not lists or (bool(owners) and set(owners) == {_PROCESS.stat().st_uid})


# Who asks: keys, sessions of the pages, and the rule of the loopback.
#
# A key is ``ts_ID_SECRET``. The secret has 256 random bits; only its SHA-256
# is kept, so no secret of the server can be lost.
#
# A request without a key is trusted only while there has never been an admin
# key and the service listens on loopback. It must come from this machine, ask
# for this machine by name, and show no sign of a proxy. A foreign site that
# rebinds its name fails the test of the name, and a page of a foreign site
# that posts here fails the test of its origin.


Role: TypeAlias = Literal["read", "write", "label", "admin"]
"""What a key may do; admin may do everything."""

COOKIE = "tallystick"
SESSION_SECONDS = 12 * 3600.0

_LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
_FORWARDED = (
    *("forwarded", "via", "x-forwarded", "x-real-ip", "x-original-", "x-client-ip", "x-cluster-"),
    *("true-client-ip", "cdn-loop", "cf-", "x-envoy-", "x-amzn-", "x-cloud-trace-context"),
)
"""How the headers begin that proxies add."""

_NO_KEY = "this needs a key that is known, and neither revoked nor expired"

_FRESH = 2.0
"""Seconds for which a key that was looked up is believed: a revoked key dies after them."""


@dataclass(frozen=True)
class Principal:
    """Who asks, and what they may do.

    Parameters
    ----------
    id
        The id of the key, ``local`` on loopback without one, or '' for nobody.
    role
        A `Role`, or ``none``.
    name
        What people call it; the annotator of labels.
    streams
        The streams that it may touch; empty for all.
    csrf
        The token of the session's forms, where a session is.
    """

    id: str
    role: str
    name: str
    streams: tuple[str, ...] = ()
    csrf: str = ""


LOCAL = Principal(id="local", role="admin", name="local")
NOBODY = Principal(id="", role="none", name="")


def is_loopback(host: str) -> bool:
    """Say whether an address to listen on, or a peer, is this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in _LOCAL_NAMES


def make_key(
    transaction: Transaction,
    *,
    role: str,
    name: str,
    streams: Sequence[str] = (),
    expires: float | None = None,
) -> str:
    """Make a key and return it; it cannot be shown again."""
    ident, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    transaction.put(
        "key",
        id=ident,
        sha256=digest(secret),
        role=role,
        name=name,
        streams=json.dumps(streams),
        created=time.time(),
        expires=expires,
    )
    return f"ts_{ident}_{secret}"


def make_session(transaction: Transaction, who: Principal, *, now: float) -> tuple[str, Principal]:
    """Begin a session of the pages; return the cookie's value and the principal with its token."""
    cookie, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    transaction.run("delete from session where expires < ?", (now,))
    transaction.put(
        "session",
        id=digest(cookie),
        key=who.id,
        role=who.role,
        name=who.name,
        streams=json.dumps(who.streams),
        csrf=csrf,
        created=now,
        expires=now + SESSION_SECONDS,
    )
    return cookie, replace(who, csrf=csrf)


def allow(who: Principal, role: str, stream: str | None) -> None:
    """Refuse a principal without the role, or without the stream."""
    if role == "none":
        return
    if who.role == "none":
        raise no_key()
    foreign = stream is not None and who.streams and stream not in who.streams
    if foreign or (role not in (who.role, "any") and who.role != "admin"):
        may_do = f"{who.role} of {', '.join(who.streams) or 'all streams'}"
        needed = stream if foreign else f"{role} or admin"
        raise HttpProblem(403, f"key {who.id} is for {may_do}, and this needs {needed}")


def no_key() -> HttpProblem:
    """Return the refusal of somebody without a key that can be used."""
    way = Fix("send 'Authorization: Bearer ts_…'; tallystick serve key makes one")
    return HttpProblem(401, _NO_KEY, way, WWW_Authenticate="Bearer")


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse a request that a page of another site sent: browsers say so, in one of two headers."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:  # no script can set this header
        ours = site in ("same-origin", "none")
    else:
        ours = origin is None or _split(origin).netloc == headers.get("host")
    if not ours:
        raise HttpProblem(403, f"this was sent by a page of another site ({site or origin!r})")


class Doorkeeper:
    """Finds out who asks, with a short memory, and counts their requests."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.keyless = is_loopback(service.config.host)
        """Whether this machine may still come in without a key."""
        self._known: dict[bytes, tuple[float, Principal]] = {}
        self._rates: dict[str, tuple[float, float]] = {}
        self._used: dict[str, float] = {}

    def forget(self) -> None:
        """Look every key up again: a key was made or revoked."""
        self._known.clear()

    async def who(self, request: Request) -> Principal:
        """Return who asks; a wrong key is refused, no key at all is nobody or this machine."""
        given = request.headers.get("authorization")
        if given is not None:
            kind, _, key = given.partition(" ")
            if kind.lower() != "bearer" or not key.startswith("ts_"):
                raise no_key()
            return await self._of(key.strip(), self._by_key)
        cookie = request.cookies.get(COOKIE)
        session = await self._of(cookie, self._by_cookie) if cookie else NOBODY
        if session.id not in (NOBODY.id, LOCAL.id):
            return session
        # A session without a key holds the token of forms and nothing else: it opens no door.
        if not await self._may_be_keyless(request):
            return NOBODY
        return session if session.id == LOCAL.id else LOCAL

    async def _may_be_keyless(self, request: Request) -> bool:
        if not (self.keyless and _is_local(request)):
            return False
        # 'tallystick serve key' makes keys in a process of its own, so the store is asked each
        # time. A revoked key counts: revoking the last one must not open the door to everybody.
        admin = "select 1 from key where role = 'admin' limit 1"
        self.keyless = await self._service.reading(lambda reader: reader.one(admin)) is None
        return self.keyless

    def count(self, who: Principal) -> None:
        """Refuse a principal that asks too often: a bucket of tokens, refilled all the time."""
        rate, burst = self._service.config.rate, self._service.config.burst
        now = time.monotonic()
        tokens, last = self._rates.get(who.id, (burst, now))
        tokens = min(burst, tokens + (now - last) * rate)
        if tokens < 1.0:
            self._rates[who.id] = (tokens, now)
            raise HttpProblem(
                429, f"more than {rate:g} requests per second from one key", Retry_After="1"
            )
        self._rates[who.id] = (tokens - 1.0, now)
        self._used[who.id] = self._service.clock()

    def used(self, ident: str) -> float | None:
        """Return when a key was used since that was last written down."""
        return self._used.get(ident)

    def write_used(self) -> None:
        """Write down when keys were last used."""
        used, self._used = self._used, {}
        if used:
            sql = "update key set last_used = ? where id = ?"
            self._service.writer.do(
                lambda tx: tx.many(sql, [(when, ident) for ident, when in used.items()])
            )

    async def _of(self, secret: str, look_up: Callable[[Reader, str], Principal]) -> Principal:
        kept = digest(secret)  # the memory holds no secret either
        known = self._known.get(kept)
        now = time.monotonic()
        if known is not None and now - known[0] < _FRESH:
            return known[1]
        found = await self._service.reading(lambda reader: look_up(reader, secret))
        if len(self._known) > 10_000:
            self._known.clear()
        self._known[kept] = (now, found)
        return found

    def _by_key(self, reader: Reader, key: str) -> Principal:
        ident, _, secret = key.removeprefix("ts_").partition("_")
        row = reader.one(
            "select sha256, role, name, streams, expires, revoked from key where id = ?", (ident,)
        )
        # A wrong id costs the same comparison as a wrong secret.
        kept = bytes(row[0]) if row is not None else bytes(32)
        same = hmac.compare_digest(kept, digest(secret))
        now = self._service.clock()
        if row is None or not same or row[5] is not None or (row[4] is not None and row[4] < now):
            raise no_key()
        return Principal(ident, row[1], row[2], tuple(json.loads(row[3])))

    def _by_cookie(self, reader: Reader, cookie: str) -> Principal:
        now = self._service.clock()
        row = reader.one(
            "select s.key, s.role, s.name, s.streams, s.csrf from session s"
            " left join key k on k.id = s.key where s.id = ? and s.expires > ?"
            " and k.revoked is null and (k.expires is null or k.expires >= ?)",
            (digest(cookie), now, now),
        )
        if row is None:
            return NOBODY
        return Principal(row[0], row[1], row[2], tuple(json.loads(row[3])), row[4])


def _is_local(request: Request) -> bool:
    """Say whether a request came from this machine, as far as it shows."""
    headers = request.headers
    peer = request.client.host if request.client is not None else ""
    origin = _split(headers.get("origin", "//localhost")).hostname
    return (
        is_loopback(peer)
        and _split("//" + headers.get("host", "")).hostname in _LOCAL_NAMES
        and origin in _LOCAL_NAMES
        # nginx before 1.29.7 asks by HTTP/1.0 and adds no header unless it is told to.
        and request.scope.get("http_version") != "1.0"
        and not any(name.startswith(_FORWARDED) for name in headers)
    )


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # "[::1" and the like: nobody's address
        return SplitResult("", "", "", "", "")


def digest(secret: str) -> bytes:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


# Errors of the service: ``application/problem+json`` with the way out (RFC
# 9457).


MOST_FIXES = 20
"""Errors that are listed; a batch of ten thousand bad lines need not be answered in full."""


class Fix(msgspec.Struct, omit_defaults=True):
    """One thing that is wrong, where, and what to do about it."""

    way_out: str
    line: int | None = None
    column: str | None = None
    value: str | None = None


class ProblemBody(msgspec.Struct):
    """The body of every error."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[Fix] = []


class HttpProblem(Exception):
    """Raise it anywhere below a route: it becomes the answer.

    Parameters
    ----------
    status
        The HTTP status.
    detail
        What was wrong with this request, in one sentence.
    errors
        What to change, place by place.
    headers
        Headers of the answer, such as ``Retry-After``.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *errors: Fix,
        **headers: str,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors[:MOST_FIXES])
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def body(self) -> ProblemBody:
        """Return what is sent.

        >>> HttpProblem(404, "there is no stream 'qa'").body().title
        'Not Found'
        """
        return ProblemBody(
            type=f"urn:tallystick:problem:{self.status}",
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=self.detail,
            errors=self.errors,
        )


def wrong_lines(fixes: Sequence[Fix], *, status: int = 422) -> HttpProblem:
    """Return the refusal of a batch: nothing of it is kept."""
    detail = f"{len(fixes)} lines cannot be used; nothing was kept"
    return HttpProblem(status, detail, *fixes)


def unusable(name: str, value: str, way: str) -> HttpProblem:
    """Return the refusal of a parameter, with what it takes."""
    return HttpProblem(
        422, f"{name}={value[:80]!r} cannot be read", Fix(way, column=name[:100], value=value[:80])
    )


def not_json(error: Exception) -> HttpProblem:
    """Return the refusal of a body that no decoder reads."""
    return HttpProblem(400, f"the body is not JSON: {error}")


def too_large(most: str) -> HttpProblem:
    """Return the refusal of a request that holds too much."""
    return HttpProblem(413, f"a request takes at most {most}: send smaller batches")


# Which rows a question is about: a window of time or of rows, and slices.


_LENGTH = re.compile(r"0*([1-9]\d{0,4})([hd])")
_LAST = re.compile(r"last:0*([1-9]\d{0,8})")
_WAYS = "write 24h, 7d, last:5000, or 2026-07-01T00:00Z..2026-07-02T00:00Z (whole hours)"


LABEL_DRAWS = ("drawn", "even", "all")
"""Which labels count once rows were drawn."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """Rows of a stream.

    Parameters
    ----------
    low, high
        Buckets (hours since 1970), both included; None for no end.
    last
        The last rows only.
    slices
        (column, value) that a row must have; of several values of one column any will do.
    label_draw
        Which labels count: ``drawn``, ``even`` or ``all`` (see `tallystick.serve.queue`);
        '' for what suits the verb.
    """

    low: int | None = None
    high: int | None = None
    last: int | None = None
    slices: tuple[tuple[str, str], ...] = ()
    label_draw: str = ""

    def condition(self, alias: str = "") -> tuple[str, list[Any]]:
        """Return what follows ``where stream = ?``, for tables with a bucket."""
        dot = f"{alias}." if alias else ""
        sql: str = ""
        values: list[Any] = []
        if self.low is not None:
            sql, values = sql + f" and {dot}bucket >= ?", [*values, self.low]
        if self.high is not None:
            sql, values = sql + f" and {dot}bucket <= ?", [*values, self.high]
        return sql, values

    def covers(self, bucket: int) -> bool:
        """Say whether an hour is inside."""
        low, high = self.low, self.high
        return (low is None or bucket >= low) and (high is None or bucket <= high)

    def holds(self, body: dict[str, str]) -> bool:
        """Say whether a row of these slices is meant."""
        wanted: dict[str, set[str]] = {}
        for name, value in self.slices:
            wanted.setdefault(name, set()).add(value)
        return all(body.get(name) in values for name, values in wanted.items())


def span_of(window: str, slices: Sequence[str], *, now: float, label_draw: str = "") -> Span:
    """Read ``window=``, ``slice=`` and ``label-draw=``.

    >>> span_of("2h", ["lang:en"], now=36_000.0)
    Span(low=9, high=None, last=None, slices=(('lang', 'en'),), label_draw='')
    """
    wanted = []
    for text in slices:
        name, _, value = text.partition(":")
        if not (name and value):
            raise unusable("slice", text, "write slice=lang:en")
        wanted.append((name, value))
    low = high = last = None
    try:
        if length := _LENGTH.fullmatch(window):
            hours = int(length[1]) * (24 if length[2] == "d" else 1)
            # The last n hours, the one that runs included: a window is a union of buckets.
            low = math.floor(now / 3600) - hours + 1
        elif newest := _LAST.fullmatch(window):
            last = int(newest[1])
        elif window:
            first, dots, end = window.partition("..")
            low, high = _hour(first), None if not end else (_hour(end) or 0) - 1
            if not dots or (low is not None and high is not None and high < low):
                raise ValueError(window)
    except (ValueError, OverflowError) as error:
        raise unusable("window", window, _WAYS) from error
    slices_ = tuple(sorted(wanted))
    return Span(low=low, high=high, last=last, slices=slices_, label_draw=label_draw)


def _hour(text: str) -> int | None:
    """Return a whole hour since 1970, None for no end."""
    if not text:
        return None
    when = datetime.fromisoformat(text.strip().replace(" ", "+"))
    seconds = (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()
    if seconds % 3600:
        raise ValueError(text)
    return int(seconds // 3600)
