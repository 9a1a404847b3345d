"""Many trios, one answer: medians over the sensible ones, with intervals by influence functions."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tallystick.judge.ballots import Ballots, Floats, Ints
from tallystick.judge.branch import Branch, turn
from tallystick.stats.latent import Trios, trio_point

__all__ = ["Ends", "Medians", "logit_ends", "medians"]

_STEP = 1e-30


@dataclass(frozen=True, eq=False)
class Ends:
    """Interval ends (…, 2), NaN where there are none."""

    balance: Floats
    accuracy: Floats
    overall: Floats


@dataclass(frozen=True, eq=False)
class Medians:
    """Medians over sensible trios, and the trios that attain each.

    Parameters
    ----------
    balance, accuracy, overall
        Prevalence of the first label; judges x 2; judges, from both. NaN for a judge in no sensible
        trio.
    trios, sign
        All trios, and the branch of each as the sign s of (J1).
    at_balance, at_accuracy
        The two middle trios of each median, the same twice for an odd number; -1 for none.
    """

    balance: float
    accuracy: Floats
    overall: Floats
    trios: Trios
    sign: Floats
    at_balance: Ints
    at_accuracy: Ints

    def intervals(self, ballots: Ballots, alpha: float) -> Ends:
        """Return delta-method ends on the logit scale; locally a median *is* what its middle trios
        say.
        """
        z = NormalDist().inv_cdf(1 - alpha / 2)
        n = len(ballots.names)
        wanted = np.unique([*self.at_balance, *self.at_accuracy.ravel()])
        moves = {
            t: _influence(self.trios, t, float(self.sign[t]), ballots)
            for t in wanted[wanted >= 0].tolist()
        }

        def error(influence: Floats) -> float:
            return float(np.sqrt(ballots.counts @ influence**2))

        of_balance = np.mean([moves[t][:, 0] for t in self.at_balance.tolist()], axis=0)
        accuracy, overall = np.full((n, 2, 2), np.nan), np.full((n, 2), np.nan)
        for j in np.flatnonzero(self.at_accuracy[:, 0, 0] >= 0).tolist():
            parts = []
            for c in range(2):
                pair = self.at_accuracy[j, c].tolist()
                places = [
                    1 + 2 * int(np.flatnonzero(self.trios.judges[t] == j)[0]) + c for t in pair
                ]
                parts.append(
                    np.mean(
                        [moves[t][:, place] for t, place in zip(pair, places, strict=True)], axis=0
                    )
                )
                accuracy[j, c] = logit_ends(self.accuracy[j, c], error(parts[c]), z)
            first, second = self.accuracy[j]
            moved = (
                (first - second) * of_balance
                + self.balance * parts[0]
                + (1 - self.balance) * parts[1]
            )
            overall[j] = logit_ends(self.overall[j], error(moved), z)
        return Ends(logit_ends(self.balance, error(of_balance), z), accuracy, overall)


def medians(trios: Trios, branch: Branch, ballots: Ballots) -> Medians | None:
    """Return medians over the sensible trios on the branch; None if there is none."""
    use = np.flatnonzero(trios.status == "sensible")
    if not use.size:
        return None
    balance, accuracy = turn(trios, branch, ballots)
    with np.errstate(all="ignore"):  # trios without a point are not used
        sign = np.where(
            (accuracy.sum(axis=(1, 2)) - 3) * (1 / trios.covariance).sum(axis=1) > 0, 1.0, -1.0
        )
    n = len(ballots.names)
    at_accuracy, found = np.full((n, 2, 2), -1), np.full((n, 2), np.nan)
    for j in range(n):
        mine, place = np.nonzero(trios.judges[use] == j)
        for c in range(2 if mine.size else 0):
            values = accuracy[use[mine], place, c]
            middle = _middle(values)
            at_accuracy[j, c], found[j, c] = use[mine[middle]], values[middle].mean()
    middle = use[_middle(balance[use])]
    share = float(np.clip(balance[middle].mean(), 0, 1))
    found = np.clip(found, 0, 1)
    return Medians(share, found, found @ [share, 1 - share], trios, sign, middle, at_accuracy)


def _middle(values: Floats) -> Ints:
    """Return the places of the lower and the upper median."""
    order = np.argsort(values, kind="stable")
    return order[[(len(values) - 1) // 2, len(values) // 2]]


def _influence(trios: Trios, t: int, sign: float, ballots: Ballots) -> Floats:
    """Return patterns x 7: how one item of each pattern moves the prevalence and the six accuracies
    of one trio.

    The numbers are algebraic in seven raw moments; a complex step differentiates them exactly.
    """
    three = ballots.codes[:, trios.judges[t]] == 1
    there = (ballots.codes[:, trios.judges[t]] >= 0).sum(axis=1) == 3
    groups = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    shows = np.stack([three[:, list(group)].all(axis=1) for group in groups], axis=1).astype(float)
    n = float(ballots.counts[there].sum())
    raw = (ballots.counts * there) @ shows / n
    stepped = raw + 1j * _STEP * np.eye(7)
    mean, d = stepped[:, :3], stepped[:, [5, 4, 3]] - stepped[:, [1, 0, 0]] * stepped[:, [2, 2, 1]]
    third = stepped[:, 6] - mean.prod(axis=1) - (mean * d).sum(axis=1)
    with np.errstate(all="ignore"):
        balance, accuracy = trio_point(mean, d, third, np.full(7, sign))
        gradient = (
            np.imag(np.concatenate((balance[:, None], accuracy.reshape(7, 6)), axis=1)) / _STEP
        )
    moved = np.where(there[:, None], shows - raw, 0.0) / n
    return np.asarray(moved @ gradient)


def logit_ends(p: float, error: float, z: float) -> Floats:
    """Return delta-method ends on the logit scale; NaN on the edge, where there is no slope."""
    if not (0 < p < 1 and np.isfinite(error)):
        return np.full(2, np.nan)
    half = z * error / (p * (1 - p))
    centre = np.log(p / (1 - p))
    return np.asarray(1 / (1 + np.exp(-np.clip([centre - half, centre + half], -700, 700))))
