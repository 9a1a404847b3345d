"""Were the labelled items drawn at random? Their votes can say no."""

from __future__ import annotations

import numpy as np

from tallystick.judge.ballots import Ballots
from tallystick.judge.parts import Alarm
from tallystick.judge.verdict_warnings import draw_alarm
from tallystick.stats.urn_tails import smaller_tail

__all__ = ["label_draw"]

_LEVEL = 0.01


def label_draw(ballots: Ballots) -> Alarm | None:
    r"""Return an alarm if the labelled items do not look like a random draw from all items.

    Every interval from labels rests on that draw. If judge j gives label c to :math:`n_c` of the N
    items on which it votes, then among k of these drawn at random the number of such votes is
    hypergeometric, whatever the truth. The smallest two-sided p-value over judges and labels, times
    their number, is held to .01: the chance of a false alarm is at most that. No alarm proves
    nothing: what the votes do not show may still differ.

    >>> from tallystick.tally import Tally
    >>> votes = {"x": [0] * 50 + [1] * 50, "y": [0, 1] * 50, "gold": [0] * 30 + [None] * 70}
    >>> label_draw(Ballots.of(Tally.of(votes), truth="gold")).name
    'labels were not drawn at random'
    >>> votes["gold"] = [0, None, None, None, None] * 20
    >>> label_draw(Ballots.of(Tally.of(votes), truth="gold")) is None
    True
    """
    known = ballots.truth >= 0
    if known.all() or not known.any():
        return None
    drawn = ballots.counts @ ((ballots.codes >= 0) & known[:, None])
    held = ballots.vote_counts
    seen = np.stack(
        [
            ballots.counts @ ((ballots.codes == c) & known[:, None])
            for c in range(len(ballots.classes))
        ],
        axis=1,
    )
    whole, k = ballots.voted[:, None], drawn[:, None]
    tails = np.vectorize(smaller_tail, otypes=[float])(
        *(np.rint(part).astype(np.int64) for part in (seen, whole, held, k))
    )
    p = np.minimum(1.0, 2 * tails * tails.size)
    j, c = np.unravel_index(int(p.argmin()), p.shape)
    if p[j, c] > _LEVEL:
        return None
    return draw_alarm(
        float(p[j, c]),
        ballots.names[j],
        ballots.keys[c],
        float(seen[j, c] / drawn[j]),
        float(held[j, c] / ballots.voted[j]),
    )
