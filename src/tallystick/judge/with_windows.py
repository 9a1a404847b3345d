"""A result over all rows, told what its windows saw: a change is part of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick.judge.parts import Alarm
from tallystick.judge.result import JudgeResult
from tallystick.results import Sentences, count

__all__ = ["with_windows"]

_MOST = 3
"""Changes and notices that are shown; the windows of the JSON hold all."""


def with_windows(result: JudgeResult, windows: Sequence[Mapping[str, Any]]) -> JudgeResult:
    """Return the result with its windows; alarms and notices of any window are those of the whole.

    Figures over all rows mix what was before a change with what came after it, so the verdict says
    where it was.
    """
    alarms = [Alarm(**alarm) for window in windows for alarm in window["alarms"]]
    # The later name of an alarm is beside that alarm in its window.
    notices = [
        text
        for window in windows
        for text in window["notices"]
        if not text.startswith("the alarm at item")
    ]
    result = replace(result, windows=tuple(windows))
    if not alarms and not notices:
        return result
    told = [one.proves for one in alarms] + notices
    more = len(told) - _MOST
    rest = (f"{count(more)} more changes are in the windows of --json",) if more > 0 else ()
    said = _sentences(result, windows)
    return replace(
        result,
        alarms=(*result.alarms, *alarms),
        warnings=(*result.warnings, *told[:_MOST], *rest),
        sentences=said,
        verdict=said.verdict,
    )


def _sentences(result: JudgeResult, windows: Sequence[Mapping[str, Any]]) -> Sentences:
    """Say in the opening that something changed, and where."""
    said = result.sentences or Sentences(answer=result.verdict)
    changes = [change for window in windows for change in window["changes"]]
    if changes:
        first = changes[0]
        what = first["likely"] or "the votes changed"
        text = (
            f"But {what} around item {count(first['around'])}: figures over all items mix before"
            " and after."
        )
    else:
        text = "But a judge fell silent or began to write a new label: see the warnings."
    return replace(said, contrast=f"{text} {said.contrast}".strip())
