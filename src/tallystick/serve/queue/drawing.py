r"""A draw with known probabilities: strata from votes, (W1) of ``label`` between them, `u` inside.

The next stratum is drawn with

.. math:: q_h = \tfrac12 R_h/R + \tfrac12 R_h s_h/\sum_j R_j s_j   \tag{W1}

and inside it comes the next row in the order of `u`, mixed with the seed of the draw. Mixing is
needed: rows that an earlier draw left over have large `u`, new rows have any, and without it new
rows would come first. Inside a stratum the draw is a simple random sample without replacement, and
B draws take each of its :math:`N_h` rows with probability :math:`B q_h / N_h`, with :math:`q_h` at
the first draw: exact while all spreads are alike, and to first order in :math:`B/N` else. The
sizes that came out, :math:`n_h/N_h`, would be noisier: a stratum with 2 labels in place of 4 looks
like another design, and `score` then has to widen its interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tallystick.errors import InputError
from tallystick.serve.queue.population import DrawPopulation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tallystick.sampling.labels.consensus import Floats, Ints

__all__ = ["DrawnRow", "FramePlan", "StratumPlan", "mixed", "plan_frame"]

MOST_PATTERNS = 5_000
"""With more patterns the votes say too little of how rows are alike: one stratum per system."""


@dataclass(frozen=True, kw_only=True)
class StratumPlan:
    """One stratum: the patterns of one system, its rows, how many were drawn, and at which rate."""

    system: str
    patterns: tuple[int, ...]
    size: int
    drawn: int
    rate: float


@dataclass(frozen=True, kw_only=True)
class DrawnRow:
    """One row to label, in the order of the draw."""

    row: int
    stratum: int
    probability: float
    readers: int


@dataclass(frozen=True, kw_only=True)
class FramePlan:
    """What a frame keeps: strata and rows."""

    as_of: int
    seed: int
    strata: tuple[StratumPlan, ...]
    rows: tuple[DrawnRow, ...]


def plan_frame(
    found: DrawPopulation,
    *,
    budget: int,
    overlap: float,
    labels: Mapping[int, int],
    seed: int,
) -> FramePlan:
    """Draw *budget* rows.

    Parameters
    ----------
    found
        The rows that may be drawn.
    budget
        How many rows.
    overlap
        The share of them that two people read.
    labels
        How many rows of each labelled pattern there are: they steer the draw, nothing else.
    seed
        Makes the draw again from the same rows.
    """
    import numpy as np

    from tallystick.sampling.labels.journal import drawing_probabilities

    if not 1 <= budget <= 100_000:
        raise InputError(f"budget must be between 1 and 100,000 rows, got {budget!r}")
    if not found.row.size:
        raise InputError("every row is labelled or drawn already: there is nothing to draw")
    rng = np.random.default_rng(seed)
    of, plans = _strata(found)
    spread = _spread(found, plans, labels)

    # Inside a stratum: the order of u, mixed with the seed.
    order = np.lexsort((mixed(found.u, seed), of))
    sizes = np.bincount(of, minlength=len(plans)).astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    left = sizes.copy()
    budget = min(budget, int(sizes.sum()))
    rate = np.minimum(budget * drawing_probabilities(sizes, spread) / sizes, 1.0)
    rows: list[tuple[int, int]] = []
    for chance in rng.random(budget):
        q = drawing_probabilities(left, spread)  # (W1)
        h = min(int(np.searchsorted(np.cumsum(q), chance, side="right")), len(plans) - 1)
        while not left[h]:  # rounding of the last step may point at an empty stratum
            h -= 1
        rows.append((int(found.row[order[starts[h] + sizes[h] - left[h]]]), h))
        left[h] -= 1

    taken = sizes - left
    rate = np.where(taken == sizes, 1.0, rate)  # all of them: no chance is left
    twice = min(len(rows), ceil(round(overlap * len(rows), 6)))
    second = set(rng.choice(len(rows), size=twice, replace=False).tolist())
    return FramePlan(
        as_of=found.as_of,
        seed=seed,
        strata=tuple(
            StratumPlan(system=system, patterns=patterns, size=int(n), drawn=int(k), rate=float(p))
            for (system, patterns), n, k, p in zip(plans, sizes, taken, rate, strict=True)
        ),
        rows=tuple(
            DrawnRow(
                row=row,
                stratum=h,
                probability=float(rate[h]),
                readers=2 if k in second else 1,
            )
            for k, (row, h) in enumerate(rows)
        ),
    )


def mixed(u: Ints, seed: int) -> NDArray[np.uint64]:
    """Return another random order of the same rows (the mixer of splitmix64).

    >>> import numpy as np
    >>> (mixed(np.array([1, 2]), 1) == mixed(np.array([1, 2]), 2)).any()
    np.False_
    """
    import numpy as np

    with np.errstate(over="ignore"):
        z = np.asarray(u).astype(np.uint64) ^ np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
        z += np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _strata(found: DrawPopulation) -> tuple[Ints, list[tuple[str, tuple[int, ...]]]]:
    """Return the stratum of each row, and system and patterns of each stratum.

    Each system has strata of its own: what a judge's vote means differs between systems.
    """
    import numpy as np

    from tallystick.sampling.labels.strata import vote_strata

    of = np.full(found.row.size, -1, np.int64)
    plans: list[tuple[str, tuple[int, ...]]] = []
    for s, system in enumerate(found.systems):
        mine = np.flatnonzero(found.system == s)
        if not mine.size:
            continue
        numbers, place = np.unique(found.pattern[mine], return_inverse=True)
        table = _votes(found, numbers.tolist())
        many = numbers.size > MOST_PATTERNS
        if many or len(found.words.classes) < 2 or not (table >= 0).any():
            of[mine] = len(plans)
            plans.append((system, () if many else tuple(numbers.tolist())))
            continue
        part = vote_strata(table[place], n_classes=len(found.words.classes))
        of[mine] = part.of.astype(np.int64) + len(plans)
        first = np.zeros(numbers.size, np.int64)
        first[place] = part.of
        plans += [(system, tuple(numbers[first == h].tolist())) for h in range(len(part))]
    return of, plans


def _votes(found: DrawPopulation, patterns: Sequence[int]) -> Ints:
    """Return patterns x columns of class codes, -1 for no vote."""
    import numpy as np

    table = np.full((len(patterns), max(1, len(found.words.columns))), -1, np.int64)
    for k, pattern in enumerate(patterns):
        codes = found.codes[pattern]
        for start in range(0, len(codes), 4):
            place = found.words.vote.get(int.from_bytes(codes[start : start + 4], "little"))
            if place is not None:
                table[k, place[0]] = place[1]
    return table


def _spread(
    found: DrawPopulation, plans: list[tuple[str, tuple[int, ...]]], labels: Mapping[int, int]
) -> Floats:
    """Return one spread per stratum from labels that are there; without labels all are alike."""
    import numpy as np

    from tallystick.sampling.labels.draws import class_spread

    by_votes: dict[bytes, list[tuple[int, int]]] = {}
    for pattern, n in labels.items():
        packed = found.codes.get(pattern, b"")
        truth = found.words.truth_of(packed)
        if truth is not None:
            by_votes.setdefault(found.words.votes_of(packed), []).append((truth, n))
    strata: list[int] = []
    values: list[int] = []
    for h, (_, patterns) in enumerate(plans):
        for pattern in patterns:
            for truth, n in by_votes.get(found.codes[pattern], ()):
                strata += [h] * n
                values += [truth] * n
    classes = max(2, len(found.words.classes))
    where, what = np.array(strata, dtype=np.int64), np.array(values, dtype=np.float64)
    return class_spread(where, what, len(plans), n_classes=classes)
