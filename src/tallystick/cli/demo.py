"""``tallystick demo``: see it work on a generated table."""

from __future__ import annotations

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.options import AsJson, Html, Seed

__all__ = ["demo", "generated_votes"]


def generated_votes(n: int, *, rng: int) -> dict[str, object]:
    """Return the votes of three simulated judges on *n* items, one of whom often abstains.

    >>> sorted(generated_votes(4, rng=0))
    ['ann', 'bob', 'eve']
    """
    import numpy as np

    from tallystick._rng import as_rng

    draw = as_rng(rng)
    truth = draw.random(n) < 0.3
    votes: dict[str, object] = {}
    for name, accuracy, silence in (("ann", 0.9, 0.0), ("bob", 0.8, 0.0), ("eve", 0.7, 0.2)):
        says_spam = np.where(draw.random(n) < accuracy, truth, ~truth)
        votes[name] = np.where(draw.random(n) < silence, "", np.where(says_spam, "spam", "ham"))
    return votes


def demo(seed: Seed = 0, html: Html = None, as_json: AsJson = False) -> None:
    """Count a generated table of votes and show it."""
    from tallystick.tally import Tally, describe

    tell(["Three simulated judges vote on 100,000 items; counting their votes:"])
    deliver(describe(Tally.of(generated_votes(100_000, rng=seed))), as_json=as_json, html=html)
