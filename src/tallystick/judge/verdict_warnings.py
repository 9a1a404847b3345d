"""The alarms and warnings of `judge`: what was seen, and what a reader should do about it."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.judge.parts import Alarm
from tallystick.results import count, percent
from tallystick.sampling.random_draw import OddDraw

__all__ = [
    "always_votes",
    "draw_alarm",
    "draw_warning",
    "fitted_to_part",
    "misfit_alarm",
    "missing_votes",
    "no_label_yet",
    "nobody_right",
    "proved",
    "stray_labels",
]


def draw_alarm(found: OddDraw) -> Alarm:
    """Return the alarm that labelled items were not drawn at random."""
    return Alarm(
        name="labels were not drawn at random",
        proves=f"{found}; intervals from these labels cannot be relied on",
        does_not_prove="that labels without this alarm were drawn at random",
    )


def draw_warning(alarm: Alarm) -> str:
    """Return what a reader should do about labels that were not drawn at random."""
    return f"{alarm.proves}. Draw them at random"


def nobody_right(labels: Sequence[str]) -> str:
    """Warn that no true label is one that any judge gives."""
    return (
        f"no judge ever says {', '.join(labels[:4])}, the only true label so far: are truth and"
        " votes written alike?"
    )


def misfit_alarm(ratio: float, pair: Sequence[str]) -> Alarm:
    """Return the alarm that judges err together."""
    return Alarm(
        name="misfit",
        proves=(
            "pairs of judges agree in a way that independent errors do not explain"
            f" ({ratio:.1f} times what they would show), {pair[0]} and {pair[1]} more than any"
            " others"
        ),
        does_not_prove="which judges are at fault, nor how good any of them is",
    )


def proved(alarm: Alarm) -> str:
    """Return an alarm as a warning."""
    return f"{alarm.proves}. That does not prove {alarm.does_not_prove}"


def no_label_yet(truth: str) -> str:
    """Warn of a column of truth without a single label."""
    return f"{truth} holds no label yet: everything here is from votes alone"


def always_votes(judge: str, label: str) -> str:
    """Warn of a judge that always gives one label."""
    return f"{judge} always votes {label}: its accuracy says how common that is, nothing else"


def stray_labels(judge: str, labels: Sequence[str], others: Sequence[str]) -> str:
    """Warn of labels that only one judge ever gives: refusals and errors in free words."""
    shown = ", ".join(repr(label) for label in labels[:3]) + (" and others" * (len(labels) > 3))
    return (
        f"only {judge} ever says {shown}, taken here for a possible truth. If that is no label,"
        f" name the labels: --labels {','.join(others)}"
    )


def missing_votes(judge: str, share: float) -> str:
    """Warn of a judge with many missing votes."""
    return (
        f"{percent(share)} of {judge}'s votes are missing. Its figures describe the items it voted"
        " on"
    )


def fitted_to_part(part: int, whole: int) -> str:
    """Say that a model saw a random part of the items."""
    return (
        f"label-free models were fitted to {count(part)} of {count(whole)} items, drawn at random:"
        " there are too many different vote patterns for all. Votes, labels and agreement are"
        " counted on all items"
    )
