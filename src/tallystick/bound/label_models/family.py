"""The seven label models that votes alone suggest, and how far they are from one another.

Weak votes cannot say which label model is right. What all of them allow is the robust range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_models.dawid_skene import INDEPENDENCE, PRIOR, unmirrored
from tallystick.bound.label_models.majority import as_balance, majority
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.label_models.near_duplicates import merged_votes, near_duplicates
from tallystick.bound.label_models.one_coin import one_coin
from tallystick.bound.label_models.weighted_majority import weighted_majority
from tallystick.bound.weak_votes import WeakTable
from tallystick.stats import latent

__all__ = ["Family", "distance", "family_of"]

_STEPS = 2000
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class Family:
    """The seven label models, what they say of each pattern, and the median distance of two.

    Parameters
    ----------
    models
        In a fixed order, the vote share first.
    laws
        P(Y | z) of each model on the patterns of the table.
    distance
        D of (B7).
    """

    models: tuple[LabelModel, ...]
    laws: tuple[FloatArray, ...]
    distance: float

    @property
    def independence(self) -> LabelModel:
        """The member that the votes can test: Dawid-Skene with abstentions as votes."""
        return self.models[3]


def family_of(table: WeakTable, *, balance: npt.ArrayLike | None = None) -> Family:
    r"""Fit the family: vote share; weighted majority; Dawid-Skene and one coin, each with
    abstentions silent and as votes; Dawid-Skene after merging near-duplicates.

    .. math:: D = \operatorname{median}_{a < b} \tfrac12 \sum_z P(z) \sum_y |p_a(y|z) - p_b(y|z)|
              \tag{B7}

    No member refuses: a fit that a careful reader would doubt only widens the range.

    Examples
    --------
    >>> from tallystick.bound.demo import spam
    >>> from tallystick.bound.weak_votes import weak_table
    >>> from tallystick.tally import Tally
    >>> names = ("links", "words", "sender", "caps")
    >>> table = weak_table(Tally.of(spam(2000, rng=1)), weak=names, prediction="classifier")
    >>> found = family_of(table)
    >>> len(found.models), found.distance < 0.15
    (7, True)
    """
    abstains = bool((table.votes[table.weight > 0] < 0).any())
    how = ", abstentions silent" if abstains else ""
    silent = _dawid_skene(table, balance, name=f"dawid-skene{how}")
    coin = one_coin(table, balance=balance)
    models = (
        majority(table, balance=balance),
        weighted_majority(table),
        silent,
        _dawid_skene(table, balance, name="dawid-skene, abstentions as votes", silence_votes=True)
        if abstains
        else _renamed(silent, "dawid-skene, abstentions as votes"),
        coin,
        one_coin(table, balance=balance, silence_votes=True)
        if abstains
        else _renamed(coin, "one coin, abstentions as votes"),
        _merged(table, balance, silent),
    )
    laws = tuple(model.probabilities(table) for model in models)
    pairs = [distance(a, b, table.weight) for a, b in combinations(laws, 2)]
    return Family(models=models, laws=laws, distance=float(np.median(pairs)))  # (B7)


def distance(first: FloatArray, second: FloatArray, weight: FloatArray) -> float:
    """Return the total-variation distance of two label models, averaged over the rows.

    >>> distance(np.array([[0.9, 0.1]]), np.array([[0.6, 0.4]]), np.array([5.0])).__round__(3)
    0.3
    """
    return float(weight @ np.abs(first - second).sum(axis=1) / (2 * weight.sum()))


def _dawid_skene(
    table: WeakTable,
    balance: npt.ArrayLike | None,
    *,
    name: str,
    silence_votes: bool = False,
    groups: list[list[int]] | None = None,
) -> LabelModel:
    """Fit Dawid-Skene whatever the votes are like; *groups* of columns count as one."""
    size = len(table.classes)
    # A column that never votes says nothing, and the fit refuses it.
    kept = np.flatnonzero((table.votes[table.weight > 0] >= 0).any(axis=0))

    def codes(votes: IntArray) -> IntArray:
        held = votes[:, kept] if groups is None else merged_votes(votes, groups)
        return np.where(held < 0, size, held) if silence_votes else held

    options = latent.LatentOptions(
        balance=None if balance is None else as_balance(balance, size),
        confusion_prior=PRIOR,
        max_iterations=_STEPS,
        tolerance=_TOLERANCE,
        strict=False,
    )
    fitted = latent.fit(
        codes(table.votes),
        table.weight,
        n_classes=size,
        n_votes=size + silence_votes,
        options=options,
    )
    if balance is None:
        fitted = unmirrored(fitted, codes(table.votes), table.weight)
    return LabelModel(
        name=name,
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: latent.posterior(fitted.model, codes(votes)),
        rests_on=INDEPENDENCE,
        fit=fitted,
        votes_of=codes,
    )


def _merged(table: WeakTable, balance: npt.ArrayLike | None, silent: LabelModel) -> LabelModel:
    name = "dawid-skene, near-duplicates merged"
    voting = np.flatnonzero((table.votes[table.weight > 0] >= 0).any(axis=0))
    groups = near_duplicates(table.votes[:, voting], table.weight, len(table.classes))
    if len(groups) == len(voting):
        return _renamed(silent, name)
    columns = [[int(voting[j]) for j in group] for group in groups]
    return _dawid_skene(table, balance, name=name, groups=columns)


def _renamed(model: LabelModel, name: str) -> LabelModel:
    return replace(model, name=name)
