"""The next step as a command: ``tallystick label`` with the columns that were just named."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.results import Result

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["with_label_command"]

_UNUSED = ("by", "covariate", "weight", "probability", "criterion", "metric")
"""Options that a session does not read, or has no use for where it draws items of its own."""


def with_label_command(result: Result, call: Call) -> Result:
    """Return the result with the command that begins a labelling session for what is open.

    Results that have a *label_goal* get one; the files and columns are those of this call, so the
    command runs as it stands.
    """
    from tallystick.data.session_file import is_session

    session = call.reading.get("truth_file")
    if session is not None and is_session(session) and hasattr(result, "label_command"):
        if result.decision == "decided":
            return result
        more = ["tallystick", "label", "--session", str(session), "--next", "20"]
        return _telling(result, [*more, "--out", "batch.csv"])
    goal = getattr(result, "label_goal", None)
    if goal is None or not call.source or "-" in call.source or call.reading.get("criterion"):
        return result
    words = ["tallystick", "label", *call.source, "--question", call.capability.verb]
    if goal != "mean":
        words += ["--goal", goal]
    for name, value in call.reading.items():
        if name in _UNUSED:
            continue
        flag = f"--{name.replace('_', '-')}"
        held = ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        words += [flag] if value is True else [flag, held]
    metric = call.reading.get("metric")
    if metric is not None and not call.reading.get("judges"):
        words += ["--judges", str(metric)]
    scale = getattr(call.question, "scale", None)
    if scale is not None and goal == "mean":
        words += ["--scale", ",".join(f"{end:g}" for end in scale)]
    # Human grades that are there were taken as a random draw just now: they count from the start.
    if getattr(call.question, "label_draw", None) == "random" and getattr(result, "n_labels", 0):
        words += ["--label-draw", "random"]
    words += ["--session", f"{Path(call.source[0]).name.partition('.')[0]}.label"]
    return _telling(result, words)


def _telling(result: Result, words: Sequence[str]) -> Result:
    """Return a result that has a *label_command*, with this one."""
    command: dict[str, Any] = {"label_command": shlex.join(words)}
    return replace(result, **command)
