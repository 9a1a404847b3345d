"""What a label model is: P(Y | Z) for any pattern of votes, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tallystick.bound.blocks import FloatArray, IntArray, known_rows
from tallystick.bound.weak_votes import WeakTable
from tallystick.errors import InputError
from tallystick.stats.latent import LatentFit
from tallystick.tally import Label

__all__ = ["LabelModel"]

_SUM = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelModel:
    """P(Y | Z).

    Parameters
    ----------
    name
        How it is called in results.
    classes, weak
        Of which labels and of which columns it speaks.
    predict
        From votes (patterns x weak columns, class index or -1) to probabilities (patterns x
        classes); a row of NaN says that nothing is known of that pattern.
    rests_on
        What has to be true for it to be right.
    fit
        The latent-class fit behind it, whose doubt is then part of the intervals.
    votes_of
        From votes to the codes that *fit* was given.
    labelled
        The labelled rows that it was made of: their votes, and counts by class.
    """

    name: str
    classes: tuple[Label, ...]
    weak: tuple[str, ...]
    predict: Callable[[IntArray], FloatArray]
    rests_on: str
    fit: LatentFit | None = None
    votes_of: Callable[[IntArray], IntArray] | None = None
    labelled: tuple[IntArray, IntArray] | None = None

    def probabilities(self, table: WeakTable) -> FloatArray:
        """Return P(Y | z) of every pattern of *table*, checked."""
        if self.weak != table.weak or len(self.classes) != len(table.classes):
            raise InputError(
                f"label model {self.name!r} is of {self.weak} and classes {self.classes}, "
                f"the table of {table.weak} and {table.classes}: fit it on the same columns"
            )
        p = np.asarray(self.predict(table.votes), dtype=np.float64)
        if p.shape != (len(table.votes), len(table.classes)):
            raise InputError(
                f"label model {self.name!r} gave shape {p.shape} for {len(table.votes)} patterns"
                f" and {len(table.classes)} classes"
            )
        said = known_rows(p)
        if np.isfinite(p[~said]).any():
            raise InputError(
                f"label model {self.name!r} gives some classes of a pattern NaN: give all, or none"
            )
        total = p[said].sum(axis=1)
        wrong = (np.abs(total - 1) > _SUM) | (p[said] < -_SUM).any(axis=1)
        if wrong.any():
            z = int(np.flatnonzero(said)[int(wrong.argmax())])
            raise InputError(
                f"label model {self.name!r}: P(Y | z) of votes {table.votes[z].tolist()} is"
                f" {p[z].round(4).tolist()}, which sums to {p[z].sum():.6g}: probabilities must be"
                " at least 0 and sum to 1"
            )
        clean = np.clip(p, 0, 1)
        clean[said] /= clean[said].sum(axis=1, keepdims=True)
        return clean
