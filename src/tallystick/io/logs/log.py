"""One log: what one run scored on the items of a task, by metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Log", "Loss", "Scores", "number", "without_twins"]

Scores: TypeAlias = dict[str, dict[str, list[float]]]
"""Metric to item to scores: one score per replicate (epoch, trial)."""


class Loss(str):
    """A note on what was lost when a log was read; it belongs to the answer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Log:
    """What one model scored.

    Parameters
    ----------
    model
        Its name.
    task
        What it was tried on; logs of one model on several tasks are put below each other.
    source
        The file, for messages.
    scores
        Metric to item to scores.
    unscored
        Samples that have no score (they failed).
    facts
        What else names the run, such as its prompt or the arguments of its task: two runs of one
        model are told apart by the first fact that differs.
    groups
        Groups of items that the log carries, such as the subject of a question: name of the group
        to item to value. They are offered as clusters.
    reported
        The mean that the tool itself reports, by metric.
    """

    model: str
    task: str
    source: str
    scores: Mapping[str, Mapping[str, list[float]]] = field(repr=False)
    unscored: int = 0
    facts: Mapping[str, str] = field(default_factory=dict, repr=False)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    reported: Mapping[str, float] = field(default_factory=dict, repr=False)


def number(value: object) -> float | None:
    """Return a score as a number; None for anything else, such as text, a list or NaN.

    >>> number(True), number(0.5), number("C"), number(float("nan"))
    (1.0, 0.5, None, None)
    """
    if isinstance(value, bool | int | float) and value == value:
        return float(value)
    return None


def without_twins(scores: Scores, ending: str) -> Scores:
    """Return *scores* without ``METRIC/ending`` where it says the same as ``METRIC``.

    >>> without_twins({"exact": {"q": [1.0]}, "exact/passed": {"q": [1.0]}}, "passed")
    {'exact': {'q': [1.0]}}
    """
    return {
        name: held
        for name, held in scores.items()
        if not (name.endswith(f"/{ending}") and held == scores.get(name[: -len(ending) - 1]))
    }
