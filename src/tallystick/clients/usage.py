"""What an API said of itself over a run: tokens, latency, and which model answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from tallystick.clients.journal import Journal
from tallystick.results import count

__all__ = ["Usage", "model_warnings", "usage_of"]


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens, time and names, over all resumes of a journal.

    Parameters
    ----------
    input_tokens, output_tokens
        In all, as the API counts them; None if it does not.
    latency, slowest
        The median and the longest time of an answered request, in seconds.
    models, fingerprints
        How many answers came from each, in the order in which they first appeared.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | None = None
    slowest: float | None = None
    models: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Mapping[str, int] = field(default_factory=dict)


def usage_of(journal: Journal) -> Usage:
    """Add up what a journal says about its answers."""
    facts = [one.facts for one in journal.answers.values() if one.code is not None]

    def total(name: str) -> int | None:
        known = [one[name] for one in facts if name in one]
        return sum(known) if known else None

    times = [one["seconds"] for one in facts if "seconds" in one]
    return Usage(
        input_tokens=total("input_tokens"),
        output_tokens=total("output_tokens"),
        latency=round(median(times), 3) if times else None,
        slowest=round(max(times), 3) if times else None,
        models=dict(Counter(one["model"] for one in facts if "model" in one)),
        fingerprints=dict(Counter(one["fingerprint"] for one in facts if "fingerprint" in one)),
    )


def model_warnings(usage: Usage) -> tuple[str, ...]:
    """Say if the API named more than one model.

    >>> model_warnings(Usage(models={"m-05": 40, "m-08": 2}))[0][:48]
    'the API changed its model during the run: it nam'
    """
    if len(usage.models) < 2:
        return ()
    named = ", ".join(f"{name} ({count(n)} answers)" for name, n in usage.models.items())
    return (f"the API changed its model during the run: it named {named}",)
