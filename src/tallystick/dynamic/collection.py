"""What annotators really bring back: few items, some of the errors, copies, and things that are no
errors at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = ["IDEAL", "Collection", "gather"]


@dataclass(frozen=True)
class Collection:
    r"""How far a round of data collection falls short of :math:`\mathcal D|_{h(x) \ne y}`.

    Parameters
    ----------
    items
        How many items a round yields; None for the whole error distribution, as in the paper.
    coverage
        Share of the error set that annotators can find at all, drawn anew each round.
    duplicates
        Share of the collected items that are copies of others of the same round.
    mistakes
        Share of the collected items on which the model was right: the annotator was not.

    Examples
    --------
    >>> Collection(coverage=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: coverage must be in (0, 1], got 0
    """

    items: int | None = None
    coverage: float = 1.0
    duplicates: float = 0.0
    mistakes: float = 0.0

    def __post_init__(self) -> None:
        if self.items is not None and self.items < 1:
            raise InputError(f"items must be at least 1, got {self.items!r}")
        if not 0 < self.coverage <= 1:
            raise InputError(f"coverage must be in (0, 1], got {self.coverage!r}")
        for name in ("duplicates", "mistakes"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be in [0, 1), got {getattr(self, name)!r}")
        if self.duplicates and self.items is None:
            raise InputError(
                f"duplicates={self.duplicates} needs items: a whole distribution has no copies"
            )


IDEAL = Collection()
"""The annotators of the paper: they return the whole error distribution."""


def gather(
    weights: Array, errors: Array, collection: Collection, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Collect the errors of each rollout; return the distributions and which rollouts brought
    nothing back.

    A rollout with no errors to find has a row of zeros: its benchmark has ended, and the caller
    leaves the component out.

    >>> found, empty = gather(np.full(4, 0.25), np.array([[1, 1, 0, 0], [0, 0, 0, 0]]), IDEAL, np.random.default_rng(0))
    >>> found.tolist(), empty.tolist()
    ([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], [False, True])
    """
    mass = weights * errors
    if collection.coverage < 1:
        mass = mass * (rng.random(mass.shape) < collection.coverage)
    found = _normal(mass)
    empty = ~(found.sum(axis=1) > 0)
    if collection.mistakes:
        found = (1 - collection.mistakes) * found + collection.mistakes * _normal(
            weights * (1 - errors)
        )
    if collection.items is not None:
        fresh = max(1, round(collection.items * (1 - collection.duplicates)))
        found = _normal(rng.multinomial(fresh, _normal(found, fallback=True)).astype(float))
        if collection.items > fresh:
            copies = rng.multinomial(collection.items - fresh, _normal(found, fallback=True))
            found = (fresh * found + copies) / collection.items
    found[empty] = 0
    return found, empty


def _normal(mass: Array, *, fallback: bool = False) -> Array:
    """Scale each row to one; an empty row stays zero, or becomes uniform where something is to be
    drawn.
    """
    total = mass.sum(axis=1, keepdims=True)
    out = np.divide(mass, total, out=np.zeros(mass.shape), where=total > 0)
    if fallback:
        out[total[:, 0] <= 0] = 1 / mass.shape[1]
    return np.asarray(out)
