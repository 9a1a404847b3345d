"""What an API said of itself over a run: tokens, latency, and which model answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from tallystick.clients.journal import Journal
from tallystick.results import count

__all__ = ["Usage", "usage_of", "usage_warnings"]


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
    cut
        Replies that were cut off because no more tokens were allowed; they count as unread.
    failures
        How many questions failed for each reason, the commonest first.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | None = None
    slowest: float | None = None
    models: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)


def usage_of(journal: Journal) -> Usage:
    """Add up what a journal says about its answers."""
    entries = journal.answers.values()
    facts = [one.facts for one in entries if one.code is not None]
    reasons = Counter(one.text for one in entries if one.code is None)

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
        cut=sum(one.cut for one in entries),
        failures=dict(reasons.most_common(3)),
    )


def usage_warnings(usage: Usage) -> tuple[str, ...]:
    """Say if the API named more than one model, cut replies off, or failed, and why.

    >>> usage_warnings(Usage(models={"m-05": 40, "m-08": 2}, cut=3, failures={"HTTP 400": 7}))
    ('the API changed its model during the run: it named m-05 (40 answers), m-08 (2 answers)', \
'3 replies were cut off at the token limit and count as unread: allow longer ones (--max-tokens), \
in a new journal', 'the commonest reason why calls failed (7 times): HTTP 400')
    """
    found = []
    if len(usage.models) > 1:
        named = ", ".join(f"{name} ({count(n)} answers)" for name, n in usage.models.items())
        found.append(f"the API changed its model during the run: it named {named}")
    if usage.cut:
        found.append(
            f"{count(usage.cut)} replies were cut off at the token limit and count as unread: allow"
            " longer ones (--max-tokens), in a new journal"
        )
    for reason, times in list(usage.failures.items())[:1]:
        often = "once" if times == 1 else f"{count(times)} times"
        found.append(f"the commonest reason why calls failed ({often}): {reason}")
    return tuple(found)
