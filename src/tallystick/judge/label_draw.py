"""Were the labelled items drawn at random? Their votes can say no."""

from __future__ import annotations

from tallystick.judge.ballots import Ballots
from tallystick.judge.parts import Alarm
from tallystick.judge.verdict_warnings import draw_alarm
from tallystick.sampling.random_draw import odd_draw

__all__ = ["label_draw"]


def label_draw(ballots: Ballots) -> Alarm | None:
    """Return an alarm if the labelled items do not look like a random draw from all items.

    See :func:`tallystick.sampling.random_draw.odd_draw`.

    >>> from tallystick.tally import Tally
    >>> votes = {"x": [0] * 50 + [1] * 50, "y": [0, 1] * 50, "gold": [0] * 30 + [None] * 70}
    >>> label_draw(Ballots.of(Tally.of(votes), truth="gold")).name
    'labels were not drawn at random'
    >>> votes["gold"] = [0, None, None, None, None] * 20
    >>> label_draw(Ballots.of(Tally.of(votes), truth="gold")) is None
    True
    """
    found = odd_draw(
        ballots.codes,
        ballots.counts,
        ballots.truth >= 0,
        columns=ballots.names,
        labels=[str(label) for label in (*ballots.classes, *ballots.extras)],
    )
    return None if found is None else draw_alarm(found)
