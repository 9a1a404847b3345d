r"""Statistical matching: what two separate tables, (X, Z) and (Y, Z), say of X and Y together.

No row shows X and Y, so only bounds exist: for every z an optimal transport problem between P(X |
z) and P(Y | z) with cost g ([MP23]_, A.1 and section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, seed_of
from tallystick.bound.blocks import Scheme, shrunk
from tallystick.bound.forward import Evidence
from tallystick.bound.forward_cost import cost_ends, cost_learner
from tallystick.errors import InputError
from tallystick.results import Interval, Result
from tallystick.tally import Label, Tally

__all__ = ["MatchResult", "match"]


@dataclass(frozen=True, kw_only=True)
class MatchResult(Result):
    """Between what E[g(X, Y)] lies."""

    verb: ClassVar[str] = "bound"

    lower: float
    upper: float
    interval: Interval
    independent_estimate: float

    def rows(self) -> list[dict[str, Any]]:
        """Return the one row."""
        return [{"lower": self.lower, "upper": self.upper, "interval": self.interval}]


def match(
    first: Tally,
    second: Tally,
    *,
    x: str,
    y: str,
    shared: Sequence[str],
    event: npt.ArrayLike,
    alpha: float = 0.05,
    rng: Rng = 0,
) -> MatchResult:
    """Bound P((X, Y) in B), or E[g(X, Y)], from a table of (X, Z) and another one of (Y, Z).

    The second table is the labelled sample of the rectifier: its own chance is part of the
    interval, whatever P(Y | Z) is estimated to be. Both tables have to be samples of one
    population.

    Parameters
    ----------
    first, second
        Counts over *shared* and *x*, and over *shared* and *y*.
    x, y
        The columns never seen together.
    shared
        The columns that both tables have.
    event
        g, labels of x by labels of y in their canonical order: 1 inside B and 0 outside, or any
        bounded cost.

    Examples
    --------
    >>> a = Tally.from_patterns({"z": [0, 0, 1, 1], "x": [0, 1, 0, 1]}, [450, 50, 100, 400])
    >>> b = Tally.from_patterns({"z": [0, 0, 1, 1], "y": [0, 1, 0, 1]}, [400, 100, 50, 450])
    >>> found = match(a, b, x="x", y="y", shared=["z"], event=[[0, 0], [0, 1]])
    >>> bool(found.lower < 0.5 * 0.1 * 0.2 + 0.5 * 0.8 * 0.9 < found.upper)
    True
    """
    cost = np.asarray(event, dtype=np.float64)
    atoms, labels = _present(first, x), _present(second, y)
    if cost.shape != (len(atoms), len(labels)) or not np.isfinite(cost).all():
        raise InputError(
            f"event must be finite, of shape {(len(atoms), len(labels))} ({x} by {y}), got"
            f" {cost.shape}"
        )
    keys: dict[tuple[Label, ...], int] = {}
    rows = _counted(first, shared, x, atoms, keys)
    gold = _counted(second, shared, y, labels, keys)
    counts = np.zeros((len(keys), len(atoms)), dtype=np.int64)
    counts[: len(rows)] = rows
    # bins may not rest on y, and nothing else orders the patterns
    bins = np.zeros(len(keys), dtype=np.int64)
    overall = shrunk(gold, bins)
    evidence = Evidence(counts=counts, p=None, bins=bins, gold=gold)
    low, high = cost_ends(
        evidence, cost, cost_learner(cost), rng=rng, scheme=Scheme.fitting(float(counts.sum()))
    )
    z = NormalDist().inv_cdf(1 - alpha / 2)
    least, most = float(cost.min()), float(cost.max())
    ends = [float(np.clip(end, least, most)) for end in (low.edge(z), high.edge(z))]
    share = counts / counts.sum()
    return MatchResult(
        verdict=(
            f"E[g({x}, {y})] is between {ends[0]:.3f} and {ends[1]:.3f} ({100 * (1 - alpha):g} %), "
            "whatever joins them."
        ),
        n_items=int(counts.sum() + gold.sum()),
        assumptions=("both tables are random samples of one population",),
        seed=seed_of(rng),
        lower=float(np.clip(low.estimate, least, most)),
        upper=float(np.clip(high.estimate, least, most)),
        interval=Interval(
            ends[0], ends[1], level=1 - alpha, method="forward dual, rectified by the second table"
        ),
        independent_estimate=float(np.einsum("zx,zy,xy->", share, overall, cost)),
    )


def _present(tally: Tally, name: str) -> tuple[Label, ...]:
    if name not in tally.names:
        raise InputError(f"the tally has no column {name!r}: it has {', '.join(tally.names)}")
    return tuple(label for label in tally.labels[name] if label is not None)


def _counted(
    tally: Tally,
    shared: Sequence[str],
    name: str,
    labels: tuple[Label, ...],
    keys: dict[tuple[Label, ...], int],
) -> npt.NDArray[np.int64]:
    part = tally.marginal([*shared, name])
    places, values = [], []
    for codes, count in zip(part.codes, part.counts, strict=True):
        label = part.labels[name][codes[-1]]
        if label is None:
            continue
        key = tuple(
            part.labels[column][code] for column, code in zip(shared, codes[:-1], strict=True)
        )
        places.append((keys.setdefault(key, len(keys)), labels.index(label)))
        values.append(int(count))
    out = np.zeros((len(keys), len(labels)), dtype=np.int64)
    np.add.at(out, tuple(np.array(places).T), values)
    return out
