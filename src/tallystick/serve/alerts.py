"""Alarms: what was noticed, what it proves and what it does not, and whether somebody saw it."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import re
import secrets
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from tallystick.errors import InputError
from tallystick.serve.auth import Fix, HttpProblem
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.jobs import Held, job
from tallystick.serve.routes import Incoming, Parameter, route

if TYPE_CHECKING:
    from tallystick.serve.jobs import Service


@dataclass(frozen=True, kw_only=True)
class AlertNote:
    """What is to be told.

    Parameters
    ----------
    name
        One word for its kind: ``change``, ``silent``, ``spelling``, ``panel``, ``posted``,
        ``check``.
    what
        One sentence that stands alone.
    proves, does_not_prove
        What follows from it, and what does not.
    stream
        The id of the stream that it is about, or None.
    detail
        More, as JSON types.
    """

    name: str
    what: str
    proves: str
    does_not_prove: str
    stream: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)


class AlertBody(msgspec.Struct):
    """An alarm as it is shown, and as hooks receive it."""

    id: int
    name: str
    what: str
    proves: str
    does_not_prove: str
    at: float
    stream: str | None = None
    detail: dict[str, Any] = {}
    seen: float | None = None
    seen_by: str | None = None


class AlertList(msgspec.Struct):
    """Alarms, the newest first."""

    alerts: list[AlertBody]


_SELECT = (
    "select a.id, a.name, a.what, a.proves, a.does_not_prove, a.at, s.name, a.detail,"
    " a.seen, a.seen_by from alert a left join stream s on s.id = a.stream"
)


def _body(row: tuple[Any, ...]) -> AlertBody:
    given = list(row)
    given[7] = json.loads(given[7])
    return AlertBody(*given)


def raise_alert(transaction: Transaction, note: AlertNote, *, now: float) -> int:
    """Keep an alarm and queue it for every hook that wants it, in the caller's transaction."""
    ident = transaction.insert(
        "insert into alert (stream, name, what, proves, does_not_prove, detail, at)"
        " values (?, ?, ?, ?, ?, ?, ?) returning id",
        (
            note.stream,
            note.name,
            note.what,
            note.proves,
            note.does_not_prove,
            json.dumps(note.detail, allow_nan=False, default=str),
            now,
        ),
    )
    _deliver(transaction, ident, now=now)
    return ident


def amend_alert(transaction: Transaction, ident: int, note: AlertNote, *, now: float) -> None:
    """Put what is known now in the place of an earlier alarm, for people to see and hooks to get.

    One event stays one alarm: it counts as unseen again, and keeps its id and its time.
    """
    transaction.run(
        "update alert set what = ?, proves = ?, does_not_prove = ?, detail = ?, seen = null,"
        " seen_by = null where id = ?",
        (
            note.what,
            note.proves,
            note.does_not_prove,
            json.dumps(note.detail, allow_nan=False, default=str),
            ident,
        ),
    )
    _deliver(transaction, ident, now=now)


def _deliver(transaction: Transaction, ident: int, *, now: float) -> None:
    row = transaction.one(f"{_SELECT} where a.id = ?", (ident,))
    if row is not None:
        body = _body(row)
        queue_deliveries(transaction, ident, msgspec.to_builtins(body), stream=body.stream, now=now)


def listed_alerts(
    reader: Reader, *, stream: str | None = None, unseen: bool = False, limit: int = 100
) -> list[AlertBody]:
    """Return alarms, the newest first."""
    where, given = ["1 = 1"], []
    if stream is not None:
        where.append("s.name = ?")
        given.append(stream)
    if unseen:
        where.append("a.seen is null")
    rows = reader.all(
        f"{_SELECT} where {' and '.join(where)} order by a.id desc limit ?", (*given, limit)
    )
    return [_body(row) for row in rows]


@route(
    "GET",
    "/v1/alerts",
    "read",
    answer=AlertList,
    query=(
        Parameter("stream", "Only those of a stream."),
        Parameter("unseen", "true: only those nobody has seen."),
        Parameter("limit", "How many at most, up to 1000.", kind="integer"),
    ),
)
async def get_alerts(incoming: Incoming) -> AlertList:
    """List alarms; a key for some streams sees those of its streams."""
    unseen = incoming.query("unseen") in ("1", "true", "yes")
    stream = incoming.query("stream") or None
    try:
        limit = min(1000, max(1, int(incoming.query("limit", "100"))))
    except ValueError as error:
        raise HttpProblem(422, "limit is a number of alarms, such as 100") from error
    mine = incoming.who.streams

    def work(reader: Reader) -> list[AlertBody]:
        found = listed_alerts(reader, stream=stream, unseen=unseen, limit=limit)
        return [one for one in found if not mine or one.stream in mine]

    return AlertList(await incoming.service.reading(work))


@route("POST", "/v1/alerts/{alert}/seen", "admin", answer=AlertBody)
async def post_seen(incoming: Incoming) -> AlertBody:
    """Say that somebody saw an alarm."""
    ident = _number(incoming.path["alert"])
    now, who = incoming.service.clock(), incoming.who.name

    def work(transaction: Transaction) -> AlertBody:
        transaction.run(
            "update alert set seen = ?, seen_by = ? where id = ? and seen is null",
            (now, who, ident),
        )
        row = transaction.one(f"{_SELECT} where a.id = ?", (ident,))
        if row is None:
            raise HttpProblem(404, f"there is no alarm {ident}")
        return _body(row)

    return await incoming.service.commit(work)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise HttpProblem(404, f"there is no alarm {text[:40]!r}")
    return int(text)


# Hooks: alarms sent to an address of the team's, signed, and tried again until they arrive.


WAITS = (60.0, 600.0, 3_600.0, 21_600.0, 57_600.0)
"""Seconds before the second to the sixth try: a day in all."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class HookOrder(msgspec.Struct, forbid_unknown_fields=True):
    """Where alarms go: an https address, and the streams it is for (none: all)."""

    url: str
    streams: list[str] = []
    on: bool = True


class HookBody(msgspec.Struct):
    """A hook as it is listed, without its secret."""

    name: str
    url: str
    streams: list[str]
    on: bool
    created: float


class HookShown(msgspec.Struct):
    """A new hook with the secret of its signatures, which is not shown again."""

    hook: HookBody
    secret: str | None


class DeliveryBody(msgspec.Struct):
    """How an alarm was delivered."""

    id: str
    hook: str
    alert: int | None
    tries: int
    next: float | None
    last_status: int | None
    last_error: str | None
    done: float | None


class HookList(msgspec.Struct):
    """All hooks, and the last deliveries."""

    hooks: list[HookBody]
    deliveries: list[DeliveryBody]


def signature(secret: str, body: bytes, *, at: int) -> str:
    """Return the header by which a receiver knows that an alarm is ours, and new.

    >>> signature("s", b"{}", at=1)[:11]
    't=1,v1=b253'
    """
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"


def queue_deliveries(
    transaction: Transaction,
    alert: int | None,
    body: dict[str, Any],
    *,
    stream: str | None,
    now: float,
) -> None:
    """Plan the delivery of an alarm to every hook that wants it."""
    text = json.dumps(body, allow_nan=False, ensure_ascii=False)
    for ident, streams in transaction.all("select id, streams from hook where state = 'on'"):
        wanted = json.loads(streams)
        if wanted and stream not in wanted:
            continue
        transaction.run(
            "insert into delivery (id, hook, alert, body, tries, next, created)"
            " values (?, ?, ?, ?, 0, ?, ?)",
            (secrets.token_hex(16), ident, alert, text, now, now),
        )


@job("deliver", every=5.0, lease=60.0)
def deliver(service: Service, held: Held) -> None:
    """Send what is due.

    A try is counted before it leaves, so that a crash cannot repeat it for ever.
    """
    while not service.jobs.stopping:
        now = service.clock()
        due = service.read(
            lambda reader, now=now: reader.one(  # type: ignore[misc]
                "select d.id, d.body, d.tries, h.url, h.secret from delivery d"
                " join hook h on h.id = d.hook"
                " where d.next is not null and d.next <= ? and h.state = 'on'"
                " order by d.next limit 1",
                (now,),
            )
        )
        if due is None:
            return
        ident, text, tries, url, secret = due
        later = now + WAITS[tries] if tries < len(WAITS) else None

        def count(transaction: Transaction, ident: str = ident, later: Any = later) -> None:
            held.check(transaction)
            transaction.run(
                "update delivery set tries = tries + 1, next = ? where id = ?", (later, ident)
            )

        service.writer.do(count)
        status, failure = _send(service, ident, url, secret, text.encode(), int(now))
        done = now if status is not None and 200 <= status < 300 else None

        def settle(
            transaction: Transaction,
            ident: str = ident,
            status: int | None = status,
            failure: str | None = failure,
            done: float | None = done,
        ) -> None:
            transaction.run(
                "update delivery set last_status = ?, last_error = ?, done = ?,"
                " next = case when ? is null then next else null end where id = ?",
                (status, failure, done, done, ident),
            )

        service.writer.do(settle)
        held.renew()


def _send(
    service: Service, ident: str, url: str, secret: str, body: bytes, at: int
) -> tuple[int | None, str | None]:
    """Return the status, or what went wrong; the answer's text is not kept: it may be anything."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "tallystick",
        "Tallystick-Delivery": ident,
        "Tallystick-Signature": signature(secret, body, at=at),
    }
    try:
        status = post(target_of(url, allow=service.config.allow_hosts), body, headers)
    except (OSError, InputError, http.client.HTTPException, UnicodeError) as error:
        return None, f"{type(error).__name__}: {error}"[:500]
    return status, None if 200 <= status < 300 else f"answered {status}"


# -- routes


def _name(incoming: Incoming) -> str:
    name = incoming.path["hook"]
    if not _NAME.fullmatch(name):
        raise HttpProblem(
            422,
            f"a hook cannot be called {name[:80]!r}",
            [Fix(way_out="use up to 64 letters, digits, dots, dashes and underscores")],
        )
    return name


def _hooks_body(row: tuple[Any, ...]) -> HookBody:
    return HookBody(row[0], row[1], json.loads(row[2]), row[3] == "on", row[4])


_HOOK = "select name, url, streams, state, created from hook"


@route("PUT", "/v1/hooks/{hook}", "admin", body=HookOrder, answer=HookShown)
async def put_hook(incoming: Incoming) -> HookShown:
    """Make a hook, or change where it goes; the secret stays and is shown only when it is made."""
    name, order, service = _name(incoming), incoming.body, incoming.service
    # Resolving takes time and must not stop other requests.
    await service.waiting(lambda: target_of(order.url, allow=service.config.allow_hosts))
    secret, now = secrets.token_urlsafe(32), service.clock()

    def work(transaction: Transaction) -> HookShown:
        is_new = transaction.one("select 1 from hook where name = ?", (name,)) is None
        transaction.run(
            "insert into hook (name, url, secret, streams, state, created)"
            " values (?, ?, ?, ?, ?, ?) on conflict (name) do update set url = excluded.url,"
            " streams = excluded.streams, state = excluded.state",
            (
                name,
                order.url,
                secret,
                json.dumps(order.streams),
                "on" if order.on else "off",
                now,
            ),
        )
        row = transaction.one(f"{_HOOK} where name = ?", (name,))
        if row is None:
            raise HttpProblem(500, "the hook was not kept")
        return HookShown(_hooks_body(row), secret if is_new else None)

    return await service.commit(work)


def listed_hooks(reader: Reader) -> HookList:
    """Return hooks and the last hundred deliveries."""
    hooks = [_hooks_body(row) for row in reader.all(f"{_HOOK} order by name")]
    rows = reader.all(
        "select d.id, h.name, d.alert, d.tries, d.next, d.last_status, d.last_error, d.done"
        " from delivery d join hook h on h.id = d.hook order by d.created desc limit 100"
    )
    return HookList(hooks, [DeliveryBody(*row) for row in rows])


@route("GET", "/v1/hooks", "admin", answer=HookList)
async def get_hooks(incoming: Incoming) -> HookList:
    """List hooks and their last deliveries."""
    return await incoming.service.reading(listed_hooks)


@route("DELETE", "/v1/hooks/{hook}", "admin", answer=dict[str, str])
async def delete_hook(incoming: Incoming) -> dict[str, str]:
    """Delete a hook with its deliveries."""
    name = _name(incoming)

    def work(transaction: Transaction) -> None:
        transaction.run(
            "delete from delivery where hook in (select id from hook where name = ?)", (name,)
        )
        if not transaction.run("delete from hook where name = ?", (name,)):
            raise HttpProblem(404, f"there is no hook {name!r}")

    await incoming.service.commit(work)
    return {"deleted": name}


@route("POST", "/v1/hooks/{hook}/test", "admin", answer=DeliveryBody)
async def sample_hook(incoming: Incoming) -> DeliveryBody:
    """Send a signed sample at once, and say what came of it."""
    name, service = _name(incoming), incoming.service
    row = await service.reading(
        lambda reader: reader.one("select id, url, secret from hook where name = ?", (name,))
    )
    if row is None:
        raise HttpProblem(404, f"there is no hook {name!r}")
    now = service.clock()
    text = json.dumps({"name": "test", "what": "A sample, sent by hand.", "at": now})
    ident = secrets.token_hex(16)
    status, failure = await service.waiting(
        lambda: _send(service, ident, row[1], row[2], text.encode(), int(now))
    )
    done = now if failure is None else None

    def work(transaction: Transaction) -> None:
        transaction.run(
            "insert into delivery (id, hook, alert, body, tries, next, last_status, last_error,"
            " done, created) values (?, ?, null, ?, 1, null, ?, ?, ?, ?)",
            (ident, row[0], text, status, failure, done, now),
        )

    await service.commit(work)
    return DeliveryBody(ident, name, None, 1, None, status, failure, done)


# Calls that leave the service: to whom they may go, and how.
#
# A name is resolved once and the connection goes to that very address: asking DNS a second time
# would let its owner answer the check with a public address and the call with a private one.
# Nothing is followed, little is read, and private addresses are refused unless the operator listed
# the host.


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
