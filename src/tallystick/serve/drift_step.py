"""One window of the drift test, as a function of JSON types: any process may compute it.

It is the stream of `judge` itself (`tallystick judge --window`), so the alarms are those of the
command line on the same rows in the same order.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["drift_step", "worked"]


def worked(store: Any, given: dict[str, Any]) -> bytes:
    """Do `drift_step` for the worker, which speaks bytes; the store is not needed."""
    return json.dumps(drift_step(given)).encode()


def drift_step(given: dict[str, Any]) -> dict[str, Any]:
    """Close one window.

    Parameters
    ----------
    given
        ``state`` (what this function returned before, or None), ``columns`` (judge to votes, None
        for no vote, all as long as the window), ``alpha`` and ``key``.

    Returns
    -------
    dict
        ``state``, ``result`` (what `judge` says of the window, or None), ``reason``, ``alarms``,
        ``notices`` (kind and words), ``namings`` (item of an earlier alarm, and its cause as more
        items show it), ``started`` (whether the test began anew, because there are
        new judges or windows of another size).

    Examples
    --------
    >>> votes = {"ann": ["a", "b", None], "bob": ["a", "b", "b"], "eve": ["a", "a", "b"]}
    >>> step = drift_step({"state": None, "columns": votes, "alpha": 0.05, "key": "s"})
    >>> step["alarms"], step["notices"], step["started"]
    ([], [], True)
    """
    from tallystick.judge.windows import Windows
    from tallystick.results import to_json

    columns: dict[str, list[Any]] = given["columns"]
    size = len(next(iter(columns.values())))
    saved = given["state"]
    panel = set() if saved is None else set(saved["rows"])
    started = saved is None or saved["size"] != size or not set(columns) <= panel
    stream = Windows(size=size, alpha=given["alpha"], key=given["key"])
    if not started:
        stream.restore(saved)
        # A judge of the panel that has no vote in this window is silent, not gone.
        columns = {name: columns.get(name, [None] * size) for name in saved["rows"]}
    window = stream.push(columns)[0]
    alarms = [
        {"name": one.name, "proves": one.proves, "does_not_prove": one.does_not_prove, **more}
        for one, more in zip(window.alarms, window.details, strict=True)
    ]
    return {
        "state": stream.to_dict(),
        "result": None if window.result is None else json.loads(to_json(window.result.to_dict())),
        "reason": window.reason,
        "alarms": alarms,
        "notices": [list(one) for one in zip(window.notice_kinds, window.notices, strict=True)],
        "namings": [dict(one) for one in window.namings],
        "started": started,
    }
