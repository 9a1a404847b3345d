"""The sentences of ``score`` about a labelling session that asked who is better.

The session has told its user who is better, or that this is open. ``score`` says the same, with its
own numbers, and gives the session as the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tallystick.results import Interval, Needed, Sentences, Unknown, about, count
from tallystick.sampling.labels.session_order import NEITHER, SessionOrder
from tallystick.score.result import SystemPairRow, SystemRow
from tallystick.score.units import Units
from tallystick.score.verdict_words import number_word

__all__ = ["needed_draws", "with_session"]


def with_session(
    said: Sentences,
    order: SessionOrder,
    rows: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    units: Units,
    alpha: float,
) -> Sentences:
    """Return the sentences with what the session has settled, or with what it still needs."""
    if order.winner is None:
        return replace(said, next=_go_on(order))
    reason = _reason(order, alpha)
    if order.winner == NEITHER:
        answer = f"Neither {' nor '.join(order.names)} is better on these items."
        return replace(said, answer=f"{answer} {reason}", open="", next="")
    rest = {name for name in order.names if name != order.winner}
    beaten = {row.b for row in pairs if row.settled and row.a == order.winner}
    answer = said.answer if rest <= beaten else _nearly(order, rows, units)
    return replace(said, answer=f"{answer} {reason}", open="", next="")


def _nearly(order: SessionOrder, rows: Sequence[SystemRow], units: Units) -> str:
    """Say that the winner is the best, or so close to it that the difference does not matter."""
    row = next(row for row in rows if row.name == order.winner)
    text = "unknown"
    if not isinstance(row.score, Unknown):
        text = units.score(row.score, row.interval if isinstance(row.interval, Interval) else None)
    return (
        f"{order.winner} is the best of {number_word(len(order.names))} systems, or within"
        f" {100 * order.epsilon:g} points of the best: {text}."
    )


def _reason(order: SessionOrder, alpha: float) -> str:
    """Say that the session settled it, after how many items, and how sure that is."""
    sure = (
        "certain, on these items"
        if order.certain
        else f"{100 * (1 - alpha):g} %, whenever you stop"
    )
    items = "item" if order.labelled == 1 else "items"
    return f"The labelling session settled it after {count(order.labelled)} {items} ({sure})."


def _go_on(order: SessionOrder) -> str:
    if not order.left:
        return ""
    more = f": at most {about(order.missing)} more items" if order.missing else ""
    return f"Next: go on with the labelling session{more}."


def needed_draws(order: SessionOrder) -> Needed | None:
    """Return how many more draws of the session would settle it."""
    if order.missing is not None and order.missing > order.left:
        return Needed(None, f"items: only {count(order.left)} of these are left to label")
    return Needed(order.missing, "items that label draws, with the outputs of every system")
