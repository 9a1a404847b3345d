"""Alarms: what was noticed, what it proves, who has seen it, and the one webhook that tells it."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from tallystick.errors import InputError, unknown
from tallystick.serve.auth import HttpProblem
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.jobs import Held, Service, job
from tallystick.serve.routes import Incoming, Limit, Query, reads, route, writes
from tallystick.serve.writer import Boundary


@dataclass(frozen=True, kw_only=True)
class AlertNote:
    """What is to be told.

    Parameters
    ----------
    name
        One word for its kind: ``change``, ``silent``, ``spelling``, ``panel``, ``posted``,
        ``check``, ``log``.
    what
        One sentence that stands alone.
    proves, does_not_prove
        What follows from it, and what does not.
    stream
        The id of the stream that it is about, or None.
    detail
        More, as JSON types.
    muted
        Whether it is only kept, as seen: the stream is muted.
    """

    name: str
    what: str
    proves: str
    does_not_prove: str
    stream: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    muted: bool = False


class AlertBody(msgspec.Struct):
    """An alarm as it is shown, and as the webhook receives it."""

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
    "select a.id, a.name, a.what, a.proves, a.does_not_prove, a.at, s.name, a.detail, a.seen,"
    " a.seen_by from alert a left join stream s on s.id = a.stream"
)


def _body(row: tuple[Any, ...]) -> AlertBody:
    return AlertBody(*[*row[:7], json.loads(row[7]), *row[8:]])


def raise_alert(transaction: Transaction, note: AlertNote, *, now: float) -> int:
    """Keep an alarm and queue it for the webhook, in the caller's transaction."""
    ident = transaction.made(
        "alert",
        stream=note.stream,
        name=note.name,
        what=note.what,
        proves=note.proves,
        does_not_prove=note.does_not_prove,
        detail=json.dumps(note.detail, allow_nan=False, default=str),
        at=now,
        seen=now if note.muted else None,
        seen_by="muted" if note.muted else None,
    )
    if not note.muted:
        _plan(transaction, ident, now=now)
    return ident


def amend_alert(
    transaction: Transaction, ident: int, *, send: bool, now: float, detail: Any, **texts: str
) -> None:
    """Put what is known now in the place of an earlier alarm: one event stays one alarm.

    It keeps its id and its time. With *send* people hear of it: it counts as unseen again.
    """
    texts["detail"] = json.dumps(detail, allow_nan=False, default=str)
    changed = ", ".join(f"{name} = ?" for name in texts)
    sql = f"update alert set {changed}{', seen = null, seen_by = null' * send} where id = ?"
    transaction.run(sql, (*texts.values(), ident))
    if send:
        _plan(transaction, ident, now=now)


def listed_alerts(
    reader: Reader,
    *,
    stream: str | None = None,
    streams: Sequence[str] = (),
    unseen: bool = False,
    limit: int = 100,
) -> list[AlertBody]:
    """Return alarms, the newest first; those of *stream*, or of any of *streams*."""
    where = ["1 = 1", *(["a.seen is null"] if unseen else [])]
    wanted = [stream] if stream is not None else list(streams)
    if stream is not None and streams and stream not in streams:
        return []
    if wanted:
        where.append(f"s.name in ({', '.join('?' * len(wanted))})")
    sql = f"{_SELECT} where {' and '.join(where)} order by a.id desc limit ?"
    return [_body(row) for row in reader.all(sql, (*wanted, limit))]


class AlertQuery(Query):
    """Which alarms."""

    stream: Annotated[str, Meta(description="Only those of a stream.")] = ""
    unseen: Annotated[bool, Meta(description="true: only those nobody has seen.")] = False
    limit: Limit = 100


@reads("/v1/alerts", "read", answer=AlertList, query=AlertQuery)
def get_alerts(reader: Reader, incoming: Incoming) -> AlertList:
    """List alarms, the newest first; a key for some streams sees those of its streams."""
    asked, mine = incoming.query, incoming.who.streams
    of = asked.stream or None
    return AlertList(
        listed_alerts(reader, stream=of, streams=mine, unseen=asked.unseen, limit=asked.limit)
    )


@writes("POST", "/v1/alerts/{alert}/seen", "admin", answer=AlertBody)
def post_seen(transaction: Transaction, incoming: Incoming) -> AlertBody:
    """Say that somebody saw an alarm."""
    text = incoming.path["alert"]
    ident = int(text) if text.isdecimal() and len(text) <= 18 else -1
    transaction.run(
        "update alert set seen = ?, seen_by = ? where id = ? and seen is null",
        (incoming.now, incoming.who.name, ident),
    )
    row = transaction.one(f"{_SELECT} where a.id = ?", (ident,))
    if row is None:
        raise HttpProblem(404, unknown("alarm", text))
    return _body(row)


# The webhook: every alarm goes to one address of the team's, signed, and is
# tried again until it arrives.


WAITS = (60.0, 600.0, 3_600.0, 21_600.0, 57_600.0)
"""Seconds before the second to the sixth try: a day in all."""


class WebhookOrder(msgspec.Struct, forbid_unknown_fields=True):
    """Where alarms go: an https address."""

    url: str


class WebhookShown(msgspec.Struct):
    """The address, and the secret of its signatures, which is shown when it is made."""

    url: str
    secret: str | None


class DeliveryBody(msgspec.Struct):
    """How an alarm was delivered."""

    id: str
    alert: int | None
    tries: int
    next: float | None
    last_status: int | None
    last_error: str | None
    done: float | None


class WebhookBody(msgspec.Struct):
    """Where alarms go, and the last deliveries; an earlier version knew several addresses."""

    urls: list[str]
    deliveries: list[DeliveryBody]


def signature(secret: str, body: bytes, *, at: int) -> str:
    """Return the header by which a receiver knows that an alarm is ours, and new.

    >>> signature("s", b"{}", at=1)[:11]
    't=1,v1=b253'
    """
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"


def _plan(transaction: Transaction, alert: int, *, now: float) -> None:
    """Plan the delivery of an alarm."""
    body = _body(transaction.all(f"{_SELECT} where a.id = ?", (alert,))[0])
    text = msgspec.json.encode(body).decode()
    for hook, streams in transaction.all("select id, streams from hook where state = 'on'"):
        if body.stream in json.loads(streams) or streams == "[]":
            _put(transaction, hook, text, alert=alert, now=now)


def _put(
    transaction: Transaction, hook: int, text: str, *, alert: int | None, now: float
) -> DeliveryBody:
    planned = DeliveryBody(secrets.token_hex(16), alert, 0, now, None, None, None)
    kept = {"alert": alert, "body": text, "tries": 0, "next": now, "created": now}
    transaction.put("delivery", id=planned.id, hook=hook, **kept)
    return planned


@job("deliver", every=5.0, lease=60.0)
def deliver(service: Service, held: Held) -> None:
    """Send what is due.

    A try is counted before it leaves, so that a crash cannot repeat it for ever.
    """
    sql = (
        "select d.id, d.body, d.tries, h.url, h.secret from delivery d join hook h on h.id = d.hook"
        " where d.next is not null and d.next <= ? and h.state = 'on' order by d.next limit 1"
    )
    while not service.jobs.stopping.is_set():
        now = service.clock()
        due = service.read(partial(Reader.one, sql=sql, parameters=(now,)))
        if due is None:
            return
        ident, text, tries, url, secret = due
        later = now + WAITS[tries] if tries < len(WAITS) else None
        tried = "update delivery set tries = tries + 1, next = ? where id = ?"
        held.write(partial(Transaction.run, sql=tried, parameters=(later, ident)))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "tallystick",
            "Tallystick-Delivery": ident,
            "Tallystick-Signature": signature(secret, text.encode(), at=int(now)),
        }
        status, failure = None, None
        with Boundary() as edge:  # whatever the other end does, the delivery is tried again
            target = target_of(url, allow=service.config.allow_hosts)
            status = post(target, text.encode(), headers)
            failure = None if 200 <= status < 300 else f"answered {status}"
        if edge.error is not None:
            failure = f"{type(edge.error).__name__}: {edge.error}"[:500]
        # The text of the answer is not kept: it may be anything.
        done, again = (now, None) if failure is None else (None, later)
        said = (
            "update delivery set last_status = ?, last_error = ?, done = ?, next = ? where id = ?"
        )
        parameters = (status, failure, done, again, ident)
        service.writer.do(partial(Transaction.run, sql=said, parameters=parameters))
        held.renew()


@route("PUT", "/v1/webhook", "admin", body=WebhookOrder, answer=WebhookShown)
async def put_webhook(incoming: Incoming) -> WebhookShown:
    """Say where alarms go; the secret of the signatures is shown once and stays."""
    url, service = incoming.body.url, incoming.service
    # Resolving takes time and must not stop other requests.
    await service.waiting(lambda: target_of(url, allow=service.config.allow_hosts))
    made, now = secrets.token_urlsafe(32), service.clock()

    def work(transaction: Transaction) -> WebhookShown:
        known = transaction.one("select id from hook order by id limit 1")
        if known is not None:
            _drop(transaction, keep=known[0])
            change = "update hook set url = ?, streams = '[]', state = 'on' where id = ?"
            transaction.run(change, (url, known[0]))
            return WebhookShown(url, None)
        parts = {"streams": "[]", "state": "on", "created": now}
        transaction.put("hook", name="webhook", url=url, secret=made, **parts)
        return WebhookShown(url, made)

    return await service.commit(work)


def _drop(transaction: Transaction, *, keep: int = -1) -> int:
    """Drop every address but one with its deliveries; return how many those were."""
    transaction.run("delete from delivery where hook <> ?", (keep,))
    return transaction.run("delete from hook where id <> ?", (keep,))


@reads("/v1/webhook", "admin", answer=WebhookBody)
def get_webhook(reader: Reader, incoming: Incoming) -> WebhookBody:
    """Say where alarms go, and how the last hundred were delivered."""
    urls = [url for (url,) in reader.all("select url from hook where state = 'on' order by id")]
    rows = reader.all(
        "select id, alert, tries, next, last_status, last_error, done from delivery"
        " order by created desc limit 100"
    )
    return WebhookBody(urls, [DeliveryBody(*row) for row in rows])


@writes("DELETE", "/v1/webhook", "admin", answer=dict[str, int])
def delete_webhook(transaction: Transaction, incoming: Incoming) -> dict[str, int]:
    """Send no alarm any more."""
    return {"deleted": _drop(transaction)}


@writes("POST", "/v1/webhook/test", "admin", answer=DeliveryBody)
def test_webhook(transaction: Transaction, incoming: Incoming) -> DeliveryBody:
    """Send a signed sample within seconds; GET /v1/webhook says what came of it."""
    hook = transaction.one("select id from hook order by id limit 1")
    if hook is None:
        raise HttpProblem(404, "there is no webhook: PUT /v1/webhook makes one")
    text = json.dumps({"name": "test", "what": "A test.", "at": incoming.now})
    return _put(transaction, hook[0], text, alert=None, now=incoming.now)


# Calls that leave the service: to whom they may go, and how.
#
# A name is resolved once and the connection goes to that very address: asking
# DNS a second time would let its owner answer the check with a public address
# and the call with a private one. Nothing is followed, nothing of the answer
# is read but its status, and private addresses are refused unless the
# operator listed the host.


SECONDS = 10.0

Resolve = Callable[..., list[Any]]


@dataclass(frozen=True)
class Target:
    """An address that was checked: its URL, what it is called, and where the connection goes."""

    url: str
    host: str
    address: str


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

    def refused(why: Any) -> InputError:
        return InputError(
            f"{url[:200]!r} ({why}) cannot be called: it takes a public https address without a"
            f" password, or a host that is listed (tallystick serve --allow-host {host})"
        )

    # A password would be stored and shown.
    known = parts.scheme == "https" or (parts.scheme == "http" and listed)
    if not known or not host or parts.username or parts.password:
        raise refused("not https" if not known else "no host, or a password")
    try:
        found = resolve(host, parts.port or 443, type=socket.SOCK_STREAM)
    except (ValueError, OSError) as error:
        raise refused(error) from error
    addresses = [str(one[4][0]) for one in found]
    for address in addresses:
        # One private address among several is enough to refuse: the caller might get that one.
        if not listed and not ipaddress.ip_address(address.partition("%")[0]).is_global:
            raise refused(f"internal address {address}")
    return Target(url, host, addresses[0])


def post(target: Target, body: bytes, headers: Mapping[str, str]) -> int:
    """Send *body* and return the status; redirects are not followed, the answer is not shown."""
    import httpx

    url = httpx.URL(target.url)
    # The connection goes to the address, and the certificate must be that of the name.
    with (
        httpx.Client(timeout=SECONDS, trust_env=False) as client,
        client.stream(
            "POST",
            url.copy_with(host=target.address),
            content=body,
            headers={**headers, "Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": target.host},
        ) as answer,
    ):
        return answer.status_code
