"""Many labelling sessions side by side on one population, through the library's own formulas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.sampling.draws import DrawJournal, drawing_probabilities
from tallystick.sampling.planned import planned_shares
from tallystick.sampling.stopping import LabelProgress, next_batch, stop_reason

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sessions:
    """What every run drew: runs x labels, and the spreads of each batch."""

    sizes: NDArray[np.int64]
    stratum: NDArray[np.int64]
    value: Floats
    spreads: Floats
    batch: NDArray[np.int64]

    def journal(self, run: int) -> DrawJournal:
        """Return the journal of one run; items are numbered by draw, since only strata matter."""
        n = self.stratum.shape[1]
        return DrawJournal(
            sizes=self.sizes,
            item=np.arange(n),
            stratum=self.stratum[run],
            q=np.empty(n),
            batch=self.batch,
            spreads=self.spreads[run],
        )

    def counts(self, upto: int) -> tuple[Floats, Floats]:
        """Return k_h and x_h of every run after *upto* labels."""
        hit = np.eye(self.sizes.size)[self.stratum[:, :upto]]
        return hit.sum(axis=1), (hit * self.value[:, :upto, None]).sum(axis=1)


def sessions(
    sizes: NDArray[np.int64],
    ones: NDArray[np.int64],
    *,
    runs: int,
    most: int,
    rng: np.random.Generator,
    steered: bool = True,
) -> Sessions:
    """Draw all runs label by label, in batches of 20, then of 10.

    Inside a stratum a draw is a one with the share of ones that are left there: what drawing items
    uniformly without replacement comes to.
    """
    H, most = sizes.size, min(most, int(sizes.sum()))
    left, good = np.tile(sizes, (runs, 1)), np.tile(ones, (runs, 1))
    k, x = np.zeros((runs, H)), np.zeros((runs, H))
    stratum, value = np.empty((runs, most), np.int64), np.empty((runs, most))
    begins = [0, *range(20, most, 10)]
    spreads, batch = [], np.searchsorted(begins, np.arange(most), side="right") - 1
    rows = np.arange(runs)
    for t in range(most):
        if t in begins:
            p = (x + 2) / (k + 4)
            spreads.append(np.sqrt(p * (1 - p)) if steered else np.ones((runs, H)))
        upto = np.cumsum(drawing_probabilities(left, spreads[-1]), axis=1)
        h = (rng.random((runs, 1)) * upto[:, -1:] >= upto).sum(axis=1)
        y = rng.random(runs) < good[rows, h] / left[rows, h]
        stratum[:, t], value[:, t] = h, y
        left[rows, h] -= 1
        good[rows, h] -= y
        k[rows, h] += 1
        x[rows, h] += y
    return Sessions(
        sizes=sizes, stratum=stratum, value=value, spreads=np.stack(spreads, axis=1), batch=batch
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Stopped:
    """Where each run stopped, and the interval it stopped with."""

    labels: Floats
    low: Floats
    high: Floats

    def covers(self, share: float) -> float:
        """Return the share of runs whose interval holds the truth."""
        return float(((self.low <= share + 1e-9) & (share - 1e-9 <= self.high)).mean())


def planned(
    sizes: NDArray[np.int64],
    ones: NDArray[np.int64],
    *,
    target: float,
    runs: int,
    rng: np.random.Generator,
) -> Stopped:
    """Run the default to a planned half-width: engine, adverse likelihood, batches by forecast."""
    H, total = sizes.size, int(sizes.sum())
    left, good = np.tile(sizes, (runs, 1)), np.tile(ones, (runs, 1))
    k, x = np.zeros((runs, H)), np.zeros((runs, H))
    spread = np.full((runs, H), 0.5)
    pending = np.full(runs, next_batch(LabelProgress(labelled=0, left=total, target=target)))
    live = np.arange(runs)
    out = Stopped(labels=np.zeros(runs), low=np.zeros(runs), high=np.ones(runs))
    while live.size:
        upto = np.cumsum(drawing_probabilities(left[live], spread[live]), axis=1)
        h = (rng.random((live.size, 1)) * upto[:, -1:] >= upto).sum(axis=1)
        y = rng.random(live.size) < good[live, h] / left[live, h]
        left[live, h] -= 1
        good[live, h] -= y
        k[live, h] += 1
        x[live, h] += y
        pending[live] -= 1

        ended = live[pending[live] == 0]
        if not ended.size:
            continue
        found = planned_shares(sizes, k[ended], x[ended])
        half, labels = (found.high - found.low) / 2, k[ended].sum(axis=1)
        out.labels[ended], out.low[ended], out.high[ended] = labels, found.low, found.high
        done = []
        for run, count, width in zip(ended.tolist(), labels.tolist(), half.tolist(), strict=True):
            now = LabelProgress(
                labelled=int(count), left=total - int(count), half_width=width, target=target
            )
            # A run that is not worth it goes on: the table counts all labels that precision takes.
            if stop_reason(now) in ("precision", "certain"):
                done.append(run)
            pending[run] = next_batch(now)
        p = (x[ended] + 2) / (k[ended] + 4)
        spread[ended] = np.sqrt(p * (1 - p))
        live = np.setdiff1d(live, done)
    return out


def stopped_at_batches(
    ends: list[int], low: Floats, high: Floats, target: float, *, least: int = 20
) -> Stopped:
    """Return where each run first has the half-width; columns of the ends are batch ends."""
    good = ((high - low) / 2 <= target) & (np.array(ends) >= least)
    first = np.where(good.any(axis=1), good.argmax(axis=1), len(ends) - 1)
    rows = np.arange(len(low))
    return Stopped(
        labels=np.array(ends, float)[first], low=low[rows, first], high=high[rows, first]
    )
