r"""A leaderboard that may be asked again and again: the Ladder, and the attack that tells its two
rules apart.

Whoever submits, looks at the score and submits again fits the test set. The Ladder of Blum and
Hardt releases a new best score only when it is better than the last by more than noise. With losses
:math:`\ell` in [0, 1] on n items, R the best released risk, r the new one and s the standard
deviation of the differences of losses to the best submission:

* *free* of parameters: release if :math:`r < R - s/\sqrt n`;
* *z*: release if :math:`r < R - (s/\sqrt n) \sqrt{2 \ln(K/α)}`, for K planned submissions.

The free rule gives way to hill climbing by two flips: two changed answers that are both better
lower the risk by :math:`2/n` while :math:`s/\sqrt n \approx \sqrt2/n`, so every lucky pair is
released and kept. The z rule refuses both. The z rule is a one-sided test at level α/K of each
submission against the best one.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.stats.ranges import open_unit, whole

__all__ = ["Ladder", "Rule", "flip_attack"]

Rule = Literal["z", "free"]
Floats = npt.NDArray[np.float64]


class Ladder:
    """Release the best risk so far, and nothing that could be noise.

    Parameters
    ----------
    rule
        ``z`` (safe for as many submissions as planned) or ``free`` (Blum and Hardt's without a
        parameter).
    submissions
        K, planned submissions; for the z rule.
    alpha
        The probability that any release of the z rule is not an improvement.

    Examples
    --------
    >>> ladder = Ladder(submissions=10)
    >>> first = np.tile([1.0, 0.0, 1.0, 0.0], 50)
    >>> ladder.submit(first), ladder.submit(np.r_[0.0, first[1:]]), ladder.submit(first * np.tile([0, 0, 1, 1], 50))
    (0.5, 0.5, 0.25)
    """

    def __init__(self, *, rule: Rule = "z", submissions: int = 1000, alpha: float = 0.05) -> None:
        whole(1, submissions=submissions)
        open_unit(alpha=alpha)
        if rule not in get_args(Rule):
            raise InputError(f"rule must be 'z' or 'free', got {rule!r}")
        self.rule = rule
        self.submissions = submissions
        self.factor = sqrt(2 * log(submissions / alpha)) if rule == "z" else 1.0
        self.released: float | None = None
        self.seen = 0
        self._best: Floats | None = None

    def submit(self, losses: npt.ArrayLike) -> float:
        """Take the losses of a submission, one per item in [0, 1], and return the risk that the
        board shows.
        """
        fresh = np.asarray(losses, dtype=float)
        if fresh.ndim != 1 or fresh.size < 2 or not np.all((fresh >= 0) & (fresh <= 1)):
            raise InputError("losses must be at least two numbers in [0, 1], one per item")
        if self._best is not None and fresh.size != self._best.size:
            raise InputError(
                f"losses must be on the same {self._best.size} items, got {fresh.size}"
            )
        if self.rule == "z" and self.seen >= self.submissions:
            raise InputError(
                f"all {self.submissions} planned submissions are used: collect a fresh test set"
            )
        self.seen += 1
        risk = float(fresh.mean())
        if self.released is None or self._best is None:
            self.released, self._best = risk, fresh
            return risk
        step = self.factor * float((fresh - self._best).std(ddof=1)) / sqrt(fresh.size)
        if risk < self.released - step:
            self.released, self._best = risk, fresh
        return self.released


def flip_attack(ladder: Ladder, truth: npt.ArrayLike, *, rounds: int, rng: Rng) -> Floats:
    """Climb the board by flipping two answers at a time, keeping what is released; return the
    released risks.

    The attacker knows nothing of the items: its true risk stays 1/2, whatever the board shows.

    >>> labels = np.random.default_rng(0).random(400) < 0.5
    >>> free = flip_attack(Ladder(rule="free"), labels, rounds=1000, rng=1)
    >>> safe = flip_attack(Ladder(submissions=1000), labels, rounds=999, rng=1)
    >>> bool(free[-1] < 0.25), bool(abs(safe[-1] - 0.5) < 0.08)
    (True, True)
    """
    whole(1, rounds=rounds)
    labels = np.asarray(truth, dtype=bool)
    draw = as_rng(rng)
    guess = draw.random(labels.size) < 0.5
    shown = ladder.submit((guess != labels).astype(float))
    released = np.empty(rounds)
    for i in range(rounds):
        trial = guess.copy()
        trial[draw.choice(labels.size, 2, replace=False)] ^= True
        risk = ladder.submit((trial != labels).astype(float))
        if risk < shown:
            guess, shown = trial, risk
        released[i] = shown
    return released
