"""What is said of a watch: whom to ask about what, how often, and for how much money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tallystick.errors import InputError
from tallystick.serve.outgoing import target_of
from tallystick.serve.problem import Fix, HttpProblem

__all__ = ["WatchOrder", "check_order", "client_options", "table_of"]

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
    from tallystick.clients.kinds import kind_of
    from tallystick.clients.secrets import refuse_key, refuse_keys_in_url

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
