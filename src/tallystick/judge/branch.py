"""Which of two mirror points is the true one: a choice that votes alone never make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tallystick.errors import InputError, NotIdentifiable
from tallystick.judge.ballots import Ballots, Floats, Ranges, check_ranges
from tallystick.stats.latent import Trios
from tallystick.values.label import Label, identity

__all__ = ["Branch", "Known", "known_table", "mirrored", "turn"]

Known = Mapping[str, Mapping[Label, float]]
"""Judge to label to its known accuracy there."""


@dataclass(frozen=True, kw_only=True)
class Branch:
    """What decides between the two points.

    Parameters
    ----------
    name
        ``better-than-chance``, ``prevalence``, ``known`` or ``labels``.
    prevalence
        For ``prevalence``: ranges by label.
    reference
        For ``known`` and ``labels``: judges x labels of accuracies, NaN where nothing is known.
    """

    name: str = "better-than-chance"
    prevalence: Ranges = field(default_factory=dict)
    reference: Floats | None = None

    @classmethod
    def of(cls, ballots: Ballots, *, prevalence: Ranges | None, known: Known | None) -> Branch:
        """Return the strongest branch that the inputs allow: labels, known judges, prevalence,
        better than chance.
        """
        labelled = ballots.truth >= 0
        if labelled.any():
            reference = np.full((len(ballots.names), 2), np.nan)
            for c in range(2):
                there = (ballots.codes >= 0) & (labelled & (ballots.truth == c))[:, None]
                votes = ballots.counts @ there
                right = ballots.counts @ (there & (ballots.codes == c))
                reference[:, c] = np.divide(
                    right, votes, out=np.full(len(votes), np.nan), where=votes > 0
                )
            return cls(name="labels", reference=reference)
        if known:
            return cls(name="known", reference=known_table(known, ballots))
        if prevalence:
            check_ranges(prevalence, ballots)
            return cls(name="prevalence", prevalence=prevalence)
        return cls()

    @property
    def words(self) -> str:
        """The choice as an assumption."""
        return {
            "better-than-chance": (
                "judges are better than chance taken together (the other point is its mirror)"
            ),
            "prevalence": (
                f"the prevalence lies in {dict(self.prevalence)!r}, which picks one of two mirror"
                " points"
            ),
            "known": "the judges of known quality pick one of two mirror points",
            "labels": "the labelled items pick one of two mirror points",
        }[self.name]


def turn(trios: Trios, branch: Branch, ballots: Ballots) -> tuple[Floats, Floats]:
    """Return balance and accuracies of every trio on the branch; a trio that nothing decides stays
    as it is.
    """
    balance, accuracy = trios.balance.copy(), trios.accuracy.copy()
    other_balance, other = mirrored(balance, accuracy)
    if branch.name == "prevalence":
        ranges = check_ranges(branch.prevalence, ballots)
        low, high = ranges.get(0) or tuple(1 - end for end in reversed(ranges[1]))
        here = (balance >= low - 1e-12) & (balance <= high + 1e-12)
        there = (other_balance >= low - 1e-12) & (other_balance <= high + 1e-12)
        if (here & there).any() and not (here ^ there).any():
            raise NotIdentifiable(
                f"prevalence range [{low:g}, {high:g}] contains both mirror points: give one that"
                " lies on one side of 1/2, some labels, or the quality of a judge"
            )
        change = there & ~here
    elif branch.reference is not None:
        mine = branch.reference[trios.judges]
        with np.errstate(invalid="ignore"):
            change = np.nansum(np.abs(other - mine), axis=(1, 2)) < np.nansum(
                np.abs(accuracy - mine), axis=(1, 2)
            )
    else:
        return balance, accuracy
    balance[change], accuracy[change] = other_balance[change], other[change]
    return balance, accuracy


def mirrored(balance: Floats, accuracy: Floats) -> tuple[Floats, Floats]:
    """Return the mirror points: labels exchanged (Eqs 33-35)."""
    return 1 - balance, 1 - accuracy[..., ::-1]


def known_table(known: Known, ballots: Ballots) -> Floats:
    """Return judges x labels of known accuracies, NaN where not given; refuse strangers by name."""
    table = np.full((len(ballots.names), len(ballots.classes)), np.nan)
    code = {identity(label): c for c, label in enumerate(ballots.classes)}
    for judge, parts in known.items():
        if judge not in ballots.names:
            raise InputError(
                f"known names {judge!r}, which is not one of the judges {list(ballots.names)}"
            )
        for label, value in parts.items():
            if identity(label) not in code:
                raise InputError(
                    f"known: judge {judge!r} has label {label!r}, not one of"
                    f" {list(ballots.classes)}"
                )
            if not 0 <= value <= 1:
                raise InputError(
                    f"known: accuracy of {judge!r} on {label!r} must be in [0, 1], got {value!r}"
                )
            table[ballots.names.index(judge), code[identity(label)]] = value
    return table
