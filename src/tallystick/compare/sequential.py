r"""Stop as soon as it is clear: models compared on a stream of items, looked at after every one.

For each pair an e-process runs along: for right/wrong scores the one of discordant signs
(:mod:`tallystick.stats.signs`), for scores in bounds the one of moments
(:mod:`tallystick.stats.bounded_mean`). By Ville's inequality one over the largest value ever
reached is a p-value at any stopping time, and Holm holds the family-wise error over pairs. Items
must come in random order; :meth:`Sequential.ask` sees to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.stats.bounded_mean import bounded_mean_log_e
from tallystick.stats.evalues import average_log_e, e_holm
from tallystick.stats.ranges import open_unit, whole
from tallystick.stats.signs import sign_log_e

__all__ = ["Sequential", "Stop"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a sequential comparison stands.

    Parameters
    ----------
    items
        Items seen.
    decided
        Whether one model is shown to be better than all others.
    best
        That model; None while undecided.
    beaten
        Models that are shown to be worse than another one.
    p_values
        Adjusted p-value of each pair (better model first, as observed), valid at any stopping time.
    """

    items: int
    decided: bool
    best: str | None
    beaten: tuple[str, ...]
    p_values: Mapping[tuple[str, str], float]


class Sequential:
    """Compare models item by item and stop when it is clear; the caller owns the loop.

    Parameters
    ----------
    models
        Their names.
    items
        How many items there are.
    rng
        Seed of the order in which they are asked.
    alpha
        The probability of ever calling any pair wrongly.
    bounds
        Between what scores lie if they are not 0 or 1; None for right/wrong.

    Examples
    --------
    >>> scores = as_rng(1).random((2000, 2)) < [0.6, 0.8]
    >>> race = Sequential(["old", "new"], items=2000, rng=0)
    >>> while not race.standing().decided and (batch := race.ask(10)):
    ...     race.tell(batch, scores[batch])
    >>> race.standing().best, race.standing().items
    ('new', 110)
    """

    def __init__(
        self,
        models: Sequence[str],
        *,
        items: int,
        rng: Rng,
        alpha: float = 0.05,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        whole(1, items=items)
        open_unit(alpha=alpha)
        if len(models) < 2 or len(set(models)) != len(models):
            raise InputError(f"models must be at least two different names, got {list(models)}")
        if bounds is not None and not bounds[0] < bounds[1]:
            raise InputError(f"bounds must be two numbers, the lower first, got {bounds!r}")
        self.models = tuple(models)
        self.alpha = alpha
        self.bounds = bounds
        self._order = as_rng(rng).permutation(items)
        self._asked = 0
        self._open: set[int] = set()
        self._first, self._second = np.triu_indices(len(models), 1)
        pairs = self._first.size
        self._n = 0
        # wins of each side, or sums of D and of D²
        self._ahead, self._behind = np.zeros(pairs), np.zeros(pairs)
        self._peak = np.zeros(pairs)

    def ask(self, count: int = 1) -> list[int]:
        """Return the positions of the next items to score, in random order; none once all were
        asked.
        """
        whole(1, count=count)
        batch = [int(i) for i in self._order[self._asked : self._asked + count]]
        self._asked += len(batch)
        self._open.update(batch)
        return batch

    def tell(self, items: Sequence[int], scores: npt.ArrayLike) -> None:
        """Take the scores of *items* (items x models); the evidence is updated after every single
        one.

        Answers may come in any order among what is open, as long as that order does not depend on
        the scores.
        """
        x = np.asarray(scores, dtype=float)
        if x.shape != (len(items), len(self.models)):
            raise InputError(
                f"scores must be {len(items)} items x {len(self.models)} models, got shape"
                f" {x.shape}"
            )
        unasked = [i for i in items if i not in self._open]
        if unasked or len(set(items)) != len(items):
            raise InputError(
                f"item {unasked[0] if unasked else 'twice in one batch'} was not asked about, or"
                " has two answers"
            )
        low, high = self.bounds or (0.0, 1.0)
        fits = np.isin(x, (0.0, 1.0)) if self.bounds is None else (x >= low) & (x <= high)
        if not fits.all():
            wanted = (
                "0 or 1 (or declare bounds)" if self.bounds is None else f"in [{low:g}, {high:g}]"
            )
            raise InputError(f"scores must be {wanted}, got {x[~fits].flat[0]!r}")
        self._open.difference_update(items)
        difference = x[:, self._first] - x[:, self._second]
        count = self._n + np.arange(1, len(x) + 1)[:, None]
        if self.bounds is None:
            ahead = self._ahead + np.cumsum(difference > 0, axis=0)
            behind = self._behind + np.cumsum(difference < 0, axis=0)
            evidence = sign_log_e(ahead, behind)
        else:
            ahead = self._ahead + np.cumsum(difference, axis=0)
            behind = self._behind + np.cumsum(difference**2, axis=0)
            width = high - low
            sides = bounded_mean_log_e(count, ahead, behind, low=-width, high=width)
            evidence = average_log_e(np.stack(sides, axis=-1))
        if len(x):
            self._n, self._ahead, self._behind = self._n + len(x), ahead[-1], behind[-1]
            self._peak = np.maximum(self._peak, evidence.max(axis=0))

    def standing(self) -> Stop:
        """Say what is decided by now; it stays decided."""
        adjusted = e_holm(self._peak)
        lead = self._ahead - (self._behind if self.bounds is None else 0.0)
        told = adjusted <= self.alpha
        worse = np.where(lead > 0, self._second, self._first)[told]
        beaten = sorted(set(worse.tolist()))
        left = [j for j in range(len(self.models)) if j not in beaten]
        pairs = {}
        for i, (a, b) in enumerate(zip(self._first.tolist(), self._second.tolist(), strict=True)):
            better, other = (a, b) if lead[i] >= 0 else (b, a)
            pairs[self.models[better], self.models[other]] = float(adjusted[i])
        decided = len(left) == 1
        return Stop(
            self._n,
            decided,
            self.models[left[0]] if decided else None,
            tuple(self.models[j] for j in beaten),
            pairs,
        )
