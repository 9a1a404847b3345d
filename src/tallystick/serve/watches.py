"""The process of one run: it asks the API, and ends when the service does.

A run takes minutes, loads the numerical libraries and calls foreign code, so it has a process of
its own. The order comes as one line on standard input, the answer goes out as one line of JSON.
When standard input ends, the service has died: the process stops at once, and its journal holds
everything that was paid for.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tallystick.errors import InputError
from tallystick.serve.alerts import target_of
from tallystick.serve.auth import Fix, HttpProblem
from tallystick.serve.store import Transaction

# The money of a watch: reserved before a run begins, settled when it ends, capped by month.


def month_of(now: float) -> str:
    """Return the month of a time, as money counts it.

    >>> month_of(1_800_000_000.0)
    '2027-01'
    """
    return time.strftime("%Y-%m", time.gmtime(now))


@dataclass(frozen=True)
class Purse:
    """What a watch may spend, and has spent, this month."""

    cap_run: float
    cap_month: float
    spent: float
    reserved: float

    @property
    def free(self) -> float:
        """What the next run may cost."""
        return max(0.0, min(self.cap_run, self.cap_month - self.spent - self.reserved))


def purse_of(transaction: Transaction, watch: int, *, now: float) -> Purse:
    """Return the purse; a new month begins with nothing spent."""
    row = transaction.one(
        "select cap_run, cap_month, spent, reserved, month from watch where id = ?", (watch,)
    )
    if row is None:
        return Purse(0.0, 0.0, 0.0, 0.0)
    month = month_of(now)
    if row[4] != month:
        transaction.run("update watch set spent = 0, month = ? where id = ?", (month, watch))
    return Purse(row[0], row[1], 0.0 if row[4] != month else row[2], row[3])


def reserve(transaction: Transaction, watch: int, *, now: float) -> float:
    """Set aside what a run may cost, so that *spent + reserved ≤ cap* at every moment."""
    amount = purse_of(transaction, watch, now=now).free
    transaction.run("update watch set reserved = reserved + ? where id = ?", (amount, watch))
    return amount


def settle(
    transaction: Transaction, watch: int, *, reserved: float, cost: float, now: float
) -> None:
    """StreamBook what a run cost instead of what was set aside for it."""
    purse_of(transaction, watch, now=now)
    transaction.run(
        "update watch set spent = spent + ?,"
        " reserved = case when reserved > ? then reserved - ? else 0 end where id = ?",
        (cost, reserved, reserved, watch),
    )


# What is said of a watch: whom to ask about what, how often, and for how much money.


MOST_ITEMS = 20_000


class WatchOrder(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A watch as it is asked for, and as it is kept.

    Parameters
    ----------
    api
        As on the command line: ``openai:MODEL@URL``, ``anthropic:MODEL``, ``https://…``;
        ``python:`` and ``command:`` are taken from the operator's file only.
    items
        One object per item: its id, its text, its true label where there is one.
    item, truth, labels
        The column of the id, that of the true label, and all labels.
    every_hours
        Time between checks.
    budget
        Calls per check at most.
    cap_run, cap_month
        Money per run and per month at most, retries included.
    draws
        How often the baseline asks each item: 2 or more show how noisy the API is.
    on
        Whether checks are made.
    prompt, system_prompt, answer, temperature, max_tokens, json_mode, extra, request, label_path,
    header, key_name, concurrency, timeout, attempts, rate, price, price_input, price_output,
    currency
        As on the command line of `shift`. Keys are names of environment variables of the service.
    """

    api: str
    items: list[dict[str, Any]]
    item: str
    truth: str | None = None
    labels: list[str] = []
    every_hours: float = 24.0
    budget: int = 200
    cap_run: float = 1.0
    cap_month: float = 20.0
    draws: int = 2
    on: bool = True
    prompt: str | None = None
    system_prompt: str | None = None
    answer: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    json_mode: bool = False
    extra: dict[str, Any] | None = None
    request: dict[str, Any] | None = None
    label_path: str = "$.label"
    header: dict[str, str] = {}
    key_name: str | None = None
    concurrency: int = 4
    timeout: float = 60.0
    attempts: int = 5
    rate: float | None = None
    price: float = 0.0
    price_input: float = 0.0
    price_output: float = 0.0
    currency: str = ""


_OWN = frozenset(
    [
        "items",
        "item",
        "truth",
        "labels",
        "every_hours",
        "budget",
        "cap_run",
        "cap_month",
        "draws",
        "on",
    ]
)
"""Fields that are not options of a client."""


def client_options(order: WatchOrder) -> dict[str, Any]:
    """Return what `shift` is told about the API."""
    given = msgspec.structs.asdict(order)
    return {name: value for name, value in given.items() if name not in _OWN}


def table_of(order: WatchOrder) -> dict[str, list[Any]]:
    """Return the items as columns."""
    names = list(dict.fromkeys(name for one in order.items for name in one))
    return {name: [one.get(name) for one in order.items] for name in names}


def check_order(order: WatchOrder, *, allow: Sequence[str], by_operator: bool = False) -> None:
    """Refuse an order that cannot be carried out, or that HTTP may not give.

    Text of a request never names a file of this machine, and no key is ever kept.
    """
    wrong: list[Fix] = []
    numbers: Mapping[str, tuple[float, float]] = {
        "every_hours": (order.every_hours, 1 / 60),
        "budget": (order.budget, 1),
        "draws": (order.draws, 1),
        "cap_run": (order.cap_run, 0.0),
        "cap_month": (order.cap_month, 0.0),
        "concurrency": (order.concurrency, 1),
        "attempts": (order.attempts, 1),
    }
    for name, (value, least) in numbers.items():
        if not value >= least:
            wrong.append(Fix(column=name, value=str(value), way_out=f"at least {least:g}"))
    if not 1 <= len(order.items) <= MOST_ITEMS:
        wrong.append(Fix(column="items", way_out=f"between 1 and {MOST_ITEMS:,} items"))
    ids = [one.get(order.item) for one in order.items]
    if any(one is None for one in ids) or len(set(map(str, ids))) < len(ids):
        way = f"every item needs its own {order.item!r}"
        wrong.append(Fix(column="item", value=order.item, way_out=way))
    for name in ("prompt", "system_prompt"):
        text = getattr(order, name) or ""
        # On the command line a single word, or @NAME, may be a file: a request reads none.
        may_be_file = text.startswith("@") or not any(sign in text for sign in " {}\n")
        if text and may_be_file and not by_operator:
            way = "give the text itself, as a sentence; files are not read"
            wrong.append(Fix(column=name, value=text[:100], way_out=way))
    if wrong:
        raise HttpProblem(422, "this watch cannot be kept", wrong)
    try:
        _check_api(order, allow=allow, by_operator=by_operator)
    except InputError as error:
        raise HttpProblem(422, str(error), [Fix(column="api", way_out=str(error))]) from error


def _check_api(order: WatchOrder, *, allow: Sequence[str], by_operator: bool) -> None:
    # Loaded here: clients bring numerical libraries, and a service without a watch starts at once.
    from tallystick.clients.journal import refuse_key, refuse_keys_in_url
    from tallystick.clients.local import kind_of

    kind, target = kind_of(order.api)
    if by_operator:
        return
    if {"python:", "command:", "replay:"} & set(kind.prefixes):
        raise InputError(
            f"{order.api.partition(':')[0]}: runs code or reads columns of this machine: only the"
            " operator's file (watches.json in the folder of the service) may name it"
        )
    refuse_keys_in_url(target)
    for name, value in order.header.items():
        refuse_key("header", name, value)
    url = target.rpartition("@")[2]
    if url.startswith(("http://", "https://")):
        target_of(url, allow=allow)


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    """Measure an API for the first time, or against its baseline.

    Parameters
    ----------
    order
        ``kind`` (baseline or check), ``table``, ``roles``, ``options`` for `shift`, ``draws``,
        ``budget``, ``alpha``: what the page shows, and ``alarm_alpha``: what an alarm needs.

    Examples
    --------
    >>> table = {"id": ["1", "2"], "gold": ["a", "b"], "said": ["a", "b"]}
    >>> order = {"kind": "baseline", "table": table, "draws": 1, "labels": ["a", "b"]}
    >>> order |= {"roles": {"item": "id", "truth": "gold"}, "options": {"api": "replay:said"}}
    >>> carry_out(order)["answers"]
    {'1': ['a'], '2': ['b']}
    """
    from tallystick.verbs import shift

    table, roles, options = order["table"], order["roles"], order["options"]
    given: dict[str, Any] = {**roles, **options, "labels": tuple(order["labels"]), "yes": True}
    if order["kind"] == "baseline":
        first = shift.baseline(table, repeats=order["draws"], **given)
        columns = [first.table[name] for name in first.columns]
        names = [str(one) for one in table[roles["item"]]]
        answers = {
            name: list(row) for name, row in zip(names, zip(*columns, strict=True), strict=True)
        }
        return {"result": _json(first), "answers": answers, "cost": first.cost, "changed": False}

    # The same answers twice: as the page shows them, and as strictly as an alarm needs it. The
    # second reading costs nothing, because the journal has every answer.
    given |= {"budget": order["budget"], "old": "old", "old_draws": tuple(order["old_draws"])}
    shown = shift.evaluate(table, alpha=order["alpha"], **given)
    strict = shift.evaluate(table, alpha=order["alarm_alpha"], **given)
    found = _json(strict)
    return {
        "result": _json(shown),
        "cost": shown.cost,
        "changed": _changed(found),
        "unread": _unread(order, found),
    }


def _changed(found: dict[str, Any]) -> bool:
    """Whether accuracy changed, or more answers than chance can explain."""
    accuracy = (found.get("accuracy_change") or {}).get("interval")
    beyond = ((found.get("noise") or {}).get("beyond") or {}).get("interval")
    moved = accuracy is not None and (accuracy[0] > 0 or accuracy[1] < 0)
    return bool(moved or (beyond is not None and beyond[0] > 0))


def _unread(order: dict[str, Any], found: dict[str, Any]) -> str:
    """Say that more answers than at the baseline cannot be read; '' where chance explains it.

    An answer in another form breaks whoever parses it, whatever it means. Accuracy cannot tell:
    unread answers may be right. The test is Fisher's, one-sided.
    """
    from tallystick.clients import UNREAD
    from tallystick.results import count

    columns = ["old", *(name for name in order["table"] if name.startswith("old."))]
    before = [one for name in columns for one in order["table"][name] if one is not None]
    unread_before = before.count(UNREAD)
    requests = found.get("requests") or {}
    now, unread_now = requests.get("answered", 0), requests.get("unread", 0)
    if chance_of_more(unread_now, now, unread_before, len(before)) > order["alarm_alpha"]:
        return ""
    return (
        f"{count(unread_now)} of {count(now)} answers cannot be read as one of the labels. At the"
        f" baseline it was {count(unread_before)} of {count(len(before))}."
    )


def chance_of_more(k: int, n: int, other_k: int, other_n: int) -> float:
    """Return the chance of *k* or more of *n*, if they were as likely as *other_k* of *other_n*.

    The hypergeometric tail: Fisher's exact test, one-sided.

    >>> chance_of_more(3, 3, 0, 3), chance_of_more(0, 5, 0, 5)
    (0.05, 1.0)
    """
    from math import comb

    total = k + other_k
    ways = sum(comb(n, x) * comb(other_n, total - x) for x in range(k, min(n, total) + 1))
    return ways / comb(n + other_n, total)


def _json(result: Any) -> dict[str, Any]:
    from tallystick.results import to_json

    found: dict[str, Any] = json.loads(to_json(result.to_dict()))
    return found


def main() -> None:
    """Carry out the order on standard input."""
    from tallystick.clients.journal import journal_spent
    from tallystick.errors import TallystickError
    from tallystick.serve.alerts import guard_names

    outward = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not speak into the answer
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_service, daemon=True).start()
    if order["guard"]:
        guard_names(order["allow"])
    try:
        answer = carry_out(order)
    except TallystickError as error:
        options = order["options"]
        spent = journal_spent(Path(options["journal"]), price=options.get("price", 0.0))
        answer = {"error": str(error), "cost": spent}
    outward.write(json.dumps(answer) + "\n")
    outward.flush()
    os._exit(0)  # the thread that waits for the service must not keep the process


def _end_with_the_service() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        continue
    os._exit(75)


if __name__ == "__main__":
    main()
