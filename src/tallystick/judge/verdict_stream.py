"""What is said of a stream: alarms with what they prove, notices, and what may have changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from tallystick.judge.parts import Alarm
from tallystick.results import Unknown, count, percent
from tallystick.stats.stream import Explanation, Explanations, Naming, Notice, Series, StreamAlarm

__all__ = ["Naming", "alarm_of", "naming_of", "notice_of"]

_DOES_NOT_PROVE = (
    "who is right: a bias that all judges come to share looks like a change of the items, and only"
    " labels tell them apart"
)


def alarm_of(
    event: StreamAlarm, names: Sequence[str], alpha: float
) -> tuple[Alarm, dict[str, Any]]:
    """Return an alarm of the watch in words, and the same as JSON types.

    *alpha* is the chance of a false alarm per 10,000 items that the watch was set to.
    """
    what = _series(event.series, event.label, names)
    before, after = event.change.before, event.change.after
    where = f"around item {count(event.around)}"
    if event.items is not None:
        where += f" (between {count(event.items[0])} and {count(event.items[1])})"
    cause = _cause(event.explanations, names)
    alarm = Alarm(
        name="change",
        proves=(
            f"{what} went from {percent(before)} to {percent(after)} {where}; at most"
            f" {percent(alpha)} of streams without change raise an alarm in 10,000 items. {cause}"
        ),
        does_not_prove=_DOES_NOT_PROVE,
    )
    detail: dict[str, Any] = {
        "series": event.series.kind,
        "judge": None if event.series.judge is None else names[event.series.judge],
        "label": None if event.label is None else str(event.label),
        "before": before,
        "after": after,
        "item": event.item,
        "around": event.around,
        "range": None if event.items is None else list(event.items),
        "evidence": min(event.evidence, 1e300),
        "likely": _short(event.explanations.likely, names),
        "not_ruled_out": [_short(one, names) for one in event.explanations.kept],
        "cause": cause,
    }
    return alarm, detail


def notice_of(event: Notice, names: Sequence[str], labels: Sequence[Hashable]) -> str:
    """Return a notice in words."""
    name = names[event.judge]
    if event.kind == "silent":
        return (
            f"{name} cast no vote on the last {event.of} items; before, it voted on"
            f" {percent(event.before)}"
        )
    label = "a new label" if event.label is None else repr(str(labels[event.label]))
    return f"{name} began to write {label} ({event.votes} of {event.of} votes)"


def naming_of(event: Naming, names: Sequence[str], block: int) -> tuple[str, dict[str, Any]]:
    """Return the final name of what an earlier alarm was about, in words and as JSON types."""
    item = (event.alarm_block + 1) * block
    cause = _cause(event.explanations, names)
    likely = _short(event.explanations.likely, names)
    told = f"more items have come since the alarm at item {count(item)}. {cause}"
    return told, {"item": item, "cause": cause, "likely": likely}


def _series(series: Series, label: Hashable, names: Sequence[str]) -> str:
    """Name a series of shares."""
    who = "the two judges" if series.judge is None else names[series.judge]
    if series.kind == "agreement":
        if series.judge is None:
            return "how often the two judges agree"
        return f"{who}'s agreement with the majority of the others"
    if series.kind == "missing":
        return f"{who}'s share of missing votes"
    word = "another label" if label is None else str(label)
    if series.kind == "share":
        return f"{who}'s share of {word}"
    return f"how often {who} says {word} against the majority of the others"


def _cause(found: Explanations, names: Sequence[str]) -> str:
    """Say what may have changed."""
    if found.likely is not None:
        told = f"Likely cause: {_short(found.likely, names)}"
        others = [text for one in found.kept[1:] if (text := _short(one, names))]
        return f"{told}. Not ruled out: {', '.join(others)}" if others else told
    if found.several:
        return "More than one thing changed"
    reason = next(
        (one.p_value.reason for one in found.tested if isinstance(one.p_value, Unknown)), ""
    )
    return f"What changed cannot be named ({reason})" if reason else "What changed cannot be named"


def _short(one: Explanation | None, names: Sequence[str]) -> str | None:
    if one is None:
        return None
    if one.kind == "judge" and one.judge is not None:
        return f"{names[one.judge]} alone changed"
    if one.kind == "mix":
        return "the shares of the labels changed"
    easier = bool(one.size) and one.size[0] < 0
    return f"the items got {'easier' if easier else 'harder'}"
