"""Keys: make one (it is shown once), list them, revoke one."""

from __future__ import annotations

import json

import msgspec

from tallystick.serve.auth import make_key
from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.service import Service
from tallystick.serve.store import Reader, Transaction

__all__ = ["ROUTES", "KeyBody", "KeyList", "KeyOrder", "KeyShown"]


class KeyOrder(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked for: a role, a name, and the streams it is for (none: all)."""

    role: str
    name: str
    streams: list[str] = []
    days: float | None = None


class KeyShown(msgspec.Struct):
    """A new key. It cannot be shown again."""

    key: str


class KeyBody(msgspec.Struct):
    """A key as it is listed, without its secret."""

    id: str
    role: str
    name: str
    streams: list[str]
    created: float
    last_used: float | None
    expires: float | None
    revoked: float | None


class KeyList(msgspec.Struct):
    """All keys."""

    keys: list[KeyBody]


async def post_key(incoming: Incoming) -> KeyShown:
    """Make a key."""
    order: KeyOrder = incoming.body
    now = incoming.service.clock()
    if order.days is not None and not order.days > 0:
        fix = Fix(column="days", value=f"{order.days:g}", way_out="more than 0, or null for ever")
        raise HttpProblem(422, "the key would have expired already", [fix])
    expires = None if order.days is None else now + order.days * 86_400.0

    def work(transaction: Transaction) -> str:
        return make_key(
            transaction,
            role=order.role,
            name=order.name[:200],
            streams=tuple(order.streams),
            expires=expires,
            now=now,
        )

    return KeyShown(await incoming.service.commit(work))


def listed(reader: Reader, service: Service) -> list[KeyBody]:
    """Return every key without its secret."""
    rows = reader.all(
        "select id, role, name, streams, created, last_used, expires, revoked from key"
        " order by created"
    )
    return [
        KeyBody(
            id=row[0],
            role=row[1],
            name=row[2],
            streams=json.loads(row[3]),
            created=row[4],
            last_used=service.door.used(row[0]) or row[5],
            expires=row[6],
            revoked=row[7],
        )
        for row in rows
    ]


async def get_keys(incoming: Incoming) -> KeyList:
    """List keys."""
    service = incoming.service
    return KeyList(await service.reading(lambda reader: listed(reader, service)))


async def delete_key(incoming: Incoming) -> dict[str, str]:
    """Revoke a key: it is refused from now on."""
    ident, now = incoming.path["key"], incoming.service.clock()

    def work(transaction: Transaction) -> None:
        if not transaction.run("update key set revoked = ? where id = ?", (now, ident)):
            raise HttpProblem(404, f"there is no key {ident!r}")
        transaction.run("delete from session where key = ?", (ident,))

    await incoming.service.commit(work)
    incoming.service.door.forget()
    return {"revoked": ident}


ROUTES = (
    Route(
        method="POST",
        path="/v1/keys",
        role="admin",
        work=post_key,
        summary="Make a key; it is shown once.",
        body=KeyOrder,
        answer=KeyShown,
        status=201,
    ),
    Route(
        method="GET",
        path="/v1/keys",
        role="admin",
        work=get_keys,
        summary="List keys, without their secrets.",
        answer=KeyList,
    ),
    Route(
        method="DELETE",
        path="/v1/keys/{key}",
        role="admin",
        work=delete_key,
        summary="Revoke a key.",
        answer=dict[str, str],
    ),
)
"""Routes of this file."""
