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
from pathlib import Path
from typing import Any

__all__ = ["carry_out", "chance_of_more", "main"]


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
    from tallystick import shift

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
    from tallystick.serve.outgoing import guard_names

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
