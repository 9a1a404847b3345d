"""What a labelling session has answered so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tallystick.label.standing import MeasureStanding
from tallystick.results import Figure, Interval, Result, Unit, Unknown

__all__ = ["LabelResult", "Readers"]


@dataclass(frozen=True, kw_only=True)
class Readers:
    """What double reading says of the readers.

    Parameters
    ----------
    twice, disagreed
        How many asks two readers have read, and on how many they differ.
    unresolved
        Disagreements that no third reader has settled; they count as the average reader.
    error, error_interval
        How often one reader errs, if both err independently and equally often.
    """

    twice: int
    disagreed: int
    unresolved: int
    error: float | Unknown
    error_interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class LabelResult(Result):
    """Where a labelling session stands.

    Parameters
    ----------
    session, question
        The file, and what is asked.
    asked, answered, skipped, pending
        Cells that were drawn; answered; skipped; neither.
    read
        Draws that the numbers rest on: all before the first that is pending.
    of
        Whose number *estimate* and the intervals are: the widest, where there are several.
    estimate, interval
        Approximate, for a stop at a planned precision.
    anytime_interval
        Holds whenever you stop, whatever you saw. Verdicts rest on it.
    measures
        The same for every number.
    winner
        Who is better or best, where that is asked and settled.
    forecast
        At most about how many more labels; null where nothing can be forecast.
    stop
        precision, verdict, certain, budget, not-worth-it, or null to go on.
    result
        The capability's own result, with this session as its truth.
    batch
        The asks that were handed out by this call.
    readers, labels_apart, seconds_per_label
        Double reading; labels of unknown origin that are counted apart; the median time of a label.
    """

    verb: ClassVar[str] = "label"

    session: str
    question: str
    asked: int
    answered: int
    skipped: int
    pending: int
    read: int
    of: str | None
    estimate: float | Unknown
    interval: Interval | Unknown
    anytime_interval: Interval | Unknown
    measures: tuple[MeasureStanding, ...]
    winner: str | None
    forecast: int | Unknown
    stop: str | None
    result: Result | Unknown
    batch: tuple[Mapping[str, Any], ...] = ()
    readers: Readers | None = None
    labels_apart: int = 0
    seconds_per_label: float | Unknown = Unknown("no label was timed")

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per number."""
        if not self.measures:
            return super().rows()
        return [
            {
                "name": one.name,
                "estimate": one.estimate,
                "interval": one.interval,
                "anytime": one.anytime_interval,
            }
            for one in self.measures
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return how the numbers are written: shares, or points for a difference."""
        unit: Unit = "points" if any(" - " in one.name for one in self.measures) else "share"
        return {"estimate": unit, "interval": unit, "anytime": unit}

    def figures(self) -> tuple[Figure, ...]:
        """Return the planned intervals as a forest."""
        known = [one for one in self.measures if isinstance(one.interval, Interval)]
        if not known:
            return ()
        return (
            Figure(
                "forest",
                "At a planned stop (95 %, approximate)",
                {
                    "name": [one.name for one in known],
                    "estimate": [one.estimate for one in known],
                    "low": [
                        one.interval.low for one in known if isinstance(one.interval, Interval)
                    ],
                    "high": [
                        one.interval.high for one in known if isinstance(one.interval, Interval)
                    ],
                },
                {"name": "name", "x": "estimate", "low": "low", "high": "high"},
            ),
        )
