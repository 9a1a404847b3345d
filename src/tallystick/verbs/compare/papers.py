"""What reproduces the source of ``compare`` ([DD]_): its pictures, its rule and its bound."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.results import Figure
from tallystick.stats.concentration import Hoeffding, binomial_total_variation
from tallystick.stats.exact_tails import (
    binomial_up_to,
    binomial_window,
    closed_unit,
    open_unit,
    positive,
    whole,
)
from tallystick.stats.power import leaderboard_items, union_items

__all__: list[str] = []

# The chapter's rule for two models, "pick the one with the lower empirical risk": how often it
# errs, exactly and by its bound.


def wrong_pick(n: int, difference: float, disagreement: float) -> float:
    r"""Return the exact probability that the canonical rule does not pick the better of two models.

    "If :math:`R_S(f) < R_S(g)` pick f, else g" ([DD]_, section 3.1), where f is better by
    *difference* and the two disagree on a share *disagreement* of the items: :math:`P(b \le c)`
    with :math:`b + c \sim \mathrm{Bin}(n, d)` and :math:`b \sim \mathrm{Bin}(b + c, (1 + ε/d)/2)`.
    A tie goes to g, as the rule says.

    >>> round(wrong_pick(1000, 0.02, 0.1), 4), round(wrong_pick_bound(1000, 0.02), 4)
    (0.0249, 1.0)
    """
    whole(1, n=n)
    positive(difference=difference)
    closed_unit(disagreement=disagreement)
    lean = (1 + difference / disagreement) / 2
    closed_unit(**{"difference / disagreement": difference / disagreement})
    m, weight = binomial_window(n, disagreement)
    return float(np.sum(weight * binomial_up_to(np.floor(m / 2), m, lean)))


def wrong_pick_bound(n: int, difference: float) -> float:
    r"""Bound the same probability as the chapter does: both risks within :math:`ε/2`, so :math:`2
    e^{-nε^2/2}`.

    Sections 3.1 and 3.3 of [DD]_: each of the two one-sided deviations has probability at most
    :math:`e^{-2n(ε/2)^2}`. It needs nothing but independent items in [0, 1].

    >>> round(wrong_pick_bound(20_000, 0.02), 4)
    0.0366
    """
    return min(1.0, 2 * float(Hoeffding(sides=1).tail(difference / 2, n)))


# The chapter's pictures as data: two coins that look alike, and how items, difference and models
# trade.


def coin_figure(n: int, p: float = 0.5, q: float = 0.51) -> Figure:
    """Draw the number of heads in *n* tosses of two coins: Figure 3.1 of [DD]_, with how far apart
    they are.

    >>> coin_figure(1000).title, coin_figure(10_000).title
    ('1,000 tosses of coins 0.5 and 0.51: TV = 0.25', '10,000 tosses of coins 0.5 and 0.51: TV = 0.68')
    """
    whole(1, n=n)
    closed_unit(p=p, q=q)
    heads: list[float] = []
    mass: list[float] = []
    coin: list[str] = []
    for rate in (p, q):
        count, probability = binomial_window(n, rate)
        seen = probability > 0.02 * probability.max()
        heads += count[seen].tolist()
        mass += probability[seen].tolist()
        coin += [f"coin {rate:g}"] * int(seen.sum())
    apart = float(binomial_total_variation(n, p, q))
    return Figure(
        kind="curve",
        title=f"{n:,} tosses of coins {p:g} and {q:g}: TV = {apart:.2f}",
        columns={"heads": heads, "probability": mass, "coin": coin},
        roles={"x": "heads", "y": "probability", "group": "coin"},
    )


def trade_off_figure(
    *,
    models: Sequence[int] = (2, 10, 100, 1000),
    disagreement: float = 0.1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> Figure:
    r"""Draw items against the difference they show, for several numbers of models: [DD]_, section
    3.5.

    Quadratic in :math:`1/ε`, logarithmic in k, by Hoeffding and the union bound and by paired tests
    of all pairs.

    >>> figure = trade_off_figure(models=(2, 100))
    >>> len(figure.columns["items"]), sorted(set(figure.columns["method"]))[0]
    (32, '100 models, Hoeffding and the union bound')
    """
    gaps = np.geomspace(0.005, min(0.1, 0.99 * disagreement), 8)
    rows = [
        (float(gap), items, f"{k} models, {name}")
        for k in models
        for gap in gaps
        for name, items in (
            ("Hoeffding and the union bound", union_items(float(gap), k, alpha=alpha)),
            (
                "all pairs, paired",
                leaderboard_items(float(gap), k, disagreement, alpha=alpha, power=power),
            ),
        )
    ]
    gap_column, items_column, method = (list(column) for column in zip(*rows, strict=True))
    return Figure(
        kind="curve",
        title=f"Items needed by difference (paired: models that disagree on {disagreement:g})",
        columns={"difference": gap_column, "items": items_column, "method": method},
        roles={"x": "difference", "y": "items", "group": "method"},
    )


# A leaderboard that may be asked again and again: the Ladder, and the attack that tells its two
# rules apart.
#
# Whoever submits, looks at the score and submits again fits the test set. The Ladder of Blum and
# Hardt releases a new best score only when it is better than the last by more than noise. With
# losses
# :math:`\ell` in [0, 1] on n items, R the best released risk, r the new one and s the standard
# deviation of the differences of losses to the best submission:
#
# * *free* of parameters: release if :math:`r < R - s/\sqrt n`;
# * *z*: release if :math:`r < R - (s/\sqrt n) \sqrt{2 \ln(K/α)}`, for K planned submissions.
#
# The free rule gives way to hill climbing by two flips: two changed answers that are both better
# lower the risk by :math:`2/n` while :math:`s/\sqrt n \approx \sqrt2/n`, so every lucky pair is
# released and kept. The z rule refuses both. The z rule is a one-sided test at level α/K of each
# submission against the best one.


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
