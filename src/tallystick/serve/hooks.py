"""Hooks: alarms sent to an address of the team's, signed, and tried again until they arrive."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import re
import secrets
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.errors import InputError
from tallystick.serve.jobs import Held, Job
from tallystick.serve.outgoing import post, target_of
from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.store import Reader, Transaction

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = [
    "JOBS",
    "ROUTES",
    "DeliveryBody",
    "HookBody",
    "HookList",
    "HookOrder",
    "HookShown",
    "queue_deliveries",
    "signature",
]

WAITS = (60.0, 600.0, 3_600.0, 21_600.0, 57_600.0)
"""Seconds before the second to the sixth try: a day in all."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class HookOrder(msgspec.Struct, forbid_unknown_fields=True):
    """Where alarms go: an https address, and the streams it is for (none: all, watches too)."""

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


def _body(row: tuple[Any, ...]) -> HookBody:
    return HookBody(row[0], row[1], json.loads(row[2]), row[3] == "on", row[4])


_HOOK = "select name, url, streams, state, created from hook"


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
        return HookShown(_body(row), secret if is_new else None)

    return await service.commit(work)


def listed_hooks(reader: Reader) -> HookList:
    """Return hooks and the last hundred deliveries."""
    hooks = [_body(row) for row in reader.all(f"{_HOOK} order by name")]
    rows = reader.all(
        "select d.id, h.name, d.alert, d.tries, d.next, d.last_status, d.last_error, d.done"
        " from delivery d join hook h on h.id = d.hook order by d.created desc limit 100"
    )
    return HookList(hooks, [DeliveryBody(*row) for row in rows])


async def get_hooks(incoming: Incoming) -> HookList:
    """List hooks and their last deliveries."""
    return await incoming.service.reading(listed_hooks)


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


JOBS = (Job("deliver", deliver, every=5.0, lease=60.0),)
"""Jobs of this file."""

ROUTES = (
    Route(
        method="GET",
        path="/v1/hooks",
        role="admin",
        work=get_hooks,
        summary="Hooks and their last deliveries.",
        answer=HookList,
    ),
    Route(
        method="PUT",
        path="/v1/hooks/{hook}",
        role="admin",
        work=put_hook,
        summary="Make a hook, or change it. Its secret is shown once.",
        body=HookOrder,
        answer=HookShown,
    ),
    Route(
        method="DELETE",
        path="/v1/hooks/{hook}",
        role="admin",
        work=delete_hook,
        summary="Delete a hook.",
        answer=dict[str, str],
    ),
    Route(
        method="POST",
        path="/v1/hooks/{hook}/test",
        role="admin",
        work=sample_hook,
        summary="Send a signed sample at once.",
        answer=DeliveryBody,
    ),
)
"""Routes of this file."""
